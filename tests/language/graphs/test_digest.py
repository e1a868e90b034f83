"""Digests of graphs: the same in every process, and other ones as soon as the datapath is another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest

from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.language.terms import MACROS, Macro, Term, const, substitute, total, umax, var
from tcsmt.matrix_units.catalogue import row_named, rows
from tests.support.paths import ROOT

X, Y, Z = (var(name, 8) for name in "xyz")

#: Prints the keys under which things are kept; ``flipped``: by a datapath whose products have the wrong sign.
KEYS = """
import json, sys
sys.path.insert(0, "results/make")
from dataclasses import replace
from tcsmt.language import terms
from tcsmt.matrix_units.arithmetic import datapath

if "flipped" in sys.argv:
    right = datapath.multiply
    def multiply(a, b):
        product = right(a, b)
        return replace(product, sign=~product.sign)
    datapath.multiply = multiply
if "reordered" in sys.argv:
    # as if another version of Python hashed tuples otherwise: arguments stand in another order
    ordered = terms._sorted
    terms._sorted = lambda given: ordered(given)[::-1]

from itertools import islice
from tcsmt.analysis.sweeps import findings, reduced, sweep
from tcsmt.matrix_units.catalogue import rows
import identify_sweep
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.surveys.papers import variants
from tcsmt.prove.engine.options import SolvingOptions
import unit_theorems
from tcsmt.prove.statements.question import Domain
from tcsmt.surveys.units.model_pairs import DistinctUnit, Pair

floating = [row for row in rows() if not isinstance(row.model, IntegerDotAdd)]  # others do not use it
units = list({row.model: DistinctUnit(row.model, (row,)) for row in floating}.values())
few = units[::20]
keys = {f"unit {unit.name}": unit.model.digest for unit in (units if "all" in sys.argv else few)}
for unit in few:
    keys[f"atlas {unit.name}"] = Pair(unit, unit, Domain(finite=False)).key
if "tasks" in sys.argv:
    effort, limits = findings.Effort(SolvingOptions(confirm=True), 1.0), reduced.Limits()
    firsts = {}
    for task in islice(findings.entries(effort), 30):
        firsts.setdefault(task.function, task)  # one of each kind
    tasks = [*firsts.values(), identify_sweep.task_for("volta", 1.0)]
    tasks.append(sweep.task_for("markidis", "uniform", 16, sweep.Matrices(("volta",), 2, 1)))
    tasks += [reduced._task(fact, "volta", 2, limits, ask=True) for fact in list(reduced.FACTS.values())[::8]]
    about = (entry for entry in unit_theorems.entries() if entry.models())  # the others are about sums alone
    tasks += [unit_theorems._task(entry, SolvingOptions(), "") for entry in islice(about, 2)]
    keys |= {f"{task.function.__name__} {task.key}": task.asked for task in tasks}
    keys["variants"] = variants.content()
print(json.dumps(keys))
"""


@cache
@cache
def keys(*how: str, seed: str = "0") -> dict[str, str]:
    """The keys as another process makes them."""
    done = subprocess.run(
        [sys.executable, "-c", KEYS, *how], cwd=ROOT, text=True, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
    )  # fmt: skip
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_digests_are_the_same_in_every_process() -> None:
    one, two = keys("tasks", "few"), keys("reordered", seed="2")
    assert two.items() <= one.items()
    here = [name for name in two if name.startswith("unit ")]
    assert len(here) > 10
    assert [row_named(name.removeprefix("unit ")).model.digest for name in here] == [
        one[name] for name in here
    ]


@pytest.mark.slow
@pytest.mark.parametrize("units", ["few", pytest.param("all", marks=pytest.mark.long)])
def test_a_flipped_sign_changes_every_key(units: str) -> None:
    """As in a datapath that was mended: nothing that was kept is about the new one."""
    before, after = keys("tasks", units), keys("tasks", units, "flipped")
    assert before.keys() == after.keys()
    assert len(before) > (220 if units == "all" else 30)
    functions = {name.partition(" ")[0] for name in before}
    assert functions == {
        "unit", "atlas", "table_five", "rounding_inside", "_solved", "identified", "_record", "_examined",
        "answered_by_title", "variants",
    }  # fmt: skip
    assert [name for name in before if before[name] == after[name]] == []


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_different_models_have_different_digests(step: int) -> None:
    models = {row.model for row in rows()[::step]}
    assert len({model.digest for model in models}) == len({model.trace.output for model in models})
    unit = row_named("volta").model
    assert replace(unit).digest == unit.digest  # another object, the same graph
    assert unit.replace(nan=0x7FC00001).digest != unit.digest


def different() -> list[Term]:
    """Terms of which no two compute the same by the same operations."""
    return [
        X, Y, var("x", 9), const(1, 8), const(2, 8), const(1, 9), X - Y, Y - X, X << Y, Y << X, X >> Y,
        X.ashr(Y), X[3:0], X[4:1], X.concat(Y), Y.concat(X), X.zext(16), X.sext(16), ~X, -X, X & Y, X | Y,
        X ^ Y, X * Y, total(X, Y), total(X, Y, Z), umax(X, Y), X.eq(Y), X.ult(Y), Y.ult(X), X.slt(Y),
        X[0].ite(Y, Z), X[0].ite(Z, Y), (X & Y) | Z, (X | Z) & Y,
    ]  # fmt: skip


def test_different_terms_have_different_digests() -> None:
    terms = different()
    assert len({digest_of_graph(term) for term in terms}) == len(terms)
    assert digest_of_graph(X, Y) != digest_of_graph(Y, X) != digest_of_graph(X)


def test_a_node_inside_counts() -> None:
    (other,) = substitute([(X * Y) + Z], {Z: ~Z})
    assert digest_of_graph(other) != digest_of_graph((X * Y) + Z)


def test_texts_are_not_run_together() -> None:
    assert len({digest_of_texts(texts) for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""])}) == 4


def test_a_macro_counts_by_its_definition() -> None:
    """Its node holds a name alone, which says nothing about what it computes."""
    made: list[str] = []
    try:
        for name, definition in (("one", total), ("two", total), ("three", lambda x, y: x - y)):
            made.append(digest_of_graph(Macro(f"test.{name}", 8, definition)(X, Y)))
    finally:
        for name in ("one", "two", "three"):
            MACROS.pop(f"test.{name}", None)
    assert made[0] == made[1] != made[2]
