"""Boxes: programs that answer, fail and are started again, and devices."""

import sys

import pytest

from tcsmt.identification.units.boxes import BoxFailed, Command, row_box
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import run_words
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


def test_what_answers_rows_is_asked_one_row_for_each_question():
    asked = []

    def run(words):
        asked.append((words.a.tolist(), words.b.tolist(), words.c.tolist()))
        return run_words(VOLTA, words)

    one = 0x3C00
    box = row_box(run, (VOLTA.a_format, VOLTA.b_format, VOLTA.c_format))
    assert box([one, 0, 0, 0], [0x4000, 0, 0, 0], 0x3F800000) == 0x40400000
    assert asked == [([[one, 0, 0, 0]], [[0x4000, 0, 0, 0]], [0x3F800000])]
