"""Errors name what was given and the nearest of what is allowed; each has its exit code."""

from __future__ import annotations

import pytest

from tcsmt.support.errors import Contradiction, Exit, InternalError, TcsmtError, UnknownName, choose

NAMES = ["volta", "turing", "ampere", "Ada"]


def test_names_are_chosen_whatever_their_case() -> None:
    assert [choose("unit", given, NAMES) for given in ("VOLTA", "ada", "Turing")] == [
        "volta",
        "Ada",
        "turing",
    ]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("volt", "did you mean volta? "),  # how it begins
        ("A", "did you mean ampere or Ada? "),
        ("tiring", "did you mean turing? "),  # how it is spelt
        ("", ""),
        ("zzz", ""),
    ],
)
def test_the_nearest_are_named(given: str, hint: str) -> None:
    with pytest.raises(UnknownName) as error:
        choose("unit", given, NAMES)
    assert str(error.value) == f"unknown unit {given!r}: {hint}allowed: volta, turing, ampere, Ada"


def test_long_lists_are_cut() -> None:
    message = str(UnknownName("row", "x", [f"r{number}" for number in range(31)]))
    assert message.endswith("r28, r29, ...")
    assert not str(UnknownName("row", "x", [f"r{number}" for number in range(30)])).endswith("...")


def test_exit_codes() -> None:
    assert [error.exit_code for error in (TcsmtError, UnknownName, InternalError, Contradiction)] == [
        2,
        2,
        4,
        4,
    ]
    assert Contradiction("a", "b").exit_code is Exit.CONTRADICTION
    assert str(Contradiction("a", "b")).endswith("evidence contradicts a proof; proved: a; found: b")
