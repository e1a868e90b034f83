"""The vectors for an MI300: each has the words of the models that it tells apart; together they tell all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cdna3_deciding import NAN_FIRST, UNITS, cut_nans, script

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.measured.datasets import find_datasets, replay
from tcsmt.surveys.units.neighbours import neighbours
from tests.support.paths import ROOT
from tests.support.results import result


def same(name: str, change: str) -> bool:
    """Return whether no vector is known for a change, and none is expected.

    Bits more than 32 places below c are cut after normalisation in any case, as the last bit of a sum of
    products lies 24 places below its largest product; and FP16 has no products of 2^32 or more.
    """
    parameter, _, value = change.partition(" = ")
    if (name, change) == ("f16", "product_limit = 32"):
        return True
    return parameter == "dot_fraction_bits" and int(value) > 32


def values_of(one: dict[str, Any], names: tuple[str, ...]) -> dict[str, int]:
    words = [int(text, 16) for text in (*one["a"], *one["b"], one["c"])]
    return dict(zip(names, words, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_each_vector_tells_apart_what_it_says(name: str) -> None:
    row, data = row_named(UNITS[name]), result(f"comparisons/cdna3-deciding-{name}")
    models = {one.name: one.model for one in neighbours(row.model)}
    told = set()
    for one in data["rows"]:
        values = values_of(one, row.model.input_names)
        (ours,) = evaluate([row.model.trace.output], values)
        assert int(one["predictions"][row.name], 16) == ours
        asked = one["asks"].removeprefix("not ").split("; ") if one["asks"].startswith("not ") else []
        for change in asked:
            (word,) = evaluate([models[change].trace.output], values)
            assert word != ours and int(one["predictions"][change], 16) == word, change
        told |= {*asked}
    open_ = [change for change in models if change not in told]
    assert all(same(name, change) for change in open_), open_


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_they_tell_what_published_results_leave_open(name: str, cdna_data: Path) -> None:
    """Of BF16 alignment bits from 25 on, c_reach and product_limit, for example."""
    row = row_named(UNITS[name])
    (dataset,) = find_datasets([cdna_data / f"{UNITS[name].replace('/', '_')}.json"])
    asked = "; ".join(one["asks"] for one in result(f"comparisons/cdna3-deciding-{name}")["rows"])
    left = [one.name for one in neighbours(row.model) if not replay(dataset, one.model).mismatches]
    assert len(left) > 20
    for change in left:
        assert change in asked or same(name, change), change


def test_a_nan_in_the_bits_that_xf32_ignores() -> None:
    """The accepted row reads it as infinity; a Lean transcription of the paper reads NaN."""
    row = row_named(UNITS["xf32"])
    kept = [one for one in result("comparisons/cdna3-deciding-xf32")["rows"] if "ignores" in one["asks"]]
    assert len(kept) == 2
    for one, vector in zip(kept, cut_nans(row), strict=True):
        values = values_of(one, row.model.input_names)
        assert tuple(values.values()) == vector.words
        assert (
            int(one["predictions"][row.name], 16)
            == 0x7F800000
            == evaluate([row.model.trace.output], values)[0]
        )
        assert row.model.d_format.is_nan(int(one["predictions"][NAN_FIRST], 16))
        operands = np.array([*values.values()][:-1], np.uint32)
        assert np.isnan(operands.view(np.float32)).any()  # as binary32, with the bits that are ignored
        assert not np.isnan((operands & 0xFFFFE000).view(np.float32)).any()


def test_the_script_has_every_program(tmp_path: Path) -> None:
    text = (ROOT / "results" / "comparisons" / "cdna3-deciding.sh").read_text()
    for name, unit in UNITS.items():
        assert (
            f"// Probe of {unit}: {len(result(f'comparisons/cdna3-deciding-{name}')['rows'])} vectors" in text
        )
    if shutil.which("sh") is None:
        pytest.skip("there is no program sh")
    made = tmp_path / "few.sh"
    made.write_text(script({"one": "int main() { return 0; }\n"}))
    for path in (made, ROOT / "results" / "comparisons" / "cdna3-deciding.sh"):
        assert subprocess.run(["sh", "-n", path], check=False).returncode == 0
