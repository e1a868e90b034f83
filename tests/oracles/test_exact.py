"""The referee's oracle (:mod:`.exact`) against the exact rationals of :mod:`.rationals`, and the models.

``pytest -m long tests/oracles/test_exact.py`` takes about 5 minutes on one core.
"""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, Specials, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, Model
from tcsmt.prove.statements.domain import Domain
from tests.oracles import exact, rationals, recipes, tiny
from tests.support.sampling import one_in

Specified = {
    Specials.IEEE: "ieee",
    Specials.NAN_ONLY: "ocp",
    Specials.NEGATIVE_ZERO_NAN: "fnuz",
    Specials.NONE: "none",
}


# --- integers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [*rationals.NEAREST_MODES, *rationals.DIRECTED_MODES])
def test_rounding(mode: str) -> None:
    """Every word of 6 bits and every shift, and words too long for int64."""
    for word in (*range(-32, 33), *(sign * ((1 << 80) + d) for sign in (1, -1) for d in range(-2, 3))):
        for drop in (0, 1, 2, 3, 7, 79, 80, 81, 90):
            held: Any = np.array([word], dtype=np.int64 if abs(word) < 64 else object)
            expected = rationals.round_to_integer(rationals.Fraction(word, 1 << drop), mode)
            assert exact.rounded(held, np.array([drop]), mode)[0] == expected


def test_sums_that_int64_cannot_hold() -> None:
    one = np.array([3, -5, 0], dtype=np.int64)
    terms = [exact.Fixed(one, np.array([200, 40, 7])), exact.Fixed(one, np.array([-3, 41, -999]))]
    whole = exact.total(terms)
    values = [
        rationals.power_of_two(int(lsb)) * int(word) for word, lsb in zip(whole.word, whole.lsb, strict=True)
    ]
    assert values == [3 * (rationals.power_of_two(200) + rationals.power_of_two(-3)), -15 * 2**40, 0]


# --- against rationals -------------------------------------------------------------------------------


def rational(fmt: Format) -> bool:
    """Whether :mod:`.rationals` can describe such a format."""
    return fmt.signed and not fmt.ignored_high_bits and fmt.fraction_bits > 0


#: Parameters that :mod:`.rationals` does not know, and their values without effect.
NEWER: dict[str, Any] = {
    "alignment_complement": False, "group_fraction_bits": None, "zero_c": "zero_exponent",
    "c_exponent_offset": 0, "c_dropped_above": None, "rounded_format": None, "flush_c": False,
    "tininess": "result", "subnormal_results": "rounded",
}  # fmt: skip
FUNCTIONS: dict[type[Model], tuple[Any, Any]] = {
    FusedDotAdd: (rationals.fda, rationals.FDA),
    DotThenAdd: (rationals.fdrda, rationals.FDRDA),
    GroupedDotAdd: (rationals.gda, rationals.GDA),
    IeeeDotAdd: (rationals.ieee_dot, rationals.IEEE),
}


def reference(model: Model) -> tuple[Any, Any]:
    """The function of :mod:`.rationals` and its parameters."""
    formats = {name: getattr(model, name).name for name in ("a_format", "b_format", "c_format", "d_format")}
    d = exact.Format.of(model.d_format)
    quiet = d.quiet_nan if d.specials == "IEEE" else 0
    nan = exact.CANONICAL.get(model.d_format.name, quiet) if model.kind == "fused-dot-add" else quiet
    given: dict[str, Any] = {**formats, "k": model.k, "nan": getattr(model.parameters, "nan", None)}
    given["nan"] = nan if given["nan"] is None else given["nan"].otherwise
    function, kind = FUNCTIONS[type(model)]
    given = {name: value for name, value in given.items() if name in kind.__dataclass_fields__}
    for name in kind.__dataclass_fields__:
        if name not in given:
            value = getattr(model.parameters, name)
            given[name] = value.name if hasattr(value, "name") else value
    if isinstance(model, FusedDotAdd) and model.parameters.alignment_sticky:
        given["alignment"] = "sticky"
    return function, kind(**given)


def formats_of(model: Model) -> list[Format]:
    values = [getattr(model.parameters, f.name) for f in fields(model.table())]
    return [value for value in values if isinstance(value, Format)]


@pytest.mark.parametrize("count", [10, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_against_rationals(kind: type[Model], count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, done = Random(f"rationals {kind.kind}"), 0
    while done < count:
        model = tiny.some_model(rng, kind)
        if not all(map(rational, formats_of(model))):
            continue
        if isinstance(model, FusedDotAdd) and model.scale_format and model.parameters.carry_bits is not None:
            continue  # the register is one bit wider for each bit of the scales
        if isinstance(model, FusedDotAdd) and any(
            getattr(model.parameters, name) != off for name, off in NEWER.items()
        ):
            continue
        if getattr(model.parameters, "nan", None) is not None and model.parameters.nan.cases:
            continue
        for fmt in formats_of(model):
            if fmt.name not in FORMATS:
                shape = (fmt.name, fmt.exponent_bits, fmt.fraction_bits, fmt.bias, Specified[fmt.specials])
                own = rationals.Format(*shape, padding=fmt.ignored_low_bits)  # type: ignore[arg-type]
                monkeypatch.setitem(rationals.FORMATS, fmt.name, own)
        function, parameters = reference(model)
        k, scales, rows = model.k, model.scales, 40
        columns = {
            name: np.array([rng.randrange(1 << fmt.width) for _ in range(rows)])
            for name, fmt in model.input_formats.items()
        }
        found = exact.results(model, columns)
        order = list(getattr(model.parameters, "order", None) or range(k))
        for row in range(rows):
            words = [int(column[row]) for column in columns.values()]
            a, b = ([side[lane] for lane in order] for side in (words[:k], words[k : 2 * k]))
            more = (words[2 * k + 1 : 2 * k + 1 + scales], words[2 * k + 1 + scales :])
            expected = function(parameters, a, b, words[2 * k], *(more if scales else ()))
            assert found[row] == expected, (model, words)
        done += 1


# --- the models, on all inputs -----------------------------------------------------------------------


def hold(seed: int, most: int) -> int:
    """A model on all its inputs, or on ``most`` of them where there are more; how many were tried."""
    rng = Random(f"model {seed}")
    model = tiny.some_model(rng)
    formats = {name: float_format(fmt) for name, fmt in model.input_formats.items()}
    everything = tiny.Everything.of(formats, Domain(finite=False, c_zero=model.c_format.width > 20))
    chunks: Any = everything if everything.count <= most else [everything.some(rng, most)]
    program, tried = Program([model.trace.output]), 0
    for columns in chunks:
        held = {name: words.astype(storage(formats[name].width)) for name, words in columns.items()}
        given, expected = program.run(held)[0].astype(np.int64), exact.results(model, columns)
        wrong = np.flatnonzero(given != expected)
        if wrong.size:
            row = {name: hex(words[wrong[0]]) for name, words in columns.items()}
            words = f"{given[wrong[0]]:#x}, the oracle says {expected[wrong[0]]:#x}"
            raise AssertionError(f"seed {seed}: {model} on {row}: {words}")
        tried += len(given)
    return tried


@pytest.mark.parametrize("count", [15, pytest.param(70, marks=pytest.mark.long)])
def test_models_on_all_inputs(count: int) -> None:
    assert sum(hold(seed, 1 << 12) for seed in range(count)) > 2000 * count


@pytest.mark.long
def test_many_models_on_all_inputs() -> None:
    assert sum(hold(seed, 1 << 18) for seed in range(1000, 2500)) > 100_000_000


# --- conversions -------------------------------------------------------------------------------------


def finite_words(fmt: Format) -> np.ndarray[Any, np.dtype[np.int64]]:
    words = np.arange(1 << fmt.width, dtype=np.int64)
    x = exact.Format.of(fmt).decode(words)
    return words[~x.nan & ~x.inf]


@pytest.mark.parametrize("specials", Specials)
def test_conversions(specials: Specials) -> None:
    """Every finite word of a format in every rounding, to formats with all special values."""
    rng = Random(f"conversions {specials.name}")
    for _ in range(6):
        wide, narrow = tiny.some_format(rng, infinities=True, wide=True), tiny.some_format(rng)
        narrow = tiny.described(**{**tiny.parts(narrow), "specials": specials, "ignored_high_bits": 0})
        words, x = finite_words(wide), decode(wide, var("x", wide.width))
        program = Program([ieee.convert(x, narrow, mode) for mode in ROUNDINGS.values()])
        found = program.run({"x": words.astype(storage(wide.width))})
        numbers = exact.Format.of(wide).decode(words)
        for mode, given in zip(ROUNDINGS, found, strict=True):
            expected = recipes.rounded(exact.Format.of(narrow), mode, numbers)
            assert np.array_equal(given.astype(np.int64), expected), (wide.name, narrow.name, mode)


def test_widening() -> None:
    """Every finite word, to formats that hold it, whatever their biases."""
    rng, done = Random("widening"), 0
    while done < 80:
        wide, narrow = tiny.some_format(rng, infinities=True, wide=True), tiny.some_format(rng)
        if rng.random() < 0.3:  # alike but for the fraction, where words are padded
            narrow = tiny.described(
                **tiny.parts(wide) | {"fraction_bits": rng.randint(1, wide.fraction_bits)}
            )
        if rng.random() < 0.3:
            wide = tiny.described(**tiny.parts(wide) | {"specials": Specials.NONE})
            narrow = tiny.described(**tiny.parts(narrow) | {"specials": rng.choice(list(Specials))})
        words = finite_words(narrow)
        numbers, target = exact.Format.of(narrow).decode(words), exact.Format.of(wide)
        expected = recipes.rounded(target, "RNE", numbers)
        there = target.decode(expected)
        lost = exact.total([numbers.fixed, exact.Fixed(-there.fixed.word, there.lsb)])
        if there.inf.any() or lost.word.any():
            continue
        program = Program([ieee.widen(var("x", narrow.width), narrow, wide)])
        (found,) = program.run({"x": words.astype(storage(narrow.width))})
        assert np.array_equal(found.astype(np.int64), expected), (narrow.name, wide.name)
        done += 1


# --- domains -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exponents", one_in(2, [None, (-3, 2), (-300, -200), (100, 200), (15, 16), (-300, 300)])
)
@pytest.mark.parametrize("finite", [True, False])
def test_domains(finite: bool, exponents: tuple[int, int] | None) -> None:
    """Every word of a and of c, the others 0; exponents that no number has are no number's."""
    for fmt in (fmt for fmt in FORMATS.values() if fmt.width <= 16 and fmt.signed):
        model = FusedDotAdd.of(
            a_format=fmt, b_format=fmt, c_format=fmt, d_format=FORMATS["f32"], k=1, n_fma=1, fraction_bits=8,
            zero_exponent=None, rounding=ROUNDINGS["RTZ"],
        )  # fmt: skip
        for positive, subnormals, c_zero in (
            (False, True, False),
            (True, False, False),
            (False, False, True),
        ):
            domain = Domain(
                finite=finite, exponents=exponents, positive=positive, subnormals=subnormals, c_zero=c_zero
            )
            program = Program([domain.holds(model.input_formats, model.trace)])
            words = np.arange(1 << fmt.width)
            zeros = dict.fromkeys(("a0", "b0", "c"), np.zeros(len(words), storage(fmt.width)))
            for name in ("a0", "c"):
                held = program.run(zeros | {name: words.astype(storage(fmt.width))})[0].astype(bool)
                assert np.array_equal(held, exact.inside(domain, fmt, name, words)), (fmt.name, name, domain)
