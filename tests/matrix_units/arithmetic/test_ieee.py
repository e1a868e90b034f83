"""IEEE operations, proved equal to SMT-LIB's floating-point theory."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, Specials
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.properties.scripts import OPERATIONS, _small, ieee_script
from tests.oracles import tiny
from tests.support import solving_here
from tests.support.sampling import mostly_long, one_in

MODES = ("RNE", "RNA", "RTZ", "RTP", "RTN")
ARITHMETIC = ("add", "multiply", "fma")


def small(name: str) -> Format:
    """A format of the catalogue, or ``e3p4``: 3 exponent bits, precision 4."""
    if name in FORMATS:
        return FORMATS[name]
    return _small(*map(int, name[1:].split("p")))


def solver_for(source: Format, target: Format) -> str:
    """Bitwuzla but for what :func:`test_bitwuzla_converts_wrongly` is about."""
    exponents = target.exponent_bits - source.exponent_bits
    return "z3" if exponents * (target.precision - source.precision) < 0 else "bitwuzla"


def ask(text: str, solver: str = "bitwuzla", timeout: float = 60) -> Answer:
    """The answer, which must be one."""
    run = solving_here.solve if solver == "bitwuzla" else solve
    answer = run(text, SolvingOptions(solver, timeout))
    assert answer.answer != "unknown", answer.reason
    return answer


@pytest.mark.parametrize("mode", one_in(2, MODES))
@pytest.mark.parametrize("name", mostly_long(["e3p3", "e2p5", "e5m2"], ["e3p3"]))
@pytest.mark.parametrize("operation", ["add", "multiply"])
def test_small_formats(operation: str, name: str, mode: str) -> None:
    assert ask(ieee_script(operation, small(name), mode)).answer == "unsat"


@pytest.mark.slow
@pytest.mark.parametrize("mode", mostly_long(MODES, ["RNE"]))
@pytest.mark.parametrize("name", ["e3p3", pytest.param("e2p4", marks=pytest.mark.long)])
def test_small_fma(name: str, mode: str) -> None:
    assert ask(ieee_script("fma", small(name), mode)).answer == "unsat"


CONVERTED = ("e3p3", "e4p4", "e2p5", "e5p3")


#: Each mode with a quarter of the pairs; all of them with all by ``-m long``.
SMALL_CONVERSIONS = [
    pytest.param(source, target, mode, marks=() if (place + turn) % 4 == 0 else pytest.mark.long)
    for place, (source, target) in enumerate(product(CONVERTED, CONVERTED))
    for turn, mode in enumerate(MODES)
]


@pytest.mark.parametrize(("source", "target", "mode"), SMALL_CONVERSIONS)
def test_small_conversions(source: str, target: str, mode: str) -> None:
    """Every direction: overflow, subnormal results, subnormal operands that become normal."""
    formats = small(source), small(target)
    script = ieee_script("convert", formats[0], mode, formats[1])
    assert ask(script, solver_for(*formats)).answer == "unsat"


@pytest.mark.parametrize("mode", mostly_long(MODES, MODES[:2]))
@pytest.mark.parametrize(
    ("source", "target"),
    [("f32", "f16"), ("f16", "f32"), ("f32", "bf16"), ("bf16", "f32"), ("f16", "e5m2"), ("f16", "bf16")],
)
def test_conversions(source: str, target: str, mode: str) -> None:
    formats = small(source), small(target)
    script = ieee_script("convert", formats[0], mode, formats[1])
    assert ask(script, solver_for(*formats)).answer == "unsat"


#: Seconds that Bitwuzla 0.9.1 takes, with nothing else running, for RNE.
LONG = {
    ("add", "bf16"): 5, ("add", "f16"): 13, ("add", "f32"): 160,
    ("multiply", "bf16"): 10, ("multiply", "f16"): 500,
    # fma of FP16 finishes in no solver in 10 minutes: the widest exponents and precisions that do
    ("fma", "e4p4"): 5, ("fma", "e2p5"): 5, ("fma", "e5p7"): 47, ("fma", "e3p8"): 93, ("fma", "e4p8"): 102,
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("operation", "name", "mode"),
    [(*what, mode) for what, seconds in LONG.items() for mode in (MODES if seconds < 60 else MODES[:1])],
)
def test_wide_formats(operation: str, name: str, mode: str) -> None:
    assert ask(ieee_script(operation, small(name), mode), timeout=1800).answer == "unsat"


@pytest.mark.slow
@pytest.mark.parametrize("operation", mostly_long(OPERATIONS, ["add"]))
def test_another_rounding_mode_is_found(operation: str) -> None:
    """The scripts can be satisfied: with our RNE against another mode of the theory."""
    head, _, tail = ieee_script(operation, small("e3p4"), "RNE").rpartition(" RNE ")
    for mode in ("RNA", "RTZ", "RTP", "RTN"):
        assert ask(f"{head} {mode} {tail}", "z3").answer == "sat", mode


@pytest.mark.parametrize(("source", "target"), [("e4p4", "e5p3"), ("e4p4", "e3p7")])
def test_bitwuzla_converts_wrongly(source: str, target: str) -> None:
    """Bitwuzla 0.9.1, to more exponent and fewer significand bits or the reverse: wrong models.

    Z3 proves the script, and both refute Bitwuzla's model put back as a constant.
    """
    formats = small(source), small(target)
    assert solver_for(*formats) == "z3"
    script = ieee_script("convert", formats[0], "RNE", formats[1])
    assert ask(script, "z3").answer == "unsat"
    answer = ask(script, "bitwuzla")
    if answer.answer == "unsat":
        pytest.skip(f"Bitwuzla {answer.version} has it right")
    fixed = f"(assert (= x #b{answer.values['x']:0{formats[0].width}b}))\n(check-sat)"
    refuted = script.replace("(check-sat)", fixed)
    assert {ask(refuted, solver).answer for solver in ("bitwuzla", "z3")} == {"unsat"}


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "f16"])
def test_numbers_without_a_sign_are_widened(name: str) -> None:
    """To formats with the same exponents, and with more."""
    signed = FORMATS[name]
    unsigned = replace(signed, signed=False)
    word = var("x", unsigned.width)
    for wide in (signed, FORMATS["f32"]):
        term = widen(word, unsigned, wide)
        for given in range(0, 1 << unsigned.width, 1 if unsigned.width < 9 else 37):
            (found,) = evaluate([term], {"x": given})
            if unsigned.is_nan(given):
                assert wide.is_nan(found)
            elif unsigned.is_infinite(given):
                assert found == wide.infinity_word
            else:
                assert not wide.is_infinite(found) and wide.value(found) == unsigned.value(given)


@pytest.mark.parametrize("specials", Specials)
@pytest.mark.parametrize(
    ("exponent_bits", "fraction_bits", "bias"), [(2, 0, 2), (3, 0, 3), (1, 2, 2), (3, 2, 2)]
)
def test_short_formats_are_widened(
    exponent_bits: int, fraction_bits: int, bias: int, specials: Specials
) -> None:
    """Every word, of formats without fraction bits, too, to one with the usual bias and to binary32."""
    if specials is Specials.IEEE and not fraction_bits:
        pytest.skip("no word is left for a NaN")
    try:
        narrow = tiny.described(
            exponent_bits=exponent_bits, fraction_bits=fraction_bits, bias=bias, specials=specials
        )
    except TcsmtError:
        pytest.skip("not a format")
    word = var("x", narrow.width)
    for wide in (tiny.described(exponent_bits=5, fraction_bits=3, bias=15), FORMATS["f32"]):
        term = widen(word, narrow, wide)
        for given in range(1 << narrow.width):
            (found,) = evaluate([term], {"x": given})
            if narrow.is_nan(given):
                assert wide.is_nan(found)
            elif narrow.is_infinite(given):
                assert wide.is_infinite(found)
            else:
                assert wide.value(found) == narrow.value(given)
