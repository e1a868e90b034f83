"""The outcome of a proof that was to have a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.support.text import counted

__all__ = ["Certified", "certificate_json", "certificate_lines", "has_certificate"]


@dataclass(frozen=True)
class Certified:
    """Of one proof. path: the statement's file (None: there is none, and why); lemmas: how many it needs."""

    title: str
    path: Path | None
    lemmas: int = 0
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        if self.path is None:
            return {"certified": False, "reason": self.why}
        return {"certified": True, "file": str(self.path), "lemmas": self.lemmas}

    def __str__(self) -> str:
        if self.path is None:
            return f"no certificate: {self.why}"
        return f"certificate: {self.path} ({counted(self.lemmas, 'lemma')})"


def certificate_json(certified: Certified | None) -> dict[str, Any]:
    """Return what a result's data say of it; nothing where none was asked for."""
    return {} if certified is None else {"certificate": certified.as_json()}


def certificate_lines(certified: Certified | None) -> list[str]:
    """Return the same for people."""
    return [] if certified is None else [str(certified)]


def has_certificate(record: Mapping[str, Any], folder: Path | None) -> bool:
    """Return whether a record of a verdict has the certificate that it should have; folder: None if none is
    due.
    """
    if folder is None or record.get("verdict") != "equivalent":
        return True
    file = (record.get("certificate") or {}).get("file")
    return file is not None and (folder / "statements" / Path(file).name).is_file()
