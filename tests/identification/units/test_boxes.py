"""Boxes: programs that answer, fail and are started again, and devices; and their transcripts."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

import tcsmt
from tcsmt.identification.units.boxes import BoxFailed, Command, Exchange, Transcript, model_box, row_box
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.simulate.measured.row_files import read_rows
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import refused
from tests.support.families import family_like, kinds_like

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


@pytest.mark.slow
def test_transcript_resumes_and_replays(tmp_path):
    """A search that was stopped goes on as if it had not been; what was answered is not asked again."""
    unit = FusedDotAdd.of(
        a_format="e2m1",
        b_format="e2m1",
        c_format="f16",
        d_format="f16",
        k=1,
        n_fma=1,
        fraction_bits=6,
        zero_exponent=None,
        rounding="RTZ",
    )
    family, box, path = family_like(unit), model_box(unit), tmp_path / "t.jsonl"
    whole = Identification(kinds_like(unit), box, budget=4, transcript=Transcript(family.formats, path)).run()
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == len(whole.exchanges) == 4
    path.write_text("".join(lines[:2]) + '{"a": ["0x')  # cut off while it was written
    asked = []

    def counting(*question):
        asked.append(question)
        return box(*question)

    found = Identification(
        kinds_like(unit), counting, budget=3, transcript=Transcript(family.formats, path)
    ).run()
    assert found.verdict == "open"
    assert found.exchanges == whole.exchanges[:3]
    assert len(asked) == 2 + 1  # what was answered before is asked once more: is it the same box?
    assert path.read_text() == "".join(lines[:3])

    asked.clear()
    again = Identification(
        kinds_like(unit), counting, budget=3, transcript=Transcript(family.formats, path)
    ).run()
    assert again.exchanges == found.exchanges
    with pytest.raises(TcsmtError, match="not the question that the search asks"):
        Identification(kinds_like(unit), box, seed=2, transcript=Transcript(family.formats, path)).run()


@pytest.mark.slow
def test_a_box_that_was_exchanged_since_the_last_run(tmp_path):
    """Its remembered answers identify the old one, to the last question; some are asked of the new one."""
    unit = VOLTA.replace(a_format="e2m1", b_format="e2m1", c_format="f16", d_format="f16", k=1, n_fma=1)
    path = tmp_path / "t.jsonl"

    def found(model):
        with Transcript(family_like(unit).formats, path) as kept:
            return Identification(kinds_like(unit), model_box(model), transcript=kept).run()

    first = found(unit)
    assert first.verdict in ("identified", "open")
    assert found(unit).exchanges == first.exchanges
    again = found(unit.replace(rounding="RNE"))
    assert again.verdict == "inconsistent"
    said = r"answer \d+ of an earlier run is 0x[0-9a-f]{4}, and now it is 0x[0-9a-f]{4}: was the box changed"
    assert re.match(said, again.reason)
    assert len(path.read_text().splitlines()) == len(first.exchanges)


def test_one_search_at_a_time_has_a_transcript(tmp_path):
    family, path = family_like(VOLTA), tmp_path / "t.jsonl"
    words = "--like", "volta", "--command", "true", "--transcript", path
    with Transcript(family.formats, path):
        in_use = f"{path} is in use by another run (process {os.getpid()})"
        assert in_use in refused("identify", *words)
        with pytest.raises(TcsmtError, match="in use by another run"):
            tcsmt.identify(lambda a, b, c: c, like="volta", transcript=path)
    path.write_text("no question\n\n")
    for _ in range(2):  # a file that is refused is nobody's
        with pytest.raises(TcsmtError, match="not a question with its answer"):
            Transcript(family.formats, path)


def test_a_transcript_is_a_file_of_rows(tmp_path):
    path = tmp_path / "t.jsonl"
    transcript = Transcript(family_like(VOLTA).formats, path)
    asked = [
        Exchange((0x3C00, 0, 0, 1), (0x3C00, 0, 2, 0), 3, 0x3F800000, "why"),
        Exchange((0,) * 4, (0,) * 4, 0, 0, ""),
    ]
    for one in asked:
        transcript.add(one)
    rows = read_rows(path, VOLTA)
    assert rows.a.tolist() == [list(one.a) for one in asked]
    assert rows.b.tolist() == [list(one.b) for one in asked]
    assert rows.c.tolist() == [one.c for one in asked]


ASKED = [Exchange((1, 0, 0, 0), (2, 0, 0, 0), n, 7 + n, "why") for n in range(3)]


def test_answers_come_back_in_their_order(tmp_path):
    """By number, to the same question alone; what is not on file is None."""
    formats, path = family_like(VOLTA).formats, tmp_path / "t.jsonl"
    with Transcript(formats, path) as written:
        for one in ASKED:
            written.add(one)
    with Transcript(formats, path) as read:
        assert [read.answered(n, one.a, one.b, one.c) for n, one in enumerate(ASKED)] == [7, 8, 9]
        assert read.answered(3, ASKED[0].a, ASKED[0].b, 0) is None
        for a, b, c in (
            (ASKED[1].a, ASKED[1].b, 0),
            (ASKED[1].b, ASKED[1].b, 1),
            (ASKED[1].a, ASKED[1].a, 1),
        ):
            with pytest.raises(TcsmtError, match=r"t.jsonl:2: this is not the question"):
                read.answered(1, a, b, c)
    assert Transcript(formats).answered(0, ASKED[0].a, ASKED[0].b, 0) is None
    Transcript(formats).add(ASKED[0])  # without a file: nothing to keep


@pytest.mark.parametrize("text", ["{}", "[1]", '{"a": ["x"], "b": [], "c": "0", "d": "0"}', "3", "{"])
def test_a_line_that_is_no_answer(text, tmp_path):
    """In the middle it is an error; at the end it was cut off, and goes from the file."""
    path, formats = tmp_path / "t.jsonl", family_like(VOLTA).formats
    with Transcript(formats, path) as written:
        written.add(ASKED[0])
    good = path.read_text()
    path.write_text(f"{good}{text}\n{good}")
    with pytest.raises(TcsmtError, match=r"t.jsonl:2: not a question with its answer"):
        Transcript(formats, path)
    path.write_text(f"{good}{text}")
    with Transcript(formats, path) as read:
        assert read.answered(0, ASKED[0].a, ASKED[0].b, 0) == 7
    assert path.read_text() == good
    assert json.loads(good)["c"] == "0x00000000"


@pytest.mark.parametrize("text", ["my notes", "[]", "[1, 2]\n", '{"rows": []}'])
def test_another_file_is_not_emptied(text, tmp_path):
    path = tmp_path / "notes"
    path.write_text(text)
    with pytest.raises(TcsmtError, match="notes:1: not a question with its answer"):
        Transcript(family_like(VOLTA).formats, path)
    assert path.read_text() == text


def test_a_file_that_cannot_be_read_or_written(tmp_path):
    formats = family_like(VOLTA).formats
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TcsmtError, match="cannot read"):
        Transcript(formats, path)
    with pytest.raises(TcsmtError, match=r"the folder .* does not exist"):
        Transcript(formats, tmp_path / "gone" / "t.jsonl")
    with Transcript(formats, tmp_path / "new.jsonl") as one:
        (tmp_path / "new.jsonl").mkdir()
        with pytest.raises(TcsmtError, match=r"cannot write .*new.jsonl: Is a directory"):
            one.add(ASKED[0])
