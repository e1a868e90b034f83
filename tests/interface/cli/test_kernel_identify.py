"""``tcsmt kernel identify`` on files."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tests.support.command_line import done, refused

UNIT = "hopper/mma.m16n8k16.f32.f16.f16.f32"


@pytest.fixture
def files(tmp_path: Path) -> list[Any]:
    """A planted product, and the options that name its files."""
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((20, 64)).astype(np.float16), rng.standard_normal((64, 12)).astype(np.float16)
    d = tcsmt.gemm(a, b, unit=UNIT, reduction="split-k:2,step=32")
    for name, matrix in (("a", a), ("b", b), ("d", d)):
        np.save(tmp_path / f"{name}.npy", matrix)
    return [word for name in "abd" for word in (f"--{name}", tmp_path / f"{name}.npy")]


def test_json(files: list[Any]) -> None:
    found = json.loads(done("kernel", "identify", *files, "--unit", UNIT, "--json"))
    assert (found["shape"], found["explained"]) == ([20, 64, 12], True)
    (kernel,) = found["kernels"]
    assert "split-k:2,step=32" in (kernel["reduction"], *kernel["same_reduction"])
    assert kernel["unit"] == UNIT and "b200/" not in kernel["unit"]
    assert found["open"] == found["missed"] == []


@pytest.mark.slow
def test_no_explanation(files: list[Any]) -> None:
    text = done("kernel", "identify", *files, "--unit", "ampere", code=1)
    assert "EXPLAINED BY NONE; the nearest:" in text
    assert "misses" in text and "of 240: D[" in text


def test_plan(files: list[Any], tmp_path: Path) -> None:
    """The kernels are told apart by the product of the matrices that are written."""
    np.save(tmp_path / "d.npy", np.zeros((20, 12), np.float32))
    np.save(tmp_path / "a.npy", np.zeros((20, 64), np.float16))
    options = ["--unit", UNIT, "--plan", tmp_path / "plan", "--json"]
    plan = json.loads(done("kernel", "identify", *files, *options))["plan"]
    a, b = (np.load(tmp_path / "plan" / f"{name}.npy") for name in "AB")
    assert (a.shape, b.shape, a.dtype) == ((20, 64), (64, 12), np.float16)
    assert len(plan["classes"]) > 4
    assert len({tuple(one["answers"]) for one in plan["classes"]}) == len(plan["classes"])
    (tmp_path / "file").touch()
    text = refused("kernel", "identify", *files, "--unit", UNIT, "--plan", tmp_path / "file" / "plan")
    assert "cannot make the folder" in text
    for one in plan["classes"]:
        for name in one["kernels"]:
            d = tcsmt.gemm(a, b, unit=UNIT, reduction=name.partition("+")[2])
            answers = [int(word, 16) for word in one["answers"]]
            assert np.diagonal(d).view(np.uint32)[: len(answers)].tolist() == answers


def test_formats_of_words(tmp_path: Path) -> None:
    a = np.ones((4, 8), ml_dtypes.bfloat16)
    for name, matrix in (("a", a), ("b", a.T), ("d", np.full((4, 4), 8, np.float32))):
        np.save(tmp_path / f"{name}.npy", matrix)
    files = [word for name in "abd" for word in (f"--{name}", tmp_path / f"{name}.npy")]
    assert "A has dtype uint16" in refused("kernel", "identify", *files)
    formats = ["--a-format", "bf16", "--b-format", "bf16", "--unit", "x86/vdpbf16ps"]
    assert "x86/vdpbf16ps+chained" in done("kernel", "identify", *files, *formats)


def test_objects_are_not_unpickled(files: list[Any], tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.array([[print]], object), allow_pickle=True)
    assert "is not a .npy array" in refused("kernel", "identify", *files)


@pytest.mark.slow
def test_operands_that_were_rounded(tmp_path: Path) -> None:
    """FP32 matrices of a TF32 product: the rule that was used explains it, another one does not."""
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((2, 32, 32)).astype(np.float32)
    unit = "hopper/wgmma.m64nNk8.f32.tf32.tf32"
    d = tcsmt.gemm(a, b, unit=unit, operands="nearest-even")
    files: list[object] = []
    for name, matrix in (("a", a), ("b", b), ("d", d)):
        np.save(tmp_path / f"{name}.npy", matrix)
        files += [f"--{name}", tmp_path / f"{name}.npy"]
    options = [*files, "--unit", unit]
    assert "takes A in tf32, and A is f32" in refused("kernel", "identify", *options)
    named = ["--a-format", "tf32", "--b-format", "tf32"]
    assert "A[0, 0] = " in refused("kernel", "identify", *options, *named)
    assert "name these (a_format, b_format" in refused("kernel", "identify", *files, "--operands", "truncate")
    even = json.loads(done("kernel", "identify", *options, "--operands", "nearest-even", "--json"))
    assert f"{unit}+chained" in [kernel["kernel"] for kernel in even["kernels"]]
    assert "EXPLAINED BY NONE" in done("kernel", "identify", *options, "--operands", "truncate", code=1)
    np.save(tmp_path / "cut.npy", tcsmt.gemm(a, b, unit=unit, operands="truncate"))
    sides = ["--left", tmp_path / "d.npy", "--right", tmp_path / "cut.npy", "--left-kernel", unit]
    assert "is not a valid tf32 value; name how" in refused("kernel", "diff", *files[:4], *sides)
    sides += ["--right-kernel", unit, "--operands", "nearest-even", "--json"]
    kernels = json.loads(done("kernel", "diff", *files[:4], *sides, code=1))["kernels"]
    assert kernels["left"]["gives_recorded"] == kernels["left"]["tried"] > 0
    assert kernels["right"]["gives_recorded"] < kernels["right"]["tried"]


def test_a_time_limit_ends_with_what_was_found(files: list[Any]) -> None:
    text = done("kernel", "identify", *files, "--unit", "ampere", "--time-limit", "0.000001", code=3)
    assert "STOPPED: the time limit is over; " in text and "EXPLAINED BY NONE so far" in text
    assert "0.0 is not in the range x>0" in refused("kernel", "identify", *files, "--time-limit", "0")


def test_ctrl_c_ends_the_search_and_not_the_command(
    files: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def interrupting(**options: object) -> Iterator[Callable[[int, int, str], None]]:
        yield lambda done, count, what: os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("tcsmt.interface.cli.kernel.progress_bar", interrupting)
    text = done("kernel", "identify", *files, "--unit", "ampere", code=3)
    assert "STOPPED: interrupted; 0 of them were held against D" in text


@pytest.mark.slow
def test_missing_steps_are_printed(files: list[Any]) -> None:
    d = files[files.index("--d") + 1]
    np.save(d, np.float32(3) * np.load(d))
    text = done("kernel", "identify", *files, "--unit", "hopper", code=1)
    assert "every element is 3 times the exact result" in text
    data = json.loads(done("kernel", "identify", *files, "--unit", "hopper", "--json", code=1))
    assert data["signs"][0]["kind"] == "scaling" and data["stopped"] == ""
