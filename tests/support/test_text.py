"""How names are shortened, against spelling them out again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.support.text import agreeing, counted, ranges


def test_examples() -> None:
    assert ranges(["a1", "a2", "a3", "b0", "b1", "c"]) == ["a1..a3", "b0", "b1", "c"]
    assert ranges(["-2", "-1", "0", "2"]) == ["-2..0", "2"]
    assert ranges([]) == []
    assert ranges(["sa0", "sa1", "sa2", "a3"]) == ["sa0..sa2", "a3"]


names = st.builds(lambda stem, number: f"{stem}{number}", st.sampled_from(["a", "b", "p"]), st.integers(0, 6))


@pytest.mark.slow
@given(st.lists(names | st.just("c"), max_size=12))
def test_nothing_is_lost(given: list[str]) -> None:
    spelled: list[str] = []
    for text in ranges(given):
        first, _, last = text.partition("..")
        spelled.append(first)
        if last:
            stem = re.sub(r"\d", "", first)
            inside = range(int(first[len(stem) :]) + 1, int(last[len(stem) :]) + 1)
            assert len(inside) >= 2
            spelled += [f"{stem}{number}" for number in inside]
    assert spelled == given


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("row", "rows"), ("hypothesis", "hypotheses"), ("mismatch", "mismatches"), ("class", "classes"),
        ("different answer", "different answers"),
    ],
)  # fmt: skip
def test_words_agree_with_their_number(one: str, several: str) -> None:
    assert [counted(number, one) for number in (0, 1, 2)] == [f"0 {several}", f"1 {one}", f"2 {several}"]
    assert [agreeing(number, f"{one} differs", f"{several} differ") for number in (1, 3)] == [
        f"{one} differs", f"{several} differ",
    ]  # fmt: skip
