"""The table of NVIDIA's units beside mmasim is that of the runs, and has a reason where one falls short."""

from __future__ import annotations

from simulator_table import PAGE, page


def test_it_is_made_of_the_runs() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_what_falls_short_has_a_reason() -> None:
    lines = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(lines) == 44
    for line in lines:
        assert ("**" in line) != line.endswith("|  |")
