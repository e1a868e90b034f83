"""The input and output of a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tcsmt.support.checkpoint import Record
from tcsmt.support.floats import ieee_floats

__all__ = ["Failure", "Task"]


@dataclass(frozen=True)
class Task:
    """Something to compute: ``function(*arguments)`` gives its record, in whatever process.

    key: what the record is kept under. asked: a digest of what is asked; a record of something else does not
    count. function: one of a module, which a worker imports; arguments: plain data. code: a digest of the
    sources that the answer rests on. models: the digest of each model that the record is about, by its name
    there. title: for progress, where it is not the key.
    """

    key: str
    asked: str
    function: Callable[..., Record]
    arguments: tuple[Any, ...] = ()
    code: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @ieee_floats
    def run(self) -> Record:
        """Its record, in whatever state the worker's floating-point unit is."""
        return self.function(*self.arguments)

    def stamped(self, record: Record) -> Record:
        """Return the record, with what it is about and what it rests on."""
        about = {"models": dict(self.models)} if self.models else {}
        return {**record, **about, "asked": self.asked, "code": self.code}

    def said(self, record: Record) -> str:
        """Return what is said of it when it is done."""
        return str(record.get("answer", record.get("verdict", "done")))


@dataclass(frozen=True)
class Failure:
    """No record, and why: the process that computed it died."""

    reason: str
