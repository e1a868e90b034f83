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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.programs.steps.on_arrays import split_words as words_of
from tcsmt.programs.steps.split import Split
from tcsmt.simulate.compiled import kernel
from tcsmt.simulate.matmul import chained
from tcsmt.support.invariants import checked_cast
from tcsmt.support.plots import COLOURS, save_svg

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
        """Return the name that the published data use: ``f16 2``."""
        return f"{self.operand} {self.words}"

    @cached_property
    def units(self) -> dict[str, Model]:
        """Return the units of the panel; the H100's and H200's models are the B200's (fp8: by mma.sync).

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
        b200 = checked_cast(b200, FusedDotAdd)
        units["B200 RN"] = b200.replace(rounding=ROUNDINGS["RNE"])
        if self.operand != "e5m2":
            units["B200, F = 23"] = b200.replace(fraction_bits=23)
        return units


def digests() -> dict[str, str]:
    """Return the digest of each unit of each panel."""
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

    a: (M, K), b: (K, N), binary64; of each unit's label an array (M, N). rounding: of the words, RTZ or RNE.
    """
    model = next(iter(models.values()))
    fmt = float_format(model.a_format)
    limit = min(float(fmt.largest_finite), float(np.sqrt(float(model.d_format.largest_finite) / a.shape[1])))
    scale = 2.0 ** np.floor(np.log2(limit / np.abs(a).max(axis=1)))[:, None]
    right = 2.0 ** np.floor(np.log2(limit / np.abs(b).max(axis=0)))[None, :]
    split, scaled = splitting(fmt, words, rounding), splitting(fmt, 1, "RNE")
    a_words, b_words = [floats(fmt, word) for word in _words(split, scale * a)], _words(split, b * right)
    u = 2.0**-fmt.precision
    sums: dict[str, Array] = {label: np.zeros((len(a), b.shape[1]), np.float32) for label in models}
    for j in range(words):
        for k in range(words - j):
            (x,) = _words(scaled, a_words[j] * u ** (j + k))
            for label, unit in models.items():
                sums[label] = chained(x, b_words[k], sums[label], model=unit)
    return {label: total.astype(float) / scale / right for label, total in sums.items()}


def experiment_inputs(rng: np.random.RandomState, n: int) -> tuple[Array, Array]:
    """A (10, n) and B (n, 10) of the experiment, float64, in the order of MATLAB's draws."""

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
    points_before = {(point["panel"], point["n"]): dict(point) for point in before}
    streams = {panel.operand: np.random.RandomState(seed) for panel in panels}
    marked = published()["n"]
    if jit.available():  # the small products, too, are many enough for a compiler
        for panel in panels:
            for unit in panel.units.values():
                kernel(unit)
    for panel in panels:
        for n in LENGTHS:
            rng = streams[panel.operand]
            if n > largest or (panel.name, n) in points_before:
                rng.random_sample(40 * n)
                if n <= largest:
                    yield points_before[panel.name, n]
                continue
            a, b = experiment_inputs(rng, n)
            exact = a @ b
            size = norm(a) * norm(b)
            point: dict[str, Any] = {"panel": panel.name, "n": n}
            for key, rounding in (("errors", "RTZ"), ("nearest_words", "RNE")):
                if rounding == "RTZ" or n in marked:
                    errors = multiply(panel.units, a, b, panel.words, rounding)
                    point[key] = {label: norm(product - exact) / size for label, product in errors.items()}
            yield point


def norm(x: Array) -> float:
    """Return the infinity norm of a matrix (M, N)."""
    return float(np.linalg.norm(x, np.inf))


def published() -> dict[str, Any]:
    """Return the published numbers: ``n``, and for each panel and unit the errors at these n."""
    data = tomllib.loads(Path(__file__).with_name("khattak-2025.toml").read_text(encoding="utf-8"))
    figure: dict[str, Any] = data["figure7"]
    return figure


def _errors(points: Sequence[Mapping[str, Any]], panel: str) -> dict[int, dict[str, float]]:
    return {point["n"]: point["errors"] for point in points if point["panel"] == panel}


def conclusions(points: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what V-B says of Fig. 7 beside our points; ``agrees`` is None below n = 10^6."""
    figure = _Figure(points)
    for published, (ours, agrees) in (
        ("single word: all models match except when n comes close to 10^6", figure.single_words()),
        (
            "double and triple words: V100 is two orders of magnitude more accurate than B200 at n = 10^6",
            figure.lead_of_the_v100(),
        ),
        ("rounding to nearest improves the B200", figure.rounding_to_nearest()),
        ("the L40S is the least accurate with fp8, for its 13 fraction bits", figure.thirteen_bits()),
        (
            "the V100's lead may come from the B200's extra bits, which are rounded toward zero (left open)",
            figure.without_extra_bits(),
        ),
        ("the numbers behind the figure, where we keep them (7 digits)", figure.digits()),
        (
            "the experiment's code rounds the words by CPFloat's default, to nearest",
            (figure.words_to_nearest(), False),
        ),
    ):
        yield {"section": "V-B, Fig. 7", "published": published, "ours": ours, "agrees": agrees}


@dataclass(frozen=True)
class _Figure:
    """Points of Fig. 7: what they say of a statement, and whether they agree (None below n = 10^6)."""

    points: Sequence[Mapping[str, Any]]

    @property
    def last(self) -> int:
        """Return the largest n."""
        return max((point["n"] for point in self.points), default=0)

    def _holds(self, statement: bool) -> bool | None:
        return statement if self.last == LENGTHS[-1] else None

    def _ratios(self, over: str, under: str, panels: Sequence[str]) -> dict[str, float]:
        """Return how many times one unit's error is another's, at the largest n."""
        errors = {panel: _errors(self.points, panel)[self.last] for panel in panels}
        return {panel: error[over] / error[under] for panel, error in errors.items()}

    def single_words(self) -> tuple[str, bool | None]:
        """Return how far the units' errors are apart with one word."""
        spread = {
            panel: {
                n: max(e.values()) / min(e.values()) for n, e in _errors(self.points, panel).items() if n > 20
            }
            for panel in ("e5m2 1", "f16 1", "bf16 1")
        }
        early = max(s for panel in spread.values() for n, s in panel.items() if n < 10**5)
        late = max(panel.get(self.last, 0) for panel in spread.values())
        ours = f"largest over smallest error at most {early:.2f} for n < 10^5, {late:.2f} at n = {self.last}"
        return ours, self._holds(early < 1.25 < late)

    def lead_of_the_v100(self) -> tuple[str, bool | None]:
        """Return the B200's error in the V100's."""
        ratios = self._ratios("B200", "V100", ("f16 2", "f16 3"))
        ours = ", ".join(f"{panel}: {ratio:.0f} times" for panel, ratio in ratios.items())
        return f"{ours} at n = {self.last}", self._holds(all(30 < ratio < 300 for ratio in ratios.values()))

    def rounding_to_nearest(self) -> tuple[str, bool | None]:
        """Return the B200's error in that of the same unit with rounding to nearest."""
        ratios = self._ratios("B200", "B200 RN", ("f16 2", "f16 3", "bf16 2", "bf16 3"))
        ours = ", ".join(f"{panel}: {ratio:.0f} times" for panel, ratio in ratios.items())
        return ours, self._holds(all(ratio > 10 for ratio in ratios.values()))

    def thirteen_bits(self) -> tuple[str, bool | None]:
        """Return the L40S's error in the B200's."""
        ratios = self._ratios("L40S", "B200", ("e5m2 1", "e5m2 4", "e5m2 6"))
        ours = ", ".join(f"{panel}: {ratio:.3g} times the B200's error" for panel, ratio in ratios.items())
        return ours, self._holds(ratios["e5m2 4"] > 10 and ratios["e5m2 6"] > 10)

    def without_extra_bits(self) -> tuple[str, bool | None]:
        """Return the error of a B200 with F = 23 in the V100's."""
        ratios = self._ratios("B200, F = 23", "V100", ("f16 2", "f16 3"))
        times = ", ".join(f"{ratio:.2f} times the V100's error ({panel})" for panel, ratio in ratios.items())
        ours = f"the B200 without extra bits (F = 23) has {times}"
        return ours, self._holds(all(0.5 < ratio < 2 for ratio in ratios.values()))

    def digits(self) -> tuple[str, bool]:
        """Return how many of the published numbers are ours to the last digit, and which are far off."""
        theirs = published()
        equal, compared, far = 0, 0, []
        for panel, units in theirs["published"].items():
            for unit, errors in units.items():
                for n, error in zip(theirs["n"], errors, strict=True):
                    ours = self._at(panel, n, unit)
                    if ours:
                        compared += 1
                        equal += any(f"{error:.6e}" == f"{value:.6e}" for value in ours)
                        apart = min(abs(value / error - 1) for value in ours)
                        far += [f"{panel}, {unit}, n = {n}: {apart:.1e}"] if apart > 0.001 else []
        more = "; ".join(far) or "none"
        return f"{equal} of {compared} with the same digits; more than 0.1 % apart: {more}", not far

    def _at(self, panel: str, n: int, unit: str) -> list[float]:
        """Our errors at a point of the figure: with truncated words, and with words to nearest."""
        here = [point for point in self.points if (point["panel"], point["n"]) == (panel, n)]
        return [point[key][unit] for point in here for key in ("errors", "nearest_words")]

    def words_to_nearest(self) -> str:
        """Return what words that are rounded to nearest gain."""
        gains = [
            (p["errors"]["B200 RN"] / p["nearest_words"]["B200 RN"], p["panel"], p["n"])
            for p in self.points
            if "nearest_words" in p and not p["panel"].endswith(" 1")
        ]
        gain, panel, n = max(gains)
        return (
            "the digits are those of truncated words; words to nearest are more accurate, "
            f"up to {gain:.0f} times ({panel}, B200 RN, n = {n}); {_nearest_trend(self.points, self.last)}"
        )


def _nearest_trend(points: Sequence[Mapping[str, Any]], last: int) -> str:
    """Return the V100's lead, with words to nearest."""
    errors = {p["panel"]: p.get("nearest_words", {}) for p in points if p["n"] == last}
    ratios = [
        f"{errors[panel]['B200'] / errors[panel]['V100']:.0f} times ({panel})"
        for panel in ("f16 2", "f16 3")
        if "V100" in errors.get(panel, {})
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
                values = theirs["published"][panel.name].get(label)
                if values:
                    dots = axis.plot(theirs["n"], values, "o", color=colour, markersize=3.5, fillstyle="none")
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
