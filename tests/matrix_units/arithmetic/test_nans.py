"""Rules for the word of a NaN: their text, refusals and words (in models: the referee's oracle)."""

from __future__ import annotations

import struct

import pytest

from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.nans import NanCase, NanRule, Operand, quieted
from tcsmt.support.errors import TcsmtError

F16, BF16, F32, E4M3 = (FORMATS[name] for name in ("f16", "bf16", "f32", "e4m3"))

RDNA = "factors: 0xffc00a3d, products: 0xffc00000, c, 0xffc00000"
FMLAL = "signalling c, signalling a, signalling b, products: 0x7fc00000, c, a, b, 0x7fc00000"


@pytest.mark.parametrize("text", [RDNA, FMLAL])
def test_rules_read_back_from_their_text(text: str) -> None:
    assert NanRule.named(text).name == text
    assert NanRule.named(text.replace(" ", "").replace("signalling", "signalling ")).name == text


def test_one_word_is_a_number() -> None:
    assert NanRule.named("0x7FC00000") == NanRule((), 0x7FC00000)
    assert NanRule((), 0x7FC00000).name == 0x7FC00000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("factor: 0x7fc00000, 0x7fc00000", "NaN case 'factor': did you mean factors"),
        ("c", "NaN word 'c': must be hexadecimal, such as 0x7fc00000; a rule ends in a word"),
        ("c: nan, 0x7fc00000", "NaN word 'nan': must be hexadecimal"),
        ("products, 0x7fc00000", "NaN case 'products': must be products: and a word"),
        ("signalling products: 0x7fc00000, 0x7fc00000", "must be products: and a word"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        NanRule.named(text)


def test_objections() -> None:
    rule = NanRule.named(RDNA)
    assert rule.objection(F16, F16, F32, F32) == ""
    assert "is not a NaN of f16" in rule.objection(F16, F16, F32, F16)
    assert "e4m3 has no NaNs with a payload" in NanRule.named("a, 0x7fc00000").objection(E4M3, F16, F32, F32)


def test_payloads_are_kept_where_they_fit() -> None:
    """As hardware converts a NaN: the upper bits of the payload, and the quiet bit set."""

    def quiet(fmt: str, word: int, wide: str) -> int:
        given = FORMATS[fmt]
        x = Operand(given, const(word, given.width), decode(given, const(word, given.width)))
        return quieted(x, FORMATS[wide]).value or 0

    assert quiet("bf16", 0xFF81, "f32") == 0xFFC10000
    assert quiet("f16", 0x7C01, "f32") == 0x7FC02000
    assert quiet("f32", 0x7F812345, "bf16") == 0x7FC1
    assert quiet("f32", 0x7FC00001, "f32") == 0x7FC00001
    # the conversion of a quiet NaN to binary64 and back keeps every bit of it
    assert quiet("f32", 0x7FA12345, "f64") == struct.unpack("<Q", struct.pack("<d", _double(0x7FE12345)))[0]


def _double(word: int) -> float:
    (value,) = struct.unpack("<f", struct.pack("<I", word))
    return float(value)


def test_the_first_case_that_holds_gives_the_nan() -> None:
    signalling, quiet_c, plain = 0x7F81, 0x7FC00005, 0x3F80

    def word(rule: str, a: int, b: int, c: int) -> int:
        def one(fmt: str, given: int) -> Operand:
            own = FORMATS[fmt]
            return Operand(own, const(given, own.width), decode(own, const(given, own.width)))

        term = NanRule.named(rule).result(F32, [(one("bf16", a), one("bf16", b))], one("f32", c))
        assert term.value is not None
        return term.value

    assert word("a, b, c, 0xffc00000", plain, signalling, quiet_c) == 0x7FC10000
    assert word("c, a, b, 0xffc00000", plain, signalling, quiet_c) == quiet_c
    assert word("signalling c, signalling b, c, 0xffc00000", plain, signalling, quiet_c) == 0x7FC10000
    assert word("c, 0xffc00000", 0x7F80, 0x0000, 0x3F800000) == 0xFFC00000
    assert word(FMLAL, 0x7F80, 0x0000, quiet_c) == 0x7FC00000
    assert word(FMLAL, 0x7F80, 0x0000, 0x7F800001) == 0x7FC00001


def test_cases_and_rules_print_as_they_are_written() -> None:
    assert str(NanCase("c", None, signalling=True)) == "signalling c"
    assert str(NanCase("factors", 0xFFC00A3D)) == "factors: 0xffc00a3d"
