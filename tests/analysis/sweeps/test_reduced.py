"""Algorithms on reduced formats: all inputs, against the papers' arithmetic in fractions, input by input."""

from fractions import Fraction
from itertools import product

import pytest

from tcsmt.analysis.sweeps.reduced import FACTS, WIDTHS, Limits, examine, image, narrow_format, wide_format
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd
from tcsmt.programs.recipes import algorithm_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.finding import shown
from tcsmt.support.errors import TcsmtError
from tests.oracles.reduced import Reference, inputs, numbers
from tests.support.reduced_formats import domain_of, on, wide_of
from tests.support.results import result


@pytest.mark.parametrize("unit", ["volta", "ampere", "hopper", "blackwell", "cdna3"])
@pytest.mark.parametrize("name", ["single-f16", "markidis", "ootomo-halfhalf", "fp32-fma"])
def test_the_image_of_full_width_is_the_algorithm_itself(name: str, unit: str) -> None:
    algorithm, _ = algorithm_named(name, unit, 2)
    assert image(algorithm, narrow_format(11)) == algorithm


@pytest.mark.parametrize("p", [2, 3, 6])
def test_widths_are_scaled_as_documented(p: int) -> None:
    narrow, wide = narrow_format(p), wide_format(narrow_format(p))
    assert (narrow.precision, wide.precision) == (p, 2 * p + 2)
    assert wide.exponent_bits == narrow.exponent_bits + 3
    for unit, extra, below in (("volta", 0, 5), ("ampere", 1, 6), ("hopper", 2, 7)):
        made = on("ootomo-halfhalf", unit, p)
        assert isinstance(made.unit, FusedDotAdd)
        assert made.split.scale == p
        assert made.unit.parameters.fraction_bits == 2 * p + 1 + extra
        assert made.unit.parameters.zero_exponent == wide.e_min - below
        assert made.unit.parameters.rounding.name == "RTZ"
    cdna3 = on("single-f16", "cdna3", p).unit
    assert isinstance(cdna3, DotThenAdd)
    assert (cdna3.fraction_bits, cdna3.dot_fraction_bits) == (2 * p + 2, 2 * p + 10)
    assert (cdna3.normalised_fraction_bits, cdna3.product_limit) == (2 * p + 9, wide.e_max + 1)


def test_other_words_have_no_image() -> None:
    with pytest.raises(TcsmtError, match="words of bf16"):
        image(algorithm_named("fasi-bf16x2", "hopper", 1)[0], narrow_format(3))
    with pytest.raises(TcsmtError, match="width 12: must be from 2 to 11"):
        narrow_format(12)


@pytest.mark.long
def test_counts_are_not_all_zero() -> None:
    domain, reference = domain_of(-7, 6, (4, 2), c_zero=True), Reference("volta", 2)
    worse = [
        (a, b)
        for a, b, c in inputs(domain, wide_of(2))
        if abs(reference.ootomo(a, b, c) - a * b) > abs(reference.markidis(a, b, c) - a * b)
    ]
    entry = examine(FACTS["two-by-one"], "volta", 2, Limits(14))
    assert entry["enumerated"]["counterexamples"] == len(worse) == 2
    assert entry["verdict"] == "not so"
    given = entry["witness"]["inputs"].items()
    shown = {name: wide_of(2).value(int(one["word"], 16)) for name, one in given}
    a, b = shown["a0"], shown["b0"]
    assert abs(reference.ootomo(a, b, Fraction(0)) - a * b) > abs(
        reference.markidis(a, b, Fraction(0)) - a * b
    )


def test_every_fact_has_an_image_at_every_width() -> None:
    for fact, width in product(FACTS.values(), WIDTHS):
        narrow = narrow_format(width)
        domain = fact.domain(narrow)
        assert domain.low <= domain.high
        for algorithm in fact.images("volta", narrow):
            assert algorithm.wide == wide_of(width)


@pytest.mark.parametrize("p", [2, 3, 4])
def test_residuals_are_exact_where_the_range_says_so(p: int) -> None:
    domain, reference = FACTS["two-by-one-exact"].domain(narrow_format(p)), Reference("volta", p)
    lost = [x for x in numbers(domain, 2 * p) if sum(reference.split(x, 0)) != x]
    below = domain_of(domain.low - 2, domain.low - 2, (2 * p, p), c_zero=True)
    assert not lost
    assert [x for x in numbers(below, 2 * p) if sum(reference.split(x, 0)) != x]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counted", "solved"),
    [
        ("one-by-one", "holds for all inputs", "proved"),
        pytest.param("two-by-one", "not so", "not so", marks=pytest.mark.long),
    ],
)
def test_solvers_agree_with_enumeration(name: str, counted: str, solved: str) -> None:
    found = examine(FACTS[name], "volta", 2, Limits(most=0, options=SolvingOptions()))
    assert "enumerated" not in found
    assert found["verdict"] == found["solver"]["answer"] == solved
    assert examine(FACTS[name], "volta", 2, Limits(14), ask=False)["verdict"] == counted


def test_facts_neither_enumerated_nor_asked_stay_open() -> None:
    limits = Limits(most=0, options=SolvingOptions())
    still_open = examine(FACTS["monotone-2-c"], "volta", 10, limits, ask=False)
    assert still_open["verdict"] == "open"
    assert "solver" not in still_open


def test_full_width_is_searched_by_the_simulator() -> None:
    found = examine(FACTS["two-by-one-c"], "volta", 11, Limits(most=0, options=SolvingOptions(steps=200_000)))
    assert (found["narrow"], found["wide"]) == ("f16", "f32")
    assert found["verdict"] == "not so"
    assert found["solver"]["solver"] == "simulator"


def test_recorded_counterexamples_of_volta_follow_the_papers() -> None:
    entries = result("accuracy/reduced")["entries"].values()
    wrong = [e for e in entries if e["verdict"] == "not so" and e["unit"] == "volta" and e["width"] <= 4]
    assert wrong
    for entry in wrong:
        fmt, reference = wide_format(narrow_format(entry["width"])), Reference("volta", entry["width"])
        given = {name: fmt.value(int(one["word"], 16)) for name, one in entry["witness"]["inputs"].items()}
        a, b, c = (given[name] for name in ("a0", "b0", "c"))
        one, two = (abs(f(a, b, c) - a * b - c) for f in (reference.ootomo, reference.markidis))
        assert one > two, entry["witness"]


@pytest.mark.parametrize("widths", [range(2, 4), pytest.param(WIDTHS, marks=pytest.mark.long)], ids=str)
def test_recorded_witnesses_replay(widths: range) -> None:
    """Inputs and results are words with their values, as of other commands; the words are the algorithms'."""
    entries = result("accuracy/reduced")["entries"].values()
    found = [e for e in entries if e["width"] in widths and ("witness" in e)]
    assert {e["verdict"] for e in found} == {"not so", "largest of all inputs"}
    for entry in found:
        fact, narrow, witness = FACTS[entry["fact"]], narrow_format(entry["width"]), entry["witness"]
        wide = wide_format(narrow)
        words = {name: int(one["word"], 16) for name, one in witness["inputs"].items()}
        algorithms = fact.images(entry["unit"], narrow)
        results = witness["results"] if "results" in witness else [witness["result"]]
        given = [evaluate([one.trace.output], words)[0] for one in algorithms]
        assert [int(one["word"], 16) for one in results] == given
        for word, one in zip([*words.values(), *given], [*witness["inputs"].values(), *results], strict=True):
            assert {name: one[name] for name in ("word", "value", "decimal", "format")} == shown(wide, word)


@pytest.mark.long
@pytest.mark.parametrize("unit", ["volta", "ampere", "hopper", "cdna3"])
def test_one_word_is_monotone_for_all_inputs_of_small_widths(unit: str) -> None:
    for name, width in (("monotone-1-c", 3), ("monotone-2", 2), ("monotone-2-c", 2), ("one-by-one-c", 3)):
        entry = examine(FACTS[name], unit, width, Limits(28), ask=False)
        assert entry["enumerated"]["whole"]
        assert entry["enumerated"]["counterexamples"] == 0
