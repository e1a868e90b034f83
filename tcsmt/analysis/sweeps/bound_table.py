"""A table of error bounds: algorithms on units, at several lengths, each cell found, proved and certified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tcsmt.analysis.sweeps.findings import About, Effort, bounded, bounded_with_subnormals
from tcsmt.language.graphs.digest import digest_of_texts
from tcsmt.matrix_units.arithmetic.formats import Format, float_format, format_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.recipes.named import recipe_named, units_for, without_file
from tcsmt.programs.steps.split import F32
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.jobs.processes import Task

#: Ootomo and Yokota's Type 1.
_TYPE1 = (-15, 14)


@dataclass(frozen=True)
class BoundSubject:
    """What is bounded: an algorithm, by its name, on the inputs of a domain; label: its name in the table.

    subnormals: of a unit by itself, the domain's exponents go on below those of the format's normal numbers,
    and of the numbers there, those that the format has count.
    """

    label: str
    algorithm: str
    domain: Domain
    subnormals: bool = False

    @property
    def inputs(self) -> str:
        """Return the inputs, in words."""
        return f"{self.domain}, {self.label} numbers with subnormals" if self.subnormals else str(self.domain)

    @classmethod
    def of_format(cls, name: str, domain: Domain) -> BoundSubject:
        """A unit by itself on numbers of an operand format: nothing is lost before it.

        Exponents that the domain leaves open are those of the format's normal numbers.
        Raises :class:`.TcsmtError` for what is not a floating-point format.
        """
        fmt = float_format(format_named(name))
        bits = domain.bits or (fmt.precision, fmt.precision)
        exponents = domain.exponents or _normal_exponents(fmt)
        domain = replace(domain, bits=bits, exponents=exponents)
        return cls(fmt.name, f"single-f16,format={fmt.name}", domain)

    @classmethod
    def of_subnormals(cls, name: str, domain: Domain) -> BoundSubject | None:
        """Return the same on all of the format's numbers; None where the domain restricts them.

        Nor where subnormal numbers of the format are as small as those of binary32: products underflow.
        """
        fmt, normal = float_format(format_named(name)), cls.of_format(name, domain)
        open_ = domain.exponents is None and domain.bits is None and domain.subnormals
        if not (open_ and fmt.has_subnormals and fmt.exponent_bits < F32.exponent_bits):
            return None
        exponents = fmt.e_min - fmt.fraction_bits, normal.domain.high
        return replace(normal, domain=replace(normal.domain, exponents=exponents), subnormals=True)

    @classmethod
    def of_algorithm(cls, name: str, domain: Domain) -> BoundSubject:
        """An algorithm on binary32 numbers, of Type 1 where the domain leaves exponents open.

        Raises :class:`.TcsmtError`.
        """
        recipe_named(name)
        return cls(name, name, replace(domain, exponents=domain.exponents or _TYPE1))


def _normal_exponents(fmt: Format) -> tuple[int, int]:
    """Return the exponents with which every significand is a normal number of the format.

    Of formats with binary32's exponents, those of Type 1: sums of larger products may overflow.
    """
    if fmt.exponent_bits >= F32.exponent_bits:
        return _TYPE1
    last = fmt.largest_finite_word >> fmt.ignored_low_bits & ((1 << fmt.fraction_bits) - 1)
    return fmt.e_min, fmt.e_max - (last < (1 << fmt.fraction_bits) - 1)


@dataclass(frozen=True)
class TableLine:
    """A line of the table: a subject on a unit; tasks: its cells, by length."""

    subject: BoundSubject
    unit: str
    tasks: Mapping[int, Task]


def lines_of(
    subjects: Sequence[BoundSubject], units: Sequence[str], lengths: Iterable[int], effort: Effort
) -> Iterator[TableLine]:
    """Each subject on what GEMM libraries use of each unit; units that do not take it are left out.

    Raises :class:`.TcsmtError` where no unit takes any of them.
    """
    lines = 0
    for unit in units:
        for subject in subjects:
            rows = units_for(recipe_named(subject.algorithm), unit)
            if rows:
                lines += 1
                cells = {k: _task(subject, rows[0], k, effort) for k in sorted({*lengths})}
                yield TableLine(subject, rows[0].name, cells)
    if not lines:
        asked = ", ".join(subject.label for subject in subjects)
        raise TcsmtError(f"no unit of {', '.join(units)} takes {asked} and accumulates in f32")


def _task(subject: BoundSubject, row: Row, k: int, effort: Effort) -> Task:
    """It is about the unit's graph, and how the algorithm is written."""
    name, domain = subject.algorithm, subject.domain
    parts = ["bound", without_file(name), row.model.digest, str(k), repr(domain)]
    parts += ["subnormals"] if subject.subnormals else []
    about = About(digest_of_texts(parts), {row.name: row.model.digest})
    key = f"{subject.label} on {row.name}, K = {k}, {subject.inputs}"
    function = bounded_with_subnormals if subject.subnormals else bounded
    return effort.task(key, about, function, name, row.name, k, domain)


def tasks_of(lines: Iterable[TableLine]) -> list[Task]:
    """Return the cells of lines."""
    return [task for line in lines for task in line.tasks.values()]
