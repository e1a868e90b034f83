"""The table of bounds: its cells, what they are about, and what is left out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.analysis.sweeps.bound_table import BoundSubject, lines_of, tasks_of
from tcsmt.analysis.sweeps.findings import Effort
from tcsmt.matrix_units.arithmetic.formats import FORMATS
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


@pytest.mark.parametrize("name", ["f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e2m1", "e3m2"])
def test_exponents_that_are_left_open_are_those_of_numbers_that_there_are(name: str) -> None:
    """Each with every significand of the format, by its own table of words; the next binades have not all."""
    fmt = FORMATS[name]
    domain = BoundSubject.of_format(name, Domain(c_zero=True)).domain
    assert domain.c_zero and domain.bits == (fmt.precision, fmt.precision)
    low, high = domain.low, domain.high
    numbers = {
        abs(fmt.value(word << fmt.ignored_low_bits))
        for word in range(1 << (fmt.width - fmt.ignored_low_bits))
        if not (fmt.is_nan(word << fmt.ignored_low_bits) or fmt.is_infinite(word << fmt.ignored_low_bits))
    }

    def whole(exponent: int) -> bool:
        first = Fraction(2) ** exponent
        steps = 1 << fmt.fraction_bits
        return all(first + first * n / steps in numbers for n in range(steps))

    assert whole(low) and whole(high)
    if fmt.exponent_bits < 8:
        assert not whole(low - 1) and not whole(high + 1)
    else:
        assert (low, high) == (-15, 14)
    assert BoundSubject.of_algorithm("markidis", Domain()).domain.exponents == (-15, 14)


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


@pytest.mark.parametrize(("name", "low"), [("f16", -24), ("e4m3", -9), ("e5m2", -16), ("e2m1", -1)])
def test_a_second_line_is_about_all_numbers_of_a_format(name: str, low: int) -> None:
    """Its exponents go on to the smallest subnormal number, where nothing restricts the numbers."""
    normal = BoundSubject.of_format(name, Domain(c_zero=True))
    every = BoundSubject.of_subnormals(name, Domain(c_zero=True))
    assert every is not None and every.subnormals and not normal.subnormals
    assert (every.domain.low, every.domain.high) == (low, normal.domain.high) and every.domain.c_zero
    assert every.inputs == f"{every.domain}, {name} numbers with subnormals"
    assert normal.inputs == str(normal.domain)
    for domain in (DOMAIN, Domain(bits=(3, 3)), Domain(subnormals=False)):
        assert BoundSubject.of_subnormals(name, domain) is None


@pytest.mark.parametrize("name", ["bf16", "tf32", "ue8m0"])
def test_formats_with_the_exponents_of_binary32_have_one_line(name: str) -> None:
    assert BoundSubject.of_subnormals(name, Domain()) is None
