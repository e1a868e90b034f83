"""``tcsmt.accuracy.reduced``: facts that hold, are refuted and stay open, and what a second call takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.support.errors import Exit


@pytest.mark.slow
def test_a_fact_on_all_inputs_of_a_small_format(tmp_path: Path) -> None:
    path = tmp_path / "reduced.json"
    found = accuracy.reduced(["one-by-one", "two-by-one"], "volta", widths=2, inputs=14, output=path)
    assert {key: entry["verdict"] for key, entry in found.entries.items()} == {
        "one-by-one, volta, p = 2": "holds for all inputs", "two-by-one, volta, p = 2": "not so",
    }  # fmt: skip
    assert found.holds is False and found.exit_code is Exit.DIFFERS
    first, second = str(found).split("\ntwo-by-one: ")
    assert (
        first.endswith("volta     holds for all inputs: p = 2")
        and "(2 of 8192 inputs): b0 = 1.5·2^-7, " in second
    )
    again = accuracy.reduced("one-by-one", "volta", widths=[2], inputs=14, output=path)
    assert again.holds is True and again.exit_code is Exit.ANSWERED
    assert str(again).endswith("holds for all inputs, kept from an earlier run: p = 2")
    assert repr(again) == "<ReducedFacts of 1 fact: 1 entry>"


def test_open_facts_neither_hold_nor_fail() -> None:
    found = accuracy.reduced("one-by-one", "volta", widths=2, inputs=14)
    (entry,) = found.entries.values()
    opened = replace(found, entries={"a key": {**entry, "verdict": "open", "solver": {"reason": "timeout"}}})
    assert opened.holds is None and opened.exit_code is Exit.UNKNOWN
    assert "holds for exponents -6 to 6, open beyond: p = 2" in str(opened)
    part = {**entry["enumerated"], "whole": False}
    opened = replace(found, entries={"a key": {**opened.entries["a key"], "enumerated": part}})
    assert str(opened).endswith("open: p = 2 (timeout)")
    assert replace(found, failed={"a key": "killed"}).exit_code is Exit.UNKNOWN


@pytest.mark.parametrize(("given", "said"), [
    ({"questions": "one-by-two"}, "unknown question 'one-by-two'"), ({"units": "vlta"}, "did you mean volta"),
    ({"widths": 12}, "width 12: must be from 2 to 11"), ({"inputs": 33}, "must be from 2^0 to 2^32"),
    ({"seconds": 0}, "0 seconds: must be more than 0"),
])  # fmt: skip
def test_refusals(given: dict[str, object], said: str) -> None:
    with pytest.raises(TcsmtError) as error:
        accuracy.reduced(**given)
    assert said in str(error.value)
