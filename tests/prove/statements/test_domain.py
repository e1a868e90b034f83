"""Domains: the term that solvers see, and the check that witnesses pass, on all words of small formats."""

from itertools import product

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program, storage
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, IntegerFormat
from tcsmt.matrix_units.models import IeeeDotAdd, IntegerDotAdd, Model
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import covers
from tcsmt.support.errors import TcsmtError
from tests.oracles import integers
from tests.support.domains import DOMAINS, NAMED, TINY


def unit(fmt: Format) -> Model:
    """One product of words of a format, and c in it, too."""
    return IeeeDotAdd.of(
        a_format=fmt, b_format=fmt, c_format=fmt, d_format=FORMATS["f32"], sum_format=FORMATS["f32"], k=1,
        method="sequential",
    )  # fmt: skip


def allowed(domain: Domain, name: str, fmt: Format, word: int) -> bool:
    """The definition, word by word, from the bits of the fields."""
    sign, field, fraction = fmt.fields(word)
    special = fmt.is_nan(word) or fmt.is_infinite(word)
    zero, subnormal = not field and not fraction, not field and fraction
    limited = domain.exponents is not None and not (name == "c" and domain.c_free)
    refused = [
        special and (domain.finite or limited or (domain.bits is not None and name != "c")),
        sign and domain.positive,
        subnormal and (limited or not domain.subnormals),
        name == "c" and domain.c_zero and word,
    ]
    if limited and not (zero or special or subnormal):
        refused.append(not domain.low <= field - fmt.bias <= domain.high)
    if domain.bits is not None and name != "c" and not special:
        dropped = max(0, fmt.fraction_bits + 1 - domain.bits["ab".index(name[0])])
        refused.append(fraction % (1 << dropped))
    return not any(refused)


@pytest.mark.parametrize(
    "fmt",
    [pytest.param(f, id=f.name, marks=[pytest.mark.long] if f.width > 5 else []) for f in (TINY, *NAMED)],
)
def test_all_words(fmt: Format) -> None:
    model = unit(fmt)
    formats = model.input_formats
    words = np.arange(1 << fmt.width)
    zeros = {name: np.zeros(len(words), storage(fmt.width)) for name in formats}
    for domain in DOMAINS:
        program = Program([domain.holds(model.input_formats, model.trace)])
        for name in formats:
            (held,) = program.run(zeros | {name: words.astype(storage(fmt.width))})
            for word in range(1 << fmt.width):
                expected = allowed(domain, name, fmt, word)
                values = dict.fromkeys(formats, 0) | {name: word}
                assert domain.contains(formats, values) == expected, (str(domain), name, word)
                assert held[word] == expected, (str(domain), name, word)


def test_words_and_refusals() -> None:
    assert str(Domain()) == "finite"
    some = Domain(finite=False, positive=True, subnormals=False, c_zero=True)
    assert str(some) == "all words, positive, no subnormals, c = 0"
    assert str(Domain(exponents=(-15, 14), bits=(11, 8), c_zero=True)) == (
        "exponents -15 to 14, a of 11 and b of 8 significand bits, c = 0"
    )
    assert (
        str(Domain(finite=False, exponents=(0, 0), c_free=True)) == "all words, exponents of a and b 0 to 0"
    )
    scales = Domain(exponents=(0, 0)), Domain(finite=False, exponents=(0, 0))
    assert [str(domain) for domain in scales] == ["exponents 0 to 0", "exponents 0 to 0, scales of all words"]
    assert [domain.in_words(("a0", "c")) for domain in scales] == ["exponents 0 to 0"] * 2
    assert [domain.in_words(("a0", "sa0")) for domain in scales] == [
        "exponents 0 to 0, finite scales", "exponents 0 to 0, scales of all words"
    ]  # fmt: skip
    with pytest.raises(TcsmtError, match="exponents 5 to 3: no number"):
        Domain(exponents=(5, 3))
    with pytest.raises(TcsmtError, match="bits 11 0: must be at least 1"):
        Domain(bits=(11, 0))
    with pytest.raises(TcsmtError, match="must be restricted"):
        _ = Domain().low


INT = IntegerFormat(name="int", bits=8, fraction_bits=4)
PLAIN = IntegerFormat(name="plain", bits=8)


@pytest.mark.parametrize("fraction_bits", [0, 2])
@pytest.mark.parametrize("signed", [True, False])
def test_integers(signed: bool, fraction_bits: int) -> None:
    """Every word of a narrow format, on every domain of exponents: the term, the fractions and the oracle."""
    fmt = IntegerFormat(name="some", bits=4, signed=signed, fraction_bits=fraction_bits)
    unit = IntegerDotAdd(a_format=fmt, b_format=fmt, c_format=INT, d_format=INT, k=1)
    ranges = [None, *((low, high) for low in range(-4, 5) for high in range(low, 6))]
    for exponents, positive in product(ranges, (False, True)):
        domain = Domain(exponents=exponents, positive=positive)
        (holds,) = Program([domain.holds(unit.input_formats, unit.trace)]).run(
            {"a0": np.arange(16), "b0": np.zeros(16, int), "c": np.zeros(16, int)}
        )
        for word in range(16):
            expected = integers.inside(domain, fmt, "a0", word)
            values = {"a0": word, "b0": 0, "c": 0}
            assert domain.contains(unit.input_formats, values) == bool(holds[word]) == expected, (
                domain,
                word,
            )


def test_integers_have_no_significand() -> None:
    unit = IntegerDotAdd(a_format=PLAIN, b_format=PLAIN, c_format=PLAIN, d_format=PLAIN, k=1)
    with pytest.raises(TcsmtError, match="a0 is plain, which has no significand"):
        Domain(bits=(4, 4)).holds(unit.input_formats, unit.trace)


def test_a_bias_is_no_word_of_b() -> None:
    """Exponents and significand bits are those of a, b and c; every input is finite or has no sign."""
    f16 = FORMATS["f16"]
    formats: dict[str, Format] = dict.fromkeys(("b0", "bias", "sa[0]"), f16)
    three, large, infinity, minus = 0x4200, 0x7000, 0x7C00, 0xBC00  # 3, 2^13, infinity, -1
    narrow = Domain(exponents=(0, 2), bits=(1, 1))
    for word in (three, large):
        assert [narrow.contains(formats, {name: word}) for name in formats] == [False, True, True]
    assert not any(Domain().contains(formats, {name: infinity}) for name in formats)
    assert not any(Domain(positive=True).contains(formats, {name: minus}) for name in formats)
    assert (
        narrow.in_words(formats) == "exponents 0 to 2, finite bias and sa, a of 1 and b of 1 significand bits"
    )
    assert covers(narrow, Domain(exponents=(1, 1), bits=(1, 1)), {"bias": f16})
    assert covers(Domain(bits=(1, 1)), Domain(), {"bias": f16}) and not covers(
        Domain(bits=(1, 1)), Domain(), {"b0": f16}
    )
