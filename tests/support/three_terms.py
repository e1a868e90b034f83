"""A design of a0*b0 + a1*b1 + c in small formats, mutants of it, and what it should compute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.rounding import ROUNDINGS
from tcsmt.implementations.designs import DesignFiles, read_design
from tcsmt.models import Circuit, IeeeDotAdd, Operands
from tcsmt.simulator.rows import run_words
from tests.oracles import exact
from tests.support.paths import ROOT

#: Formats of the factors, and of the addend and the result.
NARROW = Format(name="s2m1", exponent_bits=2, fraction_bits=1, bias=1)
WIDE = Format(name="s5m4", exponent_bits=5, fraction_bits=4, bias=15)
#: The exact sum, rounded once, ties away from zero.
EXACT = IeeeDotAdd(
    a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=2, method="exact", sum_format=WIDE,
    rounding=ROUNDINGS["RNA"],
)  # fmt: skip
NAMES = ("a0", "b0", "a1", "b1", "c")
Columns = dict[str, exact.Array]


def design(mutant: int = 0, rare: Mapping[str, int] | None = None, bit: int = 0) -> Circuit:
    """The design. mutant: 0 is EXACT; 1 adds terms in another order for some inputs, which changes nothing; 2
    to 4 are wrong for some inputs. rare: an input at which this bit of the result is wrong.
    """
    parameters = {"MUTANT": str(mutant), "WRONG": str(bit)}
    if rare is not None:
        parameters["RARE"] = str(number(rare))
    files = DesignFiles(
        files=[ROOT / "tests" / "support" / "three_terms.sv"], top="three_terms", parameters=parameters,
        formats={"a": NARROW, "b": NARROW, "c": WIDE, "d": WIDE}, ports=[f"{n}={n}" for n in NAMES[:4]],
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
    return words[fields != (1 << fmt.exponent_bits) - 1]


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
