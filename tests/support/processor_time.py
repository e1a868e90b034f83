"""Processor time of each test, and the names of those that take much and are not marked ``slow``.

Nothing fails by it: a figure depends on the machine, and the first test that needs something pays for all.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tcsmt.prove.engine.solvers.run import spent

#: Seconds above which a test is to be marked.
LIMIT = 0.5
_NAME = "processor seconds"
_START = pytest.StashKey[float]()


class ProcessorTime:
    """A plugin: each report of a test's end has what it took, and the summary names the slow ones."""

    def __init__(self) -> None:
        self.total = 0.0
        self.slow: list[tuple[float, str]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note when it begins."""
        item.stash[_START] = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add what it took to the last of its reports, which a worker sends to the process that sums up."""
        report = yield
        if call.when == "teardown" and _START in item.stash:
            report.user_properties.append((_NAME, round(spent() - item.stash[_START], 3)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add it up."""
        seconds = dict(report.user_properties).get(_NAME)
        if report.when == "teardown" and isinstance(seconds, float):
            self.total += seconds
            if seconds > LIMIT and not {"slow", "long"} & report.keywords.keys():
                self.slow.append((seconds, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name what is to be marked."""
        terminalreporter.write_line(f"{self.total:.0f} s of processors in tests")
        if self.slow:
            terminalreporter.section(f"more than {LIMIT} s of a processor, and not marked slow")
        for seconds, name in sorted(self.slow, reverse=True):
            terminalreporter.write_line(f"{seconds:6.1f} s {name}")
