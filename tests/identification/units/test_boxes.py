"""Boxes: programs that answer, fail and are started again, and devices."""

import sys

import pytest

from tcsmt.identification.units.boxes import BoxFailed, Command
from tcsmt.matrix_units.catalogue import row_named
from tests.support.families import family_like

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
SCRIPT = """
import json, sys
count = 0
for line in sys.stdin:
    count += 1
    {body}
    print(json.dumps({{"d": "0x00000000"}}), flush=True)
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(3)", r"the program ended \(exit code 3\) \(2 tries\)"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
        ("print('hello', flush=True); continue", "'hello' is no"),
        ('print(\'{"d": "1ffffffff"}\', flush=True); continue', "a word of f32 has 32 bits"),
    ],
)
def test_command_that_fails(tmp_path, body, message):
    script = tmp_path / "box.py"
    script.write_text(SCRIPT.format(body=body))
    family = family_like(VOLTA)
    box = Command(
        f"{sys.executable} {script}", family.formats, timeout=0.5 if "time" in body else 20, tries=2
    )
    with pytest.raises(BoxFailed, match=message):
        box([0] * 4, [0] * 4, 0)
    box.close()


def test_command_is_started_again(tmp_path):
    script = tmp_path / "box.py"
    script.write_text(SCRIPT.format(body="sys.exit(1) if count > 2 else None"))
    box = Command(f"{sys.executable} {script}", family_like(VOLTA).formats)
    assert [box([0] * 4, [0] * 4, 0) for _ in range(5)] == [0] * 5
    box.close()
