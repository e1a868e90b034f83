"""Statements as JSON: what is read has the goal that was written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tcsmt.language.terms import var
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.certificates.statement import Statement, read_statement
from tcsmt.prove.engine.certify import written_statement
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.prove.statements.shared_inputs import shared
from tcsmt.support.errors import Malformed
from tests.support.certificates import carry_bits, chained, not_about_outputs, two_products, zero_exponents

DOMAINS = [
    Domain(), Domain(finite=False), Domain(positive=True), Domain(subnormals=False), Domain(c_zero=True),
    Domain(exponents=(-3, 5)), Domain(exponents=(-3, 5), c_free=True), Domain(bits=(4, 5)),
    Domain(finite=False, exponents=(0, 0), c_free=True, bits=(2, 2), positive=True),
]  # fmt: skip


def written(question: Question) -> tuple[dict[str, Any], dict[str, Model]]:
    models: dict[str, Model] = {}

    def name_of(model: Model) -> str:
        for name, known in models.items():
            if known == model:
                return name
        models[f"{len(models)}.toml"] = model
        return f"{len(models) - 1}.toml"

    return json.loads(json.dumps(written_statement(question, name_of))), models


def again(question: Question) -> Statement:
    record, models = written(question)
    return read_statement(record, models.__getitem__)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_domains(domain: Domain) -> None:
    one, two = (("", two_products(carry_bits=bits)) for bits in (2, 3))
    question = difference("title", one, two, domain)
    statement = again(question)
    assert statement.goal is question.goal
    assert statement.domain == domain
    assert statement.title == "title"


@pytest.mark.parametrize(
    "question", [carry_bits(), zero_exponents(), not_about_outputs()], ids=lambda q: q.title
)
def test_questions(question: Question) -> None:
    statement = again(question)
    assert statement.goal is question.goal
    assert (statement.domain is None) is (not question.about_outputs)
    assert dict(statement.formats) == dict(question.formats)


def test_further_terms() -> None:
    one, two = (("", two_products(carry_bits=bits)) for bits in (2, 3))
    also = (var("a0", 8).eq(var("b1", 8)), var("c", 16).ne(5))
    statement = again(difference("title", one, two, Domain(), also=also))
    assert statement.also == also
    assert statement.goal is difference("title", one, two, Domain(), also=also).goal


def test_chains() -> None:
    """An output is the c of a later call, by its number."""
    record, _ = written(chained())
    assert record["differ"] == [1, 3]
    assert [entry for call in record["calls"] for entry in call["terms"] if entry[0] == "output"] == [
        ["output", 0], ["output", 2]
    ]  # fmt: skip
    assert again(chained()).goal is chained().goal


def test_block_scales() -> None:
    model = next(row.model for row in rows() if row.model.scales and isinstance(row.model, FusedDotAdd))
    assert isinstance(model, FusedDotAdd)
    other = model.replace(fraction_bits=model.parameters.fraction_bits + 1)
    question = difference("scaled", ("", model), ("", other), Domain(c_zero=True))
    assert again(question).goal is question.goal
    record, models = written(question)
    record["inputs"].pop("sb0")
    with pytest.raises(Malformed, match="inputs"):
        read_statement(record, models.__getitem__)


def test_converted_inputs() -> None:
    """FP8 operands given to a unit that takes FP16: the statement has the narrow formats."""
    narrow = two_products().replace(a_format="e4m3", b_format="e4m3")
    sides = shared(("FP8", narrow), ("FP16", two_products()), None)
    statement = again(
        compare_models(("FP8", narrow), ("FP16", two_products()), Domain(finite=False), Solving()).question
    )
    assert statement.formats["a0"].name == "e4m3"
    assert dict(statement.formats) == dict(sides.input_formats)


def test_other_inputs_than_those_stated() -> None:
    record, models = written(not_about_outputs())
    record["terms"].append(["var", 1, "z", []])
    record["goal"] = len(record["calls"][0]["terms"]) + len(record["terms"]) - 1
    with pytest.raises(Malformed, match="z is not an input"):
        read_statement(record, models.__getitem__)
    record["terms"][-1] = ["var", 1, "c", []]  # of another width
    with pytest.raises(Malformed, match="c is not an input"):
        read_statement(record, models.__getitem__)


def test_outputs_before_their_call_are_refused() -> None:
    record, models = written(carry_bits())
    record["calls"][0]["terms"].append(["output", 1])
    with pytest.raises(Malformed, match="not a term"):
        read_statement(record, models.__getitem__)
    record["calls"][0]["terms"][-1] = ["output", 0]
    with pytest.raises(Malformed, match="not a term"):
        read_statement(record, models.__getitem__)


def test_operands_of_another_width() -> None:
    record, models = written(carry_bits())
    record["calls"][0]["terms"].append(["var", 17, "c", []])
    record["calls"][0]["a"] = [len(record["calls"][0]["terms"]) - 1] * 2
    with pytest.raises(Malformed):
        read_statement(record, models.__getitem__)


@pytest.mark.parametrize("entry", [["zext", 16, None], ["sext", 9, None]])
def test_operands_that_a_model_would_take(entry: list[Any]) -> None:
    """A wider word, made of the statement's own inputs: decoding it reads some of its bits."""
    record, models = written(carry_bits())
    call = record["calls"][0]
    call["terms"].append([*entry, [call["a"][0]]])
    call["a"] = [len(call["terms"]) - 1, *call["a"][1:]]
    with pytest.raises(Malformed, match=f"a0 of a call has {entry[1]} bits: "):
        read_statement(record, models.__getitem__)


@pytest.mark.parametrize("order", [["c", "a0", "b0", "b1", "a1"], ["a1", "a0", "b0", "b1", "c"]])
def test_inputs_are_in_their_order(order: list[str]) -> None:
    """Which of them is c, which the domain may restrict, goes by their order."""
    question = carry_bits()
    record, models = written(question)
    formats = record["inputs"]
    record["inputs"] = {name: formats[name] for name in order}
    with pytest.raises(Malformed, match="the inputs are"):
        read_statement(record, models.__getitem__)
