"""Rows of inputs and results in JSON, CSV and .npz files."""

from __future__ import annotations

import csv
import json
import lzma
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.measured.row_files import read_rows, write_rows
from tcsmt.simulate.rows import Words, run_words
from tcsmt.support.errors import TcsmtError

MODEL = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
FP8 = row_named("hopper/mma.m16n8k32.f16.e4m3.e5m2.f16").model
TF32 = row_named("ampere/mma.m16n8k4.f32.tf32.tf32.f32").model
BF16 = row_named("ampere/mma.m16n8k8.f32.bf16.bf16.f32").model
NVFP4 = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
SUFFIXES = (".json", ".csv", ".npz")


def any_words(model: Model, rows: int = 50) -> Words:
    """Random words: infinities and NaNs are among them."""
    rng = np.random.default_rng(1)

    def words(width: int, *shape: int) -> Any:
        return rng.integers(0, 1 << width, shape, np.uint64)

    k, scale = model.k, model.scale_format
    scales = [] if scale is None else [
        words(scale.width, rows, model.scales).astype(unsigned(scale)) for _ in "ab"
    ]  # fmt: skip
    return Operands(
        words(model.a_format.width, rows, k).astype(unsigned(model.a_format)),
        words(model.b_format.width, rows, k).astype(unsigned(model.b_format)),
        words(model.c_format.width, rows).astype(unsigned(model.c_format)),
        *scales,
    )


def saved(tmp_path: Path, name: str, content: Any) -> Path:
    """A file of inputs: text, JSON data or arrays."""
    path = tmp_path / name
    if path.suffix == ".npz":
        np.savez(path, **content)
    elif path.suffix == ".json" and not isinstance(content, str):
        path.write_text(json.dumps(content))
    else:
        path.write_text(content)
    return path


def refused(path: Path, model: Model = MODEL) -> str:
    with pytest.raises(TcsmtError) as caught:
        read_rows(path, model)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "model", [MODEL, FP8, TF32, BF16, NVFP4], ids=["f16", "fp8", "tf32", "bf16", "nvfp4"]
)
def test_written_rows_read_back(tmp_path: Path, suffix: str, model: Model) -> None:
    inputs = any_words(model)
    path = tmp_path / f"rows{suffix}"
    write_rows(path, model, inputs, run_words(model, inputs))
    found = read_rows(path, model)
    assert list(found.named) == list(inputs.named)
    for read, given in zip(found.parts, inputs.parts, strict=True):
        assert read.dtype == given.dtype
        np.testing.assert_array_equal(read, given)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_compressed_files_have_the_same_rows(tmp_path: Path, suffix: str) -> None:
    inputs = any_words(MODEL)
    path = tmp_path / f"rows{suffix}"
    write_rows(path, MODEL, inputs, run_words(MODEL, inputs))
    compressed = tmp_path / f"rows{suffix}.xz"
    compressed.write_bytes(lzma.compress(path.read_bytes()))
    for read, given in zip(read_rows(compressed, MODEL).parts, inputs.parts, strict=True):
        np.testing.assert_array_equal(read, given)


def test_results_are_written_as_words_and_values(tmp_path: Path) -> None:
    inputs = Operands(
        np.array([[0x3C00, 0, 0, 0], [0x7E00, 0, 0, 0]], np.uint16),
        np.array([[0x3D00, 0, 0, 0], [0x3C00, 0, 0, 0]], np.uint16),
        np.array([0, 0], np.uint32),
    )
    d = run_words(MODEL, inputs)
    for suffix in SUFFIXES:
        write_rows(tmp_path / f"d{suffix}", MODEL, inputs, d, name="volta")
    data = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert data["model"] == "volta"
    assert data["rows"][0] == {
        "a": ["0x3c00", "0x0000", "0x0000", "0x0000"],
        "b": ["0x3d00", "0x0000", "0x0000", "0x0000"],
        "c": "0x00000000",
        "d": "0x3fa00000",
        "value": "1.25",
    }
    assert data["rows"][1]["value"] == "nan"
    with (tmp_path / "d.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "c", "d", "value", "model"]
    assert {row["model"] for row in rows} == {"volta"}
    assert (rows[0]["b0"], rows[0]["d"], rows[0]["value"]) == ("0x3d00", "0x3fa00000", "1.25")
    arrays = np.load(tmp_path / "d.npz")
    assert str(arrays["model"]) == "volta"
    assert arrays["d"].dtype == np.uint32
    np.testing.assert_array_equal(arrays["d"], d)


# Reading


def test_json_values(tmp_path: Path) -> None:
    rows = (
        '[{"a": ["0x3c00", "3c00", "1.5", "-0x1.8p-3"], "b": [1, -2.0, 0.5, 3200], "c": NaN},'
        ' {"a": ["nan", "-inf", "-0", "0"], "b": [-0.0, 0, 1e3, -Infinity]}]'
    )
    for text in (rows, f'{{"rows": {rows}}}', f'\ufeff{{"rows": {rows}}}'):
        a, b, c = read_rows(saved(tmp_path, "rows.json", text), MODEL).parts
        assert a.tolist() == [[0x3C00, 0x3C00, 0x3E00, 0xB200], [0x7E00, 0xFC00, 0x8000, 0]]
        # a number is a value, even one whose digits could be those of a word
        assert b.tolist() == [[0x3C00, 0xC000, 0x3800, 0x6A40], [0x8000, 0, 0x63D0, 0xFC00]]
        assert c.tolist() == [0x7FC00000, 0]


def test_csv_values(tmp_path: Path) -> None:
    text = "c, b3,b2,b1,b0,a0,a1,a2,a3\r\n1.5,0x0001,0,0,nan, 1.0 ,2.0,3.0,4.0\r\n\r\n,,,,,,,,\r\n"
    a, b, c = read_rows(saved(tmp_path, "rows.CSV", text), MODEL).parts
    assert a.tolist() == [[0x3C00, 0x4000, 0x4200, 0x4400]]
    assert b.tolist() == [[0x7E00, 0, 0, 1]]
    assert c.tolist() == [0x3FC00000]
    text = "\ufeffa0,a1,a2,a3,b0,b1,b2,b3\n" + "0x3c00," * 7 + "0x3c00\n"
    assert read_rows(saved(tmp_path, "rows.csv", text), MODEL).c.tolist() == [0]


def test_scales_missing_unknown_and_of_the_wrong_count(tmp_path: Path) -> None:
    lanes, four = ["0"] * 64, ["1.0"] * 4
    good = {"a": lanes, "b": lanes, "scale_a": four, "scale_b": four}
    assert read_rows(saved(tmp_path, "good.json", [good]), NVFP4).scale_a is not None
    without = {name: values for name, values in good.items() if name != "scale_b"}
    assert "rows[0]: scale_b is missing" in refused(saved(tmp_path, "a.json", [without]), NVFP4)
    few = {**good, "scale_a": four[:2]}
    assert "scale_a has 2 values: the unit's number of scales is 4" in refused(
        saved(tmp_path, "b.json", [few]), NVFP4
    )
    plain = {"a": ["0"] * 4, "b": ["0"] * 4, "scale_a": four}
    assert "unknown name 'scale_a'; known: a, b, c, d, value" in refused(saved(tmp_path, "c.json", [plain]))
    assert "sa0 to sa3, sb0 to sb3" in refused(saved(tmp_path, "d.csv", "a0,x\n"), NVFP4)
    arrays = {"a": np.zeros((3, 64), np.uint8), "b": np.zeros((3, 64), np.uint8)}
    assert "scale_a is missing" in refused(saved(tmp_path, "e.npz", arrays), NVFP4)
    arrays |= {"scale_a": np.zeros((3, 2), np.uint8), "scale_b": np.zeros((3, 4), np.uint8)}
    assert "scale_a has shape (3, 2)" in refused(saved(tmp_path, "f.npz", arrays), NVFP4)


def test_npz_values(tmp_path: Path) -> None:
    ones = np.ones((3, 4), np.float16)
    a, b, c = read_rows(saved(tmp_path, "x.npz", {"a": ones, "b": ones.astype(np.float64)}), MODEL).parts
    assert (a == 0x3C00).all()
    assert (b == 0x3C00).all()
    assert c.tolist() == [0, 0, 0]
    assert c.dtype == np.uint32
    narrow = np.ones((3, 8), ml_dtypes.bfloat16)  # NumPy stores it without its dtype
    words = np.full((3, 8), 0x3F80, np.uint16)
    assert (read_rows(saved(tmp_path, "x.npz", {"a": narrow, "b": words}), BF16).a == words).all()


# What is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", ":1: not JSON: "),
        ("{}", 'neither a list of rows nor an object with a list "rows"'),
        ("3", "neither a list of rows"),
        ("[]", "no rows"),
        ("[3]", "rows[0]: not an object"),
        ([{"a": [0] * 4, "b": [0] * 4}, {"a": [0] * 4}], "rows[1]: b is missing"),
        ([{"a": [0] * 4, "b": [0] * 4, "C": 1}], "rows[0]: unknown name 'C'; known: a, b, c, d"),
        ([{"a": [0] * 3, "b": [0] * 4}], "rows[0].a has 3 values: the model's k is 4"),
        ([{"a": 0, "b": [0] * 4}], "rows[0].a: not a list"),
        ([{"a": [0, 0, True, 0], "b": [0] * 4}], "rows[0].a[2]: true is not a word or a number"),
        ([{"a": [0, 0, None, 0], "b": [0] * 4}], "rows[0].a[2]: null is not a word or a number"),
        ([{"a": [0] * 4, "b": [0] * 4, "c": [0]}], "rows[0].c: [0] is not a word or a number"),
        ([{"a": [0, 0.1, 0, 0], "b": [0] * 4}], "rows[0].a[1]: '+0.1' is not representable in f16"),
        ([{"a": ["0x10000", 0, 0, 0], "b": [0] * 4}], "rows[0].a[0]: '0x10000': a word of f16"),
        ([{"a": ["x", 0, 0, 0], "b": [0] * 4}], "rows[0].a[0]: 'x' is neither a f16 word"),
        ([{"a": [0] * 4, "b": [0] * 4, "c": 1e300}], "rows[0].c: "),
    ],
)
def test_bad_json(tmp_path: Path, content: Any, message: str) -> None:
    path = saved(tmp_path, "rows.json", content)
    found = refused(path)
    assert found.startswith(str(path))
    assert message in found


HEADER = "a0,a1,a2,a3,b0,b1,b2,b3,c\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: missing columns: a0, a1, a2, a3, b0, b1, b2, b3"),
        ("a0,a1,a2,b0,b1,b2,b3,c\n", ":1: missing columns: a3"),
        ("a0,a1,a2,a3,a4,b0,b1,b2,b3\n", ":1: unknown column 'a4'; for this model: a0 to a3,"),
        ("a0,a0,a1,a2,a3,b0,b1,b2,b3\n", ":1: column a0 is given twice"),
        (HEADER, " has no rows"),
        (HEADER + "0,0,0,0,0,0,0,0,0\n\n0,0\n", ":4: 2 values for 9 columns"),
        (HEADER + "0,0,0,0,0,0,0,0,0\n0,0,0,0,0,zz,0,0,0\n", ":3: b1: 'zz' is neither a f16 word"),
        (HEADER + "0,0,0,0,0,,0,0,0\n", ":2: b1: '' is neither a f16 word"),
        (HEADER + "0,0,0,0,0,0,0,0,0x123456789\n", ":2: c: '0x123456789': a word of f32 has 32"),
        (HEADER + f'"{"0" * 200_000}"\n', ": not valid CSV: "),
    ],
)  # fmt: skip
def test_bad_csv(tmp_path: Path, content: str, message: str) -> None:
    path = saved(tmp_path, "rows.csv", content)
    found = refused(path)
    assert found.startswith(str(path))
    assert message in found


Z = np.zeros((3, 4), np.uint16)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": Z}, "b is missing"),
        ({"a": Z, "b": Z, "C": Z}, "unknown name 'C'; known: a, b, c, d, value"),
        ({"a": Z[:, :3], "b": Z}, "a has shape (3, 3): it must be (rows, 4)"),
        ({"a": np.uint16(3), "b": Z}, "a has shape (): it must be (rows, 4)"),
        ({"a": Z, "b": Z[:2]}, "b has shape (2, 4): it must be (3, 4)"),
        ({"a": Z, "b": Z, "c": Z}, "c has shape (3, 4): it must be (3,)"),
        ({"a": Z[:0], "b": Z[:0]}, "no rows"),
        ({"a": Z + 0.1, "b": Z}, "a[0, 0] = 0.1 is not a valid f16 value"),
        ({"a": Z + np.uint32(1 << 16), "b": Z}, "a has dtype uint32: words of f16 have 16 bits (uint16)"),
        ({"a": Z.astype(np.int32), "b": Z}, "a has dtype int32"),
        ({"a": Z.astype("V4"), "b": Z}, "a has dtype uint32: words of f16 have 16 bits (uint16)"),
        ({"a": Z.astype(object), "b": Z}, "is not an .npz file of numeric arrays"),
    ],
)
def test_bad_npz(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    path = saved(tmp_path, "rows.npz", content)
    found = refused(path)
    assert found.startswith(str(path))
    assert message in found


def test_files_that_are_something_else(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        path = tmp_path / f"rows{suffix}"
        assert "No such file" in refused(path)
        path.write_bytes(b"\xff\xfe\x00junk")
        assert str(path) in refused(path)
        path.unlink()
        path.mkdir()
        assert "Is a directory" in refused(path)
    np.save(tmp_path / "one.npy", Z)
    single = (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    assert "is not an .npz file" in refused(single)
    assert "unknown suffix of an input file '.txt'" in refused(tmp_path / "rows.txt")


def test_unwritable_outputs_leave_nothing(tmp_path: Path) -> None:
    inputs = any_words(MODEL, rows=2)
    d = run_words(MODEL, inputs)
    with pytest.raises(TcsmtError, match=r"an output file '\.jsn': did you mean \.json"):
        write_rows(tmp_path / "d.jsn", MODEL, inputs, d)
    with pytest.raises(TcsmtError, match=r"cannot write .*No such file"):
        write_rows(tmp_path / "none" / "d.json", MODEL, inputs, d)
    (tmp_path / "d.json").mkdir()
    with pytest.raises(TcsmtError, match=r"cannot write .*d\.json"):
        write_rows(tmp_path / "d.json", MODEL, inputs, d)
    assert os.listdir(tmp_path) == ["d.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.csv"
    path.write_text("old")

    def fail(*names: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    inputs = any_words(MODEL.replace(k=4), rows=2)
    with pytest.raises(TcsmtError, match=r"cannot write .*: Permission denied"):
        write_rows(path, MODEL, inputs, run_words(MODEL, inputs))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["d.csv"]


def test_json_lines(tmp_path: Path) -> None:
    """One row on each line; errors name the line, or the row."""
    model = row_named("volta").model
    file = tmp_path / "v.jsonl"
    row = {"a": ["1", "0", "0", "0"], "b": ["2", "0", "0", "0"], "c": "0.5"}
    file.write_text(f"{json.dumps(row)}\n\n{json.dumps(row)}\n")
    inputs = read_rows(file, model)
    assert inputs.a.tolist() == [[0x3C00, 0, 0, 0]] * 2
    assert inputs.c.tolist() == [0x3F000000] * 2
    file.write_text(f"{json.dumps(row)}\n{{\n")
    with pytest.raises(TcsmtError, match=rf"{file}:2: not JSON"):
        read_rows(file, model)
    file.write_text("7\n")
    with pytest.raises(TcsmtError, match=r"rows\[0\]: not an object"):
        read_rows(file, model)
    file.write_text("\n")
    with pytest.raises(TcsmtError, match="no rows"):
        read_rows(file, model)
