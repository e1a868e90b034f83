"""A design of a0*b0 + a1*b1 + c in small formats, mutants of it, and what it should compute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import IeeeDotAdd, Operands
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.simulate.rows import run_words
from tests.oracles import exact
from tests.support.paths import ROOT


def narrow_and_wide(exponent: int, fraction: int, c_exponent: int, c_fraction: int) -> tuple[Format, Format]:
    """Formats of the factors, and of the addend and the result."""
    made = (
        Format(name=f"s{e}m{f}", exponent_bits=e, fraction_bits=f, bias=(1 << e - 1) - 1)
        for e, f in ((exponent, fraction), (c_exponent, c_fraction))
    )
    return next(made), next(made)


def exact_sum(narrow: Format, wide: Format) -> IeeeDotAdd:
    """The exact sum, rounded once, ties away from zero."""
    return IeeeDotAdd.of(
        a_format=narrow, b_format=narrow, c_format=wide, d_format=wide, k=2, method="exact", sum_format=wide,
        rounding=ROUNDINGS["RNA"],
    )  # fmt: skip


NARROW, WIDE = FORMATS = narrow_and_wide(2, 1, 5, 4)
EXACT = exact_sum(NARROW, WIDE)
NAMES = ("a0", "b0", "a1", "b1", "c")
Columns = dict[str, exact.Array]


def design(
    mutant: int = 0,
    rare: Mapping[str, int] | None = None,
    bit: int = 0,
    formats: tuple[Format, Format] = FORMATS,
) -> Circuit:
    """The design. rare: an input at which this bit of the result is wrong.

    mutant: 0 is the exact sum, rounded once, in formats for which its windows are wide enough; 1 adds some
    terms in another order, which changes nothing; 2 to 4 are wrong for some inputs.
    """
    narrow, wide = formats
    parameters = {
        "EXPONENT": narrow.exponent_bits, "FRACTION": narrow.fraction_bits,
        "C_EXPONENT": wide.exponent_bits, "C_FRACTION": wide.fraction_bits,
        "MUTANT": mutant, "WRONG": bit,
    }  # fmt: skip
    if rare is not None:
        parameters["RARE"] = number(rare)
    files = DesignFiles(
        files=[ROOT / "tests" / "support" / "three_terms.sv"], top="three_terms",
        parameters={name: str(value) for name, value in parameters.items()},
        formats={"a": narrow, "b": narrow, "c": wide, "d": wide}, ports=[f"{n}={n}" for n in NAMES[:4]],
    )  # fmt: skip
    model = read_design(files).model
    assert isinstance(model, Circuit)
    return model


def number(row: Mapping[str, int]) -> int:
    """The words of a row, one behind the other."""
    found = 0
    for name in NAMES:
        found = found << (WIDE if name == "c" else NARROW).width | row[name]
    return found


def finite(fmt: Format) -> exact.Array:
    """The words of finite numbers."""
    words = np.arange(1 << fmt.width)
    fields = words >> fmt.fraction_bits & ((1 << fmt.exponent_bits) - 1)
    found: exact.Array = words[fields != (1 << fmt.exponent_bits) - 1]
    return found


def rows(step: int = 1, start: int = 0) -> Columns:
    """Every finite input, or each one of so many."""
    words = [finite(WIDE if name == "c" else NARROW) for name in NAMES]
    places = np.unravel_index(
        np.arange(start, np.prod([len(w) for w in words]), step), [len(w) for w in words]
    )
    return {name: w[at] for name, w, at in zip(NAMES, words, places, strict=True)}


def results(model: Circuit, given: Columns) -> exact.Array:
    """The words of D."""
    a = np.stack([given["a0"], given["a1"]], 1).astype(np.uint8)
    b = np.stack([given["b0"], given["b1"]], 1).astype(np.uint8)
    return run_words(model, Operands(a, b, given["c"].astype(np.uint16))).astype(np.int64)


def wrong(model: Circuit, given: Columns) -> int:
    """How many results are not the exact sum, rounded once, as exact integers have it."""
    return int((results(model, given) != exact.results(EXACT, given)).sum())
