"""Conversions between formats on arrays, against exact fractions and a list of all the format's numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.conversion import (
    OPERAND_RULES,
    QUIET,
    UNKNOWN,
    NanWords,
    are_nan,
    converted,
    floats,
    knows_nans,
    operand_rule,
    rounded_word,
    with_nans_merged,
)
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, Format, IntegerFormat
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, to_word, to_words, unsigned
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.support.errors import TcsmtError, UnknownName
from tests.oracles import integers, rationals
from tests.support.format_words import ORACLE_NAME, boundaries, peer_values, sample, stored

Q8 = IntegerFormat(name="q8", bits=8, fraction_bits=4)
OF_INTEGERS = [
    INTEGERS["s4"],
    INTEGERS["u4"],
    INTEGERS["s8"],
    INTEGERS["u8"],
    IntegerFormat(name="s5", bits=5),
]


@pytest.mark.parametrize("fmt", OF_INTEGERS, ids=lambda fmt: fmt.name)
def test_every_number_in_every_dtype(fmt: IntegerFormat) -> None:
    words = np.array(integers.words(fmt))
    numbers = np.array([integers.count(fmt, word) for word in integers.words(fmt)])
    assert from_words(fmt, words.astype(np.uint8)).tolist() == numbers.tolist()
    assert from_words(fmt, words.astype(np.uint8)).dtype == dtype_of(fmt)
    for dtype in (np.int16, np.int32, np.int64, np.float32, np.float64):
        assert to_words(fmt, numbers.astype(dtype), "a").tolist() == words.tolist()
    assert to_words(fmt, numbers.tolist(), "a").tolist() == words.tolist()
    assert to_words(fmt, words.astype(np.uint64), "a").tolist() == words.tolist()  # words
    assert to_words(fmt, from_words(fmt, words.astype(np.uint8)), "a").tolist() == words.tolist()


@pytest.mark.parametrize("name", ["s32", "u32", "s64", "u64"])
def test_the_ends_of_wide_formats_read_back(name: str) -> None:
    fmt = INTEGERS[name]
    words = [0, 1, 2 ** (fmt.bits - 1) - 1, 2 ** (fmt.bits - 1), 2**fmt.bits - 1]
    numbers = [integers.count(fmt, word) for word in words]
    stored = from_words(fmt, np.array(words, np.uint64))
    assert [int(number) for number in stored] == numbers
    assert to_words(fmt, stored, "a").tolist() == words


def test_fixed_point_numbers() -> None:
    assert dtype_of(Q8) == np.uint8  # words: no dtype has its numbers
    assert to_words(Q8, np.array([1.5, -0.0625, -8.0]), "a").tolist() == [0x18, 0xFF, 0x80]
    assert to_words(Q8, [1, -8], "a").tolist() == [0x10, 0x80]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("s8", np.array([0, 128]), r"a\[1\] = 128 is not a valid s8 value: those are -128 to 127, whole"),
        ("u8", [[1, -1]], r"a\[0, 1\] = -1 is not a valid u8 value: those are 0 to 255, whole"),
        ("s8", [0.5], r"a\[0\] = 0.5 is not a valid s8 value"),
        ("s64", np.array([2.0**63]), r"a\[0\] = 9.2\d*e\+18 is not a valid s64 value"),
        ("s8", [float("nan")], r"a\[0\] = nan is not a valid s8 value"),
        ("u64", [float("inf")], r"a\[0\] = inf is not a valid u64 value"),
        ("s4", np.array([16], np.uint8), r"a\[0\] = 0x10: a word of s4 has 4 bits"),
    ],
)
def test_numbers_that_do_not_fit(name: str, values: Any, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        to_words(INTEGERS[name], values, "a")


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [("s8", "10", 10), ("s8", "-1", 0xFF), ("s8", "0x80", 0x80), ("u8", "+255", 255), ("s32", "1e3", 1000),
     ("u4", "0xf", 15), ("s8", "0x1p3", 8)],
)  # fmt: skip
def test_text(name: str, text: str, word: int) -> None:
    """Digits alone are a number, also where there are as many as a word has: a word has 0x."""
    assert to_word(INTEGERS[name], text) == word


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s8", "128", "'128' is not representable in s8, whose values are -128 to 127, whole"),
        ("u8", "-1", "'-1' is not representable in u8, whose values are 0 to 255, whole"),
        ("s8", "ff", r"'ff' is neither a s8 word in hexadecimal \(0x and 2 digits\) nor a decimal"),
        ("s8", "0x100", "a word of s8 has 2"),
        ("s8", "nan", "'nan' is neither"),
        ("s8", "1.5", r"'1.5' is not representable in s8; the nearest value is 0x02 \(2\)"),
    ],
)
def test_text_that_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        to_word(INTEGERS[name], text)


#: What a word of a format is: a number with its sign, an infinity or a NaN.
Value = tuple[str, int, Fraction]

WIDE = ("f64", "f32", "bf16", "f16", "e5m2", "e4m3", "e4m3fnuz", "e2m1", "ue8m0")
#: Formats of which all numbers can be listed.
LISTED = ("tf32", "bf16", "f16", "e5m2", "e4m3", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m1", "ue8m0", "ue4m3")


def value_of(name: str, word: int) -> Value:
    """By the oracle; of binary64, which it does not have, by Python's own numbers."""
    if name == "f64":
        number = np.uint64(word).view(np.float64)
        kind = "nan" if np.isnan(number) else "inf" if np.isinf(number) else "finite"
        return kind, word >> 63, abs(Fraction(float(number))) if kind == "finite" else Fraction(0)
    found = rationals.decode(ORACLE_NAME.get(name, name), word)
    size = found.significand * rationals.power_of_two(found.exponent) if found.kind == "finite" else 0
    return found.kind, found.sign, Fraction(size)


@cache
def numbers(name: str) -> tuple[list[float], list[int]]:
    """All numbers from +0 up that a format has, in order, and their words."""
    fmt = FORMATS[name]
    if name == "tf32":
        words = np.arange(0, fmt.infinity_word, 1 << 13, dtype=np.uint32)
        return words.view(np.float32).astype(np.float64).tolist(), words.tolist()
    words = np.arange(1 << (8 if fmt.width <= 8 else 15), dtype=stored(fmt))
    words = words[words < (1 << fmt.width)]
    if name == "ue4m3":
        values = words[:128].view(ml_dtypes.float8_e4m3fn).astype(np.float64)
        words = words[:128]
    else:
        values = peer_values(fmt, words)
    chosen = np.isfinite(values) & ~np.signbit(values)
    return values[chosen].tolist(), words[chosen].tolist()


def expected(value: Value, name: str, rule: str) -> int | None:
    """The word by a rule; None: the format has none. Not for NaNs."""
    kind, negative, size = value
    fmt = FORMATS[name]
    ieee = name in ("tf32", "bf16", "f16", "e5m2")
    infinity = (((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits) << (13 if name == "tf32" else 0)
    unsigned, one_zero = name in ("ue8m0", "ue4m3"), name.endswith("fnuz")
    if unsigned and negative and (size > 0 or kind == "inf"):
        return None
    sign = 0 if unsigned else negative << (fmt.width - 1)
    if kind == "inf":
        return sign | infinity if ieee else None
    values, words = numbers(name)
    place = bisect_right(values, size) - 1
    if place < 0:  # e8m0 has no zero
        nearest = rule != "truncate" and size > Fraction(values[0]) / 2
        tie = rule == "nearest-away" and size == Fraction(values[0]) / 2
        return words[0] if nearest or tie else None
    low = Fraction(values[place])
    last = place + 1 == len(values)
    step = low if name == "ue8m0" else low - Fraction(values[place - 1])
    high = low + step if last else Fraction(values[place + 1])
    odd = words[place] >> (13 if name == "tf32" else 0) & 1 if name != "ue8m0" else 1
    up = rule != "truncate" and (
        size - low > high - size or (size - low == high - size and (rule == "nearest-away" or odd == 1))
    )
    if up and last:
        return sign | infinity if ieee else None
    word = words[place + 1] if up else words[place]
    return word if one_zero and word == 0 else sign | word


def assert_converted(words: Sequence[int], source: str, target: str, rule: str) -> None:
    """Every word that is not a NaN becomes what the list of all numbers says."""
    array = np.array(words, stored(FORMATS[source]))
    found = converted(array, FORMATS[source], FORMATS[target], OPERAND_RULES[rule])
    for number, word in enumerate(array.tolist()):
        value = value_of(source, word)
        if value[0] == "nan":
            continue
        wanted = expected(value, target, rule)
        shown = f"{source} {word:#x} to {target} by {rule}"
        assert bool(found.absent[number]) == (wanted is None), shown
        if wanted is None:
            continue
        assert int(found.words[number]) == wanted, shown
        back = value_of(target if target != "tf32" else "f32", wanted)
        assert bool(found.inexact[number]) == ((back[0], back[2]) != (value[0], value[2])), shown


def some(source: str) -> list[int]:
    """Boundaries and a few words; of the narrow formats all."""
    fmt = FORMATS[source]
    words = sample(fmt, 100)
    found = words[::37].tolist() if fmt.width == 16 else words.tolist()
    return sorted({*found, *boundaries(fmt)})


@pytest.mark.parametrize("rule", OPERAND_RULES)
@pytest.mark.parametrize(("source", "target"), [pair for pair in product(WIDE, LISTED) if pair[0] != pair[1]])
def test_every_pair_of_formats(source: str, target: str, rule: str) -> None:
    assert_converted(some(source), source, target, rule)


@pytest.mark.long
@pytest.mark.parametrize("rule", OPERAND_RULES)
@pytest.mark.parametrize(("source", "target"), [*product(("bf16",), LISTED), *product(("f16",), LISTED)])
def test_all_words_of_16_bits(source: str, target: str, rule: str) -> None:
    if source != target:
        assert_converted(range(1 << 16), source, target, rule)


def beside_ties(target: str, source: str) -> list[int]:
    """Words at, just below and just above numbers of a narrower format, and the middles between them."""
    wide, fmt = FORMATS[source], FORMATS[target]
    values = numbers(target)[0]
    chosen = [*values[:: max(1, len(values) // 150)], *values[:12], *values[-12:]]
    words = []
    for value in chosen:
        at = values.index(value)
        after = values[at + 1] if at + 1 < len(values) else value + (value - values[at - 1])
        for point in (Fraction(value), (Fraction(value) + Fraction(after)) / 2):
            if point == 0 or not (point < wide.largest_finite):
                continue
            middle = wide.nearest_word(point)
            words += [word for word in (middle - 1, middle, middle + 1) if word >= 0]
    signs = (0, 1 << wide.sign_bit) if fmt.signed else (0,)
    return [word | sign for word in words for sign in signs]


@pytest.mark.parametrize("rule", OPERAND_RULES)
@pytest.mark.parametrize("target", ["tf32", "bf16", "f16", "e5m2", "e4m3", "e2m1"])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_neighbours_of_ties(source: str, target: str, rule: str) -> None:
    assert_converted(beside_ties(target, source), source, target, rule)


@pytest.mark.slow
@given(
    word=st.integers(0, (1 << 32) - 1), target=st.sampled_from(LISTED), rule=st.sampled_from([*OPERAND_RULES])
)
@settings(max_examples=500)
def test_random_words_of_binary32(word: int, target: str, rule: str) -> None:
    assert_converted([word], "f32", target, rule)


def test_binary64_to_binary32_is_numpys() -> None:
    """The largest format that all numbers cannot be listed of: NumPy and the processor round it to even."""
    rng = np.random.default_rng(2)
    words = rng.integers(0, 1 << 64, 20_000, dtype=np.uint64)
    field = rng.integers(1023 - 160, 1023 + 135, 20_000, dtype=np.uint64)
    near = words & np.uint64(0x800FFFFFFFFFFFFF) | field << np.uint64(52)
    near[::3] = near[::3] >> np.uint64(28) << np.uint64(28)  # many ties
    with np.errstate(all="ignore"):
        wanted = near.view(np.float64).astype(np.float32).view(np.uint32)
    found = converted(near, FORMATS["f64"], FORMATS["f32"], OPERAND_RULES["nearest-even"])
    assert np.array_equal(found.words, wanted)
    assert not found.absent.any()


@pytest.mark.parametrize(
    ("word", "target", "cut", "nearest"),
    [
        (0x7FC00000, "tf32", 0x7FC00000, 0x7FC00000),
        (0xFFFFFFFF, "tf32", 0xFFFFE000, 0xFFFFE000),
        (0x7F800001, "tf32", 0x7F800000, 0x7FC00000),  # the unit reads an infinity
        (0xFF801FFF, "tf32", 0xFF800000, 0xFFC00000),
        (0x7F802000, "tf32", 0x7F802000, 0x7FC02000),  # a signalling NaN in its front
        (0xFF80FFFF, "bf16", 0xFF80, 0xFFC0),
        (0x7FC12345, "bf16", 0x7FC1, 0x7FC1),
        (0x7F800001, "f16", 0x7E00, 0x7E00),  # no front of the word: its exponents are others
        (0xFFC02001, "f16", 0xFE01, 0xFE01),
        (0xFFC00001, "e4m3", 0xFF, 0xFF),
        (0xFFC00001, "e5m2fnuz", 0x80, 0x80),
        (0xFFC00001, "ue8m0", 0xFF, 0xFF),
    ],
)  # fmt: skip
def test_nans(word: int, target: str, cut: int, nearest: int) -> None:
    for rule, wanted in (("truncate", cut), ("nearest-even", nearest), ("nearest-away", nearest)):
        found = converted(np.array([word], np.uint32), FORMATS["f32"], FORMATS[target], OPERAND_RULES[rule])
        assert int(found.words[0]) == wanted, f"{rule}: {int(found.words[0]):#x}"
        assert not found.absent[0]
        assert bool(found.inexact[0]) == FORMATS[target].is_infinite(wanted)


def test_a_format_without_nan_has_no_word_for_one() -> None:
    nan = np.array([0x7FC00000], np.uint32)
    found = converted(nan, FORMATS["f32"], FORMATS["e2m1"], OPERAND_RULES["truncate"])
    assert found.absent[0] and found.inexact[0]


def test_wide_significands_keep_every_bit() -> None:
    """A format with more bits than binary64."""
    wide = Format(name="e11m52ish", exponent_bits=11, fraction_bits=52, bias=1023)
    wider = Format(name="e7m56", exponent_bits=7, fraction_bits=56, bias=63)
    words = np.array([0x3FF0000000000001, 0xBFFFFFFFFFFFFFFF, 0], np.uint64)
    found = converted(words, FORMATS["f64"], wider, OPERAND_RULES["truncate"])
    assert [wider.value(int(word)) for word in found.words] == [
        FORMATS["f64"].value(int(word)) for word in words
    ]
    assert not found.inexact.any()
    assert np.array_equal(converted(words, FORMATS["f64"], wide, OPERAND_RULES["truncate"]).words, words)


def test_shapes_stay() -> None:
    for shape in ((), (0,), (2, 0), (3, 2)):
        words = np.zeros(shape, np.uint32)
        found = converted(words, FORMATS["f32"], FORMATS["f16"], OPERAND_RULES["truncate"])
        assert found.words.shape == found.inexact.shape == found.absent.shape == shape


@pytest.mark.parametrize("name", ["f16", "bf16", "e5m2", "e4m3", "e4m3fnuz", "e2m1", "f32", "f64"])
def test_floats_are_the_peers(name: str) -> None:
    fmt = FORMATS[name]
    words = sample(fmt)
    assert np.array_equal(floats(fmt, words), peer_values(fmt, words), equal_nan=True)


def test_rules_have_names() -> None:
    assert operand_rule(None) is None
    assert [str(operand_rule(name)) for name in OPERAND_RULES] == ["RTZ", "RNE", "RNA"]
    with pytest.raises(UnknownName, match=r"'nearest-evn': .*nearest-even"):
        operand_rule("nearest-evn")


@given(
    word=st.integers(0, (1 << 31) - 1), target=st.sampled_from(LISTED), rule=st.sampled_from([*OPERAND_RULES])
)
@settings(max_examples=300)
def test_one_number_is_rounded_as_arrays_are(word: int, target: str, rule: str) -> None:
    """But beyond the largest number, where nothing is an infinity."""
    kind, _, size = value_of("f32", word)
    fmt = FORMATS[target]
    if kind != "finite" or not fmt.value(0) <= size <= fmt.largest_finite:
        return
    for value in {size, -size if fmt.signed else size}:
        wanted = expected(("finite", int(value < 0), size), target, rule)
        if wanted is not None and not fmt.is_special(wanted):
            assert rounded_word(fmt, value, OPERAND_RULES[rule]) == wanted


@pytest.mark.parametrize(
    ("rule", "word"), [("truncate", 0x7BFF), ("nearest-even", 0x7BFF), ("nearest-away", 0x7BFF)]
)
def test_one_number_beyond_the_largest(rule: str, word: int) -> None:
    half = FORMATS["f16"]
    assert rounded_word(half, Fraction(65519), OPERAND_RULES[rule]) == 0x7BFF
    with pytest.raises(ValueError, match="not a valid f16 value"):
        rounded_word(half, Fraction(65520), OPERAND_RULES[rule])
    with pytest.raises(ValueError, match="beyond the largest e4m3 value"):
        rounded_word(FORMATS["e4m3"], Fraction(464), OPERAND_RULES["nearest-away"])


SMALL = ("f16", "bf16", "e5m2", "e4m3", "e4m3fnuz", "e2m1", "e3m2")


@pytest.mark.parametrize("text", ["quiet", "ones", "ones:f16:bf16:f32", "quiet:f32", "unknown"])
def test_the_text_reads_back(text: str) -> None:
    assert str(NanWords.named(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("canonical", "unknown rule for NaN words 'canonical'"),
        ("ones:f17", "f17"),
        ("ones:s8", "s8 is not a floating-point format"),
        ("unknown:f32", "unknown takes no formats"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        NanWords.named(text)


def test_words_are_those_of_the_documents() -> None:
    """The CUDA documents' words for three formats, and RISC-V's for four; nothing else is known of them."""
    words = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}
    for row in rows("h100")[:1] + rows("volta")[:1] + rows("b200")[:1]:
        for name, fmt in FORMATS.items():
            known = None if fmt.nan_word is None else words.get(name)
            assert row.nans_outside.word(fmt) == known
    riscv = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}
    assert {n: w for n, f in FORMATS.items() if (w := rows("riscv")[0].nans_outside.word(f))} == riscv
    others = [row for name in ("mi300x", "x86", "arm", "wormhole") for row in rows(name)]
    assert {row.nans_outside for row in others} == {UNKNOWN}


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_computed_is_a_nan(name: str) -> None:
    fmt = FORMATS[name]
    for rule in (QUIET, UNKNOWN, NanWords("ones"), NanWords("ones", ("f16",))):
        word = rule.computed(fmt)
        assert fmt.is_nan(word) if fmt.nan_word is not None else word == fmt.largest_finite_word
        assert rule.is_known(fmt) == (fmt.nan_word is None or rule.word(fmt) == word)
    assert UNKNOWN.computed(fmt) == QUIET.computed(fmt)
    assert NanWords("ones", ("f16",)).is_known(INTEGERS["s32"])


@pytest.mark.parametrize("name", SMALL)
def test_which_words_are_nans(name: str) -> None:
    fmt = FORMATS[name]
    words = np.arange(1 << fmt.width, dtype=unsigned(fmt))
    expected = [fmt.is_nan(int(word)) for word in words]
    assert are_nan(fmt, words).tolist() == expected
    for word in (0, fmt.largest_finite_word, fmt.infinity_word, fmt.infinity_word | 1, fmt.nan_word or 1):
        (merged,) = evaluate([with_nans_merged(fmt, const(word, fmt.width))], {})
        assert merged == (fmt.nan_word if fmt.is_nan(word) else word)


def test_bits_that_a_format_ignores_make_no_nan() -> None:
    words = np.array([0x7F800001, 0x7F802000, 0xFFC00000, 0x7F800000], np.uint32)
    assert are_nan(FORMATS["tf32"], words).tolist() == [False, True, True, False]


def test_an_instruction_has_its_own_words() -> None:
    assert knows_nans(row_named("h100").model) and knows_nans(row_named("mi300x").model)
