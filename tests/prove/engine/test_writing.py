"""Terms, proofs and statements that are written are read again as what they were."""

from __future__ import annotations

import json
from random import Random

import pytest

from tcsmt.language.terms import Term, operands_first, var
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, InvalidProof
from tcsmt.prove.certificates.encoding import TermReader, read_proof
from tcsmt.prove.certificates.statement import read_statement
from tcsmt.prove.engine.writing import TermWriter, named, written_proof, written_statement
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tests.oracles.wordmath import described
from tests.support.certificates import carry_bits, chained, not_about_outputs, zero_exponents
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
