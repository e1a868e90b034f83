"""MVMUL of Wormhole and Blackhole against an oracle that shares nothing with the models."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.catalogue import (
    architecture_named,
    disputes,
    row_named,
    rows,
    sequences_of,
    status_text,
)
from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.matrix_units.models import GroupedDotAdd, Operands
from tcsmt.prove.engine.engine import compare_models, finding_of
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Verdict
from tcsmt.simulate.rows import run_words
from tests.oracles.mvmul import mvmul
from tests.support.sampling import mostly_long

Array = np.ndarray[Any, np.dtype[Any]]

NAMES = [row.name for row in (*rows("wormhole", claims=False), *rows("blackhole", claims=False))]


def parts(name: str) -> tuple[str, str, str, int]:
    """Architecture, source, Dst and phase, as the oracle takes them."""
    architecture, _, instruction = name.partition("/")
    _, dst, source, phase = instruction.split(".")
    return architecture, source, dst, int(phase.removeprefix("phase"))


def register(fmt: Format, word: int, fraction_bits: int) -> int:
    """The register's word of a format's word: 8 bits of exponent, and so many of fraction."""
    sign, field, fraction = fmt.fields(word)
    return (sign << 8 | field) << fraction_bits | fraction << (fraction_bits - fmt.fraction_bits)


def agree(name: str, a: Array, b: Array, c: Array) -> None:
    """The model and the oracle give the same word for every row."""
    model = row_named(name).model
    got = run_words(model, Operands(a, b, c))
    for row in range(len(c)):
        x = [register(model.a_format, word, 10) for word in a[row].tolist()]
        y = [register(model.b_format, word, 10) for word in b[row].tolist()]
        expected = mvmul(*parts(name), x, y, register(model.c_format, int(c[row]), 23))
        assert register(model.d_format, int(got[row]), 23) == expected, (name, a[row], b[row], c[row])


def words(fmt: Format, rng: np.random.Generator, exponent: Array) -> Array:
    """Words near these exponents, their fractions short, long, or of ones; some are zeros or subnormal."""
    bits = fmt.fraction_bits
    noise = rng.integers(0, 1 << bits, exponent.shape)
    cut = rng.integers(0, bits + 1, exponent.shape)
    patterns = [noise, noise >> cut << cut, noise >> cut, np.full_like(noise, (1 << bits) - 1), 0 * noise]
    fraction = np.choose(rng.integers(0, len(patterns), exponent.shape), patterns)
    field = np.clip(exponent + fmt.bias, 0, (1 << fmt.exponent_bits) - 1)
    field = np.where(rng.random(exponent.shape) < 0.1, 0, field)
    return (rng.integers(0, 2, exponent.shape) << fmt.exponent_bits | field) << bits | fraction


def some_rows(name: str, seed: int, count: int) -> tuple[Array, Array, Array]:
    """Products and c in one window of alignment, a lane often undone by its neighbour."""
    m = row_named(name).model
    rng = np.random.default_rng(seed)
    reach = rng.choice([1, 4, 12, 30, 400])
    factor, addend = float_format(m.a_format), float_format(m.c_format)
    top = rng.integers(addend.e_min - 8, addend.e_max + 8, (count, 1))
    split = rng.integers(factor.e_min, factor.e_max + 1, (count, m.k))
    wanted = top - rng.integers(0, reach, (count, m.k))
    a, b = words(m.a_format, rng, split), words(m.b_format, rng, wanted - split)
    undone = np.flatnonzero(rng.random(count) < 0.4)
    for lane in range(0, m.k, 2):
        a[undone, lane + 1] = a[undone, lane] ^ (1 << m.a_format.sign_bit)
        b[undone, lane + 1] = b[undone, lane]
    alone = np.flatnonzero(rng.random(count) < 0.3)
    a[alone, 1:] = 0
    c = words(m.c_format, rng, top[:, 0] - rng.integers(-2, reach, count))
    return a, b, c


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 1 << 32))
def test_random_rows(name: str, seed: int) -> None:
    agree(name, *some_rows(name, seed, 40))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_many_random_rows(name: str) -> None:
    for seed in range(100):
        agree(name, *some_rows(name, seed, 100))


def boundary(fmt: Format) -> Array:
    """Words at the ends of the exponents and about 1, with fractions of zeros, one bit and ones."""
    top, bits = (1 << fmt.exponent_bits) - 1, fmt.fraction_bits
    fields = (0, 1, 2, fmt.bias - 1, fmt.bias, top - 1, top)
    found = product((0, 1), fields, (0, 1, (1 << bits) - 1))
    return np.array([(sign << fmt.exponent_bits | field) << bits | low for sign, field, low in found])


@pytest.mark.parametrize("name", mostly_long(NAMES, [n for n in NAMES if "worm" in n and n[-1] == "0"]))
def test_boundary_words(name: str) -> None:
    """Every pair of boundary words of a and b, with those of c in turn, in the first lane and the ninth."""
    m = row_named(name).model
    pairs = np.array(list(product(boundary(m.a_format), boundary(m.b_format))))
    c = np.resize(boundary(m.c_format)[::5], len(pairs))
    for lane in (0, 8):
        a, b = (np.zeros((len(pairs), m.k), np.int64) for _ in "ab")
        a[:, lane], b[:, lane] = pairs.T
        agree(name, a, b, c)


#: What issues 12923 and 16448 of tt-metal report of Wormhole cards, of BF16 products in Dst of 16 bits.
ON_A_CARD = [
    ("hifi4", 1.3125, 7.96875, 10.5), ("hifi2", 1.3125, 7.96875, 10.4375),
    ("hifi4", -3.640625, 0.298828125, -1.09375), ("hifi4", -3.640625, 0.30078125, -1.1015625),
]  # fmt: skip


@pytest.mark.parametrize(("fidelity", "a", "b", "expected"), ON_A_CARD)
def test_results_that_are_reported_of_a_card(fidelity: str, a: float, b: float, expected: float) -> None:
    row = row_named(f"wormhole/mvmul.bf16.bf16.{fidelity}")
    x, y = (int(np.float32(value).view(np.uint32)) >> 16 for value in (a, b))
    given = dict.fromkeys(row.model.input_names, 0) | {"a0": x, "b0": y}
    (word,) = evaluate([row.model.trace.output], given)
    assert row.model.d_format.value(word) == expected
    assert f"{a}·{b} = {expected}" in row.note and row.evidence == "simulated"


def test_wormhole_alone_miscounts_a_sum_of_minus_one_unit() -> None:
    """-1·1 + 3f7ffffe is -2^-23; one of them counts its leading sign bits wrongly."""
    found = {}
    for architecture in ("wormhole", "blackhole"):
        model = row_named(f"{architecture}/mvmul.f32.bf16.phase0").model
        given = dict.fromkeys(model.input_names, 0) | {"a0": 0xBF80, "b0": 0x3F80, "c": 0x3F7FFFFE}
        found[architecture] = evaluate([model.trace.output], given)[0]
    assert found == {"wormhole": 0xC1800000, "blackhole": 0xB4000000}


def test_wormhole_and_blackhole_differ_in_one_parameter() -> None:
    """Only sums of 32 bits differ."""
    for row in rows("wormhole", claims=False):
        other = row_named(f"blackhole/{row.instruction}").model
        assert isinstance(row.model, GroupedDotAdd)
        assert isinstance(other, GroupedDotAdd)
        assert other.minus_one_shift is None
        assert (row.model == other) == (row.model.d_format.width < 32)


@pytest.mark.parametrize(
    ("architecture", "cards"), [("wormhole", ["n150", "N300"]), ("blackhole", ["p100", "P150", "p300"])]
)
def test_cards(architecture: str, cards: list[str]) -> None:
    assert len(rows(architecture, claims=False)) == 24
    assert all(architecture_named(card) == architecture for card in cards)
    assert rows(cards[0], claims=False)[0].instruction == "mvmul.f32.bf16.phase0"


def compared(one: str, two: str, lanes: int | None = None, **domain: Any) -> tuple[Verdict, str]:
    """The engine's verdict on two units, and what is printed of it."""
    sides = [(name, row_named(name).model) for name in (one, two)]
    solving = Solving()
    found = compare_models(sides[0], sides[1], Domain(finite=False, **domain), solving, lanes=lanes)
    return found.verdict, "\n".join(map(str, finding_of(found).as_json().values()))


@pytest.mark.slow
def test_the_engine_tells_them_apart() -> None:
    """By a sum of -1 unit, and says so."""
    pair = "wormhole/mvmul.f32.bf16.phase0", "blackhole/mvmul.f32.bf16.phase0"
    verdict, text = compared(*pair)
    assert isinstance(verdict, Distinguished)
    assert "the power of two for which a sum of -1 unit is taken (27 against none)" in text
    source = [register(row_named(pair[0]).model.a_format, verdict.values[f"{s}{i}"], 10)
              for s in "ab" for i in range(16)]  # fmt: skip
    words = [mvmul(*parts(name), source[:16], source[16:], verdict.values["c"]) for name in pair]
    assert words[0] != words[1]


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [2, pytest.param(None, marks=pytest.mark.long)])
def test_positive_terms_cannot_sum_to_minus_one_unit(lanes: int | None) -> None:
    """There the engine proves them equal."""
    pair = "wormhole/mvmul.f32.bf16.phase2", "blackhole/mvmul.f32.bf16.phase2"
    verdict, _ = compared(*pair, lanes, positive=True)
    assert isinstance(verdict, Equivalent)
    assert verdict.scripts


def test_sixteen_bits_of_dst_are_the_same_unit() -> None:
    verdict, _ = compared("wormhole/mvmul.bf16.tf32.phase3", "blackhole/mvmul.bf16.tf32.phase3")
    assert isinstance(verdict, Equivalent)
    assert verdict.scripts == ()


def test_tf32_multiplies_bf16_words_as_bf16_does() -> None:
    """The unit for TF32 on words of BF16: proved product by product."""
    verdict, _ = compared("blackhole/mvmul.f32.bf16.phase3", "blackhole/mvmul.f32.tf32.phase3")
    assert isinstance(verdict, Equivalent)


def disputed(name: str) -> bool:
    """Whether no source settles that a unit has the fault: it gives 32 bits, and is not HiFi4 or phase 3."""
    return ".f32." in name and not name.endswith(("phase3", "hifi4"))


@pytest.mark.parametrize(
    "row", [*rows("wormhole", claims=False), *sequences_of("wormhole")], ids=lambda row: row.name
)
def test_the_fault_is_disputed_where_no_source_settles_it(row: Row) -> None:
    """The accepted row keeps the simulator's bits; the other reading is Blackhole, which has no fault."""
    assert status_text(row) == ("accepted, disputed" if disputed(row.name) else "accepted")
    assert [other.name for other in disputes(row)] == [f"{row.name}@tt-metal"] * disputed(row.name)
    if disputed(row.name):
        reading, other = row_named(f"{row.name}@tt-metal"), row_named(f"blackhole/{row.instruction}")
        assert reading.status == "disputed" and reading.evidence == "published"
        assert reading.model == other.model != row.model


def test_blackhole_is_not_disputed() -> None:
    for row in (*rows("blackhole", claims=False), *sequences_of("blackhole")):
        assert status_text(row) == "accepted"


def test_readings_of_sequences_are_listed_as_claims_alone() -> None:
    """No algorithm runs on a disputed sequence unless it is named."""
    plain, every = ({row.name for row in sequences_of("n150", claims=claims)} for claims in (False, True))
    assert len(plain) == 24
    assert every - plain == {f"{name}@tt-metal" for name in plain if disputed(name)}
