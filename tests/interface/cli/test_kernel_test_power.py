"""``tcsmt kernel test-power``: exit codes, files, generators, JSON."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tcsmt.interface.cli import main


def run(*words: str):
    return CliRunner().invoke(main, ["kernel", "test-power", "ieee/fma.f32.bf16", *words])


def test_a_generator() -> None:
    drawn = ("--generator", "normal", "--shape", "16", "12", "64")
    done = run(*drawn, "--criterion", "pcc>=0.99", "--only", "zeros,last-k")
    assert done.exit_code == 1, done.output
    assert "1 of 2 wrong kernels pass:" in done.output and "normal, seed 0" in done.output
    data = json.loads(run(*drawn, "--rtol", "1e-6", "--atol", "1e-4", "--only", "zeros", "--json").output)
    assert data["killed"] == ["zeros"] and data["accepts_right"]
    done = run(*drawn, "--python", "numpy.testing:assert_allclose", "--only", "zeros")
    assert done.exit_code == 1 and "criterion: numpy.testing:assert_allclose" in done.output


def test_refused() -> None:
    assert run("--criterion", "equal").exit_code == 2


def test_a_proposal(tmp_path: Path) -> None:
    words = ("--generator", "uniform", "--shape", "12", "12", "64", "--criterion", "pcc>=0.9", "--propose")
    done = run(*words, "--right", "ieee/fma.f32.bf16+split-k:2", "--output", str(tmp_path / "t.npz"))
    assert done.exit_code == 1 and "proved to accept ieee/fma.f32.bf16, ieee" in done.output
    assert (tmp_path / "t.npz").is_file()
    assert json.loads(run(*words, "--json").output)["proposal"]["tests"]
    assert run("--criterion", "equal", "--output", "t.npz").exit_code == 2
