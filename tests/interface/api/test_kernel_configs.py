"""Configurations in classes of equal bits: kernels whose PTX is kept stand for what Triton compiles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api import kernel_configs
from tcsmt.interface.api.kernel_configs import KernelConfigs, assert_same_bits, configs
from tcsmt.interop.triton.capture import Captured, NotLaunched
from tests.support.launches import SIZE, product_launch, tensor

_OPTIONS = tcsmt.SolvingOptions(confirm=False, timeout=60)


def _product() -> None:
    """Stands for a function that launches a kernel."""


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., KernelConfigs]:
    def of(kind: str, texts: dict[str, int], **more: Any) -> KernelConfigs:
        words = np.zeros((SIZE, SIZE), {"fp16": np.float16, "fp8e4nv": np.uint8}[kind])
        d = np.zeros((SIZE, SIZE), {"fp16": np.float16, "fp8e4nv": np.float32}[kind])
        given = tensor("a", kind, words), tensor("b", kind, words), tensor("d", f"fp{8 * d.itemsize}", d)

        def captured(function: object, target: str, *, chosen: int, settings: dict[str, Any]) -> Captured:
            text, rows = [*texts.items()][chosen]
            if not rows:
                raise NotLaunched("product: OutOfResources", {"BLOCK_M": 0}, len(texts), False)
            columns = 16 if "narrow" in text and kind == "fp16" else 32
            launch = product_launch(text, *given, target=target, rows=rows, columns=columns)
            return Captured((launch,), len(texts))

        monkeypatch.setattr(kernel_configs, "capture", captured)
        return configs(_product, "hopper", options=_OPTIONS, **more)

    return of


@pytest.mark.slow
def test_two_instructions_are_one_class(ask: Callable[..., KernelConfigs]) -> None:
    found = ask("fp16", {"f16_sm90": 64, "f16_narrow_sm90": 16, "too large": 0})
    assert found.classes == (("BLOCK_M=64", "BLOCK_M=16"),)
    units = [lines[0] for lines in found.programs[0]]
    assert units == ["# U: hopper/wgmma.m64nNk16.f32.f16.f16", "# U: hopper/mma.m16n8k16.f32.f16.f16.f32"]
    assert (found.equal, found.exit_code, found.k, found.elements) == (True, 0, 64, (0, 4095))
    assert found.failed == {"BLOCK_M=0": "product: OutOfResources"}
    assert "all configurations give the same bits for these elements: proved" in str(found)


@pytest.mark.slow
def test_a_witness_is_what_both_kernels_store(ask: Callable[..., KernelConfigs]) -> None:
    found = ask("fp8e4nv", {"e4m3_sm90": 64, "e4m3_narrow_sm90": 16}, elements=[4095])
    assert found.classes == (("BLOCK_M=64",), ("BLOCK_M=16",))
    (pair,) = found.pairs
    assert pair.witness is not None
    a, b = (np.array(pair.witness.inputs[name], np.uint8) for name in "AB")
    # by the simulator, of which each kernel is a plain product
    fp8 = tcsmt.unit("h100/wgmma.m64nNk32.f32.e4m3.e4m3")
    wide = tcsmt.gemm(a[None], b[:, None], unit=fp8)
    assert wide.view(np.uint32)[0, 0] == pair.witness.results[0] != pair.witness.results[1]
    assert (found.equal, found.exit_code) == (False, 1)
    assert found.as_json()["pairs"][0]["witness"]["results"] == [f"{x:#x}" for x in pair.witness.results]


def test_a_test_fails_with_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    facts: dict[str, Any] = {
        "function": "f",
        "kernel": "k",
        "target": "hopper",
        "result": "d",
        "k": 64,
        "elements": (0,),
    }
    one = KernelConfigs(
        **facts,
        classes=(("A=1", "A=2"),),
        programs=((("# U: x", "d = y"),),),
        pairs=(),
        failed={},
        refused={},
    )
    monkeypatch.setattr(kernel_configs, "configs", lambda *given: one)
    assert_same_bits(_product, "h100")
    unknown = KernelConfigs(
        **facts, classes=one.classes, programs=one.programs, pairs=(), failed={}, refused={"A=3": "no unit"}
    )
    monkeypatch.setattr(kernel_configs, "configs", lambda *given: unknown)
    assert (unknown.equal, unknown.exit_code) == (None, 3)
    with pytest.raises(AssertionError, match="not read: A=3: no unit"):
        assert_same_bits(_product, "h100")


def test_no_configuration_is_an_error(ask: Callable[..., KernelConfigs]) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=r"one kernel is expected, but there are 0: .*OutOfResources"):
        ask("fp16", {"too large": 0})


@pytest.mark.slow
def test_triton_compiles_the_configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="the extra `triton` is not installed")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    file = Path(__file__).parents[2] / "data" / "triton" / "products.py"
    found = configs(f"{file}:autotuned", "a100", options=_OPTIONS)
    assert [len(names) for names in found.classes] == [2]
    assert found.classes[0][0].startswith("BLOCK_M=16 BLOCK_N=16 BLOCK_K=32 ")
    assert len(found.failed) == 1
    assert found.equal
