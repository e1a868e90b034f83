"""Ootomo and Yokota 2022, the slides: their claims beside our sweeps, and their figures again.

The slides' text does not print the exponents of their matrices (A), (B), (C); Valpey et al. give those of
type 1, and :mod:`tcsmt.analysis.sweeps.sweep` the ones that we take.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.split_analysis import SPLITS, counted
from tcsmt.analysis.bounds.split_analysis import record as split_record
from tcsmt.analysis.sweeps.sweep import DISTRIBUTIONS, QUANTILES, exact_product, models_for
from tcsmt.language.terms import all_of, const, substitute, var
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue.surveyed import SURVEYED
from tcsmt.programs.recipes import RECIPES, algorithm_named, recipe_named
from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.steps.split import F32, Split, power
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import answer_json, record_text
from tcsmt.support.invariants import not_none
from tcsmt.support.plots import COLOURS, save_svg
from tcsmt.surveys.papers.experiment import Experiment, Paper, Run, concluded

Record = Mapping[str, Any]

#: Exponents of the inputs of type 1, by Valpey et al.
TYPE_1 = range(-15, 15)
#: Entries that FP16 holds: elsewhere whole words underflow, and units are alike in giving zero.
_HELD = ("uniform", "positive", "normal", "type1", "powers")
_EMULATED = ("markidis", "ootomo-halfhalf", "ootomo-tf32tf32", "cutlass-3xtf32", "bf16x9")
_SLIDES = ("type1", "type2", "type3", "type4-ac", "type4-bc", "type4-cc")


class SweepRecords:
    """Records by distribution, K and algorithm; only what is there."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = {(r["distribution"], r["k"], r["algorithm"]): r["units"] for r in records}
        self.lengths = sorted({k for _, k, _ in self.records})
        self.longest = max(self.lengths, default=0)

    def error(
        self, distribution: str, algorithm: str, unit: str, variant: str = "", k: int = 0
    ) -> float | None:
        """Return the residual on the unit whose label names it; None where it was not swept."""
        units = self.records.get((distribution, k or self.longest, algorithm), {})
        for label, errors in units.items():
            plain, _, rest = label.partition(", RNE" if variant == "RNE" else ", all RNE")
            wanted = label != plain and not rest if variant else "RNE" not in label
            if wanted and unit in plain.split(", ") and "residual" in errors:
                return float(errors["residual"])
        return None

    def line(
        self, distribution: str, algorithm: str, unit: str, variant: str = ""
    ) -> Iterator[tuple[int, float | None]]:
        """Yield the residual at every K."""
        for k in self.lengths:
            yield k, self.error(distribution, algorithm, unit, variant, k)


def conclusions(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield what the slides say of what was swept, beside the sweep's figures, and what else these show.

    ``agrees``: None where nothing was said. Nothing is said of algorithms and units that were not swept.
    """
    sweep = SweepRecords(records)
    swept = {record["algorithm"] for record in records}
    if "markidis" in swept:
        yield _mantissa()
    if {"markidis", "ootomo-halfhalf"} <= swept:
        yield _underflow()
    yield from _rounding(sweep)
    yield from _accuracy(sweep)
    yield from _residuals(sweep)
    yield from _closest(sweep)
    yield from _signs(sweep)
    yield from _promotion(sweep)


def split_conclusions() -> list[dict[str, Any]]:
    """Return what the slides say of the splits, which needs no sweep."""
    return [_mantissa(), _underflow()]


def _said(question: str, published: str, ours: str, agrees: bool | None) -> dict[str, Any]:
    return {"section": question, "published": published, "ours": ours, "agrees": agrees}


def _kept(split: Split, exponents: Sequence[int]) -> float:
    tallies = [counted(split, exponent + F32.bias) for exponent in exponents]
    return sum(float(tally.kept_bits) for tally in tallies if tally is not None) / len(exponents)


def _mantissa() -> dict[str, Any]:
    nearest, scaled = RECIPES["markidis"].split, RECIPES["ootomo-halfhalf"].split
    truncated = recipe_named("markidis,split=RTZ,residual=RTZ").split
    flat = [
        e for e in range(-126, 16) if (t := counted(nearest, e + F32.bias)) and float(t.kept_bits) == 22.75
    ]
    return _said(
        "expected mantissa length of Markidis' split",
        "22.75 of 23 bits",
        f"exactly {_kept(nearest, [0])} for exponents {flat[0]} to {flat[-1]} ({_kept(truncated, [0])} "
        f"toward zero); but {_kept(nearest, TYPE_1):.2f} on average over type 1's exponents -15 to 14, where "
        f"residuals underflow ({_kept(scaled, TYPE_1):.2f} with the residual times 2^11)",
        True,
    )


def _underflow() -> dict[str, Any]:
    texts = []
    for name in ("markidis", "ootomo-halfhalf"):
        split = RECIPES[name].split
        parts = []
        for exponent in (-10, 0):
            tally = counted(split, exponent + F32.bias)
            tally = not_none(tally)
            lost, gradual = tally.kinds[1] / tally.inputs, tally.kinds[2] / tally.inputs
            parts.append(f"{lost:.2%} and {lost + gradual:.2%} at exponent {exponent}")
        texts.append(f"{'with' if split.scale else 'without'} 2^11: {', '.join(parts)}")
    return _said(
        "underflow, and underflow or gradual underflow, of the residual",
        "high without scaling, low with it (a plot)",
        f"{'; '.join(texts)}; by exponent in results/accuracy/splits.json.xz",
        True,
    )


def _rounding(sweep: SweepRecords) -> Iterator[dict[str, Any]]:
    for distribution in ("uniform", "positive"):
        parts, gains = [], {}
        for unit in ("volta", "ampere", "hopper"):
            plain = sweep.error(distribution, "markidis", unit)
            last = sweep.error(distribution, "markidis", unit, "RNE")
            everything = sweep.error(distribution, "markidis", unit, "all RNE")
            outside = sweep.error(distribution, "markidis,every=instruction", unit)
            if plain and last and everything and outside:
                gains[unit] = plain / last
                parts.append(
                    f"{unit}: {plain:.1e} as it is, {last:.1e} with the last rounding to nearest, "
                    f"{everything:.1e} with alignment to nearest too, {outside:.1e} with c added outside"
                )
        if "ampere" in gains:
            yield _said(
                f"RZ inside the unit causes Markidis' error ({distribution}, K = {sweep.longest})",
                "an emulator with RZ in C's addition is as inaccurate as the tensor core, with RN not (A100)",
                f"the last rounding to nearest alone gains {gains['ampere']:.1f} times on an A100; "
                + "; ".join(parts),
                gains["ampere"] > 5,
            )


def _accuracy(sweep: SweepRecords) -> Iterator[dict[str, Any]]:
    claims = {
        "ootomo-halfhalf": ("uniform", "type1"),
        "ootomo-tf32tf32": ("uniform", *_SLIDES),
    }
    for algorithm, distributions in claims.items():
        ratios = _ratios(sweep, algorithm, distributions, "ampere")
        if ratios:
            worst = max(ratios.values())
            yield _said(
                f"{algorithm} has FP32's accuracy (A100; {', '.join(ratios)})",
                "the same level as cuBLAS SGEMM",
                f"at most {worst:.2f} times the error of a chain of FP32 fused multiply-adds, "
                f"K = {sweep.longest}",
                worst < 2,
            )
    for algorithm in ("ootomo-halfhalf", "ootomo-halfhalf,scale=0", "markidis"):
        ratios = _ratios(sweep, algorithm, _SLIDES, "ampere")
        if ratios:
            yield _said(
                f"{algorithm} by type of matrix (A100)",
                "FP16's exponents limit it: TF32 for type 4",
                ", ".join(f"{name}: {ratio:.2g}" for name, ratio in ratios.items()) + " times FP32's error",
                None,
            )


def _ratios(sweep: SweepRecords, algorithm: str, distributions: Sequence[str], unit: str) -> dict[str, float]:
    ratios = {}
    for name in distributions:
        error, base = sweep.error(name, algorithm, unit), sweep.error(name, "fp32-fma", "ordinary cores")
        if error is not None and base:
            ratios[name] = error / base
    return ratios


def _residuals(sweep: SweepRecords) -> Iterator[dict[str, Any]]:
    gains = [
        (without["residual"] / with_it["residual"], name, k, label)
        for (name, k, algorithm), units in sweep.records.items()
        if algorithm == "ootomo-halfhalf" and name in _HELD
        if (name, k, "ootomo-halfhalf-4") in sweep.records
        for label, without in units.items()
        if "RNE" not in label
        for with_it in [sweep.records[name, k, "ootomo-halfhalf-4"][label]]
        if with_it.get("residual")
    ]
    if gains:
        most, name, k, label = max(gains)
        yield _said(
            "ΔA·ΔB is negligible, in matrix products",
            "negligible to FP32's 23 bits",
            f"adding it lowers the error at most {most:.2f} times ({name}, K = {k}, {label})",
            most < 1.5,
        )


def _closest(sweep: SweepRecords) -> Iterator[dict[str, Any]]:
    for algorithm in ("markidis", "ootomo-halfhalf", "ootomo-tf32tf32", "bf16x9", "single-f16"):
        shares: dict[str, list[float]] = {}
        for (distribution, _, name), units in sweep.records.items():
            if name == algorithm and distribution in _HELD:
                for label, errors in units.items():
                    if "closest" in errors:
                        shares.setdefault(label, []).append(errors["closest"])
        if len(shares) > 1:
            means = sorted(((sum(s) / len(s), label) for label, s in shares.items()), reverse=True)
            yield _said(
                f"{algorithm}: which unit is closest to exact most often (ties count for each)",
                "",
                ", ".join(f"{label} {mean:.0%}" for mean, label in means),
                None,
            )


def _signs(sweep: SweepRecords) -> Iterator[dict[str, Any]]:
    """Worst cases, apart for CDNA2, which flushes subnormal words: a product can become zero there."""
    for where, flushed in (("", False), (", on CDNA2", True)):
        signs = [
            (record, algorithm, f"{name}, K = {k}, {label}")
            for (name, k, algorithm), units in sweep.records.items()
            if name in _HELD
            for label, record in units.items()
            if "wrong_sign" in record and (label == "cdna2") == flushed
        ]
        wrong: dict[str, tuple[float, str]] = {}
        for record, algorithm, place in signs:
            if record["wrong_sign"] > wrong.get(algorithm, (0.0, ""))[0]:
                wrong[algorithm] = record["wrong_sign"], place
        if signs:
            yield _said(
                f"results of the wrong sign, zeros included (largest share of elements){where}",
                "",
                "; ".join(f"{name} {share:.1%} ({place})" for name, (share, place) in wrong.items())
                or "none",
                None,
            )
        split = [
            (record["relative"], record["cancellation"], a, p) for record, a, p in signs if a in _EMULATED
        ]
        if split:
            relative, size, algorithm, place = max(split)
            yield _said(
                f"the worst relative error of emulated FP32{where}",
                "",
                f"{relative:.1e} where Σ|a·b| is {size:.0f} times the result: {algorithm}, {place}",
                None,
            )


def _promotion(sweep: SweepRecords) -> Iterator[dict[str, Any]]:
    unit = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
    pairs = {
        name: (sweep.error(name, "fp8", unit), sweep.error(name, "fp8-promoted", unit))
        for name in ("uniform", "positive")
    }
    parts = [
        f"{name}: {before:.1e} to {after:.1e}" for name, (before, after) in pairs.items() if before and after
    ]
    if parts:
        yield _said(
            f"FP8 on Hopper (wgmma), partial sums promoted every 128 products (K = {sweep.longest})",
            "nearly 2 % without (DeepSeek-V3)",
            "; ".join(parts),
            None,
        )


# --- asked of the models ----------------------------------------------------------------------------


def last_bit_conclusion(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the slides conclude from :func:`last_bit`'s experiment."""
    residuals = record["residuals"]
    markidis, cleared = residuals["Markidis"], residuals["SGEMM, last bit cleared"]
    return _said(
        "the lost mantissa is not the cause",
        "Markidis' method is less accurate than an SGEMM whose inputs keep 22.5 bits",
        ", ".join(f"{label} {residual:.1e}" for label, residual in residuals.items())
        + f" (K = {record['k']})",
        markidis > cleared,
    )


def residual_product_conclusion(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what :func:`residual_product` says of the slides' claim."""
    proved = all(record["answer"] == "proved" for record in records)
    units = [record for record in records if "unit" in record]
    differ = [record for record in units if record["without"] != record["exact"] == record["with"]]
    return _said(
        "ΔA·ΔB is negligible, in one product",
        "negligible to FP32's 23 bits",
        f"(1 + 2^-11)^2 is two units in the last place off without it, and exact with it, on {len(differ)} "
        f"of {len(units)} units; it changes no value where in each lane one residual is zero "
        f"({'proved for all' if proved else 'not proved for all'})",
        not differ,
    )


def last_bit(k: int = 1024, seeds: int = 4) -> dict[str, Any]:
    """Slides, 1/6: Markidis' method on an A100, and an SGEMM whose inputs' last bit is cleared.

    That keeps 22.5 bits of the mantissa, less than Markidis' 22.75: residuals, means over products of
    16 x k x 16 with entries between -1 and 1. And Markidis' split, c added outside.
    """
    draw = DISTRIBUTIONS["uniform"].a
    errors: dict[str, list[float]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, k])
        a, b = draw(rng, (16, k)), draw(rng, (k, 16))
        exact = exact_product(a, b)
        cleared = [(x.view(np.uint32) & np.uint32(0xFFFFFFFE)).view(np.float32) for x in (a, b)]
        for label, name, inputs in (
            ("Markidis", "markidis", (a, b)),
            ("Markidis, c added outside", "markidis,every=instruction", (a, b)),
            ("SGEMM, last bit cleared", "fp32-fma", cleared),
            ("SGEMM", "fp32-fma", (a, b)),
        ):
            algorithm, _ = algorithm_named(name, "ampere")
            error = exact.error(multiply(algorithm, *inputs))
            errors.setdefault(label, []).append(float(np.linalg.norm(error) / np.linalg.norm(exact.high)))
    return {"k": k, "residuals": {label: sum(values) / seeds for label, values in errors.items()}}


def residual_product(settings: SolvingOptions) -> Iterator[dict[str, Any]]:
    """ΔA·ΔB, for every unit: when leaving it out cannot change a value, and an input where it does.

    Proved: (1) of every unit, products that are zero add up to +0, onto +0; (2) adding +0·2^-22
    outside changes no number but the sign of a zero. So it cannot change a value where in each
    lane one of the two residuals is zero. The input: a = b = 1 + 2^-11, where one product's ΔA·ΔB
    is two units in the last place of the result.
    """
    word = var("y", F32.width)
    y = decode(F32, word)
    added = ieee.fma_words(F32, const(0, F32.width), power(-22), word)
    solving = Solving(settings)
    outside = solving.verdict_on(added.ne(word) & ~y.nan & ~y.zero)
    lemma = "y + 0·2^-22 is y, for every number but zero"
    yield {"lemma": lemma, **answer_json(outside, "refuted", "proved")}
    for name in ("ootomo-halfhalf", "ootomo-tf32tf32"):
        for label, unit in models_for(recipe_named(name), SURVEYED).items():
            t = unit.trace
            a_format, b_format = float_format(unit.a_format), float_format(unit.b_format)
            zeros = [
                decode(a_format, a).zero & ~decode(b_format, b).nan & ~decode(b_format, b).infinite
                | decode(b_format, b).zero & ~decode(a_format, a).nan & ~decode(a_format, a).infinite
                for a, b in zip(t.a, t.b, strict=True)
            ]
            (output,) = substitute([t.output], {t.c: const(0, unit.c_format.width)})
            verdict = solving.verdict_on(all_of(zeros) & output.ne(0))
            x = np.full((1, 1), 1 + 2.0**-11, np.float32)
            without, with_it = (
                float(multiply(recipe_named(n).on(unit, unit.k), x, x)[0, 0]) for n in (name, f"{name}-4")
            )
            yield {
                "algorithm": name,
                "unit": label,
                "lemma": "zero products add up to +0",
                **answer_json(verdict, "refuted", "proved"),
                "a = b": 1 + 2.0**-11,
                "without": without.hex(),
                "with": with_it.hex(),
                "exact": ((1 + 2.0**-11) ** 2).hex(),
            }


# --- plots ----------------------------------------------------------------------------------------

#: Units of the plots, by an architecture in their label.
_UNITS = ("volta", "turing", "ampere", "hopper", "cdna1", "cdna2", "cdna3")
PLOTTED = (
    "fp32-fma", "single-f16", "markidis", "markidis,every=instruction", "ootomo-halfhalf",
    "ootomo-tf32tf32", "cutlass-3xtf32", "bf16x9",
)  # fmt: skip
_TYPES, _TYPE_UNITS = ("uniform", *_SLIDES, "powers"), ("ampere", "cdna3")
_BIASED = tuple((n, d) for n in ("markidis", "ootomo-halfhalf") for d in ("uniform", "positive"))
_ROUNDING_DISTRIBUTIONS, _ROUNDING_UNITS = ("uniform", "positive"), ("volta", "ampere", "hopper")


#: What draws the records on a figure of matplotlib.
_Draw = Callable[[SweepRecords, Any], None]


def plots(folder: Path, records: Sequence[Record]) -> Iterator[Path]:
    """Draw every figure of which something was swept, and yield the files."""
    sweep = SweepRecords(records)
    figures: dict[str, tuple[tuple[float, float], _Draw, Sequence[object], str]] = {
        "k": ((9, 5.7), _against_k, _shown_against_k(sweep), "Uniform matrices: residual against K"),
        "types": ((9, 4.2), _by_type, _shown_by_type(sweep), "Residual by distribution of the inputs"),
        "bias": ((10, 7), _bias, _shown_bias(sweep), "Distribution of the error on each unit, and its mean"),
        "rounding": (
            (9, 5.7),
            _by_rounding,
            _shown_by_rounding(sweep),
            "Markidis: relative residual against K, with truncations and with rounding to nearest",
        ),
    }
    for name, (size, draw, shown, says) in figures.items():
        if shown:
            path = folder / f"sweep-{name}.svg"
            save_svg(path, size, partial(_titled, draw, sweep, says), says)
            yield path


def _titled(draw: _Draw, sweep: SweepRecords, title: str, figure: Any) -> None:
    draw(sweep, figure)
    figure.suptitle(title, fontsize=10)


def _shown_against_k(sweep: SweepRecords) -> list[str]:
    """Return the units of which a panel shows anything."""
    return [
        unit
        for unit in _UNITS
        if any(error for name in PLOTTED for _, error in sweep.line("uniform", name, _unit(name, unit)))
    ]


def _shown_by_type(sweep: SweepRecords) -> list[str]:
    return [
        unit
        for unit in _TYPE_UNITS
        if any(sweep.error(d, name, _unit(name, unit)) for d in _TYPES for name in PLOTTED)
    ]


def _shown_bias(sweep: SweepRecords) -> list[tuple[str, str]]:
    """Return the algorithms and distributions."""
    return [pair for pair in _BIASED if _with_quantiles(sweep, *pair)]


def _with_quantiles(sweep: SweepRecords, name: str, distribution: str) -> dict[str, Record]:
    records = sweep.records.get((distribution, sweep.longest, name), {})
    return {label: record for label, record in records.items() if "quantiles" in record}


def _shown_by_rounding(sweep: SweepRecords) -> list[tuple[str, str]]:
    """Return the distributions and units."""
    return [
        (distribution, unit)
        for distribution in _ROUNDING_DISTRIBUTIONS
        for unit in _ROUNDING_UNITS
        if any(
            error
            for name in ("markidis", "markidis,every=instruction")
            for _, error in sweep.line(distribution, name, unit)
        )
    ]


def _panels(figure: Any, count: int, across: int, **shared: Any) -> Any:
    """Return so many axes, in rows of ``across`` at most; what a last row has more is not drawn."""
    across = min(across, count)
    axes = figure.subplots(-(-count // across), across, squeeze=False, **shared)
    for axis in axes.flat[count:]:
        axis.set_axis_off()
    return axes


def _line(axis: Any, points: Iterator[tuple[int, float | None]], colour: str, label: str) -> None:
    nonzero = [(k, error) for k, error in points if error]
    if nonzero:
        axis.loglog(*zip(*nonzero, strict=True), marker="o", markersize=3, color=colour, label=label)


def plot_splits(path: Path) -> None:
    """Slides, 4/6: underflow of the residual by exponent, and what is kept of the mantissa."""
    exponents = range(-40, 15)

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        splits = {
            "Markidis (FP16)": RECIPES["markidis"].split,
            "Ootomo-Yokota (FP16, 2^11)": RECIPES["ootomo-halfhalf"].split,
            "TF32, 2^11": RECIPES["ootomo-tf32tf32"].split,
        }
        for colour, (label, split) in zip(COLOURS, splits.items(), strict=False):
            points = [(e, t) for e in exponents if (t := counted(split, e + F32.bias)) is not None]
            x = [e for e, _ in points]
            for axis, kinds, line in ((axes[0], (1,), "-"), (axes[1], (1, 2), "-")):
                shares = [sum(t.kinds[kind] for kind in kinds) / t.inputs for _, t in points]
                axis.plot(x, shares, line, color=colour, label=label)
            axes[2].plot(x, [float(t.kept_bits) for _, t in points], color=colour, label=label)
        for axis, title in zip(
            axes, ("P(underflow)", "P(underflow or gradual)", "expected bits kept, of 23"), strict=True
        ):
            axis.set_title(title, fontsize=9)
            axis.set_xlabel("exponent of x")
            axis.grid(alpha=0.3)
        _legend(figure, list(axes))

    save_svg(path, (9, 3.6), draw, "What splits lose, by the exponent of what is split")


def _unit(algorithm: str, unit: str) -> str:
    return "ordinary cores" if algorithm == "fp32-fma" else unit


def _legend(figure: Any, axes: Sequence[Any]) -> None:
    seen: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            seen.setdefault(label, handle)
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=4)


def _against_k(sweep: SweepRecords, figure: Any) -> None:
    units = _shown_against_k(sweep)
    axes = _panels(figure, len(units), 4, sharex=True, sharey=True)
    for axis, unit in zip(axes.flat, units, strict=False):
        for colour, name in zip(COLOURS, PLOTTED, strict=True):
            _line(axis, sweep.line("uniform", name, _unit(name, unit)), colour, name)
        axis.set_title(unit, fontsize=9)
        axis.grid(alpha=0.3)
        axis.set_xlabel("K")
    for axis in axes[:, 0]:
        axis.set_ylabel("relative residual")
    _legend(figure, list(axes.flat))


def _by_type(sweep: SweepRecords, figure: Any) -> None:
    units = _shown_by_type(sweep)
    axes = _panels(figure, len(units), 2, sharey=True)[0]
    for axis, unit in zip(axes, units, strict=True):
        for number, (colour, name) in enumerate(zip(COLOURS, PLOTTED, strict=True)):
            values = [(place, sweep.error(d, name, _unit(name, unit))) for place, d in enumerate(_TYPES)]
            points = [(place + 0.08 * (number - 3.5), error) for place, error in values if error]
            if points:
                axis.semilogy(*zip(*points, strict=True), "o", markersize=4, color=colour, label=name)
        axis.set_xticks(range(len(_TYPES)), _TYPES, rotation=30)
        axis.set_title(f"{unit}, K = {sweep.longest}", fontsize=9)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("relative residual")
    _legend(figure, list(axes))


def _bias(sweep: SweepRecords, figure: Any) -> None:
    """Quantiles of the error on every unit, and its mean: the bias, in numbers at the right."""
    shown = _shown_bias(sweep)
    axes = _panels(figure, len(shown), 2)
    for axis, (name, distribution) in zip(axes.flat, shown, strict=False):
        units = _with_quantiles(sweep, name, distribution)
        # CDNA2 flushes subnormal residuals: its error has another scale, and ends at the frame
        ends = [
            record["quantiles"][QUANTILES.index(share)]
            for label, record in units.items()
            for share in (0.05, 0.95)
            if label != "cdna2"
        ]
        room = 0.05 * (max(ends, default=1.0) - min(ends, default=0.0))
        left, right = min([0.0, *ends]) - room, max([0.0, *ends]) + room
        axis.set_xlim(left, right)
        for place, record in enumerate(units.values()):
            at = [min(max(q, left), right) for q in record["quantiles"]]
            for low, high, width, label in ((0.05, 0.95, 1, "90% of the elements"), (0.25, 0.75, 5, "50%")):
                span = [at[QUANTILES.index(share)] for share in (low, high)]
                axis.plot(span, [place, place], color=COLOURS[0], linewidth=width, label=label)
            axis.plot([record["mean"]], [place], "o", color=COLOURS[1], markersize=5, label="mean")
        axis.axvline(0, color="#999999", linewidth=1)
        places = range(len(units))
        axis.set_yticks(places, [label.replace(", ", ",\n") for label in units], fontsize=8)
        axis.secondary_yaxis("right").set_yticks(
            places, [_signed(record["mean"]) for record in units.values()], fontsize=8
        )
        axis.invert_yaxis()
        axis.set_title(f"{name}, {distribution}, K = {sweep.longest}", fontsize=9)
        axis.set_xlabel("error outward, units of 2^-24 Σ|a·b|; at the right its mean")
    _legend(figure, list(axes.flat))


def _signed(x: float) -> str:
    return f"{x:+.0f}" if abs(x) >= 10 else f"{x:+.2g}"


def _by_rounding(sweep: SweepRecords, figure: Any) -> None:
    shown = _shown_by_rounding(sweep)
    distributions, units = (list(dict.fromkeys(names)) for names in zip(*shown, strict=True))
    axes = figure.subplots(len(distributions), len(units), sharex=True, sharey="row", squeeze=False)
    styles = {"as it is": "", "last rounding to nearest": "RNE", "alignment to nearest too": "all RNE"}
    for row, distribution in zip(axes, distributions, strict=True):
        for axis, unit in zip(row, units, strict=True):
            if (distribution, unit) not in shown:
                axis.set_axis_off()
                continue
            for colour, (label, variant) in zip(COLOURS, styles.items(), strict=False):
                _line(axis, sweep.line(distribution, "markidis", unit, variant), colour, label)
            outside = sweep.line(distribution, "markidis,every=instruction", unit)
            _line(axis, outside, COLOURS[3], "c added outside")
            _line(axis, sweep.line(distribution, "fp32-fma", "ordinary cores"), COLOURS[6], "FP32")
            axis.set_title(f"Markidis on {unit}, {distribution}", fontsize=9)
            axis.grid(alpha=0.3)
            axis.set_xlabel("K")
        row[0].set_ylabel("relative residual")
    _legend(figure, list(axes.flat))


# --- what is printed ------------------------------------------------------------------------------


def _split_parts() -> Iterator[dict[str, Any]]:
    for split in SPLITS:
        facts = split_record(split)
        yield {"split": facts["split"], "ranges": facts["ranges"]}


def _split_lines(split: Record) -> Iterator[str]:
    rows = (
        next(row for row in split["ranges"] if row["exponents"][0] <= exponent <= row["exponents"][1])
        for exponent in (0, -10)
    )
    text = ", ".join(f"{row['kept_bits']:.4f} bits and {row['underflow']:.2%}" for row in rows)
    yield f"{split['split']:<36}{text}"


def _last_bit_lines(experiment: Record) -> Iterator[str]:
    yield f"\nresidual, entries between -1 and 1, K = {experiment['k']}, A100"
    for label, residual in experiment["residuals"].items():
        yield f"{label:<36}{residual:.2e}"


def _residual_lines(lemma: Record) -> Iterator[str]:
    unit = f" ({lemma['algorithm']}, {lemma['unit']})" if "unit" in lemma else ""
    yield f"{record_text(lemma, 'refuted')}, {lemma['seconds']:.2f} s: {lemma['lemma']}{unit}"
    if "unit" in lemma:
        yield f"    (1 + 2^-11)^2: without {lemma['without']}, with {lemma['with']}, {lemma['exact']}"


def _concluded(run: Run) -> list[dict[str, Any]]:
    """Return what needs no sweep, and then what a sweep's records say of the other published statements."""
    splits = split_conclusions()
    swept = [judged for judged in conclusions(_swept(run)) if judged not in splits and judged["published"]]
    asked = [
        last_bit_conclusion(run.data["last bit"]),
        residual_product_conclusion(run.data["residual product"]),
    ]
    return [*asked, *splits, *swept]


def _swept(run: Run) -> list[Record]:
    """Return the records that ``accuracy sweep --output`` left in the folder, where it has run."""
    if run.folder is None:
        run.say("the conclusions about a sweep need --output FOLDER, with sweep.json in it")
        return []
    path = run.folder / "sweep.json"
    if not path.exists():
        run.say(f"{path} is missing; make it with tcsmt accuracy sweep --output {path}")
        return []
    records: list[Record] = json.loads(path.read_text(encoding="utf-8"))["records"]
    return records


PAPER = Paper(
    (
        Experiment(
            "splits",
            lambda run: _split_parts(),
            _split_lines,
            "mantissa kept, and residuals that underflow, for exponents 0 and -10 of x",
        ),
        Experiment("last bit", lambda run: last_bit(), _last_bit_lines),
        Experiment(
            "residual product",
            lambda run: residual_product(run.options),
            _residual_lines,
            "\nthe product of the residuals",
        ),
        concluded(_concluded),
    ),
    {"splits": lambda path, data: plot_splits(path)},
)
