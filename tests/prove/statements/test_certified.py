"""What became of a proof's certificate: in words, as data, and whether a record has its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.statements.certified import Certified, has_certificate

WRITTEN = Certified("x", Path("c/statements/x.json"), 3)
MISSING = Certified("x", None, why="no refutation")


def test_words_and_data() -> None:
    assert str(WRITTEN) == "certificate: c/statements/x.json (3 lemmas)"
    assert str(Certified("x", Path("y.json"), 1)) == "certificate: y.json (1 lemma)"
    assert str(MISSING) == "no certificate: no refutation"
    assert WRITTEN.as_json() == {"certified": True, "file": "c/statements/x.json", "lemmas": 3}
    assert MISSING.as_json() == {"certified": False, "reason": "no refutation"}


@pytest.mark.parametrize(
    ("record", "has"),
    [
        ({"verdict": "equivalent", "certificate": {"certified": True, "file": "x.json"}}, True),
        ({"verdict": "equivalent", "certificate": {"certified": True, "file": "/elsewhere/x.json"}}, True),
        ({"verdict": "equivalent", "certificate": {"certified": True, "file": "y.json"}}, False),
        ({"verdict": "equivalent", "certificate": MISSING.as_json()}, False),
        ({"verdict": "equivalent", "certificate": None}, False),
        ({"verdict": "equivalent"}, False),
        ({"verdict": "distinguished"}, True),
        ({"verdict": "unknown"}, True),
    ],
)
def test_a_proof_has_its_file_where_one_is_due(record: dict[str, Any], has: bool, tmp_path: Path) -> None:
    """Where the file lay when it was recorded does not matter: the folder may have moved."""
    (tmp_path / "statements").mkdir()
    (tmp_path / "statements" / "x.json").write_text("{}")
    (tmp_path / "statements" / "z.json").mkdir()
    assert has_certificate(record, tmp_path) is has
    assert has_certificate(record, None)
    folder = {"verdict": "equivalent", "certificate": {"file": "z.json"}}
    assert not has_certificate(folder, tmp_path)
