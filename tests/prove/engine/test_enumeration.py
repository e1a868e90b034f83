"""All inputs of small circuits: what is said holds for the table that another reading of BTOR2 gives."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tcsmt.language.run import jit
from tcsmt.language.run.exact import evaluate
from tcsmt.language.run.sums import LlvmSums
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.engine import enumeration
from tcsmt.prove.engine.enumeration import LAYOUT, Enumeration
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.errors import InternalError, TcsmtError
from tests.oracles import btor2
from tests.support.sampling import mostly_long

pytestmark = pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
WIDTH = 4
WORD = IntegerFormat(name=f"u{WIDTH}", bits=WIDTH, signed=False)
HEAD = f"1 sort bitvec {WIDTH}\n2 input 1 a\n3 input 1 b\n4 input 1 c\n9 sort bitvec 1\n"
MAC = f"{HEAD}5 mul 1 2 3\n6 add 1 5 4\n7 output 6 d\n"
#: a + b and a ^ b + 2 (a & b), which differ in their graphs alone; then c.
ADDED = f"{HEAD}5 add 1 2 3\n6 xor 1 5 4\n7 output 6 d\n"
CARRIED = f"{HEAD}5 xor 1 2 3\n10 and 1 2 3\n11 add 1 10 10\n12 add 1 5 11\n13 xor 1 12 4\n7 output 13 d\n"
#: (a + c)(b + c), and the same multiplied out: no two words of a or of b are alike.
FACTORS = f"{HEAD}5 add 1 2 4\n6 add 1 3 4\n10 mul 1 5 6\n7 output 10 d\n"
EXPANDED = (
    f"{HEAD}5 mul 1 2 3\n6 add 1 2 3\n10 mul 1 6 4\n11 mul 1 4 4\n12 add 1 5 10\n13 add 1 12 11\n"
    "7 output 13 d\n"
)
#: MAC, by subtracting -c.
SUBTRACTED = f"{HEAD}5 mul 1 2 3\n8 neg 1 4\n6 sub 1 5 8\n7 output 6 d\n"


def needle(a: int, b: int, c: int) -> str:
    """MAC, but for one input."""
    places = "".join(f"{10 + 2 * i} constd 1 {word}\n" for i, word in enumerate((a, b, c)))
    same = "".join(f"{11 + 2 * i} eq 9 {2 + i} {10 + 2 * i}\n" for i in range(3))
    return (
        f"{HEAD}5 mul 1 2 3\n6 add 1 5 4\n{places}{same}17 and 9 11 13\n18 and 9 17 15\n19 inc 1 6\n"
        "20 ite 1 18 19 6\n7 output 20 d\n"
    )


def asked(one: str, two: str, domain: Domain | None = None) -> Question:
    models = [
        Circuit(a_format=WORD, b_format=WORD, c_format=WORD, d_format=WORD, k=1, btor2=text)
        for text in (one, two)
    ]
    return difference("", ("one", models[0]), ("two", models[1]), domain)


@pytest.fixture(params=["together", "sorted"])
def sorting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points in one piece, by one code; or in small portions, with code for each sort."""
    if request.param == "sorted":
        monkeypatch.setattr(enumeration, "_FREQUENT", 0)
        monkeypatch.setattr(enumeration, "_PORTION", 40)


@pytest.mark.usefixtures("sorting")
@pytest.mark.parametrize("at", mostly_long([(0, 0, 0), (15, 15, 15), (3, 9, 14), (8, 1, 7)], [(3, 9, 14)]))
def test_one_input(at: tuple[int, int, int]) -> None:
    """The only input on which two circuits differ is found; without it there is none."""
    texts = MAC, needle(*at)
    tables = [
        [btor2.evaluate(text, {"a": a, "b": b, "c": c})["d"] for a, b, c in product(range(16), repeat=3)]
        for text in texts
    ]
    assert sum(one != two for one, two in zip(*tables, strict=True)) == 1
    found = Enumeration(asked(*texts)).run()
    assert found.answer == "sat"
    assert found.values == dict(zip(("a0", "b0", "c"), at, strict=True))
    assert Enumeration(asked(MAC, SUBTRACTED)).run().answer == "unsat"


@pytest.mark.usefixtures("sorting")
def test_equal_circuits() -> None:
    for pair, confirm in product([(ADDED, CARRIED), (FACTORS, EXPANDED)], (False, True)):
        found = Enumeration(asked(*pair), confirm=confirm).run()
        assert (found.answer, found.solver, bool(found.confirmed)) == ("unsat", "LLVM", confirm)
        assert found.script


@pytest.mark.usefixtures("sorting")
def test_inputs_outside_the_domain_are_not_found() -> None:
    """An input outside of the domain is not found; exponents of integers are those of their leading bits."""
    texts = MAC, needle(9, 3, 5)
    within = asked(*texts, Domain(exponents=(0, 3)))
    assert Enumeration(within).run().answer == "sat"
    assert Enumeration(asked(*texts, Domain(exponents=(0, 2)))).run().answer == "unsat"
    assert Enumeration(asked(*texts, Domain(c_zero=True))).run().answer == "unsat"


@pytest.mark.usefixtures("sorting")
def test_conditions_on_several_inputs_are_respected() -> None:
    a, b = var("a0", WIDTH), var("b0", WIDTH)
    for condition, answer in ((a.ult(b), "unsat"), (b.ult(a), "sat")):
        question = asked(MAC, needle(9, 3, 5)).assuming(condition)
        assert Enumeration(question).run().answer == answer


def test_classes() -> None:
    """Of words that the graph does not tell apart, one is run."""
    odd = f"{HEAD}5 slice 9 2 0 0\n6 uext 1 5 {WIDTH - 1}\n10 add 1 6 4\n7 output 10 d\n"
    other = f"{HEAD}5 slice 9 2 0 0\n6 uext 1 5 {WIDTH - 1}\n10 xor 1 6 4\n7 output 10 d\n"
    found = Enumeration(asked(odd, other))
    assert [group.size for group in found.groups] == [2]
    assert found.rows == 2 * 16
    values = found.run().values
    question = asked(odd, other)
    assert evaluate([question.goal], {"a0": 0, "b0": 0, "c": 0} | values) == [1]


def test_back_ends_that_disagree_are_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that is wrong is no proof."""
    monkeypatch.setattr(enumeration, "LlvmSums", Wrong)
    with pytest.raises(InternalError, match="do not give the same sums"):
        Enumeration(asked(FACTORS, EXPANDED)).run()


class Wrong(LlvmSums):
    """Gives the sums of other points."""

    def __call__(self, points: np.ndarray) -> np.ndarray:
        found: np.ndarray = super().__call__(points ^ 1)
        return found


def test_interrupted_runs_go_on_from_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "_PORTION", 7)
    looked: list[int] = []
    look = Enumeration._look

    def watched(self: Enumeration, kernels: enumeration._Kernels, at: int) -> dict[str, int] | None:
        looked.append(at)
        return look(self, kernels, at)

    def stop(done: int, count: int, what: str) -> None:
        if done > 50:
            raise KeyboardInterrupt

    monkeypatch.setattr(Enumeration, "_look", watched)
    question, file = asked(FACTORS, EXPANDED), tmp_path / "run.json"
    with Checkpoint(file, LAYOUT) as kept, pytest.raises(KeyboardInterrupt):
        Enumeration(question).run(kept, seen=stop)
    before = len(looked)
    with Checkpoint(file, LAYOUT) as kept:
        assert Enumeration(question).run(kept).answer == "unsat"
    points = Enumeration(question).points
    assert looked == list(range(0, points, 7))
    assert 0 < before < len(looked)
    with Checkpoint(file, LAYOUT) as kept:  # another question's run counts nothing
        assert Enumeration(asked(MAC, needle(1, 2, 3))).run(kept).answer == "sat"


def test_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "_PORTION", 9)
    monkeypatch.setattr(enumeration, "_FREQUENT", 100)
    assert Enumeration(asked(ADDED, CARRIED)).run(jobs=3).answer == "unsat"
    assert Enumeration(asked(MAC, needle(15, 14, 13))).run(jobs=3).values == {"a0": 15, "b0": 14, "c": 13}


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "MOST", 4095)
    with pytest.raises(TcsmtError, match=r"4.1e\+03 rows .*256 of a0 b0 x 16 of c.*at most 4.1e\+03 are run"):
        Enumeration(asked(FACTORS, EXPANDED))
    monkeypatch.setattr(enumeration, "_WIDEST", 3)
    with pytest.raises(TcsmtError, match="has 4 bits: inputs of up to 3 bits are run"):
        Enumeration(asked(FACTORS, EXPANDED))
