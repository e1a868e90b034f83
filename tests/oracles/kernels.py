"""Kernels in exact integers: chains of an instruction, and IEEE arithmetic on what they give.

As in :mod:`.exact`, a unit and a format are read as data. Everything else is written down again from
``docs/howto/gemm.md``: a kernel is given as text, which is read here, too. The package's code is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from tests.oracles import exact

Array = exact.Array
Columns = dict[str, Array]

#: The formats that a text may name: exponent bits, fraction bits, bias, specials, ignored low bits.
_FORMATS = {
    "f16": (5, 10, 15, "IEEE", 0), "bf16": (8, 7, 127, "IEEE", 0), "tf32": (8, 10, 127, "IEEE", 13),
    "f32": (8, 23, 127, "IEEE", 0), "f64": (11, 52, 1023, "IEEE", 0), "e5m2": (5, 2, 15, "IEEE", 0),
    "e4m3": (4, 3, 7, "NAN_ONLY", 0), "e3m2": (3, 2, 3, "NONE", 0), "e2m3": (2, 3, 1, "NONE", 0),
    "e2m1": (2, 1, 1, "NONE", 0), "e4m3fnuz": (4, 3, 8, "NEGATIVE_ZERO_NAN", 0),
    "e5m2fnuz": (5, 2, 16, "NEGATIVE_ZERO_NAN", 0),
}  # fmt: skip
#: The rule for NaN words of the kernel at hand.
_rule = ContextVar("rule", default="unknown")
_TREES = ("pairs", "halves", "folded")
#: Reductions whose texts are drawn for kernels of few products.
REDUCTIONS = (
    "chained", "split-k:1", "split-k:2", "split-k:2,reversed", "split-k:2,pairs", "sliced:2", "promote:1",
    "promote:1,pairs", "promote:1,halves", "promote:1,folded", "cuts:1", "cuts:2,from-zero",
    "split-k:2,parts=e5m2", "split-k:2,total=e5m2", "promote:1,parts=f32", "split-k:2/promote:1,reversed",
    "sliced:2/split-k:2,total=f16",
)  # fmt: skip


@dataclass(frozen=True)
class Words:
    """Words (int64), and their format; that of integers is given by its number of bits."""

    fmt: exact.Format | int
    words: Array


def format_of(given: Any) -> exact.Format | int:
    """A format as data; of integers its bits alone count, as they wrap."""
    if isinstance(given, str):
        exponent, fraction, bias, specials, ignored = _FORMATS[given]
        return exact.Format(exponent, fraction, bias, specials, True, ignored, 0)
    return int(given.bits) if hasattr(given, "bits") else exact.Format.of(given)


# --- arithmetic outside the unit -----------------------------------------------------------------


def _numbers(x: Words) -> exact.Numbers:
    assert isinstance(x.fmt, exact.Format)
    return x.fmt.decode(x.words)


def _largest(fmt: exact.Format) -> int:
    whole = (1 << (fmt.exponent_bits + fmt.fraction_bits)) - 1
    less = {"IEEE": 1 << fmt.fraction_bits, "NAN_ONLY": 1}.get(fmt.specials, 0)
    return (whole - less) << fmt.ignored_low_bits


def _nan(fmt: exact.Format) -> int:
    """The NaN of the rule at hand: all ones, or the format's quiet NaN; the only NaN of a format that
    has one; where it has none, its largest number.
    """
    kind, *names = _rule.get().split(":")
    if kind == "ones" and fmt.specials == "IEEE" and (not names or fmt in map(format_of, names)):
        return ((1 << (fmt.exponent_bits + fmt.fraction_bits)) - 1) << fmt.ignored_low_bits
    match fmt.specials:
        case "IEEE":
            return fmt.quiet_nan
        case "NAN_ONLY":
            return (1 << (fmt.exponent_bits + fmt.fraction_bits)) - 1 << fmt.ignored_low_bits
        case "NEGATIVE_ZERO_NAN":
            return 1 << (fmt.width - 1)
    return _largest(fmt)


def _rounded(
    fmt: exact.Format, terms: Sequence[exact.Numbers], mode: str = "RNE", *, saturate: bool = False
) -> Words:
    """The exact sum, rounded once; one term is converted."""
    minus = exact.minus_zero(terms, mode) if len(terms) > 1 else terms[0].sign
    overflow = "saturate" if saturate else "ieee"
    words = fmt.encode(exact.total([term.fixed for term in terms]), mode, minus, overflow=overflow)
    return _finished(fmt, words, exact.specials(terms), saturate=saturate)


def _finished(
    fmt: exact.Format, words: Array, special: tuple[Array, Array, Array], *, saturate: bool
) -> Words:
    nan, infinite, minus = special
    ieee = fmt.specials == "IEEE" and not saturate
    limit = fmt.infinity(minus) if ieee else minus.astype(np.int64) << (fmt.width - 1) | _largest(fmt)
    return Words(fmt, np.where(nan, _nan(fmt), np.where(infinite, limit, words)))


def _add(x: Words, y: Words) -> Words:
    if isinstance(x.fmt, int):
        return Words(x.fmt, x.words + y.words & (1 << x.fmt) - 1)
    return _rounded(x.fmt, [_numbers(x), _numbers(y)])


def _converted(x: Words, fmt: exact.Format | int | None) -> Words:
    if fmt is None or x.fmt == fmt:
        return x
    assert isinstance(fmt, exact.Format)
    return _rounded(fmt, [_numbers(x)])


def _fma(x: Words, y: Words, z: Words) -> Words:
    assert isinstance(x.fmt, exact.Format)
    return _rounded(x.fmt, [exact.product(_numbers(x), _numbers(y)), _numbers(z)])


def _stochastic(x: Words, fmt: exact.Format, random: Array, bits: int, *, saturate: bool) -> Words:
    """The first dropped bits and the random number carry into the last kept bit, or they do not."""
    given = _numbers(x)
    size = replace(given, sign=given.sign & False).fixed
    last = np.maximum(size.top, fmt.e_min) - fmt.fraction_bits
    dropped = size.on_grid(last - bits, "RTZ").in_units(last - bits).astype(object)
    units = (dropped + random.astype(object)) >> bits
    whole = exact.Fixed(np.where(given.sign, -units, units), last)
    overflow = "saturate" if saturate else "ieee"
    words = fmt.encode(whole, "RNE", given.sign, overflow=overflow)
    return _finished(fmt, words, exact.specials([given]), saturate=saturate)


# --- reductions ----------------------------------------------------------------------------------


def _options(text: str) -> tuple[str, str, dict[str, str]]:
    head, *rest = text.split(",")
    kind, _, number = head.partition(":")
    return kind, number, {key: value for key, _, value in (option.partition("=") for option in rest)}


def _parts(text: str, lanes: list[int], k: int) -> list[list[int]]:
    """Where K is cut. k: the instruction's."""
    kind, number, options = _options(text)
    count = len(lanes)
    match kind:
        case "split-k":
            step = int(options.get("step", 1 if count % k else k))
            size = ceil(ceil(count / int(number)) / step) * step
            cuts = list(range(0, count, size))
        case "sliced":
            step, parts = int(options.get("step", k)), int(number)
            dealt = [[lane for at, lane in enumerate(lanes) if at // step % parts == n] for n in range(parts)]
            return [part for part in dealt if part]
        case "promote":
            every, half = int(number), int(options.get("halved", 0))
            cuts, at = [], 0
            while at < count:
                cuts.append(at)
                left = count - at
                between = half and every < left < 2 * every
                at += ceil((left // 2) / half) * half if between else every
        case "cuts":
            cuts = [0, *(at for at in map(int, number.split("-")) if at < count)]
        case _:
            raise AssertionError(text)
    return [lanes[first:last] for first, last in zip(cuts, [*cuts[1:], count], strict=True)]


def of_tile(text: str, place: tuple[int, int], shape: tuple[int, int, int]) -> str:
    """The reduction of one element: where workers share the steps of all tiles, those that cut its tile."""
    first, *others = text.split("/")
    kind, number, options = _options(first)
    if kind != "stream-k":
        return text
    tall, wide, deep = map(int, options.pop("tile").split("x"))
    m, n, length = shape
    steps = ceil(length / deep)
    tiles = [(i, j) for i in range(0, m, tall) for j in range(0, n, wide)]
    share = ceil(len(tiles) * steps / int(number))
    worker = [at // share for at in range(len(tiles) * steps)]
    mine = tiles.index((place[0] // tall * tall, place[1] // wide * wide)) * steps
    cuts = [at * deep for at in range(1, steps) if worker[mine + at] != worker[mine + at - 1]]
    kept = [key if not value else f"{key}={value}" for key, value in options.items()]
    level = [",".join([f"cuts:{'-'.join(map(str, cuts))}", *kept])] if cuts else []
    return "/".join([*level, *others]) or "chained"


Chain = Callable[[list[int], Words | None], Words]


def _reduced(levels: list[str], lanes: list[int], k: int, chain: Chain, c: Words | None) -> Words:
    if not levels:
        return chain(lanes, c)
    _, _, options = _options(levels[0])
    parts = [_reduced(levels[1:], part, k, chain, None) for part in _parts(levels[0], lanes, k)]
    fmt = format_of(options["sum"]) if "sum" in options else parts[0].fmt

    def via(name: str, value: Words) -> Words:
        return _converted(_converted(value, format_of(options[name]) if name in options else None), fmt)

    values = [via("parts", part) for part in parts]
    start = None
    if c is not None:
        start = _converted(c, fmt)
    elif "from-zero" in options:
        start = Words(fmt, np.zeros_like(parts[0].words))
    if any(tree in options for tree in _TREES):
        total = _tree(options, values)
        return total if start is None else _add(start, total)
    if "reversed" in options:
        values = values[::-1]
    elif "order" in options:
        values = [values[int(at)] for at in options["order"].split("-")]
    if start is not None:
        values = [start, *values]
    total = via("total", values[0])
    for value in values[1:]:
        total = via("total", _add(total, value))
    return total


def _tree(options: dict[str, str], values: list[Words]) -> Words:
    def sums(groups: list[list[Words]]) -> list[Words]:
        return [_add(*group) if len(group) == 2 else group[0] for group in groups]

    if "pairs" in options:
        while len(values) > 1:
            values = sums([values[at : at + 2] for at in range(0, len(values), 2)])
        return values[0]
    if "halves" in options:
        while len(values) > 1:
            half = ceil(len(values) / 2)
            values = sums([values[at::half] for at in range(half)])
        return values[0]
    half = ceil(len(values) / 2)
    *rest, total = values
    for value in sums([rest[at::half] for at in range(min(half, len(rest)))]):
        total = _add(total, value)
    return total


def sum_format(unit: Any, reduction: str) -> exact.Format | int:
    """The format of the finished sum, whatever K: that of the outermost additions that name one."""
    named = [options["sum"] for _, _, options in map(_options, reduction.split("/")) if "sum" in options]
    return format_of(named[0] if named else unit.d_format)


# --- epilogues -----------------------------------------------------------------------------------


def _ended(text: str, total: Words, c: Words | None, bias: Array | None, random: Array | None) -> Words:
    given = {key: value for key, _, value in (part.partition("=") for part in text.split(","))}
    result = total.fmt
    fmt = format_of("f64") if result == format_of("f64") else format_of("f32")
    alpha, beta = (float(given.get(name, 1)) for name in ("alpha", "beta"))

    def constant(value: float) -> Words:
        word = np.array(value, np.float64).view(np.int64)
        if fmt != format_of("f64"):
            with np.errstate(over="ignore"):
                word = np.array(value, np.float32).view(np.uint32)
        return Words(fmt, np.full_like(total.words, int(word)))

    if c is not None or alpha != 1 or bias is not None:
        total = _converted(total, fmt)
    if c is not None:
        added = _converted(c, fmt)
        added = added if beta == 1 else _fma(added, constant(beta), constant(-0.0))
        total = _fma(total, constant(alpha), added)
    elif alpha != 1:
        total = _fma(total, constant(alpha), constant(-0.0))
    if bias is not None:
        total = _add(total, Words(fmt, bias))
    mode = next((mode for mode in given if mode.startswith("R")), "RNE")
    *middle, last = map(format_of, given["out"].split(":")) if "out" in given else [result]
    saturate = "saturate" in given
    for wanted in middle:
        if total.fmt != wanted:
            assert isinstance(wanted, exact.Format)
            total = _rounded(wanted, [_numbers(total)], mode)
    if random is not None:
        assert isinstance(last, exact.Format)
        return _stochastic(total, last, random, int(given["stochastic"]), saturate=saturate)
    if total.fmt == last and not saturate:
        return total
    assert isinstance(last, exact.Format)
    return _rounded(last, [_numbers(total)], mode, saturate=saturate)


def kernel(
    unit: Any,
    reduction: str,
    epilogue: str,
    k: int,
    columns: Columns,
    *,
    of: str = "",
    bias: Array | None = None,
    random: Array | None = None,
    nans: str = "unknown",
) -> Words:
    """The words of d. columns: a0, ..., b0, ..., and c where there is a C; each int64, as bias and random.

    of: the whole kernel's reduction, where these elements' is another one (:func:`of_tile`). nans: the
    rule for NaN words, where the epilogue has none: ``quiet``, ``ones``, also with formats, or ``unknown``,
    for which the quiet one stands.
    """
    given = {key: value for key, _, value in (part.partition("=") for part in epilogue.split(","))}
    alpha, beta = (float(given.get(name, 1)) for name in ("alpha", "beta"))
    c = Words(format_of(unit.c_format), columns["c"]) if "c" in columns and beta != 0 else None
    first = given.get("c") == "first" or ("c" not in given and alpha == beta == 1)

    def chain(lanes: list[int], start: Words | None) -> Words:
        zero = np.zeros_like(columns["a0"])
        words = zero if start is None else start.words
        for at in range(0, len(lanes), unit.k):
            here = lanes[at : at + unit.k]
            taken = {
                f"{side}{n}": columns[f"{side}{here[n]}"] if n < len(here) else zero
                for side in "ab"
                for n in range(unit.k)
            }
            words = exact.results(unit, taken | {"c": words}).astype(np.int64)
        return Words(format_of(unit.d_format), words)

    levels = [] if reduction == "chained" else reduction.split("/")
    before = _rule.set(given.get("nan", nans))
    try:
        total = _reduced(levels, list(range(k)), unit.k, chain, c if first else None)
        total = _converted(total, sum_format(unit, of or reduction))
        last = None if first else c
        return total if not epilogue else _ended(epilogue, total, last, bias, random)
    finally:
        _rule.reset(before)
