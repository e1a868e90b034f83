"""Kernels on tiny units: what is proved to agree, and what is told apart, on all inputs by an oracle.

The search for witnesses is switched off, that of the engine and that of few products: what is tested are
proofs, and witnesses of solvers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.kernel_invariant import KernelInvariant
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, Model
from tcsmt.programs.kernels import invariance
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Unknown
from tests.oracles import kernels, tiny

pytestmark = pytest.mark.usefixtures("no_luck", "no_few_products")

KINDS = (FusedDotAdd, FusedDotAdd, DotThenAdd, IeeeDotAdd)
EPILOGUES = (
    "",
    "",
    "",
    "c=epilogue",
    "alpha=0.5,beta=2",
    "beta=0",
    "out=e5m2,saturate",
    "out=f16:e4m3,saturate",
    "nan=quiet",
    "nan=ones,c=epilogue",
)
#: Inputs at most, of the widest domain that is asked about.
MOST = 1 << 18


@pytest.fixture
def no_few_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariance._Search, "told_apart", lambda self, domain, one, two: None)


@dataclass(frozen=True)
class Case:
    """Some reductions on a unit, and all inputs of a domain."""

    seed: str
    unit: Model
    reductions: tuple[str, ...]
    epilogue: str
    k: int
    domain: Domain

    @classmethod
    def drawn(cls, seed: str) -> Case:
        rng = Random(seed)
        k = rng.choice((2, 2, 3))
        while True:
            unit = tiny.some_model(rng, rng.choice(KINDS), narrow=True)
            if unit.c_format != unit.d_format or unit.d_format.width > 8 or unit.scale_format is not None:
                continue
            names = tuple(rng.sample(list(kernels.REDUCTIONS), 3))
            domain = Domain(finite=rng.random() < 0.5, c_zero=rng.random() < 0.4, positive=rng.random() < 0.2)
            case = cls(seed, unit, names, rng.choice(EPILOGUES), k, domain)
            if case.everything(domain).count <= MOST:
                return case

    def everything(self, domain: Domain) -> tiny.Everything:
        unit = self.unit
        formats = {f"{side}{n}": getattr(unit, f"{side}_format") for n in range(self.k) for side in "ab"}
        return tiny.Everything.of(formats | {"c": unit.c_format}, domain)

    def judged(self) -> Counter[str]:
        """What was answered of each pair, in each domain; an error where it is wrong."""
        found = tcsmt.kernel_invariant(
            self.unit, self.reductions, self.domain, k=self.k, epilogue=self.epilogue,
            options=tcsmt.SolvingOptions(steps=400_000, confirm=False, reuse=False),
        )  # fmt: skip
        counts: Counter[str] = Counter()
        for groups in (found.found.groups, *found.found.narrower):
            everything = self.everything(groups.domain)
            results = self.results(everything)
            for group in groups.members:
                for other in group[1:]:
                    differing = np.flatnonzero(results[group[0]] != results[other])
                    assert not differing.size, f"{self}: {group[0]} and {other} differ: {differing[0]}"
                    counts["agree"] += 1
            for (one, two), decision in groups.decisions.items():
                verdict = decision.verdict
                if isinstance(verdict, Distinguished):
                    values = dict(verdict.values)
                    assert values in everything, f"{self}: {values} is not in {groups.domain}"
                    columns = {name: np.array([word]) for name, word in values.items()}
                    names = (self.reductions[n] for n in (one, two))
                    words = [self.merged(self.of(name, columns))[0] for name in names]
                    assert words[0] != words[1], f"{self}: {values} is no witness"
                    counts["differ"] += 1
                elif isinstance(verdict, Unknown):
                    counts["unknown"] += 1
        counts["agree on integers"] += self.on_integers(found)
        return counts

    def results(self, everything: tiny.Everything) -> list[Any]:
        """Of each reduction, the words of all inputs."""
        chunks = [[self.merged(self.of(one, columns)) for one in self.reductions] for columns in everything]
        return [np.concatenate(one) for one in zip(*chunks, strict=True)]

    def of(self, reduction: str, columns: kernels.Columns) -> kernels.Words:
        return kernels.kernel(self.unit, reduction, self.epilogue, self.k, columns)

    def merged(self, found: kernels.Words) -> Any:
        """Words, with one for all NaNs where no rule says which they are."""
        if "nan=" in self.epilogue or not isinstance(found.fmt, kernels.exact.Format):
            return found.words
        return np.where(found.fmt.decode(found.words).nan, -1, found.words)

    def on_integers(self, found: KernelInvariant) -> bool:
        """Whether it was proved that all agree on some integers, with c = +0: on all of them they do."""
        limit = found.integers
        if not limit:
            return False
        everything = self.everything(Domain(c_zero=True))
        whole = {}
        for name, words in everything.words.items():
            if name == "c":
                whole[name] = np.zeros(1, np.int64)
                continue
            x = kernels.exact.Format.of(getattr(self.unit, f"{name[0]}_format")).decode(words)
            values = x.mag * 2.0**x.lsb
            whole[name] = words[(values == np.rint(values)) & (values <= limit) & ~x.inf & ~x.nan]
        results = self.results(tiny.Everything(whole))
        assert all((one == results[0]).all() for one in results), f"{self}: not on integers up to {limit}"
        return True


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        (3, 5),
        pytest.param((4, 6, *range(7, 60)), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_verdicts_on_kernels_hold_for_all_inputs(seeds: Sequence[int]) -> None:
    """Equal is equal on each, a witness is one; what is said of integers with c = 0 holds for all of them."""
    counts = sum((Case.drawn(f"kernels {seed}").judged() for seed in seeds), Counter())
    print(dict(counts))
    assert counts["agree"] >= 2 and counts["differ"]
