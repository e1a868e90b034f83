"""Boxes that `identify` asks, one question in and one word out, and the transcript of what they answered.

A box is a model (for self-tests), an external command that reads and writes JSON lines, or an instruction on
the GPU or CPU of this machine. Recorded answers are no box: only their rows can be asked; see
:mod:`tcsmt.identification.units.recorded`.
"""

from __future__ import annotations

import hashlib
import json
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.identification.units.classical import BlackBox
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import Words, run_words
from tcsmt.support.checkpoint import GOES_ON, LockedFile
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import json_of, replace_text, wrote
from tcsmt.support.interrupts import stops_waiting
from tcsmt.support.text import counted

# --- Questions and their answers, as a search asks them and as a file keeps them -----------------


Array = np.ndarray[Any, np.dtype[Any]]

#: From words of a, b and c to the word of d.
Box = Callable[[Sequence[int], Sequence[int], int], int]


class BoxFailed(TcsmtError):
    """The box gave no usable answer, even after it was started again."""


def row_box(run: Callable[[Words], Array], formats: Sequence[AnyFormat]) -> Box:
    """Return what answers rows of words, asked a single row for each question. formats: of a, b and c.

    run: from a, b (rows, k) and c (rows,), unsigned integers, to words of d (rows,).
    """

    def ask(a: Sequence[int], b: Sequence[int], c: int) -> int:
        row = (np.array([words], unsigned(fmt)) for fmt, words in zip(formats, (a, b, c), strict=True))
        return int(run(Operands(*row))[0])

    return ask


def model_box(model: Model) -> Box:
    """A model that answers."""
    return row_box(partial(run_words, model), (model.a_format, model.b_format, model.c_format))


def probed_box(box: Box, formats: Sequence[Format], k: int) -> tuple[BlackBox, Callable[[], int]]:
    """A box as the classical probes ask it, and how many questions they have asked."""
    a, b, c, d = formats
    asked = 0

    def run(left: Array, right: Array, addends: Array) -> Array:
        nonlocal asked
        asked += len(addends)
        rows = zip(left, right, addends, strict=True)
        words = [box([int(w) for w in x], [int(w) for w in y], int(z)) for x, y, z in rows]
        return np.array(words, unsigned(d))

    return BlackBox(a_format=a, b_format=b, c_format=c, d_format=d, k=k, run=run), lambda: asked


class Command:
    """An external command: ``{"a": [hex...], "b": [...], "c": hex}`` in, ``{"d": hex}`` out, a line each.

    timeout: seconds for an answer. tries: it is started again after it dies, hangs or answers
    nonsense, and asked once more, so many times in all.
    """

    def __init__(
        self, command: str, formats: Sequence[AnyFormat], *, timeout: float = 30.0, tries: int = 3
    ) -> None:
        self.command, self.formats, self.timeout, self.tries = shlex.split(command), formats, timeout, tries
        if not self.command:
            raise TcsmtError("--command is empty")
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __call__(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        """Return the answer to one question. Raises :class:`BoxFailed`."""
        fa, fb, fc, _ = self.formats
        question = {"a": [fa.hex(w) for w in a], "b": [fb.hex(w) for w in b], "c": fc.hex(c)}
        line = json.dumps(question).encode() + b"\n"
        problem = ""
        for _ in range(self.tries):
            try:
                return self._word(self._exchange(line))
            except BoxFailed as error:
                problem = str(error)
                self.close()
        raise BoxFailed(f"--command {self.command[0]}: {problem} ({self.tries} tries)")

    def close(self) -> None:
        """End the command."""
        child, self._child, self._rest = self._child, None, b""
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        continue

    def _exchange(self, line: bytes) -> bytes:
        if self._child is None:
            try:
                self._child = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
                )
            except OSError as error:
                raise TcsmtError(f"--command {self.command[0]}: {error.strerror}") from None
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(line)
        except OSError:
            raise BoxFailed(f"the program ended (exit code {child.wait()})") from None
        deadline = time.monotonic() + self.timeout
        with selectors.DefaultSelector() as ready:
            ready.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not ready.select(remaining):
                    raise BoxFailed(f"it gave no answer within {self.timeout:g} s")
                more = child.stdout.read(1 << 16)
                if not more:
                    raise BoxFailed(f"the program ended (exit code {child.wait()})")
                self._rest += more
                if len(self._rest) > 1 << 20:
                    raise BoxFailed("it wrote more than 1 MiB without a line end")
        answer, _, self._rest = self._rest.partition(b"\n")
        return answer

    def _word(self, answer: bytes) -> int:
        fmt = self.formats[3]
        shown = answer[:80].decode(errors="replace")
        try:
            word = int(str(json.loads(answer)["d"]), 16)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise BoxFailed(f'{shown!r} is not {{"d": hex}}') from None
        if word < 0 or word >> fmt.width:
            raise BoxFailed(f"{shown!r}: a word of {fmt.name} has {fmt.width} bits")
        return word


#: Of a box's digest, so many digits are written.
_DIGITS = 16


@dataclass(frozen=True)
class Exchange:
    """A question and its answer; why: what it was asked for."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    d: int
    why: str


class Transcript(LockedFile):
    """Questions and answers, as JSON lines in a file where one is given.

    A search that is started again with the same file and seed asks the same questions, and takes
    their answers from it. It is not a :class:`.Checkpoint`: a line is added for each answer, in order,
    and people and other commands read the file as rows (``.jsonl``). told: what the file had.
    identity: what tells the box from another one; each line has a digest of it, and a line of another box is
    refused. Lines of earlier versions have none; some of their answers are asked again.
    """

    def __init__(self, formats: Sequence[AnyFormat], path: Path | None = None, identity: str = "") -> None:
        self.formats = formats
        self.box = hashlib.sha256(identity.encode()).hexdigest()[:_DIGITS] if identity else ""
        self.told: list[Exchange] = []
        self._count = 0
        super().__init__(path)

    def _take(self, path: Path) -> None:
        self.told = list(_read(path, self.box))
        self._count = len(self.told)

    @property
    def _held(self) -> str:
        return f"{counted(self._count, 'answer')}; {GOES_ON}" if self._count else ""

    def answered(self, number: int, a: tuple[int, ...], b: tuple[int, ...], c: int) -> int | None:
        """Return the answer on file to question ``number``. Raises TcsmtError where another was asked."""
        if number >= len(self.told):
            return None
        told = self.told[number]
        if (told.a, told.b, told.c) != (a, b, c):
            raise TcsmtError(
                f"{self.path}:{number + 1}: this is not the question that the search asks here; "
                "was the file made with another --seed, or another version of tcsmt?"
            )
        return told.d

    def add(self, exchange: Exchange) -> None:
        """Keep an answer."""
        if self.path is None:
            return
        fa, fb, fc, fd = self.formats
        line = {
            "a": [fa.hex(w) for w in exchange.a],
            "b": [fb.hex(w) for w in exchange.b],
            "c": fc.hex(exchange.c),
            "d": fd.hex(exchange.d),
            "why": exchange.why,
        } | ({"box": self.box} if self.box else {})
        try:
            with stops_waiting():
                with self.path.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                self._count += 1
                wrote(self.path, self._held)
        except OSError as error:
            raise TcsmtError(f"cannot write {self.path}: {error.strerror}") from None


#: How a line begins.
_BEGINNING = '{"a": ["'


def _read(path: Path, box: str) -> Iterator[Exchange]:
    """A transcript's exchanges; a last line that was cut off while it was written goes from the file.

    Raises :class:`.TcsmtError` for answers of another box.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TcsmtError(f"cannot read {path}: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            data = json_of(line)
            a, b = (tuple(int(w, 16) for w in data[side]) for side in "ab")
            exchange = Exchange(a, b, int(data["c"], 16), int(data["d"], 16), str(data.get("why", "")))
        except (ValueError, TypeError, KeyError):
            # a file without any answer is a transcript only if add() began to write it
            begun = number > 1 or _BEGINNING.startswith(line[: len(_BEGINNING)])
            if number < len(lines) or not begun:
                raise TcsmtError(f"{path}:{number}: not a question with its answer") from None
            replace_text(path, "".join(f"{line}\n" for line in lines[:-1]))
            return
        if box and data.get("box", box) != box:
            raise TcsmtError(
                f"{path}:{number}: this is the answer of another box: the program, function or unit was "
                "changed since; give another file, or remove this one"
            )
        yield exchange
