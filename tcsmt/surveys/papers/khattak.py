"""Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (2025).

The test vectors that section IV prints, on our models; Table II as the probes see it; section V-A's
judgement of FTTN's test vectors on two custom models, and vectors that would have told. Fig. 7 is
:mod:`tcsmt.surveys.papers.multiword`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tcsmt.identification.units.classical import (
    BlackBox,
    OutOfReach,
    Tree,
    black_box,
    factors,
    profile,
    summation_tree,
)
from tcsmt.matrix_units.arithmetic.formats import power_text
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.engine.engine import decide, finding_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast
from tcsmt.surveys.papers import multiword
from tcsmt.surveys.papers.experiment import Experiment, Paper, Run, concluded

V100 = "volta/mma.m8n8k4.f32.f16.f16.f32"
A100 = "ampere/mma.m16n8k16.f32.f16.f16.f32"
ADA = "ada/mma.m16n8k16.f32.f16.f16.f32"
H100 = "hopper/mma.m16n8k16.f32.f16.f16.f32"
B200 = "blackwell/mma.m16n8k16.f32.f16.f16.f32"
FP8 = {
    "L40S": "ada/mma.m16n8k32.f32.e5m2.e5m2.f32",
    "H100, wgmma": "hopper/wgmma.m64nNk32.f32.e5m2.e5m2",
    "H100, mma": "hopper/mma.m16n8k32.f32.e5m2.e5m2.f32",
    "B200, mma": "blackwell/mma.m16n8k32.f32.e5m2.e5m2.f32",
}


def _p(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


# --- section IV: the printed test vectors ------------------------------------------------------


@dataclass(frozen=True)
class _Test:
    """A printed vector: products as pairs of operands, c, the units it was run on, what d was there."""

    section: str
    title: str
    units: Mapping[str, str]
    pairs: Mapping[int, tuple[Fraction, Fraction]]
    c: Fraction
    published: Fraction


def _tests() -> Iterator[_Test]:
    one, big, factor = Fraction(1), Fraction(9, 4), Fraction(3, 2)
    square, plain = (factor, factor), (one, big)
    raised = big + _p(-22)

    def product(value: Fraction) -> tuple[Fraction, Fraction]:
        return value * _p(12), _p(-12)

    small = {1: product(_p(-23)), 2: product(_p(-23))}
    v100 = {"V100": V100}
    yield _Test("IV-A1", "p1 = 1.5·1.5, p2 = p3 = 2^-23", v100, {0: square, **small}, Fraction(0), raised)
    yield _Test("IV-A1", "p1 = 1·2.25, p2 = p3 = 2^-23", v100, {0: plain, **small}, Fraction(0), big)
    yield _Test("IV-A1", "c = 2.25, p2 = p3 = 2^-23", v100, small, big, big)
    halves = {1: product(_p(-23)), 2: product(_p(-24)), 3: product(_p(-24))}
    a100 = {"A100, A2, A30": A100, "L40S": ADA}
    title = "p1 = 1.5·1.5, p2 = 2^-23, p3 = p4 = 2^-24"
    yield _Test("IV-A2", title, a100, {0: square, **halves}, Fraction(0), raised)
    many = {1: product(_p(-23) + _p(-24) + _p(-25)), 2: product(_p(-25))}
    hopper = {"H100": H100, "B200": B200}
    title = "p1 = 1.5·1.5, p2 = 2^-23 + 2^-24 + 2^-25, p3 = 2^-25"
    yield _Test("IV-A5", title, hopper, {0: square, **many}, Fraction(0), raised)
    yield from _double()
    yield from _fp8()


def _double() -> Iterator[_Test]:
    """FP64: the order of 1, 2^-53 and 2^-53 among c, p1 and p2."""
    unit = {"A100": "ampere/mma.m8n8k4.f64.f64.f64.f64", "H100": "hopper/mma.m16n8k16.f64.f64.f64.f64"}
    one, tiny = Fraction(1), _p(-53)
    for c, first, second in ((tiny, tiny, one), (tiny, one, tiny), (one, tiny, tiny)):
        names = ", ".join(power_text(value) for value in (c, first, second))
        d = 1 + _p(-52) if second == one else one
        yield _Test("IV-A2", f"FP64: c, p1, p2 = {names}", unit, {0: (first, one), 1: (second, one)}, c, d)


def _fp8() -> Iterator[_Test]:
    one = Fraction(1)
    narrow = {name: FP8[name] for name in ("L40S", "H100, wgmma")}
    for bits in (14, 13):
        pairs = {0: (one, one), 1: (_p(-7), _p(7 - bits)), 2: (_p(-7), _p(7 - bits))}
        d = one + (_p(1 - bits) if bits == 13 else 0)
        yield _Test("IV-A4", f"fp8: p1 = 1, p2 = p3 = 2^-{bits}", narrow, pairs, Fraction(0), d)
    early = {0: (_p(-7), _p(-7)), 1: (_p(-7), _p(-7))}
    yield _Test("IV-A4", "fp8: c = 1, p1 = p2 = 2^-14 (c is added early)", narrow, early, one, one)
    late = {name: FP8[name] for name in ("H100, mma", "B200, mma")}
    tiny = (_p(-12), _p(-12))
    for lane in range(2, 32):
        same = lane % 4 < 2
        pairs = {0: (one, one), 1: tiny, lane: tiny}
        d = one + (_p(-23) if same else 0)
        title = f"fp8 by mma.sync: p1 = 1, p2 = p{lane + 1} = 2^-24"
        yield _Test("IV-A5", title, late, pairs, Fraction(0), d)


def feature_tests() -> list[dict[str, Any]]:
    """Each printed vector on each unit that it was run on: what the paper saw, and our d."""
    records = []
    for test in _tests():
        results = {}
        for gpu, name in test.units.items():
            box = black_box(row_named(name).model)
            words = {lane: box.a_format.word(a) for lane, (a, _) in test.pairs.items()}
            right = {lane: box.b_format.word(b) for lane, (_, b) in test.pairs.items()}
            word = box.words([(words, right, box.c_format.word(test.c))])[0]
            results[gpu] = box.d_format.value(word)
        records.append(
            {
                "section": test.section,
                "vector": test.title,
                "published": _shown(test.published),
                "results": {gpu: _shown(value) for gpu, value in results.items()},
                "agrees": set(results.values()) == {test.published},
            }
        )
    return records


def _shown(value: Fraction) -> str:
    """1 + 2^-52 and the like, as the paper writes them."""
    for simple in (Fraction(1), Fraction(9, 4)):
        if 0 < value - simple < Fraction(1, 1000):
            return f"{float(simple):g} + {power_text(value - simple)}"
    return power_text(value)


# --- Table II ----------------------------------------------------------------------------------


def table_two() -> list[dict[str, Any]]:
    """Each row of Table II, and what the probes detect in our models of its instructions."""
    data = tomllib.loads(Path(__file__).with_name("khattak-2025.toml").read_text(encoding="utf-8"))
    records = []
    for row in data["table2"]:
        for name in row["rows"]:
            ours = features(black_box(row_named(name).model))
            agrees = all(ours.get(key) == value for key, value in row["published"].items())
            records.append({**row, "unit": name, "ours": ours, "agrees": agrees})
            del records[-1]["rows"]
    return records


def features(box: BlackBox) -> dict[str, Any]:
    """Return the table's columns, from the answers of a black box. Raises :class:`.OutOfReach`."""
    tree = summation_tree(box)
    seen = profile(box)
    fused_lanes = tree.fused()
    if not fused_lanes:  # a chain of single additions
        return {"n_fma": 1, "final": seen["result"]["c + p0"]["mode"], "c": "early", "interleaved": False}
    lanes = [member for member in fused_lanes if member != box.k]
    late = box.k in tree.members and any(isinstance(member, Tree) for member in tree.members)
    bits = seen["alignment"]["product"]["bits"]
    mode = seen["result"]["c + p0" if late else "after a carry"]["mode"]
    return {
        "f": bits,
        "width": 2 + bits + len(lanes).bit_length(),
        "n_fma": len(lanes),
        "final": "Trunc" if mode == "RZ" else mode,
        "c": "late" if late else "early",
        "interleaved": lanes != list(range(len(lanes))),
    }


# --- section V-A: FTTN's test vectors on custom models -----------------------------------------


def custom_models() -> dict[str, FusedDotAdd]:
    """Return the two custom models: 8 products, FP16 to FP32; K = 16, as in FTTN's tests."""
    base = row_named(A100).model
    base = checked_cast(base, FusedDotAdd)
    return {
        "custom 1: neab = 0, rne": base.replace(fraction_bits=23, rounding=ROUNDINGS["RNE"]),
        "custom 2: neab = 1, ru": base.replace(fraction_bits=24, rounding=ROUNDINGS["RTP"]),
    }


#: What V-A says that FTTN's vectors conclude. The print has "neab to 11" for the second model: 1.
_SAID = {
    "custom 1: neab = 0, rne": {"N_FMA": "1, or no such feature", "extra bits": "0", "rounding": "RZ"},
    "custom 2: neab = 1, ru": {"N_FMA": ">= 16", "extra bits": "1", "rounding": "RU"},
}


def authentication() -> list[dict[str, Any]]:
    """FTTN's vectors (Li et al. 2024, zenodo.10673370) on the custom models and on GPUs' models."""
    units: dict[str, Model] = dict(custom_models().items())
    units |= {gpu: row_named(name).model for gpu, name in (("V100", V100), ("A100", A100), ("H100", H100))}
    records = []
    for label, model in units.items():
        concluded = fttn(black_box(model))
        published = _SAID.get(label)
        records.append(
            {
                "unit": label,
                "concluded": concluded,
                "published": published,
                "agrees": None if published is None else concluded == published,
                "probes": features(black_box(model)),
                "true": _true(model),
            }
        )
    return records


def _true(model: Model) -> dict[str, str]:
    if not isinstance(model, FusedDotAdd):
        raise TcsmtError(f"FTTN's rules apply to one fused sum of products and c, not to {model.title}")
    modes = {"RNE": "RN", "RTZ": "RZ", "RTP": "RU", "RTN": "RD"}
    return {
        "N_FMA": str(model.lanes.n_fma),
        "extra bits": str(model.extra_alignment_bits),
        "rounding": modes.get(model.final.rounding.name, model.final.rounding.name),
    }


def fttn(box: BlackBox) -> dict[str, str]:
    """Return what FTTN's vectors and their rules conclude of a unit with FP16 operands and FP32 results."""
    asked = fttn_addends(box.k)
    results = zip(asked, box.ask(list(asked.values())), strict=True)
    values = {name: box.d_format.value(word) for name, word in results}
    rounding = _fttn_rounding(values)
    return {
        "N_FMA": _fttn_width(values, box.k),
        "extra bits": _fttn_bits(values, rounding),
        "rounding": rounding,
    }


@dataclass(frozen=True)
class Reading:
    """The conclusion of a paper's rules about a unit's feature; parameter: the model's, of that feature."""

    feature: str
    parameter: str
    concluded: str
    true: str
    right: bool


def fttn_readings(model: Model) -> list[Reading]:
    """FTTN's rules on a model's answers, beside what the model is."""
    concluded, true = fttn(black_box(model)), _true(model)
    right = {
        name: true[name] in conclusion.split(" or ") or (name, conclusion) == ("N_FMA", f">= {true[name]}")
        for name, conclusion in concluded.items()
    }
    right["N_FMA"] |= concluded["N_FMA"].startswith("1,") and true["N_FMA"] == "1"
    parameters = {"N_FMA": "n_fma", "extra bits": "fraction_bits", "rounding": "rounding"}
    return [
        Reading(name, parameters[name], conclusion, true[name], right[name])
        for name, conclusion in concluded.items()
    ]


def fttn_vectors(model: Model) -> list[tuple[str, tuple[int, ...]]]:
    """FTTN's vectors for a model: what each asks, and the words of its inputs.

    Raises :class:`.TcsmtError` where they do not fit.
    """
    names = [fmt.name for fmt in (model.a_format, model.b_format, model.c_format, model.d_format)]
    if names != ["f16", "f16", "f32", "f32"] or model.k < 3:
        raise TcsmtError("FTTN's vectors are for f16 operands, C and D in f32, K of 3 or more")
    result = []
    for name, addends in fttn_addends(model.k).items():
        pairs = [factors(model.a_format, model.b_format, addends.get(i, Fraction(0))) for i in range(model.k)]
        left, right = zip(*pairs, strict=True)
        result.append((name, (*left, *right, model.c_format.word(addends.get(model.k, Fraction(0))))))
    return result


def fttn_addends(k: int) -> dict[str, dict[int, Fraction]]:
    """Every vector, by what it asks: products by their number, c is number k.

    Rounding: 2 and 3/4 of its last place, of both signs, from products and from c. Bits: what is left of
    a difference. N_FMA: 1 and two halves of its last place.
    """
    one, u, up, two = Fraction(1), _p(-24), _p(-14) * (_p(-9) + _p(-10)), Fraction(2)
    vectors = {
        "rounding 1": {0: up, 1: two},
        "rounding 2": {0: -up, 1: -two},
        "rounding 3": {0: up, k: two},
        "rounding 4": {0: -two, k: -_p(-23) - _p(-24)},
        "extra bit": {0: one, k: -(1 - _p(-24))},
        "extra bits, RZ": {0: Fraction(5, 4), k: -(_p(-3) + _p(-25))},
        "extra bits, RN": {0: Fraction(5, 4), k: -(_p(-3) + _p(-24) + _p(-26))},
        "order 1": {0: u, 1: u, k: one},
        "order 2": {0: one, 1: u, k: u},
        "order 3": {0: u, 1: one, k: u},
    }
    return vectors | {f"width {lane}": {0: u, lane: u, k: one} for lane in range(1, k)}


def _fttn_rounding(values: Mapping[str, Fraction]) -> str:
    """Return the verdicts of four vectors intersect."""
    modes = {"RD", "RZ", "RU", "RN"}
    for d in (values[f"rounding {number}"] for number in range(1, 5)):
        if d > 0:
            modes &= {"RD", "RZ"} if d == 2 else {"RU", "RN"}
        else:
            modes &= {"RU", "RZ"} if d == -2 else {"RD", "RN"}
    return " or ".join(sorted(modes)) or "contradictory"


def _fttn_bits(values: Mapping[str, Fraction], rounding: str) -> str:
    if values["extra bit"] != _p(-24):
        return "0"
    less = Fraction(9, 8) - _p(-23)
    match rounding:
        case "RZ":
            return "2 or 3" if values["extra bits, RZ"] == less else "1"
        case "RN":
            return "3" if values["extra bits, RN"] == less else "1 or 2"
    return "1"


def _fttn_width(values: Mapping[str, Fraction], k: int) -> str:
    orders = {values[f"order {number}"] for number in range(1, 4)}
    if orders == {Fraction(1)}:
        return "1, or no such feature"
    if len(orders) > 1:
        return "not fused"
    for lane in range(1, k):
        if values[f"width {lane}"] == 1:
            return str(lane)
    return f">= {k}"


def telling_vectors(timeout: float) -> Iterator[dict[str, Any]]:
    """Inputs on which the custom models differ from their neighbours in N_FMA and in rounding."""
    for label, model in custom_models().items():
        others: dict[str, FusedDotAdd] = {f"N_FMA = {n}": model.replace(n_fma=n) for n in (4, 16)} | {
            f"rounding {name}": model.replace(rounding=ROUNDINGS[name])
            for name in ("RNE", "RTZ", "RTP", "RTN")
            if ROUNDINGS[name] is not model.final.rounding
        }
        for other, neighbour in others.items():
            lanes: tuple[int | tuple[int, ...], ...] = (1, 2)
            if other.startswith("N_FMA"):
                few = min(model.lanes.n_fma, neighbour.lanes.n_fma)
                lanes = ((0, few), (0, 1, few, few + 1))
            question = difference(f"{label} against {other}", (label, model), (other, neighbour), lanes=lanes)
            decision = decide(question, Solving(SolvingOptions(timeout=timeout)))
            data = finding_of(decision).as_json()
            told = isinstance(decision.verdict, Distinguished)
            data["inputs"] = {
                n: v for n, v in data.get("inputs", {}).items() if v["value"] not in ("0", "-0")
            }
            yield {"model": label, "against": other, "told": told, **data}


# --- published beside ours ---------------------------------------------------------------------


def conclusions(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Sections IV and V-A beside our numbers; data: results of the functions above, by their names."""

    def said(section: str, published: str, ours: str, agrees: bool | None) -> dict[str, Any]:
        return {"section": section, "published": published, "ours": ours, "agrees": agrees}

    tests = data["feature tests"]
    wrong = [f"{t['vector']}: {t['results']}" for t in tests if not t["agrees"]]
    ours = f"{len(tests) - len(wrong)} of {len(tests)} vectors give what is printed {'; '.join(wrong)}"
    yield said("IV", "the printed test vectors and their results", ours.strip(), not wrong)
    try:
        black_box(row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32").model).ask([{0: _p(-24)}])
        reach = True
    except OutOfReach:
        reach = False
    yield said(
        "IV-A5",
        "the interleaving of fp8 shows with p1 = 1 and others 2^-24",
        "with E5M2; 2^-24 is not a product of E4M3 values (their smallest is 2^-18)"
        if not reach
        else "with both",
        reach,
    )
    rows = data["table 2"]
    bad = [f"{r['unit']}: {r['ours']}" for r in rows if not r["agrees"]]
    text = f"{len(rows) - len(bad)} of {len(rows)} instructions {'; '.join(bad)}"
    yield said(
        "Table II",
        "F, accumulator width, N_FMA, final rounding, order of c, interleaving",
        text.strip(),
        not bad,
    )
    for judged in data["authentication"]:
        if judged["published"] is not None:
            parts = ", ".join(f"{key} {value}" for key, value in judged["published"].items())
            text = ", ".join(f"{key} {value}" for key, value in judged["concluded"].items())
            yield said("V-A", f"FTTN's vectors on {judged['unit']}: {parts}", text, judged["agrees"])
    of_papers = [j for j in data["authentication"] if j["published"]]
    right = [j["probes"]["n_fma"] == int(j["true"]["N_FMA"]) for j in of_papers]
    modes = [{"RNE": "RN", "Trunc": "RZ"}.get(j["probes"]["final"], j["probes"]["final"]) for j in of_papers]
    right += [mode == j["true"]["rounding"] for mode, j in zip(modes, of_papers, strict=True)]
    yield said(
        "V-A",
        "tests must take the number of extra bits into account",
        f"our probes, which do, find {sum(right)} of {len(right)} of N_FMA and rounding of the custom models",
        all(right),
    )
    vectors = data["telling vectors"]
    told = sum(v["told"] for v in vectors)
    yield said(
        "V-A",
        "FTTN's vectors do not tell these features (no others are given)",
        f"{told} of {len(vectors)} neighbours of the custom models are told apart by a found vector",
        told == len(vectors),
    )


# --- what is printed ---------------------------------------------------------------------------


def _feature_lines(test: dict[str, Any]) -> Iterator[str]:
    results = ", ".join(f"{gpu}: {value}" for gpu, value in test["results"].items())
    mark = "" if test["agrees"] else f"   NOT {test['published']}"
    yield f"{test['section']:<6} {test['vector']:<56} {results}{mark}"


def _table_lines(row: dict[str, Any]) -> Iterator[str]:
    detected = ", ".join(f"{key} {value}" for key, value in row["ours"].items())
    yield f"{row['input']:<16} {row['unit']:<42} {detected}{'' if row['agrees'] else '   NOT as published'}"


def _authentication_lines(judged: dict[str, Any]) -> Iterator[str]:
    parts = [f"{key} {value} (is {judged['true'][key]})" for key, value in judged["concluded"].items()]
    yield f"{judged['unit']:<26} {', '.join(parts)}"


def _telling_lines(told: dict[str, Any]) -> Iterator[str]:
    inputs = ", ".join(f"{name} = {value['value']}" for name, value in told["inputs"].items())
    results = " | ".join(result["word"] for result in told.get("results", []))
    yield f"{told['model']} against {told['against']}: {inputs or told['verdict']}: {results}"


def _point_lines(point: dict[str, Any]) -> Iterator[str]:
    errors = "  ".join(f"{unit} {error:.2e}" for unit, error in point["errors"].items())
    yield f"{point['panel']:<7} n = {point['n']:<8} {errors}"


def _concluded(run: Run) -> Iterator[dict[str, Any]]:
    yield from conclusions({**run.data})
    yield from multiword.conclusions(run.data["figure 7"])


PAPER = Paper(
    (
        Experiment(
            "feature tests", lambda run: feature_tests(), _feature_lines,
            "the printed test vectors, section IV",
        ),
        Experiment(
            "table 2", lambda run: table_two(), _table_lines, "\nTable II, as the probes see our models"
        ),
        Experiment(
            "authentication", lambda run: authentication(), _authentication_lines,
            "\nFTTN's vectors, section V-A",
        ),
        Experiment(
            "telling vectors", lambda run: telling_vectors(run.options.timeout), _telling_lines,
            "\nvectors that tell the custom models from their neighbours",
        ),
        Experiment(
            "figure 7", lambda run: multiword.figure_seven(before=run.before), _point_lines,
            "\nFig. 7: relative norm-wise error",
        ),
        Experiment("published figure 7", lambda run: multiword.published()),
        concluded(_concluded),
    ),
    {"figure7": lambda path, data: multiword.plot(path, data["figure 7"])},
    lambda: multiword.digests() | {name: model.digest for name, model in custom_models().items()},
)  # fmt: skip
