"""Held rows of CPUs, of emulators and of Intel's documents: read, and replayed on the catalogue's units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt.catalogue import rows
from tcsmt.catalogue.cpu_files import UNITS
from tcsmt.data.datasets import find_datasets, replay, row_of
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT

UNITS_FOLDER = ROOT.parent / "shared" / "units"
FILES = (
    "x86_vdpbf16ps_zen4", "arm_bfdot_ebf0_qemu", "arm_bfdot_ebf1_qemu", "arm_bfmmla_ebf0_qemu",
    "arm_bfmmla_ebf1_qemu", "arm_bfmopa_ebf0_qemu", "arm_bfmopa_ebf1_qemu", "arm_fmopa_f16_qemu",
    "arm_bfmlalb_qemu", "arm_fmlal_qemu", "arm_fdot_fp8_qemu", "intel_amx_documents",
)  # fmt: skip


def held(name: str) -> Path:
    path = UNITS_FOLDER / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path


@pytest.mark.parametrize("name", FILES)
def test_every_row_replays(name: str) -> None:
    data = json.loads(held(name).read_text())["rows"]
    parts = data.values() if isinstance(data, dict) else [data]
    count = sum(len(part) for part in parts)
    count += sum("intrinsics_guide" in row for row in data if isinstance(data, list))
    replayed = 0
    for dataset in find_datasets([held(name)]):
        row = row_of(dataset)
        found = replay(dataset, row.model)
        assert (found.mismatches, found.examples) == (0, ()), dataset.name
        assert row.evidence == "published" or dataset.name in row.measured
        replayed += found.rows
    assert replayed == count


def test_units_that_are_held_name_their_files() -> None:
    """What a row says that it replays is a file that the reader knows."""
    stems = {name for row in rows() if row.architecture in ("x86", "arm") for name in row.measured}
    assert stems
    assert {name.partition(":")[0] for name in stems} <= set(FILES)


def written(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(data))
    return path


ROW = {"a": ["3f80", "3f80"], "b": ["3f80", "3f80"], "c": "4b800000", "d": "4b800000"}


def test_own_files_of_the_same_form(tmp_path: Path) -> None:
    """x86 adds the odd lane first: 2^24 + 1 + 1 loses both."""
    path = written(tmp_path, {"instruction": "VDPBF16PS zmm (AVX512_BF16)", "cpu": "mine", "rows": [ROW]})
    (dataset,) = find_datasets([path])
    assert (dataset.name, dataset.gpu, dataset.architecture) == ("rows:vdpbf16ps", "mine", "x86")
    assert replay(dataset, row_of(dataset).model).mismatches == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"instruction": "VDPBF16PS", "rows": [ROW]}, 'neither "cases" nor "model"'),
        ({"instruction": "VDPBF16PS zmm (AVX512_BF16)", "rows": []}, "empty"),
        ({"instruction": "FDOT (FP8), FPMR.LSCALE = 0, OSM = 0", "rows": {"e4m3xe9m9->f32": [ROW]}}, "e9m9"),
        ({"instruction": "FDOT (FP8), FPMR.LSCALE = 0, OSM = 0", "rows": [ROW]}, "formats"),
        ({"rows": [{"manual": "3f800000", "c": "3f800000"}]}, "a row of a document has no 'a' and 'b'"),
    ],
)
def test_bad_files(data: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(TcsmtError) as caught:
        list(find_datasets([written(tmp_path, data)]))
    assert said in str(caught.value)


def test_names_of_units() -> None:
    known = {row.name for row in rows()}
    for name in UNITS.values():
        assert "{d}" in name or name in known
