"""What exported files say of themselves, and their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tcsmt.interop.exports.design import Design
from tcsmt.interop.exports.languages import LANGUAGES, exported
from tcsmt.interop.exports.webassembly import webassembly
from tcsmt.language.write.operators import distinct, identifier
from tcsmt.matrix_units.catalogue import row_named
from tests.support.exported import own_formats


def test_names() -> None:
    assert identifier("block 0: aligned c") == "block_0_aligned_c"
    assert identifier("A0·B0, lanes 0 to 3: sum") == "A0_B0_lanes_0_to_3_sum"
    assert identifier("4 words") == "n_4_words"
    assert distinct({1: "a b", 2: "a-b", 3: "c"}, ["c"]) == {1: "a_b", 2: "a_b_2", 3: "c_2"}


def test_headers(tmp_path: Path) -> None:
    """The source, the parameters, a format that the name does not say; nothing ends a comment early."""
    row = replace(own_formats("floats", tmp_path), source="a */ b\nc")
    about = webassembly(Design.of(row)).about
    assert (about["unit"], about["source"], about["parameters"]["fraction_bits"]) == (row.name, row.source, 9)
    for language in set(LANGUAGES) - {"wasm"}:
        head = exported(row, language).text.split("parameters:")[0]
        assert "custom/floats: one fused sum of products and c" in head
        assert "source: a * / b c" in head
        assert "a: 4 words of e3m4 (8 bits: exponent_bits = 3, fraction_bits = 4, bias = 3" in head
        assert "  fraction_bits = 9" in exported(row, language).text


def test_every_stage_that_is_computed_has_its_name() -> None:
    design = Design.of(row_named("volta"), "dot")
    names = set(design.names(design.ordered([design.root])).values())
    assert {"product_0", "largest_exponent", "aligned_c", "sum", "result", "a0", "c"} <= names
