"""Units that are no instruction of the catalogue: the chains of IEEE operations that compilers write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.support.errors import UnknownName

#: What their names begin with.
ARCHITECTURE = "ieee"


def _row(name: str, operand: Format, result: Format, *, rounded: bool) -> Row:
    model = IeeeDotAdd.of(
        a_format=operand, b_format=operand, c_format=result, d_format=result, sum_format=result, k=1,
        method="sequential" if rounded else "fma", product_format=result if rounded else None,
    )  # fmt: skip
    what = "a product rounded, then added" if rounded else "a fused multiply-add"
    return Row(
        architecture=ARCHITECTURE, instruction=name, model=model, source="IEEE 754-2019, section 5.4.1",
        date=2019, evidence="published", note=what, nans_outside=QUIET,
    )  # fmt: skip


@cache
def ieee_rows() -> tuple[Row, ...]:
    """``ieee/fma.f32``, ``ieee/mul-add.f32`` and so on: one multiply-add, NaNs as IEEE 754 prefers.

    ``ieee/fma.f32.bf16`` takes BF16 operands into binary32 (their products are exact there).
    """
    formats = [FORMATS[name] for name in ("f32", "f64")]
    rows = [
        _row(f"{name}.{fmt.name}", fmt, fmt, rounded=rounded)
        for fmt in formats
        for name, rounded in (("fma", False), ("mul-add", True))
    ]
    narrow = [FORMATS[name] for name in ("f16", "bf16", "tf32", "e4m3", "e5m2")]
    return (*rows, *(_row(f"fma.f32.{fmt.name}", fmt, formats[0], rounded=False) for fmt in narrow))


def ieee_unit(name: str) -> Row:
    """Return the row of that name. Raises :class:`.UnknownName`."""
    by_name = {row.name: row for row in ieee_rows()}
    if name not in by_name:
        raise UnknownName("unit", name, by_name)
    return by_name[name]


def units_for(a: AnyFormat, b: AnyFormat) -> list[Sequence[Row]]:
    """Units that take such operands, those of IEEE operations first; each with others of the same function.

    Units with block scales are left out.
    """
    every = (*ieee_rows(), *rows(claims=False))
    return of_one_function(
        row
        for row in every
        if (row.model.a_format, row.model.b_format) == (a, b) and row.model.scale_format is None
    )


def of_one_function(rows: Iterable[Row]) -> list[Sequence[Row]]:
    """Return the same rows, those of one function together."""
    classes: dict[str, list[Row]] = {}
    for row in rows:
        classes.setdefault(row.model.digest, []).append(row)
    return list(classes.values())
