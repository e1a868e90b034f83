"""Verdicts on units for integers: against all inputs of tiny ones, and on the catalogue's."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.prove.certificates.description import described as describe
from tcsmt.prove.engine.engine import Decision, compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.support.errors import Malformed
from tests.oracles import integers
from tests.support.certificates import flaws
from tests.support.sampling import one_in

ALL = Domain(finite=False)


def compared(left: str, right: str, domain: Domain = ALL) -> Decision:
    one, two = ((name, row_named(name).model) for name in (left, right))
    return compare_models(one, two, domain, Solving())


def drawn(rng: Random) -> IntegerDotAdd:
    def fmt(bits: int) -> IntegerFormat:
        signed = rng.random() < 0.6
        return IntegerFormat(name=f"{'s' if signed else 'u'}{bits}", bits=bits, signed=signed)

    d = fmt(rng.choice((2, 3, 4, 5)))
    return IntegerDotAdd(
        a_format=fmt(rng.choice((2, 3))), b_format=fmt(2), c_format=d, d_format=d, k=2,
        n_fma=rng.choice((None, 1)), overflow=rng.choice(("wrap", "saturate")),
    )  # fmt: skip


def inputs(model: IntegerDotAdd, domain: Domain) -> Iterator[dict[str, int]]:
    """Every input in a domain."""
    names = model.input_formats
    every = [
        [word for word in integers.words(fmt) if integers.inside(domain, fmt, name, word)]
        for name, fmt in names.items()
    ]
    for row in itertools.product(*every):
        yield dict(zip(names, row, strict=True))


@pytest.mark.parametrize("seed", one_in(6, range(24)))
def test_verdicts_on_tiny_units(seed: int) -> None:
    """A proof where no input of the domain tells them apart, else a witness that does."""
    rng = Random(seed)
    left = drawn(rng)
    right = left.replace(overflow=rng.choice(("wrap", "saturate")), n_fma=rng.choice((None, 1)))
    low = rng.randint(0, 2)
    exponents = rng.choice((None, (0, rng.randint(0, 3)), (low, low + rng.randint(0, 2))))
    domain = Domain(
        finite=False, positive=rng.random() < 0.3, c_zero=rng.random() < 0.3, exponents=exponents,
        c_free=exponents is not None and rng.random() < 0.3,
    )  # fmt: skip
    apart = [
        given
        for given in inputs(left, domain)
        if integers.result(left, given) != integers.result(right, given)
    ]
    found = compare_models(("left", left), ("right", right), domain, Solving())
    if apart:
        assert isinstance(found.verdict, Distinguished), (left, right, domain)
        assert dict(found.verdict.values) in apart
    else:
        assert isinstance(found.verdict, Equivalent), (left, right, domain)


def test_an_overflow_tells_wrapping_from_saturating() -> None:
    found = compared("x86/vpdpbusd", "x86/vpdpbusds")
    assert isinstance(found.verdict, Distinguished)
    values = dict(found.verdict.values)
    one, two = (integers.result(row_named(name).model, values) for name in ("x86/vpdpbusd", "x86/vpdpbusds"))
    assert one != two
    assert two in (0x7FFFFFFF, 0x80000000)
    assert sum(word != 0 for word in values.values()) == 3  # one product, and c


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ampere/mma.m16n8k32.s32.s8.s8.s32", "hopper/wgmma.m64nNk32.s32.s8.s8"),
        ("ampere/mma.m16n8k32.s32.s8.s8.s32", "ampere/mma.m16n8k16.s32.s8.s8.s32"),
        ("ada/mma.m16n8k64.s32.s4.u4.s32", "turing/mma.m8n8k32.s32.s4.u4.s32"),
        ("cdna3/v_mfma_i32_16x16x32_i8", "cdna1/v_mfma_i32_16x16x4i8"),
        ("x86/vpdpbusd", "ampere/mma.m16n8k16.s32.u8.s8.s32"),
        ("x86/vpdpwssd", "ampere/mma.m16n8k16.s32.u8.s8.s32"),
    ],
)
def test_sums_that_wrap_are_the_same_whatever_the_blocks(left: str, right: str) -> None:
    """On all words, chained to the same K; narrower operands are extended."""
    assert isinstance(compared(left, right).verdict, Equivalent)


@pytest.mark.parametrize("domain", [replace(ALL, c_zero=True), replace(ALL, exponents=(0, 29))], ids=str)
@pytest.mark.slow_cases("all words, c = 0")
def test_no_overflow_no_difference(domain: Domain, tmp_path: Path) -> None:
    """Four products and a small c cannot overflow: proved, and the certificate checks."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    left, right = ((name, row_named(name).model) for name in ("x86/vpdpbusd", "x86/vpdpbusds"))
    solving = Solving(SolvingOptions(certificate=tmp_path))
    found = compare_models(left, right, domain, solving)
    assert isinstance(found.verdict, Equivalent)
    assert flaws(tmp_path) == [""]  # of one statement, none


@pytest.mark.slow
def test_a_certificate_holds_formats_of_ones_own(tmp_path: Path) -> None:
    """Fixed-point words of no known format: a statement takes its formats from the models' files."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    q3, q6 = (IntegerFormat(name=f"q{n}", bits=2 * n, fraction_bits=n) for n in (3, 6))
    wrap = IntegerDotAdd(a_format=q3, b_format=q3, c_format=q6, d_format=q6, k=2)
    saturate = wrap.replace(overflow="saturate")
    solving = Solving(SolvingOptions(certificate=tmp_path))
    found = compare_models(("wrap", wrap), ("saturate", saturate), Domain(exponents=(-3, 0)), solving)
    assert isinstance(found.verdict, Equivalent)
    assert flaws(tmp_path) == [""]
    (path,) = (tmp_path / "statements").iterdir()
    assert "formats" not in json.loads(path.read_text())["statement"]
    (described,) = describe(tmp_path)
    assert described.stated.inputs == "a0, a1, b0, b1: q3; c: q6"
    assert [text for text in described.stated.formats if text.startswith("q3")]
    for model in (tmp_path / "models").iterdir():
        text = model.read_text()
        assert "bits = 6" in text
        model.write_text(text.replace("bits = 6", "bits = 5"))
    with pytest.raises(Malformed, match="its content"):
        flaws(tmp_path)
