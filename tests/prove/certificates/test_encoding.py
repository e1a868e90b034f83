"""Terms and proofs as JSON: what is written is read again, and anything else is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tcsmt.language.macros import leading_zeros
from tcsmt.language.terms import FALSE, TRUE, Term, const, operands_first, var
from tcsmt.prove.certificates import encoding
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, InvalidProof, Proof, check
from tcsmt.prove.certificates.encoding import TermReader, read_proof
from tcsmt.prove.engine.certify import TermWriter, named, written_proof
from tcsmt.support.errors import Malformed, TooLarge
from tests.oracles import wordmath
from tests.oracles.assignments import satisfiable
from tests.support.computations import constructed

A, B = var("a", 8), var("b", 8)


def read(entries: list[Any], *, outputs: tuple[Term, ...] = (), roots: tuple[Term, ...] = ()) -> TermReader:
    reader = TermReader(outputs, roots)
    reader.read(json.loads(json.dumps(entries)))
    return reader


def test_tables_of_many_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants of constants are made when they are read: short entries, long words."""
    table = [["const", 4000, "f", []], *(["add", 4000, None, [n, n]] for n in range(4))]
    monkeypatch.setattr(encoding, "_MOST_BITS", 20_000)
    read(table)
    with pytest.raises(TooLarge, match="more than 20000 bits"):
        read([*table, ["var", 1, "x", []]])


def test_random_terms_come_back() -> None:
    """The same nodes, and those that are known by their names."""
    for seed in range(60):
        nodes = wordmath.described(random.Random(seed), 70, 8)
        terms: list[Term] = []
        for node in nodes:
            terms.append(constructed(node, [terms[place] for place in node.args]))
        for roots in ((), (terms[-1],)):
            writer = TermWriter(named(roots))
            places = writer.places(terms)
            reader = read(writer.taken(), roots=roots)
            assert all(one is two for one, two in zip(reader.all(places), terms, strict=True)), seed
        assert len(TermWriter({}).places([terms[-1]])) == 1


def test_tables_grow_by_what_is_new_and_read_back() -> None:
    writer, reader = TermWriter({}), TermReader()
    for term in (A, A + B, (A + B) ^ A, A + B):
        place = writer.place(term)
        reader.read(writer.taken())
        assert reader[place] is term
    assert writer.taken() == []


def test_outputs_and_nodes() -> None:
    total = A + B
    assert read([["output", 1]], outputs=(A, total))[0] is total
    writer = TermWriter(named([total.eq(3)]))
    place = writer.place(total)
    entries = writer.taken()
    assert entries[place][0] == "node"
    assert read(entries, roots=(total.eq(3),))[place] is total
    with pytest.raises(InvalidProof, match="the goal has no node"):
        read(entries, roots=(A,))
    with pytest.raises(Malformed, match="not a term"):
        read(entries)
    with pytest.raises(Malformed, match="not a term"):
        read([["node", "total"]], roots=(A,))


WORDS: list[Any] = [
    ["var", 8, "a", []], ["var", 8, "b", []], ["var", 1, "s", []], ["const", 8, "ff", []],
    ["var", 12, "w", []],
]  # fmt: skip
NO_TERMS: dict[str, Any] = {
    "a number": 5,
    "a text": "var",
    "nothing": [],
    "an object": {"op": "var"},
    "an unknown operation": ["udiv", 8, None, [0, 1]],
    "an output that there is not": ["output", 0],
    "an output from behind": ["output", -1],
    "a node that there is not": ["node", "0123456789abcdef"],
    "a node without a name": ["node"],
    "a constant of no width": ["const", 0, "0", []],
    "a constant of a negative width": ["const", -8, "0", []],
    "a constant of a fractional width": ["const", 8.0, "0", []],
    "a constant that fills the memory": ["const", 1 << 40, "0", []],
    "a constant that is no number": ["const", 8, "zz", []],
    "a negative constant": ["const", 8, "-1", []],
    "a constant with underscores": ["const", 8, "f_f", []],
    "an empty constant": ["const", 8, "", []],
    "a constant that is not text": ["const", 8, 5, []],
    "a constant with arguments": ["const", 8, "ff", [0]],
    "a constant with arguments of a truth value": ["const", 1, "x", [0]],
    "a variable with arguments": ["var", 8, "a", [0]],
    "a constant with arguments and no value": ["const", 8, None, [0]],
    "a variable with arguments and no name": ["var", 8, None, [0]],
    "a variable without a name": ["var", 8, None, []],
    "a variable of a huge width": ["var", 1 << 60, "x", []],
    "arguments that there are not": ["add", 8, None, [0, 9]],
    "itself": ["add", 8, None, [0, 5]],
    "arguments from behind": ["add", 8, None, [0, -2]],
    "arguments that are truth values": ["add", 8, None, [False, True]],
    "arguments that are text": ["add", 8, None, ["0", "1"]],
    "no arguments": ["add", 8, None, []],
    "arguments of other widths": ["add", 8, None, [0, 2]],
    "a sum of another width": ["add", 9, None, [0, 1]],
    "an and of other widths": ["and", 1, None, [2, 0]],
    "an or of other widths": ["or", 1, None, [0, 2]],
    "a maximum of other widths": ["umax", 8, None, [0, 4]],
    "a product of other widths": ["mul", 8, None, [0, 4]],
    "a shift of another width": ["shl", 8, None, [0, 4]],
    "a complement of another width": ["not", 1, None, [0]],
    "a comparison of other widths": ["ult", 1, None, [0, 4]],
    "a comparison that is a word": ["eq", 8, None, [0, 1]],
    "one argument of two": ["xor", 8, None, [0]],
    "three arguments of two": ["sub", 8, None, [0, 1, 3]],
    "two arguments of one": ["not", 8, None, [0, 1]],
    "a choice by a word": ["ite", 8, None, [0, 0, 1]],
    "a choice of other widths": ["ite", 8, None, [2, 0, 4]],
    "a concatenation of another width": ["concat", 15, None, [0, 1]],
    "bits that there are not": ["extract", 8, [8, 1], [0]],
    "bits below 0": ["extract", 8, [6, -1], [0]],
    "bits the wrong way": ["extract", 2, [1, 2], [0]],
    "bits of another width": ["extract", 3, [1, 0], [0]],
    "bits of fractions": ["extract", 2, [1.5, 0.5], [0]],
    "bits of infinity": ["extract", 2, [float("inf"), 0], [0]],
    "one bound": ["extract", 1, [1], [0]],
    "three bounds": ["extract", 2, [1, 0, 0], [0]],
    "bounds that are text": ["extract", 2, ["1", "0"], [0]],
    "no bounds": ["extract", 2, None, [0]],
    "an extension to less": ["zext", 4, None, [0]],
    "an extension that fills the memory": ["sext", 1 << 50, None, [0]],
    "bounds of a sum": ["add", 8, [1, 0], [0, 1]],
    "a name of a sum": ["add", 8, "sum", [0, 1]],
    "an unknown macro": ["macro", 8, "normalised.no", [0]],
    "a macro without a name": ["macro", 8, None, [0]],
    "a macro of another width": ["macro", 9, "normalised.8", [0]],
    "a macro of a word of another width": ["macro", 8, "normalised.8", [4]],
    "a count of another word's zeros": ["macro", 3, "leading_zeros.8", [4]],
    "a macro of one bit": ["macro", 8, "normalised.8", [2]],
    "a macro of two words": ["macro", 8, "normalised.8", [0, 1]],
}  # fmt: skip


@pytest.mark.parametrize("what", NO_TERMS)
def test_entries_that_are_not_terms_are_refused(what: str) -> None:
    leading_zeros(A)  # its macros are known
    assert len(read(WORDS).all([0, 1, 2, 3, 4])) == 5
    with pytest.raises(Malformed, match=r"not a term|no term|not a list"):
        read([*WORDS, NO_TERMS[what]])


@pytest.mark.parametrize("entries", [None, 5, "[]", {}, [None], [[]]])
def test_data_that_is_not_a_table_is_refused(entries: object) -> None:
    with pytest.raises(Malformed):
        TermReader().read(entries)


def test_macros_of_the_right_width_are_read() -> None:
    shifted, zeros = leading_zeros(A)
    writer = TermWriter({})
    places = writer.places([shifted, zeros])
    assert read(writer.taken()).all(places) == [shifted, zeros]


def test_a_macro_of_a_width_that_no_graph_has_yet() -> None:
    """As in a certificate that is read by a process which has built no model of its kind."""
    reader = read([["var", 771, "x", []], ["macro", 771, "normalised.771", [0]]])
    assert reader[1] == leading_zeros(var("x", 771))[0]


def test_macros_have_one_meaning() -> None:
    """Of a node that is narrower than its value, both a fact and its negation could be shown."""
    leading_zeros(A)
    table = [
        ["const", 11, "400", []], ["var", 1, "x", []], ["concat", 12, None, [0, 1]],
        ["macro", 8, "normalised.8", [2]], ["sext", 12, None, [3]], ["extract", 1, [11, 11], [4]],
        ["extract", 1, [7, 7], [3]], ["xor", 1, None, [5, 6]],
    ]  # fmt: skip
    with pytest.raises(Malformed, match="width"):
        read(table)


# --- proofs ------------------------------------------------------------------------------------------------

GOAL = A.eq(1) & A.eq(B) & B.ult(1)
PROOF: Proof = (
    Fact(B.eq(1), (Close((A.eq(1), A.eq(B))),)),
    Equal(B, const(1, 8), (Close((B.eq(1),), (A,)),)),
    Cases(((A.ult(3), (Close(),)), (TRUE, (Close((B.ult(1),)),))), (Close((FALSE,)),)),
)


def refute(formula: Term) -> None:
    assert not satisfiable(formula)


def round_trip(proof: Proof) -> tuple[list[Any], list[Any]]:
    writer = TermWriter(named([GOAL]))
    steps = written_proof(proof, writer)
    return json.loads(json.dumps([writer.taken(), steps]))


def test_proofs_read_back() -> None:
    entries, steps = round_trip(PROOF)
    assert read_proof(steps, read(entries, roots=(GOAL,))) == PROOF
    proof = read_proof(steps[:2] + [{"using": [], "free": []}], read(entries, roots=(GOAL,)))
    check(GOAL, proof, refute)


NO_STEPS: list[Any] = [
    5, None, "fact", [], {}, {"fact": 0}, {"proof": []}, {"fact": 0, "proof": [], "also": 1},
    {"fact": 0, "proof": 5}, {"fact": "0", "proof": []}, {"fact": 99, "proof": []},
    {"replace": 0, "proof": []}, {"by": 0, "proof": []}, {"replace": 0, "by": 0, "proof": [], "fact": 0},
    {"using": []}, {"free": []}, {"using": 0, "free": []}, {"using": [], "free": 0},
    {"using": [[]], "free": []}, {"using": [], "free": [], "proof": []}, {"cases": []},
    {"cases": {}, "otherwise": []}, {"cases": [{}], "otherwise": []},
    {"cases": [], "otherwise": [], "fact": 0}, {"cases": [{"case": 0}], "otherwise": []},
    {"cases": [{"case": 0, "proof": [], "x": 0}], "otherwise": []}, {"cases": [5], "otherwise": []},
    {"cases": [], "otherwise": 5},
]  # fmt: skip


@pytest.mark.parametrize("step", NO_STEPS, ids=str)
def test_data_that_is_not_a_step_is_refused(step: Any) -> None:
    entries, _ = round_trip(PROOF)
    reader = read(entries, roots=(GOAL,))
    with pytest.raises(Malformed):
        read_proof([step], reader)
    with pytest.raises(Malformed):
        read_proof(step if not isinstance(step, list) else None, reader)


def test_all_nodes_have_their_own_names() -> None:
    nodes = [node for node in operands_first([GOAL]) if node.args]
    assert len({name for _, name in named([GOAL]).values()}) == len(nodes)
