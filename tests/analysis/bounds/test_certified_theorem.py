"""Kinds of statements that write their certificates and check them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tcsmt.analysis.bounds.certified_theorem import CertifiedTheorem, Conclusion
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain
from tcsmt.language.terms import var
from tcsmt.prove.certificates.checker import Checked, check_certificate
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.errors import InternalError, Malformed

pytest.importorskip("pysolvers", reason="python-sat is not installed")


def below(chain: LemmaChain, about: Mapping[str, Any], *, share: Fraction | None = None) -> Conclusion:
    """No word of 8 bits is above ``most``; a half and a share make the limit."""
    if about["most"] > 300:
        raise Unbounded("too many")
    if not chain.prove(
        "words are small", ~var("word", 16).zext(17).ule(about["most"]) & var("word", 16).ult(256)
    ):
        raise InvalidProof(chain.stopped)
    share = share if share is not None else Fraction(about["share"])
    return {"limit": share + Fraction(1, 2), "share": str(share)}


KIND = CertifiedTheorem(
    "{most} and {limit}", "words", {"most": "number", "limit": "fraction"}, ("share",),
    about="below", derive=below,
)  # fmt: skip


def written(folder: Path, most: int = 255, limit: str = "5/6") -> Certified:
    values = {"most": most, "limit": Fraction(limit)}
    return KIND.certify(Certificates(folder), "a title", values, share=Fraction(1, 3))


def checked(folder: Path, change: Mapping[str, Any] | None = None) -> Checked:
    (path,) = (folder / "statements").glob("*.json")
    record = json.loads(path.read_text())
    record["statement"] = {k: v for k, v in (record["statement"] | (change or {})).items() if v is not None}
    path.write_text(json.dumps(record))
    (result,) = check_certificate(folder, {"below": KIND})
    return result


def test_what_is_written_is_what_is_checked(tmp_path: Path) -> None:
    certified = written(tmp_path)
    assert certified.path is not None and certified.lemmas == 1
    statement = json.loads(certified.path.read_text())["statement"]
    assert list(statement.items()) == [
        ("about", "below"), ("title", "a title"), ("most", 255), ("limit", "5/6"), ("share", "1/3"),
    ]  # fmt: skip
    assert not checked(tmp_path).flaw
    assert len(checked(tmp_path).lemmas) == 1


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ({"limit": "1"}, "limit: the lemmas prove 5/6, and not 1"),
        ({"share": "1/4"}, "limit: the lemmas prove 3/4, and not 5/6"),
        ({"share": "2/6"}, "share: the lemmas prove 1/3, and not 2/6"),
        ({"most": 254}, "is missing"),
        ({"most": 301}, "too many"),
    ],
    ids=str,
)
def test_a_change_is_refused(tmp_path: Path, change: Mapping[str, Any], flaw: str) -> None:
    written(tmp_path)
    assert flaw in checked(tmp_path, change).flaw


@pytest.mark.parametrize(
    ("change", "fault"),
    [({"share": None}, "KeyError: 'share'"), ({"share": "a third"}, "ValueError")],
    ids=str,
)
def test_values_that_the_argument_does_not_take(
    tmp_path: Path, change: Mapping[str, Any], fault: str
) -> None:
    """Nothing is known of such a statement, so it is an error and not a flaw."""
    written(tmp_path)
    with pytest.raises(Malformed, match=f"not values of a statement about below: {fault}"):
        checked(tmp_path, change)


def test_what_is_not_proved_is_not_written(tmp_path: Path) -> None:
    assert written(tmp_path, most=254).why.startswith("words are small: ")
    assert written(tmp_path, most=301).why == "too many"
    with pytest.raises(InternalError, match="a title: limit: the lemmas prove 5/6, and not 2/3"):
        written(tmp_path, limit="2/3")
    assert not (tmp_path / "statements").exists()
