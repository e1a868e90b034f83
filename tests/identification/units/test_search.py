"""Searches on boxes of every kind, and their transcripts."""

from dataclasses import replace

import numpy as np
import pytest

from tcsmt.identification.units import search, vectors
from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import MOST_BITS
from tcsmt.identification.units.hypotheses import HypothesisSet
from tcsmt.identification.units.ieee_hypotheses import IeeeHypotheses
from tcsmt.identification.units.kinds import FusedHypotheses
from tcsmt.identification.units.report import as_text, nearest
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.invariants import not_none
from tests.support.families import family_like, fused_rows, kinds_like, simulated

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
#: Two products summed exactly, and c.
EXACT = row_named("arm/bfdot.ebf1").model
#: For searches that need no proof.
QUICK = SolvingOptions(steps=100_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [VOLTA.replace(k=2, n_fma=2), pytest.param(VOLTA, marks=pytest.mark.long)],
    ids=["two lanes of Volta", "Volta"],
)
def test_volta_is_identified(unit):
    """A search from beginning to end."""
    family = family_like(unit)
    found = Identification(kinds_like(unit), model_box(unit)).run()
    assert found.verdict == "identified"
    assert len(found.exchanges) <= 40
    assert (fused_rows(found) == family.row(unit)).all(axis=1).any()
    assert found.model is not None
    # what remains differs only where it cannot matter
    assert len(np.unique(canonical(family, fused_rows(found)), axis=0)) == 1


def sticky_rows(family):
    """Two products on the finest grid with a sticky bit, c last: one row for each zero exponent."""
    structures = [
        number
        for number, one in enumerate(family.structures)
        if one.order == "last" and one.n_fma == 2 and one.products == "unnormalised"
    ]
    row = np.zeros((1, 12), np.int16)
    row[0, :6] = structures[0], MOST_BITS - 5, len(family.alignments) - 1, 0, 0, len(family.round_bits) - 1
    row[0, 10] = 1
    rows = np.repeat(row, len(family.zero_exponents) - 1, axis=0)
    rows[:, 6] = range(len(rows))
    return rows


def test_a_sum_that_vanishes_shows_a_coarse_grid():
    """The exact sum keeps its sign; on the grid of a zero's exponent both products are the same."""
    family = family_like(EXACT)
    questions = vectors.mixed(family, np.random.default_rng(1), 3000)
    expected = simulated(family, EXACT, questions)
    differ = predictions(family, sticky_rows(family), questions) != expected
    assert differ.any(axis=1).all()
    bf16, f32 = EXACT.a_format, EXACT.d_format
    told = np.flatnonzero(differ.any(axis=0))
    vanished = 0
    for number in told:
        words = [*map(int, questions.a[number]), *map(int, questions.b[number])]
        c = int(questions.c[number])
        if c != 1 << 31:
            continue
        a0, a1, b0, b1 = map(bf16.value, words)
        total = a0 * b0 + a1 * b1
        if 0 < -total < f32.value(1) / 2:
            vanished += 1
            assert int(expected[number]) == 1 << 31  # -0 and -0
    assert vanished


@pytest.mark.long
def test_an_exact_sum_before_c_is_identified():
    found = Identification(kinds_like(EXACT), model_box(EXACT)).run()
    assert found.verdict == "identified"
    assert not_none(found.model).digest == EXACT.digest


def test_samples_weigh_kinds_alike() -> None:
    """Of a kind with thousands of rows no more than twice as many are drawn as of one with few."""
    fused, ieee = kinds_like(EXACT)
    assert isinstance(fused, FusedHypotheses) and isinstance(ieee, IeeeHypotheses)
    many = np.repeat(fused.first(0)[:1], 5000, axis=0)
    many[:, 1] = np.arange(5000) % 30
    few = np.repeat(ieee.first()[:1], 40, axis=0)

    def drawn(count: int) -> list[int]:
        left = HypothesisSet(((fused, many), (ieee, few[:count])))
        return [len(table) for _, table in left.sampled(np.random.default_rng(1), 256).parts]

    assert drawn(40) == [80, 40]
    assert drawn(2) == [24, 2]
    assert drawn(0) == [256, 0]


@pytest.mark.long
def test_a_changed_nan_is_read():
    changed = VOLTA.replace(nan=0x7FC00000)
    found = Identification(kinds_like(VOLTA), model_box(changed)).run()
    assert found.verdict == "identified"
    asked_nan = any(VOLTA.d_format.is_nan(e.d) for e in found.exchanges)
    assert not_none(found.model).parameters.nan == (changed.parameters.nan if asked_nan else None)


@pytest.mark.slow
def test_outside_the_family_is_refuted(monkeypatch):
    """A sum of products to which c is added after a second alignment is not fused, nor IEEE."""
    other = row_named("cdna3/v_mfma_f32_16x16x16_f16").model
    assert isinstance(other, DotThenAdd)
    monkeypatch.setattr(search, "catalogue_rows", tuple)  # of which it would be one
    found = Identification(kinds_like(other), model_box(other)).run()
    assert found.verdict == "refuted"
    assert found.model is None


@pytest.mark.slow
def test_a_unit_of_another_kind_is_named_and_not_refuted():
    row = row_named("cdna3/v_mfma_f32_4x4x4_16b_f16")
    assert isinstance(row.model, DotThenAdd)
    found = Identification(kinds_like(row.model), model_box(row.model)).run()
    assert found.verdict == "open" and row.name in found.catalogue
    assert found.model is not None and "only units that no kind of hypotheses has" in found.reason
    assert sum(exchange.why == "confirms a unit of the catalogue" for exchange in found.exchanges) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_noise_gives_no_wrong_model(seed):
    """One flipped bit in a hundred answers, and in ten of them."""
    family = family_like(VOLTA)
    random = np.random.default_rng(seed)
    truth = family.row(VOLTA)
    honest = model_box(VOLTA)
    flipped = 0

    def noisy(a, b, c):
        nonlocal flipped
        word = honest(a, b, c)
        flips = random.random() < (0.01 if seed else 0.1)
        flipped += flips
        return word ^ (1 << int(random.integers(32))) if flips else word

    found = Identification(kinds_like(VOLTA), noisy, seed=seed + 1, options=QUICK).run()
    right = found.model is not None and (fused_rows(found) == truth).all(axis=1).any()
    assert found.verdict in ("refuted", "inconsistent") if flipped else right, flipped


@pytest.mark.long
def test_a_flipped_answer_to_the_last_deciding_question_is_found():
    family = family_like(VOLTA)
    honest = model_box(VOLTA)
    for flipped in (1, 7, 10):
        count = -1

        def box(a, b, c, flipped=flipped):
            nonlocal count
            count += 1
            return honest(a, b, c) ^ (count == flipped)

        found = Identification(kinds_like(VOLTA), box, options=QUICK).run()
        right = (
            found.model is not None and (fused_rows(found) == not_none(family.row(VOLTA))).all(axis=1).any()
        )
        assert found.verdict in ("refuted", "inconsistent") or right


@pytest.mark.long
def test_budget(tmp_path):
    found = Identification(kinds_like(VOLTA), model_box(VOLTA), budget=8).run()
    assert found.verdict == "open"
    assert len(found.exchanges) == 8


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f16.f16.f16.f16",
        "turing/mma.m16n8k8.f32.f16.f16.f32",
        "ampere/mma.m16n8k4.f32.tf32.tf32.f32",
        "hopper/mma.m16n8k16.f32.f16.f16.f32",
    ],
)
def test_catalogue_rows_are_never_lost(name):
    model = row_named(name).model
    family = family_like(model)
    found = Identification(kinds_like(model), model_box(model), options=SolvingOptions(steps=1_000_000)).run()
    assert found.verdict in ("identified", "open")
    assert len(found.exchanges) <= 60
    assert (fused_rows(found) == not_none(family.row(model))).all(axis=1).any()


def outside():
    """Units that differ from a member of the family in one thing that the family does not have."""
    return {
        "a's lanes turned round": lambda box: lambda a, b, c: box(a[::-1], b, c),
        "a result that is negated": lambda box: lambda a, b, c: box(a, b, c) ^ 1 << 31,
        "last bit set": lambda box: lambda a, b, c: box(a, b, c) | 1,
        "c ignored where it is negative": lambda box: lambda a, b, c: box(a, b, 0 if c >> 31 else c),
        "a lane that is left out": lambda box: lambda a, b, c: box([*a[:-1], 0], b, c),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [k if k == "a result that is negated" else pytest.param(k, marks=pytest.mark.long) for k in outside()],
)
def test_perturbed_box_is_refuted(kind):
    found = Identification(kinds_like(VOLTA), outside()[kind](model_box(VOLTA)), options=QUICK).run()
    assert found.verdict in ("refuted", "inconsistent")
    assert found.model is None
    near = nearest(found)
    assert near
    for one in near:
        assert one["predicted"] != one["answered"]
        assert one["explains"] < len(found.exchanges)
    assert "  not " in as_text(found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "seeds"), [("volta", range(3)), ("ampere/mma.m16n8k4.f32.tf32.tf32.f32", range(1))]
)
def test_one_flipped_bit_gives_no_wrong_model(name, seeds):
    """One answer of a search has one bit flipped."""
    model = row_named(name).model
    family, honest = family_like(model), model_box(model)
    for seed in seeds:
        random = np.random.default_rng(seed)
        flipped, bit = int(random.integers(12)), int(random.integers(32))
        asked = -1

        def box(a, b, c, flipped=flipped, bit=bit):
            nonlocal asked
            asked += 1
            return honest(a, b, c) ^ (asked == flipped) << bit

        found = Identification(kinds_like(model), box, seed=seed + 1, options=QUICK).run()
        right = (
            found.model is not None and (fused_rows(found) == not_none(family.row(model))).all(axis=1).any()
        )
        assert found.verdict in ("refuted", "inconsistent") or right


@pytest.mark.long
def test_a_unit_of_the_catalogue_that_no_hypothesis_is(monkeypatch):
    """Converting the operands changes few results: the fused sum that explains most is not the answer."""
    plain = FusedDotAdd.of(
        a_format="e4m3", b_format="e5m2", c_format="f32", d_format="f32", k=2, n_fma=2,
        fraction_bits=25, zero_exponent=-133, rounding="RTZ",
    )  # fmt: skip
    truth = plain.replace(operand_format="f16")
    row = replace(row_named("volta"), architecture="some", instruction="converted", model=truth)
    monkeypatch.setattr(search, "catalogue_rows", lambda: [row])
    found = Identification(kinds_like(plain), model_box(truth)).run()
    assert (found.verdict, found.catalogue, found.model) == ("open", ("some/converted",), truth)
    assert "only units that no kind of hypotheses has" in found.reason
