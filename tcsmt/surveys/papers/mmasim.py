"""Xie, Wang, Yang, Yang, "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (2025).

What they conclude from their models, computed with ours: the arithmetic that their probes detect in
every unit (sections II-C to II-F, by :mod:`tcsmt.identification.units.classical`), the algorithm of each
family of instructions (``mma-sim-2025.toml``), and the findings of section IV-C with numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.identification.units.classical import BlackBox, OutOfReach, black_box, kept_bits, profile, word_of
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, IntegerDotAdd, Model
from tcsmt.matrix_units.models.ieee_parts import Chains, FlushedOperands, FlushedResults, FusedChain, Trees
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import CHAINED, Reduction, promoted
from tcsmt.simulate.rows import simulate
from tcsmt.support.invariants import checked_cast
from tcsmt.support.plots import COLOURS, save_svg
from tcsmt.surveys.papers.experiment import Experiment, Paper, concluded

Array = np.ndarray[Any, np.dtype[Any]]

# --- section III and Tables III, IV: instructions and their algorithms -------------------------


def algorithm_of(model: Model) -> str:
    """MMA-Sim's name (section III) for the arithmetic of a model; empty where it has none."""
    match model:
        case IeeeDotAdd(sum=FusedChain() | Chains()):
            return "SFMA"
        case IeeeDotAdd(sum=Trees(), reading=FlushedOperands(), results=FlushedResults()):
            return f"GPS, G = {model.block}"
        case FusedDotAdd() if model.parameters.c_position == "aligned" and not model.parameters.interleave:
            return "GDFS" if model.group > 1 else _chained("FDA", model.k // model.lanes.n_fma)
        case DotThenAdd():
            return _chained("FDRDA" if model.lane_groups == 1 else "GFDRDA", model.k // model.n_fma)
    return ""


def _chained(name: str, blocks: int) -> str:
    return name if blocks == 1 else f"Co{name}"


def families() -> Iterator[dict[str, Any]]:
    """Each family that the text names: our rows, and where algorithm, F or last rounding differ.

    Then our rows that the text does not speak of.
    """
    data = tomllib.loads(Path(__file__).with_name("mma-sim-2025.toml").read_text(encoding="utf-8"))
    others = [row for row in _floating() if "@" not in row.instruction]
    for family in data["family"]:
        members = [row for row in others if re.search(family["rows"], row.name)]
        others = [row for row in others if row not in members]
        yield _compared(family, members)
    yield {
        "family": "not in the paper's text",
        "section": "",
        "rows": len(others),
        "published": {},
        "algorithms": sorted({algorithm_of(row.model) or "none of theirs" for row in others}),
        "detected": {},
        "differs": [],
        "names": [row.name for row in others],
    }


def _compared(family: dict[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the paper says of a family beside its rows here."""
    different = [row.name for row in rows if algorithm_of(row.model) != family["algorithm"]]
    seen: dict[str, set[str]] = {"F": set(), "final": set()}
    for row in rows:
        probed = _detected(row)
        for key, value in _said(family, row).items():
            if key in probed:
                seen[key].add(probed[key])
                if probed[key] != value and row.name not in different:
                    different.append(row.name)
    return {
        "family": family["name"],
        "section": family["section"],
        "rows": len(rows),
        "published": {key: family[key] for key in ("algorithm", "f", "final") if key in family},
        "algorithms": sorted({algorithm_of(row.model) or "none of theirs" for row in rows}),
        "detected": {key: sorted(values) for key, values in seen.items()},
        "differs": different,
    }


def _said(family: dict[str, Any], row: Row) -> dict[str, str]:
    parameters = {"F": str(family["f"])} if "f" in family else {}
    final = family.get("final", {}).get(row.model.d_format.name)
    return parameters | ({"final": final} if final else {})


def _detected(row: Row) -> dict[str, str]:
    """F and the last rounding as the probes see them; a key is missing where they cannot."""
    seen = detected(row.model)
    result = {}
    bits = seen["alignment"].get("product", {}).get("bits")
    if bits is not None:
        result["F"] = str(bits)
    last = seen["result"].get("c + p0", {})
    if last.get("bits") == int(
        getattr(row.model.parameters, "round_fraction_bits", None) or _places(row.model)
    ):
        result["final"] = f"{last['mode']} {last['bits']}"
    return result


def _floating() -> list[Row]:
    """Return the rows that the paper is about: not those of integers."""
    return [row for row in rows() if not isinstance(row.model, IntegerDotAdd)]


def _places(model: Model) -> int:
    return float_format(model.d_format).fraction_bits


@cache
def detected(model: Model) -> dict[str, Any]:
    """:func:`.profile` of a model, which the probes cannot see."""
    return profile(black_box(model))


def representatives() -> Iterator[tuple[Row, list[str]]]:
    """One row of each distinct arithmetic of operands of one format, and the names of all its rows."""
    owners: dict[Model, list[Row]] = {}
    for row in _floating():
        model = row.model
        if "@" not in row.instruction and model.a_format == model.b_format and model.scale_format is None:
            owners.setdefault(model, []).append(row)
    for same in owners.values():
        yield same[0], [row.name for row in same]


# --- section IV-C: 2048 * 2048 - 2048 * 2048 - 0.000001 ----------------------------------------


def cancellation() -> list[dict[str, Any]]:
    """Return the vector of section IV-C on one row of each arithmetic; c is the nearest number of its
    format.
    """
    records = []
    for row, names in representatives():
        box = black_box(row.model)
        c = _nearest(box)
        big = Fraction(2048 * 2048)
        try:
            if row.model.k < 2:
                continue
            word = box.ask([{0: big, 1: -big, box.k: c}])[0]
        except OutOfReach:
            continue
        value = box.d_format.value(word)
        records.append(
            {
                "unit": row.name,
                "rows": names,
                "c": float(c),
                "word": box.d_format.hex(word),
                "value": float(value),
                "means": "exact" if value == c else "c is lost" if value == 0 else "",
            }
        )
    return records


def _nearest(box: BlackBox) -> Fraction:
    fmt = box.c_format
    quantum = Fraction(2) ** max(-20 - fmt.fraction_bits, fmt.e_min - fmt.fraction_bits)
    return round(Fraction(-1, 10**6) / quantum) * quantum


# --- section IV-C, Fig. 2: the bias of rounding down -------------------------------------------

_RTZ = ROUNDINGS["RTZ"]


def _bias_units() -> dict[str, tuple[str, Model]]:
    cdna3 = row_named("cdna3/v_mfma_f32_32x32x8_f16").model
    cdna3 = checked_cast(cdna3, DotThenAdd)
    named = {
        "CDNA2 f16": "cdna2/v_mfma_f32_32x32x8f16",
        "V100 f16": "volta/mma.m8n8k4.f32.f16.f16.f32",
        "A100 f16": "ampere/mma.m16n8k8.f32.f16.f16.f32",
        "H100 f16": "hopper/mma.m16n8k8.f32.f16.f16.f32",
    }
    units: dict[str, tuple[str, Model]] = {"CDNA3 f16": ("cdna3/v_mfma_f32_32x32x8_f16", cdna3)}
    units["CDNA3 f16, hypothetical RZ"] = (
        "realignment and normalised sum toward zero",
        replace(cdna3, realignment=_RTZ, normalised_fraction_bits=None),
    )
    units["CDNA1 f16"] = ("cdna1/v_mfma_f32_32x32x8f16", row_named("cdna1/v_mfma_f32_32x32x8f16").model)
    return units | {label: (name, row_named(name).model) for label, name in named.items()}


def bias(count: int = 200_000, seed: int = 2025) -> dict[str, Any]:
    """Error of random dot-adds of 8 products and c, in units of 2^-24 of the largest product's power of two.

    The paper's condition: large A and B, small C. a and b are FP16 numbers nearest to 32 times
    standard normal ones, c is the FP32 number nearest to a standard normal one. The reference is
    the sum in binary64. A unit with K = 4 takes two steps.
    """
    rng = np.random.default_rng(seed)
    a, b = ((32 * rng.standard_normal((count, 8))).astype(np.float16) for _ in "ab")
    c = rng.standard_normal(count).astype(np.float32)
    products = a.astype(float) * b.astype(float)
    exact = products.sum(axis=1) + c
    unit = 2.0 ** (np.floor(np.log2(np.abs(products).max(axis=1))) - 24)
    edges = np.linspace(-4, 4, 65)
    record: dict[str, Any] = {"count": count, "seed": seed, "edges": edges.tolist(), "units": []}
    for label, (name, model) in _bias_units().items():
        result = c
        for first in range(0, 8, model.k):
            lanes = slice(first, first + model.k)
            result = simulate(model, a[:, lanes], b[:, lanes], result)
        error = (result.astype(float) - exact) / unit
        quantiles = np.quantile(error, [0.05, 0.5, 0.95])
        mean, deviation = float(error.mean()), float(error.std())
        record["units"].append(
            {
                "label": label,
                "model": name,
                "mean": mean,
                "standard_deviation": deviation,
                "mean_in_standard_errors": mean / deviation * count**0.5,
                "quantiles_5_50_95": quantiles.tolist(),
                "below_zero": float((error < 0).mean()),
                "histogram": np.histogram(error, edges)[0].tolist(),
            }
        )
    return record


# --- section IV-C: FP8 accumulation ------------------------------------------------------------


def _fp8_units() -> list[tuple[str, str, Reduction]]:
    wgmma = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
    return [
        ("Hopper wgmma e4m3 (F = 13)", wgmma, CHAINED),
        ("Ada mma e4m3 (F = 13)", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32", CHAINED),
        ("Hopper wgmma e4m3, promoted every 128", wgmma, promoted(128)),
        (
            "Blackwell tcgen05 e4m3 (F = 25)",
            "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3",
            CHAINED,
        ),
        ("RTX Blackwell mma e4m3 (F = 25)", "rtx-blackwell/mma.m16n8k32.f32.e4m3.e4m3.f32", CHAINED),
        ("Hopper mma f16, the same numbers", "hopper/mma.m16n8k16.f32.f16.f16.f32", CHAINED),
        ("CDNA3 e4m3fnuz (F = 24)", "cdna3/v_mfma_f32_32x32x16_fp8_fp8", CHAINED),
    ]


def accumulation(largest: int = 32768, seed: int = 2025) -> dict[str, Any]:
    """Error of A·B (16 x K by K x 16) against K; entries are the e4m3 numbers nearest to uniform ones.

    Entries in [0.1, 0.9], so that every partial sum grows; the error is the largest over the
    elements, relative to the binary64 product of the same e4m3 numbers.
    """
    import ml_dtypes

    lengths = [2**e for e in range(7, largest.bit_length())]
    record: dict[str, Any] = {"seed": seed, "K": lengths, "units": []}
    for label, name, reduction in _fp8_units():
        model = row_named(name).model
        rng = np.random.default_rng(seed)
        errors = []
        for length in lengths:
            a, b = (
                rng.uniform(0.1, 0.9, shape).astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
                for shape in ((16, length), (length, 16))
            )
            exact = a @ b
            got = gemm(a, b, model=model, reduction=reduction)
            errors.append(float(np.max(np.abs(got - exact) / exact)))
        record["units"].append({"label": label, "model": name, "reduction": str(reduction), "error": errors})
    return record


def fp8_bits() -> list[dict[str, Any]]:
    """Bits kept beside a cancelling pair (section II-D) by every FP8 arithmetic."""
    records = []
    for row, names in representatives():
        if row.model.a_format.name in ("e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"):
            box = black_box(row.model)
            records.append({"unit": row.name, "rows": len(names), "bits": kept_bits(box, (0, 1), 4)})
    return records


# --- section IV-C: CDNA2 flushes subnormal numbers, CDNA3 overflows ----------------------------


def flush() -> list[dict[str, Any]]:
    """Dot-adds with subnormal numbers, and products of 2^128 and more, on CDNA1, 2 and 3 and Hopper."""
    least16, least32 = Fraction(1, 2**24), Fraction(1, 2**126)
    cases: list[tuple[str, str, dict[int, tuple[Fraction, Fraction]], Fraction]] = [
        ("a subnormal FP16 operand times 1024", "f16", {0: (least16, Fraction(1024))}, Fraction(0)),
        (
            "the smallest normal FP16 operand times 1024",
            "f16",
            {0: (least16 * 1024, Fraction(1024))},
            Fraction(0),
        ),
        ("a subnormal c", "f16", {}, least32 / 2),
        ("a product below 2^-126", "bf16", {0: (Fraction(1, 2**64), Fraction(1, 2**63))}, Fraction(0)),
        ("1.5·2^-126 - 2^-126", "bf16", {0: (least32 * 3 / 2, Fraction(1))}, -least32),
        (
            "products 2^128 - 2^128",
            "bf16",
            {0: (Fraction(2**64), Fraction(2**64)), 1: (Fraction(2**64), Fraction(-(2**64)))},
            Fraction(0),
        ),
    ]
    units = {
        "f16": (
            "cdna1/v_mfma_f32_32x32x8f16",
            "cdna2/v_mfma_f32_32x32x8f16",
            "cdna3/v_mfma_f32_32x32x8_f16",
            "hopper/mma.m16n8k16.f32.f16.f16.f32",
        ),
        "bf16": (
            "cdna1/v_mfma_f32_32x32x4bf16",
            "cdna2/v_mfma_f32_32x32x8bf16_1k",
            "cdna3/v_mfma_f32_32x32x8_bf16",
            "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
        ),
    }
    records = []
    for title, operand, lanes, c in cases:
        results = {}
        for name in units[operand]:
            box = black_box(row_named(name).model)
            words = {lane: word_of(box.a_format, pair[0]) for lane, pair in lanes.items()}
            right = {lane: word_of(box.b_format, pair[1]) for lane, pair in lanes.items()}
            results[name] = box.d_format.describe(box.words([(words, right, word_of(box.c_format, c))])[0])
        records.append({"case": title, "operands": operand, "results": results})
    return records


# --- published beside ours ---------------------------------------------------------------------


#: What is published, ours, and whether they agree.
Judged = tuple[str, str, bool]


def conclusions(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the paper concludes, what our numbers say, and whether they agree.

    data: results of the functions above, by their names.
    """
    for section, judged in (
        ("IV-C", _cancelled(data["cancellation"])),
        ("IV-C, Fig. 2", _biased(data["bias"]["units"])),
        ("IV-C", _fp8_bits(data["fp8 bits"])),
        ("IV-C", _accumulated(data["accumulation"])),
        ("IV-C", _flushed(data["flush"])),
        ("III, Tables III and IV", _in_families(data["families"])),
    ):
        for published, ours, agrees in judged:
            yield {"section": section, "published": published, "ours": ours, "agrees": agrees}


def _cancelled(units: list[dict[str, Any]]) -> Iterator[Judged]:
    """Yield what is left of a small c beside two large products that cancel."""
    cdna3 = [u for u in units if re.search(r"cdna3/.*_(b?f16|xf32)$", u["unit"])]
    values = sorted({u["value"] for u in cdna3})
    yield (
        "2048*2048 - 2048*2048 - 0.000001 is -0.25 with TF32, FP16 and BF16 on CDNA3",
        f"{', '.join(map(str, values))} on all {len(cdna3)} arithmetics",
        values == [-0.25],
    )
    downward = sorted({u["unit"].split("/")[0] for u in units if u["value"] == -0.25})
    yield (
        "most other units do not round so asymmetrically",
        f"-0.25 on: {', '.join(downward)}",
        downward == ["cdna3"],
    )
    fp8 = sorted({u["value"] for u in units if "cdna3" in u["unit"] and "bf8" in u["unit"]})
    yield "CDNA3's FP8 truncates a small c instead", f"{fp8}", fp8 == [0.0]


def _biased(units: list[dict[str, Any]]) -> Iterator[Judged]:
    """To which side errors lean."""
    others = {u["label"]: u for u in units}
    down = others.pop("CDNA3 f16")
    yield (
        "rounding down biases CDNA3's errors to the negative side",
        f"mean {down['mean']:.3f}, {down['below_zero']:.1%} below zero",
        down["mean_in_standard_errors"] < -10,
    )
    worst = max(abs(u["mean_in_standard_errors"]) for u in others.values())
    yield (
        "with a hypothetical RZ, and on the other units, they are symmetric",
        f"all means within {worst:.1f} standard errors of 0",
        worst < 4,
    )


def _fp8_bits(units: list[dict[str, Any]]) -> Iterator[Judged]:
    """Yield how many fraction bits sums of FP8 products keep."""
    for name, prefix, wanted in (
        ("Hopper (wgmma)", "hopper/wgmma", 13),
        ("Ada", "ada/", 13),
        ("Blackwell (tcgen05)", "blackwell/tcgen05", 25),
        ("RTX Blackwell", "rtx-blackwell/", 25),
        ("CDNA3", "cdna3/", 24),
    ):
        bits = sorted({u["bits"] for u in units if u["unit"].startswith(prefix)})
        yield f"FP8 keeps {wanted} fraction bits on {name}", f"{bits}", bits == [wanted]


def _accumulated(data: dict[str, Any]) -> Iterator[Judged]:
    """Yield how errors of FP8 grow with K."""
    errors = {u["label"]: u["error"][-1] for u in data["units"]}
    low, high = errors["Hopper wgmma e4m3 (F = 13)"], errors["Blackwell tcgen05 e4m3 (F = 25)"]
    half, length = errors["Hopper mma f16, the same numbers"], data["K"][-1]
    yield (
        "Blackwell repairs FP8 accumulation",
        f"K = {length}: largest relative error {low:.2g} on Hopper, {high:.2g} on Blackwell",
        high < low / 100,
    )
    yield (
        "on Hopper and Ada, FP16 instructions on the same numbers are more accurate",
        f"K = {length}: {half:.2g} against {low:.2g}",
        half < low / 100,
    )


def _flushed(cases: list[dict[str, Any]]) -> Iterator[Judged]:
    """Subnormal numbers, and a product that is too large."""
    results = [case["results"] for case in cases]
    flushed = [each for each in results if any(n.startswith("cdna2") and v == "0" for n, v in each.items())]
    elsewhere = [v for each in flushed for n, v in each.items() if not n.startswith("cdna2")]
    yield (
        "CDNA2 flushes subnormal inputs, products and sums; CDNA3 does not",
        f"{len(flushed)} cases of {len(cases)} are 0 on CDNA2 and on no other",
        len(flushed) == 4 and "0" not in elsewhere,
    )
    large = next(case["results"] for case in cases if "2^128" in case["case"])
    yield (
        "a product of 2^128 overflows on CDNA3 and not on NVIDIA",
        "; ".join(f"{n.split('/')[0]}: {v}" for n, v in large.items()),
        any(n.startswith("cdna3") and v == "nan" for n, v in large.items())
        and all(v == "0" for n, v in large.items() if n.startswith("hopper")),
    )


def _in_families(families: list[dict[str, Any]]) -> Iterator[Judged]:
    """Yield the text's families beside our rows."""
    named = [family for family in families if family["section"]]
    differs = [name for family in named for name in family["differs"]]
    rows = sum(family["rows"] for family in named)
    yield (
        "the algorithm, F and last rounding of each family in the text",
        f"{rows} rows in {len(named)} families; differ: {', '.join(differs) or 'none'}",
        not differs and all(family["rows"] for family in named),
    )


def plot_bias(path: Path, data: dict[str, Any]) -> None:
    """Fig. 2 and its like: the error of random dot-adds, one histogram for each unit."""

    def draw(figure: Any) -> None:
        edges, units = data["edges"], data["units"]
        axes = figure.subplots(len(units), 1, sharex=True, sharey=True)
        for axis, unit, colour in zip(axes, units, COLOURS, strict=False):
            axis.stairs(
                [n / data["count"] for n in unit["histogram"]], edges, fill=True, color=colour, alpha=0.8
            )
            axis.axvline(0, color="black", linewidth=0.8)
            axis.axvline(unit["mean"], color="black", linewidth=0.8, linestyle="--")
            axis.set_title(f"{unit['label']}: mean {unit['mean']:+.3f}", loc="left", fontsize=9)
            axis.set_yticks([])
        axes[-1].set_xlabel(
            "error in units of 2^-24 of the largest product's power of two (dashed: the mean)"
        )

    save_svg(
        path, (6.5, 8), draw, "Distribution of the error of units with truncation and with rounding down"
    )


def plot_accumulation(path: Path, data: dict[str, Any]) -> None:
    """The error of FP8 products against K."""

    def draw(figure: Any) -> None:
        axis = figure.subplots()
        for unit, colour, marker in zip(data["units"], COLOURS, "osD^v<>", strict=False):
            points = [(k, e) for k, e in zip(data["K"], unit["error"], strict=True) if e]
            axis.loglog(
                *zip(*points, strict=True), color=colour, marker=marker, markersize=4, label=unit["label"]
            )
        axis.set_xlabel("K (where the error is not 0)")
        axis.set_ylabel("largest relative error")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)

    save_svg(path, (6.5, 4.5), draw, "Error of FP8 units against the number of products")


# --- what is printed ---------------------------------------------------------------------------


def _detected_parts() -> Iterator[dict[str, Any]]:
    """Yield what the probes detect in each distinct arithmetic."""
    for row, names in representatives():
        yield {"unit": row.name, "rows": names, **detected(row.model)}


def _detected_lines(unit: dict[str, Any]) -> Iterator[str]:
    yield f"{unit['unit']:<52} {unit['tree']}"
    seen = (*unit["alignment"].items(), *unit["result"].items())
    parts = (f"{name}: {'-' if v['bits'] is None else v['bits']} {v['mode']}" for name, v in seen)
    yield f"    {'; '.join(parts)}"


def _family_lines(family: dict[str, Any]) -> Iterator[str]:
    yield f"{family['rows']:>4} rows  {', '.join(family['algorithms']):<16} {family['family']}"
    for name in family["differs"]:
        yield f"           differs: {name}"


def _cancellation_lines(unit: dict[str, Any]) -> Iterator[str]:
    yield f"{unit['unit']:<52} {unit['value']:>10.3g}  {unit['means']}"


def _bias_lines(record: dict[str, Any]) -> Iterator[str]:
    for unit in record["units"]:
        numbers = f"{unit['mean']:>+8.3f} {unit['standard_deviation']:>8.3f} {unit['below_zero']:>7.1%}"
        yield f"{unit['label']:<28} {numbers}"


def _accumulation_lines(record: dict[str, Any]) -> Iterator[str]:
    yield f"{'':<40}" + "".join(f"{k:>9}" for k in record["K"])
    for unit in record["units"]:
        yield f"{unit['label']:<40}" + "".join(f"{error:>9.1e}" for error in unit["error"])


def _flush_lines(case: dict[str, Any]) -> Iterator[str]:
    results = ", ".join(f"{name.partition('/')[0]}: {value}" for name, value in case["results"].items())
    yield f"{case['case']} ({case['operands']}): {results}"


PAPER = Paper(
    (
        Experiment(
            "detected", lambda run: _detected_parts(), _detected_lines,
            "detected by the probes of sections II-C to II-F (bits kept and rounding where aligned; result)",
        ),
        Experiment(
            "families", lambda run: families(), _family_lines,
            "\nfamilies of instructions, sections III-A to III-I",
        ),
        Experiment(
            "cancellation", lambda run: cancellation(), _cancellation_lines,
            "\n2048*2048 - 2048*2048 - 0.000001",
        ),
        Experiment(
            "bias", lambda run: bias(), _bias_lines,
            "\nerror of random dot-adds: mean, standard deviation, below zero",
        ),
        Experiment("fp8 bits", lambda run: fp8_bits()),
        Experiment(
            "accumulation", lambda run: accumulation(), _accumulation_lines,
            "\nFP8: largest relative error against K",
        ),
        Experiment(
            "flush", lambda run: flush(), _flush_lines, "\nsubnormal numbers and large products"
        ),
        concluded(lambda run: conclusions({**run.data})),
    ),
    {
        "bias": lambda path, data: plot_bias(path, data["bias"]),
        "accumulation": lambda path, data: plot_accumulation(path, data["accumulation"]),
    },
)  # fmt: skip
