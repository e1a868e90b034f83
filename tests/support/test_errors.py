"""Errors name what was given and the nearest of what is allowed; each has its exit code."""

from __future__ import annotations

import pytest

from tcsmt.support.errors import (
    Contradiction,
    Exit,
    InternalError,
    TcsmtError,
    UnknownName,
    choose,
)
from tests.support.command_line import refused

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


def test_of_many_names_the_nearest_are_listed() -> None:
    names = [f"unit{number}" for number in range(16)]
    message = str(UnknownName("unit", "unit15x", names, "tcsmt models"))
    nearest, _, rest = message.partition("nearest of 16: ")[2].partition("; ")
    assert message.startswith("unknown unit 'unit15x': did you mean unit15 or ")
    assert nearest.split(", ")[0] == "unit15"
    assert len(nearest.split(", ")) == 5
    assert rest == "see `tcsmt models`"
    assert str(UnknownName("unit", "zzz", names)).endswith("; 11 others")
    assert str(UnknownName("unit", "zzz", names[:15])).endswith("allowed: " + ", ".join(names[:15]))


@pytest.mark.parametrize(
    ("arguments", "see"),
    [
        (("describe", "vlota"), "tcsmt models"),
        (("describe", "hopper/wgmma.zzz"), "tcsmt models --arch hopper"),
        (("find", "--property", "zzz", "--arch", "volta"), "tcsmt properties"),
        (("accuracy", "bound", "zzz", "--arch", "volta"), "tcsmt accuracy algorithms"),
        (("zzz",), "tcsmt --help"),
    ],
)
def test_a_command_names_what_lists_the_others(arguments: tuple[str, ...], see: str) -> None:
    message = refused(*arguments)
    names = message.partition("nearest of ")[2].partition(": ")[2].partition("; ")[0].split(", ")
    assert 1 <= len(list(filter(None, names))) <= 5
    assert f"; see `{see}`\n" in message


def test_exit_codes() -> None:
    assert [error.exit_code for error in (TcsmtError, UnknownName, InternalError, Contradiction)] == [
        2,
        2,
        4,
        4,
    ]
    assert TcsmtError("").exit_code == 2
    assert [code.value for code in Exit] == [0, 1, 2, 3, 4]
    assert Contradiction("a", "b").exit_code is Exit.CONTRADICTION
    assert str(Contradiction("a", "b")).endswith("evidence contradicts a proof; proved: a; found: b")
