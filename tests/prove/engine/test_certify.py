"""Writing certificates: nothing is left that looks whole and is not."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tcsmt.language.terms import FALSE, Term, operands_first, var
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, InvalidProof
from tcsmt.prove.certificates.encoding import TermReader, read_proof
from tcsmt.prove.certificates.statement import read_statement
from tcsmt.prove.engine import certify
from tcsmt.prove.engine.certify import Certificates, TermWriter, named, written_proof, written_statement
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, refutation
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import TcsmtError
from tests.oracles.wordmath import described
from tests.support.certificates import (
    carry_bits,
    certified,
    chained,
    flaws,
    not_about_outputs,
    zero_exponents,
)
from tests.support.computations import constructed

X, Y = var("x", 8), var("y", 8)


def random_terms(seed: int) -> list[Term]:
    made: list[Term] = []
    for node in described(Random(seed), 100, 25):
        made.append(constructed(node, [made[place] for place in node.args]))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_terms_come_back(seed: int) -> None:
    """The same nodes, also where the table is taken in parts; each node stands there once."""
    made = random_terms(seed)
    writer, reader = TermWriter({}), TermReader()
    half = len(made) // 2
    for part in (made[:half], made[half:], made):
        places = writer.places(part)
        reader.read(json.loads(json.dumps(writer.taken())))
        assert reader.all(places) == part
    nodes = operands_first(made)
    assert sorted(writer.places(nodes)) == list(range(len(nodes)))
    assert writer.taken() == []


def test_terms_that_the_reader_has_are_named() -> None:
    goal = (X * Y).ult(X ^ Y)
    writer, reader = TermWriter(named([goal])), TermReader(roots=[goal])
    new = (X * Y) + 3
    place = writer.place(new)
    entries = writer.taken()
    assert [entry[0] for entry in entries] == ["node", "const", "add"]  # its factors are not written
    reader.read(entries)
    assert reader[place] is new
    with pytest.raises(InvalidProof, match="the goal has no node"):
        TermReader(roots=[X]).read(entries)
    assert not any(node in named([goal]) for node in (X, Y))  # variables are written out


def test_proofs_come_back() -> None:
    one, two, three = X.ult(Y), (X ^ Y).eq(0), (X + Y).ult(5)
    close = Close((one, two), (X * Y,))
    proof = (
        Fact(one, (close,)), Equal(X * Y, Y - X, (Close((), ()),)),
        Cases(((two, (Fact(three, ()), close)), (three, ())), (close,)),
    )  # fmt: skip
    writer, reader = TermWriter({}), TermReader()
    data = json.loads(json.dumps(written_proof(proof, writer)))
    reader.read(writer.taken())
    assert read_proof(data, reader) == proof
    assert [next(iter(step)) for step in data] == ["fact", "replace", "cases"]


def with_formats() -> Question:
    """Words of formats that have no known name."""
    q3, q6 = (IntegerFormat(name=f"q{n}", bits=2 * n, fraction_bits=n) for n in (3, 6))
    wrap = IntegerDotAdd(a_format=q3, b_format=q3, c_format=q6, d_format=q6, k=2)
    other = IntegerDotAdd(a_format=q3, b_format=q3, c_format=q6, d_format=q6, k=2, overflow="saturate")
    return difference("own formats", ("wrap", wrap), ("saturate", other), Domain(exponents=(-3, 0)))


@pytest.mark.parametrize("make", [carry_bits, zero_exponents, not_about_outputs, chained, with_formats])
def test_statements_read_back(make: object) -> None:
    """The checker's reading of it has the goal of the question, node for node."""
    question: Question = make()  # type: ignore[operator]
    models = {side.model for side in question.sides} | {
        c.model for s in question.sides for c in s.trace.calls
    }
    names = {model: f"m{number}" for number, model in enumerate(models)}
    record = json.loads(json.dumps(written_statement(question, names.__getitem__)))
    found = read_statement(record, {name: model for model, name in names.items()}.__getitem__)
    assert found.goal is question.goal
    assert record["title"] == question.title
    assert ("goal" in record) == (make is not_about_outputs)
    assert "formats" not in record  # they are those of the models


def test_another_model_is_another_statement() -> None:
    """What a call names decides the goal that is read."""
    question = carry_bits()
    models = [side.model for side in question.sides]
    record = written_statement(question, lambda model: f"m{models.index(model)}")
    assert [call["model"] for call in record["calls"]] == ["m0", "m1"]
    other = {"m0": models[0], "m1": models[0]}
    assert read_statement(record, other.__getitem__).goal is not question.goal


def test_results_that_are_used_again_are_named() -> None:
    """The second instruction's c is the first one's output, which is not written out again."""
    question = chained()
    models = [call.model for side in question.sides for call in side.trace.calls]
    record = written_statement(question, lambda model: f"m{models.index(model)}")
    (first, second, *_) = record["calls"]
    assert not any(entry[0] == "output" for entry in first["terms"])
    assert [entry for entry in second["terms"] if entry[0] == "output"] == [["output", 0]]


pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_question_leaves_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        certified(tmp_path / name, carry_bits())
    assert files(tmp_path / "one") == files(tmp_path / "two")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "one" / "lemmas").iterdir()}
    certified(tmp_path / "one", carry_bits())
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "one" / "lemmas").iterdir()}


def test_lemmas_are_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two statements with the same lemmas: each is refuted once."""
    asked: list[str] = []

    def noted(cnf: str, *given: Any) -> Any:
        asked.append(cnf)
        return refutation(cnf, *given)

    monkeypatch.setattr(certify, "refutation", noted)
    questions = carry_bits(), replace(carry_bits(), title="another title")
    found = [certified(tmp_path / "c", question) for question in questions]
    assert len({one.certified.path for one in found if one.certified}) == 2
    again = certified(tmp_path / "c", questions[1])
    assert again.certified == found[1].certified
    assert len(asked) == len(set(asked)) == len(list((tmp_path / "c" / "lemmas").glob("*.cnf.xz")))
    assert flaws(tmp_path / "c") == ["", ""]


def failing(real: Callable[..., Any], number: int, error: BaseException) -> Callable[..., Any]:
    """The same function, which fails when it is called for that time."""
    calls = iter(range(1000))

    def called(*args: Any, **options: Any) -> Any:
        if next(calls) == number:
            raise error
        return real(*args, **options)

    return called


@pytest.mark.parametrize(
    ("function", "error"),
    [
        pytest.param(function, error, marks=pytest.mark.long if (place + turn) % 2 else ())
        for place, function in enumerate(("store_bytes", "replace_bytes", "make_folder", "refutation"))
        for turn, error in enumerate(
            (KeyboardInterrupt(), TcsmtError("cannot write: No space left on device"))
        )
    ],
)
@pytest.mark.slow_cases("store_bytes-error0")
def test_stopped_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, error: BaseException
) -> None:
    """There is no statement, or it is proved; and what was left is gone on with."""
    real = getattr(certify, function)
    for number in range(20):
        folder = tmp_path / str(number)
        monkeypatch.setattr(certify, function, failing(real, number, error))
        try:
            certified(folder, carry_bits())
        except (KeyboardInterrupt, TcsmtError):
            stopped = True
        else:
            stopped = False
        assert not list(folder.glob("statements/*.json")) or not any(flaws(folder))
        monkeypatch.setattr(certify, function, real)
        if not stopped:
            break
        if number == 2:
            certified(folder, carry_bits())
            assert flaws(folder) == [""]
    assert 0 < number < 19


def test_a_full_disk_leaves_no_file_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is half written: no temporary file is left, and no statement."""

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tcsmt.support.files.os.replace", full)
    with pytest.raises(TcsmtError, match="No space left"):
        certified(tmp_path / "c", carry_bits())
    assert files(tmp_path / "c") == {}


@pytest.mark.parametrize("text", ["", "garbage\n", "999999 0 1 0\n", "1 0 0\n"])
def test_lies_of_solvers_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What it says is checked before it is written."""
    monkeypatch.setattr(certify, "refutation", lambda cnf, given: text)
    found = certified(tmp_path / "c", carry_bits()).certified
    assert found is not None
    assert found.path is None
    assert str(found).startswith("no certificate: ")
    assert not list((tmp_path / "c").rglob("*.json")) + list((tmp_path / "c").rglob("*.xz"))


def test_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(cnf: str, given: SolvingOptions) -> str:
        raise NotRefuted("CaDiCaL: timeout after 60 s")

    monkeypatch.setattr(certify, "refutation", refuse)
    found = certified(tmp_path / "c", carry_bits()).certified
    assert str(found) == "no certificate: CaDiCaL: timeout after 60 s"
    assert found is not None
    assert found.as_json() == {"certified": False, "reason": "CaDiCaL: timeout after 60 s"}


def test_steps_that_do_not_follow(tmp_path: Path) -> None:
    """A proof with a gap is not written, whoever made it."""
    certificates = Certificates(tmp_path / "c")
    for proof in ((), (Close((FALSE,)),), (Close(), Close())):
        found = certificates.add(zero_exponents(), proof)
        assert found.path is None
        assert "do not fit together" in found.why
    assert [one.path for one in certificates.done] == [None] * 3
    assert not list((tmp_path / "c").rglob("*.json"))


def test_folders_that_cannot_be_made_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TcsmtError, match="cannot make the folder"):
        certified(tmp_path / "file" / "c", carry_bits())


def test_statements_that_do_not_read_back_leave_the_proof_without_a_certificate(tmp_path: Path) -> None:
    """Here a title that is no line of text: the proof counts, and has no certificate."""
    found = certified(tmp_path / "c", replace(carry_bits(), title="two\nlines"))
    assert isinstance(found.verdict, Equivalent)
    assert found.certified is not None
    assert found.certified.path is None
    assert "not a line of text" in found.certified.why
    assert not (tmp_path / "c" / "statements").exists()
