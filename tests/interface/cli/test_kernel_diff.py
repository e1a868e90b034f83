"""``tcsmt kernel diff``: exit codes, the page, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.interface.cli import main


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    random = np.random.default_rng(5)
    a = random.standard_normal((4, 64)).astype(np.float16)
    b = random.standard_normal((64, 3)).astype(np.float16)
    results = [tcsmt.gemm(a, b, unit="h100", reduction=how) for how in ("chained", "split-k:2")]
    names = []
    for name, array in zip(("a", "b", "left", "right"), (a, b, *results), strict=True):
        np.save(tmp_path / f"{name}.npy", array)
        names += [f"--{name}", str(tmp_path / f"{name}.npy")]
    return names


def run(*words: str):
    return CliRunner().invoke(main, ["kernel", "diff", *words])


@pytest.mark.slow
def test_results_that_differ(files: list[str], tmp_path: Path) -> None:
    found = run(
        *files,
        "--left-kernel",
        "h100",
        "--right-kernel",
        "h100+split-k:2",
        "--output",
        str(tmp_path / "d.html"),
    )
    assert found.exit_code == 1
    assert "they differ in how partial sums are added: chained | split-k:2" in found.output
    assert "</svg>" in (tmp_path / "d.html").read_text()
    data = json.loads(run(*files, "--json").output)
    assert sum(band["elements"] for band in data["bands"]) == data["different"] > 0


def test_results_that_are_equal(files: list[str]) -> None:
    found = run(*files[:6], "--right", files[5])
    assert found.exit_code == 0
    assert "0 of 12 elements differ" in found.output


def test_bad_input(files: list[str], tmp_path: Path) -> None:
    assert "the name must end in .html" in run(*files, "--output", str(tmp_path / "d.svg")).output
    np.save(tmp_path / "objects.npy", np.array([[None]]), allow_pickle=True)
    found = run(*files[:6], "--right", str(tmp_path / "objects.npy"))
    assert found.exit_code == 2
    assert "objects.npy is not a .npy array" in found.output
