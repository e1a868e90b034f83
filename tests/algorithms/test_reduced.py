"""Algorithms on reduced formats: all inputs, against the papers' arithmetic in fractions, input by input."""

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from tcsmt.algorithms.compare import AlgorithmPair
from tcsmt.algorithms.exhaustive import Everything, middles
from tcsmt.algorithms.reduced import FACTS, WIDTHS, Limits, examine, image, narrow_format, wide_format
from tcsmt.algorithms.result_flaws import FLAWS
from tcsmt.arithmetic.formats import Format
from tcsmt.interpret.exact import evaluate
from tcsmt.models import DotThenAdd, FusedDotAdd
from tcsmt.prove.solvers.run import Settings
from tcsmt.recipes import Algorithm, algorithm_named
from tcsmt.recipes.arrays import simulate
from tcsmt.statements.domain import Domain
from tcsmt.statements.finding import shown
from tcsmt.support.errors import TcsmtError
from tcsmt.terms import any_of
from tests.oracles import rationals
from tests.oracles.rationals import rounded
from tests.support.paths import ROOT

#: Fraction bits of the alignment beyond the wide format's, by unit.
EXTRA = {"volta": 0, "ampere": 1, "hopper": 2}
Numbers = tuple[Fraction, Fraction, Fraction]


class Reference:
    """One product and c on a truncated fused unit with operands of p bits, from the papers.

    p: 4 exponent bits up to p = 4; the wide format has 2p + 2 bits, and is never near its limits here.
    """

    def __init__(self, unit: str, p: int) -> None:
        self.p, self.wide, self.e_min = p, 2 * p + 2, -6
        self.fraction_bits = self.wide - 1 + EXTRA[unit]

    def unit(self, x: Fraction, y: Fraction, c: Fraction) -> Fraction:
        exponents = [rationals.binary_exponent(c)] if c else []
        if x and y:
            exponents.append(sum(max(rationals.binary_exponent(v), self.e_min) for v in (x, y)))
        grain = Fraction(2) ** (max(exponents, default=0) - self.fraction_bits)
        return rounded(sum(int(t / grain) for t in (x * y, c)) * grain, self.wide, -99, "RTZ")

    @cache  # noqa: B019
    def split(self, x: Fraction, scale: int) -> tuple[Fraction, Fraction]:
        first = rounded(x, self.p, self.e_min, "RNE")
        return first, rounded((x - first) * 2**scale, self.p, self.e_min, "RNE")

    def single(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        return self.unit(self.split(a, 0)[0], self.split(b, 0)[0], c)

    def markidis(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        x, y = self.split(a, 0), self.split(b, 0)
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
            c = self.unit(x[i], y[j], c)
        return c

    def ootomo(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        (x, dx), (y, dy) = self.split(a, self.p), self.split(b, self.p)
        zero = Fraction(0)
        corrections = self.unit(x, dy, self.unit(dx, y, zero))
        nearest = rounded(self.unit(x, y, zero) + corrections / 2**self.p, self.wide, -99, "RNE")
        return rounded(nearest + c, self.wide, -99, "RNE")


def numbers(domain: Domain, bits: int, *, signs: bool = True) -> list[Fraction]:
    """A domain's numbers of so many significant bits in order, one zero among them."""
    sizes = [
        Fraction(significand, 1 << (bits - 1)) * Fraction(2) ** exponent
        for exponent in range(domain.low, domain.high + 1)
        for significand in range(1 << (bits - 1), 1 << bits)
    ]
    return [*(-x for x in reversed(sizes) if signs), Fraction(0), *sizes]


def wide_of(p: int) -> Format:
    return wide_format(narrow_format(p))


def inputs(domain: Domain, wide: Format) -> Iterator[Numbers]:
    """All inputs of one product with an a that is not negative."""
    c = [Fraction(0)] if domain.c_zero else numbers(domain, wide.precision)
    one, two = domain.bits_in(wide)
    yield from product(numbers(domain, one, signs=False), numbers(domain, two), c)


def domain_of(low: int, high: int, bits: tuple[int, int], *, c_zero: bool) -> Domain:
    return Domain(exponents=(low, high), bits=bits, c_zero=c_zero)


def on(name: str, unit: str, p: int) -> Algorithm:
    return image(algorithm_named(name, unit, 1)[0], narrow_format(p))


# --- images ------------------------------------------------------------------------------------


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
        assert made.unit.fraction_bits == 2 * p + 1 + extra
        assert made.unit.zero_exponent == wide.e_min - below
        assert made.unit.rounding.name == "RTZ"
    cdna3 = on("single-f16", "cdna3", p).unit
    assert isinstance(cdna3, DotThenAdd)
    assert (cdna3.fraction_bits, cdna3.dot_fraction_bits) == (2 * p + 2, 2 * p + 10)
    assert (cdna3.normalised_fraction_bits, cdna3.product_limit) == (2 * p + 9, wide.e_max + 1)


def test_other_words_have_no_image() -> None:
    with pytest.raises(TcsmtError, match="words of bf16"):
        image(algorithm_named("fasi-bf16x2", "hopper", 1)[0], narrow_format(3))
    with pytest.raises(TcsmtError, match="width 12: must be from 2 to 11"):
        narrow_format(12)


# --- all inputs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "low", "bits", "c_zero"), [(1, -1, (2, 1), True), (1, -1, (1, 2), False), (2, 0, (2, 1), True)]
)
def test_every_input_of_the_domain_is_there_once(
    k: int, low: int, bits: tuple[int, int], c_zero: bool
) -> None:
    domain = domain_of(low, 0, bits, c_zero=c_zero)
    wide = wide_of(2)
    everything = Everything(domain, wide, k)
    seen: dict[tuple[Fraction, ...], int] = {}
    for number in range(1 << everything.width):
        values = everything.values(number)
        if domain.contains(dict.fromkeys(values, wide), values):
            pairs = [(values[f"a{lane}"], values[f"b{lane}"]) for lane in range(k)]
            found = tuple(wide.value(word) for word in (*(w for pair in pairs for w in pair), values["c"]))
            seen[found] = seen.get(found, 0) + 1
    one = list(inputs(domain, wide))
    lanes = product({x[:2] for x in one}, repeat=k)
    expected = {(*(x for lane in some for x in lane), c) for some in lanes for c in {x[2] for x in one}}
    assert set(seen) == expected
    assert all(count == 1 for found, count in seen.items() if all(found[: 2 * k]) and (c_zero or found[-1]))


#: The significand's bits of the narrow format, exponents, bits of a and b, and whether c is 0.
COUNTED = {
    "volta": (2, -7, -2, (4, 2), True),
    "ampere": (2, -2, -1, (3, 2), False),
    "hopper": (3, -7, -6, (6, 3), True),
}


@pytest.mark.parametrize(
    ("unit", "p", "low", "high", "bits", "c_zero"),
    [
        pytest.param(unit, *one, marks=[] if unit == own == "volta" else [pytest.mark.long])
        for unit in EXTRA
        for own, one in COUNTED.items()
    ],
)
def test_counts_of_comparisons_follow_the_papers(
    unit: str, p: int, low: int, high: int, bits: tuple[int, int], c_zero: bool
) -> None:
    domain, reference = domain_of(low, high, bits, c_zero=c_zero), Reference(unit, p)
    names = ("ootomo-halfhalf", "markidis")
    algorithms = on(names[0], unit, p), on(names[1], unit, p)
    expected = [0, 0]
    for a, b, c in inputs(domain, wide_of(p)):
        exact = a * b + c
        one, two = (abs(f(a, b, c) - exact) for f in (reference.ootomo, reference.markidis))
        expected[0] += one > two
        expected[1] += two > one
    for order, count in ((1, expected[0]), (-1, expected[1])):
        pair = AlgorithmPair(names[::order], algorithms[::order], domain)
        unsure, goal = pair.doubts
        everything = Everything(domain, wide_of(p), 1)
        tally = everything.count(algorithms[0], goal, unsure, seconds=60)
        assert tally.whole
        assert tally.unsure == 0
        # without c no error is left where a factor is zero; with c such inputs have several numbers
        assert tally.holds == count if c_zero else tally.holds >= count
        assert (tally.holds > 0) == (count > 0)
        if tally.first is not None:
            values = everything.values(tally.first)
            x, y, z = (wide_of(p).value(values[name]) for name in ("a0", "b0", "c"))
            wrong = [abs(f(x, y, z) - x * y - z) for f in (reference.ootomo, reference.markidis)][::order]
            assert wrong[0] > wrong[1]


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


@pytest.mark.parametrize(
    ("unit", "low", "bits"),
    [("volta", -5, (5, 5)), pytest.param("hopper", -4, (6, 5), marks=pytest.mark.long)],
)
def test_monotonicity_follows_the_papers(unit: str, low: int, bits: tuple[int, int]) -> None:
    domain, reference = domain_of(low, low + 1, bits, c_zero=True), Reference(unit, 2)
    left, right = numbers(domain, bits[0], signs=False), numbers(domain, bits[1])
    results = {(a, b): reference.markidis(a, b, Fraction(0)) for a in left for b in right}
    falling = set()
    for (i, a), (j, b) in product(enumerate(left), enumerate(right)):
        for x, y in ((left[i + 1 : i + 2], [b]), ([a], right[j + 1 : j + 2])):
            for moved in product(x, y):
                growth = (moved[0] * moved[1] - a * b) * (results[moved] - results[a, b])
                falling |= {(a, b)} if growth < 0 else set()
    flaw = FLAWS["monotone"]("markidis", on("markidis", unit, 2), domain)
    goal = any_of([goal for _, goal in flaw.goals()])
    tally = Everything(domain, flaw.wide, 1).count(flaw.algorithm, goal, seconds=60)
    assert tally.whole
    assert tally.holds == len(falling) > 0


@pytest.mark.long
def test_wrong_signs_follow_the_papers() -> None:
    domain, reference = domain_of(-1, -1, (4, 4), c_zero=False), Reference("volta", 2)
    wrong = sum(
        reference.markidis(a, b, c) * (a * b + c) <= 0
        for a, b, c in inputs(domain, wide_of(2))
        if a and b and a * b + c
    )
    flaw = FLAWS["sign"]("markidis", on("markidis", "volta", 2), domain)
    ((_, goal),) = flaw.goals()
    tally = Everything(domain, flaw.wide, 1).count(flaw.algorithm, goal, seconds=60)
    assert tally.whole
    assert tally.holds == wrong > 0


@pytest.mark.parametrize(
    ("name", "c_zero"),
    [
        ("single", False),
        ("markidis", True),
        ("ootomo", True),
        pytest.param("ootomo", False, marks=pytest.mark.long),
    ],
)
def test_the_largest_error_follows_the_papers(name: str, c_zero: bool) -> None:
    domain = domain_of(-1, 0, (5, 4) if c_zero else (3, 2), c_zero=c_zero)
    reference = Reference("volta", 2)
    compute = getattr(reference, name)
    expected = max(
        abs(compute(a, b, c) - a * b - c) / (abs(a * b) + abs(c))
        for a, b, c in inputs(domain, wide_of(2))
        if a * b or c
    )
    full = {"single": "single-f16", "ootomo": "ootomo-halfhalf"}.get(name, name)
    worst = Everything(domain, wide_of(2), 1).worst(on(full, "volta", 2), seconds=60)
    assert worst.whole
    assert worst.relative == expected > 0
    a, b, c = (wide_of(2).value(worst.values[n]) for n in ("a0", "b0", "c"))
    assert wide_of(2).value(worst.result) == compute(a, b, c)


def test_enumeration_stops_in_time_and_says_so() -> None:
    domain = FACTS["monotone-1-c"].domain(narrow_format(3))
    flaw = FLAWS["monotone"]("single-f16", on("single-f16", "volta", 3), domain)
    goal = any_of([goal for _, goal in flaw.goals()])
    tally = Everything(domain, flaw.wide, 1).count(flaw.algorithm, goal, seconds=1e-9)
    assert not tally.whole
    assert 0 < tally.gone < 1 << Everything(domain, flaw.wide, 1).width
    domain = FACTS["fma-sign-c"].domain(narrow_format(8))
    everything, fma = Everything(domain, wide_of(8), 1), on("fp32-fma", "volta", 8)
    with pytest.raises(TcsmtError, match="at most 2"):
        everything.count(fma, fma.trace.c.eq(0), seconds=1)


def test_middles_shrink_until_they_fit() -> None:
    domain = FACTS["monotone-1-c"].domain(narrow_format(4))
    tried = list(middles(domain, wide_of(4), 1, 28))
    assert [(e.domain.low, e.domain.high) for e in tried] == [(-3, 3), (-1, 1), (0, 0)]
    assert all(e.width <= 28 for e in tried)
    assert next(middles(domain, wide_of(4), 1, 32)).domain == domain
    assert not list(middles(domain, wide_of(4), 1, 3))


# --- facts -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("name", "counted", "solved"),
    [
        ("one-by-one", "holds for all inputs", "proved"),
        pytest.param("two-by-one", "not so", "not so", marks=pytest.mark.long),
    ],
)
def test_solvers_agree_with_enumeration(name: str, counted: str, solved: str) -> None:
    found = examine(FACTS[name], "volta", 2, Limits(most=0, settings=Settings(timeout=30)))
    assert "enumerated" not in found
    assert found["verdict"] == found["solver"]["answer"] == solved
    assert examine(FACTS[name], "volta", 2, Limits(14), ask=False)["verdict"] == counted


def test_what_is_neither_gone_through_nor_asked_about_stays_open() -> None:
    limits = Limits(most=0, settings=Settings(timeout=30))
    still_open = examine(FACTS["monotone-2-c"], "volta", 10, limits, ask=False)
    assert still_open["verdict"] == "open"
    assert "solver" not in still_open


def test_full_width_is_searched_by_the_simulator() -> None:
    found = examine(FACTS["two-by-one-c"], "volta", 11, Limits(most=0, settings=Settings(timeout=1)))
    assert (found["narrow"], found["wide"]) == ("f16", "f32")
    assert found["verdict"] == "not so"
    assert found["solver"]["solver"] == "simulator"


def test_recorded_counterexamples_of_volta_follow_the_papers() -> None:
    path = ROOT / "results" / "reduced.json"
    entries = json.loads(path.read_text())["entries"].values()
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
    entries = json.loads((ROOT / "results" / "reduced.json").read_text())["entries"].values()
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


def test_arrays_of_reduced_words_are_the_terms() -> None:
    import numpy as np

    for name in ("markidis", "ootomo-halfhalf", "fp32-fma"):
        algorithm = on(name, "hopper", 3)
        everything = Everything(domain_of(-7, 6, (8, 8), c_zero=False), algorithm.wide, 1)
        some = [everything.values(n * 7919 % (1 << everything.width)) for n in range(1, 40)]
        a, b = (np.array([[v[f"{side}0"]] for v in some], np.uint32) for side in "ab")
        found = simulate(algorithm, a, b, np.array([v["c"] for v in some], np.uint32))
        assert [int(w) for w in found] == [evaluate([algorithm.trace.output], v)[0] for v in some]
