"""The options of solving: what is refused, who is started, and which kept proofs count, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions

#: confirm, reuse: whether a proof of one solver alone counts, and one that is sure.
TABLE = [
    (None, None, True, True),
    (False, None, True, True),
    (False, True, True, True),
    (False, False, False, False),
    (True, None, False, False),  # anyone can write to a file
    (True, True, False, True),
    (True, False, False, False),
]


@pytest.mark.parametrize(("confirm", "reuse", "alone", "confirmed"), TABLE)
def test_which_kept_proofs_count(
    confirm: bool | None, reuse: bool | None, alone: bool, confirmed: bool
) -> None:
    options = SolvingOptions(confirm=confirm, reuse=reuse)
    assert (options.takes(sure=False), options.takes(sure=True)) == (alone, confirmed)


@pytest.mark.parametrize("confirm", [True, False])
def test_a_default_of_a_call_is_for_what_is_left_open(confirm: bool) -> None:
    assert SolvingOptions().confirming(confirm) == SolvingOptions(confirm=confirm)
    assert SolvingOptions(confirm=not confirm).confirming(confirm) == SolvingOptions(confirm=not confirm)


@pytest.mark.parametrize(("values", "message"), [
    ({"solver": "z4"}, "unknown solver 'z4'"), ({"timeout": 0.0}, "timeout = 0.0: must be over 0"),
    ({"timeout": 1e7}, "timeout = 10000000.0"), ({"memory": 63}, "memory = 63: must be from 64"),
    ({"jobs": -1}, "jobs = -1: must be from 0 to 256"), ({"jobs": 257}, "jobs = 257"),
])  # fmt: skip
def test_values_out_of_range_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.SolvingOptions(**values)


def test_solvers_that_are_started() -> None:
    assert SolvingOptions("Z3").team == ("z3",)
    assert SolvingOptions().team == SOLVERS[:1]
    assert SolvingOptions("portfolio").team == SOLVERS
    assert SolvingOptions(certificate="proofs").certificates == Path("proofs")
