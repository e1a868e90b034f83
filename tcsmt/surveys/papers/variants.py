"""Why a V100 is more accurate than a B200 in multi-word products: one parameter at a time.

Khattak and Mikaitis 2025 (V-B, Fig. 7) leave the reason open. Here both models are varied by one
parameter each: every parameter in which they differ takes the other's value, and the final rounding
goes to nearest; on the experiment's own matrices (random signs), and on the same without signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.language.graphs.digest import digest_of_texts
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.support.fingerprints import digest_of_sources
from tcsmt.support.plots import COLOURS, save_svg
from tcsmt.surveys.papers.multiword import experiment_inputs, multiply, norm

Array = np.ndarray[Any, np.dtype[Any]]

QUESTION = "Khattak and Mikaitis 2025, V-B, Fig. 7: why is the V100 more accurate than the B200?"
LENGTHS = (1000, 10_000, 100_000, 1_000_000)
#: Signs of the matrices' entries.
SIGNS = ("random signs", "all positive")
WORDS = (2, 3)


def _units() -> dict[str, FusedDotAdd]:
    names = {"V100": "volta/mma.m8n8k4.f32.f16.f16.f32", "B200": "blackwell/mma.m16n8k16.f32.f16.f16.f32"}
    models = {label: row_named(name).model for label, name in names.items()}
    return {label: model for label, model in models.items() if isinstance(model, FusedDotAdd)}


def one_at_a_time() -> dict[str, FusedDotAdd]:
    """Both units and every variant by one parameter, by labels such as ``B200, fraction_bits = 23``.

    The instruction's K is no parameter of the arithmetic: it grows with n_fma where it must.
    """
    units = _units()
    variants: dict[str, FusedDotAdd] = {}
    for label, other in (("B200", "V100"), ("V100", "B200")):
        unit, theirs = units[label], units[other]
        variants[label] = unit
        for name in (field.name for field in fields(unit.table()) if field.name != "k"):
            value = getattr(theirs.parameters, name)
            if getattr(unit.parameters, name) != value:
                k = max(unit.k, value) if name == "n_fma" else unit.k
                variants[f"{label}, {name} = {value}"] = unit.replace(k=k, **{name: value})
        variants[f"{label}, rounding = RNE"] = unit.replace(rounding=ROUNDINGS["RNE"])
    return variants


def content() -> str:
    """Return what the errors are about: every variant's graph, and how they are measured."""
    digests = [f"{label} {model.digest}" for label, model in one_at_a_time().items()]
    return digest_of_texts(
        [*digests, digest_of_sources("surveys/papers/variants", "surveys/papers/multiword")]
    )


def points(
    largest: int = LENGTHS[-1], before: Sequence[Mapping[str, Any]] = (), seed: int = 1
) -> Iterator[dict[str, Any]]:
    """Errors of every variant for each length, sign pattern and number of words.

    error: norm-wise, as in Fig. 7. toward_zero: of the elements of the product, how many are too
    small in magnitude (truncation's bias; a half without it). ``before``: points that are known.
    """
    points_before = {(p["n"], p["signs"], p["words"]): dict(p) for p in before}
    variants = one_at_a_time()
    for n in LENGTHS:
        if n > largest:
            continue
        a, b = experiment_inputs(np.random.RandomState(seed), n)
        for signs in SIGNS:
            left, right = (a, b) if signs == SIGNS[0] else (abs(a), abs(b))
            exact = left @ right
            size = norm(left) * norm(right)
            for words in WORDS:
                if (n, signs, words) in points_before:
                    yield points_before[n, signs, words]
                    continue
                errors = multiply(variants, left, right, words)
                yield {
                    "n": n,
                    "signs": signs,
                    "words": words,
                    "error": {label: norm(product - exact) / size for label, product in errors.items()},
                    "toward_zero": {
                        label: float(np.mean(abs(product) < abs(exact))) for label, product in errors.items()
                    },
                }


def conclusions(records: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what each parameter does to the error at the largest n, with two words."""
    last = max((p["n"] for p in records), default=0)
    here = {p["signs"]: p for p in records if (p["n"], p["words"]) == (last, 2)}
    if set(here) != set(SIGNS):
        return
    error, positive = (here[signs]["error"] for signs in SIGNS)
    for label in error:
        unit, comma, change = label.partition(", ")
        if comma:
            yield {
                "unit": unit,
                "change": change,
                "n": last,
                "error_times": error[label] / error[unit],
                "positive_error_times": positive[label] / positive[unit],
            }
    yield {
        "unit": "V100",
        "change": "B200",
        "n": last,
        "error_times": error["B200"] / error["V100"],
        "positive_error_times": positive["B200"] / positive["V100"],
    }


def plot(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Error against n: a column for each unit and its variants, a row for signs and number of words.

    Curves that coincide are one line, which names them all.
    """
    units = list(_units())
    rows = [(words, signs) for words in WORDS for signs in SIGNS]

    def draw(figure: Any) -> None:
        axes = figure.subplots(len(rows), len(units), sharex=True, sharey="row", squeeze=False)
        for line, (words, signs) in zip(axes, rows, strict=True):
            here = [p for p in records if (p["words"], p["signs"]) == (words, signs)]
            for axis, unit in zip(line, units, strict=True):
                groups = _coinciding(
                    {n: [p["error"][n] for p in here] for n in here[0]["error"] if unit in n[:4]}
                )
                for colour, (names, errors) in zip(COLOURS, groups, strict=False):
                    label = "\n= ".join(name.removeprefix(f"{unit}, ") for name in names)
                    axis.loglog([p["n"] for p in here], errors, "o-", markersize=3, color=colour, label=label)
                axis.set_title(f"{unit}: {words} words, {signs}", fontsize=9)
                axis.grid(alpha=0.3)
                axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
            line[0].set_ylabel("relative error (∞-norm)")
        for axis in axes[-1]:
            axis.set_xlabel("n")

    says = (
        "Error against n of units and of variants by one parameter; curves that coincide are named together"
    )
    save_svg(path, (10, 11), draw, says)


def _coinciding(curves: Mapping[str, Sequence[float]]) -> list[tuple[list[str], Sequence[float]]]:
    """Curves that differ by less than the width of a line (3 %), together with the first of them."""
    groups: list[tuple[list[str], Sequence[float]]] = []
    for name, errors in curves.items():
        for names, other in groups:
            if all(abs(x - y) <= 0.03 * y for x, y in zip(errors, other, strict=True)):
                names.append(name)
                break
        else:
            groups.append(([name], errors))
    return groups
