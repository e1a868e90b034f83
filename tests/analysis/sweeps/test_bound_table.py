"""The table of bounds: its cells, what they are about, and what is left out."""

from __future__ import annotations

import pytest

from tcsmt.analysis.sweeps.bound_table import BoundSubject, lines_of, tasks_of
from tcsmt.analysis.sweeps.findings import Effort
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError

DOMAIN = Domain(exponents=(-6, 7))
EFFORT = Effort(SolvingOptions(), 0.1)


def test_a_format_is_the_unit_by_itself_on_numbers_of_the_format() -> None:
    assert BoundSubject.of_format("bf16", DOMAIN).domain.bits == (8, 8)
    assert BoundSubject.of_format("bf16", Domain(exponents=(0, 0), bits=(3, 4))).domain.bits == (3, 4)
    assert BoundSubject.of_algorithm("markidis", DOMAIN).domain == DOMAIN
    with pytest.raises(TcsmtError, match="s8"):
        BoundSubject.of_format("s8", DOMAIN)


def test_lines_are_units_that_take_the_subject() -> None:
    """Volta has no BF16; each line has its lengths in order, and each cell a question of its own."""
    subjects = [BoundSubject.of_format(name, DOMAIN) for name in ("f16", "bf16")]
    lines = list(lines_of(subjects, ["v100", "h100"], [64, 16, 64], EFFORT))
    assert [(line.unit.partition("/")[0], line.subject.label) for line in lines] == [
        ("volta", "f16"), ("hopper", "f16"), ("hopper", "bf16"),
    ]  # fmt: skip
    assert all(list(line.tasks) == [16, 64] for line in lines)
    tasks = tasks_of(lines)
    assert len({task.asked for task in tasks}) == len({task.key for task in tasks}) == 6
    with pytest.raises(TcsmtError, match="no unit of v100 takes bf16 and accumulates in f32"):
        list(lines_of(subjects[1:], ["v100"], [16], EFFORT))


def test_a_cell_is_about_its_domain_and_algorithm() -> None:
    def asked(name: str, domain: Domain) -> str:
        (line,) = lines_of([BoundSubject.of_algorithm(name, domain)], ["v100"], [16], EFFORT)
        return line.tasks[16].asked

    other = Domain(exponents=(-6, 6))
    assert len({asked("markidis", DOMAIN), asked("markidis", other), asked("markidis,c=last", DOMAIN)}) == 3
