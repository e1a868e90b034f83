"""Probe programs: what they embed, run on an emulated GPU, and compiled."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.hardware.instructions import TARGETS, language_of
from tcsmt.interop.hardware.source import program
from tcsmt.interop.hardware.vectors import from_file
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.simulate.measured.datasets import explaining_row, find_datasets, replay
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done, refused
from tests.support.compilers import compile_cuda, compile_hip
from tests.support.emulated_gpu import emulate, emulated
from tests.support.paths import ROOT
from tests.support.probes import SOME, by_layout, emitted, name, some_first, some_vectors
from tests.support.sampling import mostly_long


@pytest.mark.parametrize("row", mostly_long(emitted(), by_layout()[::2]), ids=name)
def test_every_row_has_a_program_that_holds_its_vectors(row: Row) -> None:
    vectors = some_vectors(row)
    source = program(row, vectors, language_of(row))
    assert not re.search(r"\$\w", source)
    table = source[source.index("vectors[VECTORS + 1]") : source.index("// What each vector asks")]
    embedded = [
        tuple(int(w, 16) for w in line.split(", ")) for line in re.findall(r"^\{(.*)\},$", table, re.M)
    ]
    assert embedded == [vector.words for vector in vectors]
    about = source[source.index("about[VECTORS + 1]") :].partition("};")[0]
    texts = [json.loads("{" + json.loads(line) + "}") for line in re.findall(r'^(".*"),$', about, re.M)]
    assert [text["asks"] for text in texts] == [vector.asks for vector in vectors]
    assert [int(text["predictions"][row.name], 16) for text in texts] == [
        vector.predictions[row.name] for vector in vectors
    ]


def test_a_gpu_whose_layouts_are_not_described_has_no_program() -> None:
    row = row_named("mi355x/v_mfma_f32_32x32x16_f16")
    with pytest.raises(TcsmtError, match="cannot write a program for cdna4"):
        program(row, some_vectors(row), "hip")


@pytest.mark.parametrize("row", some_first(by_layout(), SOME[::4]), ids=name)
def test_a_program_on_an_emulated_gpu_prints_a_data_set_that_validates(row: Row, tmp_path: Path) -> None:
    vectors = some_vectors(row, seed=1)
    path = tmp_path / "answers.json"
    path.write_text(emulate(row, program(row, vectors, language_of(row)), tmp_path))
    answers = json.loads(path.read_text())
    assert answers["unequal"] == 0
    assert [answer["asks"] for answer in answers["rows"]] == [vector.asks for vector in vectors]
    (dataset,) = find_datasets([path])
    assert (dataset.gpu, dataset.rows) == ("emulated", 3)
    assert dataset.provenance["target"] == TARGETS[row.architecture]
    assert {
        "date",
        "driver",
        "runtime",
        "kernel_driver",
        "instruction",
        "program",
    } <= dataset.provenance.keys()
    assert explaining_row(dataset) == row
    assert replay(dataset, row.model).mismatches == 0
    given = np.array([vector.words for vector in vectors], object)
    assert (dataset.operands.a == given[:, : row.model.k].astype(np.uint64)).all()


@pytest.mark.parametrize(
    "unit",
    [
        "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ],
)
@pytest.mark.slow_cases("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
def test_a_program_says_which_model_is_right(unit: str, tmp_path: Path) -> None:
    """Of vectors on which both models of Blackwell's FP4 unit differ; the emulated one is MMA-Sim's."""
    row, path = row_named(unit), ROOT / "results" / "comparisons" / "tcgen05-deciding-nvfp4.json"
    vectors = from_file(path, row)[:3]
    said = emulated(row, program(row, vectors, "cuda"), tmp_path).stderr.splitlines()
    tcgen05 = "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
    for model, right in ((tcgen05, 3), (f"{tcgen05}@sf-tensor", 0), (unit, 3)):
        assert f"{right} of 3 answers are those of: {model}" in said


def test_block_scales_are_read_and_checked(tmp_path: Path) -> None:
    row = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3")
    path = tmp_path / "answers.json"
    path.write_text(emulate(row, program(row, some_vectors(row), "cuda"), tmp_path))
    assert "3 rows, 0 mismatches" in done("validate", path)
    unscaled = "rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32"
    assert "has block scales, but the model takes none" in done(
        "validate", path, "--against", unscaled, code=2
    )  # fmt: skip
    data = json.loads(path.read_text())
    del data["rows"][1]["scale_a"][3]
    path.write_text(json.dumps(data))
    assert "[1].scale_a has 3 words, but the unit has 4 block scales" in refused("validate", path)
    del data["rows"][1]["scale_a"]
    path.write_text(json.dumps(data))
    assert "[1].scale_a is not a list" in refused("validate", path)


def compiled(row: Row, folder: Path) -> None:
    source = program(row, some_vectors(row, 1), language_of(row))
    compile_one = compile_cuda if language_of(row) == "cuda" else compile_hip
    compile_one(source, TARGETS[row.architecture], folder)


#: For ``mma``, ``wgmma``, block scales and ``mfma``: the first and the last; the others by ``-m long``.
COMPILED = [
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e3m2.f32.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "blackwell/tcgen05.mMnNk8.kind::tf32.f32.tf32.tf32",
    "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
]


@pytest.mark.slow_cases(
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "blackwell/tcgen05.mMnNk8.kind::tf32.f32.tf32.tf32",
)
@pytest.mark.parametrize("row", some_first(emitted(), [COMPILED[0], *COMPILED[3:]]), ids=name)
def test_programs_compile(row: Row, tmp_path: Path) -> None:
    compiled(row, tmp_path)
