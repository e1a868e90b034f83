"""Which of several instructions with the same formats GEMM libraries use, where their arithmetic differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from tcsmt.matrix_units.catalogue.gpus import ARCHITECTURES, contents
from tcsmt.matrix_units.catalogue.row import Row

__all__ = ["by_use", "is_preferred", "of_other_arithmetic"]


def by_use(rows: Iterable[Row]) -> list[Row]:
    """Return the same rows, the instruction that GEMM libraries use first; otherwise in the catalogue's
    order.
    """
    return sorted(rows, key=lambda row: not is_preferred(row))


def is_preferred(row: Row) -> bool:
    """Return whether GEMM libraries use it, and not the architecture's most used instruction, for its
    formats.
    """
    narrow = max(row.model.a_format.width, row.model.b_format.width) < 16
    if not narrow or row.architecture not in ARCHITECTURES:
        return False
    return row.instruction.partition(".")[0] in contents(row.architecture).get("preferred", ())


def of_other_arithmetic(chosen: Row, rows: Sequence[Row]) -> list[Row]:
    """Of an architecture's rows, those with the chosen one's formats whose result can be another, K apart."""

    def formats(row: Row) -> tuple[object, ...]:
        m = row.model
        return m.a_format, m.b_format, m.d_format, m.scale_format

    def same(row: Row) -> bool:
        model, other = chosen.model, row.model
        if type(model) is not type(other):
            return False
        # a sequence has both from its instructions
        names = {each.name for each in fields(other) if each.init} & {"k", "c_format"}
        return model == other.varied(**{name: getattr(model, name) for name in names})

    return [
        row
        for row in rows
        if row.architecture == chosen.architecture and formats(row) == formats(chosen) and not same(row)
    ]
