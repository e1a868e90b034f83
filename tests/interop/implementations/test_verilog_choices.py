"""Claims of unique and priority, which constants decide."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tcsmt.interop.implementations.verilog_choices import _covers, _meet, choice_fault
from tcsmt.interop.implementations.verilog_tree import VerilogTree

TREE = VerilogTree({})


def case(check: str, *labels: str, condition: str = "Normal", default: bool = False) -> dict[str, Any]:
    items = [{"expressions": [{"constant": label, "type": "logic[1:0]"}], "stmt": {}} for label in labels]
    subject = {"kind": "NamedValue", "type": "logic[1:0]"}
    found = {"kind": "Case", "check": check, "condition": condition, "expr": subject, "items": items}
    return found | ({"defaultCase": {"kind": "Empty"}} if default else {})


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (case("None", "2'b00", "2'b00"), ""),
        (case("Unique", "2'b00", "2'b01", "2'd2", "2'h3"), ""),
        (case("Unique", "2'b00", "2'b01"), "unique case: no condition may hold"),
        (case("Unique", "2'b00", "2'b01", default=True), ""),
        (case("Unique", "2'b00", "2'b00", default=True), "unique case: its conditions overlap"),
        (case("Unique", "2'b00", ""), "unique case: whether its conditions exclude each other is not known"),
        (case("Unique", "2'b0z", "2'b1z", condition="WildcardJustZ"), ""),
        (case("Unique", "2'b0z", "2'bz1", condition="WildcardJustZ", default=True), "its conditions overlap"),
        (case("Unique", "2'b0x", "2'b1z", condition="WildcardJustZ"), "is not known"),
        (case("Unique0", "2'b00"), ""),
        (case("Unique0", "2'b00", "2'b00"), "unique0 case: its conditions overlap"),
        (case("Priority", "2'b00", "2'b00"), "priority case: no condition may hold"),
        (case("Priority", "", default=True), ""),
        (case("None", "2'b00") | {"attributes": [{"name": "full_case"}]}, "full_case case: no condition"),
    ],
)
def test_claims(node: dict[str, Any], said: str) -> None:
    found = choice_fault(node, TREE)
    assert said in found and bool(said) == bool(found)


def test_covering_and_meeting_are_what_enumeration_says() -> None:
    words = ["".join(bits) for bits in product("01", repeat=3)]
    labels = ["".join(bits) for bits in product("01-", repeat=3)]

    def fits(label: str, word: str) -> bool:
        return all(x in ("-", y) for x, y in zip(label, word, strict=True))

    for first in labels:
        for second in labels:
            both = any(fits(first, word) and fits(second, word) for word in words)
            assert _meet(first, second) == both
            for third in ("0--", "11-", "1-1"):
                chosen = [first, second, third]
                whole = all(any(fits(label, word) for label in chosen) for word in words)
                assert _covers(chosen, 3) == whole
