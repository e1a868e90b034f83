"""The process in which a SAT solver refutes clauses: what it prints, and what it leaves."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lrat import check_refutation
from tcsmt.prove.engine.solvers import refuting

FILE = Path(refuting.__file__)


def ran(
    folder: Path, clauses: Sequence[Sequence[int]], memory: int = 2048, seconds: int = 20, **more: str
) -> tuple[str, str]:
    """What it prints, and the refutation that it leaves."""
    last = max(abs(literal) for clause in clauses for literal in clause)
    lines = ["c made by a test", f"p cnf {last} {len(clauses)}"]
    lines += [" ".join(map(str, (*clause, 0))) for clause in clauses]
    cnf, lrat = folder / "x.cnf", folder / "x.lrat"
    cnf.write_text("\n".join([*lines, ""]))
    done = subprocess.run(
        [sys.executable, str(FILE), str(cnf), str(lrat), str(memory), str(seconds)], text=True,
        capture_output=True, check=False, env={**os.environ, **more},
    )  # fmt: skip
    return done.stdout, lrat.read_text() if lrat.exists() else ""


def pigeons(holes: int) -> list[list[int]]:
    """One pigeon more than there are holes, each in a hole of its own."""
    place = [[1 + one * holes + hole for hole in range(holes)] for one in range(holes + 1)]
    alone = [[-x[hole], -y[hole]] for x, y in itertools.combinations(place, 2) for hole in range(holes)]
    return place + alone


@pytest.fixture
def solver() -> None:
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")


@pytest.mark.parametrize("holes", [1, 3, 5])
def test_a_refutation_holds(holes: int, solver: None, tmp_path: Path) -> None:
    """By the checker of certificates; of fewer clauses it is none."""
    clauses = pigeons(holes)
    said, text = ran(tmp_path, clauses)
    assert said == "unsat\n"
    tuples = [tuple(clause) for clause in clauses]
    check_refutation(tuples, text.splitlines())
    with pytest.raises(InvalidProof):
        check_refutation(tuples[1:], text.splitlines())


def test_clauses_that_have_a_solution(solver: None, tmp_path: Path) -> None:
    assert ran(tmp_path, pigeons(4)[1:])[0] == "sat\n"


def test_it_says_that_the_solver_is_missing(tmp_path: Path) -> None:
    (tmp_path / "pysolvers.py").write_text("raise ImportError('no such wheel')")
    said, text = ran(tmp_path, pigeons(1), PYTHONPATH=str(tmp_path))
    assert said == "python-sat is not installed (no such wheel)\n" and text == ""


@pytest.mark.long
def test_a_limit_on_the_processor_ends_it(solver: None, tmp_path: Path) -> None:
    """Nothing is printed that could be taken for an answer."""
    assert ran(tmp_path, pigeons(11), seconds=1)[0] == ""
