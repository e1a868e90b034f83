"""Lemmas: their names, their files, and an outside checker of the same clauses and refutations."""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

from tcsmt.language.terms import Term, const, var
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import LemmaFiles, Missing, lemma_of
from tcsmt.prove.certificates.parts import SUFFIXES, path_of
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import refutation
from tcsmt.support.errors import TcsmtError
from tests.support.scripts import ask_bitwuzla


def unsatisfiable(first: str = "x", second: str = "y") -> Term:
    """x times y is not y times x, written otherwise."""
    x, y = var(first, 4), var(second, 4)
    return (x + 1).ult(y) & y.ult(x) & x.ult(9)


def written(folder: Path, formula: Term) -> str:
    """The lemma's files, and its name."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    lemma = lemma_of(formula)
    (folder / "lemmas").mkdir()
    lrat = refutation(lemma.cnf, SolvingOptions())
    for suffix, text in (("smt2", lemma.smt2), ("cnf", lemma.cnf), ("lrat", lrat)):
        path_of(folder, lemma.name, suffix).write_bytes(lzma.compress(text.encode()))
    return lemma.name


def test_lemmas_are_known_by_their_clauses(tmp_path: Path) -> None:
    """Other names of the variables: the same lemma. Another formula: another one."""
    name = written(tmp_path, unsatisfiable())
    assert LemmaFiles(tmp_path).check(unsatisfiable()) == name
    assert lemma_of(unsatisfiable("p", "q")).name == name
    with pytest.raises(Missing, match="missing"):
        LemmaFiles(tmp_path).check(unsatisfiable() & var("z", 1))
    path_of(tmp_path, name, "cnf").unlink()
    with pytest.raises(
        TcsmtError, match=r"cannot read .*cnf"
    ):  # there is a refutation, of what nobody can read
        LemmaFiles(tmp_path).check(unsatisfiable())


def test_variables_of_one_name_are_kept_apart() -> None:
    """Of two widths: two words, though nothing that is read has such."""
    lemma = lemma_of(var("x", 4).zext(8).ne(var("x", 8)))
    assert {name: len(word) for name, word in lemma.clauses.words.items()} in (
        {"x0": 4, "x1": 8}, {"x0": 8, "x1": 4},
    )  # fmt: skip


def test_satisfiable_formulas_have_no_lemma(tmp_path: Path) -> None:
    """The files of a lemma under the name of a formula that has a solution."""
    good = written(tmp_path, unsatisfiable())
    x = var("x", 4)
    bad = lemma_of(x.eq(3))
    for suffix in SUFFIXES:
        path_of(tmp_path, bad.name, suffix).write_bytes(path_of(tmp_path, good, suffix).read_bytes())
    with pytest.raises(InvalidProof, match=r"not the formula|more than"):
        LemmaFiles(tmp_path).check(x.eq(3))
    path_of(tmp_path, bad.name, "smt2").write_bytes(lzma.compress(bad.smt2.encode()))
    with pytest.raises(InvalidProof, match=r"not the formula|more than"):
        LemmaFiles(tmp_path).check(x.eq(3))
    path_of(tmp_path, bad.name, "cnf").write_bytes(lzma.compress(bad.cnf.encode()))
    with pytest.raises(InvalidProof, match="lrat"):
        LemmaFiles(tmp_path).check(x.eq(3))


def test_lemmas_are_written_for_other_solvers_too() -> None:
    lemma = lemma_of(unsatisfiable() & var("z", 8).ne(const(7, 8)))
    assert "(set-info :status unsat)" in lemma.smt2
    assert ask_bitwuzla(lemma.smt2) == "unsat"
    assert lemma.cnf.startswith("c x0: ")


# --- an outside checker ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drup() -> ModuleType:
    """A checker of refutations that is extracted from a verified development."""
    module: ModuleType = pytest.importorskip("drup", reason="the extra `oracle` is not installed")
    return module


def clauses_of(cnf: str) -> list[list[int]]:
    lines = [line for line in cnf.splitlines() if line[0] not in "cp"]
    return [[int(word) for word in line.split()[:-1]] for line in lines]


def derived(lrat: str) -> list[list[int]]:
    """The clauses of a refutation, without numbers and hints."""
    lines = [[int(word) for word in line.split()] for line in lrat.splitlines()]
    return [line[1 : line.index(0, 1)] for line in lines]


def outside(drup: ModuleType, clauses: Iterable[list[int]], proof: list[list[int]]) -> bool:
    return bool(drup.check_proof(list(clauses), proof).outcome == drup.Outcome.VALID)


@pytest.mark.long
def test_an_outside_checker_agrees(certificates: Path, drup: ModuleType) -> None:
    """Our clauses and refutations are valid for it; without the goal they are not. It takes minutes."""
    checked = 0
    paths = sorted((certificates / "lemmas").glob("*.cnf.xz"), key=lambda path: path.stat().st_size)
    for path in paths[:2]:
        clauses = clauses_of(lzma.decompress(path.read_bytes()).decode())
        lrat = path.with_name(path.name.replace(".cnf.", ".lrat."))
        proof = derived(lzma.decompress(lrat.read_bytes()).decode())
        assert outside(drup, clauses, proof)
        assert not outside(drup, clauses[:-1], proof)  # not the goal itself
        checked += 1
    assert checked == 2


def test_an_outside_checker_refuses_changed_lemmas(drup: ModuleType, tmp_path: Path) -> None:
    name = written(tmp_path, unsatisfiable())
    texts = {s: lzma.decompress(path_of(tmp_path, name, s).read_bytes()).decode() for s in ("cnf", "lrat")}
    clauses, proof = clauses_of(texts["cnf"]), derived(texts["lrat"])
    assert outside(drup, clauses, proof)
    assert not outside(drup, clauses, [[clauses[-1][0] * -1], []])
    assert not outside(drup, clauses[1:-1], proof)
