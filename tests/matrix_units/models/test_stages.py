"""Stages: where they stand is data, their names are made from it, and no rounding goes without one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import IeeeDotAdd, Kind, Model, Stage
from tcsmt.matrix_units.models.stages import InstructionPlace, OperandPlace
from tcsmt.programs.recipes import Algorithm, algorithm_named
from tcsmt.prove.statements.explain import number_value
from tcsmt.support.errors import TcsmtError
from tests.oracles import rationals

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def named(model: Model) -> list[str]:
    return [stage.name for stage in model.trace.stages]


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_stages_have_one_name_for_each_place(step: int) -> None:
    """Of a unit's stages two have one name only where they have one place."""
    algorithms = [algorithm_named(name, unit)[0] for name, unit in ALGORITHMS]
    units = {row.model: None for row in rows()[::step] if row.model.k <= 16}
    for model in (*units, *algorithms, *(ieee for _, ieee in ieee_models())):
        stages = model.trace.stages
        assert len({s.name for s in stages}) == len({s.place for s in stages}) == len(stages)


ALGORITHMS = [("markidis", "volta"), ("ootomo-halfhalf", "cdna3"), ("fp8-promoted", "hopper")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            VOLTA,
            "product 0|product 1|product 2|product 3|largest exponent|aligned product 0|aligned product 1|"
            "aligned product 2|aligned product 3|aligned c|sum|result",
        ),
        (
            "cdna1/v_mfma_f32_32x32x8f16",
            "block 0: exact sum|block 1: exact sum|result",
        ),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert "|".join(named(row_named(name).model)) == expected


def test_names_of_groups() -> None:
    unit = row_named("cdna3/v_mfma_f32_32x32x16_fp8_bf8").model
    assert named(unit)[-8:] == [
        "largest exponent 0", "sum of products 0", "largest exponent 1", "sum of products 1",
        "sum of groups", "sum", "rounded down", "result",
    ]  # fmt: skip
    tops = unit.trace.of(Kind.LARGEST_EXPONENT)
    assert [stage.place for stage in tops] == [(None, Kind.LARGEST_EXPONENT, n) for n in (0, 1)]


def test_an_algorithm_keeps_its_units_stages() -> None:
    algorithm, row = algorithm_named("markidis", "ampere", 8)
    stages = {stage.name: stage for stage in algorithm.trace.stages}
    assert stages["a3, word 1"].place == (OperandPlace("a", 3), Kind.WORD, 1)
    place = InstructionPlace(0, 1, range(8), within=0)
    inside = stages["A0·B1, lanes 0 to 7: block 0: largest exponent"]
    assert inside.place == (place, Kind.LARGEST_EXPONENT, None)
    assert inside.label == "largest exponent"
    assert stages["A0·B1, lanes 0 to 7"].place == (InstructionPlace(0, 1, range(8)), Kind.INSTRUCTION, None)
    assert algorithm.trace.stages[-1].place == (None, Kind.RESULT, None)
    kinds = [s.kind for s in row.model.trace.stages if s.block == 0]
    assert [s.kind for s in algorithm.trace.stages if s.block == place] == kinds


def test_products_of_words_given_twice_are_refused() -> None:
    """Its two instructions would have one place."""
    algorithm, _ = algorithm_named("markidis", "volta")
    (total,) = algorithm.sums
    with pytest.raises(TcsmtError, match="each product of words once"):
        Algorithm(
            k=4, unit=algorithm.unit, split=algorithm.split, sums=(total, type(total)(products=((0, 0),)))
        )


# --- what is rounded ------------------------------------------------------------------------------


#: Without flushes, and as CDNA2 has them.
FLUSHED: dict[bool, dict[str, Any]] = {
    False: {},
    True: {"flush_inputs": True, "flush_outputs": True, "flush_to_positive": True},
}


def ieee_models() -> Iterator[tuple[str, IeeeDotAdd]]:
    """Every way in which a sum can be made of IEEE operations."""
    half: dict[str, Any] = {"a_format": "f16", "b_format": "bf16", "c_format": "f32", "k": 4}
    modes = cycle(ROUNDINGS)
    for method, c_first, product_format, n_fma in product(
        ("sequential", "fma", "pairwise", "exact"), (True, False), (None, "f16", "f32"), (None, 2)
    ):
        wide = method in ("fma", "exact")
        if (n_fma and method in ("sequential", "fma")) or (wide and product_format):
            continue
        for sum_format, d_format in (("f32", "f32"), ("f16", "f32"), ("f32", "f16")):
            kind = {
                "method": method, "c_first": c_first, "product_format": product_format, "n_fma": n_fma,
                "sum_format": sum_format, "d_format": d_format, "rounding": next(modes),
                "product_rounding": next(modes), "d_rounding": next(modes),
            }  # fmt: skip
            yield " ".join(map(str, kind.values())), IeeeDotAdd.of(**half, **kind)
    signs = IeeeDotAdd.of(**half, method="exact", sum_format="f32", d_format="f32", negative_zero=False)
    yield "exact, zeros +0", signs
    for fmt, method, n_fma, flush in product(("f32", "f64"), ("fma", "pairwise"), (None, 2), (False, True)):
        if method == "pairwise" or not n_fma:
            same = dict.fromkeys(("a_format", "b_format", "c_format", "d_format", "sum_format"), fmt)
            products = {"product_format": fmt} if method == "pairwise" else {}
            model = IeeeDotAdd.of(**same, **products, method=method, n_fma=n_fma, k=4, **FLUSHED[flush])
            assert model.is_native
            yield f"words {fmt} {method} {n_fma} {flush}", model
    narrow = {"a_format": "bf16", "b_format": "f16", "c_format": "f32", "d_format": "f32"}
    yield (
        "words, bf16",
        IeeeDotAdd.of(
            **narrow, sum_format="f32", product_format="f32", method="pairwise", k=4, **FLUSHED[True]
        ),
    )


#: Parameters beside the methods', on formats that are narrow enough to see them.
OPERATIONS: list[tuple[str, dict[str, Any]]] = [
    ("chains", {"method": "fma", "chains": 2, "flush_c": True, "flush_outputs": True, "tininess": "after"}),
    ("odd", {"method": "pairwise", "n_fma": 2, "product_format": "f32", "product_rounding": "RTO",
             "rounding": "RTO", "flush_inputs": True, "flush_outputs": True, "tininess": "before"}),
    ("c last", {"method": "exact", "n_fma": 2, "c_first": False}),
    ("scaled", {"method": "exact", "product_exponent": -5, "overflow": "saturate"}),
    ("cases", {"method": "fma", "nan": "signalling c, a, products: 0x7fc00000, b, c, 0xffc00000"}),
]  # fmt: skip

LAST = row_named(VOLTA).model.replace(c_position="last", flush_inputs=True)

ROUNDED: list[tuple[str, Model]] = [
    *ieee_models(),
    *(
        (
            name,
            IeeeDotAdd.of(
                a_format="bf16", b_format="bf16", c_format="f32", d_format="f32", sum_format="f32", k=4,
                **changes,
            ),
        )
        for name, changes in OPERATIONS
    ),
    *((row.name, row.model) for row in rows() if isinstance(row.model, IeeeDotAdd) and row.model.k <= 16),
    *(
        (f"c last {number} {mode}", LAST.replace(c_rounding=mode, **changes))
        for mode in ROUNDINGS
        for number, changes in enumerate(({}, {"flush_outputs": True}, {"negative_zero": True}))
    ),
    *((f"{name} {place}", algorithm_named(f"{name},c={place},outside={mode}", unit, k)[0])
      for name, unit, k in (("markidis", "volta", 4), ("ootomo-halfhalf", "volta", 8))
      for place in ("unit", "first", "last") for mode in ("RNE", "RTZ")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "model"),
    [pytest.param(*one, marks=pytest.mark.long if place % 4 else ()) for place, one in enumerate(ROUNDED)],
)
def test_recorded_operations_make_the_stages_own_nodes(name: str, model: Model) -> None:
    """What a stage says that it rounds makes the stage's own node again."""
    stages = [stage for stage in model.trace.stages if stage.operation is not None]
    assert stages or isinstance(model, Algorithm)
    for stage in stages:
        assert stage.operation is not None
        assert stage.operation.word() is stage.term
        assert stage.operation.format is stage.value
    if isinstance(model, IeeeDotAdd):
        assert len(stages) == len(model.trace.stages)
        assert stages[-1].term is model.trace.output


def value(fmt: Format, word: int) -> Fraction | None:
    return None if fmt.is_nan(word) or fmt.is_infinite(word) else fmt.value(word)


def flushed(model: IeeeDotAdd, name: str, fmt: Format, x: Fraction | None) -> Fraction | None:
    flush = model.reading.flush_inputs or (name == "c" and model.reading.flush_c)
    small = flush and x is not None and abs(x) < Fraction(2) ** fmt.e_min
    return Fraction(0) if small else x


def check(model: IeeeDotAdd, values: dict[str, int]) -> None:
    """Every result is its terms' sum, rounded; every term is a product, c, or an earlier result."""
    stages = model.trace.stages
    known = _evaluated(stages, values)
    inputs = {n: flushed(model, n, f, value(f, values[n])) for n, f in model.input_formats.items()}
    products = [(inputs[f"a{i}"], inputs[f"b{i}"]) for i in range(model.k)]
    scale = Fraction(2) ** model.product_exponent
    seen: list[Fraction | None] = [x * y * scale for x, y in products if x is not None and y is not None]
    seen += [inputs["c"], Fraction(0)]
    for stage in stages:
        operation, fmt = stage.operation, stage.value
        assert operation is not None
        assert isinstance(fmt, Format)
        word = known[stage.term]
        if all(not known[x.nan] and not known[x.infinite] for x in operation.terms):
            terms = [number_value(x, known) for x in operation.terms]
            assert all(x in seen for x in terms), stage.name
            total = sum(terms, Fraction(0))
            expected = rationals.encode(
                fmt.name,
                total,
                operation.rounding.name,
                overflow=getattr(operation, "overflow", "ieee"),
                flush_output=operation.flush,
                tininess=getattr(operation, "tininess", "result"),
            )
            assert word & ~(1 << fmt.sign_bit) == expected & ~(1 << fmt.sign_bit), stage.name
        seen.append(value(fmt, word))


def _evaluated(stages: tuple[Stage, ...], values: dict[str, int]) -> dict[Term, int]:
    numbers = [x for stage in stages if stage.operation for x in stage.operation.terms]
    parts = [t for x in numbers for t in (x.sign, x.exponent.term, x.significand, x.nan, x.infinite)]
    terms = list(dict.fromkeys([*(stage.term for stage in stages), *parts]))
    return dict(zip(terms, evaluate(terms, values), strict=True))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        pytest.param(*one, marks=pytest.mark.long if number % 12 else ())
        for number, one in enumerate(ieee_models())
    ],
)
def test_every_rounding_is_recorded(name: str, model: IeeeDotAdd) -> None:
    formats = model.input_formats

    @settings(max_examples=10, deadline=None)
    @given(st.fixed_dictionaries({n: st.integers(0, (1 << f.width) - 1) for n, f in formats.items()}))
    def holds(values: dict[str, int]) -> None:
        check(model, values)

    holds()
