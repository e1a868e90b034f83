"""The plugin that pytest loads by its entry point: an option, a fixture and a mark.

Nothing but pytest is imported before a test asks for the fixture, or has the mark.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tcsmt.interface.api.check import Check
    from tcsmt.interface.api.units import UnitLike


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--tcsmt-rows``."""
    parser.getgroup("tcsmt").addoption(
        "--tcsmt-rows",
        type=_rows,
        metavar="ROWS",
        help="Rows that each tcsmt_check asks, at least, whatever the test says.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """``tcsmt_power``."""
    config.addinivalue_line(
        "markers",
        "tcsmt_power(*names, kernel, criterion, ...): fail where the test that these arguments of "
        "tcsmt.testing.power describe accepts one of the named wrong kernels (no names: any), or rejects "
        "the right one.",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose criterion lets a wrong kernel through."""
    for mark in item.iter_markers("tcsmt_power"):
        from tcsmt.interface.api.power import power
        from tcsmt.support.errors import TcsmtError

        try:
            found = power(**mark.kwargs, only=mark.args)
        except (TcsmtError, TypeError) as error:
            pytest.fail(f"tcsmt_power: {error}", pytrace=False)
        if found.exit_code:
            pytest.fail(str(found), pytrace=False)


def _rows(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: must be an integer, 1 or more")
    return int(text)


@pytest.fixture
def tcsmt_check(request: pytest.FixtureRequest) -> Callable[..., Check | None]:
    """``tcsmt_check(unit, function, rows=100_000, **how)``: the test fails unless the function is the unit.

    unit, function, how: as for :func:`tcsmt.check`. The failure shows a short row that differs, the unit's
    stages on it, and what gives the function's answers; rows and answers are left in the test's ``tmp_path``,
    as ``answers-1.json`` and so on. What became of a plain function is kept in pytest's cache (see
    :mod:`tcsmt.interface.pytest.checks`). Returns what :func:`tcsmt.check` does, or None where that is kept.
    """

    def run(unit: UnitLike, implementation: Any = None, *, rows: int = 100_000, **how: Any) -> Check | None:
        __tracebackhide__ = True
        from tcsmt.interface.pytest.checks import checked

        asked = request.config.getoption("--tcsmt-rows")
        outcome = checked(request, unit, implementation, rows if asked is None else asked, how)
        if not outcome.agrees:
            pytest.fail(outcome.text, pytrace=False)
        return outcome.check

    return run
