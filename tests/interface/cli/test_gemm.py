"""``tcsmt gemm``: files in and out, how it goes on, refusals."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.interface.api import stored_products
from tcsmt.interface.cli import main
from tcsmt.programs.kernels import batched
from tcsmt.support.checkpoint import Checkpoint, Layout


def saved(folder: Path, **arrays: Any) -> list[str]:
    """Options for arrays written to files."""
    options = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        options += [f"--{name}", str(folder / f"{name}.npy")]
    return options


def test_tensors_by_name(tmp_path: Path) -> None:
    """From a safetensors file: BF16 needs no ``--a-format``; an unknown name is an error."""
    table = {"x": {"dtype": "BF16", "shape": [2, 16], "data_offsets": [0, 64]}}
    text = json.dumps(table).encode()
    x = np.arange(32).reshape(2, 16).astype(ml_dtypes.bfloat16)
    file = tmp_path / "layer.safetensors"
    file.write_bytes(len(text).to_bytes(8, "little") + text + x.tobytes())
    np.save(tmp_path / "b.npy", np.ones((16, 3), np.float32))
    options = ["gemm", "h100", "--b", str(tmp_path / "b.npy"), "--output", str(tmp_path / "d.npy"), "--json"]
    done = CliRunner().invoke(main, [*options, "--a", f"{file}:x"])
    assert done.exit_code == 0 and json.loads(done.output)["model"].endswith("f32.bf16.bf16.f32")
    assert np.array_equal(np.load(tmp_path / "d.npy"), x.astype(np.float32) @ np.ones((16, 3), np.float32))
    done = CliRunner().invoke(main, [*options, "--a", f"{file}:y"])
    assert done.exit_code == 2 and "unknown tensor of" in done.output + done.stderr


def test_alpha_of_each_row(tmp_path: Path) -> None:
    """A file of numbers in place of one; C is added after the products then."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((20, 40), (40, 30)))
    c = rng.standard_normal((20, 30)).astype(np.float32)
    rows = rng.standard_normal(20).astype(np.float32)
    files = saved(tmp_path, a=a, b=b, c=c, alpha=rows)
    options = ["gemm", "h100", *files, "--output", str(tmp_path / "d.npy")]
    done = CliRunner().invoke(main, [*options, "--columns", "16"])
    assert done.exit_code == 0, done.output
    expected = tcsmt.gemm(a, b, c, unit="h100", alpha=rows)
    assert np.array_equal(np.load(tmp_path / "d.npy"), expected)
    plain = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(expected, rows[:, None] * plain + c, atol=1e-3)
    done = CliRunner().invoke(main, [*options, "--epilogue", "c=first"])
    assert done.exit_code == 2 and "given for each row" in done.output + done.stderr
    done = CliRunner().invoke(main, [*options[:-1], "d.npy", "--alpha", "one"])
    assert done.exit_code == 2 and "cannot read one" in done.output + done.stderr


def test_command(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    a = rng.standard_normal((20, 40)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((40, 50)).astype(ml_dtypes.bfloat16)
    c = rng.standard_normal((20, 50)).astype(np.float32)
    name = "b200/mma.m16n8k16.f32.bf16.bf16.f32"
    expected = tcsmt.gemm(a, b, c, unit=name, reduction=tcsmt.promoted(16))
    options = ["gemm", name, *saved(tmp_path, a=a, b=b, c=c), "--output", str(tmp_path / "d.npy")]
    options += ["--reduction", "promote:16", "--columns", "16", "--json"]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 0, done.output
    assert np.array_equal(np.load(tmp_path / "d.npy"), expected)
    facts = json.loads(done.stdout)
    assert facts["shape"] == [20, 40, 50]
    assert facts["sha256"] == hashlib.sha256(expected.tobytes()).hexdigest()
    assert {path.name for path in tmp_path.iterdir()} == {"a.npy", "b.npy", "c.npy", "d.npy"}


def test_an_interrupted_command_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((20, 40)).astype(np.float16), rng.standard_normal((40, 50)).astype(np.float16)
    options = ["gemm", "hopper", *saved(tmp_path, a=a, b=b), "--output", str(tmp_path / "d.npy")]
    options += ["--columns", "16", "--json"]
    calls = []

    def interrupted(*args: Any, **more: Any) -> Any:
        calls.append(more["b"].shape)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return batched.batched(*args, **more)

    monkeypatch.setattr(stored_products, "batched", interrupted)
    stopped = CliRunner().invoke(main, options)
    assert stopped.exit_code == 130
    assert not (tmp_path / "d.npy").exists()
    done = CliRunner().invoke(main, options)
    assert json.loads(done.stdout)["resumed_at_column"] == 32
    assert np.array_equal(np.load(tmp_path / "d.npy"), tcsmt.gemm(a, b, unit="hopper"))
    # other inputs are another job
    calls.clear()
    assert CliRunner().invoke(main, options).exit_code == 130
    saved(tmp_path, a=a * 2)
    done = CliRunner().invoke(main, options)
    assert json.loads(done.stdout)["resumed_at_column"] == 0


def test_one_command_at_a_time_has_an_output(tmp_path: Path) -> None:
    one = np.ones((4, 4), dtype=np.float16)
    options = ["gemm", "hopper", *saved(tmp_path, a=one, b=one), "--output", str(tmp_path / "d.npy")]
    state = tmp_path / "d.npy.partial.json"
    with Checkpoint(state, Layout()):
        busy = CliRunner().invoke(main, options)
    assert busy.exit_code == 2
    assert f"{state} is in use by another run" in busy.output
    state.write_text("[]")
    other = CliRunner().invoke(main, options)
    assert other.exit_code == 2
    assert f"{state} was not written by this command" in other.output
    assert state.read_text() == "[]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--reduction", "split:2"], "unknown reduction 'split': did you mean split-k?"),
        (["--reduction", "promote"], "reduction 'promote': expected promote:EVERY"),
        (["--output", "d.txt"], "the name must end in .npy"),
        (["--output", "/nowhere/d.npy"], "cannot write /nowhere/d.npy.partial"),
        (["--c", "missing.npy"], "cannot read missing.npy: No such file or directory"),
    ],
)
def test_command_errors(tmp_path: Path, change: list[str], message: str) -> None:
    one = np.ones((4, 4), dtype=np.float16)
    options = ["gemm", "hopper", *saved(tmp_path, a=one, b=one), "--output", str(tmp_path / "d.npy"), *change]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 2
    assert message in done.output


def test_operands_and_stacks(tmp_path: Path) -> None:
    """A rule for operands is named, and matrices may be stacks; an interrupted run knows its rule."""
    rng = np.random.default_rng(4)
    a = rng.standard_normal((3, 5, 12)).astype(np.float32)
    b = rng.standard_normal((12, 20)).astype(np.float32)
    options = ["gemm", "h100/wgmma.m64nNk8", *saved(tmp_path, a=a, b=b), "--output", str(tmp_path / "d.npy")]
    refused = CliRunner().invoke(main, options)
    assert refused.exit_code == 2
    assert "is not a valid tf32 value; name how operands are rounded" in refused.stderr
    for rule in ("truncate", "nearest-even"):
        done = CliRunner().invoke(main, [*options, "--operands", rule, "--columns", "8", "--json"])
        assert done.exit_code == 0, done.output
        facts = json.loads(done.stdout)
        assert (facts["stack"], facts["shape"]) == ([3], [5, 12, 20])
        expected = tcsmt.gemm(a, b, unit="h100/wgmma.m64nNk8", operands=rule)
        assert np.array_equal(np.load(tmp_path / "d.npy"), expected)
    text = CliRunner().invoke(main, [*options, "--operands", rule]).stdout
    assert "3 times (5 x 12) · (12 x 20)" in text
