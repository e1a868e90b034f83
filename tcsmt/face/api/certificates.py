"""Certificates of proofs: where they go, and checking them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcsmt.matrix_units.models import circuit  # noqa: F401 (statements may be about designs)
from tcsmt.prove.certificates.checker import Checked
from tcsmt.prove.certificates.checker import check_certificate as check
from tcsmt.prove.certificates.stated import Stated, stated

if TYPE_CHECKING:
    from tcsmt.prove.certificates.description import Description

__all__ = [
    "CheckedStatement",
    "check_certificate",
    "checked_in",
    "described_in",
]


@dataclass(frozen=True)
class CheckedStatement(Checked):
    """One statement of a certificate: why it is not proved (``flaw``, empty if it is), and what it says."""

    @cached_property
    def states(self) -> Stated | None:
        """All that it says, made from what was checked; None where it cannot be read."""
        return None if self.about is None else stated(self.about)

    def as_json(self) -> dict[str, Any]:
        """As plain data: one of the ``statements`` that ``tcsmt certificate check --json`` prints."""
        return super().as_json() | (self.states.as_json() if self.states else {})


def check_certificate(path: str | os.PathLike[str]) -> list[CheckedStatement]:
    """Check every proof of a certificate from its files alone, without any solver.

    path: the folder that ``certificate=`` or ``--certificate`` was given. Of each statement: ``title``, what
    its author calls it; ``states``, all that it says; ``flaw``, which is empty if it is proved.
    Raises :class:`tcsmt.TcsmtError` for files that cannot be read.

    >>> import tcsmt, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = tcsmt.find("carry-bits", "volta", certificate=folder)
    ...     [checked] = tcsmt.check_certificate(folder)
    >>> checked.title, checked.flaw
    ('3 against 4 carry bits', '')
    >>> checked.states.says
    'on inputs that are finite, models 1 and 2 give the same word, read in f32'
    """
    return list(checked_in(Path(path)))


def checked_in(folder: Path) -> Iterator[CheckedStatement]:
    """Each statement as soon as it is checked."""
    from tcsmt.analysis.certified import THEOREMS

    for statement in check(folder, THEOREMS):
        yield CheckedStatement(
            statement.path, statement.title, statement.about, statement.flaw, statement.lemmas
        )


def described_in(folder: Path) -> list[Description]:
    """What each statement says, and how it is proved; nothing is checked."""
    from tcsmt.analysis.certified import THEOREMS
    from tcsmt.prove.certificates.description import described

    return described(folder, THEOREMS)
