"""The files of a certificate, read.

A model's file is named by its content and says all of the model; a statement has each key once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tcsmt.language.terms import operands_first
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.files import model_of
from tcsmt.prove.certificates.derivation import InvalidProof, Proof
from tcsmt.prove.certificates.encoding import TermReader, read_proof, with_keys
from tcsmt.prove.certificates.statement import Statement, read_statement
from tcsmt.support.errors import TcsmtError, TooLarge
from tcsmt.support.json_files import json_of
from tcsmt.support.reading import read_bytes

__all__ = ["FORMAT", "model_in", "model_name", "opened", "record_of", "statement_files"]

#: The version of the files' layout.
FORMAT = 1
_KEYS = ("certificate", "tcsmt", "statement", "lemmas")
_NAMES = (
    "a file's name must be a letter or a digit, then up to 199 letters, digits, dots, hyphens, underscores"
)
#: Files of statements and models with more bytes are refused, and proofs of more bytes times nodes.
_MOST, _MOST_WORK = 1 << 24, 1 << 35


def statement_files(folder: Path) -> list[Path]:
    """The files of a certificate's statements. Raises :class:`.TcsmtError` where there is none."""
    paths = sorted((folder / "statements").glob("*.json"))
    for name in (path.name for path in paths):  # other files, folders and parts of Lisp are named after it
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,199}\.json", name, re.ASCII):
            raise TcsmtError(f"{folder}: statements/{name!r:.80}: {_NAMES}")
    if not paths:
        raise TcsmtError(f"{folder} is not a certificate: it has no files statements/*.json")
    return paths


def record_of(path: Path) -> dict[str, Any]:
    """A statement's file as it is. Raises :class:`.TcsmtError` for one that cannot be read."""
    content = read_bytes(path, _MOST)
    try:
        record = json_of(content)
    except ValueError as error:
        raise TcsmtError(f"{path}: not a statement of a certificate: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get("statement"), dict):
        raise TcsmtError(f"{path}: not a statement of a certificate: it has no statement")
    version = record.get("certificate")
    if type(version) is not int or version != FORMAT:
        raise TcsmtError(f"{path}: a certificate of version {version!r}: this tcsmt reads version {FORMAT}")
    try:
        return with_keys("the file", record, _KEYS, ("terms", "proof"))
    except InvalidProof as why:
        raise TcsmtError(f"{path}: {why}") from None


def opened(path: Path, record: Mapping[str, Any]) -> tuple[Statement, Proof]:
    """The statement of a file and its proof. Raises :class:`.InvalidProof` for what is none."""
    folder = path.parent.parent
    statement = read_statement(record["statement"], cache(lambda name: model_in(folder, name)))
    terms = TermReader(roots=[statement.goal])
    terms.read(record.get("terms"))
    try:
        proof = read_proof(record.get("proof"), terms)
    except RecursionError:
        raise InvalidProof("the proof is nested too deeply") from None
    # each step, of some bytes, is held against the goal with what was replaced in it
    nodes, size = len(operands_first([statement.goal])), path.stat().st_size
    if nodes * size > _MOST_WORK:
        raise TooLarge(f"{size} bytes about {nodes} nodes: more than are checked")
    return statement, proof


def model_name(content: bytes) -> str:
    """What the file of a model is called."""
    return f"{hashlib.sha256(content).hexdigest()[:16]}.toml"


def model_in(folder: Path, name: object) -> Model:
    """The model of a certificate's folder by the name of its file. Raises :class:`.InvalidProof`."""
    if not isinstance(name, str) or not re.fullmatch(r"[0-9a-f]{16}\.toml", name):
        raise InvalidProof(f"{name!r:.80} is not the name of a model's file")
    path = folder / "models" / name
    try:
        content = read_bytes(path, _MOST)
        if model_name(content) != name:
            raise InvalidProof(f"{path}: its content is not the one that its name says")
        return model_of(path, content)
    except TooLarge:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidProof(f"not a model: {error}") from None
