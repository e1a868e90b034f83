"""Groups that c meets on a grid which c decides only where it leads: against exact integers."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Kind
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact, tcgen05, tiny

FP4 = "blackwell/tcgen05.mMnNk64.kind::"
NVFP4 = f"{FP4}mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
#: The newer model's rows, with the format of the scales and the lanes that share one.
ROWS = {
    f"{NVFP4}@sf-tensor": ("ue4m3", 16),
    f"{FP4}mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0@sf-tensor": ("ue8m0", 16),
    f"{FP4}mxf4nvf4.block32.f32.e2m1.e2m1.ue8m0@sf-tensor": ("ue8m0", 32),
    f"{FP4}mxf4.block32.f32.e2m1.e2m1.ue8m0@sf-tensor": ("ue8m0", 32),
}


def fused(name: str) -> FusedDotAdd:
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    return model


def some_inputs(rng: Random, scales: str, block: int) -> list[list[int]]:
    """a, b, c and the scales of a and b: anything, or a block that cancels above others at the grid's end."""
    share = rng.choice((0.2, 0.6, 1))
    a = [rng.randrange(16) if rng.random() < share else 0 for _ in range(64)]
    b = [rng.randrange(16) for _ in range(64)]
    most = 254 if scales == "ue8m0" else 126
    sides = [[rng.randrange(most + 1 + (rng.random() < 0.01)) for _ in range(64 // block)] for _ in "ab"]
    c = rng.choice((rng.getrandbits(32), 0, 1 << 31))
    if rng.random() < 0.2:
        return [a, b, [c], *sides]
    highest = rng.choice((rng.randint(52, 60), rng.randint(80, 180)))
    for side in sides:  # the others are about 26 to 40 binades below the first
        if scales == "ue8m0":
            side[:] = [highest, *(highest - rng.randint(13, 20) for _ in side[1:])]
        else:
            side[:] = [rng.randrange(0x74, 0x7F), *(rng.randrange(0x14) for _ in side[1:])]
    live = rng.sample(range(block), rng.choice((2, 2, 4)))
    a[:block], b[:block] = [0] * block, [0] * block
    for lane, mirror in zip(live[::2], live[1::2], strict=True):
        a[lane], b[lane] = rng.randrange(1, 8), rng.randrange(1, 8)
        a[mirror], b[mirror] = a[lane], b[lane] ^ 8
    if rng.random() < 0.5:  # c cancels what one of them leaves
        a[live[0]] = 0
        total, least = tcgen05.total([_product(scales, a[i], b[i], sides[0][0], sides[1][0]) for i in live])
        size = abs(total)
        field = size.bit_length() - 1 + least + 127 if size else 0
        if 0 < field < 255:
            c = (total > 0) << 31 | field << 23 | size << 24 - size.bit_length() & 0x7FFFFF
    else:
        c = rng.choice((0, 1 << 31, rng.getrandbits(1) << 31 | rng.randrange(1, 120) << 23))
    return [a, b, [c], *sides]


def _product(scales: str, *words: int) -> tcgen05.Number:
    integer, exponent, raw = 1, 0, 0
    for word, read in zip(words, "ffss", strict=True):
        found = tcgen05.e2m1(word) if read == "f" else tcgen05.scale(scales, word)
        assert found is not None
        integer, exponent, raw = integer * found[0], exponent + found[1], raw + found[2]
    return integer, exponent, raw


def agree(model: FusedDotAdd, rows: list[list[list[int]]], expected: list[int]) -> None:
    """The model's words are the expected ones."""
    names = model.input_names
    columns = zip(*([word for part in row for word in part] for row in rows), strict=True)
    held = {
        name: np.array(column, storage(model.input_formats[name].width))
        for name, column in zip(names, columns, strict=True)
    }
    found = Program([model.trace.output]).run(held)[0]
    wrong = np.flatnonzero(found != np.array(expected, found.dtype))
    assert not wrong.size, (rows[wrong[0]], hex(found[wrong[0]]), hex(expected[wrong[0]]))


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 1 << 40))
def test_fp4_against_exact_integers(name: str, seed: int) -> None:
    rng, model = Random(seed), fused(name)
    rows = [some_inputs(rng, *ROWS[name]) for _ in range(300)]
    expected = [tcgen05.result(*ROWS[name], a, b, c[0], sa, sb) for a, b, c, sa, sb in rows]
    assert len(set(expected)) > 100
    agree(model, rows, expected)


@pytest.mark.slow
def test_the_oracle_tells_the_models_apart() -> None:
    """Each step of the newer model shows on some of these inputs."""
    rng = Random("apart")
    for name, changes in (
        (f"{NVFP4}@sf-tensor", {"inner_group": None}),
        (f"{NVFP4}@sf-tensor", {"c_enters": "always", "inner_group": None}),
        (f"{FP4}mxf4.block32.f32.e2m1.e2m1.ue8m0@sf-tensor", {"c_enters": "leading"}),
        (f"{FP4}mxf4.block32.f32.e2m1.e2m1.ue8m0@sf-tensor", {"group_dropped_below": None}),
    ):
        rows = [some_inputs(rng, *ROWS[name]) for _ in range(3000)]
        expected = [tcgen05.result(*ROWS[name], a, b, c[0], sa, sb) for a, b, c, sa, sb in rows]
        with pytest.raises(AssertionError, match="0x"):
            agree(fused(name).replace(**changes), rows, expected)


#: A row on which both models of NVFP4 differ: 1 - 1 in a block of large scales, and four products in another
#: block, each of which the grid cuts off: one for each group of four.
WITNESS = {
    **dict.fromkeys(("a0", "b0", "a1"), 2), "b1": 0xA,
    **{f"{side}{lane}": 1 for side in "ab" for lane in (16, 20, 24, 28)},
    **{f"s{side}{n}": word for side in "ab" for n, word in enumerate((0x78, 0x0F, 0, 0))},
}  # fmt: skip


@pytest.mark.parametrize(("row", "word"), [(NVFP4, 0x3A610000), (f"{NVFP4}@sf-tensor", 0x3A600000)])
def test_the_witness_gives_the_published_words(row: str, word: int) -> None:
    model = fused(row)
    words = dict.fromkeys(model.input_names, 0) | WITNESS
    assert evaluate([model.trace.output], words) == [word]


@pytest.mark.slow
@pytest.mark.parametrize("count", [25, pytest.param(1500, marks=pytest.mark.long)])
def test_tiny_units_against_the_oracle(count: int) -> None:
    """Of any formats and roundings: every alternative, and each shows."""
    rng, done, shown = Random(f"leading {count}"), 0, set()
    while done < count:
        model = tiny.some_model(rng, FusedDotAdd)
        assert isinstance(model, FusedDotAdd)
        if model.parameters.c_enters == "always" and model.parameters.group_dropped_below is None:
            continue
        done += 1
        columns = tiny.Everything.of(model.input_formats, Domain(finite=False)).some(rng, 2000)
        held = {n: words.astype(storage(model.input_formats[n].width)) for n, words in columns.items()}
        expected = exact.results(model, columns)
        found = Program([model.trace.output]).run(held)[0].astype(np.int64)
        wrong = np.flatnonzero(found != expected)
        assert not wrong.size, (model, {n: hex(words[wrong[0]]) for n, words in columns.items()})
        for name, off in (("c_enters", "always"), ("inner_group", None), ("group_dropped_below", None)):
            more = {"inner_group": None} if name == "c_enters" else {}
            other = model.replace(**{name: off} | more)
            if (exact.results(other, columns) != expected).any():
                shown.add((name, getattr(model.parameters, name) if name == "c_enters" else ""))
    assert shown >= {("c_enters", "leading"), ("c_enters", "leading_by_group"), ("inner_group", "")}


def test_stages() -> None:
    """The largest exponent of a product is a stage of its own, before the largest one of the grid."""
    kinds = [stage.kind for stage in fused(f"{NVFP4}@sf-tensor").trace.stages]
    assert kinds.count(Kind.LARGEST_PRODUCT) == 1
    assert kinds.index(Kind.LARGEST_PRODUCT) + 1 == kinds.index(Kind.LARGEST_EXPONENT)
    assert Kind.LARGEST_PRODUCT not in {stage.kind for stage in fused(NVFP4).trace.stages}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"inner_group": 16}, "inner_group = 16: must be None, or a divisor of group = 16, and smaller"),
        ({"inner_group": 3}, "inner_group = 3: must be None, or a divisor"),
        ({"c_enters": "always"}, "inner_group = 4: must be None when c_enters = always"),
        ({"c_enters": "leading_by_group"}, "inner_group = 4: must be None when c_enters = leading_by_group"),
        ({"group_dropped_below": -174}, "group_dropped_below = -174: must be None when inner_group is given"),
        ({"inner_group": None, "group_dropped_below": 5000}, "must be None or from -4096 to 4096"),
        ({"alignment_sticky": True}, "alignment_sticky = True: must be False when c_enters = leading"),
        ({"carry_bits": 3}, "carry_bits = 3: must be None when c_enters = leading"),
        ({"c_exponent_offset": -1}, "c_exponent_offset = -1: must be 0 when c_enters = leading"),
        ({"c_dropped_above": 0}, "c_dropped_above = 0: must be None when c_enters = leading"),
        ({"group": 1, "inner_group": None}, "group = 1: must be other than 1 when c_enters = leading"),
        ({"c_enters": "sometimes"}, "c_enters"),
    ],
)
def test_contradictions(changes: dict[str, object], error: str) -> None:
    with pytest.raises(TcsmtError) as raised:
        fused(f"{NVFP4}@sf-tensor").replace(**changes)
    assert error in str(raised.value)
