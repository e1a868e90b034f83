"""Bugs that are planted in matrix products, by plain means, and what a right diagnosis of each says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import tcsmt
from tcsmt.testing import assert_close

__all__ = ["BUGS", "COMMANDS", "KERNELS", "PlantedBug", "Subject", "judged"]

Array = np.ndarray[Any, np.dtype[Any]]
_DTYPES = {"f16": np.dtype("f2"), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype("f4")}
_DTYPES |= {"e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "e5m2": np.dtype(ml_dtypes.float8_e5m2)}


@dataclass(frozen=True)
class Subject:
    """A kernel, its operands' dtype, and matrices of a size."""

    unit: str
    reduction: str
    epilogue: str
    dtype: str
    shape: tuple[int, int, int] = (24, 96, 24)
    c: bool = False

    @property
    def name(self) -> str:
        """As commands take it."""
        return f"{self.unit}+{self.reduction}" + (f"+{self.epilogue}" if self.epilogue else "")

    def matrices(self) -> tuple[Array, Array, Array | None]:
        """A, B and C."""
        m, k, n = self.shape
        rng = np.random.default_rng(17)
        a, b = (rng.standard_normal(shape).astype(_DTYPES[self.dtype]) for shape in ((m, k), (k, n)))
        if self.dtype == "f32":  # halfway between numbers of TF32 and of BF16, and no numbers of FP16
            a[0, :3] = 1 + 2**-11, 1 + 2**-8, (1 + 2**-9) * 2**-20
            b[:3, 0] = 1 + 2**-11, 1 + 2**-8, 2**15
        return a, b, rng.standard_normal((m, n)).astype("f4") if self.c else None

    def multiply(self, a: Array, b: Array, c: Array | None, **changes: Any) -> Array:
        """D, with another reduction, epilogue or unit where one is given."""
        how = {"unit": self.unit, "reduction": self.reduction, "epilogue": self.epilogue} | changes
        result: Array = tcsmt.gemm(a, b, c, **how)
        return result


KERNELS = (
    Subject("ieee/fma.f32", "chained", "", "f32"),
    Subject("ieee/mul-add.f32", "split-k:3", "alpha=0.5,beta=2", "f32", c=True),
    Subject("ieee/fma.f32.f16", "split-k:2", "", "f16"),
    Subject("a100/mma.m16n8k16.f32.f16.f16.f32", "chained", "", "f16"),
    Subject("a100/mma.m16n8k16.f32.bf16.bf16.f32", "split-k:4", "out=bf16", "bf16", (32, 256, 32)),
    Subject("h100/mma.m16n8k16.f32.bf16.bf16.f32", "promote:32", "", "bf16"),
    Subject("h100/wgmma.m64nNk32.f32.e4m3.e4m3", "chained", "", "e4m3", (24, 128, 24)),
)


@dataclass(frozen=True)
class PlantedBug:
    """A bug. plant: D with it; None: this kernel cannot have it. says: a regular expression that a right
    diagnosis has; kind: of its family."""

    name: str
    plant: Callable[[Subject, Array, Array, Array | None], Array | None]
    says: str
    kind: str


def _rounded(x: Array, name: str, rule: str) -> Array | None:
    """By integers: the front of a word of binary32, with what the rule adds to it."""
    bits = {"tf32": 13, "bf16": 16}.get(name)
    if x.dtype != np.dtype("f4"):
        return None
    if bits is None:
        return x.astype("f2").astype("f4") if rule == "nearest-even" else None
    words = x.view("u4").astype("u8")
    half = 1 << bits - 1
    add = {"truncate": 0, "nearest-away": half, "nearest-even": half - 1 + (words >> np.uint64(bits) & 1)}
    kept = (words + np.asarray(add[rule], "u8")) >> np.uint64(bits) << np.uint64(bits)
    return kept.astype("u4").view("f4")


def _operands(name: str, rule: str, unit: str | None = None) -> Callable[..., Array | None]:
    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        left, right = _rounded(a, name, rule), _rounded(b, name, rule)
        if left is None or right is None or (unit and c is not None):
            return None
        if unit is None:
            return subject.multiply(left, right, c)
        return tcsmt.gemm(a, b, unit=unit, operands=rule)

    return plant


def _one_side(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
    right = _rounded(b, "bf16", "nearest-even")
    return None if right is None else subject.multiply(a, right, c)


def _other(**changes: str) -> Callable[..., Array | None]:
    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        try:
            return subject.multiply(a, b, c, **changes)
        except tcsmt.TcsmtError:
            return None

    return plant


def _out(text: str) -> Callable[..., Array | None]:
    """A conversion of the result, in place of the kernel's own."""

    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        kept = [part for part in subject.epilogue.split(",") if part and not part.startswith("out")]
        return subject.multiply(a, b, c, epilogue=",".join([*kept, text]))

    return plant


def _accumulated(name: str) -> Callable[..., Array | None]:
    """As a loop in NumPy adds up in a narrow format: products and sums are rounded."""

    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        if c is not None or subject.epilogue:
            return None
        dtype, total = _DTYPES[name], np.zeros((len(a), b.shape[1]), _DTYPES[name])
        left, right = a.astype("f4"), b.astype("f4")
        with np.errstate(over="ignore"):
            for k in range(a.shape[1]):
                total = (total + (left[:, k : k + 1] * right[k]).astype(dtype)).astype(dtype)
        return total.astype("f4")

    return plant


def _parts(format_name: str) -> Callable[..., Array | None]:
    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        if subject.reduction == "chained":
            return None
        return subject.multiply(a, b, c, reduction=f"{subject.reduction},parts={format_name}")

    return plant


def _terms(change: Callable[[Array], Array]) -> Callable[..., Array | None]:
    """Other indices of K."""

    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        order = change(np.arange(a.shape[1]))
        return subject.multiply(a[:, order], b[order], c)

    return plant


def _zeroed(first: int, last: int) -> Callable[..., Array | None]:
    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        a = a.copy()
        a[:, first : last + 1] = 0
        return subject.multiply(a, b, c)

    return plant


def _part(times: int) -> Callable[..., Array | None]:
    """The second part of a split K: left out, or its sum added twice."""

    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        kind, _, number = subject.reduction.partition(":")
        if kind != "split-k" or c is not None or subject.epilogue:
            return None
        share = -(-a.shape[1] // int(number))
        parts = [
            subject.multiply(a[:, at : at + share], b[at : at + share], None, reduction="chained")
            for at in range(0, a.shape[1], share)
        ]
        chosen = [part for n, part in enumerate(parts) for _ in range(times if n == 1 else 1)]
        total = chosen[0]
        for part in chosen[1:]:
            total = total + part
        return total

    return plant


def _transposed(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
    return np.ascontiguousarray(subject.multiply(a, b, c).T)


def _without_numbers(name: str) -> Callable[..., Array | None]:
    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        options = [text for text in subject.epilogue.split(",") if not text.startswith(name)]
        other = ",".join(options)
        return None if other == subject.epilogue else subject.multiply(a, b, c, epilogue=other)

    return plant


def _without_c(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
    return None if c is None else subject.multiply(a, b, None)


def _times(factor: float) -> Callable[..., Array | None]:
    def plant(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
        d = subject.multiply(a, b, c)
        return np.asarray(d.astype("f4") * np.float32(factor)).astype(d.dtype)

    return plant


def _tile(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
    d, other = subject.multiply(a, b, c), subject.multiply(a[:, :-8], b[:-8], c)
    d[8:16, 4:12] = other[8:16, 4:12]
    return d


def _never(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
    return np.zeros_like(subject.multiply(a, b, c))


def _noise(subject: Subject, a: Array, b: Array, c: Array | None) -> Array | None:
    d = subject.multiply(a, b, c)
    noise = np.asarray(np.random.default_rng(3).standard_normal(d.shape), "f4")
    return (d.astype("f4") + noise).astype(d.dtype)


#: What is said where nothing is known.
NOTHING = "not explained"

BUGS = (
    *(
        PlantedBug(
            f"{name} {rule}", _operands(name, rule), rf"operands rounded to {name} \({rule}\)", "operands"
        )
        for name, rule in (
            ("tf32", "nearest-even"),
            ("tf32", "truncate"),
            ("tf32", "nearest-away"),
            ("bf16", "nearest-even"),
            ("bf16", "truncate"),
            ("bf16", "nearest-away"),
            ("f16", "nearest-even"),
        )
    ),
    *(
        PlantedBug(
            f"{unit} {rule}",
            _operands(name, rule, unit),
            rf"operands rounded to {name} \({rule}\)",
            "operands",
        )
        for unit, name in (("a100/m16n8k8.f32.tf32", "tf32"), ("h100/mma.m16n8k16.f32.bf16", "bf16"))
        for rule in ("nearest-even", "truncate")
    ),
    PlantedBug("B alone in bf16", _one_side, r"B rounded to bf16 \(nearest-even\)", "operands"),
    PlantedBug(
        "BF16 accumulator", _other(reduction="promote:1,total=bf16"), "accumulation in bf16", "format"
    ),
    PlantedBug("FP16 accumulator", _other(reduction="promote:1,total=f16"), "accumulation in f16", "format"),
    PlantedBug("loop in BF16", _accumulated("bf16"), "accumulation in bf16", "format"),
    PlantedBug("loop in FP16", _accumulated("f16"), "accumulation in f16", "format"),
    PlantedBug(
        "blocks of 16 in FP16",
        _other(reduction="promote:16,total=f16"),
        r"(accumulation|running total) in f16",
        "format",
    ),
    PlantedBug(
        "FP16 unit", _other(unit="a100/mma.m16n8k16.f16.f16.f16.f16"), "accumulation in f16", "format"
    ),
    PlantedBug("BF16 parts", _parts("bf16"), r"partial sums in bf16", "format"),
    PlantedBug("FP16 parts", _parts("f16"), r"partial sums in f16", "format"),
    PlantedBug(
        "BF16 parts of another split", _other(reduction="split-k:6,parts=bf16"), r"parts=bf16", "format"
    ),
    PlantedBug("split twice", _part(2), r"\d+ terms added twice: k = (48 to 95|64 to 127)", "terms"),
    PlantedBug("split left out", _part(0), r"\d+ terms left out: k = (48 to 95|64 to 127)", "terms"),
    PlantedBug("last k", _terms(lambda k: k[:-1]), r"a term left out: k = (95|127|255)", "terms"),
    PlantedBug("last three", _zeroed(-3, 1 << 20), r"3 terms left out: .*last ones of K", "terms"),
    PlantedBug("k = 41", _zeroed(41, 41), r"a term left out: k = 41$", "terms"),
    PlantedBug("k = 0 twice", _terms(lambda k: np.r_[0, k]), r"a term added twice: k = 0$", "terms"),
    PlantedBug("a stage", _zeroed(32, 47), r"16 terms left out: k = 32 to 47$", "terms"),
    PlantedBug("a stage, odd", _zeroed(13, 29), r"17 terms left out: k = 13 to 29$", "terms"),
    PlantedBug(
        "stale stage",
        _terms(lambda k: np.r_[k[:32], k[16:32], k[48:]]),
        r"k = 16 to 31 in place of k = 32 to 47",
        "terms",
    ),
    PlantedBug("transposed", _transposed, "a transposed result", "transposed"),
    PlantedBug("alpha missing", _without_numbers("alpha"), r"every element is|D has A·B 2 times", "scaling"),
    PlantedBug("beta missing", _without_numbers("beta"), r"beta|C", "addend"),
    PlantedBug("C missing", _without_c, "C left out", "addend"),
    PlantedBug("half", _times(0.5), r"0\.5 times", "scaling"),
    PlantedBug("scale", _times(1.7), r"1\.7 times", "scaling"),
    PlantedBug("no out", _without_numbers("out"), "results in f32: without out=bf16", "result"),
    PlantedBug("out=f16", _out("out=f16"), r"results in f16: \+.*out=f16", "result"),
    PlantedBug("out=bf16", _out("out=bf16"), r"results in bf16: \+.*out=bf16", "result"),
    PlantedBug("out=bf16, cut", _out("out=bf16,RTZ"), r"results in bf16.*RTZ", "result"),
    PlantedBug("a tile", _tile, r"8 terms left out", "terms"),
    PlantedBug("zeros", _never, "never computed", "zero"),
    PlantedBug("noise", _noise, NOTHING, "none"),
)


def _by_tolerance(subject: Subject, d: Array, right: Array) -> Iterator[str]:
    a, b, c = subject.matrices()
    found = tcsmt.tolerance(a, b, c, kernel=subject.name, search=0).check(d).diagnosis
    yield from () if found is None else found.lines()


def _by_assertion(subject: Subject, d: Array, right: Array) -> Iterator[str]:
    a, b, c = subject.matrices()
    try:
        assert_close(d, a, b, c, kernel=subject.name)
    except AssertionError as error:
        lines = str(error).splitlines()
        yield from lines[next(n for n, line in enumerate(lines) if "like:" in line or NOTHING in line) :]


def _by_diff(subject: Subject, d: Array, right: Array) -> Iterator[str]:
    a, b, c = subject.matrices()
    if d.dtype != right.dtype:
        return
    found = tcsmt.kernel_diff(a, b, d, right, c, left_kernel=subject.name, right_kernel=subject.name)
    yield from () if found.diagnoses[0] is None else found.diagnoses[0].lines()


def _by_identification(subject: Subject, d: Array, right: Array) -> Iterator[str]:
    a, b, c = subject.matrices()
    options = dict(text.split("=") for text in subject.epilogue.split(",") if "=" in text)
    alpha, beta = (float(options.get(name, 1)) for name in ("alpha", "beta"))
    found = tcsmt.kernel_identify(a, b, d, c, units=[subject.unit], alpha=alpha, beta=beta)
    if found.kernels:
        yield f"it looks like: {found.kernels[0].name}"
    yield from () if found.diagnosis is None else found.diagnosis.lines()


COMMANDS = {
    "kernel tolerance": _by_tolerance,
    "assert_close": _by_assertion,
    "kernel diff": _by_diff,
    "kernel identify": _by_identification,
}


def judged(bug: PlantedBug, lines: list[str]) -> str:
    """``named``: the first explanation is right; ``among``: another one that explains D alike; ``nothing``;
    ``silent``: D is what the kernel gives; ``wrong``."""
    if not lines:
        return "silent"
    texts = [line.partition("like: ")[2] for line in lines if "like: " in line]
    if not texts:
        return "named" if bug.says == NOTHING else "nothing"
    right = [re.search(bug.says, text) is not None for text in texts]
    return "named" if right[0] else "among" if any(right) else "wrong"
