"""Probes: layouts against the ISA documents, programs run on an emulated GPU and compiled, the command."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tcsmt.catalogue import Row, row_named, rows
from tcsmt.data.datasets import find_datasets, replay, row_of
from tcsmt.data.row_files import read_rows
from tcsmt.hardware.instructions import TARGETS, instruction_of, language_of
from tcsmt.hardware.source import program
from tcsmt.hardware.vectors import Vector, from_file
from tcsmt.interpret.exact import evaluate
from tcsmt.support.errors import TcsmtError
from tests.oracles.fragments import places
from tests.support.command_line import done, refused, tcsmt
from tests.support.compilers import compile_cuda, compile_hip
from tests.support.emulated_gpu import emulate

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def emitted() -> list[Row]:
    """Rows of instructions that programs are made for."""
    return [r for r in rows() if "@" not in r.instruction and not r.instruction.startswith("tcgen05")]


def by_layout() -> list[Row]:
    """A row for each kind, shape and width of operands."""
    chosen: dict[tuple[object, ...], Row] = {}
    for row in emitted():
        model = row.model
        formats = (model.a_format, model.b_format, model.c_format, model.d_format)
        kind = re.sub(r"(\.\w+){4}$|\.\w+\.\w+\.\w+$", "", row.instruction)
        chosen.setdefault((kind, *(f.width for f in formats)), row)
    return list(chosen.values())


def name(row: Row) -> str:
    return row.name


def some_vectors(row: Row, count: int = 3, seed: int = 0) -> list[Vector]:
    """Random words, finite numbers for the most part, with what the model answers."""
    rng = np.random.default_rng(seed)
    formats = row.model.input_formats
    found = []
    for number in range(count):
        words = tuple(int(rng.integers(1 << min(f.width, 62))) for f in formats.values())
        values = dict(zip(formats, words, strict=True))
        (d,) = evaluate([row.model.trace.output], values)
        found.append(Vector(asks=f'"{number}" \\ %d \u00b7', words=words, predictions={row.name: d}))
    return found


def tables(source: str) -> dict[str, dict[tuple[int, int], tuple[int, int, int]]]:
    """Where the source says that elements are: (thread, element) → (matrix, row, column)."""
    found = {}
    pattern = r"Fragment (\w) = \{(\d+), (\d+), \d+, \d+, \{(.*?)\}, \{(.*?)\}\};"
    for side, threads, elements, *steps in re.findall(pattern, source):
        counts = int(threads), int(elements)
        by_thread, by_element = (
            [int(s) for s in text.split(", ")][:n] for text, n in zip(steps, counts, strict=True)
        )

        def total(number: int, bits: list[int]) -> int:
            return sum(step for bit, step in enumerate(bits) if number >> bit & 1)

        found[side] = {
            (t, e): (at >> 16, at >> 8 & 255, at & 255)
            for t in range(1 << counts[0])
            for e in range(1 << counts[1])
            for at in [total(t, by_thread) + total(e, by_element)]
        }
    return found


@pytest.mark.parametrize("row", by_layout(), ids=name)
def test_layouts_are_those_of_the_isa_and_cover_every_element_once(row: Row) -> None:
    found = tables(program(row, some_vectors(row, 1), language_of(row)))
    assert found == places(row.architecture, row.instruction, row.model)
    tile = instruction_of(row).tile
    shapes = {"A": (tile.m, tile.k), "B": (tile.n, tile.k), "C": (tile.m, tile.n), "D": (tile.m, tile.n)}
    for side, (lines, columns) in shapes.items():
        held = list(found[side].values())
        all_of_them = {(m, i, j) for m in range(tile.matrices) for i in range(lines) for j in range(columns)}
        assert len(held) == len(set(held))
        assert set(held) == all_of_them
        assert {t for t, _ in found[side]} <= set(range(tile.threads))


@pytest.mark.parametrize("row", emitted(), ids=name)
def test_every_row_has_a_program_that_holds_its_vectors(row: Row) -> None:
    vectors = some_vectors(row)
    source = program(row, vectors, language_of(row))
    assert not re.search(r"\$\w", source)
    table = source[source.index("vectors[VECTORS]") : source.index("// What each vector asks")]
    embedded = [
        tuple(int(w, 16) for w in line.split(", ")) for line in re.findall(r"^\{(.*)\},$", table, re.M)
    ]
    assert embedded == [vector.words for vector in vectors]
    about = source[source.index("about[VECTORS]") :].partition("};")[0]
    texts = [json.loads("{" + json.loads(line) + "}") for line in re.findall(r'^(".*"),$', about, re.M)]
    assert [text["asks"] for text in texts] == [vector.asks for vector in vectors]
    assert [int(text["predictions"][row.name], 16) for text in texts] == [
        vector.predictions[row.name] for vector in vectors
    ]


@pytest.mark.parametrize("row", by_layout(), ids=name)
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
    assert row_of(dataset) == row
    assert replay(dataset, row.model).mismatches == 0
    given = np.array([vector.words for vector in vectors], object)
    assert (dataset.a == given[:, : row.model.k].astype(np.uint64)).all()


def test_block_scales_are_read_and_checked(tmp_path: Path) -> None:
    row = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3")
    path = tmp_path / "answers.json"
    path.write_text(emulate(row, program(row, some_vectors(row), "cuda"), tmp_path))
    assert "3 rows, 0 mismatches" in done("validate", path)
    unscaled = "rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32"
    assert "has block scales: the model has none of them" in done(
        "validate", path, "--against", unscaled, code=2
    )  # fmt: skip
    data = json.loads(path.read_text())
    del data["rows"][1]["scale_a"][3]
    path.write_text(json.dumps(data))
    assert "[1].scale_a has 3 words, where the unit has 4 block scales" in refused("validate", path)
    del data["rows"][1]["scale_a"]
    path.write_text(json.dumps(data))
    assert "[1].scale_a is no list" in refused("validate", path)


# --- compilers ---------------------------------------------------------------------------------


def compiled(row: Row, folder: Path) -> None:
    source = program(row, some_vectors(row, 1), language_of(row))
    compile_one = compile_cuda if language_of(row) == "cuda" else compile_hip
    compile_one(source, TARGETS[row.architecture], folder)


SOME = [
    VOLTA, "turing/mma.m16n8k8.f32.f16.f16.f32", "ampere/mma.m8n8k4.f64", "ada/mma.m16n8k32.f16.e4m3.e5m2",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", "hopper/wgmma.m64nNk8.f32.tf32", "blackwell/mma.m16n8k16.f32.bf16",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e3m2", "cdna1/v_mfma_f32_32x32x8f16",
    "cdna2/v_mfma_f64_16x16x4f64", "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
]  # fmt: skip


@pytest.mark.parametrize("unit", SOME)
def test_some_programs_compile(unit: str, tmp_path: Path) -> None:
    compiled(row_named(unit), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("row", emitted(), ids=name)
def test_all_programs_compile(row: Row, tmp_path: Path) -> None:
    compiled(row, tmp_path)


# --- the command -------------------------------------------------------------------------------


def test_a_property_becomes_vectors_with_both_predictions(tmp_path: Path) -> None:
    for suffix in ("json", "csv"):
        path = tmp_path / f"vectors.{suffix}"
        done("probe", "volta", "--property", "carry-bits", "--emit", suffix, "--output", path)
        again = from_file(path, row_named(VOLTA))
        assert len(read_rows(path, row_named(VOLTA).model).c) == len(again) == 1
    (row,) = json.loads((tmp_path / "vectors.json").read_text())["rows"]
    assert row["asks"] == "carry-bits: 2 against 3 carry bits"
    predictions = row["predictions"]
    assert predictions["3 carry bits"] == predictions[VOLTA] != predictions["2 carry bits"]
    assert f"{VOLTA}@valpey" in predictions


def test_a_witness_goes_to_the_interleaved_lanes_of_one_fused_sum(tmp_path: Path) -> None:
    path, unit = tmp_path / "v.json", "hopper/mma.m16n8k32.f16.e4m3.e4m3.f16"
    (tmp_path / "four_lanes.py").write_text(
        '''"""Four lanes."""

from dataclasses import replace


def investigate(ask):
    unit = replace(ask.unit, k=4, n_fma=4)
    other = replace(unit, rounding="RTZ")
    ask.differ("the last bit", ("nearest", unit), ("zero", other), lanes=())
    return ""
'''
    )
    done(
        "probe", unit, "--properties", tmp_path, "--property", "four-lanes",
        "--emit", "json", "--output", path,
    )  # fmt: skip
    (row,) = json.loads(path.read_text())["rows"]
    given = {lane for side in "ab" for lane, word in enumerate(row[side]) if int(word, 16)}
    assert given <= {0, 1, 4, 5}  # lanes 2 and 3 of each four are the other sum's
    assert row["predictions"][unit] in (row["predictions"]["nearest"], row["predictions"]["zero"])


def test_vectors_of_a_file_become_a_program(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n")
    text = done("probe", "volta", "--vectors", path, "--emit", "cuda")
    assert text.count("rows.csv, row 0") == 2
    assert "0x3fc00000" in text
    assert "arch=compute_70" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["volta", "--emit", "hip"], "--emit cuda, not hip"),
        (["cdna3", "--emit", "cuda"], "--emit hip, not cuda"),
        (["b200/tcgen05.mMnNk16.kind::f16.f32.f16", "--emit", "cuda"], "mma and wgmma"),
        (["volta"], "give --emit"),
        (["volta", "--run"], "give --output"),
        (["volta", "--emit", "hop"], "'cuda', 'hip', 'json', 'csv'"),
        (["ampere/mma.m8n8k4.f64", "--emit", "json"], "give --vectors FILE"),
        (["volta", "--emit", "json", "--property", "carry"], "unknown property"),
        (["volta", "--emit", "cuda", "--vectors", "none.csv"], "none.csv"),
        (["volta", "--emit", "cuda", "--vectors", "x.csv", "--property", "carry-bits"], "not both"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], said: str) -> None:
    assert said in refused("probe", *arguments)


def test_a_model_file_is_no_instruction(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'base = "{VOLTA}"\nfraction_bits = 22\n')
    assert "no instruction of a GPU" in refused("probe", path, "--emit", "cuda")


# --- run ---------------------------------------------------------------------------------------


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n1,1,0,0,2,0,0,0,0\n")
    return path


def fake_compiler(path: Path, body: str) -> Path:
    """A compiler whose programs are Python scripts with this body, which may read the source."""
    program = f"#!{sys.executable}\nimport json, sys\nsource = open(sys.argv[0] + '.cu').read()\n{body}\n"
    path.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "target = sys.argv[sys.argv.index('-o') + 1]\n"
        "assert sys.argv[-1] == target + '.cu'\n"
        f"open(target, 'w').write({program!r})\n"
        "os.chmod(target, 0o755)\n"
    )
    path.chmod(0o755)
    return path


def answers(flip: int = 0) -> str:
    """A GPU that answers as the embedded predictions say, one bit flipped in the last row."""
    return f"""
import re
about = re.findall(r'^(".*"),$', source[source.index("about[VECTORS]"):], re.M)
table = source[source.index("vectors[VECTORS]"):source.index("// What each")]
table = re.findall(r"^\\{{(.*)\\}},$", table, re.M)
rows = []
for line, words in zip(about, table):
    said = json.loads("{{" + json.loads(line) + "}}")
    words = [w.replace("0x", "").zfill(4) for w in words.split(", ")]
    rows.append({{"a": words[:4], "b": words[4:8], "c": words[8].zfill(8),
                 "d": said["predictions"]["{VOLTA}"], **said}})
rows[-1]["d"] = hex(int(rows[-1]["d"], 16) ^ {flip})
print(json.dumps({{"model": "{VOLTA}", "gpu": "fake", "driver": "1", "rows": rows}}))"""


@pytest.mark.parametrize("flip", [0, 1])
def test_run_compiles_runs_and_judges(
    flip: int, tmp_path: Path, rows_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCSMT_NVCC", str(fake_compiler(tmp_path / "nvcc", answers(flip))))
    output = tmp_path / "answers.json"
    text = done("probe", "volta", "--vectors", rows_file, "--run", "--output", output, code=flip)
    assert f"fake, 2 rows, {flip} mismatches with {VOLTA}" in text
    assert ("NO HYPOTHESIS" in text) == bool(flip)
    data = json.loads(done("validate", output, "--json", code=flip))
    assert data["mismatches"] == flip
    assert data["datasets"][0]["provenance"] == {"driver": "1"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "sys.exit('find a GPU: no CUDA-capable device')",
            "--run: no GPU that can be used here (no CUDA-capable device); --emit writes the program",
        ),
        ("print('nonsense')", "printed no JSON"),
        ("print('[]')", "no object"),
        ("print('{}')", "is no data set"),
    ],
)
def test_a_program_that_fails_is_named(
    body: str, said: str, tmp_path: Path, rows_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCSMT_NVCC", str(fake_compiler(tmp_path / "nvcc", body)))
    arguments = ("probe", "volta", "--vectors", rows_file, "--run", "--output", tmp_path / "answers.json")
    assert said in refused(*arguments)


def test_a_compiler_that_fails_or_is_missing_is_named(
    tmp_path: Path, rows_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("probe", "volta", "--vectors", rows_file, "--run", "--output", tmp_path / "answers.json")
    failing = tmp_path / "nvcc"
    failing.write_text("#!/bin/sh\necho \"Unsupported gpu architecture 'compute_70'\" >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("TCSMT_NVCC", str(failing))
    assert "compiling: nvcc ended with 1: Unsupported gpu architecture 'compute_70'" in refused(*arguments)
    monkeypatch.setenv("TCSMT_NVCC", str(tmp_path / "none"))
    assert "is no program" in refused(*arguments)
    monkeypatch.delenv("TCSMT_NVCC")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "no nvcc on PATH" in refused(*arguments)
    assert not (tmp_path / "answers.json").exists()


def test_what_a_file_predicts_is_kept(tmp_path: Path) -> None:
    """Hypotheses of `audit --output`, questions of `identify --plan` and of a transcript."""
    row = row_named(VOLTA)
    file = tmp_path / "v.jsonl"
    question = {"a": ["1"] * 4, "b": ["1"] * 4, "c": "1"}
    lines = [
        {**question, "asks": "more lanes", "predictions": {"two lanes": "0x40400000"}},
        {**question, "why": "an ordinary sum", "d": "0x40a00000"},
        question,
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    one, two, three = from_file(file, row)
    assert (one.asks, two.asks, three.asks) == (
        "v.jsonl, row 0: more lanes", "v.jsonl, row 1: an ordinary sum", "v.jsonl, row 2",
    )  # fmt: skip
    assert one.predictions["two lanes"] == 0x40400000
    for vector in (one, two, three):
        assert vector.predictions[VOLTA] == 0x40A00000
    assert "two lanes" not in two.predictions
    plan = tmp_path / "plan.json"
    plan.write_text(done("identify", "--like", "volta", "--plan", "set"))
    data = json.loads(done("probe", "volta", "--plan", plan, "--emit", "json"))
    assert len(data["rows"]) == len(json.loads(plan.read_text())["rows"])
    file.write_text(json.dumps({**question, "predictions": {"x": "0x123456789"}}))
    assert "predictions['x']" in refused("probe", "volta", "--vectors", file, "--emit", "json")
    file.write_text(json.dumps({**question, "predictions": 3}))
    assert "predictions: not an object" in refused("probe", "volta", "--vectors", file, "--emit", "json")


def test_rows_without_programs_say_so() -> None:
    for row in rows():
        if row.instruction.startswith("tcgen05"):
            with pytest.raises(TcsmtError, match="no program"):
                instruction_of(row)


def test_help_names_the_exit_codes() -> None:
    assert "Exit code" in tcsmt("probe", "--help").output
