"""Exported files read back as designs, and compared with their model by a solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tcsmt.arithmetic.formats import Format
from tcsmt.catalogue import Row, row_named
from tcsmt.implementations.designs import DesignFiles, read_design
from tcsmt.models import FusedDotAdd, Model
from tcsmt.prove.engine import compare_models
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain

#: Formats of one's own, so that proofs are quick.
NARROW = Format(name="s3m1", exponent_bits=3, fraction_bits=1, bias=3)
WIDE = Format(name="s4m3", exponent_bits=4, fraction_bits=3, bias=7)


def small() -> Row:
    row = row_named("volta")
    assert isinstance(row.model, FusedDotAdd)
    changes = {"a_format": NARROW, "b_format": NARROW, "c_format": WIDE, "d_format": WIDE, "k": 2, "n_fma": 2}
    return replace(row, model=replace(row.model, fraction_bits=4, zero_exponent=-20, **changes))


def read(file: Path, model: Model, cycles: int = 0) -> Model:
    """What the file says, as a unit of the model's formats."""
    return read_design(DesignFiles(files=[file], cycles=cycles).like(model)).model


def verdict(one: Model, two: Model) -> object:
    solving = Solving(Settings("bitwuzla", 120, 4096))
    return compare_models(("one", one), ("two", two), Domain(finite=False), solving).verdict
