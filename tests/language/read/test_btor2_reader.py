"""BTOR2 as terms, held against the format on Python integers."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tcsmt.language.read.btor2_reader import read_btor2
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, var
from tcsmt.support.errors import TcsmtError
from tests.oracles import btor2

SORTS = "1 sort bitvec 1\n2 sort bitvec 3\n3 sort bitvec 5\n4 sort bitvec 6\n"
INPUTS = "10 input 2 a\n11 input 2 b\n12 input 1 c\n"


def output(text: str, cycles: int = 0) -> tuple[Term, dict[Term, tuple[object, int]]]:
    names = {"a", "b", "c"}

    def given(cycle: int, node: object) -> Term | None:
        return var(node.name, node.width) if node.name in names and cycle == 0 else None  # type: ignore[attr-defined]

    file = read_btor2(text, "f")
    found, free = file.after(file.outputs["d"], cycles, given)
    return found, dict(free)


@pytest.mark.parametrize(
    "line",
    [
        *(f"{op} 2 10 11" for op in ("and", "or", "xor", "nand", "nor", "xnor", "add", "sub", "mul")),
        *(f"{op} 2 10 -11" for op in ("sll", "srl", "sra", "and")),
        *(f"{op} 1 10 11" for op in ("eq", "neq", "ult", "ulte", "ugt", "ugte")),
        *(f"{op} 1 -10 11" for op in ("slt", "slte", "sgt", "sgte")),
        *(f"{op} 2 10" for op in ("not", "neg", "inc", "dec")),
        *(f"{op} 1 10" for op in ("redor", "redand", "redxor")),
        *(f"{op} 1 12" for op in ("redor", "redand", "redxor", "not", "neg", "inc", "dec")),
        *(f"{op} 1 12 -12" for op in ("iff", "implies", "add", "sub", "mul", "sra", "slt", "ult", "sll")),
        "uext 3 10 2", "sext 3 10 2", "uext 2 10 0", "slice 1 10 1 1", "concat 4 10 -11", "ite 2 -12 10 11",
        "const 2 101", "constd 2 5", "constd 2 -3", "consth 2 6", "zero 2", "one 2", "ones 2",
    ],
)  # fmt: skip
def test_every_operation(line: str) -> None:
    text = f"{SORTS}{INPUTS}20 {line} a_name ; file.sv:7.1-7.9\n21 output 20 d\n"
    term, free = output(text)
    assert not free
    for a, b, c in product(range(8), range(8), range(2)):
        values = {"a": a, "b": b, "c": c}
        assert evaluate([term], values) == [btor2.evaluate(text, values)["d"]], (line, values)


def test_random_files() -> None:
    rng = Random(4)
    for _ in range(60):
        text = btor2.program(rng, 4, 25)
        term, _ = output(text)
        for _ in range(30):
            values = {name: rng.randrange(16) for name in "abc"}
            assert evaluate([term], values) == [btor2.evaluate(text, values)["d"]]


COUNTER = """1 sort bitvec 4
2 input 1 a
3 state 1 first
4 state 1
5 next 1 3 2
6 add 1 3 2
7 next 1 4 6
8 output 4 d
"""


def test_registers() -> None:
    """d = first + a, one edge later; first is the a of the cycle before."""
    for cycles, names in ((0, {"state 4"}), (1, {"state 3", "a"}), (2, {"a", "input 2"})):
        term, free = output(COUNTER, cycles)
        assert {name.partition(" of")[0] for name in map(str, (v.data for v in variables(term)))} == names
        assert all(cycle <= cycles for _, cycle in free.values())


def variables(term: Term) -> list[Term]:
    from tcsmt.language.terms import variables as found

    return found([term])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f: not BTOR2: it has no nodes"),
        ("module m;\n", "f:1: not BTOR2: 'module m;'"),
        (SORTS + "10 input 9 a\n", "f:5: not BTOR2"),
        (SORTS + "10 input 2 a\n11 add 2 10\n", "f:6: not BTOR2"),
        (SORTS + "10 input 2 a\n11 add 2 10 12\n12 output 11 d\n", "f:6: not BTOR2"),
        (SORTS + "10 input 2 a\n11 frob 2 10\n", "f:6: not BTOR2"),
        (SORTS + INPUTS + "13 constraint 12 ; m.sv:3.4-3.9\n", "m.sv:3: an assumption on inputs"),
        (SORTS + INPUTS + "13 add 3 10 11\n14 output 13 d\n", "f:8: add of 3 bits where 5 are declared"),
        (SORTS + INPUTS + "13 add 2 10 12\n14 output 13 d\n", "f:8: add does not fit its operands"),
        (SORTS + INPUTS + "13 udiv 2 10 11 ; m.sv:3.4\n14 output 13 d\n", "m.sv:3: a division (udiv)"),
        (SORTS + INPUTS + "13 rol 2 10 11\n14 output 13 d\n", "f:8: the operation rol is not supported"),
        (
            "1 sort bitvec 2\n2 sort array 1 1\n3 input 1 a\n4 state 2 m\n5 read 1 4 3\n6 output 5 d\n",
            "f:5: a memory is not supported",
        ),
    ],
)
def test_bad_files(text: str, said: str) -> None:
    with pytest.raises(TcsmtError) as caught:
        output(text)
    assert said in str(caught.value)


def test_words_taken_apart_are_put_together() -> None:
    """Sign extensions, and parts of a word, as Yosys writes them."""
    lines = ["7 sort bitvec 4", "13 slice 1 10 2 2", "14 concat 7 13 10", "15 concat 3 13 14"]
    extended, _ = output(SORTS + INPUTS + "\n".join([*lines, "16 output 15 d\n"]))
    assert extended is var("a", 3).sext(5)
    lines = [f"{20 + i} slice 1 10 {i} {i}" for i in range(3)]
    lines += ["24 sort bitvec 2", "25 concat 24 21 20", "26 concat 2 22 25", "27 concat 4 26 11"]
    lines += ["28 slice 24 10 2 1", "29 slice 1 10 0 0", "30 concat 7 29 11", "31 concat 4 28 30"]
    for number in (27, 31):
        joined, _ = output(
            SORTS + "7 sort bitvec 4\n" + INPUTS + "\n".join([*lines, f"32 output {number} d\n"])
        )
        assert joined is var("a", 3).concat(var("b", 3))
    swapped = ["25 concat 24 20 21", "26 output 25 d\n"]
    other, _ = output(SORTS + INPUTS + "\n".join([*lines[:4], *swapped]))
    assert other.op == "concat"


def test_nodes_that_no_output_needs_are_not_read() -> None:
    text = SORTS + INPUTS + "13 udiv 2 10 11\n14 output 13 other\n15 output 10 d\n"
    assert output(text)[0] is var("a", 3)


def test_named_nodes() -> None:
    """Inputs, registers, and wires: Yosys names a wire by an extension by no bits."""
    file = read_btor2(SORTS + INPUTS + "13 state 2 r\n14 add 2 10 11\n15 uext 2 14 0 sum\n16 not 2 14\n", "f")
    assert file.named == {"a": 10, "b": 11, "c": 12, "r": 13, "sum": 15}
    found, free = file.after(file.named["sum"], 0, lambda cycle, node: var(node.name, node.width))
    assert (found, free) == (var("a", 3) + var("b", 3), {})


TWICE = {
    "inputs of one name": "3 input 1 a\n",
    "a number": "2 input 1 b\n",
    "a sort's number": "1 sort bitvec 8\n",
    "outputs of one name": "3 not 1 2\n4 output 2 d\n5 output 3 d\n",
    "next values": "3 state 1 r\n4 next 1 3 2\n5 not 1 2\n6 next 1 3 5\n",
}


@pytest.mark.parametrize("what", TWICE)
def test_what_is_there_twice_is_refused(what: str) -> None:
    """One of the two would have been passed over, or both would have had one value."""
    with pytest.raises(TcsmtError, match=r"f\.btor2:\d+: (two inputs are called 'a'|not BTOR2)"):
        read_btor2(f"1 sort bitvec 4\n2 input 1 a\n{TWICE[what]}", "f.btor2")
