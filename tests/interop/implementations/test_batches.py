"""Programs that are asked in batches: what one that fails is called, and that the others' rows come back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tcsmt.identification.units.boxes import BoxFailed
from tcsmt.interop.implementations.batches import ROWS, Batches
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import Words
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.vectors import random_rows

MODEL = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
#: Answers c, and what it does before that with c and the number of the batch.
PROGRAM = """
import os, struct, sys, time
i, o = sys.stdin.buffer, sys.stdout.buffer
while head := i.read(4):
    (n,) = struct.unpack("<I", head)
    rows = [i.read(20)[16:] for _ in range(n)]
    {what}
    o.write(b"".join(rows))
    o.flush()
"""


def program(folder: Path, what: str = "pass", timeout: float = 10.0) -> Batches:
    script = folder / "box.py"
    script.write_text(PROGRAM.format(what=what))
    return Batches(f"{sys.executable} {script}", MODEL, timeout=timeout)


def given(count: int) -> Words:
    return next(iter(random_rows(MODEL, count, 1)))


def test_many_rows_in_several_batches(tmp_path: Path) -> None:
    box, rows = program(tmp_path), given(ROWS + 100)
    try:
        assert (box(rows) == rows.c).all()
        assert (box(rows.map(lambda words: words[:0])) == []).all()
    finally:
        box.close()


def test_one_that_dies_once_is_started_again(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    box, rows = (
        program(tmp_path, f"if not os.path.exists({str(mark)!r}): open({str(mark)!r}, 'w'); os._exit(3)"),
        given(50),
    )
    try:
        assert (box(rows) == rows.c).all()
    finally:
        box.close()


def test_the_row_at_which_it_dies_is_named(tmp_path: Path) -> None:
    rows = given(64)
    rows.c[:] = np.arange(64)
    box = program(tmp_path, "if (37).to_bytes(4, 'little') in rows: sys.exit('no 37')")
    with pytest.raises(
        BoxFailed, match=r"it ended with 1: no 37 \(asked twice\), at the row a0=.* c=0x00000025"
    ):
        box(rows)
    box.close()


def test_one_that_prints_too_little_or_hangs(tmp_path: Path) -> None:
    box = program(tmp_path, "rows = rows[1:]", timeout=5.0)
    with pytest.raises(
        BoxFailed, match=r"no answer within 5 s \(36 of 40 bytes came\) .*at 10 rows, the first of"
    ):
        box(given(10))
    box.close()
    box = program(tmp_path, "time.sleep(60)", timeout=0.3)
    with pytest.raises(BoxFailed, match=r"no answer within 0.3 s \(asked twice\)"):
        box(given(1))
    box.close()


def test_one_that_prints_too_much(tmp_path: Path) -> None:
    box = program(tmp_path, "rows.append(rows[0])")
    with pytest.raises(BoxFailed, match=r"it wrote 8 bytes, where 4 were expected|wrote"):
        box(given(1))
    box.close()


def test_no_such_program() -> None:
    with pytest.raises(TcsmtError, match="No such file"):
        Batches("/no/such/program", MODEL)(given(1))
    with pytest.raises(TcsmtError, match="--command is empty"):
        Batches("", MODEL)
