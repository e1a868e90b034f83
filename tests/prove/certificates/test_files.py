"""Files of a certificate: where they are, and what names they may have."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import in_file, statement_files
from tcsmt.support.errors import Malformed, TcsmtError
from tests.support.certificates import carry_bits, edited, only


def test_statements_are_read_with_their_proofs(certificates: Path) -> None:
    (path,) = (path for path in statement_files(certificates) if path.name.startswith("2-carry"))
    statement, proof = opened(path, record_of(path))
    assert statement.goal is carry_bits().goal
    assert proof


def renamed(name: str, record: Any) -> None:
    """Another name of the first call's model."""
    record["statement"]["calls"][0]["model"] = name


def test_a_models_file_is_in_the_folder(certificates: Path, tmp_path: Path) -> None:
    """A name that leads elsewhere is refused, also where there is such a file."""
    path = only(certificates, tmp_path / "c", "2 carry bits")
    name = record_of(path)["statement"]["calls"][0]["model"]
    for given in (
        f"../models/{name}",
        str(tmp_path / "c" / "models" / name),
        f"./{name}",
        name.upper(),
        name[:-5],
    ):
        edited(path, partial(renamed, given))
        with pytest.raises(Malformed, match="not the name of a model's file"):
            opened(path, record_of(path))


def test_proofs_nested_too_deeply_are_refused(certificates: Path, tmp_path: Path) -> None:
    """What is nested more deeply than Python can follow is refused, not a crash."""
    path = only(certificates, tmp_path / "c", "2 carry bits")
    for levels in (100, 250, 400, 490, 5000):
        proof = '[{"using": [], "free": []}]'
        text = '[{"fact": 2, "proof": ' * levels + proof + '}, {"using": [], "free": []}]' * levels
        path.write_text(path.read_text().partition('"proof": ')[0] + f'"proof": {text}, "lemmas": []}}')
        if levels == 100:
            opened(path, record_of(path))
        elif levels > 400:
            with pytest.raises(TcsmtError, match=r"nested|recursion"), in_file(path):
                opened(path, record_of(path))
        else:
            with suppress(TcsmtError), in_file(path):
                opened(path, record_of(path))
        path.unlink()
        path = only(certificates, tmp_path / f"c{levels}", "2 carry bits")
