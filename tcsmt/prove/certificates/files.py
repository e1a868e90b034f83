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
from tcsmt.prove.certificates.derivation import Proof
from tcsmt.prove.certificates.encoding import TermReader, read_proof
from tcsmt.prove.certificates.parts import in_file, require_names, with_keys
from tcsmt.prove.certificates.statement import Statement, read_statement
from tcsmt.support.errors import Malformed, TooLarge
from tcsmt.support.files import json_of, read_bytes

#: The version of the files' layout.
FORMAT = 1
_KEYS = ("certificate", "tcsmt", "statement", "lemmas")
#: Files of statements and models with more bytes are refused, and proofs of more bytes times nodes.
_MOST, _MOST_WORK = 1 << 24, 1 << 35


def record_of(path: Path) -> dict[str, Any]:
    """Return a statement's file as it is. Raises :class:`.TcsmtError` for what is none."""
    content = read_bytes(path, _MOST)
    try:
        record = json_of(content)
    except ValueError as error:
        raise Malformed(f"{path}: not a statement of a certificate: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get("statement"), dict):
        raise Malformed(f"{path}: not a statement of a certificate: it has no statement")
    version = record.get("certificate")
    if type(version) is not int or version != FORMAT:
        raise Malformed(f"{path}: a certificate of version {version!r}: this tcsmt reads version {FORMAT}")
    with in_file(path):
        # the argument for a statement of a kind is code: nothing would read a proof in its file
        with_keys("the file", record, _KEYS, () if "about" in record["statement"] else ("terms", "proof"))
        if not isinstance(record["tcsmt"], str):
            raise Malformed(f"the version of tcsmt is not a text: {record['tcsmt']!r:.80}")
        require_names(record["lemmas"])
    return record


def opened(path: Path, record: Mapping[str, Any]) -> tuple[Statement, Proof]:
    """Return a file's statement and its proof. Raises as :func:`statement_of` and :func:`proof_of` do."""
    statement = statement_of(path, record)
    return statement, proof_of(path, record, statement)


def statement_of(path: Path, record: Mapping[str, Any]) -> Statement:
    """Return the statement of a file. Raises :class:`.Malformed` for what is none."""
    folder = path.parent.parent
    return read_statement(record["statement"], cache(lambda name: model_in(folder, name)))


def proof_of(path: Path, record: Mapping[str, Any], statement: Statement) -> Proof:
    """Return the proof of a file's statement.

    Raises :class:`.Malformed` for what is none, and :class:`.InvalidProof` for one about something else.
    """
    terms = TermReader(roots=[statement.goal])
    terms.read(record.get("terms"))
    proof = read_proof(record.get("proof"), terms)
    # each step, of some bytes, is held against the goal with what was replaced in it
    nodes, size = len(operands_first([statement.goal])), path.stat().st_size
    if nodes * size > _MOST_WORK:
        raise TooLarge(f"{size} bytes about {nodes} nodes: more than are checked")
    return proof


def model_name(content: bytes) -> str:
    """Return what the file of a model is called."""
    return f"{hashlib.sha256(content).hexdigest()[:16]}.toml"


def model_in(folder: Path, name: object) -> Model:
    """Return the model of a certificate's folder by the name of its file. Raises :class:`.Malformed`."""
    if not isinstance(name, str) or not re.fullmatch(r"[0-9a-f]{16}\.toml", name):
        raise Malformed(f"{name!r:.80} is not the name of a model's file")
    path = folder / "models" / name
    try:
        content = read_bytes(path, _MOST)
        if model_name(content) != name:
            raise Malformed(f"{path}: its content is not the one that its name says")
        return model_of(path, content)
    except (Malformed, TooLarge):
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not a model: {error}") from None
