"""Stops at every line of a step that keeps something: what is said of the file is what it has."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.boxes import Exchange, Transcript
from tcsmt.interface.api import stored_products
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.support import files
from tcsmt.support.checkpoint import AnswerLog, Checkpoint, Layout, LockedFile
from tcsmt.support.files import kept_files, replace_text


class Stopped(BaseException):
    """A signal came."""


def stopped_at(line: int, step: Callable[[], object]) -> bool:
    """Run a step that Ctrl-C comes into at one of tcsmt's lines; whether it has so many."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        if not frame.f_globals.get("__name__", "").startswith("tcsmt."):
            return None
        lines += event == "line"
        if event == "line" and lines == line:
            signal.raise_signal(signal.SIGINT)
        return trace

    def stop(number: int, frame: object) -> None:
        raise Stopped

    before, tracing = signal.signal(signal.SIGINT, stop), sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    except Stopped:
        pass
    finally:
        sys.settrace(tracing)
        signal.signal(signal.SIGINT, before)
    return lines >= line


def within(kept: LockedFile, step: Callable[[], object]) -> Callable[[], object]:
    """The step, after which the file is closed, stopped or not."""

    def run() -> None:
        with kept:
            step()

    return run


def add_record(path: Path) -> Callable[[], object]:
    kept = Checkpoint(path, Layout())
    kept.keep("before", {"value": 1})
    return within(kept, lambda: kept.keep("now", {"value": 2}))


def put_answer(path: Path) -> Callable[[], object]:
    kept = AnswerLog(path, "a program")
    kept.put(b"before", b"1")
    return within(kept, lambda: kept.put(b"now", b"2"))


def add_exchange(path: Path) -> Callable[[], object]:
    kept = Transcript([format_named(name) for name in ("e2m1", "e2m1", "f16", "f16")], path)
    kept.add(Exchange((1,), (2,), 3, 4, ""))
    return within(kept, lambda: kept.add(Exchange((2,), (2,), 3, 4, "")))


def replace(path: Path) -> Callable[[], object]:
    replace_text(path, "x\n", "1 line")
    return lambda: replace_text(path, "x\nx\n", "2 lines")


def records(path: Path) -> int:
    return len(json.loads(path.read_text()))


def answers(path: Path) -> int:
    with AnswerLog(path, "a program") as kept:
        return sum(kept.get(question) is not None for question in (b"before", b"now"))


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


STEPS = {
    "checkpoint": (add_record, records),
    "answers": (put_answer, answers),
    "transcript": (add_exchange, lines_of),
    "result": (replace, lines_of),
}


@pytest.mark.parametrize(("begin", "count"), STEPS.values(), ids=STEPS)
def test_what_is_said_of_a_file_is_what_it_has(
    begin: Callable[[Path], Callable[[], object]],
    count: Callable[[Path], int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts, line = set(), 0
    while True:
        line += 1
        monkeypatch.setattr(files, "_WRITTEN", {})
        path = tmp_path / f"{line}"
        more = stopped_at(line, begin(path))
        found = re.search(r" \((\d) ", kept_files())
        assert found is not None
        counts.add(int(found[1]))
        assert int(found[1]) == count(path), f"line {line}: {kept_files()}"
        if not more:
            break
    assert counts == {1, 2} and line > 5
    assert not [*tmp_path.glob("*.tmp"), *tmp_path.glob(".*.tmp")]


def test_a_product_is_there_or_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No message says that a product goes on which is whole already."""
    a, b = np.ones((1, 4), np.float16), np.ones((4, 1), np.float16)
    finish = stored_products._PartialFile.finish
    line, more = 0, True

    def finish_stopped(partial: stored_products._PartialFile) -> str:
        nonlocal more
        digest: list[str] = []
        more = stopped_at(line, lambda: digest.append(finish(partial)))
        return digest[0] if digest else ""

    monkeypatch.setattr(stored_products._PartialFile, "finish", finish_stopped)
    while more:
        line += 1
        monkeypatch.setattr(files, "_WRITTEN", {})
        output = tmp_path / f"{line}.npy"
        stored_products.stored_product(output, a, b, unit="volta")
        assert output.exists() == ("goes on" not in kept_files()), line
    assert line > 5
