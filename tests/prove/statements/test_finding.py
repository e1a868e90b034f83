"""Findings: what is shown of a verdict."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.study.properties.investigation import one_block
from tests.support.questions import VOLTA


def test_a_witness_is_reported_as_it_is() -> None:
    """Worked by hand: 1·1 − (2^-1 + 2^-24), where the last bit of c is aligned away or is kept."""
    row = one_block(row_named(VOLTA).model)
    question = difference("F", ("F = 23", row), ("F = 24", row.varied(fraction_bits=24)))
    words = dict.fromkeys(row.input_names, 0) | {"a0": 0x3C00, "b0": 0x3C00, "c": 0xBF000001}
    witness = Distinguished(values=words, solver="by hand", version="", seconds=0.0)
    data = Finding(question, witness, ("F = 23",)).as_json()
    assert {n: int(v["word"], 16) for n, v in data["inputs"].items()} == words
    # 1 - 2^-1 = 2^-1, and 1 - 2^-1 - 2^-24, which is two units in the last place below it
    assert [(r["side"], r["word"], r["value"]) for r in data["results"]] == [
        ("F = 23", "0x3f000000", "2^-1"), ("F = 24", "0x3efffffe", "1.9999997615814208984375·2^-2"),
    ]  # fmt: skip
    assert data["first_difference"] == {
        "stage": "aligned c",
        "F = 23": "-2^-1  (unit 2^-23)",
        "F = 24": "-1.00000011920928955078125·2^-1  (unit 2^-24)",
    }
    assert data["supported"] == ["F = 23"]
