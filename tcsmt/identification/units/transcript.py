"""Questions and their answers, as a search asks them and as a file keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.support.checkpoint import GOES_ON, LockedFile
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import replace_text, wrote
from tcsmt.support.interrupts import stops_waiting
from tcsmt.support.reading import json_of
from tcsmt.support.text import counted

__all__ = ["Exchange", "Transcript"]


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
