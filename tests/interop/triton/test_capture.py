"""Functions that launch Triton kernels: which launches are captured, of which configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.interop.triton.capture import capture, is_function
from tcsmt.support.errors import TcsmtError

pytestmark = pytest.mark.slow
_FILE = Path(__file__).parents[2] / "data" / "triton" / "products.py"


@pytest.fixture(autouse=True)
def _triton(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="the extra `triton` is not installed")
    cache = tmp_path_factory.getbasetemp() / "triton"  # one for all tests
    monkeypatch.setenv("TRITON_CACHE_DIR", str(cache))


def test_the_author_says_shapes_and_constants() -> None:
    ((launch,), count) = (found := capture(f"{_FILE}:plain", "a100")).launches, found.configurations
    assert count == 1
    assert (launch.kernel, launch.target, launch.grid) == ("matmul", "ampere", (2, 1, 1))
    assert launch.constants == {
        "BLOCK_M": 16,
        "BLOCK_N": 16,
        "BLOCK_K": 32,
        "PLUS": False,
        "num_warps": 1,
        "num_stages": 3,
    }
    a, _, c, *numbers = launch.arguments
    assert (a.type, a.shape, a.strides) == ("*fp16", (32, 64), (64, 1))
    assert (c.type, c.shape) == ("*fp32", (32, 16))
    assert [(one.name, one.value) for one in numbers] == [("M", 32), ("N", 16), ("K", 64)]
    assert ".target sm_80" in launch.ptx
    ((read, _),) = launch.read()
    assert read.text.lines == ("d = chain(U, A·B over K, +0)",)


def test_settings_are_the_functions_or_the_kernels() -> None:
    found = capture(f"{_FILE}:plain", "h100", settings={"rows": 64, "BLOCK_M": 64, "num_warps": 4}).launch(0)
    assert (found.constants["BLOCK_M"], found.constants["num_warps"], found.grid) == (64, 4, (1, 1, 1))
    assert "wgmma" in found.ptx
    with pytest.raises(TcsmtError, match="unknown constant of its kernels 'BLOCK': did you mean BLOCK_"):
        capture(f"{_FILE}:plain", "h100", settings={"BLOCK": 64})


def test_each_configuration_is_launched_by_its_number() -> None:
    first, second = (capture(f"{_FILE}:autotuned", "a100", chosen=n) for n in range(2))
    assert (first.configurations, len(first.launches)) == (3, 1)
    assert [one.launch(None).constants["BLOCK_N"] for one in (first, second)] == [16, 32]
    with pytest.raises(TcsmtError, match=r"products.py:autotuned: OutOfResources: .*shared memory"):
        capture(f"{_FILE}:autotuned", "a100", chosen=2)


def test_several_launches_are_asked_for_by_number() -> None:
    found = capture(f"{_FILE}:split", "a100")
    assert [one.kernel for one in found.launches] == ["matmul", "matmul", "add_parts"]
    assert found.launch(2).kernel == "add_parts"
    with pytest.raises(TcsmtError, match=r"which of its launches\? 0: matmul\[1, 1, 1\]"):
        found.launch(None)


def test_errors_name_the_function() -> None:
    assert [is_function(name) for name in ("a.py:f", "a.ptx", "a.py", "a.py:1", "h100")] == [
        True,
        *[False] * 4,
    ]
    with pytest.raises(TcsmtError, match=r"products.py: unknown function 'plan': did you mean plain"):
        capture(f"{_FILE}:plan", "h100")
    with pytest.raises(TcsmtError, match=r"unknown GPU that Triton compiles to PTX for 'mi300x'"):
        capture(f"{_FILE}:plain", "mi300x")
    with pytest.raises(TcsmtError, match=r"products.py:broken: ZeroDivisionError: "):
        capture(f"{_FILE}:broken", "h100")
