"""``tcsmt run``: rows in every format of files, and rows that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt import __version__
from tcsmt.matrix_units.catalogue import row_named
from tests.support.command_line import done, refused, tcsmt

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
ROWS: list[dict[str, Any]] = [
    {"a": ["0x3c00", "2.0", "0", "0"], "b": ["1.5", "0x1p-3", 0, 0], "c": "0x3f800000"},
    {"a": ["inf", "0", "0", "0"], "b": ["0", "0", "0", "0"], "c": "0"},
]
EXPECTED = ["0x40300000", "0x7fffffff"]  # 1.5 + 0.25 + 1, and a NaN


def test_run_json(tmp_path: Path) -> None:
    path, out = tmp_path / "rows.json", tmp_path / "out.json"
    path.write_text(json.dumps(ROWS))
    data = json.loads(done("run", VOLTA, "--input", path, "--json"))
    done("run", VOLTA, "--input", path, "--output", out)
    assert data["model"] == VOLTA
    assert [d["word"] for d in data["d"]] == EXPECTED
    assert data["d"][0] == {"word": "0x40300000", "value": "1.375·2^1", "decimal": "2.75", "format": "f32"}
    text = done("run", "volta", "--input", path, "--explain")
    assert "0: 0x40300000  1.375·2^1  2.75\n" in text
    assert re.search(r"^ +largest exponent +2\^0$", text, re.MULTILINE)
    # what was written is read again, and is a data set
    assert json.loads(done("run", VOLTA, "--input", out, "--json")) == data
    assert "1 data set, 2 rows, 0 mismatches" in done("validate", out)


@pytest.mark.parametrize("suffix", ["json", "csv", "npz"])
def test_run_formats(suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / "rows.csv", tmp_path / f"out.{suffix}"
    names = row_named(VOLTA).model.input_names
    rows = [[*row["a"], *row["b"], row["c"]] for row in ROWS]
    first.write_text("\n".join(",".join(map(str, r)) for r in [names, *rows]))
    done("run", VOLTA, "--input", first, "--output", second)
    again = json.loads(done("run", VOLTA, "--input", second, "--json"))
    assert [d["word"] for d in again["d"]] == EXPECTED
    if suffix == "npz":
        arrays = np.load(second)
        assert arrays["a"].shape == (2, 4)
        assert [f"{word:#x}" for word in arrays["d"].view(np.uint32)] == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rows.json"),
        ("{", "rows.json"),
        ("[]", "no rows"),
        ('[{"a": [1, 2, 3], "b": [1, 2, 3, 4], "c": 0}]', "rows[0].a"),
        ('[{"a": [1, 2, 3, "x"], "b": [1, 2, 3, 4], "c": 0}]', "rows[0].a[3]"),
        ('[{"a": [1, 2, 3, 1e9], "b": [1, 2, 3, 4], "c": 0}]', "not representable in f16"),
        ('[{"a": [1, 2, 3, 4], "c": 0}]', "b"),
    ],
)
def test_bad_rows(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    assert message in refused("run", VOLTA, "--input", path)


SUFFIXES = ["json", "csv", "npz"]
TABLE = "a0,a1,a2,a3,b0,b1,b2,b3,c\n1.5,0,0,0,2,0,0,0,0x3f800000\ninf,0,0,0,0,0,0,0,0\n"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_output_is_a_data_set_and_nothing_is_printed(suffix: str, rows: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out.{suffix}"
    found = tcsmt("run", "volta", "--input", rows, "--output", out)
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", f"{out}: 2 rows of {VOLTA}\n")
    validated = done("validate", out)
    assert f" 0  {VOLTA}\n1 data set, 2 rows, 0 mismatches" in validated
    # another unit's results on the same inputs
    assert "2 rows, 1 mismatch" in done("validate", out, "--against", _other(tmp_path), code=1)


def _other(folder: Path) -> Path:
    path = folder / "mine.toml"
    path.write_text(f'base = "{VOLTA}"\nnan = 0x7fc00000\n')
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_results_of_a_model_file(suffix: str, rows: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out.{suffix}"
    done("run", _other(tmp_path), "--input", rows, "--output", out)
    assert "0  custom/mine\n" in done("validate", out)
    assert "1 mismatch" in done("validate", out, "--against", "volta", code=1)


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_files_that_name_no_model(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"own.{suffix}"
    if suffix == "csv":
        path.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c,d\n1,0,0,0,2,0,0,0,0,0x40000000\n1,0,0,0,2,0,0,0,0,0x0\n")
    else:
        a = np.array([[1, 0, 0, 0]] * 2, np.float16)
        np.savez(path, a=a, b=2 * a, c=np.zeros(2, np.float32), d=np.array([2, 0], np.float32))
    assert "--against UNIT" in refused("validate", path)
    assert "2 rows, 1 mismatch" in done("validate", path, "--against", "volta", code=1)


def test_rows_without_results_are_no_data_set(rows: Path, tmp_path: Path) -> None:
    assert f"{rows}:1: column d is missing" in refused("validate", rows, "--against", "volta")
    path = tmp_path / "x.npz"
    np.savez(path, a=np.zeros((1, 4), np.uint16), b=np.zeros((1, 4), np.uint16))
    assert "x.npz: array d is missing" in refused("validate", path, "--against", "volta")
    text = "a0,a1,a2,a3,b0,b1,b2,b3,d,model\n0,0,0,0,0,0,0,0,0,volta\n0,0,0,0,0,0,0,0,0,ampere\n"
    (tmp_path / "two.csv").write_text(text)
    assert "rows of several models: ampere, volta" in refused("validate", tmp_path / "two.csv")


def test_json_and_stages_beside_an_output(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    common = ("run", "volta", "--input", rows, "--output", out)
    data = json.loads(done(*common, "--json"))
    assert data == {"tcsmt": __version__, "model": VOLTA, "output": str(out), "rows": 2, "rounded": []}
    assert "    largest exponent " in done(*common, "--explain")


def test_decimals_are_rounded_and_said(tmp_path: Path) -> None:
    source = tmp_path / "rows.json"
    source.write_text('[{"a": [0.1, 0, 0, 0], "b": ["1", 0, 0, 0], "c": "0.1"}]')
    found = tcsmt("run", "volta", "--input", source, "--json")
    said = [
        f"{source}: rows[0].a[0]: 0.1 is not an exact f16 value: the nearest is 0x2e66 (1.599609375·2^-4)",
        f"{source}: rows[0].c: 0.1 is not an exact f32 value: the nearest is 0x3dcccccd "
        "(1.60000002384185791015625·2^-4)",
    ]
    assert found.stderr.splitlines() == said
    data = json.loads(found.stdout)
    assert data["rounded"] == said
    assert data["d"][0]["word"] == "0x3e4cc666"
    source.write_text('[{"a": [1e9, 0, 0, 0], "b": ["1", 0, 0, 0]}]')
    assert "is not representable in f16, whose largest value is" in refused("run", "volta", "--input", source)
    source.write_text('[{"a": ["0x1.0001p0", 0, 0, 0], "b": ["1", 0, 0, 0]}]')
    assert "0x3c00 (1)" in refused("run", "volta", "--input", source)


def test_operands_of_another_format(tmp_path: Path) -> None:
    """Arrays are refused without a rule; decimals in text are rounded by it, and said."""
    name, source = "ampere/mma.m16n8k4.f32.tf32.tf32.f32", tmp_path / "rows.npz"
    fine = np.array([[1 + 3 * 2.0**-12, 0, 0, 0]], np.float32)
    np.savez(source, a=fine, b=np.ones((1, 4)))
    message = refused("run", name, "--input", source)
    assert "a[0, 0] = 1.000732421875 is not a valid tf32 value; round it first" in message
    assert "`tcsmt run` takes --operands truncate|nearest-even|nearest-away" in message
    for rule, word in (("truncate", "0x3f800000"), ("nearest-even", "0x3f802000")):
        data = json.loads(done("run", name, "--input", source, "--operands", rule, "--json"))
        assert [one["word"] for one in data["d"]] == [word]
    text = tmp_path / "rows.csv"
    text.write_text("a0,a1,a2,a3,b0,b1,b2,b3\n1.000732421875,0,0,0,1,0,0,0\n")
    found = tcsmt("run", name, "--input", text, "--operands", "truncate", "--json")
    assert json.loads(found.stdout)["d"][0]["word"] == "0x3f800000"
    assert "0x3f800000 (1)" in found.stderr


def test_scales_in_their_dtypes(tmp_path: Path) -> None:
    """As the unit takes them: float8_e4m3fn, whose name NumPy does not store, words, or exact numbers."""
    name, source = (
        "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        tmp_path / "rows.npz",
    )
    ones = np.ones((1, 64), np.float32)
    numbers = np.array([[0.5, 1, 2, 4]], np.float32)
    scales = numbers.astype(ml_dtypes.float8_e4m3fn)
    for scale in (scales, scales.view(np.uint8), numbers):
        np.savez(source, a=ones, b=ones, scale_a=scale, scale_b=np.ones((1, 4)))
        (found,) = json.loads(done("run", name, "--input", source, "--json"))["d"]
        assert found["value"] == "1.875·2^6" and float(found["decimal"]) == 120
    np.savez(source, a=ones, b=ones, scale_a=numbers / 3, scale_b=numbers)
    message = refused("run", name, "--input", source, "--operands", "truncate")
    assert "scale_a[0, 0] = 0.1666" in message and "is not a valid ue4m3 value; round it first, or" in message
