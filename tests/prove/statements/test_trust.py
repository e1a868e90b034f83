"""Whether a kept proof counts: every case, as a table."""

from __future__ import annotations

import pytest

from tcsmt.prove.statements.trust import Trust, sure

#: confirm, kept: whether a proof of one solver alone counts, and one that is sure.
TABLE = [
    (False, None, True, True),
    (False, True, True, True),
    (False, False, False, False),
    (True, None, False, False),  # anyone can write to a file
    (True, True, False, True),
    (True, False, False, False),
]


@pytest.mark.parametrize(("confirm", "kept", "alone", "confirmed"), TABLE)
def test_what_an_earlier_run_proved(confirm: bool, kept: bool | None, alone: bool, confirmed: bool) -> None:
    trust = Trust(confirm, kept)
    assert (trust.takes(sure=False), trust.takes(sure=True)) == (alone, confirmed)


def test_nothing_is_asked_by_default() -> None:
    assert Trust() == Trust(confirm=False, kept=None)


@pytest.mark.parametrize(
    ("confirmed", "scripts", "expected"), [("z3", ["1"], True), ("", ["1"], False), ("", [], True)]
)
def test_who_stands_for_a_record(confirmed: str, scripts: list[str], expected: bool) -> None:
    assert sure({"confirmed": confirmed, "scripts": scripts}) is expected


def test_a_record_without_its_scripts_is_none() -> None:
    with pytest.raises(KeyError):
        sure({"confirmed": ""})
