"""Arrays of other libraries: PyTorch tensors of every format, and what only speaks DLPack."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.arrays import read_array
from tests.support.paths import ROOT


def test_tensors() -> None:
    """PyTorch's tensors of every format come in, and a result of theirs comes back."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    cases = [
        ("volta", torch.float16, np.float16),
        ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", torch.bfloat16, ml_dtypes.bfloat16),
        ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn),
        ("hopper/wgmma.m64nNk32.f32.e5m2.e5m2", torch.float8_e5m2, ml_dtypes.float8_e5m2),
    ]
    for name, theirs, ours in cases:
        unit = tcsmt.unit(name)
        a = rng.standard_normal((7, unit.k)).astype(np.float32)
        tensor = torch.from_numpy(a).to(theirs)
        own = tensor.to(torch.float32).numpy().astype(ours)
        found = unit(tensor, tensor, torch.ones(7))
        assert isinstance(found, torch.Tensor)
        assert np.array_equal(found.numpy(), unit(own, own, np.float32(1)))
        assert type(unit(own, own)) is np.ndarray
    half = tcsmt.unit("volta/mma.m8n8k4.f16.f16.f16.f16")
    ones = torch.ones(3, 4, dtype=torch.float16)
    assert half(ones, ones).dtype == torch.float16
    product = tcsmt.gemm(ones, ones.T, unit="volta")
    assert isinstance(product, torch.Tensor) and product.tolist() == [[4.0] * 3] * 3


class OnlyDlpack:
    """What an array of another library offers at the least."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnTheDevice(OnlyDlpack):
    """An array that NumPy cannot reach."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("device memory")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_dlpack() -> None:
    """Objects that only speak DLPack; those on a device are refused by name."""
    a, c = np.ones((3, 4), np.float16), np.zeros(3, np.float32)
    volta = tcsmt.unit("volta")
    assert volta(OnlyDlpack(a), OnlyDlpack(a), OnlyDlpack(c)).tolist() == [4.0] * 3
    with pytest.raises(tcsmt.TcsmtError, match=r"^b .* array: .*device memory"):
        volta(a, OnTheDevice(a), c)


NVFP4 = "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
MXFP8 = "rtxblackwell/mma.m16n8k32.f32.e4m3.e4m3.f32.ue8m0"


def test_a_gradient_is_not_dropped() -> None:
    """It is refused, unless PyTorch records none."""
    torch = pytest.importorskip("torch")
    ones = torch.ones(3, 4, dtype=torch.float16, requires_grad=True)
    volta = tcsmt.unit("volta")
    reason = r"^a requires a gradient, and a simulated unit has none: give x\.detach\(\)"
    for call in (lambda: volta(ones, ones), lambda: tcsmt.gemm(ones, ones.T, unit="volta")):
        with pytest.raises(tcsmt.TcsmtError, match=reason):
            call()
        with torch.no_grad():
            assert call().flatten()[0] == 4
    bias = torch.ones(3, requires_grad=True)
    with pytest.raises(tcsmt.TcsmtError, match=r"^bias requires a gradient"):
        tcsmt.gemm(ones.detach(), ones.detach().T, unit="volta", bias=bias, epilogue="bias")
    with pytest.raises(tcsmt.TcsmtError, match=r"^the implementation's result requires a gradient"):
        tcsmt.check("volta", lambda a, b, c: torch.zeros(len(c), requires_grad=True), rows=10)


def test_torch_batches_and_biases() -> None:
    """A stack, a BF16 bias, and a BF16 result."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(4)
    a = torch.randn(3, 5, 32, generator=generator).to(torch.bfloat16)
    b = torch.randn(32, 4, generator=generator).to(torch.bfloat16)
    bias = torch.tensor([1.0, -2.0, 0.5, 0.25], dtype=torch.bfloat16)
    unit = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
    found = tcsmt.gemm(a, b, bias=bias, unit=unit, epilogue="bias,out=bf16")
    assert (found.dtype, found.shape) == (torch.bfloat16, (3, 5, 4))
    alone = [tcsmt.gemm(one, b, bias=bias.float(), unit=unit, epilogue="bias,out=bf16") for one in a]
    assert torch.equal(found, torch.stack(alone))


def test_pairs_of_fp4_numbers_and_their_scales() -> None:
    """PyTorch's float4_e2m1fn_x2 along K, and float8_e4m3fn as ue4m3, as torch._scaled_mm takes them."""
    torch = pytest.importorskip("torch")
    if not hasattr(torch, "float4_e2m1fn_x2"):
        pytest.skip("this PyTorch has no float4_e2m1fn_x2")
    rng = np.random.default_rng(8)
    unit = tcsmt.unit(NVFP4)
    words_a, words_b = rng.integers(0, 16, (6, 64), np.uint8), rng.integers(0, 16, (5, 64), np.uint8)
    scales_a, scales_b = (rng.integers(0, 0x7F, (rows, 4), np.uint8) for rows in (6, 5))

    def pairs(words: Any) -> Any:
        return torch.from_numpy(words[:, ::2] | words[:, 1::2] << 4).view(torch.float4_e2m1fn_x2)

    def scales(words: Any) -> Any:
        return torch.from_numpy(words).view(torch.float8_e4m3fn)

    wanted = tcsmt.gemm(words_a, words_b.T, unit=unit, scale_a=scales_a, scale_b=scales_b.T)
    found = tcsmt.gemm(
        pairs(words_a), pairs(words_b).T, unit=unit, scale_a=scales(scales_a), scale_b=scales(scales_b).T
    )
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float32
    assert np.array_equal(found.numpy().view(np.uint32), wanted.view(np.uint32))
    named = words_a.view(ml_dtypes.float4_e2m1fn), words_b.T.view(ml_dtypes.float4_e2m1fn)
    own = scales_a.view(ml_dtypes.float8_e4m3fn), scales_b.T.view(ml_dtypes.float8_e4m3fn)
    same = tcsmt.gemm(*named, unit=unit, scale_a=own[0], scale_b=own[1])
    assert np.array_equal(same.view(np.uint32), wanted.view(np.uint32))
    row = unit(pairs(words_a)[:5], pairs(words_b), scale_a=scales(scales_a)[:5], scale_b=scales(scales_b))
    assert np.array_equal(row.numpy(), np.diagonal(wanted))
    with pytest.raises(tcsmt.TcsmtError, match="packing unpacks bytes that words share"):
        tcsmt.gemm(words_a[:, ::2] | words_a[:, 1::2] << 4, words_b.T, unit=unit)


def test_a_negative_scale_is_no_scale() -> None:
    """The unit ignores the sign bit of a ue4m3 word; a negative number is refused."""
    a, scale = np.ones((1, 64)), np.full((1, 4), -1.0).astype(ml_dtypes.float8_e4m3fn)
    unit = tcsmt.unit(NVFP4)
    with pytest.raises(tcsmt.TcsmtError, match=r"^scale_a\[0, 0\] = -1\.0 is not a valid ue4m3 value"):
        unit(a, a, scale_a=scale, scale_b=-scale)
    assert unit(a, a, scale_a=-scale, scale_b=scale.view(np.uint8)) == 64  # words are as they are
    with pytest.raises(tcsmt.TcsmtError, match=r"^scale_a\[0, 0\] = 0\.3 .* ue4m3 value; round it first"):
        unit(a, a, scale_a=np.full((1, 4), 0.3), scale_b=-scale, operands="truncate")
    mxfp8, ones = tcsmt.unit(MXFP8), np.ones((1, 32))
    two = np.full((1, 1), 2.0)
    assert mxfp8(ones, ones, scale_a=two, scale_b=two.astype(ml_dtypes.float8_e8m0fnu)) == 128


def test_arrays_of_jax() -> None:
    """They come back as JAX arrays, as all libraries of the array API do."""
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((2, 7, 16)).astype(ml_dtypes.bfloat16)
    name = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
    found = tcsmt.unit(name)(jax.numpy.asarray(a), b, 0.5)
    assert isinstance(found, jax.Array) and found.dtype == np.float32
    assert np.array_equal(np.asarray(found), tcsmt.unit(name)(a, b, 0.5))
    product = tcsmt.gemm(jax.numpy.asarray(a), b.T, unit=name, epilogue="out=bf16")
    assert isinstance(product, jax.Array) and product.dtype == jax.numpy.bfloat16
    assert np.array_equal(np.asarray(product), tcsmt.gemm(a, b.T, unit=name, epilogue="out=bf16"))
    with pytest.raises(tcsmt.TcsmtError, match=r"^a .* array: .* traced array"):
        jax.jit(lambda x: tcsmt.unit(name)(x, b))(a)


def test_libraries_without_the_results_dtype_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX without 64-bit types would narrow the result: it is refused before any work."""
    jax = pytest.importorskip("jax")
    if jax.config.jax_enable_x64:
        pytest.skip("JAX has 64-bit types here")
    ones = jax.numpy.ones(4, jax.numpy.float32)
    message = "float64, which jax does not hold here .*jax_enable_x64"
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.unit("ampere/mma.m8n8k4.f64.f64.f64.f64")(ones, ones)
    monkeypatch.setattr("tcsmt.interface.api.kernels.batched", None)
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.gemm(ones[None], ones[:, None], unit="ampere/mma.m8n8k4.f64.f64.f64.f64")


def test_one_library_at_a_time() -> None:
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    one, two = jax.numpy.ones((1, 4), np.float16), torch.ones(1, 4, dtype=torch.float16)
    with pytest.raises(tcsmt.TcsmtError, match="arrays of several libraries: a of jax, b of torch"):
        tcsmt.unit("volta")(one, two)


class OfItsLibrary(OnlyDlpack):
    """An array of a library of the array API standard: what it makes of NumPy's arrays says so."""

    device = "there"

    def __array_namespace__(self) -> Any:
        return self

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.array

    def asarray(self, array: Any, device: Any = None) -> Any:
        assert device == "there"
        if array.dtype == ml_dtypes.bfloat16:
            raise TypeError("no such dtype")
        return OfItsLibrary(array)

    @property
    def dtype(self) -> Any:
        return self.array.dtype


def test_arrays_of_the_array_api_standard_give_their_own_kind() -> None:
    a = np.ones((3, 4), np.float16)
    found = tcsmt.unit("volta")(a, OfItsLibrary(a))
    assert isinstance(found, OfItsLibrary) and found.array.tolist() == [4.0] * 3
    with pytest.raises(tcsmt.TcsmtError, match=r"result .* bfloat16"):
        tcsmt.gemm(OfItsLibrary(a), a.T, unit="volta", epilogue="out=bf16")


def test_masked_arrays() -> None:
    with pytest.raises(tcsmt.TcsmtError, match=r"^b is a masked array"):
        tcsmt.unit("volta")(np.ones(4), np.ma.masked_equal(np.ones(4), 1))


def test_nothing_is_imported() -> None:
    """Neither PyTorch nor JAX, for arrays of NumPy's."""
    code = (
        "import sys, numpy as np, tcsmt; tcsmt.unit('volta')(np.ones(4), np.ones(4)); "
        "tcsmt.gemm(np.ones((2, 4)), np.ones((4, 2)), unit='volta'); "
        "sys.exit(bool({'torch', 'jax', 'cupy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_which_reader(tmp_path: Path) -> None:
    """By the suffix before the colon."""
    np.save(tmp_path / "x.npy", np.arange(3.0))
    assert read_array(tmp_path / "x.npy").tolist() == [0, 1, 2]
    table = json.dumps({"w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    content = len(table).to_bytes(8, "little") + table + np.array([1.5], ml_dtypes.bfloat16).tobytes()
    (tmp_path / "x.safetensors").write_bytes(content)
    for path in ("x.safetensors:w", "x.safetensors"):
        array = read_array(tmp_path / path)
        assert array.dtype == ml_dtypes.bfloat16 and array.tolist() == [1.5]


def test_files_of_pytorch(tmp_path: Path) -> None:
    """A tensor, or dictionaries of them, whose keys dots join; nothing else is unpickled."""
    torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
    file = tmp_path / "x.pt"
    torch.save(torch.ones(2, 3, dtype=torch.bfloat16), file)
    assert read_array(file).dtype == ml_dtypes.bfloat16
    torch.save({"net": torch.nn.Linear(2, 1).state_dict(), "step": 3}, file)
    assert read_array(tmp_path / "x.pt:net.weight").shape == (1, 2)
    torch.save({"x": {"y": torch.ones(2).to(torch.float8_e4m3fn)}}, file)
    assert read_array(file).dtype == ml_dtypes.float8_e4m3fn
    torch.save({"a": torch.ones(1), "b": torch.ones(1)}, file)
    with pytest.raises(tcsmt.TcsmtError, match=r"has 2 tensors: write .*x\.pt:NAME, of a, b"):
        read_array(file)
    with pytest.raises(tcsmt.TcsmtError, match=r"unknown tensor of .*x\.pt 'c'"):
        read_array(tmp_path / "x.pt:c")
    torch.save(Path("x"), file)
    with pytest.raises(tcsmt.TcsmtError, match=r"x\.pt is not a file of tensors"):
        read_array(file)
    with pytest.raises(tcsmt.TcsmtError, match=r"cannot read .*none\.pt"):
        read_array(tmp_path / "none.pt:a")
