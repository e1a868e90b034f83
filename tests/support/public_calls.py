"""A small call of every public function, on what a caller's floating-point state would change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
import tcsmt.testing
from tests.support.compiled import TEXTS

__all__ = ["CALLS", "H100", "SLOW", "A", "product", "refused"]

H100, VOLTA, BYTES = (
    "h100/mma.m16n8k16.f32.bf16.bf16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32", "x86/vpdpbusd",
)  # fmt: skip
OPTIONS = tcsmt.SolvingOptions(confirm=False, timeout=30)
FEW = tcsmt.Domain(exponents=(-126, -115))
#: A matrix with what each state changes: products that are subnormal in binary32, and sums that round.
RNG = np.random.default_rng(0)
A = np.concatenate([RNG.standard_normal((4, 64)), np.full((1, 64), 2.0**-70)]).astype(ml_dtypes.bfloat16)
WIDE = np.concatenate([RNG.standard_normal((4, 64)), np.full((1, 64), 2.0**-130)]).astype(np.float32)
DOUBLES = RNG.standard_normal((8, 8)) * 2.0**-500
BIAS, LOW, ONES = (
    np.full(n, x, np.float32) for n, x in ((5, 2.0**-140), ((20_000, 16), 2.0**-130), ((20_000, 16), 1))
)


def product(**options: Any) -> Any:
    return tcsmt.gemm(A, A.T, unit=H100, **options)


def naive(a: Any, b: Any, c: Any) -> Any:
    """Words computed by integers, so that the caller's state, in which it runs, changes nothing."""
    return np.zeros(c.shape, np.uint32)


def rows_of(folder: Path, name: str = BYTES, count: int = 20) -> Path:
    tcsmt.vectors(name, "random", rows=count).save(folder / "rows.json")
    return folder / "rows.json"


def model_file(folder: Path) -> Path:
    (folder / "mine.toml").write_text(tcsmt.unit(VOLTA).as_toml())
    return folder / "mine.toml"


def btor2(folder: Path) -> Path:
    lines = "1 sort bitvec 8\n2 input 1 a\n3 input 1 b\n4 input 1 c\n5 mul 1 2 3\n6 add 1 5 4\n7 output 6 d\n"
    (folder / "mac.btor2").write_text(lines)
    return folder / "mac.btor2"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(tcsmt.TcsmtError) as error:
        call()
    return str(error.value)


Call = Callable[[Path], Any]


#: A small call for each public function, by its namespace and name. Several values: all are compared.
def tested_power() -> Any:
    return tcsmt.testing.power(
        kernel="ieee/fma.f32.bf16", generator="normal", shape=(4, 4, 16), criterion="pcc>=0.99",
        only=("zeros", "last-k"),
    )  # fmt: skip


def small_kit() -> Any:
    return tcsmt.export_kit("volta", only=("mma.m8n8k4.f32.f16.f16.f32",), rows=4)


CALLS: dict[str, Call] = {
    "tcsmt.atlas": lambda f: tcsmt.atlas([VOLTA, f"{VOLTA}@valpey"], options=OPTIONS),
    "tcsmt.audit": lambda f: tcsmt.audit(rows_of(f, count=6), BYTES, solve=False),
    "tcsmt.chained_atlas": lambda f: tcsmt.chained_atlas(
        ["x86/vdpbf16ps"], types=["f32.bf16.bf16.f32"], options=OPTIONS
    ),
    "tcsmt.check": lambda f: tcsmt.check("volta", naive, rows=20_000),
    "tcsmt.check_certificate": lambda f: refused(lambda: tcsmt.check_certificate(f / "none")),
    "tcsmt.check_with_acl2": lambda f: refused(lambda: tcsmt.check_with_acl2(f / "none")),
    "tcsmt.claims": lambda f: tcsmt.claims(["volta-third-carry-bit"]),
    "tcsmt.compare": lambda f: tcsmt.compare("volta", "turing", options=OPTIONS),
    "tcsmt.describe_format": lambda f: tcsmt.describe_format("e4m3"),
    "tcsmt.design": lambda f: tcsmt.design(btor2(f), formats=dict.fromkeys("abcd", "u8")).k,
    "tcsmt.epilogue": lambda f: [
        repr(tcsmt.epilogue("alpha=0.3,beta=1e-310")),
        product(epilogue="alpha=0.3,out=bf16"),
        product(epilogue="bias", bias=BIAS),
    ],
    "tcsmt.explain": lambda f: tcsmt.explain(
        VOLTA, "a0=1.5 b0=0x0001 c=-0x1p-140", against="ampere/mma.m16n8k8.f32.f16.f16.f32"
    ),
    "tcsmt.export": lambda f: tcsmt.export(VOLTA, "c").texts,
    "tcsmt.export_certificate": lambda f: refused(lambda: tcsmt.export_certificate(f / "none")),
    "tcsmt.find": lambda f: tcsmt.find("carry-bits", "volta", options=OPTIONS),
    "tcsmt.gemm": lambda f: [
        product(),
        product(reduction="split-k:2"),
        product(alpha=0.3, beta=0.7, c=np.ones((5, 5), np.float32)),
        tcsmt.gemm(WIDE, WIDE.T, unit=H100, operands="nearest-even"),
        tcsmt.gemm(np.tile(A, (40, 1)), np.tile(A, (40, 1)).T, unit=H100, reduction="split-k:2"),
    ],
    "tcsmt.identify": lambda f: tcsmt.identify(BYTES),
    "tcsmt.identify_data": lambda f: tcsmt.identify_data(rows_of(f, VOLTA, 60), rows=50),
    "tcsmt.identify_plan": lambda f: tcsmt.identify_plan(like=VOLTA),
    "tcsmt.identify_probe": lambda f: tcsmt.identify_probe("volta", "precision"),
    "tcsmt.kernel_diff": lambda f: tcsmt.kernel_diff(A, A.T, product(), product(reduction="split-k:2")),
    "tcsmt.kernel_identify": lambda f: tcsmt.kernel_identify(
        A, A.T, product(reduction="split-k:2"), units=[H100]
    ),
    "tcsmt.kernel_invariant": lambda f: tcsmt.kernel_invariant(
        "volta", "chained,split-k:2", k=8, narrow=False, options=OPTIONS
    ),
    "tcsmt.kernel_read": lambda f: tcsmt.kernel_read(
        TEXTS / "f16_sm80.ptx", ["A", "B", "D", 64, 64, 32, 32, 64, 64]
    ),
    "tcsmt.kernel_tree": lambda f: tcsmt.kernel_tree("h100+split-k:2", 32, shape=(2, 2)),
    "tcsmt.export_kit": lambda f: [text for _, text in small_kit().files()],
    "tcsmt.check_kit": lambda f: refused(lambda: tcsmt.check_kit(f)),
    "tcsmt.links": lambda f: tcsmt.links(
        tcsmt.explain("volta", "a0=1.5 b0=1"), "https://example.org/index.html"
    ),
    "tcsmt.page": lambda f: tcsmt.page(f, ["volta"]),
    "tcsmt.probe": lambda f: tcsmt.probe(BYTES),
    "tcsmt.promoted": lambda f: tcsmt.promoted(128),
    "tcsmt.properties": lambda f: tcsmt.properties(),
    "tcsmt.quantiser": lambda f: tcsmt.quantiser("te/nvfp4"),
    "tcsmt.quantisers": lambda f: [row.name for row in tcsmt.quantisers().quantisers],
    "tcsmt.compare_quantisers": lambda f: tcsmt.compare_quantisers("te/mxfp8", "te/mxfp8.older", FEW),
    "tcsmt.identify_quantiser": lambda f: tcsmt.identify_quantiser(
        WIDE[:, :32], (quantised := tcsmt.quantise(WIDE[:, :32], "mxfp8")).values, quantised.scales
    ),
    "tcsmt.quantise": lambda f: [
        tcsmt.quantise(WIDE, "fp8-tensor"),
        tcsmt.quantise(WIDE, "tf32"),
        tcsmt.quantise(WIDE[:, :32], "mxfp8"),
    ],
    "tcsmt.read_model": lambda f: tcsmt.read_model(model_file(f)),
    "tcsmt.reduction": lambda f: tcsmt.reduction("sliced:2,step=16"),
    "tcsmt.reproduce": lambda f: refused(lambda: tcsmt.reproduce("none")),
    "tcsmt.run": lambda f: tcsmt.run(BYTES, rows_of(f)).text(),
    "tcsmt.specified_with_acl2": lambda f: refused(lambda: tcsmt.specified_with_acl2("none")),
    "tcsmt.split_k": lambda f: tcsmt.split_k(2),
    "tcsmt.tolerance": lambda f: [
        tcsmt.tolerance(A, A.T, kernel=f"{H100}+split-k:2", search=0),
        tcsmt.tolerance(A, A.T, kernel=H100, search=0).check(product(reduction="split-k:2")),
    ],
    "tcsmt.unit": lambda f: [
        tcsmt.unit(H100),
        tcsmt.unit(H100)(WIDE[:, :16], WIDE[:, :16], operands="nearest-even"),
        tcsmt.unit(H100)(LOW, ONES),
    ],
    "tcsmt.units": lambda f: tcsmt.units("volta"),
    "tcsmt.validate": lambda f: tcsmt.validate(rows_of(f)),
    "tcsmt.vectors": lambda f: tcsmt.vectors(VOLTA, rows=200),
    "accuracy.bound": lambda f: [
        tcsmt.accuracy.bound("single-f16", "volta", k=16, search=1e-6, options=OPTIONS),
        tcsmt.accuracy.bound(f"{H100}+split-k:2@32", search=1e-6, options=OPTIONS),
    ],
    "accuracy.compare": lambda f: tcsmt.accuracy.compare("markidis", "markidis", "volta", k=16, search=1e-6),
    "accuracy.exact": lambda f: tcsmt.accuracy.exact("volta", k=16),
    "accuracy.explain": lambda f: tcsmt.accuracy.explain(
        "ootomo-halfhalf", "volta", {"a0": "0.1"}, rounded=print
    ),
    "accuracy.find": lambda f: tcsmt.accuracy.find(
        "sign", "markidis", "volta", k=1, search=1e-6, options=OPTIONS
    ),
    "accuracy.findings": lambda f: tcsmt.accuracy.findings(f / "findings.json", only="no such entry"),
    "accuracy.multiply": lambda f: [
        tcsmt.accuracy.multiply(WIDE, WIDE.T, algorithm="ootomo-halfhalf", unit="hopper"),
        tcsmt.accuracy.multiply(DOUBLES, DOUBLES, algorithm="ozaki1-int8", unit="hopper"),
    ],
    "accuracy.recipes": lambda f: tcsmt.accuracy.recipes(),
    "accuracy.reduced": lambda f: refused(lambda: tcsmt.accuracy.reduced("none")),
    "accuracy.slices": lambda f: tcsmt.accuracy.slices("none"),
    "accuracy.split": lambda f: tcsmt.accuracy.split("f16"),
    "accuracy.sweep": lambda f: tcsmt.accuracy.sweep("markidis", "hopper", k=16, size=4, seeds=1, jobs=1),
    "accuracy.table": lambda f: tcsmt.accuracy.table(
        ["volta"], formats=["f16"], k=[16], search=1e-6, options=OPTIONS
    ),
    "accuracy.variants": lambda f: tcsmt.accuracy.variants(1000),
    "testing.assert_same_bits": lambda f: refused(
        lambda: tcsmt.testing.assert_same_bits(lambda: None, target="no GPU")
    ),
    "testing.operands": lambda f: tcsmt.testing.operands("normal", "bf16", (2, 3, 8)),
    "testing.power": lambda f: tested_power(),
    "testing.propose": lambda f: tcsmt.testing.propose(tested_power()),
    "testing.assert_close": lambda f: [
        tcsmt.testing.assert_close(product(), A, A.T, kernel=H100),
        refused(lambda: tcsmt.testing.assert_close(product() * 2, A, A.T, kernel="none")),
    ],
    "torch.emulate": lambda f: emulated(),
    "torch.quantise": lambda f: torch_quantised(),
}


def emulated() -> Any:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.from_numpy(WIDE.copy()).requires_grad_()
    with tcsmt.torch.emulate("h100", "bf16") as bf16:
        forward = tensor @ tensor.T
        backward = torch.autograd.grad(forward.sum(), tensor)[0]
    with tcsmt.torch.emulate("h100", "fp8-tensor") as fp8:
        narrow = tensor @ tensor.T
    return [x.detach().numpy() for x in (forward, backward, narrow)], bf16.report, fp8.report


def torch_quantised() -> Any:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    found = [tcsmt.torch.quantise(torch.from_numpy(WIDE.copy()), name) for name in ("tf32", "fp8-tensor")]
    return [(q.values.float().numpy(), q.saturated, q.flushed) for q in found]


#: Calls that take more than a few tenths of a second.
SLOW = {
    "tcsmt.chained_atlas", "tcsmt.check", "tcsmt.identify_data", "tcsmt.identify_plan", "tcsmt.kernel_tree",
    "tcsmt.vectors", "accuracy.bound", "accuracy.exact", "accuracy.findings", "accuracy.slices",
    "accuracy.table", "accuracy.variants", "torch.emulate", "torch.quantise",
}  # fmt: skip
