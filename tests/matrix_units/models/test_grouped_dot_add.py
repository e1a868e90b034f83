"""Sums of groups of lanes: what each parameter does, by hand; what contradicts itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Specials
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import GroupedDotAdd, Kind
from tcsmt.prove.statements.explain import known_words, number_value
from tcsmt.support.errors import TcsmtError
from tests.support.model_rows import MANY, ROWS, SEEDS, SOME, drawn_agrees, unit_agrees

#: Four lanes in two groups, whole significands, grids so fine that nothing is lost among ordinary numbers.
EXACT = GroupedDotAdd(
    a_format="e8m7fn", b_format="e8m7fn", c_format="e8m23fn", d_format="e8m23fn", k=4, group_lanes=2,
    a_bits=8, b_bits=8, fraction_bits=20, zero_exponent=-127, sum_fraction_bits=30,
)  # fmt: skip


def result(model: GroupedDotAdd, a: list[float], b: list[float], c: float) -> float:
    """The result's value on values; lanes that are not given are zero."""
    zeros = [0.0] * (model.k - len(a))
    formats = model.input_formats.values()
    given_values = zip(formats, [*a, *zeros, *b, *zeros, c], strict=True)
    words = [fmt.word(Fraction(value)) for fmt, value in given_values]
    (word,) = evaluate([model.trace.output], dict(zip(model.input_names, words, strict=True)))
    return float(model.d_format.value(word))


def power(exponent: int) -> float:
    return 2.0**exponent


@pytest.mark.parametrize(
    ("changes", "a", "b", "c", "expected", "otherwise"),
    [
        # five bits of 1.1111111: 1.1111; the next three of them: 0.0000111
        ({"a_bits": 5}, [1.9921875], [1.0], 0.0, 1.9375, 1.9921875),
        ({"a_first_bit": 5, "a_bits": 5}, [1.9921875], [1.0], 0.0, 1.9921875 - 1.9375, 1.9921875),
        ({"b_bits": 1}, [1.0], [-1.5], 0.0, -1.0, -1.5),
        # lanes of one group cancel before the other group's sum could push their bits out
        ({"fraction_bits": 4}, [1.0, power(-5)], [1.0, 1.0], 0.0, 1 + power(-4), 1 + power(-5)),
        ({"fraction_bits": 4, "alignment": "RTZ"}, [1.0, power(-5)], [1.0, 1.0], 0.0, 1.0, 1 + power(-5)),
        ({"fraction_bits": 4, "group_lanes": 1}, [1.0, power(-5)], [1.0, 1.0], 0.0, 1 + power(-5), None),
        # half a unit of the second grid: groups' ties go up, c's go away from zero
        ({"sum_fraction_bits": 4}, [1.0, 0.0, power(-5)], [1.0, 0.0, 1.0], 0.0, 1 + power(-4), 1 + power(-5)),
        ({"sum_fraction_bits": 4}, [1.0, 0.0, -power(-5)], [1.0, 0.0, 1.0], 0.0, 1.0, 1 - power(-5)),
        ({"sum_fraction_bits": 4}, [1.0], [1.0], -power(-5), 1 - power(-4), 1 - power(-5)),
        ({"sum_fraction_bits": 4, "c_alignment": "RTZ"}, [1.0], [1.0], -power(-5), 1.0, 1 - power(-5)),
        ({"sum_fraction_bits": 4, "group_alignment": "RTN"}, [1.0, 0.0, -power(-9)], [1.0, 0.0, 1.0], 0.0,
         1 - power(-4), 1 - power(-9)),
        # rounded twice: 7/16 of a unit becomes a half, and then a whole one
        ({"sum_fraction_bits": 5, "kept_fraction_bits": 4}, [1.0], [1.0], 7 * power(-8), 1 + power(-4),
         1 + 7 * power(-8)),
        ({"sum_fraction_bits": 4}, [1.0], [1.0], 7 * power(-8), 1.0, 1 + 7 * power(-8)),
        # zeros have an exponent of their own, below which c loses bits; or which is left out
        ({"zero_exponent": 20, "sum_fraction_bits": 20}, [], [], 1.75, 2.0, 1.75),
        ({"zero_exponent": 20, "least_exponent": 21, "sum_fraction_bits": 20}, [], [], 1.75, 1.75, None),
        ({"least_exponent": 1}, [1.0], [1.0], 0.25, 0.25, 1.25),
        ({"least_exponent": 0}, [1.0], [1.0], 0.25, 1.25, None),
        # -1 unit
        ({"sum_fraction_bits": 8, "minus_one_shift": 12}, [-1.0], [1.0], 1 - power(-8), -16.0, -power(-8)),
        ({"sum_fraction_bits": 8, "minus_one_shift": 12}, [1.0], [1.0], power(-8) - 1, power(-8), None),
        ({"sum_fraction_bits": 8, "minus_one_shift": 12}, [-1.0], [1.0], 1 - power(-7), -power(-7), None),
        # the ends of the range
        ({"largest_result": 0x40000000}, [-4.0], [1.0], 0.0, -2.0, -4.0),
        ({"largest_result": 0x40000000}, [1.5], [1.0], 0.0, 1.5, None),
        ({}, [], [], power(-127), 0.0, None),
        ({"flush_inputs": False}, [], [], power(-127), 0.0, None),
        ({"flush_inputs": False, "flush_outputs": False}, [], [], power(-127), power(-127), 0.0),
        ({"d_format": "e8m7fn", "tininess": "result"}, [-power(-8)], [power(-127 + 1)], power(-126),
         power(-126), 0.0),
    ],
)  # fmt: skip
def test_one_parameter_at_a_time(
    changes: dict[str, Any],
    a: list[float],
    b: list[float],
    c: float,
    expected: float,
    otherwise: float | None,
) -> None:
    """``otherwise``: without the change, or None where that is not another result."""
    assert result(EXACT.replace(**changes), a, b, c) == expected
    if otherwise is not None:
        d = changes.get("d_format", EXACT.d_format)
        assert result(EXACT.replace(d_format=d), a, b, c) == otherwise


WORDS = st.integers(0, (1 << FORMATS["e8m10fn"].width) - 1)


@settings(deadline=None, max_examples=60)
@given(x=WORDS, y=WORDS)
def test_phases_add_up(x: int, y: int) -> None:
    """Slices of 5 and 5, 7 and 4 bits: their products are that of the first 10 and all 11 bits."""
    fmt = FORMATS["e8m10fn"]
    total = Fraction(0)
    for first_a in (0, 5):
        for first_b in (0, 7):
            model = GroupedDotAdd(
                a_format=fmt, b_format=fmt, c_format="e8m23fn", d_format="e8m23fn", k=1, group_lanes=1,
                a_first_bit=first_a, a_bits=5, b_first_bit=first_b, b_bits=7,
                fraction_bits=10, zero_exponent=-127, sum_fraction_bits=23,
            )  # fmt: skip
            (stage,) = model.trace.of(Kind.PRODUCT)
            known = known_words(model.trace, {"a0": x, "b0": y, "c": 0})
            total += number_value(stage.value, known)
    values = []
    for word, cleared in ((x, 1), (y, 0)):
        _, field, _ = fmt.fields(word)
        values.append(fmt.value(word & ~cleared) if field else Fraction(0))
    assert total == values[0] * values[1]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"group_lanes": 3}, "group_lanes = 3: must be a divisor of k = 4"),
        ({"group_lanes": 0}, "group_lanes = 0: must be a divisor of k = 4"),
        ({"a_format": "bf16"}, "must be a format with a fraction and without infinities and NaNs"),
        ({"d_format": "f32"}, "must be a format with a fraction and without infinities and NaNs"),
        ({"a_first_bit": 8}, "a_first_bit = 8: must be from 0 to 7, the last of e8m7fn"),
        ({"b_bits": 0}, "b_bits = 0: must be from 1 to 64"),
        ({"fraction_bits": 0}, "fraction_bits = 0: must be from 1 to 1024"),
        ({"sum_fraction_bits": 1025}, "sum_fraction_bits = 1025: must be from 1 to 1024"),
        ({"kept_fraction_bits": 31}, "kept_fraction_bits = 31: must be None or from 1 to 30"),
        ({"minus_one_shift": 0}, "minus_one_shift = 0: must be None or from 1 to 1024"),
        ({"zero_exponent": 5000}, "zero_exponent = 5000: must be from -4096 to 4096"),
        ({"least_exponent": -5000}, "least_exponent = -5000: must be None or from -4096 to 4096"),
        ({"largest_result": 0}, "largest_result = 0: must be None or the word of a positive e8m23fn number"),
        ({"largest_result": 1 << 31}, "must be None or the word of a positive e8m23fn number"),
        ({"tininess": "never"}, "tininess"),
    ],
)
def test_contradictory_parameters_are_refused(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(TcsmtError) as caught:
        EXACT.replace(**changes)
    assert expected in str(caught.value)


# --- against the exact-rational oracle --------------------------------------------------------------

FINITE = sorted(name for name, fmt in FORMATS.items() if fmt.specials is Specials.NONE and fmt.has_subnormals)
MODES = sorted(ROUNDINGS)


@st.composite
def grouped_models(draw: st.DrawFn) -> GroupedDotAdd:
    """Any valid GroupedDotAdd of at most 8 lanes."""
    k = draw(st.integers(1, 8))
    names = {f"{side}_format": draw(st.sampled_from(FINITE)) for side in "abcd"}
    a, b, d = (FORMATS[names[f"{side}_format"]] for side in "abd")
    exponents = st.integers(a.e_min + b.e_min - 8, a.e_min + b.e_min + 8)
    exponents |= st.integers(-300, 300) | st.sampled_from([-4096, d.e_min, 4096])
    bits = draw(st.integers(1, 30))
    return GroupedDotAdd(
        **names,
        k=k,
        group_lanes=draw(st.sampled_from([g for g in range(1, k + 1) if k % g == 0])),
        a_first_bit=draw(st.integers(0, a.fraction_bits)),
        a_bits=draw(st.integers(1, 14)),
        b_first_bit=draw(st.integers(0, b.fraction_bits)),
        b_bits=draw(st.integers(1, 14) | st.just(30)),
        fraction_bits=draw(st.integers(1, 30)),
        alignment=draw(st.sampled_from(["RNA", "RNA", *MODES])),
        zero_exponent=draw(exponents),
        least_exponent=draw(st.none() | exponents),
        sum_fraction_bits=bits,
        group_alignment=draw(st.sampled_from(["RNU", "RNU", *MODES])),
        c_alignment=draw(st.sampled_from(["RNA", "RNA", *MODES])),
        kept_fraction_bits=draw(st.none() | st.integers(1, bits)),
        minus_one_shift=draw(st.none() | st.integers(1, 40)),
        rounding=draw(st.sampled_from(["RNA", *MODES])),
        largest_result=draw(st.none() | st.integers(1, d.largest_finite_word)),
        flush_inputs=draw(st.booleans()),
        flush_outputs=draw(st.booleans()),
        tininess=draw(st.sampled_from(["after", "before", "result"])),
    )


@settings(**SOME)
@given(data=st.data(), seed=SEEDS)
def test_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(grouped_models(), data, seed)


@pytest.mark.long
@settings(**MANY)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_models_agree_with_the_oracle(data: st.DataObject, seed: int) -> None:
    drawn_agrees(grouped_models(), data, seed)


#: Catalogue rows of this arithmetic.
UNITS = [
    "wormhole/mvmul.f32.f16.phase3",
    "blackhole/mvmul.bf16.tf32.phase2",
]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", UNITS)
def test_units_agree_with_the_oracle(name: str, rows: int) -> None:
    """Catalogue rows as they are."""
    unit_agrees(name, rows)
