"""Products of binary64 matrices from several low-precision words: Khattak and Mikaitis 2025, V-B and Fig. 7.

After Mary and Mikaitis, "Error Analysis of Matrix Multiplication with Narrow Range Floating-Point
Arithmetic" (2025, sections 4 and 5), as the experiment's published code has it (MATLAB-tensor-core,
``experiments/matmul_test.m``; the papers' texts leave these out): entries log-uniform in
±[1e-10, 1e10]; rows of A and columns of B scaled by powers of two to at most
theta = min(fmax, sqrt(Fmax / n)); word j is the remainder over u^(j-1), u = 2^-p of the operands'
precision p; the products of words j and k with j + k <= words + 1 are added up by the unit itself,
in the order of j and then of k, the factor u^(j+k-2) being put into A's word, rounded once more.

The published numbers come from *truncated* words: with MATLAB's ``rng(1)`` (NumPy's
RandomState(1) makes the same uniform numbers) and words rounded toward zero our models give their
digits. The code asks for CPFloat's default, to nearest; the first point of some sessions has
that. Presumably CPFloat keeps the rounding mode of the call before, and the model's own last call
(``GEMM.m``, ``def_outopts.round = 4``) rounds toward zero.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.compose.recipes.arrays import words as words_of
from tcsmt.compose.recipes.split import Split
from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.simulate.compiled import kernel
from tcsmt.simulate.matmul import chained
from tcsmt.support.plots import COLOURS, save_svg

__all__ = [
    "PANELS",
    "conclusions",
    "experiment_inputs",
    "figure_seven",
    "multiply",
    "norm",
    "plot",
    "published",
    "splitting",
]

Array = np.ndarray[Any, np.dtype[Any]]

#: floor(logspace(1, 6, 20)), the experiment's values of n.
LENGTHS = (
    10, 18, 33, 61, 112, 206, 379, 695, 1274, 2335, 4281, 7847, 14384, 26366, 48329, 88586, 162377,
    297635, 545559, 1000000,
)  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """One plot of Fig. 7: operand format, words, and the units by their labels."""

    operand: str
    words: int

    @property
    def name(self) -> str:
        """As in the published data: ``f16 2``."""
        return f"{self.operand} {self.words}"

    @cached_property
    def units(self) -> dict[str, Model]:
        """The units of the panel; the H100's and H200's models are the B200's (fp8: by mma.sync).

        "B200 RN" with fp8 is one sum of 32 products, as the digits of the published data say (our
        tcgen05 row), while "B200" is the interleaved mma.sync. "B200, F = 23" is ours, to test why
        the V100 is so accurate: no extra alignment bits.
        """
        if self.operand == "e5m2":
            names = {
                "L40S": "ada/mma.m16n8k32.f32.e5m2.e5m2.f32",
                "B200": "blackwell/mma.m16n8k32.f32.e5m2.e5m2.f32",
            }
        else:
            shape = f"mma.m16n8k16.f32.{self.operand}.{self.operand}.f32"
            names = {"A100": f"ampere/{shape}", "B200": f"blackwell/{shape}"}
        if self.operand == "f16":
            names = {"V100": "volta/mma.m8n8k4.f32.f16.f16.f32", **names}
        units = {label: row_named(name).model for label, name in names.items()}
        b200 = units["B200"]
        if self.operand == "e5m2":
            b200 = row_named("blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e5m2.e5m2").model
        assert isinstance(b200, FusedDotAdd)
        units["B200 RN"] = replace(b200, rounding=ROUNDINGS["RNE"])
        if self.operand != "e5m2":
            units["B200, F = 23"] = replace(b200, fraction_bits=23)
        return units


def digests() -> dict[str, str]:
    """The digest of each unit of each panel."""
    return {f"{p.name}, {label}": unit.digest for p in PANELS for label, unit in p.units.items()}


PANELS = tuple(
    Panel(o, w) for o, words in (("e5m2", (1, 4, 6)), ("f16", (1, 2, 3)), ("bf16", (1, 2, 3))) for w in words
)


def splitting(fmt: Format, words: int, rounding: str) -> Split:
    """Binary64 numbers as so many words, each over its power of u; to nearest even or toward zero."""
    mode = ROUNDINGS[rounding]
    return Split(
        format=fmt, wide=FORMATS["f64"], words=words, rounding=mode, residual=mode, scale=fmt.precision
    )


def _words(split: Split, x: Array) -> list[Array]:
    return words_of(split, np.ascontiguousarray(x).view(np.uint64))


def multiply(
    models: Mapping[str, Model], a: Array, b: Array, words: int, rounding: str = "RTZ"
) -> dict[str, Array]:
    """A·B in so many words on each unit (all of one operand format), as binary64 numbers.

    rounding: of the words, RTZ or RNE.
    """
    model = next(iter(models.values()))
    fmt = float_format(model.a_format)
    limit = min(float(fmt.largest_finite), float(np.sqrt(float(model.d_format.largest_finite) / a.shape[1])))
    left = 2.0 ** np.floor(np.log2(limit / np.abs(a).max(axis=1)))[:, None]
    right = 2.0 ** np.floor(np.log2(limit / np.abs(b).max(axis=0)))[None, :]
    split, scaled = splitting(fmt, words, rounding), splitting(fmt, 1, "RNE")
    a_words, b_words = [floats(fmt, word) for word in _words(split, left * a)], _words(split, b * right)
    u = 2.0**-fmt.precision
    sums: dict[str, Array] = {label: np.zeros((len(a), b.shape[1]), np.float32) for label in models}
    for j in range(words):
        for k in range(words - j):
            (x,) = _words(scaled, a_words[j] * u ** (j + k))
            for label, unit in models.items():
                sums[label] = chained(x, b_words[k], sums[label], model=unit)
    return {label: total.astype(float) / left / right for label, total in sums.items()}


def experiment_inputs(rng: np.random.RandomState, n: int) -> tuple[Array, Array]:
    """A (10 x n) and B (n x 10) of the experiment, in the order of MATLAB's draws."""

    def uniform(rows: int, columns: int) -> Array:
        return rng.random_sample((columns, rows)).T

    a, b = 10.0 ** (20 * uniform(10, n) - 10), 10.0 ** (20 * uniform(n, 10) - 10)
    signs = [2 * np.floor(2 * uniform(*x.shape)) - 1 for x in (a, b)]
    return a * signs[0], b * signs[1]


def figure_seven(
    largest: int = LENGTHS[-1],
    before: Sequence[Mapping[str, Any]] = (),
    panels: Sequence[Panel] = PANELS,
    seed: int = 1,
) -> Iterator[dict[str, Any]]:
    """Every panel's point at every n up to the largest: the relative norm-wise error of each unit.

    With truncated words, as published; where published numbers are kept here, with nearest words too.
    ``before``: points of an earlier run, which are not computed again. The random numbers of a panel
    follow those of the same format's panels before it, so that ``panels`` should begin with one word.
    """
    known = {(point["panel"], point["n"]): dict(point) for point in before}
    streams = {panel.operand: np.random.RandomState(seed) for panel in panels}
    marked = published()["n"]
    if jit.available():  # the small products, too, are many enough for a compiler
        for panel in panels:
            for unit in panel.units.values():
                kernel(unit)
    for panel in panels:
        for n in LENGTHS:
            rng = streams[panel.operand]
            if n > largest or (panel.name, n) in known:
                rng.random_sample(40 * n)
                if n <= largest:
                    yield known[panel.name, n]
                continue
            a, b = experiment_inputs(rng, n)
            exact = a @ b
            size = norm(a) * norm(b)
            point: dict[str, Any] = {"panel": panel.name, "n": n}
            for key, rounding in (("errors", "RTZ"), ("nearest_words", "RNE")):
                if rounding == "RTZ" or n in marked:
                    found = multiply(panel.units, a, b, panel.words, rounding)
                    point[key] = {label: norm(product - exact) / size for label, product in found.items()}
            yield point


def norm(x: Array) -> float:
    """The infinity norm of a matrix."""
    return float(np.linalg.norm(x, np.inf))


def published() -> dict[str, Any]:
    """The published numbers: ``n``, and for each panel and unit the errors at these n."""
    data = tomllib.loads(Path(__file__).with_name("khattak-2025.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = data["figure7"]
    return found


def _errors(points: Sequence[Mapping[str, Any]], panel: str) -> dict[int, dict[str, float]]:
    return {point["n"]: point["errors"] for point in points if point["panel"] == panel}


def conclusions(points: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """What V-B says of Fig. 7 beside our points; ``agrees`` is None below n = 10^6."""
    whole = max((point["n"] for point in points), default=0) == LENGTHS[-1]
    last = max((point["n"] for point in points), default=0)

    def said(statement: str, ours: str, agrees: bool | None) -> dict[str, Any]:
        return {"section": "V-B, Fig. 7", "published": statement, "ours": ours, "agrees": agrees}

    def at_last(panel: str, unit: str) -> float:
        return _errors(points, panel)[last][unit]

    def ratio(panel: str, over: str, under: str) -> float:
        return at_last(panel, over) / at_last(panel, under)

    spread = {
        panel: {n: max(e.values()) / min(e.values()) for n, e in _errors(points, panel).items() if n > 20}
        for panel in ("e5m2 1", "f16 1", "bf16 1")
    }
    early = max(s for panel in spread.values() for n, s in panel.items() if n < 10**5)
    late = max(panel.get(last, 0) for panel in spread.values())
    yield said(
        "single word: all models match except when n comes close to 10^6",
        f"largest over smallest error at most {early:.2f} for n < 10^5, {late:.2f} at n = {last}",
        early < 1.25 < late if whole else None,
    )
    numbers = {panel: ratio(panel, "B200", "V100") for panel in ("f16 2", "f16 3")}
    yield said(
        "double and triple words: V100 is two orders of magnitude more accurate than B200 at n = 10^6",
        ", ".join(f"{panel}: {number:.0f} times" for panel, number in numbers.items()) + f" at n = {last}",
        all(30 < number < 300 for number in numbers.values()) if whole else None,
    )
    numbers = {p: ratio(p, "B200", "B200 RN") for p in ("f16 2", "f16 3", "bf16 2", "bf16 3")}
    yield said(
        "rounding to nearest improves the B200",
        ", ".join(f"{panel}: {number:.0f} times" for panel, number in numbers.items()),
        all(number > 10 for number in numbers.values()) if whole else None,
    )
    numbers = {panel: ratio(panel, "L40S", "B200") for panel in ("e5m2 1", "e5m2 4", "e5m2 6")}
    yield said(
        "the L40S is the least accurate with fp8, for its 13 fraction bits",
        ", ".join(f"{panel}: {number:.3g} times the B200's error" for panel, number in numbers.items()),
        numbers["e5m2 4"] > 10 and numbers["e5m2 6"] > 10 if whole else None,
    )
    alike = {panel: ratio(panel, "B200, F = 23", "V100") for panel in ("f16 2", "f16 3")}
    yield said(
        "the V100's lead may come from the B200's extra bits, which are rounded toward zero (left open)",
        "the B200 without extra bits (F = 23) has "
        + ", ".join(f"{number:.2f} times the V100's error ({panel})" for panel, number in alike.items()),
        all(0.5 < number < 2 for number in alike.values()) if whole else None,
    )
    theirs = published()
    equal, all_of_them, far = 0, 0, []
    for panel, units in theirs["published"].items():
        for unit, errors in units.items():
            for n, error in zip(theirs["n"], errors, strict=True):
                here = [p for p in points if (p["panel"], p["n"]) == (panel, n)]
                ours = [p[key][unit] for p in here for key in ("errors", "nearest_words")]
                if ours:
                    all_of_them += 1
                    equal += any(f"{error:.6e}" == f"{one:.6e}" for one in ours)
                    apart = min(abs(one / error - 1) for one in ours)
                    far += [f"{panel}, {unit}, n = {n}: {apart:.1e}"] if apart > 0.001 else []
    yield said(
        "the numbers behind the figure, where we keep them (7 digits)",
        f"{equal} of {all_of_them} with the same digits; more than 0.1 % apart: {'; '.join(far) or 'none'}",
        not far,
    )
    better = [
        (p["errors"]["B200 RN"] / p["nearest_words"]["B200 RN"], p["panel"], p["n"])
        for p in points
        if "nearest_words" in p and not p["panel"].endswith(" 1")
    ]
    gain, panel, n = max(better)
    yield said(
        "the experiment's code rounds the words by CPFloat's default, to nearest",
        "the digits are those of truncated words; words to nearest are more accurate, "
        f"up to {gain:.0f} times ({panel}, B200 RN, n = {n}); {_nearest_trend(points, last)}",
        False,
    )


def _nearest_trend(points: Sequence[Mapping[str, Any]], last: int) -> str:
    """The V100's lead, with words to nearest."""
    found = {p["panel"]: p.get("nearest_words", {}) for p in points if p["n"] == last}
    ratios = [
        f"{found[panel]['B200'] / found[panel]['V100']:.0f} times ({panel})"
        for panel in ("f16 2", "f16 3")
        if "V100" in found.get(panel, {})
    ]
    return f"with them the V100 leads the B200 by {', '.join(ratios) or 'what is not computed'} at n = {last}"


_LABELS = {"e5m2": "fp8-e5m2", "f16": "binary16", "bf16": "bfloat16"}
_STYLE = {"V100": 0, "A100": 3, "L40S": 4, "B200": 1, "B200 RN": 2, "B200, F = 23": 6}


def plot(path: Path, points: Sequence[Mapping[str, Any]]) -> None:
    """Fig. 7: error against n, a panel for each format and number of words; dots are published."""
    theirs = published()

    def draw(figure: Any) -> None:
        axes = figure.subplots(3, 3, sharex=True, sharey=True)
        seen: dict[str, Any] = {}
        for axis, panel in zip(axes.flat, PANELS, strict=True):
            errors = _errors(points, panel.name)
            for label in panel.units:
                colour = COLOURS[_STYLE[label]]
                style = ":" if "F = 23" in label else "-"
                (line,) = axis.loglog(list(errors), [e[label] for e in errors.values()], style, color=colour)
                seen.setdefault(
                    {"B200": "H100, H200, B200", "B200, F = 23": "B200 with F = 23"}.get(label, label), line
                )
                given = theirs["published"][panel.name].get(label)
                if given:
                    dots = axis.plot(theirs["n"], given, "o", color=colour, markersize=3.5, fillstyle="none")
                    seen.setdefault("published", dots[0])
            axis.set_title(
                f"{panel.words} word{'s' * (panel.words > 1)} ({_LABELS[panel.operand]})", fontsize=9
            )
            axis.grid(alpha=0.3)
        for axis in axes[-1]:
            axis.set_xlabel("n")
        for axis in axes[:, 0]:
            axis.set_ylabel("relative error (∞-norm)")
        figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=4)

    save_svg(path, (8, 8), draw, "Error of multi-word products against n, by format and unit (Fig. 7)")
