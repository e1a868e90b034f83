"""``tcsmt.accuracy.exact``: up to where integers are multiplied exactly, with certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcsmt import accuracy
from tcsmt.analysis.certified import THEOREMS
from tcsmt.prove.certificates.checker import check_statement
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import TcsmtError


def test_a_certificate_of_exactness_is_checked_again(tmp_path: Path) -> None:
    pytest.importorskip("pysolvers", reason="python-sat is not installed")
    unit = "turing/mma.m8n8k16.satfinite.s32.s8.s8.s32"
    found = accuracy.exact(unit, integers=128, search=False, options=SolvingOptions(certificate=tmp_path))
    assert found.k == 131071
    assert found.certified is not None
    assert found.certified.lemmas == 1
    path = found.certified.path
    assert path is not None
    assert not check_statement(path, theorems=THEOREMS).flaw
    statement = json.loads(path.read_text())
    for key, value in (
        ("k", 131072),
        ("k", 0),
        ("integers", 129),
        ("integers", (1 << 64) + 1),
    ):
        changed = statement | {"statement": statement["statement"] | {key: value}}
        path.write_text(json.dumps(changed))
        assert check_statement(path, theorems=THEOREMS).flaw
    path.write_text(json.dumps(statement | {"statement": statement["statement"] | {"k": "many"}}))
    with pytest.raises(TcsmtError, match="it must be a number"):
        check_statement(path, theorems=THEOREMS)
