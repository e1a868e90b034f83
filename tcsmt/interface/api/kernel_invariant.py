"""Which reductions on a unit give the same bits: ``tcsmt.kernel_invariant``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.certified import certify_kernel
from tcsmt.analysis.exactness.kernels import ExactKernel, exact_kernel
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue, epilogue_named
from tcsmt.programs.kernels.invariance import DomainGroups, Invariance, invariance
from tcsmt.programs.kernels.reduction import Reduction, reduction_named, separate
from tcsmt.prove.engine.engine import Decision, finding_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Certified, Distinguished, Unknown, certificate_json, reason_of
from tcsmt.support.errors import Exit
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted


@dataclass(frozen=True, repr=False)
class KernelInvariant(Result):
    """The groups of reductions that agree: see ``groups`` and ``invariant``, or print it.

    found: everything that was found, also in narrower domains. exact: for each reduction, up to which
    integers it is proved to be exact with c = +0; empty where that was not asked. certified: the certificate
    of each reduction's proof up to :attr:`integers`, or why it has none; empty where none was asked for.
    """

    found: Invariance
    exact: tuple[ExactKernel, ...] = ()
    certified: tuple[Certified, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the reductions, each group of which gives the same bits for every input of the domain."""
        return self._named(self.found.groups)

    @property
    def invariant(self) -> bool | None:
        """True: all reductions are proved to agree; False: two differ; None: unknown."""
        groups = self.found.groups
        if len(groups.members) == 1:
            return True
        return False if groups.differ else None

    @property
    def reason(self) -> str:
        """Why ``invariant`` is None; empty where it is not."""
        if self.invariant is not None:
            return ""
        decisions = self.found.groups.decisions.values()
        return "; ".join(dict.fromkeys(filter(None, (reason_of(decision.verdict) for decision in decisions))))

    @property
    def integers(self) -> int:
        """Up to this magnitude, with c = +0, all reductions add up integers exactly; 0: not proved."""
        return min((exactness.integers for exactness in self.exact), default=0)

    @property
    def k(self) -> int:
        """Products of the kernels that were compared."""
        return self.found.k

    @property
    def format(self) -> str:
        """Return the format in which the results of all kernels are read."""
        return self.found.kernels[0].model.d_format.name

    def _named(self, groups: DomainGroups) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(str(self.found.reductions[n]) for n in group) for group in groups.members)

    def _facts(self) -> dict[str, Any]:
        result = self.found
        names = [str(reduction) for reduction in result.reductions]
        return {
            "unit": result.unit.name,
            "evidence": result.unit.evidence,
            "k": result.k,
            "format": self.format,
            "reductions": names,
            "invariant": self.invariant,
            "domains": [
                {
                    "domain": self._where(groups),
                    "groups": [list(group) for group in self._named(groups)],
                    "pairs": [
                        {"reductions": [names[first], names[second]], **finding_of(decision).as_json()}
                        for (first, second), decision in groups.decisions.items()
                    ],
                }
                for groups in (result.groups, *result.narrower)
            ],
            "exact": [
                {
                    "reduction": name,
                    "integers": exactness.integers,
                    "ends": exactness.ends,
                    "proof": None if exactness.proof is None else exactness.proof.as_json(),
                    **certificate_json(certified),
                }
                for name, exactness, certified in zip_longest(names, self.exact, self.certified)
                if exactness is not None
            ],
        }

    def _lines(self) -> list[str]:
        result, groups = self.found, self.found.groups
        count = counted(len(result.reductions), "reduction")
        evidence = f"evidence: {result.unit.evidence}"
        lines = [f"{result.unit.name}, {evidence}; {count} at K = {result.k}, results in {self.format}", ""]
        lines += [*self._groups(groups), ""]
        if len(result.reductions) > 2:
            lines += [*self._table(groups), ""]
        for number, (pair, decision) in enumerate(_witnesses(groups), 1):
            lines += [f"#{number} {' and '.join(str(result.reductions[n]) for n in pair)} differ, replayed:"]
            lines += [*finding_of(decision).witness_lines(), ""]
        lines += [
            f"? {result.reductions[first]} and {result.reductions[second]}: {decision.verdict.reason}"
            for (first, second), decision in groups.decisions.items()
            if isinstance(decision.verdict, Unknown)
        ]
        for inside in result.narrower:
            lines += [*self._groups(inside), ""]
        lines += self._exact() if self.exact else []
        return lines if lines[-1] else lines[:-1]

    def _where(self, groups: DomainGroups) -> str:
        return groups.domain.in_words(self.found.unit.model.input_formats)

    def _groups(self, groups: DomainGroups) -> list[str]:
        """Return the groups of a domain, each with how it was proved."""
        if len(groups.members) == 1:
            title = "all reductions give the same bits"
        elif groups.unknown:
            title = f"{counted(len(groups.members), 'group')}; some pairs are unknown"
        else:
            title = f"{len(groups.members)} groups, no two of which give the same bits for every input"
        lines = [f"{self._where(groups)}: {title}"]
        for names, group in zip(self._named(groups), groups.members, strict=True):
            proofs = [groups.decisions[pair] for pair in groups.decisions if pair[0] == group[0]]
            certified = [str(proof.certified) for proof in proofs if proof.certified is not None]
            lines += [f"  {' = '.join(names)}", *(f"    {text}" for text in certified)]
        return lines

    def _exact(self) -> list[str]:
        """Up to which integers reductions are exact, and so agree."""
        names = [str(reduction) for reduction in self.found.reductions]
        scope = "integers a and b, c = +0"
        if self.integers:
            lines = [f"{scope}: all reductions give the same bits, exactly the sum, up to {self.integers}"]
        else:
            lines = [f"{scope}: not proved exact for all reductions"]
        for name, exactness in zip(names, self.exact, strict=True):
            lines.append(f"  {name}: up to {exactness.integers}; {exactness.ends}")
        return [*lines, *(f"  {certificate}" for certificate in self.certified)]

    def _table(self, groups: DomainGroups) -> list[str]:
        """Pair by pair: proved equal, the number of a witness, or unknown."""
        names = [str(reduction) for reduction in self.found.reductions]
        numbers = {pair: f"#{number}" for number, (pair, _) in enumerate(_witnesses(groups), 1)}
        table = []
        for row, name in enumerate(names):
            pairs = [groups.pair(row, column) for column in range(row)]
            cells = ["=" if pair is None else numbers.get(pair, "?") for pair in pairs]
            table.append([f"{name} ", *cells, "="])
        lines = [f"  {line}" for line in columns(table, "<>", gap=" ", least=3)]
        return [*lines, "  (= proved equal, # a witness below, ? unknown; columns in the order of the rows)"]

    @property
    def _title(self) -> str:
        unknown = f", unknown ({self.reason})" if self.invariant is None else ""
        return f"{self.found.unit.name} at K = {self.k}: {self.groups}{unknown}"

    @property
    def exit_code(self) -> Exit:
        """0: all reductions agree (proved); 1: two differ; 3: unknown."""
        return Exit.of(self.invariant)


def _witnesses(groups: DomainGroups) -> list[tuple[tuple[int, int], Decision]]:
    """Pairs of groups' first ones with a witness each, in order."""
    between = [groups.pair(a[0], b[0]) for n, b in enumerate(groups.members) for a in groups.members[:n]]
    pairs = [pair for pair in between if pair is not None]
    return [(p, groups.decisions[p]) for p in pairs if isinstance(groups.decisions[p].verdict, Distinguished)]


@ieee_floats
def kernel_invariant(
    unit: UnitLike,
    reductions: Sequence[Reduction | str] | str = "chained,split-k:2,split-k:4,split-k:4,pairs",
    domain: Domain | None = None,
    *,
    k: int | None = None,
    epilogue: Epilogue | str = PLAIN,
    narrow: bool = True,
    options: SolvingOptions = SolvingOptions(timeout=20.0, confirm=True),
    progress: ProgressCallback = no_progress,
) -> KernelInvariant:
    """Return which reductions on a unit give the same bits for every input of a domain; witnesses for the
    others.

    Reductions are a text of them with commas between, or two or more as :func:`tcsmt.reduction` reads them.
    Of parts that are added in any order (``split-k:3,any``), every order is one of the reductions. Results
    must have one format.

    Args:
        unit: The unit.
        reductions: The reductions to compare, written as for `tcsmt gemm`.
        domain: Of the inputs; None: all words.
        k: Products. [default: tells most of them apart]
        epilogue: The epilogue of all kernels.
        narrow: Look for narrower domains in which more of them agree, and for integers that all of them add
            up exactly.
        options: Of solvers; proofs are confirmed where they leave it open.
        progress: Called with how far it is.

    Raises :class:`tcsmt.TcsmtError` for unknown names, and for what no kernel does.

    >>> import tcsmt
    >>> found = tcsmt.kernel_invariant("volta", ["chained", "split-k:2", "promote:4"], k=8, narrow=False)
    >>> found.groups
    (('chained',), ('split-k:2', 'promote:4'))
    """
    solving = Solving(options.confirming(True))
    several = separate(reductions) if isinstance(reductions, str) else reductions
    chosen = [reduction_named(name) if isinstance(name, str) else name for name in several]
    last = epilogue_named(epilogue) if isinstance(epilogue, str) else epilogue
    result = invariance(
        side_of(unit).row, chosen, domain or Domain(finite=False), solving, k=k, epilogue=last, narrow=narrow,
        seen=progress,
    )  # fmt: skip
    exact: tuple[ExactKernel, ...] = ()
    if narrow and last == PLAIN and len(result.groups.members) > 1:
        chain = StepwiseProof(solving)
        exact = tuple(exact_kernel(chain, result.unit.model, order, result.k) for order in result.reductions)
    certified: tuple[Certified, ...] = ()
    limit = min((exactness.integers for exactness in exact), default=0)
    if limit and solving.certificates is not None:
        certified = tuple(
            certify_kernel(solving.certificates, result.unit, order, limit, result.k)
            for order in result.reductions
        )
    return KernelInvariant(result, exact, certified)
