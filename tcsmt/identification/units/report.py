"""The findings of `tcsmt identify`, as data and as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Family, Table
from tcsmt.identification.units.kinds import FusedHypotheses, known
from tcsmt.identification.units.plan import Candidates, Planned, PlanNode, candidates
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.recorded import Best
from tcsmt.identification.units.search import Outcome
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.support.text import agreeing, counted

#: Members that are shown with what excludes them, and rows that contradict.
NEAREST, MISSES = 6, 10
#: Hypotheses whose values are shown, at most.
SHOWN = 20000


def lines(formats: Sequence[AnyFormat], questions: Questions) -> list[dict[str, Any]]:
    """Questions as rows of JSON: hexadecimal words."""
    fa, fb, fc, _ = formats
    return [
        {
            "a": [fa.hex(int(w)) for w in questions.a[i]],
            "b": [fb.hex(int(w)) for w in questions.b[i]],
            "c": fc.hex(int(questions.c[i])),
        }
        for i in range(len(questions))
    ]


def summary(family: Family, table: Table) -> dict[str, list[Any]]:
    """Return the values of every parameter among some hypotheses.

    table: int16 (rows, 12); its first 20000 rows are read.
    """
    values_of: dict[str, set[str]] = {}
    for row in table[:20000]:
        for name, value in family.model(row).as_json().items():
            values_of.setdefault(name, set()).add(json.dumps(value))
    return {name: sorted((json.loads(v) for v in values), key=str) for name, values in values_of.items()}


def nearest(outcome: Outcome) -> list[dict[str, Any]]:
    """Return what excludes the fused dot-adds that explain most: the catalogue's, and those one column
    apart.
    """
    families = [kind for kind in outcome.asked if isinstance(kind, FusedHypotheses)]
    if not outcome.exchanges or not families:
        return []
    (family,) = families
    near = candidates(family)
    asked = outcome.exchanges
    questions = Questions(
        *(np.array([getattr(e, side) for e in asked], np.uint64) for side in "abc"),
    )
    fmt = family.d_format
    plain = [fmt.nan_word if fmt.is_nan(e.d) else e.d for e in asked]
    words = predictions(family, near.table, questions)
    wrong = words != np.array(plain, np.uint64)
    told = []
    for place in np.argsort(wrong.sum(axis=1), kind="stable")[:NEAREST]:
        if not wrong[place].any():
            continue
        number = int(np.flatnonzero(wrong[place])[0])
        told.append(
            {"model": _name(family, near, int(place)), "explains": int((~wrong[place]).sum()),
             "question": number + 1, **lines(family.formats, questions[[number]])[0],
             "predicted": fmt.hex(int(words[place, number])), "answered": fmt.hex(asked[number].d)}
        )  # fmt: skip
    return told


def best_data(dataset: DataSet, family: Family, best: Best) -> dict[str, Any]:
    """Return the hypotheses that explain most recorded rows, and the rows that contradict them."""
    fmt = family.d_format
    return {
        "hypotheses": len(best.table),
        "missed": best.missed,
        "catalogue": known(family, best.table),
        "values": summary(family, best.table),
        "rows": [
            {
                "row": miss.row,
                "place": dataset.place(miss.row),
                "recorded": fmt.hex(miss.recorded),
                "predicted": [fmt.hex(word) for word in miss.predicted],
            }
            for miss in best.misses
        ],
    }


def best_lines(dataset: DataSet, family: Family, rows: int, best: Best) -> list[str]:
    """Return the same, for people; of many rows the first."""
    data = best_data(dataset, family, best)
    count = data["hypotheses"]
    which = f" ({', '.join(data['catalogue'])})" if data["catalogue"] else ""
    each = counted(count, "hypothesis explains", "hypotheses each explain")
    text = [f"best found: {each} {rows - best.missed} of {rows} rows{which}"]
    text.append(f"rows that contradict {agreeing(count, 'it', 'any of them')}:")
    for row in data["rows"][:MISSES]:
        predicted = _listed_words(row["predicted"])
        text.append(f"  {row['place']}: recorded {row['recorded']}, predicted {predicted}")
    if len(data["rows"]) > MISSES:
        text.append(f"  and {len(data['rows']) - MISSES} more")
    return text


def _listed_words(words: list[str]) -> str:
    """A few words, and how many more there are."""
    return " or ".join(words[:3]) + (f" or {counted(len(words) - 3, 'other')}" if len(words) > 3 else "")


def _name(family: Family, near: Candidates, place: int) -> str:
    """A catalogue row, or one with a parameter changed."""
    row, base = near.table[place], near.table[near.of[place]]
    named = known(family, base[None])
    name = named[0] if named else "a plain unit"
    if near.column[place] < 0:
        return name
    parameters, other = (family.model(r).as_json() for r in (row, base))
    changed = [f"{key} = {value}" for key, value in parameters.items() if value != other[key]]
    return f"{name} with {', '.join(changed)}"


def _values(outcome: Outcome) -> dict[str, list[Any]]:
    """Return the values of every parameter among the hypotheses that are left of the result's kind."""
    values: dict[str, set[str]] = {}
    for model in islice(outcome.models, SHOWN):
        if outcome.model is not None and model.kind == outcome.model.kind:
            for name, value in model.as_json().items():
                values.setdefault(name, set()).add(json.dumps(value))
    return {name: sorted((json.loads(v) for v in several), key=str) for name, several in values.items()}


def _others(outcome: Outcome) -> list[str]:
    """Other kinds of which hypotheses are left."""
    found_kind = outcome.model.kind if outcome.model is not None else ""
    return list(dict.fromkeys(kind.kind.title for kind, _ in outcome.left if kind.kind.kind != found_kind))


def as_data(outcome: Outcome) -> dict[str, Any]:
    """Everything, as plain data."""
    return {
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "hypotheses": outcome.count,
        "floor": round(outcome.floor, 2),
        "questions": len(outcome.exchanges),
        "remaining": len(outcome.left),
        "proved_equal_by_solver": outcome.proofs,
        "proved_by": list(outcome.by_whom),
        "unproved": [model.as_json() for model in outcome.unproved],
        "model": outcome.model.as_json() if outcome.model else None,
        "catalogue": list(outcome.catalogue),
        "values": _values(outcome),
        "left_after_each": outcome.counts,
        "next": _lines(outcome, outcome.following) if outcome.following is not None else [],
        "killed": nearest(outcome) if not len(outcome.left) else [],
        "seconds": round(outcome.seconds, 1),
    }


def as_text(outcome: Outcome) -> str:
    """Return the same, for people."""
    text = [f"{outcome.verdict}" + (f": {outcome.reason}" if outcome.reason else "")]
    text.append(
        f"{counted(len(outcome.exchanges), 'question')}, {outcome.seconds:.1f} s; "
        f"{counted(outcome.count, 'hypothesis')}, "
        f"every plan needs at least {outcome.floor:.2f} answers"
    )
    if outcome.by_whom:
        proved = counted(outcome.proofs, "hypothesis")
        text.append(f"{proved} proved equal to the result by {'; by '.join(outcome.by_whom)}")
    if outcome.model is not None:
        settled = outcome.verdict == "identified"
        for name, values in _values(outcome).items():
            if values != [None] or name == "carry_bits":
                shown = [str(v) for v in values]
                several = "" if len(values) == 1 else f"  ({'does not matter here' if settled else 'open'})"
                listed = ", ".join(shown if len(shown) < 8 else [*shown[:3], "...", shown[-1]])
                text.append(f"  {name} = {listed}{several}")
        text += [f"{'equal' if settled else 'not excluded'}, too: {title}" for title in _others(outcome)]
        names = ", ".join(outcome.catalogue)
        text.append(f"catalogue: {names}" if names else "catalogue: none of its units is this one")
    elif outcome.verdict == "refuted":
        for entry in nearest(outcome):
            text.append(
                f"  not {entry['model']} (explains {entry['explains']}): question {entry['question']}: "
                f"it gives {entry['predicted']}, the box {entry['answered']}"
            )
            text.append(f"    {json.dumps({key: entry[key] for key in 'abc'})}")
    if outcome.following is not None:
        text += [f"ask: {json.dumps(line)}" for line in _lines(outcome, outcome.following)]
    return "\n".join(text)


def _lines(outcome: Outcome, questions: Questions) -> list[dict[str, Any]]:
    return lines(outcome.asked[0].formats, questions)


def set_data(family: Family, like: str | None, near: Candidates, plan: list[Planned]) -> dict[str, Any]:
    """A fixed set, in the form that `tcsmt probe --vectors` reads."""
    rows = []
    for planned in plan:
        summary = f"{planned.classes} of {counted(len(near.table), 'hypothesis')} told apart"
        asks = f"{summary}; decides {', '.join(planned.decides)}" if planned.decides else summary
        rows.append({**lines(family.formats, planned.question)[0], "asks": asks})
    told = plan[-1].classes if plan else 1
    model = {"model": like} if like is not None else {}
    return {**model, "of": near.names, "hypotheses": len(near.table), "told_apart": told, "rows": rows}


def tree_data(family: Family, near: Candidates, node: PlanNode) -> dict[str, Any]:
    """A decision tree: a question and what follows each answer; leaves name what is left."""
    if node.question is None:
        return {"left": [_name(family, near, int(place)) for place in node.rows]}
    answers = {
        family.d_format.hex(word): tree_data(family, near, child) for word, child in node.answers.items()
    }
    return {**lines(family.formats, node.question)[0], "decides": node.decides, "answers": answers}
