"""The files of a certificate, read."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from tcsmt.certificates.derivation import Flaw, Proof
from tcsmt.certificates.encoding import TermReader, read_proof
from tcsmt.certificates.statement import Statement, read_statement
from tcsmt.data.model_files import read_model
from tcsmt.support.errors import TcsmtError

__all__ = ["FORMAT", "model_named", "opened", "record_of", "statement_files"]

#: The version of the files' layout.
FORMAT = 1


def statement_files(folder: Path) -> list[Path]:
    """The files of a certificate's statements. Raises :class:`.TcsmtError` where there is none."""
    paths = sorted((folder / "statements").glob("*.json"))
    if not paths:
        raise TcsmtError(f"{folder} is not a certificate: it has no files statements/*.json")
    return paths


def record_of(path: Path) -> dict[str, Any]:
    """A statement's file as it is. Raises :class:`.TcsmtError` for one that cannot be read."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise TcsmtError(f"{path}: not a statement of a certificate: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get("statement"), dict):
        raise TcsmtError(f"{path}: not a statement of a certificate: it has no statement")
    given = record.get("certificate")
    if type(given) is not int or given != FORMAT:
        raise TcsmtError(f"{path}: a certificate of version {given!r}: this tcsmt reads version {FORMAT}")
    return record


def opened(path: Path, record: dict[str, Any]) -> tuple[Statement, Proof]:
    """The statement of a file and its proof. Raises :class:`.Flaw` for what is none."""
    folder = path.parent.parent
    statement = read_statement(
        record["statement"], cache(lambda name: read_model(model_named(folder, name)).model)
    )
    terms = TermReader(roots=[statement.goal])
    terms.read(record.get("terms"))
    try:
        return statement, read_proof(record.get("proof"), terms)
    except RecursionError:
        raise Flaw("the proof is nested too deeply") from None


def model_named(folder: Path, name: object) -> Path:
    """A model's file, by its name in a statement."""
    if not isinstance(name, str) or not re.fullmatch(r"[0-9a-f]+\.toml", name):
        raise Flaw(f"{name!r} is not the name of a model's file")
    return folder / "models" / name
