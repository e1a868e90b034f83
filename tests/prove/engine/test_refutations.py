"""Refutations: what the SAT solver is asked, and what is left of its answer."""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcsmt.language.terms import Term, all_of, any_of, var
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import LemmaFiles, lemma_of
from tcsmt.prove.certificates.lrat import check_refutation
from tcsmt.prove.engine import certify, refutations
from tcsmt.prove.engine.certify import Certificates, certificates_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, Satisfiable, refutation, strict, trimmed
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT
from tests.support.processes import children, until

SETTINGS = SolvingOptions(timeout=30)


@pytest.fixture
def solver() -> None:
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")


def pigeons(holes: int) -> Term:
    """One pigeon more than there are holes, each in a hole of its own."""
    there = [[var(f"p{i}h{j}", 1) for j in range(holes)] for i in range(holes + 1)]
    homes = [any_of(row) for row in there]
    alone = [~(one[j] & two[j]) for one, two in itertools.combinations(there, 2) for j in range(holes)]
    return all_of([*homes, *alone])


def test_refutations_are_checked_and_reproducible(solver: None) -> None:
    lemma = lemma_of(pigeons(4))
    text = refutation(lemma.cnf, SETTINGS)
    check_refutation(lemma.clauses.clauses, text.splitlines())
    assert text.endswith(" 0\n")
    assert refutation(lemma.cnf, SETTINGS) == text  # the same each time


def test_satisfiable_clauses_have_no_refutation(solver: None) -> None:
    with pytest.raises(NotRefuted, match="CaDiCaL: sat"):
        refutation(lemma_of(var("x", 4).eq(3)).cnf, SETTINGS)


def test_random_formulas(solver: None) -> None:
    """Refuted, and the refutation holds; or there is a solution."""
    rng = random.Random(6)
    answers = set()
    for _ in range(8):
        clauses = [
            tuple(rng.choice((1, -1)) * v for v in rng.sample(range(1, 13), 3))
            for _ in range(rng.choice((30, 90)))
        ]
        lines = "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
        try:
            found = refutation(f"p cnf 12 {len(clauses)}\n{lines}", SETTINGS)
        except NotRefuted as why:
            answers.add(str(why))
        else:
            check_refutation(clauses, found.splitlines())
            answers.add("refuted")
    assert answers == {"CaDiCaL: sat", "refuted"}


#: A unit clause whose variable recurs, literals and clauses given twice, clauses that are always true.
ODD = [
    [(1,), (-1, 2), (1, 2), (-2, 3), (-1, -3), (3, 4)],
    [(1, 1, 2), (-1, -1), (-2,)],
    [(1,), (1,), (-1, 2), (-2, -1)],
    [(1, -1), (2,), (2, 3, -3), (-2,)],
    [(1,), (-1,), (2, 1), (3, -1)],
    [(2, 3), (-1,), (1, 2, -3), (1, -2, 3), (1, 1), (-2, -3)],
]
literals = st.integers(1, 5).flatmap(lambda v: st.sampled_from((v, -v)))
units = st.lists(literals.map(lambda literal: (literal,)), max_size=3)
clause_lists = st.tuples(units, st.lists(st.lists(literals, min_size=1, max_size=3).map(tuple), min_size=1,
                                         max_size=40)).map(lambda parts: [*parts[0], *parts[1]])  # fmt: skip


def holds(clause: Iterable[int], point: Sequence[bool]) -> bool:
    return any(point[abs(literal) - 1] == (literal > 0) for literal in clause)


def check_clauses(clauses: list[tuple[int, ...]]) -> bool:
    """Whether they are refuted, as they must be where no point satisfies them.

    That each line follows from the clauses that it names, by their numbers in the file, is looked up in the
    truth table: no unit propagation, nothing of the checker.
    """
    points = list(itertools.product((False, True), repeat=5))
    possible = any(all(holds(clause, point) for clause in clauses) for point in points)
    text = "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
    try:
        lines = refutation(f"p cnf 5 {len(clauses)}\n{text}", SETTINGS).splitlines()
    except Satisfiable:
        assert possible
        return False
    assert not possible
    known = dict(enumerate(clauses, 1))
    for place, line in enumerate(lines, len(clauses) + 1):
        number, *rest = map(int, line.split())
        end = rest.index(0)
        clause, hints = tuple(rest[:end]), rest[end + 1 : -1]
        assert number == place
        assert all(
            holds(clause, point) for point in points if all(holds(known[hint], point) for hint in hints)
        )
        known[number] = clause
    assert clause == ()
    check_refutation(clauses, strict("\n".join(lines), clauses).splitlines())
    return True


@pytest.mark.parametrize("clauses", ODD, ids=str)
def test_hints_name_clauses_by_their_places_in_the_file(clauses: list[tuple[int, ...]], solver: None) -> None:
    """Whatever CaDiCaL derives while it reads them."""
    assert check_clauses(clauses)


def test_an_outside_checker_accepts_the_derived_clauses(solver: None) -> None:
    drup = pytest.importorskip("drup", reason="the extra `oracle` is not installed")
    for clauses in ODD:
        text = "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
        lines = refutation(f"p cnf 5 {len(clauses)}\n{text}", SETTINGS).splitlines()
        words = [[int(word) for word in line.split()] for line in lines]
        proof = [line[1 : line.index(0, 1)] for line in words]
        assert drup.check_proof([list(clause) for clause in clauses], proof).outcome == drup.Outcome.VALID


@pytest.mark.slow
@given(clause_lists)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hints_of_any_clauses(solver: None, clauses: list[tuple[int, ...]]) -> None:
    check_clauses(clauses)


@pytest.mark.long
@given(clause_lists)
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hints_of_very_many_clauses(solver: None, clauses: list[tuple[int, ...]]) -> None:
    check_clauses(clauses)


def test_no_time(solver: None) -> None:
    with pytest.raises(NotRefuted, match=r"timeout after 0\.3 s"):
        refutation(lemma_of(pigeons(11)).cnf, SolvingOptions(timeout=0.3))


def test_no_room(solver: None) -> None:
    """A user's file is not to blame for a full disk: the error names what could not be written."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"
        "from tcsmt.prove.engine.options import SolvingOptions\n"
        "from tcsmt.prove.engine.refutations import *\n"
        "from tcsmt.support.errors import TcsmtError\n"
        "try: refutation('p cnf 1 1\\n' + '1 0\\n' * 9999, SolvingOptions(timeout=60))\n"
        "except TcsmtError as why: print(why)"
    )
    # -B: or the limit cuts short the compiled modules that the process writes, and every later one reads them
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"cannot write .*cnf: File too large\n", done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel is told to do it on Linux only")
def test_it_ends_with_its_parent(solver: None, tmp_path: Path) -> None:
    """Where the parent is killed, and cannot end it."""
    cnf = tmp_path / "cnf"
    cnf.write_text(lemma_of(pigeons(12)).cnf)
    code = (
        "from tcsmt.prove.engine.options import SolvingOptions\n"
        "from tcsmt.prove.engine.refutations import *\n"
        f"refutation(open({str(cnf)!r}).read(), SolvingOptions(timeout=60))"
    )
    own = {**os.environ, "TMPDIR": str(tmp_path)}  # where the parent leaves its files
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=own)
    until(lambda: children(parent.pid))
    process = Path("/proc") / str(children(parent.pid)[0])
    until(lambda: "pysolvers" in (process / "maps").read_text())
    parent.kill()
    parent.wait()
    until(lambda: not process.exists() or "State:\tZ" in (process / "status").read_text())


def child(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Another program in the solver's place: it is given CNF LRAT MEMORY SECONDS."""
    path = folder / "child.py"
    path.write_text(f"import sys\n{code}\n")
    monkeypatch.setattr(refutations, "_CHILD", path)


SAID = "open(sys.argv[2], 'w').write({text!r}); print('unsat')"


@pytest.mark.parametrize(
    "code",
    [
        "sys.exit(3)", "print('what?')", "print('sat')", "print('unsat')", "raise MemoryError",
        *(SAID.format(text=text) for text in (
            "", "\n", "garbage",
             "1 2 3", "5 1 0 1 2 0\n", "5 d 1 0\n", "x 0 1 0\n", "5 0 x 0\n", "5 0 -1 0 0\n\n",
        )),
        "open(sys.argv[2], 'wb').write(bytes([255, 254, 0])); print('unsat')",
    ],
)  # fmt: skip
def test_failing_and_lying_solvers_leave_no_refutation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """No refutation, or one that the checker refuses; no other error."""
    child(tmp_path, monkeypatch, code)
    with pytest.raises((NotRefuted, InvalidProof)):
        check_refutation([(1,)], refutation("p cnf 1 1\n1 0\n", SETTINGS).splitlines())


def test_trimmed() -> None:
    """Lines on which nothing rests are dropped, the others are numbered again."""
    lines = ["5 1 0 1 2 0", "5 d 1 0", "7 9 0 1 0", "8 2 0 5 3 0", "9 0 8 5 4 0", "10 3 0 1 0"]
    assert trimmed(lines, 4) == ["5 1 0 1 2 0", "6 2 0 5 3 0", "7 0 6 5 4 0"]
    with pytest.raises(NotRefuted, match="without the empty clause"):
        trimmed(lines[:3], 4)
    with pytest.raises(NotRefuted, match="without the empty clause"):
        trimmed([], 4)
    assert trimmed(["2 1 0 1 0", "4 0 2 3 0"], 2) == ["3 1 0 1 0", "4 0 3 2 0"]  # line 2 was derived first
    for bad in ("5 0 9 0", "5 0 0 0", "5 0 -1 0"):
        with pytest.raises(NotRefuted, match="which names no clause"):
            trimmed([bad], 4)


def test_hints_that_say_nothing_are_left_out() -> None:
    """Strict checkers refuse them: a clause that is true already, a hint twice, hints after the end."""
    clauses = [(1, 3), (1, -3), (2, -1), (-1, -2)]
    lines = ["5 1 0 1 1 2 4 0", "6 2 0 5 1 5 3 0", "7 0 6 5 3 4 1 0"]
    with pytest.raises(InvalidProof, match="clause 1 is true already"):
        check_refutation(clauses, lines)
    left = strict("\n".join(lines), clauses)
    assert left == "5 1 0 1 2 0\n6 2 0 5 3 0\n7 0 6 5 4 0\n"
    check_refutation(clauses, left.splitlines())
    for bad in ("5 x 0 1 0", "5 1", "\n"):
        with pytest.raises(NotRefuted, match="not a refutation"):
            strict(bad, clauses)


def test_refutations_with_satisfied_hints_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is no refutation even so leaves no lemma."""
    x = var("x", 1)
    formula = any_of([x, x ^ var("y", 1)]) & ~x & ~var("y", 1)
    lemma = lemma_of(formula)
    clauses = lemma.clauses.clauses
    lrat = refutation(lemma.cnf, SETTINGS) if refutations.available() else ""
    if not lrat:
        pytest.skip("the extra `certificates` is not installed")
    first, rest = lrat.split(" 0 ", 1)
    doubled = f"{first} 0 {rest.split()[0]} {rest}"
    with pytest.raises(InvalidProof, match="is true already"):
        check_refutation(clauses, doubled.splitlines())
    monkeypatch.setattr(certify, "refutation", lambda cnf, settings: doubled)
    name = Certificates(tmp_path / "one").lemma(formula)
    assert LemmaFiles(tmp_path / "one").check(formula) == name
    for bad in ("garbage", "9 x 0 1 0\n", f"{len(clauses) + 1} 0 1 0\n"):
        monkeypatch.setattr(certify, "refutation", lambda cnf, settings, bad=bad: bad)
        with pytest.raises((InvalidProof, NotRefuted)):
            Certificates(tmp_path / "two").lemma(formula)
    assert not (tmp_path / "two" / "lemmas").exists()


def test_without_the_solver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pysolvers", None)
    monkeypatch.setattr(refutations, "find_spec", lambda name: None)
    assert certificates_of(SolvingOptions()) is None
    with pytest.raises(TcsmtError, match=re.escape(extras.install("certificates"))):
        certificates_of(SolvingOptions(certificate=tmp_path))
