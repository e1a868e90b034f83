"""``tcsmt kernel tolerance``: exit codes, files, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.interface.cli import main

KERNEL = "ieee/fma.f32.f16+split-k:2"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((6, 64), (64, 5)))
    d = tcsmt.gemm(a, b, unit="ieee/fma.f32.f16", reduction="split-k:2")
    for name, array in (("a", a), ("b", b), ("d", d), ("wrong", -d)):
        np.save(tmp_path / f"{name}.npy", array)
    return [KERNEL, *(word for name in "ab" for word in (f"--{name}", str(tmp_path / f"{name}.npy")))]


def run(*words: str):
    return CliRunner().invoke(main, ["kernel", "tolerance", *words])


def test_a_tolerance(files: list[str], tmp_path: Path) -> None:
    done = run(*files, "--output", str(tmp_path / "atol.npy"), "--search", "0.1")
    assert done.exit_code == 0, done.output
    assert "atol is from" in done.output and "% of its bound" in done.output
    data = json.loads(run(*files, "--search", "0", "--json").output)
    assert np.load(tmp_path / "atol.npy").max() == data["atol"]["largest"]
    assert data["searched"] is None


def test_results(files: list[str], tmp_path: Path) -> None:
    good = run(*files, "--search", "0", "--d", str(tmp_path / "d.npy"))
    assert good.exit_code == 0 and "D is within the proved tolerance" in good.output
    wrong = run(*files, "--search", "0", "--d", str(tmp_path / "wrong.npy"), "--json")
    assert wrong.exit_code == 1
    assert json.loads(wrong.output)["looks_like"] == [
        "alpha, or a scale: every element is -1 times the exact result"
    ]


def test_errors(files: list[str], tmp_path: Path) -> None:
    for words, message in (
        ((KERNEL.replace(":2", ":6") + ",any", *files[1:]), "at most 5 in any order"),
        ((*files, "--output", str(tmp_path / "atol.csv"), "--search", "0"), "allowed suffix: .npy"),
        ((*files, "--c", str(tmp_path / "none.npy")), "none.npy"),
    ):
        done = run(*words)
        assert done.exit_code == 2 and message in done.output


def test_a_pair(files: list[str]) -> None:
    done = run(*files, "--search", "0", "--pair", "--rtol", "0.001")
    assert done.exit_code == 0 and "cosine similarity: >= 0.99999" in done.output
    data = json.loads(run(*files, "--search", "0", "--pair", "--precision", "f32", "--json").output)
    assert data["pair"]["rtol"] == 2.0**-24 and data["pair"]["atol"] < 1.01 * data["atol"]["largest"]
