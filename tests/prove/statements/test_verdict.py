"""Verdicts as data and as lines: who says so, alone or confirmed, and several proofs as one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.statements import verdict as module
from tcsmt.prove.statements.verdict import (
    Certified,
    Distinguished,
    Equivalent,
    Unknown,
    answer_json,
    by_whom,
    engine_digest,
    exit_of,
    has_certificate,
    in_a_word,
    joined,
    reason_of,
    record_text,
    said_by,
    sure,
    truth,
    verdict_text,
)
from tests.support.paths import ROOT

WITNESS = Distinguished(values={"x": 1}, solver="z3", version="1.2", seconds=0.123456)
PROOF = Equivalent(
    stage="sum", scripts=("1",), solver="bitwuzla", version="9.9", seconds=2.0, confirmed="cvc5 1.0"
)
ALONE = replace(PROOF, confirmed="")
GRAPH = Equivalent(stage="", scripts=(), solver="simplifier", version="", seconds=0.0)
UNKNOWN = Unknown(reason="timeout", seconds=30.00001)


def step(by: str, confirmed: str, *scripts: str) -> tuple[str, Equivalent]:
    answer = Equivalent(stage="", scripts=scripts, solver=by, version="", seconds=0.0, confirmed=confirmed)
    return by or "same graph", answer


def test_a_proof_is_sure_unless_a_solver_stands_alone() -> None:
    assert (PROOF.sure, ALONE.sure, GRAPH.sure) == (True, False, True)
    assert PROOF.by_whom == "bitwuzla 9.9, confirmed by cvc5 1.0" == by_whom("bitwuzla 9.9", "cvc5 1.0")
    assert (ALONE.by_whom, GRAPH.by_whom) == ("bitwuzla 9.9 alone", "simplifier")


def test_data() -> None:
    assert WITNESS.as_json() == {
        "verdict": "distinguished", "solver": "z3", "version": "1.2", "seconds": 0.1235,
    }  # fmt: skip
    assert PROOF.as_json() == {
        "verdict": "equivalent", "solver": "bitwuzla", "version": "9.9", "seconds": 2.0, "stage": "sum",
        "scripts": ["1"], "confirmed": "cvc5 1.0",
    }  # fmt: skip
    assert UNKNOWN.as_json() == {"verdict": "unknown", "reason": "timeout", "seconds": 30.0}


@pytest.mark.parametrize(("verdict", "answer"), [(WITNESS, "yes"), (PROOF, "no"), (UNKNOWN, "unknown")])
def test_verdicts_answer_yes_no_or_unknown(
    verdict: Distinguished | Equivalent | Unknown, answer: str
) -> None:
    data = answer_json(verdict, "yes", "no")
    assert data["answer"] == answer
    assert {key: value for key, value in data.items() if key != "answer"} == verdict.as_json()
    assert list(data)[:2] == ["verdict", "answer"]


def test_lines() -> None:
    assert verdict_text(WITNESS, "DIFFER", "SAME") == (
        "DIFFER: found by z3 1.2 in 0.12 s, replayed in exact fractions"
    )
    assert verdict_text(PROOF, "DIFFER", "SAME") == (
        "SAME: proved by bitwuzla 9.9, confirmed by cvc5 1.0, 2.00 s; sum"
    )
    assert verdict_text(GRAPH, "DIFFER", "SAME") == "SAME: proved by simplifier, 0.00 s"
    assert verdict_text(UNKNOWN, "DIFFER", "SAME") == "UNKNOWN: timeout; 30.0 s"


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (WITNESS, "refuted by z3 1.2"), (PROOF, "proved by bitwuzla 9.9, confirmed by cvc5 1.0"),
        (ALONE, "proved by bitwuzla 9.9 alone"), (GRAPH, "proved by simplifier"),
        (UNKNOWN, "unknown: timeout"),
    ],
)  # fmt: skip
def test_records_give_the_text_of_their_verdict(
    verdict: Distinguished | Equivalent | Unknown, text: str
) -> None:
    record = verdict.as_json()
    assert record_text(record, "refuted") == text
    if isinstance(verdict, Equivalent):
        assert said_by(record) == verdict.by_whom


def test_steps_are_sure_if_each_of_them_is() -> None:
    sure = joined([step("", ""), step("a", "b", "1"), step("a", "c", "2"), step("a", "b", "1")], 1.0)
    assert (sure.sure, sure.by_whom, sure.scripts) == (True, "a, confirmed by b, c", ("1", "2"))
    weak = joined([step("a", "b", "1"), step("a", "", "2"), step("", "")], 1.0)
    assert (weak.sure, weak.by_whom) == (False, "a alone")
    several = joined([step("a", "", "1"), step("b", "", "2")], 1.0)
    assert several.by_whom == "a, b alone"
    graph = joined([step("", ""), step("", "")], 1.0)
    assert (graph.sure, graph.by_whom) == (True, "")


def test_steps_in_words() -> None:
    """Each once, in order; of one solver, its version stays."""
    found = joined([("first", PROOF), ("second", GRAPH), ("first", ALONE)], 3.5)
    assert (found.stage, found.seconds, found.version) == ("first; second", 3.5, "9.9")
    other = replace(PROOF, solver="z3", version="1.2", scripts=("2",))
    assert joined([("x", PROOF), ("y", other)], 1.0).by_whom == "bitwuzla 9.9, z3 1.2, confirmed by cvc5 1.0"


def test_an_unknown_verdict_says_why() -> None:
    assert [reason_of(one) for one in (WITNESS, PROOF, UNKNOWN)] == ["", "", "timeout"]
    assert [in_a_word(one) for one in (WITNESS, PROOF, UNKNOWN)] == [
        "distinguished", "equivalent", "unknown (timeout)"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("confirmed", "scripts", "expected"), [("z3", ["1"], True), ("", ["1"], False), ("", [], True)]
)
def test_who_stands_for_a_record(confirmed: str, scripts: list[str], expected: bool) -> None:
    assert sure({"confirmed": confirmed, "scripts": scripts}) is expected


def test_records_without_their_scripts_are_refused() -> None:
    with pytest.raises(KeyError):
        sure({"confirmed": ""})


@pytest.mark.parametrize("proved", [True, False])
def test_a_proof_makes_a_statement_what_an_input_does_not(proved: bool) -> None:
    verdicts = (PROOF, GRAPH, WITNESS, UNKNOWN)
    assert [truth(verdict, proved=proved) for verdict in verdicts] == [proved, proved, not proved, None]


def test_exit_codes_are_those_of_cmp() -> None:
    assert [exit_of(verdict) for verdict in (PROOF, WITNESS, UNKNOWN)] == [0, 1, 3]


WRITTEN = Certified("x", Path("c/statements/x.json"), 3)
MISSING = Certified("x", None, why="no refutation")


def test_words_and_data() -> None:
    assert str(WRITTEN) == "certificate: c/statements/x.json (3 lemmas)"
    assert str(Certified("x", Path("y.json"), 1)) == "certificate: y.json (1 lemma)"
    assert str(MISSING) == "no certificate: no refutation"
    assert WRITTEN.as_json() == {"certified": True, "file": "c/statements/x.json", "lemmas": 3}
    assert MISSING.as_json() == {"certified": False, "reason": "no refutation"}


@pytest.mark.parametrize(
    ("record", "has"),
    [
        ({"verdict": "equivalent", "certificate": {"certified": True, "file": "x.json"}}, True),
        ({"verdict": "equivalent", "certificate": {"certified": True, "file": "/elsewhere/x.json"}}, True),
        ({"verdict": "equivalent", "certificate": {"certified": True, "file": "y.json"}}, False),
        ({"verdict": "equivalent", "certificate": MISSING.as_json()}, False),
        ({"verdict": "equivalent", "certificate": None}, False),
        ({"verdict": "equivalent"}, False),
        ({"verdict": "distinguished"}, True),
        ({"verdict": "unknown"}, True),
    ],
)
def test_a_proof_has_its_file_where_one_is_due(record: dict[str, Any], has: bool, tmp_path: Path) -> None:
    """Where the file lay when it was recorded does not matter: the folder may have moved."""
    (tmp_path / "statements").mkdir()
    (tmp_path / "statements" / "x.json").write_text("{}")
    (tmp_path / "statements" / "z.json").mkdir()
    assert has_certificate(record, tmp_path) is has
    assert has_certificate(record, None)
    folder = {"verdict": "equivalent", "certificate": {"file": "z.json"}}
    assert not has_certificate(folder, tmp_path)


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that a module imports, as paths without a suffix."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tcsmt"):
            base = node.module.replace(".", "/")
            yield base
            yield from (f"{base}/{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.replace(".", "/") for a in node.names if a.name.startswith("tcsmt"))


def rests_on(start: Path) -> set[Path]:
    """Every module of the package that running this one may import."""
    found, waiting = set(), [start]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for one in imported(path) if (file := ROOT / f"{one}.py").is_file()]
    return found


#: What keeps files and says what an error is, looks for witnesses and draws them: no proof rests on it.
BESIDE = {"support", "simulate", "matrix_units/files", "__init__.py"}


def test_all_that_the_engine_imports_counts() -> None:
    """The rooms that are not named hold nothing that decides a query."""
    package = ROOT / "tcsmt"
    files = rests_on(package / "prove" / "engine" / "engine.py")
    paths = {path.relative_to(package).as_posix() for path in files}
    assert {"prove/engine/blocks.py", "matrix_units/models/base.py", "language/terms.py"} <= paths
    counted = (*module._ROOMS, *BESIDE)
    assert not {path for path in paths if not path.startswith(counted)}
    assert all((package / room).is_dir() for room in module._ROOMS)


def test_another_text_is_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine_digest() == engine_digest() != engine_digest("simulate")
    assert engine_digest("simulate", "surveys/units") not in (engine_digest(), engine_digest("simulate"))
    before = engine_digest()
    for room in module._ROOMS:
        with monkeypatch.context() as patched:
            patched.setattr(module, "_ROOMS", tuple(one for one in module._ROOMS if one != room))
            assert engine_digest() != before, room
