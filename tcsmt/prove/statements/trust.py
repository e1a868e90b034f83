"""Whether a proof counts that an earlier run has kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Trust", "sure"]


@dataclass(frozen=True)
class Trust:
    """What is asked of a proof.

    confirm: another solver says the same. kept: what an earlier run proved (and confirmed, with ``confirm``)
    need not be proved again; None: only without ``confirm``, as anyone can write to a file.
    """

    confirm: bool = False
    kept: bool | None = None

    def takes(self, sure: bool) -> bool:
        """Whether an earlier run's proof counts; sure: no solver alone stands for it."""
        kept = not self.confirm if self.kept is None else self.kept
        return kept and (sure or not self.confirm)


def sure(record: Mapping[str, Any]) -> bool:
    """Whether no solver stands alone for the proof that a record of an earlier run has."""
    return bool(record["confirmed"]) or not record["scripts"]
