"""Exported files read back as designs, and compared with their model by a solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.language.terms import Term, expand, operands_first, rebuild, total, umax
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain

#: Formats of one's own, so that proofs are quick.
NARROW = Format(name="s3m1", exponent_bits=3, fraction_bits=1, bias=3)
WIDE = Format(name="s4m3", exponent_bits=4, fraction_bits=3, bias=7)


def small() -> Row:
    row = row_named("volta")
    assert isinstance(row.model, FusedDotAdd)
    changes: dict[str, Any] = {
        "a_format": NARROW,
        "b_format": NARROW,
        "c_format": WIDE,
        "d_format": WIDE,
        "k": 2,
        "n_fma": 2,
    }
    return replace(row, model=row.model.replace(fraction_bits=4, zero_exponent=-20, **changes))


def read(file: Path, model: Model, cycles: int = 0) -> Model:
    """What the file says, as a unit of the model's formats."""
    return read_design(DesignFiles(files=[file], cycles=cycles).like(model)).model


def verdict(one: Model, two: Model) -> object:
    solving = Solving(SolvingOptions("bitwuzla", 120, 4096))
    return compare_models(("one", one), ("two", two), Domain(finite=False), solving).verdict


def same_graph(one: Model, two: Model) -> bool:
    """Whether the models are the same graph but for sums and maxima, which a file has two words at a time."""
    left, right = (_gathered(_with_maxima(root)) for root in expand([one.trace.output, two.trace.output]))
    return left is right


def _with_maxima(root: Term) -> Term:
    """``x < y ? y : x`` as what it is."""

    def step(node: Term, args: Sequence[Term]) -> Term:
        if node.op == "ite" and args[0].op == "ult" and args[0].args == (args[2], args[1]):
            return umax(args[1], args[2])
        return rebuild(node, args) if args else node

    return _rebuilt(root, step)


def _gathered(root: Term) -> Term:
    """Sums of sums, and maxima of maxima, as one each."""
    parts: dict[Term, tuple[Term, ...]] = {}

    def step(node: Term, args: Sequence[Term]) -> Term:
        if node.op not in ("add", "umax"):
            return rebuild(node, args) if args else node
        flat = [part for one in args for part in (parts[one] if one.op == node.op else (one,))]
        flat = [part for part in flat if part.value != 0] or flat[:1]  # neutral in sums and in maxima
        found = total(*flat) if node.op == "add" else umax(*flat)
        parts[found] = found.args if found.op == node.op else (found,)
        return found

    return _rebuilt(root, step)


def _rebuilt(root: Term, step: Callable[[Term, Sequence[Term]], Term]) -> Term:
    new: dict[Term, Term] = {}
    for node in operands_first([root]):
        new[node] = step(node, [new[arg] for arg in node.args])
    return new[root]
