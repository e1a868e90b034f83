"""Programs on given numbers: no element is off by more than its bound, by fractions of every step."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.bounded import BoundedProgram, UnitLosses
from tcsmt.analysis.tolerance.kernels import MatrixWords
from tcsmt.analysis.tolerance.search import largest_errors
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import ProductRun, UnitProgram, Value
from tcsmt.programs.steps.running_sum import COMPENSATIONS, Outside
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.trees import SumOrder
from tests.oracles import program_fractions as fractions
from tests.oracles import tiny
from tests.support.proofs import shared_proof

WIDE = tiny.described(exponent_bits=4, fraction_bits=4, bias=7)
NARROW = tiny.described(exponent_bits=4, fraction_bits=1, bias=7)
RNE, RTZ = ROUNDINGS["RNE"], ROUNDINGS["RTZ"]


def unit(narrow: Any) -> IeeeDotAdd:
    return IeeeDotAdd.of(
        a_format=narrow, b_format=narrow, c_format=WIDE, d_format=WIDE, sum_format=WIDE, k=1, method="fma"
    )


def bounded(program: UnitProgram) -> BoundedProgram:
    return BoundedProgram("a program", program.needed, QUIET, UnitLosses(shared_proof()))


def checked(program: UnitProgram, words: dict[str, Any], about: str) -> Counter[str]:
    """Each element's error is within its bound. words: of inputs, (elements, K) or (elements,)."""
    product = bounded(program)
    more = {name: (program.inputs[name].axes, x) for name, x in words.items() if name in ("s", "u")}
    operands = MatrixWords(words["A"], words["B"], words["c"], more=more)
    try:
        bounds = product.of_elements(operands, None)
    except Unbounded as why:
        return Counter({f"refused: {why}": 1})
    found: Counter[str] = Counter()
    results = product.results(operands, None)[0]
    for n in range(len(words["A"])):
        given: dict[str, Any] = {}
        for name, step in program.inputs.items():
            values = fractions.numbers(step.format)
            own = words[name][n]
            given[name] = [values[w] for w in own] if own.ndim else values[own]
        got = fractions.result(program, given, exactly=False)
        if got is not None:
            word = fractions.numbers(product.d_format)[results[n]]
            assert got == word, f"{about}, element {n}: {word}, by the oracle {got}"
        wanted = fractions.result(program, given, exactly=True)
        if product.is_sum:
            wanted = sum((x * y for x, y in zip(given["A"], given["B"], strict=True)), Fraction(0))
            wanted += given["c"] if program.reads("c") else 0
        if not np.isfinite(bounds.atol[n]):
            found["unbounded"] += 1
            continue
        assert got is not None and wanted is not None, f"{about}, element {n}: not finite"
        error, exact = abs(got - wanted), Fraction(float(bounds.exact[n]))
        assert abs(exact - wanted) <= Fraction(float(bounds.error[n])), f"{about}, element {n}: not {exact}"
        most = Fraction(float(bounds.atol[n])) + (0 if product.is_sum else Fraction(float(bounds.error[n])))
        assert error <= most, f"{about}, element {n}: off by {float(error)}, at most {float(most)}"
        found["bounded"] += 1
        found["half"] += 2 * error > most > 0
    return found


# --- every pair of numbers of a tiny format, one step at a time

SMALL = tiny.described(exponent_bits=3, fraction_bits=2, bias=3)
PRODUCT = IeeeDotAdd.of(
    a_format=SMALL, b_format=SMALL, c_format=SMALL, d_format=SMALL, sum_format=SMALL, k=1, method="fma"
)


def _constant(build: Builder, x: float) -> Value:
    return build.constant(SMALL, SMALL.word(Fraction(x)))


def _selected(build: Builder, t: Value, c: Value, relation: str) -> Value:
    condition = build.compare(SMALL, t, c, relation)
    return build.select(SMALL, condition, build.add(SMALL, t, c), build.negate(SMALL, t))


STEPS = {
    "add": lambda b, t, c: b.add(SMALL, t, c),
    "add shifted": lambda b, t, c: b.add(SMALL, t, c, 1),
    "add toward zero": lambda b, t, c: b.add(SMALL, t, c, 0, RTZ),
    "multiply": lambda b, t, c: b.multiply(SMALL, t, c),
    "multiply toward zero": lambda b, t, c: b.multiply(SMALL, t, c, RTZ),
    "square": lambda b, t, c: b.multiply(SMALL, t, t),
    "multiply_add": lambda b, t, c: b.multiply_add(SMALL, t, c, t),
    "divide": lambda b, t, c: b.divide(SMALL, c, t),
    "divide by c": lambda b, t, c: b.divide(SMALL, t, c),
    "maximum": lambda b, t, c: b.maximum(SMALL, t, c, nan="propagated"),
    "less": lambda b, t, c: _selected(b, t, c, "less"),
    "less_equal": lambda b, t, c: _selected(b, t, c, "less_equal"),
    "equal": lambda b, t, c: _selected(b, t, c, "equal"),
    "convert": lambda b, t, c: b.convert(t, tiny.described(exponent_bits=2, fraction_bits=1, bias=1)),
    "saturate": lambda b, t, c: b.convert(
        t, tiny.described(exponent_bits=2, fraction_bits=1, bias=1), RTZ, saturate=True
    ),
    "negate": lambda b, t, c: b.negate(SMALL, b.add(SMALL, c, t)),
}


@pytest.mark.parametrize("name", STEPS)
def test_every_pair_of_numbers(name: str) -> None:
    """A step after a product that is rounded itself: of all pairs of small numbers, and some c."""
    build = Builder()
    operands = build.input("A", SMALL, "A"), build.input("B", SMALL, "B")
    c = build.input("c", SMALL)
    t = build.chain(PRODUCT, operands, [ProductRun(np.arange(1))], None)
    program = build.program(STEPS[name](build, t, c))
    finite = [w for w, x in enumerate(fractions.numbers(SMALL)) if x is not None and 0 <= x <= 4]
    signed = [*finite[::2], *(w | 1 << SMALL.sign_bit for w in finite[1::3])]
    every = np.array([(a, b, k) for a in finite for b in finite[::2] for k in signed[::5]], np.uint8)
    words = {"A": every[:, :1], "B": every[:, 1:2], "c": every[:, 2]}
    found = checked(program, words, name)
    print(name, dict(found))
    assert found["bounded"] > len(every) // 20


# --- programs of many steps


def drawn(rng: Random) -> tuple[UnitProgram, int]:
    """A program: operands as they are, converted or split; chains; and operations on what they give."""
    build, k = Builder(), rng.choice((1, 2, 3, 4))
    a, b = (build.input(side, WIDE, side) for side in "AB")
    c = build.input("c", WIDE)
    s, u = build.input("s", WIDE, "a"), build.input("u", WIDE, "b")
    words = [(0, 0)]
    match rng.choice(("plain", "plain", "convert", "split", "split", "scaled")):
        case "convert":
            a, b, own = build.convert(a, NARROW, rng.choice((RNE, RTZ))), build.convert(b, NARROW), NARROW
        case "split":
            split = Split(
                format=NARROW,
                wide=WIDE,
                words=2,
                rounding=rng.choice((RNE, RTZ)),
                scale=rng.choice((0, 0, 1)),
            )
            a, b, own = build.split(a, split), build.split(b, split), NARROW
            words = rng.sample([(0, 0), (0, 1), (1, 0), (1, 1)], rng.choice((1, 3, 4)))
        case "scaled":
            a, own = build.multiply(WIDE, a, s), WIDE
        case _:
            own = WIDE
    split_up = own is NARROW and build.steps[a.number].kind == "split"
    parts = np.array_split(rng.sample(range(k), k), rng.choice((1, 1, min(2, k))))
    chains: list[Value] = []
    for part in parts:
        runs = [ProductRun(np.array(part), pair if split_up else None) for pair in words]
        start = rng.choice((None, None, c)) if not chains else None
        chains.append(build.chain(unit(own), [a, b], runs, start))
    if rng.random() < 0.3:
        return build.program(_compensated(build, rng, [*chains, c])), k
    pool = [*chains, c]
    if rng.random() < 0.5:  # a sum of these alone
        while len(pool) > 1:
            pool.append(
                build.add(WIDE, pool.pop(), pool.pop(), rng.choice((0, 0, 1)), rng.choice((RNE, RTZ)))
            )
    else:
        pool += [s, u, build.constant(WIDE, WIDE.word(Fraction(3, 4)))]
        for _ in range(rng.choice((2, 3, 5))):
            pool.append(_some_operation(build, rng, pool, chains))
    last = pool[-1]
    if rng.random() < 0.3:
        last = build.convert(last, NARROW, rng.choice((RNE, RTZ)), saturate=rng.random() < 0.5)
    return build.program(last), k


def _compensated(build: Builder, rng: Random, terms: list[Value]) -> Value:
    kind = rng.choice(list(COMPENSATIONS))
    outside = Outside(build, WIDE, RNE)
    total = error = outside.zero
    for x in terms:
        total, error = outside.compensated(kind, total, error, x, rng.choice((0, 0, 1)))
    return outside.plus(error, 0, total) if COMPENSATIONS[kind].adds_error else total


def _some_operation(build: Builder, rng: Random, pool: list[Value], chains: list[Value]) -> Value:
    x, y = rng.choice(pool[-2:] + chains), rng.choice(pool)
    match rng.choice(("add", "multiply", "fma", "divide", "negate", "maximum", "select", "directed")):
        case "add":
            return build.add(WIDE, x, y, rng.choice((0, 0, 1)))
        case "directed":
            return build.multiply(WIDE, x, y, RTZ)
        case "multiply":
            return build.multiply(WIDE, x, y)
        case "fma":
            return build.multiply_add(WIDE, x, y, rng.choice(pool))
        case "divide":
            return build.divide(WIDE, x, y, rng.choice((RNE, RTZ)))
        case "negate":
            return build.add(WIDE, build.negate(WIDE, x), y)
        case "maximum":
            return build.maximum(WIDE, x, y, nan="ignored")
        case _:
            condition = build.compare(WIDE, x, y, rng.choice(("less", "equal", "less_equal")))
            return build.select(WIDE, condition, x, rng.choice(pool))


def attacked(seed: int, count: int) -> Counter[str]:
    rng, dice = Random(f"bounded {seed}"), np.random.default_rng(seed)
    program, k = drawn(rng)
    least = Fraction(1, 8) if rng.random() < 0.6 else Fraction(0)
    finite = [
        w for w, x in enumerate(fractions.numbers(WIDE)) if x is not None and (x == 0 or least <= abs(x) <= 4)
    ]
    if rng.random() < 0.3:
        finite = rng.sample(finite, 5)
    shapes = {"A": (count, k), "B": (count, k), "c": (count,), "s": (count,), "u": (count,)}
    words = {name: dice.choice(finite, shape).astype(unsigned(WIDE)) for name, shape in shapes.items()}
    return checked(program, words, f"seed {seed}")


@pytest.mark.parametrize(
    ("seeds", "count"),
    [
        (range(12), 20),
        pytest.param(range(12, 112), 100, marks=pytest.mark.slow),
        pytest.param(range(1000, 2000), 300, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_no_element_is_off_by_more_than_its_bound(seeds: range, count: int) -> None:
    found = sum((attacked(seed, count) for seed in seeds), Counter[str]())
    print(dict(found))
    assert found["bounded"] > len(seeds) * count // 4 and found["half"]


# --- shapes


def test_matrices_have_the_bounds_of_their_elements() -> None:
    """What is of a row, of a column and along K: the same, element for element."""
    build, rng = Builder(), np.random.default_rng(1)
    a, b = (build.input(side, WIDE, side) for side in "AB")
    s, u, c = build.input("s", WIDE, "a"), build.input("u", WIDE, "b"), build.input("c", WIDE)
    sums = build.sum(WIDE, build.multiply(WIDE, a, s), SumOrder())
    t = build.chain(unit(WIDE), [build.multiply(WIDE, a, s), b], [ProductRun(np.arange(4))], c)
    program = build.program(build.add(WIDE, build.multiply(WIDE, t, u), sums))
    finite = np.array([w for w, x in enumerate(fractions.numbers(WIDE)) if x is not None and abs(x) <= 2])
    drawn = {
        name: rng.choice(finite, shape).astype(unsigned(WIDE))
        for name, shape in {"A": (4, 4), "B": (4, 4), "c": (4, 4), "s": (4, 1), "u": (1, 4)}.items()
    }
    more = {name: (program.inputs[name].axes, drawn[name]) for name in "su"}
    operands, product = MatrixWords(drawn["A"], drawn["B"], drawn["c"], more=more), bounded(program)
    whole = product.of_product(operands)
    places = np.argwhere(np.ones((4, 4), bool))
    apart = product.of_elements(operands.elements(places), None)
    assert np.allclose(whole.atol.ravel(), apart.atol, rtol=1e-9)
    assert np.allclose(whole.exact.ravel(), apart.exact, rtol=1e-12)
    assert np.isfinite(whole.atol).any()
    found = largest_errors(product, operands, 0.05)
    assert found is not None and 0 < found.share <= found.varied <= 1


def test_numbers_that_are_not_finite_have_no_bound() -> None:
    build = Builder()
    operands = build.input("A", WIDE, "A"), build.input("B", WIDE, "B")
    t = build.chain(unit(WIDE), operands, [ProductRun(np.arange(2))], build.input("c", WIDE))
    product = bounded(build.program(t))
    one, infinity = WIDE.word(Fraction(1)), WIDE.infinity_word
    a = np.full((3, 2), one, unsigned(WIDE))
    a[1, 0] = infinity
    c = np.full((3, 2), one, unsigned(WIDE))
    c[2, 1] = infinity | 1
    bounds = product.of_product(MatrixWords(a, np.full((2, 2), one, unsigned(WIDE)), c))
    assert np.isinf(bounds.atol).tolist() == [[False, False], [True, True], [False, True]]
    assert np.isnan(bounds.exact).tolist() == np.isinf(bounds.atol).tolist()


def test_a_step_without_a_rule_is_refused_by_its_name() -> None:
    build = Builder()
    keys, a = build.input("keys", WIDE, "tK"), build.input("A", WIDE, "A")
    build.input("B", WIDE, "B")
    scores = build.chain(unit(WIDE), [a, keys], [ProductRun(np.arange(1))], None)
    product = bounded(build.program(build.pick(scores, 0)))
    words = np.full((1, 1), WIDE.word(Fraction(1)), unsigned(WIDE))
    with pytest.raises(Unbounded, match="chain_each"):
        product.of_product(MatrixWords(words, words, more={"keys": ("tK", words)}))
