"""``tcsmt kernel tree``: a library's order and a kernel's; refusals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import done, refused

#: Products from the last to the first, each added in binary32.
BACKWARDS = """
import math

import numpy as np

def multiply(a, b):
    total = np.zeros((len(a), b.shape[1]), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in reversed(range(a.shape[1])):
            total = total + a[:, k : k + 1].astype(np.float32) * b[k]
    return total

def exactly(a, b):
    sums = [[math.fsum(x * y) for y in b.T.astype(float)] for x in a.astype(float)]
    return np.array(sums).astype(np.float32)

def partly(a, b):
    found = multiply(a, b)
    found[:, 0] = exactly(a, b)[:, 0]
    return found
"""


@pytest.fixture(autouse=True)
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "tests_own_kernel.py").write_text(BACKWARDS)
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("tests_own_kernel", None)


@pytest.mark.slow
def test_trees_of_python_functions_are_printed() -> None:
    data = json.loads(done("kernel", "tree", "--python", "tests_own_kernel:multiply", "--k", 5, "--json"))
    assert (data["k"], data["format"], data["shape"]) == (5, "f32", [5, 5])
    assert data["tree"]["steps"] == [[3, 4], [2], [1], [0]]
    assert [(one["products"], one["compared"]) for one in data["regions"]] == [(1000, 25000)]
    words = ("--python", "tests_own_kernel:multiply", "--k", 5, "--shape", 2, 1, "--products", 1200)
    text = done("kernel", "tree", *words)
    assert text.startswith("(2 x 5) · (5 x 1), f32; ")
    assert "held against 1200 random products, 2400 elements: the tree gives every bit" in text


@pytest.mark.slow
def test_trees_of_kernels_have_their_parts() -> None:
    """Two parts of eight products, each two instructions of four."""
    data = json.loads(done("kernel", "tree", "--kernel", "volta+split-k:2", "--k", 16, "--json"))
    assert data["format"] == "f16"
    (parts,) = data["tree"]["steps"]
    assert [part["steps"] for part in parts] == [
        [[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9, 10, 11], [12, 13, 14, 15]],
    ]  # fmt: skip
    assert {part["unit"] for part in parts} == {"volta/mma.m8n8k4.f32.f16.f16.f32"}


def test_no_tree_is_an_error_and_some_are_unknown() -> None:
    said = refused("kernel", "tree", "--python", "tests_own_kernel:exactly", "--k", 5)
    assert "nothing is lost in any sum: sums are exact" in said
    words = ("--python", "tests_own_kernel:partly", "--k", 5)
    text = done("kernel", "tree", *words, code=3)
    assert "BY REGION" in text and "none: nothing is lost in any sum" in text


@pytest.mark.parametrize(("words", "said"), [
    ("--k 4", "give one of --python and --kernel"),
    ("--k 4 --kernel volta --python numpy:matmul", "give one of --python and --kernel"),
    ("--k 1 --python numpy:matmul", "1 is not in the range x>=2"),
    ("--k 4 --python numpy:matmull", "unknown function of module numpy 'matmull': did you mean matmul"),
    ("--k 4 --python numpy:matmul --format f33", "unknown format 'f33'"),
    ("--k 4 --python numpy:matmul --products 10", "10 is not in the range x>=1000"),
    ("--k 4 --kernel voltage", "unknown architecture 'voltage': did you mean volta"),
])  # fmt: skip
def test_bad_input(words: str, said: str) -> None:
    assert said in refused("kernel", "tree", *words.split())
