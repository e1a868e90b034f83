"""Units that ACL2 certifies as the page that is written by hand; without ACL2, what is said then."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import tcsmt
from tests.support.certificates import two_products

acl2 = pytest.mark.skipif(
    shutil.which("acl2") is None, reason="ACL2 is not installed (Debian: acl2, acl2-books, acl2-books-certs)"
)


def test_without_acl2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tcsmt.TcsmtError, match="acl2-books-certs"):
        tcsmt.specified_with_acl2("volta")


def test_a_unit_of_another_shape_is_named_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tcsmt.TcsmtError, match=r"^cdna3/\S+: the specification is of one fused sum"):
        tcsmt.specified_with_acl2("volta", "cdna3")


@acl2
@pytest.mark.long
def test_with_acl2(tmp_path: Path) -> None:
    """The books stay, and refutations are not made again."""
    unit, folder = two_products(zero_exponent=-3), tmp_path / "books"
    (result,) = tcsmt.specified_with_acl2(unit, books=folder)
    assert not result.flaw
    assert f"(UNIT.{unit.digest[:8].upper()} A0 A1 B0 B1 C)" in result.book.theorem
    assert result.as_json()["numbers"]["zero"] == -3
    assert "exponent of zeros = -3" in str(result)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.lrat")}
    assert len(times) >= result.book.refutations >= 5
    (again,) = tcsmt.specified_with_acl2(unit, books=folder)
    assert not again.flaw
    assert times == {path: path.stat().st_mtime_ns for path in folder.rglob("*.lrat")}
