"""Recorded outputs of real GPUs: replayed, re-written in the published layout, and broken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import from_words
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.simulate.measured.dataset import DataSet, Formats
from tcsmt.simulate.measured.datasets import explaining_row, find_datasets, replay
from tcsmt.simulate.measured.row_files import write_rows
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import uncompressed
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def only(path: Path) -> DataSet:
    """The one data set there."""
    (found,) = find_datasets([path])
    return found


def recorded(measured_data: Path, name: str) -> DataSet:
    return only(measured_data / f"{name}.npz")


def fused(name: str) -> FusedDotAdd:
    model = row_named(name).model
    assert isinstance(model, FusedDotAdd)
    return model


def refused(path: Path) -> str:
    """The one-line message about a path that is no good data set."""
    with pytest.raises(TcsmtError) as caught:
        list(find_datasets([path]))
    message = str(caught.value)
    assert "\n" not in message
    return message


# All recorded data


@pytest.mark.slow
def test_everything_recorded_replays(measured_data: Path) -> None:
    folder = measured_data
    names = []
    for dataset in find_datasets([folder]):
        row = explaining_row(dataset)
        result = replay(dataset, row.model)
        assert (result.mismatches, result.examples) == (0, ()), dataset.name
        assert result.rows == dataset.rows > 0
        assert dataset.name in row.measured
        assert row.status == "accepted"
        names.append(dataset.name)
    files = {p.stem for p in folder.iterdir() if p.suffix in (".npz", ".json")} - {"manifest"}
    assert set(names) == files
    assert len(names) == len(files)


HERE = sorted((ROOT / "results" / "hardware").glob("*.json.xz"))


def evidence_of(name: str) -> str:
    """What an answer is evidence of: one of QEMU is an emulator's."""
    return "simulated" if name.endswith("_qemu72") else "measured here"


@pytest.mark.parametrize("path", mostly_long(HERE, HERE[::9]), ids=lambda path: path.name)
def test_answers_that_tcsmt_measured_replay(path: Path) -> None:
    """On the unit that the file names, which names it."""
    (dataset,) = find_datasets([path])
    row = explaining_row(dataset)
    assert row.evidence == evidence_of(dataset.name) and row.status == "accepted"
    assert ("qemu" in dataset.gpu) == (row.evidence == "simulated")
    assert dataset.name in row.measured and dataset.gpu and dataset.provenance["date"]
    assert (
        dataset.rows > (1 if "documents" in dataset.name else 100)
        and replay(dataset, row.model).mismatches == 0
    )


def test_every_unit_that_tcsmt_measured_has_its_file() -> None:
    named = {(row.evidence, name) for row in rows() for name in row.measured}
    held = {uncompressed(path).stem for path in HERE}
    assert {(evidence_of(name), name) for name in held} <= named
    assert all(held & set(row.measured) for row in rows() if row.evidence == "measured here")


def test_the_loader_is_lazy_and_takes_files(measured_data: Path) -> None:
    folder = measured_data
    assert next(find_datasets([folder, folder / "v100_f16_f32.npz"])).name == "a100_bf16_f32"
    paths = ["v100_f16_f32.npz", "rtx3080_f16_f32_directed.json"]
    first, second = find_datasets([folder / path for path in paths])
    assert (first.gpu, first.architecture, first.k) == ("V100", "volta", 4)
    assert (second.gpu, second.architecture, second.k, second.rows) == ("RTX 3080", "ampere", 4, 13)
    *_, last = find_datasets([folder / "manifest.json"])
    assert last.name == "rtx4090_f16_f32_directed"


def test_c_is_what_the_instruction_got(measured_data: Path) -> None:
    half = recorded(measured_data, "b200_e5m2_f16")
    published = np.load(half.path)["c"].view(np.float32)
    assert half.formats.c is FORMATS["f16"]
    np.testing.assert_array_equal(half.operands.c.view(np.float16), published.astype(np.float16))
    unused = recorded(measured_data, "h200_e4m3_f32")
    assert not unused.operands.c.any()
    assert "NOT used" in unused.notes


@pytest.mark.parametrize(
    ("base", "name", "changes", "of_5000"),
    [
        (VOLTA, "v100_f16_f32", {"fraction_bits": 22}, 2235),
        (VOLTA, "v100_f16_f32", {"fraction_bits": 24}, 1200),
        (VOLTA, "v100_f16_f32", {"n_fma": 2}, 828),
        (VOLTA, "v100_f16_f32", {"products": "normalised"}, 793),
        (VOLTA, "v100_f16_f32", {"rounding": "RNE"}, 649),
        ("ampere/m16n8k16.f32.f16", "a100_f16_f32", {"fraction_bits": 23}, 1685),
        ("ampere/m16n8k16.f32.f16", "a100_f16_f32", {"n_fma": 4}, 1261),
        ("hopper/mma.m16n8k16.f32.f16", "h200_f16_f32", {"fraction_bits": 26}, 534),
        ("hopper/mma.m16n8k16.f32.f16", "h200_f16_f32", {"rounding": "RNE"}, 1775),
    ],
)
def test_wrong_hypotheses_mismatch(
    measured_data: Path, base: str, name: str, changes: dict[str, Any], of_5000: int
) -> None:
    dataset, right = recorded(measured_data, name), fused(base)
    wrong = replay(dataset, right.replace(**changes), keep=3)
    # half of the published rows are recorded here: five standard deviations about half of the count
    assert abs(wrong.mismatches - of_5000 / 2) < 5 * (of_5000 / 4) ** 0.5
    assert len(wrong.examples) == 3
    for example in wrong.examples:
        assert example.a == tuple(dataset.operands.a[example.row])
        assert example.b == tuple(dataset.operands.b[example.row])
        assert (example.c, example.expected) == (dataset.operands.c[example.row], dataset.d[example.row])
        a, b, c = (np.array([words]) for words in (example.a, example.b, example.c))
        one = replace_rows(dataset, a, b, c, np.array([example.expected]))
        assert replay(one, right).mismatches == 0
        assert replay(one, wrong.model).examples[0].got == example.got


def test_one_carry_bit_fewer_cannot_be_told_apart(measured_data: Path) -> None:
    model = fused(VOLTA)
    fewer = model.replace(carry_bits=model.enough_carry_bits - 1)
    assert replay(recorded(measured_data, "v100_f16_f32"), fewer).mismatches == 0


def test_refuted_claims_mismatch(measured_data: Path) -> None:
    claim = row_named(f"{VOLTA}@valpey")
    assert claim.status == "refuted"
    assert replay(recorded(measured_data, "v100_f16_f32"), claim.model).mismatches > 300


def replace_rows(dataset: DataSet, *arrays: Any) -> DataSet:
    *given, d = (array.astype(like.dtype) for array, like in zip(arrays, sides(dataset), strict=True))
    return replace(dataset, operands=Operands(*given), d=d)


def sides(dataset: DataSet) -> tuple[Any, ...]:
    """The words of a, b, c and d."""
    return *dataset.operands.parts, dataset.d


# Lanes


def test_missing_lanes_are_zero(measured_data: Path) -> None:
    dataset = recorded(measured_data, "a100_f16_f32")
    assert (dataset.k, explaining_row(dataset).model.k) == (8, 16)
    zeros = np.zeros((dataset.rows, 8), np.uint16)
    given = dataset.operands
    longer = replace(given, a=np.hstack([given.a, zeros]), b=np.hstack([given.b, zeros]))
    wide = replace(dataset, operands=longer)
    assert replay(wide, explaining_row(dataset).model).mismatches == 0


def test_more_lanes_are_chained_over_c(measured_data: Path) -> None:
    dataset, model = recorded(measured_data, "a100_f16_f32"), fused("ampere/m16n8k16.f32.f16")
    chained = model.replace(k=8, n_fma=4)
    halves = chained.replace(k=4)
    assert replay(dataset, halves).mismatches == replay(dataset, chained).mismatches > 500


def test_lanes_that_do_not_fit(measured_data: Path) -> None:
    dataset = recorded(measured_data, "a100_f16_f32")
    three = fused("ampere/m16n8k16.f32.f16").replace(k=3, n_fma=3)
    with pytest.raises(TcsmtError, match="has 8 lanes, which is not a multiple of the model's k = 3"):
        replay(dataset, three)
    mixed = fused("volta/mma.m8n8k4.f32.f16.f16.f16")
    operands = replace(dataset.operands, c=np.zeros(dataset.rows, np.uint16))
    half_c = replace(dataset, formats=Formats.of(mixed), operands=operands)
    with pytest.raises(TcsmtError, match="its result is f32, and the next c would have to be f16"):
        replay(half_c, mixed)


def test_formats_that_do_not_fit(measured_data: Path) -> None:
    with pytest.raises(TcsmtError, match="f16, f32 to f32, but the model takes f16, f16, f16 to f16"):
        replay(recorded(measured_data, "v100_f16_f32"), fused("volta/mma.m8n8k4.f16.f16.f16.f16"))


# Which row explains a data set that no row lists


@pytest.mark.parametrize(
    ("name", "changes", "instruction"),
    [
        ("v100_f16_f32", {}, "mma.m8n8k4.f32.f16.f16.f32"),
        ("v100_f16_f32", {"architecture": "T4"}, "mma.m8n8k4.f32.f16.f16.f32"),
        ("a100_f16_f32", {"architecture": "T4"}, "mma.m16n8k8.f32.f16.f16.f32"),
        ("a100_tf32_f32", {"architecture": "sm_86"}, "mma.m16n8k8.f32.tf32.tf32.f32"),
        # WMMA m16n16k8 runs as two m16n8k4 on Hopper
        ("h200_tf32_f32", {"architecture": "H100"}, "mma.m16n8k4.f32.tf32.tf32.f32"),
        (
            "h200_tf32_f32", {"interface": "mma.sync.aligned.m16n8k8.row.col"},
            "mma.m16n8k8.f32.tf32.tf32.f32",
        ),
        ("h200_e4m3_f32", {}, "wgmma.m64nNk32.f32.e4m3.e4m3"),
        ("h200_e4m3_f32", {"interface": "mma.sync m16n8k32"}, "mma.m16n8k32.f32.e4m3.e4m3.f32"),
        (
            "b200_e4m3_f32", {"interface": "tcgen05.mma"},
            "tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3",
        ),
        ("b200_e4m3_f32", {"architecture": "rtx 5090"}, "mma.m16n8k32.f32.e4m3.e4m3.f32"),
        (
            "v100_f16_f32", {"interface": "mma.m8n8k4.f32.f16.f16.f32@fasi"},
            "mma.m8n8k4.f32.f16.f16.f32@fasi",
        ),
    ],
)  # fmt: skip
def test_rows_by_formats_and_interface(
    measured_data: Path, name: str, changes: dict[str, Any], instruction: str
) -> None:
    dataset = replace(recorded(measured_data, name), name="unlisted", **changes)
    assert explaining_row(dataset).instruction == instruction


def test_no_row(measured_data: Path) -> None:
    dataset = replace(recorded(measured_data, "a100_bf16_f32"), architecture="volta")
    with pytest.raises(TcsmtError, match=r"volta .*wmma.* bf16, bf16, f32 to f32"):
        explaining_row(dataset)
    with pytest.raises(TcsmtError, match=r"bf16_f32: .*'voltta'.* volta"):
        explaining_row(replace(dataset, architecture="voltta"))
    with pytest.raises(TcsmtError, match="no volta instruction for an unknown interface"):
        explaining_row(replace(dataset, interface=""))


# The published text files


def publish(measured_data: Path, name: str, root: Path, *, rows: int = 2500) -> Path:
    """The text files of a recorded data set, laid out as published; the folder of its format."""
    entries = json.loads((measured_data / "manifest.json").read_text())
    (entry,) = (e for e in entries if e["file"] == f"{name}.npz")
    arrays = np.load(measured_data / entry["file"])
    folder, _, names = entry["published_file"].rpartition("/")
    files = dict(zip("abcd", names.removesuffix("}.txt")[1:].split(","), strict=True))
    (root / folder).mkdir(parents=True, exist_ok=True)
    for side, file in files.items():
        fmt = FORMATS[entry[f"{side}_format"]]
        words = from_words(fmt, arrays[side][:rows]).astype(np.float32).view(np.uint32)
        lines = (
            [" ".join(f"{word:08x}" for word in row) for row in words]
            if side in "ab"
            else [f"{word:032b}" for word in words]
        )
        (root / folder / f"{file}.txt").write_text("\n".join(lines) + "\n")
    return root / str(folder)


PUBLISHED = [
    "v100_f16_f32", "v100_f16_f16", "a100_tf32_f32", "a100_bf16_f32", "ada_e4m3_f32",
    "h200_e4m3_f32", "h200_e4m3_f16", "h200_f16_f32", "b200_e5m2_f16",
]  # fmt: skip


@pytest.mark.slow
def test_published_text_files_round_trip(measured_data: Path, tmp_path: Path) -> None:
    for name in PUBLISHED:
        publish(measured_data, name, tmp_path)
    (tmp_path / "model_validation/CUDA").mkdir()
    (tmp_path / "model_validation/CUDA/d_notes.txt").write_text("no data\n")
    found = {d.name: d for d in find_datasets([tmp_path])}
    assert sorted(found) == sorted(PUBLISHED)
    for name, dataset in found.items():
        original = recorded(measured_data, name)
        assert (dataset.formats, dataset.architecture) == (original.formats, original.architecture)
        for words, expected in zip(sides(dataset), sides(original), strict=True):
            assert words.dtype == expected.dtype
            np.testing.assert_array_equal(words, expected, err_msg=name)
        row = explaining_row(dataset)
        assert row is explaining_row(original)
        assert row is explaining_row(replace(dataset, name="by formats and interface"))
        assert replay(dataset, row.model).mismatches == 0


def test_published_folders_at_every_depth(measured_data: Path, tmp_path: Path) -> None:
    folder = publish(measured_data, "v100_f16_f32", tmp_path, rows=4)
    paths = [folder, folder.parent, folder.parent.parent, tmp_path, folder / "d_V100_fp32.txt"]
    assert [d.rows for d in find_datasets(paths)] == [4] * 5


def test_published_names_in_any_case_and_spelling(measured_data: Path, tmp_path: Path) -> None:
    folder = publish(measured_data, "h200_e4m3_f32", tmp_path, rows=4)
    (folder / "c_H200_fp32.txt").unlink()  # it was not used
    for file in folder.iterdir():
        words = file.read_text().upper().replace("\n", "\r\n")
        file.write_text(words + "\n\n")
        file.rename(folder / file.name.upper().replace("E4M3", "FP8-E4M3"))
    folder = folder.rename(folder.with_name("fp8-e4m3"))
    lower = folder.parent.rename(folder.parent.with_name("h200"))
    dataset = only(lower)
    assert (dataset.name, dataset.gpu, dataset.rows) == ("h200_e4m3_f32", "h200", 4)
    assert replay(dataset, explaining_row(dataset).model).mismatches == 0


def test_a_gpu_outside_the_catalogue_is_read(measured_data: Path, tmp_path: Path) -> None:
    folder = publish(measured_data, "v100_f16_f32", tmp_path, rows=4)
    for file in folder.iterdir():
        file.rename(folder / file.name.replace("V100", "X9000"))
    folder.parent.rename(folder.parent.with_name("X9000"))
    dataset = only(tmp_path)
    assert (dataset.architecture, dataset.name) == ("X9000", "x9000_f16_f32")
    assert replay(dataset, fused(VOLTA)).mismatches == 0
    with pytest.raises(TcsmtError, match="unknown architecture 'X9000'"):
        explaining_row(dataset)


@pytest.mark.parametrize(
    ("file", "line", "text", "message"),
    [
        ("a_V100_fp16", 2, "3f800000 zz 0 0", r"a_V100_fp16\.txt:2: 'zz' is not a hexadecimal word"),
        ("a_V100_fp16", 3, "3f800000 0 0", r"a_V100_fp16\.txt:3: 3 words, but line 1 has 4"),
        ("b_V100_fp16", 1, "13f800000 0 0 0", r"fp16\.txt:1: '13f800000' is wider than 32 bits"),
        ("b_V100_fp16", 4, "3f800001 0 0 0", r"b_V100_fp16\.txt:4: 3f800001 is not a valid f16 value"),
        ("b_V100_fp16", 4, "47800000 0 0 0", r"b_V100_fp16\.txt:4: 47800000 is not a valid f16 value"),
        ("c_V100_fp32", 2, "1" * 31, r"c_V100_fp32\.txt:2: '1+' is not a word of 32 binary digits"),
        ("d_V100_fp32", 2, "1" * 31 + "2", r"d_V100_fp32\.txt:2: '1+2' is not a word of 32 binary"),
        ("d_V100_fp32", 2, "", r"d_V100_fp32\.txt:2: '' is not a word"),
        ("d_V100_fp32", 1, "ä" * 32, r"d_V100_fp32\.txt:1: "),
        ("d_V100_fp32", 4, None, r"d_V100_fp32\.txt: d has 3 rows, but a has 4"),
        ("c_V100_fp32", 4, None, r"d_V100_fp32\.txt: c has 3 rows, but a has 4"),
        ("b_V100_fp16", 4, None, r"d_V100_fp32\.txt: b has 3 rows, but a has 4"),
    ],
)  # fmt: skip
def test_bad_text_files(
    measured_data: Path, tmp_path: Path, file: str, line: int, text: str | None, message: str
) -> None:
    path = publish(measured_data, "v100_f16_f32", tmp_path, rows=4) / f"{file}.txt"
    lines = path.read_text().splitlines()
    lines[line - 1 : line] = [] if text is None else [text]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = refused(tmp_path)
    assert found.startswith(str(tmp_path))
    with pytest.raises(TcsmtError, match=message):
        list(find_datasets([tmp_path]))


def test_bad_text_folders(measured_data: Path, tmp_path: Path) -> None:
    folder = publish(measured_data, "v100_f16_f32", tmp_path, rows=4)
    a, b = folder / "a_V100_fp16.txt", folder / "b_V100_fp16.txt"
    b.write_text("0 0 0\n" * 4)
    assert "b has 3 lanes, but a has 4" in refused(tmp_path)
    a.write_text("\n\n")
    assert f"{a} has no rows" in refused(tmp_path)
    a.unlink()
    assert "the file a_V100_fp16.txt is missing beside it" in refused(tmp_path)
    (folder / "d_V100_fp32.txt").rename(folder / "d_V100_fp61.txt")
    assert "unknown format 'fp61'" in refused(tmp_path)
    (folder / "d_V100_fp61.txt").rename(folder / "d_V100_fp32.txt")
    moved = folder.rename(folder.with_name("fp64"))
    assert "input format f64: must be one of f16" in refused(tmp_path)
    moved.rename(folder.with_name("tf23"))
    assert "unknown format 'tf23': did you mean tf32" in refused(tmp_path)


# tcsmt's own JSON


def test_written_rows_are_a_data_set(measured_data: Path, tmp_path: Path) -> None:
    source, model = recorded(measured_data, "v100_f16_f32"), fused(VOLTA)
    path = tmp_path / "again.json"
    write_rows(path, model, source.operands, source.d, name=VOLTA)
    for dataset in (only(path), only(tmp_path)):
        assert (dataset.name, dataset.architecture, dataset.k) == ("again", "volta", 4)
        for words, expected in zip(sides(dataset), sides(source), strict=True):
            np.testing.assert_array_equal(words, expected)
        assert explaining_row(dataset).name == VOLTA
        assert replay(dataset, explaining_row(dataset).model).mismatches == 0


GOOD_ROW = {"a": ["3c00"] * 4, "b": ["0x3c00"] * 4, "c": "3f800000", "d": "40a00000"}


def own(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"model": VOLTA, "rows": [GOOD_ROW, {**GOOD_ROW, **changes}]}))
    return path


def test_own_json(tmp_path: Path) -> None:
    dataset = only(own(tmp_path))
    assert replay(dataset, explaining_row(dataset).model).mismatches == 0
    wrong = only(own(tmp_path, d="40a00001"))
    (example,) = replay(wrong, explaining_row(wrong).model).examples
    assert (example.row, example.expected, example.got) == (1, 0x40A00001, 0x40A00000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": ["13c00", "0", "0", "0"]}, "rows[1].a[0]: '13c00': a word of f16 has 16 bits"),
        ({"b": ["0", "0", "0", "1.5"]}, "rows[1].b[3]: '1.5' is not a hexadecimal word"),
        ({"b": ["0", 0, "0", "0"]}, "rows[1].b[1]: 0 is not a hexadecimal word"),
        ({"a": ["0"] * 5}, "rows[1].a has 5 words, but a of the first row has 4"),
        ({"a": "0000"}, "rows[1].a is not a list of words"),
        ({"c": "140000000"}, "rows[1].c: '140000000': a word of f32 has 32 bits"),
        ({"d": None}, "rows[1].d: None is not a hexadecimal word"),
    ],
)
def test_bad_own_rows(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = own(tmp_path, **changes)
    assert refused(path) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", ":1: not JSON: "),
        ('{"rows":\n[}', ":2: not JSON: "),
        ("[" * 100_000, "not JSON that can be read"),
        ("1" * 10_000, "not JSON that can be read"),
        ("[]", 'is not a data set: it has neither "cases" nor "model" and "rows"'),
        ('{"rows": []}', "is not a data set"),
        ('{"model": 3, "rows": []}', "'model' is missing or is not text"),
        ('{"model": "volta/mma", "rows": []}', "'mma' matches several instructions of volta"),
        ('{"model": "voltta", "rows": []}', "unknown architecture 'voltta': did you mean volta"),
        (f'{{"model": "{VOLTA}", "rows": []}}', "rows is not a list of rows, or is empty"),
        (f'{{"model": "{VOLTA}", "rows": [{{"a": []}}]}}', "rows[0] is not an object with a, b, c"),
        (f'{{"model": "{VOLTA}", "rows": [{{"a":[],"b":[],"c":"0","d":"0"}}]}}', ""),
        ('{"cases": []}', "'a_format' is missing or is not text"),
    ],
)
def test_bad_json_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.json"
    path.write_text(text)
    found = refused(path)
    assert found.startswith(str(path))
    assert message in found


def test_json_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_bytes(b"\xff\xfe{")
    assert "not UTF-8" in refused(tmp_path)


def test_directed_cases_with_an_unknown_format(measured_data: Path, tmp_path: Path) -> None:
    data = json.loads((measured_data / "rtx3080_f16_f32_directed.json").read_text())
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({**data, "d_format": "f23"}))
    assert f"{path}: unknown format 'f23': did you mean f32" in refused(path)
    path.write_text(json.dumps({**data, "cases": [{**data["cases"][0], "c": "xyz"}]}))
    assert f"{path}: cases[0].c: 'xyz' is not a hexadecimal word" in refused(path)


# A folder with a manifest


ENTRY = {
    "file": "x.npz", "gpu": "V100", "architecture": "Volta", "interface": "wmma", "rows": 3, "k": 4,
    "a_format": "f16", "b_format": "f16", "c_format": "f32", "d_format": "f32",
    "c_convention": "fp32 as given",
}  # fmt: skip
ARRAYS: dict[str, Any] = {
    "a": np.zeros((3, 4), np.uint16), "b": np.zeros((3, 4), np.uint16),
    "c": np.zeros(3, np.uint32), "d": np.zeros(3, np.uint32),
}  # fmt: skip


def packed(folder: Path, entry: Any = ENTRY, **arrays: Any) -> Path:
    """A manifest of one entry and its .npz; None leaves an array out."""
    (folder / "manifest.json").write_text(json.dumps([entry]))
    chosen = {name: array for name, array in {**ARRAYS, **arrays}.items() if array is not None}
    np.savez(folder / "x.npz", **chosen)
    return folder


def test_manifests_are_read_from_their_folder_and_files(tmp_path: Path) -> None:
    assert only(packed(tmp_path)).rows == 3
    assert only(tmp_path / "x.npz").notes == "fp32 as given"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"b": None}, "b is missing"),
        ({"e": np.zeros(3)}, "unknown name 'e'; known: a, b, c, d"),
        ({"a": np.zeros(3, np.uint16)}, "a has shape (3,): it must be (rows, k)"),
        ({"b": np.zeros((3, 5), np.uint16)}, "b has shape (3, 5): it must be (3, 4)"),
        ({"c": np.zeros(2, np.uint32)}, "c has shape (2,): it must be (3,)"),
        ({"d": np.zeros((3, 1), np.uint32)}, "d has shape (3, 1): it must be (3,)"),
        (
            {"a": np.array([[0, 1, 2, 3], [0, 0, 1 << 16, 0], [0] * 4], np.uint64)},
            "a[1, 2] = 0x10000: a word of f16 has 16 bits",
        ),
        ({"d": np.zeros(3, np.int64)}, "d has dtype int64: for f32 it must be "),
        ({"d": np.array(["x"] * 3)}, "d has dtype <U1"),
        ({"d": np.array([None] * 3)}, "is not an .npz file of numeric arrays"),
    ],
)
def test_bad_arrays(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    found = refused(packed(tmp_path, **arrays))
    assert found.startswith(str(tmp_path / "x.npz"))
    assert message in found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 4}, "'rows' is 4, but"),
        ({"k": 8}, "'k' is 8, but"),
        ({"a_format": "f61"}, "unknown format 'f61': did you mean"),
        ({"a_format": None}, "'a_format' is missing or is not text"),
        ({"c_convention": 3}, "'c_convention' is missing or is not text"),
        ({"interface": 3}, "'interface' is missing or is not text"),
    ],
)
def test_bad_manifest_entries(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    found = refused(packed(tmp_path, {**ENTRY, **changes}))
    assert found.startswith(f"{tmp_path / 'manifest.json'}: [0]: ")
    assert message in found


def test_bad_manifests(tmp_path: Path) -> None:
    packed(tmp_path, {**ENTRY, "file": "y.npz"})
    assert "cannot read" in refused(tmp_path)
    assert "x.npz is not listed in" in refused(tmp_path / "x.npz")
    assert "did you mean y.npz?" in refused(tmp_path / "x.npz")
    (tmp_path / "y.npz").write_text("not an archive")
    assert f"{tmp_path / 'y.npz'} is not an .npz file" in refused(tmp_path)
    (tmp_path / "y.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:-60])
    assert f"{tmp_path / 'y.npz'} is not an .npz file" in refused(tmp_path)
    manifest = tmp_path / "manifest.json"
    for text, message in (
        ('[\n{"file": }]', ":2: not JSON"),
        ("{}", "not a list of data sets"),
        ("[3]", '[0] is not an object with a "file" that is text'),
        ('[{"file": 3}]', '[0] is not an object with a "file" that is text'),
    ):
        manifest.write_text(text)
        assert message in refused(tmp_path)
    manifest.unlink()
    assert "x.npz has no manifest.json beside it" in refused(tmp_path / "x.npz")
    assert f"{tmp_path} is not a data set" in refused(tmp_path)


def test_paths_that_are_no_data_set(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere") == f"there is no file or folder {tmp_path / 'nowhere'}"
    (tmp_path / "notes.txt").write_text("hello\n")
    assert "is not a data set: must be" in refused(tmp_path / "notes.txt")
    assert "is not a data set: it has no manifest.json" in refused(tmp_path)
    # a missing path is refused before anything is read
    with pytest.raises(TcsmtError, match="there is no file or folder"):
        next(find_datasets([tmp_path, tmp_path / "nowhere"]))
