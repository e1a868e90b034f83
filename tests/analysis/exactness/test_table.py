"""The table of exact domains: what is committed is what the page shows."""

from __future__ import annotations

import ast

from tcsmt.analysis.exactness.table import SOURCES, families, slice_bits, table
from tcsmt.matrix_units.arithmetic.formats import FORMATS, integers_from
from tcsmt.matrix_units.catalogue import rows
from tests.support.paths import ROOT
from tests.support.results import result


def test_the_committed_table_is_the_pages() -> None:
    records = result("accuracy/exact")["families"]
    page = (ROOT / "docs" / "howto" / "exact.md").read_text()
    assert "\n".join(table(records)) in page
    for one in records:
        for size in one["slices"]:
            assert not size["k"] or size["beyond"] is None or size["beyond"]["k"] > size["k"]


def test_units_of_one_model_are_one_family() -> None:
    hopper = rows("hopper", claims=False)
    found = families(hopper)
    assert sum(map(len, found)) == len(hopper)
    assert len({family[0].model.digest for family in found}) == len(found)
    assert all(row.model.digest == family[0].model.digest for family in found for row in family)


def test_bits_of_slices() -> None:
    """Every integer up to 2^bits is a number of the format, and not every one up to 2^(bits+1)."""
    for name, most in (("e4m3", 4), ("e5m2", 3), ("e2m1", 2)):
        fmt = FORMATS[name]
        held = {fmt.value(word) for word in range(1 << fmt.width) if not fmt.is_special(word)}
        assert all(n in held for n in range((1 << most) + 1))
        assert not all(n in held for n in range((2 << most) + 1))
        assert slice_bits(fmt, fmt) == list(range(most, 0, -1))
    s8 = integers_from(-128, 127, 0)
    assert slice_bits(s8, s8)[0] == 7


def test_a_record_counts_only_for_the_code_that_made_it() -> None:
    """All modules of this room that the table's own ones import are among its sources."""
    for source in SOURCES:
        tree = ast.parse((ROOT / "tcsmt" / f"{source}.py").read_text())
        names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        used = {name.removeprefix("tcsmt.").replace(".", "/") for name in names if ".algorithms." in name}
        assert used <= set(SOURCES), source


def test_unproved_sizes_are_not_called_inexact() -> None:
    """A 0 says that one product is not exact; an input of more products says less."""

    def size(bits: int, k: int, beyond: int | None, *, closed: bool) -> dict[str, object]:
        return {"bits": bits, "k": k, "beyond": beyond and {"k": beyond}, "closed": closed}

    slices = [size(4, 0, 1, closed=True), size(3, 0, 16, closed=False), size(2, 8, 9, closed=True)]
    slices += [size(1, 0, None, closed=False)]
    made = {"formats": ["f16", "f16", "f32", "f32"], "units": ["a/b.c"], "slices": slices}
    *_, row = table([made])
    assert row.endswith("| 4: **0**; 3: < 16; 2: **8** |")
