"""Parameters of models: names, what follows from them, and which are refused."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd, Model, Operands
from tcsmt.matrix_units.models.base import Parameters, choice, lane_count, number, role_of, word_names
from tcsmt.support.errors import TcsmtError
from tests.support.model_rows import AMPERE

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
SCALED = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model


@pytest.mark.parametrize("model", [VOLTA, SCALED], ids=["no scales", "scales"])
def test_split_and_flat_are_inverse(model):
    names = tuple(model.input_names)
    given = model.operands(names)
    assert given.flat() == names
    assert [len(part) for name, part in given.named.items() if name != "c"] == list(
        model.operand_lengths.values()
    )
    assert given.c == "c"
    assert given.named.keys() == model.operand_formats.named.keys()
    for wrong in (names[:-1], (*names, "one more")):
        with pytest.raises(ValueError, match="words for k"):
            model.operands(wrong)


def test_the_order_is_that_of_the_names():
    given = Operands("a", "b", "c", "sa", "sb")
    assert given.parts == ("a", "b", "c", "sa", "sb")
    assert list(given.named) == ["a", "b", "c", "scale_a", "scale_b"]
    assert Operands("a", "b", "c").parts == ("a", "b", "c")
    assert given.map(str.upper) == Operands("A", "B", "C", "SA", "SB")


def test_a_model_refuses_operands_that_do_not_fit():
    trace = SCALED.trace
    a, b, c = trace.a, trace.b, trace.c
    for wrong in (Operands(a, b, c), Operands(a[:-1], b, c, *trace.operands.parts[3:])):
        with pytest.raises(TcsmtError, match="operands of lengths"):
            SCALED.apply(wrong)
    volta = VOLTA.trace
    with pytest.raises(TcsmtError, match="operands of lengths"):
        VOLTA.apply(Operands(volta.a, volta.b, volta.c, volta.a, volta.b))
    assert VOLTA.apply(volta.operands).output is volta.output


IEEE = IeeeDotAdd.of(a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=2, sum_format="f32")


def test_names_become_objects() -> None:
    """A format, rounding mode or choice may be given by name, in any case."""
    model = AMPERE.replace(a_format="FP16", rounding="rtz", products="Normalised")
    assert model.a_format is FORMATS["f16"]
    assert model.parameters.rounding is ROUNDINGS["RTZ"]
    assert model.parameters.products == "normalised"
    assert model == AMPERE.replace(products="normalised")
    assert IEEE.replace(product_format="fp32").parameters.product_format is FORMATS["f32"]
    assert hash(IEEE.replace(order=[1, 0])) == hash(IEEE.replace(order=(1, 0)))


def test_derived_quantities() -> None:
    """n_eab, carry bits, the canonical NaN, the blocks."""
    assert AMPERE.extra_alignment_bits == 1
    assert [AMPERE.replace(k=n, n_fma=n).enough_carry_bits for n in (1, 3, 4, 8)] == [1, 2, 3, 4]
    assert AMPERE.nan_word == 0x7FFFFFFF
    assert AMPERE.replace(d_format="f16").nan_word == 0x7FFF
    assert AMPERE.replace(d_format="bf16").nan_word == 0x7FC0
    assert AMPERE.replace(n_fma=4).blocks == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert AMPERE.replace(n_fma=4, interleave=2).blocks == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert AMPERE.replace(n_fma=4, interleave=1).blocks == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_equal_parameters_are_one_graph() -> None:
    """Two models that do the same share every node; enough carry bits are no parameter's guess."""
    twin = AMPERE.replace(c_position="aligned", interleave=0)
    assert AMPERE.trace.output is twin.trace.output
    a, b, c = AMPERE.trace.a, AMPERE.trace.b, AMPERE.trace.c
    swapped = AMPERE.apply(Operands([*a[1:], a[0]], [*b[1:], b[0]], c))
    assert swapped.output is AMPERE.trace.output


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (AMPERE, {"fraction_bits": 0}, "fraction_bits = 0: must be from 1"),
        (AMPERE, {"fraction_bits": 2000}, "fraction_bits = 2000: must be from 1 to 1024"),
        (AMPERE, {"k": 0, "n_fma": 1}, "k = 0: must be from 1"),
        (AMPERE, {"k": "8"}, "k = '8': must be an integer"),
        (AMPERE, {"k": 8.0}, "k = 8.0: must be an integer"),
        (AMPERE, {"carry_bits": 1.5}, "carry_bits = 1.5: must be an integer or None"),
        (AMPERE, {"flush_inputs": "yes"}, "flush_inputs = 'yes': must be True or False"),
        (AMPERE, {"n_fma": 3}, "n_fma = 3: must be a divisor of k = 8"),
        (AMPERE, {"n_fma": 0}, "n_fma = 0: must be a divisor"),
        (AMPERE, {"n_fma": 16}, "n_fma = 16: must be a divisor"),
        (AMPERE, {"interleave": 2}, "interleave = 2: must be 0, or, with more than one block"),
        (AMPERE, {"n_fma": 4, "interleave": 3}, "interleave = 3: .*divisor of n_fma"),
        (AMPERE, {"n_fma": 4, "interleave": -1}, "interleave = -1"),
        (AMPERE, {"carry_bits": -1}, "carry_bits = -1"),
        (AMPERE, {"carry_bits": 2, "normalisation": "every"}, "carry_bits = 2: must be None"),
        (AMPERE, {"c_position": "last", "normalisation": "every"}, "c_position = 'last'"),
        (AMPERE, {"alignment_sticky": True, "normalisation": "every"}, "alignment_sticky = True"),
        (AMPERE, {"zero_exponent": None, "normalisation": "every"}, "zero_exponent = None"),
        (AMPERE, {"alignment_sticky": True, "alignment": "RNE"}, "alignment = RNE: must be RTZ"),
        (AMPERE, {"zero_exponent": 10**6}, "zero_exponent = 1000000"),
        (AMPERE, {"round_fraction_bits": 24}, "round_fraction_bits = 24: .*from 1 to 23"),
        (AMPERE, {"d_format": "e4m3"}, "d_format = .*e4m3.*a format with infinities"),
        (AMPERE, {"nan": 0x7F800000}, "nan = 2139095040: must be a NaN of f32"),
        (AMPERE, {"a_format": "fp61"}, "unknown format 'fp61'"),
        (AMPERE, {"a_format": 16}, "a_format = 16: must be a floating-point format or its name"),
        (AMPERE, {"a_format": "bf61"}, "'bf61': did you mean .*bf16"),
        (AMPERE, {"rounding": "RNX"}, "unknown rounding mode 'RNX': did you mean .*RN"),
        (AMPERE, {"rounding": None}, "rounding = None: must be a rounding mode"),
        (AMPERE, {"products": "unormalised"}, "products 'unormalised': did you mean .*unnormal"),
        (AMPERE, {"products": None}, "products = None: must be unnormalised or normalised"),
        (AMPERE, {"c_position": "first"}, "c_position 'first'.*aligned, summed, last"),
        (AMPERE, {"overflow": "inf"}, "overflow 'inf': did you mean .*infinity"),
        (IEEE, {"method": "fmaa"}, "method 'fmaa': did you mean fma"),
        (IEEE, {"method": "pairwise", "k": 3}, "k = 3: must be a power of two"),
        (IEEE, {"order": (0, 0)}, r"order = \(0, 0\): must be a permutation of \[0, 1\]"),
        (IEEE, {"order": 1}, "order = 1: must be a permutation"),
        (IEEE, {"method": "fma", "product_format": "f32"}, "product_format = .*when method = fma"),
        (IEEE, {"method": "exact", "product_format": "f32"}, "product_format = .*method = exact"),
        (IEEE, {"product_format": "e4m3"}, "product_format = .*a format with infinities"),
        (IEEE, {"product_format": "fp33"}, "unknown format 'fp33'"),
        (IEEE, {"sum_format": "e2m1"}, "sum_format = .*a format with infinities"),
        (IEEE, {"d_format": "ue8m0"}, "d_format = .*a format with infinities"),
        (IEEE, {"nan": 0}, "nan = 0: must be a NaN of f32"),
    ],
)
def test_contradictory_parameters_are_refused(model: Model, change: dict[str, Any], message: str) -> None:
    """The error names the parameter, what was given and what is allowed."""
    with pytest.raises(TcsmtError, match=message):
        model.replace(**change)


def test_a_model_is_pickled_without_its_terms() -> None:
    """Terms are the same object where they are the same structure: another process has its own."""
    model = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    assert model.trace.output.width == 32
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert "trace" not in vars(again)
    assert again.trace.output is model.trace.output
    with pytest.raises(TypeError, match="belongs to its process"):
        pickle.dumps(model.trace)


def test_the_earlier_name_of_replace_is_taken_with_a_warning() -> None:
    model = AMPERE
    with pytest.warns(DeprecationWarning, match="replace"):
        changed = model.varied(carry_bits=5)
    assert changed == model.replace(carry_bits=5) != model


@dataclass(frozen=True, kw_only=True)
class Table(Parameters):
    """One parameter of each kind."""

    bits: int = number(1, 8)
    spare: int | None = number(0, 3, default=None)
    lanes: int = lane_count(default=4)
    flush: bool = False
    method: str = choice("first", "second")
    fmt: Format | None = None
    rounding: Rounding = ROUNDINGS["RNE"]
    nan: NanRule | None = None


def test_names_of_parameters_become_objects() -> None:
    table = Table(bits=1, method="Second", fmt="fp16", rounding="rtz", nan=0x7E00)
    assert (table.method, table.fmt, table.rounding) == ("second", FORMATS["f16"], ROUNDINGS["RTZ"])
    assert table.nan == NanRule((), 0x7E00)


@pytest.mark.parametrize("value", [1, 8])
def test_ends_of_a_range_are_allowed(value: int) -> None:
    assert Table(bits=value).bits == value


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bits": 0}, "bits = 0: must be from 1 to 8"),
        ({"bits": 9}, "bits = 9: must be from 1 to 8"),
        ({"bits": 1.5}, "bits = 1.5: must be an integer"),
        ({"bits": None}, "bits = None: must be an integer"),
        ({"bits": 1, "spare": 4}, "spare = 4: must be None or from 0 to 3"),
        ({"bits": 1, "flush": 1}, "flush = 1: must be True or False"),
        ({"bits": 1, "fmt": 3}, "fmt = 3: must be a floating-point format or its name or None"),
        ({"bits": 1, "method": "third"}, "unknown method 'third'"),
    ],
)
def test_other_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        Table(**values)


def test_names_of_words_say_their_roles():
    """Each operand's words have the role of the operand; names that merely begin like one have none."""
    for place, operand in enumerate(("a", "b", "scale_a", "scale_b")):
        scale, factor = place > 1, None if place > 1 else place
        for lane, name in enumerate(word_names(operand, 12)):
            assert role_of(name) == (operand, lane, factor, scale)
    assert role_of("c") == ("c", None, None, False) and word_names("c", None) == ["c"]
    for name in ("bias", "alpha", "c0", "sa", "sb[0]", "s0", "a[1]", "scale_a", "sat1", "b1x", "a\u0661", ""):
        assert role_of(name) == ("", None, None, False), name
    assert word_names("bias", None) == ["bias"] and word_names("sa", 2) == ["sa[0]", "sa[1]"]
