"""Is an algorithm ever less accurate than another? Witnesses, proofs, and what is left out."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.error import exact_dot
from tcsmt.analysis.search.compare import AlgorithmPair, compare, judge
from tcsmt.analysis.search.search import random_rows
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import algorithm_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Distinguished, Equivalent

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


def pair(one: str, two: str, arch: str, k: int, **domain: object) -> AlgorithmPair:
    algorithms = algorithm_named(one, arch, k)[0], algorithm_named(two, arch, k)[0]
    return AlgorithmPair((one, two), algorithms, replace(TYPE1, **domain))


@pytest.mark.parametrize(
    "arch",
    [
        "volta",
        *(
            pytest.param(arch, marks=pytest.mark.long)
            for arch in ("cdna3", "turing", "ampere", "hopper", "blackwell")
        ),
    ],
)
@pytest.mark.parametrize("c_zero", [True, False])
@pytest.mark.parametrize("names", [("ootomo-halfhalf", "markidis"), ("markidis", "ootomo-halfhalf")])
def test_each_is_worse_somewhere(arch: str, c_zero: bool, names: tuple[str, str]) -> None:
    asked = pair(*names, arch, 1, c_zero=c_zero)
    found = compare(asked, Solving(), search=10)
    assert isinstance(found.verdict, Distinguished)
    assert found.judgement is not None
    values = dict(found.verdict.values)
    assert asked.domain.contains(asked.algorithms[0].input_formats, values)
    one, two = (abs(value(w) - exact_dot(values)) for w in found.judgement.words)
    assert one > two


def test_left_out_product_costs_two_ulps() -> None:
    """a = b = 1 + 2^-11: the product of the residuals, 2^-22, is what Ootomo and Yokota leave out."""
    word = F32.word(1 + Fraction(1, 2**11))
    asked = pair("ootomo-halfhalf", "ootomo-halfhalf-4", "volta", 1)
    (found,) = judge(asked, [{"a0": word, "b0": word, "c": 0}])
    assert found.errors == (Fraction(1, 2**22), 0)
    assert found.excess == 2


@pytest.mark.long
def test_solver_finds_a_witness_without_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pair("ootomo-halfhalf", "markidis", "volta", 1, c_zero=True, exponents=(0, 0))
    from tcsmt.analysis.search import compare as module

    monkeypatch.setattr(module, "climb", lambda *a, **k: (None, np.array([-np.inf])))
    found = compare(asked, Solving(SolvingOptions(timeout=300)), search=1)
    assert isinstance(found.verdict, Distinguished)
    assert found.verdict.solver == "bitwuzla"
    assert found.judgement is not None
    assert found.judgement.worse


@pytest.mark.long
def test_never_worse_is_proved_where_nothing_is_left_over() -> None:
    """Inputs exact in f16, c = 0: both algorithms give what the unit gives."""
    asked = pair("ootomo-halfhalf", "markidis", "volta", 4, exponents=(-14, 14), bits=(11, 11), c_zero=True)
    found = compare(asked, Solving(SolvingOptions(timeout=120)), search=0.5)
    assert isinstance(found.verdict, Equivalent), found.verdict
    assert found.verdict.scripts
    rows = random_rows(asked.domain, F32, 4, 2000, np.random.default_rng(11))
    one, two = (rows.run(a) for a in asked.algorithms)
    assert (one == two).all()
