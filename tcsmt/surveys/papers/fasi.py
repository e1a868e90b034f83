"""Fasi, Higham, Mikaitis, Pranesh, "Numerical Behavior of NVIDIA Tensor Cores" (2020).

Their tests (``fasi-2020.toml``) as vectors through our models of the V100 and T4 that they measured
and of the A100 that came later, with their conclusions beside ours.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.papers.experiment import Experiment, Paper

#: The units, by GPU: architecture and instruction for each output format.
UNITS = {
    "v100": ("volta", {"f32": "mma.m8n8k4.f32.f16.f16.f32", "f16": "mma.m8n8k4.f16.f16.f16.f16"}),
    "t4": ("turing", {"f32": "mma.m16n8k8.f32.f16.f16.f32", "f16": "mma.m16n8k8.f16.f16.f16.f16"}),
    "a100": (
        "ampere",
        {"f32": "mma.m16n8k8.f32.f16.f16.f32", "f16": "mma.m16n8k8.f16.f16.f16.f16"},
    ),
}
_TERM = re.compile(r"([+-]?)(?:(?:(\d+(?:\.\d+)?)\*)?2\^(?:\((-?\d+)-u\)|(-?\d+))|(\d+(?:\.\d+)?))")


def value(text: str, u: int) -> Fraction:
    """Return the value of an expression of the data file, with u extra alignment bits."""
    total, place = Fraction(0), 0
    text = text.replace(" ", "")
    while place < len(text):
        match = _TERM.match(text, place)
        if match is None:
            raise ValueError(f"no expression: {text!r} at {place}")
        sign, factor, scaled, plain, number = match.groups()
        exponent = int(scaled) - u if scaled else int(plain) if plain else 0
        term = Fraction(number or factor or 1) * Fraction(2) ** exponent
        total += -term if sign == "-" else term
        place = match.end()
    return total


def run_tests() -> Iterator[dict[str, Any]]:
    """Every test on every unit: our result, the outcome that it is, and whether the paper saw it."""
    for test in _tests():
        results = {gpu: _on(gpu, test) for gpu in UNITS}
        results_of_gpus = {
            gpu: r for gpu, r in results.items() if gpu != "a100" and test["gpu"] in ("both", gpu)
        }
        yield {
            "section": test["section"],
            "feature": test["feature"],
            "title": test["title"],
            "question": test["question"],
            "output": test["output"],
            "reproduces": all(r["observed"] for r in results_of_gpus.values()),
            "results": results,
        }


def vectors(model: Model) -> list[tuple[str, tuple[int, ...]]]:
    """Return the tests that a model can run: what each asks, and the words of its inputs.

    Constants are those for the model's own extra alignment bits, as the paper has them for each GPU;
    lanes from 4 on are zero. Raises :class:`.TcsmtError` where no test fits.
    """
    tests = [
        test
        for test in _tests()
        if test["output"] == model.d_format.name
        and model.a_format.name == model.b_format.name == "f16"
        and model.c_format == model.d_format
        and model.k >= 4
        and not model.scales
    ]
    result = []
    for test in tests:
        try:
            result.append((f"{test['section']} {test['title']}", _words(model, test)))
        except ValueError:  # with so many extra bits a constant is not a valid f16 value
            continue
    if not result:
        raise TcsmtError("Fasi et al.'s tests are for f16 operands, C and D in f16 or f32, K of 4 or more")
    return result


def _tests() -> list[dict[str, Any]]:
    data = tomllib.loads(Path(__file__).with_name("fasi-2020.toml").read_text(encoding="utf-8"))
    tests: list[dict[str, Any]] = data["test"]
    return tests


def _extra_bits(model: Model) -> int:
    """n_eab of a fused sum with FP32 results in mind; other units keep none."""
    return model.extra_alignment_bits if isinstance(model, FusedDotAdd) else 0


def _words(model: Model, test: dict[str, Any]) -> tuple[int, ...]:
    u = _extra_bits(model)
    spare = [Fraction(0)] * (model.k - 4)
    a, b = ([value(text, u) for text in test[side]] + spare for side in "ab")
    numbers = [*a, *b, value(test["c"], u)]
    return tuple(fmt.word(x) for fmt, x in zip(model.input_formats.values(), numbers, strict=True))


def _on(gpu: str, test: dict[str, Any]) -> dict[str, Any]:
    architecture, instructions = UNITS[gpu]
    row = row_named(f"{architecture}/{instructions[test['output']]}")
    model = row.model
    u = _extra_bits(model)
    words = dict(zip(model.input_names, _words(model, test), strict=True))
    result = model.d_format.value(evaluate([model.trace.output], words)[0])
    outcomes = [o for o in test["outcome"] if value(o["value"], u) == result]
    return {
        "unit": row.name,
        "word": model.d_format.hex(model.d_format.word(result)),
        "value": model.d_format.describe(model.d_format.word(result)),
        "means": outcomes[0]["means"] if outcomes else "an outcome that the paper does not name",
        "observed": bool(outcomes and outcomes[0].get("observed", False)),
    }


def _test_lines(test: dict[str, Any]) -> Iterator[str]:
    mark = "as the paper" if test["reproduces"] else "NOT as the paper"
    yield f"{test['section']} {test['feature']}, {test['output']}: {test['title']} [{mark}]"
    for gpu, result in test["results"].items():
        yield f"    {gpu:<5} {result['word']}  {result['value']:<28} {result['means']}"


def _count_lines(tests: Sequence[dict[str, Any]]) -> Iterator[str]:
    agree = sum(test["reproduces"] for test in tests)
    yield f"{agree} of {len(tests)} tests give on V100 and T4 what the paper reports"


PAPER = Paper((Experiment("tests", lambda run: run_tests(), _test_lines, foot=_count_lines),))
