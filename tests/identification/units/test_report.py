"""What is said of a search's outcome: counted and predicted again, as data and as text."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tcsmt.identification.units import plan
from tcsmt.identification.units.boxes import Exchange, model_box
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.hypotheses import HypothesisSet
from tcsmt.identification.units.kinds import FusedHypotheses
from tcsmt.identification.units.plan import candidates, decision_tree, fixed_set
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.report import as_data, as_text, lines, nearest, set_data, summary, tree_data
from tcsmt.identification.units.search import Outcome
from tcsmt.identification.units.vectors import ordinary
from tcsmt.matrix_units.arithmetic.formats import FORMATS

FAMILY = FusedHypotheses.of((FORMATS[name] for name in ("e2m1", "e2m1", "f16", "f16")), 1)
NEAR = candidates(FAMILY)
ASKED = ordinary(FAMILY, np.random.default_rng(0), 12)


def exchanges(wrong: int | None = None) -> list[Exchange]:
    """The plain unit's answers; one of them with another last bit."""
    box = model_box(FAMILY.model(NEAR.table[NEAR.of[0]]))
    found = []
    for number, (a, b, c) in enumerate(
        zip(ASKED.a.tolist(), ASKED.b.tolist(), ASKED.c.tolist(), strict=True)
    ):
        found.append(Exchange(tuple(a), tuple(b), c, box(a, b, c) ^ (number == wrong), "why"))
    return found


def outcome(verdict: str, rows: np.ndarray, **changes: object) -> Outcome:
    base = Outcome(
        verdict=verdict, reason="", asked=(FAMILY,), model=FAMILY.model(rows[0]) if len(rows) else None,
        left=HypothesisSet(((FAMILY, rows),)), rules=(None,), proofs=0, by_whom=(), unproved=(), catalogue=(),
        exchanges=exchanges(), counts=[100, len(rows)], seconds=1.26,
    )  # fmt: skip
    return replace(base, **changes)


PAIR = np.stack([NEAR.table[NEAR.of[0]], NEAR.table[np.flatnonzero(NEAR.column >= 0)[0]]])


def test_questions_as_hexadecimal_words() -> None:
    asked = Questions(np.array([[1]], np.uint64), np.array([[0xF]], np.uint64), np.array([0x8001], np.uint64))
    assert lines(FAMILY.formats, asked) == [{"a": ["0x1"], "b": ["0xf"], "c": "0x8001"}]


def test_values_of_every_parameter() -> None:
    found = summary(FAMILY, PAIR)
    models = [FAMILY.model(row).as_json() for row in PAIR]
    assert found.keys() == models[0].keys()
    for name, values in found.items():
        assert all(model[name] in values for model in models)
        assert len(values) == len({json.dumps(model[name]) for model in models})
    assert sum(len(values) == 2 for values in found.values()) == 1


def test_data() -> None:
    data = as_data(
        outcome("open", PAIR, reason="no budget", following=ASKED[[0, 1]], proofs=2, by_whom=("z3",))
    )
    assert (data["verdict"], data["reason"], data["questions"], data["remaining"]) == (
        "open",
        "no budget",
        12,
        2,
    )
    assert (data["seconds"], data["proved_equal_by_solver"], data["hypotheses"]) == (1.3, 2, FAMILY.count)
    assert data["next"] == lines(FAMILY.formats, ASKED[[0, 1]])
    assert data["killed"] == [] and data["model"] == FAMILY.model(PAIR[0]).as_json()
    assert data["values"] == summary(FAMILY, PAIR)
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize(("verdict", "what"), [("identified", "does not matter here"), ("open", "open")])
def test_text_of_what_is_left(verdict: str, what: str) -> None:
    found = outcome(verdict, PAIR, catalogue=("some/unit",), by_whom=("z3 1", "cvc5 2"), proofs=3)
    text = as_text(found).splitlines()
    assert text[0] == verdict
    assert text[1].startswith(f"12 questions, 1.3 s; {FAMILY.count} hypotheses, every plan needs at least ")
    assert text[2] == "3 hypotheses proved equal to the result by z3 1; by cvc5 2"
    (several,) = (line for line in text if line.endswith(f"  ({what})"))
    name = several.split()[0]
    assert f"  {name} = {', '.join(map(str, summary(FAMILY, PAIR)[name]))}  ({what})" == several
    assert text[-1] == "catalogue: some/unit"
    assert as_text(outcome(verdict, PAIR[:1])).splitlines()[-1] == "catalogue: none of its units is this one"


def test_the_first_question_that_excludes_each_near_model_is_named() -> None:
    """With one answer changed: the plain unit explains all others, and the first that it misses is named."""
    found = outcome("refuted", PAIR[:0], exchanges=exchanges(wrong=4), model=None)
    told = nearest(found)
    assert told[0]["model"] == "a plain unit"
    assert (told[0]["explains"], told[0]["question"]) == (11, 5)
    assert told[0]["answered"] == FAMILY.d_format.hex(exchanges(wrong=4)[4].d)
    assert told[0]["predicted"] == FAMILY.d_format.hex(exchanges()[4].d)
    explained = [one["explains"] for one in told]
    assert explained == sorted(explained, reverse=True) and len(told) <= 6
    for one in told[1:]:
        assert one["model"].startswith("a plain unit with ") and one["predicted"] != one["answered"]
    text = as_text(found)
    assert "  not a plain unit (explains 11): question 5: it gives " in text
    assert json.dumps({key: told[0][key] for key in "abc"}) in text
    assert as_data(found)["killed"] == told
    assert nearest(outcome("refuted", PAIR[:0], exchanges=[], model=None)) == []


def test_plans_as_data_hold_their_questions_and_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PLAIN", 60)
    monkeypatch.setattr(plan, "POOL", 120)
    chosen = fixed_set(FAMILY, NEAR, np.random.default_rng(1), 3)
    data = set_data(FAMILY, "mine", NEAR, chosen)
    assert data["model"] == "mine" and data["told_apart"] == chosen[-1].classes and len(data["rows"]) == 3
    assert data["hypotheses"] == len(NEAR.table)
    said = f"{chosen[0].classes} of {len(NEAR.table)} hypotheses told apart"
    assert data["rows"][0]["asks"].startswith(said)
    assert (
        "model" not in set_data(FAMILY, None, NEAR, [])
        and set_data(FAMILY, None, NEAR, [])["told_apart"] == 1
    )

    def walk(node: dict[str, object], row: np.ndarray) -> list[str]:
        """The leaf to which a hypothesis' answers lead."""
        while "left" not in node:
            a, b = (np.array([[int(w, 16) for w in node[side]]], np.uint64) for side in "ab")  # type: ignore[attr-defined]
            c = np.array([int(str(node["c"]), 16)], np.uint64)
            word = int(predictions(FAMILY, row[None], Questions(a, b, c))[0, 0])
            node = node["answers"][FAMILY.d_format.hex(word)]  # type: ignore[index]
        return node["left"]  # type: ignore[return-value]

    tree = tree_data(FAMILY, NEAR, decision_tree(FAMILY, NEAR, np.random.default_rng(1)))
    assert "a plain unit" in walk(tree, NEAR.table[NEAR.of[0]])
    for number in (3, len(NEAR.table) - 1):
        names = walk(tree, NEAR.table[number])
        assert any(name.startswith("a plain unit") for name in names)
