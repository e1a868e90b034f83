"""Two units on the same dot product: chains, and operands in the narrower of two formats."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.words import from_words, unsigned
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import IeeeDotAdd, Model
from tcsmt.prove.statements.shared_inputs import chain, shared, words_given_to
from tcsmt.simulate.rows import simulate
from tcsmt.support.errors import TcsmtError
from tests.support.sampling import mostly_long

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
FP8 = "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"
HALF = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def named(name: str) -> tuple[str, Model]:
    return name, row_named(name).model


def random_words(model: Model, k: int, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    shapes = ((model.a_format, (count, k)), (model.b_format, (count, k)), (model.c_format, (count,)))
    return [
        rng.integers(0, 1 << fmt.width, shape, dtype=np.uint64).astype(unsigned(fmt)) for fmt, shape in shapes
    ]


def number(fmt: Format, word: int) -> float:
    return float("nan") if fmt.is_nan(word) else float(fmt.value(word))


@pytest.mark.parametrize(
    "name",
    mostly_long(
        [
            VOLTA,
            "ampere/mma.m16n8k8.f32.f16.f16.f32",
            "cdna3/v_mfma_f32_32x32x8_f16",
            "cdna1/v_mfma_f32_32x32x8f16",
            "cdna2/v_mfma_f32_32x32x8f16",
            "cdna3/v_mfma_f32_32x32x2_f32",
            FP8,
        ],
        [VOLTA, "cdna1/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x2_f32"],
    ),
)
def test_a_chain_is_instruction_after_instruction(name: str) -> None:
    """Against the simulator called in a loop, each result the next c; so is its model, if there is one."""
    short = row_named(name).model
    whole = chain(name, short, 3 * short.k)
    a, b, c = random_words(short, whole.k, 12)
    step = from_words(short.c_format, c)
    for start in range(0, whole.k, short.k):
        lanes = slice(start, start + short.k)
        step = simulate(short, a[:, lanes], b[:, lanes], step)
    expected = step.view(unsigned(short.d_format)).tolist()
    side = shared((name, short), (name, short), whole.k).sides[0]
    for number, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        words = {f"a{i}": w for i, w in enumerate(x)} | {f"b{i}": w for i, w in enumerate(y)} | {"c": z}
        assert evaluate([side.trace.output], words) == [expected[number]]
    if whole.exact:
        together = simulate(whole.model, a, b, from_words(short.c_format, c))
        assert together.view(unsigned(short.d_format)).tolist() == expected


def test_a_model_of_a_chain_is_found_by_its_graph_alone() -> None:
    """A longer model that is another function is not taken for the chain."""
    assert chain("volta", row_named(VOLTA).model, 16).exact
    last = row_named(VOLTA).model.replace(c_position="last")
    assert not chain("mine", last, 8).exact
    formats = {
        "a_format": "f16",
        "b_format": "f16",
        "c_format": "f32",
        "d_format": "f32",
        "sum_format": "f32",
    }
    exact = IeeeDotAdd.of(**formats, k=4, method="exact")
    assert chain("mine", exact, 8).model.parameters.n_fma == 4
    ordered = IeeeDotAdd.of(**formats, k=2, method="sequential", order=(1, 0))
    assert chain("mine", ordered, 4).model is ordered
    assert not chain("mine", ordered, 4).exact


def test_units_that_cannot_be_chained_are_refused() -> None:
    """Other lengths, and results that are no c."""
    with pytest.raises(TcsmtError, match=r"k = 6: .*volta.*multiple of 4.*1024"):
        chain("volta", row_named(VOLTA).model, 6)
    with pytest.raises(TcsmtError, match=r"k = 8: .*c.* f32.* f16"):
        chain("mine", row_named(VOLTA).model.replace(d_format="f16"), 8)


@pytest.mark.parametrize(("left", "right"), [(FP8, HALF), (HALF, FP8)])
def test_wide_operands_are_the_narrow_ones_converted(left: str, right: str) -> None:
    """FP8 words on the FP16 unit, in both orders: what the simulator gives on the values of the words."""
    found = shared(named(left), named(right))
    formats = found.input_formats
    assert formats["a0"].name == "e4m3"
    side = found.sides[0 if left == HALF else 1]
    a, b, c = random_words(row_named(FP8).model, 32, 2000)
    words = {f"a{lane}": a[:, lane] for lane in range(32)} | {f"b{lane}": b[:, lane] for lane in range(32)}
    (got,) = Program([side.trace.output]).run(words | {"c": c})
    values = [number(formats["a0"], word) for word in range(256)]
    wide_a, wide_b = (np.array(values)[words] for words in (a, b))
    expected = simulate(side.model, wide_a, wide_b, c.view(np.float32))
    assert np.array_equal(got, expected.view(np.uint32))
    row = {name: int(column[7]) for name, column in (words | {"c": c}).items()}
    own = words_given_to(side, formats, row)
    assert own is not None
    assert evaluate([side.model.trace.output], own) == [int(got[7])]


WORMHOLE = "wormhole/mvmul.f32.bf16.phase0"
BFLOAT = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"


@pytest.mark.parametrize(("left", "right"), [(WORMHOLE, BFLOAT), (BFLOAT, WORMHOLE)])
def test_finite_numbers_of_a_format_without_special_values(left: str, right: str) -> None:
    """On finite inputs it is the wider one, and its words are those of the other; results are words."""
    found = shared(named(left), named(right), finite=True)
    assert {fmt.name for fmt in found.input_formats.values()} == {"bf16", "f32"}
    assert "takes a and b in e8m7fn, converted from bf16" in found.widened
    rng = np.random.default_rng(5)
    for _ in range(20):
        words = {}
        for name, fmt in found.input_formats.items():
            field = int(rng.integers(110, 144))
            bits = float_format(fmt).fraction_bits
            words[name] = (field << bits) | int(rng.integers(1 << bits))
        for side in found.sides:
            alone = evaluate([side.model.trace.output], words)
            assert evaluate([side.trace.output], words) == alone
    with pytest.raises(TcsmtError, match=r"neither holds the other's infinities and NaNs \(but its finite"):
        shared(named(left), named(right))


def test_units_without_common_inputs_are_refused() -> None:
    """Formats of which neither holds the other, results, and scales."""
    with pytest.raises(TcsmtError, match=r"a_format.* bf16.* f16"):
        shared(named("hopper/mma.m16n8k16.f32.bf16.bf16.f32"), named(HALF))
    with pytest.raises(TcsmtError, match="d_format is e8m7fn and f32"):
        shared(named("wormhole/mvmul.bf16.bf16.phase0"), named(BFLOAT), finite=True)
    with pytest.raises(TcsmtError, match="d_format is f16 and f32"):
        shared(named("volta/mma.m8n8k4.f16.f16.f16.f16"), named(VOLTA))
    blocks = next(r for r in rows() if r.model.scale_format is not None)
    with pytest.raises(TcsmtError, match="block scales are none and"):
        shared(named(HALF), (blocks.name, blocks.model))
