"""Which reductions on a unit give the same bits: for all inputs, or for those of a narrower domain.

Reductions are held against one of each group that is known so far, so that n of them in g groups take about
n·g questions. What is proved equal is the same function; a witness between two groups is one for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.expression import expression
from tcsmt.programs.kernels.few_products import FewProducts
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.model import kernel_row
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.prove.engine.engine import Decision, compare_models
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.version import __version__

#: Instructions along K, at most, where a K is looked for at which reductions are not the same sums.
_LONGEST = 32


@dataclass(frozen=True)
class DomainGroups:
    """The decisions about the inputs of one domain.

    members: the groups, by the numbers of reductions, each of which was proved equal to its group's first.
    decisions: of the first of a group and another reduction, by their numbers.
    """

    domain: Domain
    members: tuple[tuple[int, ...], ...]
    decisions: dict[tuple[int, int], Decision]

    def pair(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the pair that was decided for two reductions: the first ones of their groups; None: one
        group.
        """
        first, second = sorted((self.group(left), self.group(right)))
        return None if first == second else (self.members[first][0], self.members[second][0])

    def group(self, number: int) -> int:
        """Return the group of a reduction."""
        return next(n for n, group in enumerate(self.members) if number in group)

    @property
    def unknown(self) -> bool:
        """Return whether some pair was neither proved equal nor told apart."""
        return any(isinstance(decision.verdict, Unknown) for decision in self._deciding())

    @property
    def differ(self) -> bool:
        """Return whether some pair was told apart."""
        return any(isinstance(decision.verdict, Distinguished) for decision in self._deciding())

    def _deciding(self) -> Iterator[Decision]:
        for number, group in enumerate(self.members):
            yield from (self.decisions[before[0], group[0]] for before in self.members[:number])


@dataclass(frozen=True)
class Invariance:
    """The groups of a unit's reductions that agree at one K.

    kernels: as rows; the results of all have one format. groups: for the inputs that were asked about;
    narrower: for domains in it in which more reductions agree, the widest first.
    """

    unit: Row
    kernels: tuple[Row, ...]
    reductions: tuple[Reduction, ...]
    k: int
    groups: DomainGroups
    narrower: tuple[DomainGroups, ...]


def telling_k(unit: Row, reductions: Sequence[Reduction], *, c: bool = False) -> int:
    """Return the shortest K at which as few of the reductions as possible are the same sums.

    c: whether a C may enter before the products. There are as many parts as a reduction names, and all chains
    are made of whole instructions there, where that can be.
    """
    step = unit.model.k

    def score(count: int) -> tuple[int, int, int, int]:
        length = count * step
        orders = _orders(reductions, length, step, c=c)
        different = {expression(order, length, step, c=c) for order in orders}
        parts = (
            level.number - len(level.cut(np.arange(length), step))
            for order in orders
            for level in order.levels[:1]
            if level.kind in ("split-k", "sliced")
        )
        chains = (part for order in orders for part, _ in Schedule(unit.model, order).chains(length))
        return len(different), -sum(parts), -sum(len(chain) % step > 0 for chain in chains), -count

    return max(range(1, _LONGEST + 1), key=score) * step


def invariance(
    unit: Row,
    reductions: Sequence[Reduction],
    domain: Domain,
    solving: Solving,
    *,
    k: int | None = None,
    epilogue: Epilogue = PLAIN,
    narrow: bool = True,
    seen: ProgressCallback = no_progress,
) -> Invariance:
    """Compare reductions, all with the same unit and epilogue.

    k: products; None: see :func:`telling_k`. narrow: whether to look for narrower domains in which more of
    them agree.
    Of parts that are added in any order, every order is one of the reductions.
    Raises :class:`.TcsmtError` for fewer than two reductions, one that is given twice, and what no kernel
    does.
    """
    for number, reduction in enumerate(reductions):
        if reduction in reductions[:number]:
            raise TcsmtError(f"reduction {reduction} is given twice")
    if any(reduction.tiled for reduction in reductions):
        raise TcsmtError("stream-k: where K is cut depends on the tile; give cuts:K1-K2-... instead")
    c = epilogue.c_first and epilogue.beta != 0 and not domain.c_zero
    length = telling_k(unit, reductions, c=c) if k is None else k
    reductions = _orders(reductions, length, unit.model.k, c=c)
    if len(reductions) < 2:
        raise TcsmtError(
            "reductions: give two or more, such as chained,split-k:2, or parts with several orders, such as "
            "split-k:3,any (the order of two parts does not matter where no C comes first, and no total is "
            "rounded: additions commute)"
        )
    made = tuple(Kernel(unit, reduction, epilogue) for reduction in reductions)
    _check_formats(made)
    kernels = tuple(kernel_row(reduction, length) for reduction in made)
    few = FewProducts(unit, made, length)
    search = _Search(kernels, few, solving, Lemmas(solving, lasting=True), seen)
    groups = search.groups(domain, [(number,) for number in range(len(kernels))])
    narrower: list[DomainGroups] = []
    members = groups.members
    for inside in _narrower(domain) if narrow else ():
        if len(members) == 1:
            break
        domain_groups = search.groups(inside, members)
        if len(domain_groups.members) < len(members):
            narrower.append(domain_groups)
            members = domain_groups.members
    return Invariance(unit, kernels, tuple(reductions), length, groups, tuple(narrower))


def _check_formats(kernels: Sequence[Kernel]) -> None:
    """Refuse results of different formats: the same bits would be other numbers."""
    formats = {kernel.schedule.d_format: kernel for kernel in kernels}
    if len(formats) > 1:
        each = ", ".join(f"{kernel.reduction} in {fmt.name}" for fmt, kernel in formats.items())
        raise TcsmtError(
            f"reductions: their results have different formats ({each}), so that their bits cannot be "
            "compared; give an epilogue that converts all of them, such as out=f32"
        )


def _orders(reductions: Sequence[Reduction], length: int, k: int, *, c: bool) -> list[Reduction]:
    return list(dict.fromkeys(order for each in reductions for order in each.orders(length, k, c=c)))


def _narrower(domain: Domain) -> Iterator[Domain]:
    """Domains in a domain, each inside the one before it."""
    finite = replace(domain, finite=True)
    yield from (inner for inner in dict.fromkeys([finite, replace(finite, c_zero=True)]) if inner != domain)


@dataclass
class _Search:
    kernels: tuple[Row, ...]
    few: FewProducts
    solving: Solving
    lemmas: Lemmas
    seen: ProgressCallback
    #: Decisions with witnesses, by the pair.
    told: dict[tuple[int, int], list[Decision]] = field(default_factory=dict)
    asked: int = 0

    def groups(self, domain: Domain, before: Sequence[tuple[int, ...]]) -> DomainGroups:
        """Return which groups agree in a domain, where each group agrees already."""
        members: list[tuple[int, ...]] = []
        decisions: dict[tuple[int, int], Decision] = {}
        for group in before:
            for number, other in enumerate(members):
                pair = other[0], group[0]
                decisions[pair] = self.decided(domain, *pair)
                if isinstance(decisions[pair].verdict, Equivalent):
                    members[number] = (*other, *group)
                    break
            else:
                members.append(group)
        return DomainGroups(domain, tuple(members), decisions)

    def decided(self, domain: Domain, first: int, second: int) -> Decision:
        for earlier in self.told.get((first, second), ()):
            assert isinstance(earlier.verdict, Distinguished)
            if domain.contains(earlier.question.formats, earlier.verdict.values):
                return earlier
        left, right = ((row.name, row.model) for row in (self.kernels[first], self.kernels[second]))
        self.asked += 1
        self.seen(self.asked, self.asked, f"{left[0]} against {right[0]}: {domain}")
        decision = self.told_apart(domain, first, second) or compare_models(
            left, right, domain, self.solving, lemmas=self.lemmas
        )
        if isinstance(decision.verdict, Distinguished):
            self.told.setdefault((first, second), []).append(decision)
        return decision

    def told_apart(self, domain: Domain, first: int, second: int) -> Decision | None:
        """Return the decision of an input that simulation finds, in the narrowest domain that has one."""
        left, right = ((row.name, row.model) for row in (self.kernels[first], self.kernels[second]))
        title = f"{left[0]} against {right[0]}"
        finite = replace(domain, finite=True)
        for inside in dict.fromkeys([replace(finite, c_zero=True), finite, domain]):
            values = self.few.witness(first, second, inside, difference(title, left, right, inside))
            if values is not None:
                verdict = Distinguished(values=values, solver="evaluator", version=__version__, seconds=0.0)
                return Decision(difference(title, left, right, domain), verdict)
        return None
