"""The time that reading somebody's design may take, and how far it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress

__all__ = ["ReadingTime"]


@dataclass
class ReadingTime:
    """A limit for the whole of a reading, and what it is at.

    file: that is read. seconds: in all. progress: is told of each part.
    """

    file: object
    seconds: float
    progress: ProgressCallback = no_progress
    _part: str = "it was not begun"
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def at(self, part: str, done: int = 0, count: int = 0) -> None:
        """The reading goes on with a part: so many of so many are done.

        Raises :class:`.TcsmtError`, which names the part before this one, where no time is left.
        """
        self.remaining()
        self._part = f"{part} ({done} of {count} done)" if count else part
        self.progress(done, count, part)

    def remaining(self) -> float:
        """Seconds. Raises :class:`.TcsmtError` where there are none."""
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise TcsmtError(f"{self.file}: not read in {self.seconds:g} s; it was at: {self._part}")
        return remaining
