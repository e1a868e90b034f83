"""Inputs on which CDNA3's units differ from units with one parameter changed, and mmasim's answers.

    python -m tests.oracles.deciding_inputs find tests/data/deciding.json     (solvers)
    python -m tests.oracles.deciding_inputs answer tests/data/deciding.json   (mmasim 2.1.1)

Random rows seldom reach these parameters (the last bit of the second alignment in one row of
100,000); a solver finds an input for each. Two changes have none: 33 bits for 32 at the second
alignment, and no limit for FP16 products.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished
from tests.oracles import against_mmasim

UNITS = (
    "32x32x8_f16", "32x32x8_bf16", "32x32x4_xf32", "32x32x16_fp8_fp8", "32x32x16_fp8_bf8",
    "32x32x16_bf8_fp8", "32x32x16_bf8_bf8",
)  # fmt: skip


def changes(model: DotThenAdd) -> Iterator[tuple[str, Any]]:
    """One parameter and another value for it."""
    yield "dot_fraction_bits", 31
    for bits in (30, 32, None):
        yield "normalised_fraction_bits", bits
    for bits in (23, 25):
        yield "fraction_bits", bits
    yield "realignment", "RTZ"
    if model.product_limit is not None and model.a_format.e_max > 64:
        yield "product_limit", None
        yield "product_limit", 127
    if model.c_reach is not None:
        for reach in (24, 26, None):
            yield "c_reach", reach


def changed(model: DotThenAdd, name: str, value: Any) -> DotThenAdd:
    """The model with another value of a parameter."""
    changes: dict[str, Any] = {name: ROUNDINGS[value] if name == "realignment" else value}
    return model.replace(**changes)


def find(path: Path) -> None:
    """Ask for an input for each change, with few lanes of the unit in use."""
    found = []
    for unit in UNITS:
        model = row_named(f"cdna3/v_mfma_f32_{unit}").model
        assert isinstance(model, DotThenAdd)
        few = 2 * model.lane_groups
        small = model.replace(k=few, n_fma=few)
        for name, value in changes(model):
            other = changed(small, name, value)
            verdict = decide(
                difference("", ("unit", small), ("changed", other), lanes=(1, 2)), Solving()
            ).verdict
            print(unit, name, value, type(verdict).__name__, flush=True)
            if isinstance(verdict, Distinguished):
                words = {n: verdict.values.get(n, 0) for n in model.input_names}
                found.append({"unit": unit, "parameter": name, "value": value, "words": list(words.values())})
    path.write_text(json.dumps({"found by": "solvers", "rows": found}, indent=None) + "\n")


def answer(path: Path) -> None:
    """Add mmasim's results."""

    data = json.loads(path.read_text())
    for item in data["rows"]:
        row = row_named(f"cdna3/v_mfma_f32_{item['unit']}")
        model, k = row.model, row.model.k
        words = against_mmasim.Words(
            np.array([item["words"][:k]], unsigned(model.a_format)),
            np.array([item["words"][k : 2 * k]], unsigned(model.b_format)),
            np.array(item["words"][2 * k :], unsigned(model.c_format)),
            None,
            None,
        )
        item["mmasim"] = int(against_mmasim.answer(against_mmasim.unit_of(row), model, words)[0])
    data["answered by"] = "mmasim 2.1.1, not hardware"
    text = json.dumps(data).replace('{"unit"', '\n{"unit"')
    path.write_text(text + "\n")


def results(item: dict[str, Any]) -> tuple[int, int, int]:
    """The unit's result, the changed unit's, and mmasim's."""
    model = row_named(f"cdna3/v_mfma_f32_{item['unit']}").model
    assert isinstance(model, DotThenAdd)
    words = dict(zip(model.input_names, item["words"], strict=True))
    other = changed(model, item["parameter"], item["value"])
    one, two = (evaluate([m.trace.output], words)[0] for m in (model, other))
    return one, two, item["mmasim"]


if __name__ == "__main__":
    {"find": find, "answer": answer}[sys.argv[1]](Path(sys.argv[2]))
