"""Circuits as models: ports, constants, cycles, and what is refused."""

from __future__ import annotations

import pickle
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var, variables
from tcsmt.matrix_units.arithmetic.formats import Format, IntegerFormat
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.matrix_units.models import Operands
from tcsmt.matrix_units.models.circuit import Circuit, UndrivenBits, read_constants
from tcsmt.matrix_units.models.file_texts import parameters_toml
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError, UnknownName

#: d = c + x[0] * y + x[1] * z, where mode is 1; x is a vector, y and z are ports of their own.
MAC = """1 sort bitvec 8
2 sort bitvec 16
3 input 2 x ; mac.sv:2.10-2.11
4 input 1 y
5 input 1 z
6 input 1 c
7 sort bitvec 1
8 input 7 mode ; mac.sv:5.10-5.14
9 slice 1 3 7 0
10 slice 1 3 15 8
11 mul 1 9 4
12 mul 1 10 5
13 add 1 11 12
14 add 1 13 6
15 ite 1 8 14 6
16 output 15 d
17 concat 2 15 6
18 output 17 both
"""
PORTS = ("a=x", "b0=y", "b1=z")
#: Comments of a circuit that TOML takes in escapes alone, or not as JSON has them.
ODD = ("; a tab\t and an escape \033[2J", "; DEL \x7f, NUL \0 and \x85", "; \U0001f600 and '''", "; é\r")
#: d is c of the cycle before plus a * b of two cycles before.
LATE = """1 sort bitvec 8
2 input 1 a
3 input 1 b
4 input 1 c
5 state 1 product ; late.sv:4.3
6 mul 1 2 3
7 next 1 5 6
8 state 1 sum ; late.sv:5.3
9 state 1 held
10 next 1 9 4
11 add 1 5 9
12 next 1 8 11
13 output 8 d
"""


def circuit(text: str = MAC, **more: object) -> Circuit:
    given = dict.fromkeys(("a_format", "b_format", "c_format", "d_format"), "u8")
    return Circuit(**{**given, "k": 2, "ports": PORTS, "constants": ("mode=1",), "btor2": text, **more})


def late(**more: object) -> Circuit:
    return circuit(LATE, **{"k": 1, "ports": (), "constants": (), "cycles": 2, **more})


def test_operands_and_result() -> None:
    model = circuit()
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (2, 50, 2), np.uint8)
    c = rng.integers(0, 256, 50, np.uint8)
    wanted = (c + (a.astype(int) * b).sum(1)) % 256
    assert (run_words(model, Operands(a, b, c)) == wanted).all()
    assert model.trace.stages[-1].term is model.trace.output
    swapped = circuit(ports=("a1=x[7:0]", "a0=x[15:8]", "b1=y", "b0=z", "c=c", "d=both[15:8]"))
    assert (run_words(swapped, Operands(a[:, ::-1], b[:, ::-1], c)) == wanted).all()
    assert (run_words(circuit(constants=("mode=0",)), Operands(a, b, c)) == c).all()


def test_undriven_bits_as_zero() -> None:
    text = MAC.replace("input 7 mode", "input 7")
    model = circuit(text, constants=(), undriven="zero")
    assert model.trace.output is model.trace.c
    assert model.with_undriven_free is not model.trace.output
    with pytest.raises(UndrivenBits):
        circuit(text, constants=())
    with pytest.raises(TcsmtError, match="give it a constant") as caught:
        circuit(MAC, constants=(), undriven="zero")
    assert not isinstance(caught.value, UndrivenBits)


def test_on_other_terms() -> None:
    model = circuit()
    x = model.trace.operands
    again = model.apply(Operands(x.a[::-1], x.b[::-1], x.c))
    for values in ([1, 2, 3, 4, 5], [255, 7, 9, 200, 3]):
        words = dict(zip(model.input_names, values, strict=True))
        assert evaluate([model.trace.output], words) == evaluate([again.output], words)


def test_cycles() -> None:
    for a, b, c in product((0, 3, 255), repeat=3):
        assert evaluate([late().trace.output], {"a0": a, "b0": b, "c": c}) == [(a * b + c) % 256]
    held = late(cycles=5, hold=True)
    assert held.trace.output is late().trace.output


def test_model_files_and_processes(tmp_path: Path) -> None:
    for number, model in enumerate((circuit(), late(), circuit(MAC.replace("mac.sv", "a'''b.sv")))):
        file = tmp_path / f"{number}.toml"
        file.write_text(parameters_toml(model))
        assert read_model(file).model == model
        assert pickle.loads(pickle.dumps(model)) == model
    for text in ODD:
        model = circuit(f"{MAC}{text}\n")
        file = tmp_path / "odd.toml"
        file.write_bytes(parameters_toml(model).encode())
        assert read_model(file).model == model, text
    assert MAC in parameters_toml(circuit())
    assert len(str(circuit().as_json()["btor2"])) < 80


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"constants": ()}, "d depends on the input mode (mac.sv:5); give it a constant"),
        ({"constants": ("mode=2",)}, "constant mode=2: mode has 1 bits"),
        ({"constants": ("mode=x",)}, "constant 'mode=x': expected NAME=VALUE"),
        ({"constants": ("moode=1",)}, "unknown input 'moode': did you mean mode?"),
        ({"constants": ("mode=1", "c=0")}, "c is given as a port and as a constant"),
        ({"constants": "mode=1"}, "constants = 'mode=1': must be a list of texts"),
        ({"ports": ()}, "no port for a, and no input of that name: give --port a=NAME; inputs: x, y"),
        ({"ports": ("a=x", "b=y")}, "port 'b=y': 8 bits, but b is 2 lanes of u8: 16 bits"),
        ({"ports": ("a=x", "b0=y")}, "no port for b1"),
        ({"ports": ("a=x", "b0=y", "b1=z", "b2=c")}, "port 'b2=c': the lanes are 0 to 1"),
        ({"ports": (*PORTS, "a0=y")}, "port 'a0=y': a0 is given twice"),
        ({"ports": (*PORTS, "c=y")}, "port 'c=y': bits of y are given twice"),
        ({"ports": (*PORTS, "d=both")}, "port 'd=both': 16 bits, but the result is u8: 8 bits"),
        ({"ports": (*PORTS, "d=both[19:12]")}, "both has the bits [15:0]"),
        ({"ports": (*PORTS, "d=both[0:7]")}, "bits are given as [HIGH:LOW]"),
        ({"ports": (*PORTS, "d=dd")}, "unknown output 'dd': did you mean d?"),
        ({"ports": (*PORTS, "e=d")}, "unknown operand 'e'"),
        ({"ports": (*PORTS, "d0=d")}, "d is one word and has no lanes"),
        ({"ports": (*PORTS, "d=d", "d=d")}, "d is given twice"),
        ({"ports": ("a",)}, "port 'a': expected OPERAND=NAME"),
        ({"k": 1, "ports": ("a0=x[7:0]", "b0=y")}, "the bits x[15:8] of an input; give it a constant"),
        ({"cycles": -1}, "cycles = -1: must be from 0 to"),
        ({"btor2": "hello"}, "btor2:1: not BTOR2"),
        ({"btor2": MAC.replace("input 7 mode", "input 7")}, "unknown input 'mode'"),
        (
            {"btor2": MAC.replace("input 7 mode", "input 7"), "constants": ()},
            "d depends on an undriven bit or a don't-care (mac.sv:5)",
        ),
    ],
)
def test_refused(more: dict[str, object], said: str) -> None:
    with pytest.raises(TcsmtError) as caught:
        circuit(**more)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"cycles": 0},
            "d depends on what the register sum holds at first (late.sv:5); cycles = 2 would do; --cut",
        ),
        ({"cycles": 1}, "cycles = 2 would do"),
        ({"cycles": 3}, "in cycle 1 (btor2:"),
        ({"cycles": 3}, "cycles is too large, or hold is needed"),
    ],
)
def test_cycles_that_do_not_fit(more: dict[str, object], said: str) -> None:
    with pytest.raises(TcsmtError) as caught:
        late(**more)
    assert said in str(caught.value)


def test_registers_that_keep_their_value_are_refused() -> None:
    with pytest.raises(TcsmtError, match="no number of cycles up to"):
        circuit(LATE.replace("next 1 8 11", "next 1 8 8"), k=1, ports=(), constants=())


def test_narrow_words() -> None:
    """Formats of one's own, of any width."""
    fmt = IntegerFormat(name="u3", bits=3, signed=False)
    text = "1 sort bitvec 3\n2 input 1 a\n3 input 1 b\n4 input 1 c\n5 mul 1 2 3\n6 add 1 5 4\n7 output 6 d\n"
    model = Circuit(a_format=fmt, b_format=fmt, c_format=fmt, d_format=fmt, k=1, btor2=text)
    for a, b, c in product(range(8), repeat=3):
        assert evaluate([model.trace.output], {"a0": a, "b0": b, "c": c}) == [(a * b + c) % 8]


#: d = c + a[0] * 2 * sa + a[1] * 2 * sb, say: two lanes of b and of scales that are of no use to anybody.
SCALED = """1 sort bitvec 8
2 sort bitvec 16
3 input 2 a
4 input 2 b
5 input 1 c
6 input 1 scale_a
7 input 2 both
8 slice 1 3 7 0
9 slice 1 4 15 8
10 slice 1 7 15 8
11 add 1 8 9
12 add 1 6 10
13 sub 1 11 12
14 add 1 13 5
15 output 14 d
"""


def test_block_scales() -> None:
    """Ports of scales, as a whole by their name and lane by lane; each scale has a lane."""
    e8m0 = Format(name="e8m0", exponent_bits=8, fraction_bits=0, bias=127, signed=False, specials="nan-only")
    word = {name: IntegerFormat(name="u8", bits=8, signed=False) for name in ("a_format", "b_format")}
    word |= {"c_format": word["a_format"], "d_format": word["a_format"]}
    given = {**word, "btor2": SCALED, "scale_format": e8m0}
    model = Circuit(**given, k=2, scale_block=2, ports=("scale_b=both[15:8]",))
    assert list(model.input_formats) == ["a0", "a1", "b0", "b1", "c", "sa0", "sb0"]
    values = {"a0": 200, "a1": 0, "b0": 0, "b1": 7, "c": 3, "sa0": 100, "sb0": 5}
    assert evaluate([model.trace.output], values) == [(200 + 7 + 3 - 100 - 5) % 256]
    with pytest.raises(TcsmtError, match=r"port 'scale_b=both': 16 bits, but scale_b is .*: 8 bits"):
        Circuit(**given, k=2, scale_block=2, ports=("scale_b=both",))
    with pytest.raises(TcsmtError, match="scale_block = 3: must be a divisor of k = 2"):
        Circuit(**given, k=2, scale_block=3)
    with pytest.raises(TcsmtError, match=r"scale_block = 2: .*0 .*scale_format"):
        Circuit(**word, k=2, btor2=SCALED, scale_block=2)
    with pytest.raises(TcsmtError, match="the unit has no block scales"):
        Circuit(**word, k=2, btor2=SCALED, ports=("scale_b=both",))


#: product <= a * b; held <= c; sum <= product + held, which is 0 where reset is 0.
STAGES = """1 sort bitvec 8
2 sort bitvec 1
3 input 1 a
4 input 1 b
5 input 1 c
6 input 2 reset
7 state 1 product
8 state 1 held
9 state 1
10 zero 1
11 ite 1 6 9 10 sum
12 mul 1 3 4
13 add 1 7 8
14 next 1 7 12
15 next 1 8 5
16 next 1 9 13
17 output 11 sum
"""
U8 = IntegerFormat(name="u8", bits=8, signed=False)
EIGHT = {f"{name}_format": U8 for name in "abcd"}


def test_cut_registers() -> None:
    """What a register takes is a result, and what it holds is an operand; also behind its reset."""
    first = Circuit(**EIGHT, k=1, btor2=STAGES, cut=("product",), ports=("d=product",))
    assert evaluate([first.trace.output], {"a0": 7, "b0": 50, "c": 1}) == [350 % 256]
    ports = ("a=product", "c=held", "d=sum")
    second = Circuit(**EIGHT, k=1, btor2=STAGES, cut=("product", "held", "sum"), ports=ports)
    assert evaluate([second.trace.output], {"a0": 7, "b0": 50, "c": 1}) == [8]
    later = Circuit(
        **EIGHT, k=1, btor2=STAGES, cut=("held",), ports=("c=held", "d=sum"), constants=("reset=1",),
        cycles=2, hold=True,
    )  # fmt: skip
    assert evaluate([later.trace.output], {"a0": 7, "b0": 50, "c": 1}) == [(350 + 1) % 256]
    with pytest.raises(TcsmtError, match=r"sum depends on the input product .*give it a constant"):
        Circuit(**EIGHT, k=1, btor2=STAGES, cut=("product", "held", "sum"), ports=("c=held", "d=sum"))
    with pytest.raises(TcsmtError, match=r"'helt': .*held"):
        Circuit(**EIGHT, k=1, btor2=STAGES, cut=("helt",), ports=("d=sum",))


def test_wires_are_terms_of_the_operands_by_name() -> None:
    """In terms of the operands, with the constants in it."""
    model = circuit(MAC.replace("12 mul", "20 uext 1 11 0 first\n21 uext 7 8 0 how\n12 mul"))
    wire = model.wire("first")
    for a, b in ((3, 5), (200, 7)):
        assert evaluate([wire], {"a0": a, "a1": 9, "b0": b, "b1": 1, "c": 2}) == [a * b % 256]
    assert model.wire("how").value == 1
    with pytest.raises(UnknownName, match=r"'frist': .*first"):
        model.wire("frist")


def test_wires_keep_undriven_bits_and_initial_values_as_variables() -> None:
    """What a register holds at first stays a variable; undriven bits are zeros where the model says so."""
    text = "1 sort bitvec 8\n2 input 1 a\n3 input 1 b\n4 input 1 c\n5 input 1\n6 state 1 r\n7 add 1 5 6\n"
    text += "8 uext 1 7 0 mixed\n9 mul 1 2 3\n10 add 1 9 4\n11 output 10 d\n"
    model = circuit(text, k=1, ports=(), constants=())
    names = {str(one.data) for one in variables([model.wire("mixed")])}
    assert names == {"input 5 of cycle 0", "state 6 of cycle 0"}
    zeros = circuit(text, k=1, ports=(), constants=(), undriven="zero")
    assert variables([zeros.wire("mixed")]) == [var("state 6 of cycle 0", 8)]


@pytest.mark.parametrize(
    "text",
    ["m", "m=", "m=1_0", "m= 1", "m=1 ", "m=\n1", "m=+1", "m=--1", "m=0x", "m=007", "m=1e3"],
)
def test_constants_that_are_not_numbers(text: str) -> None:
    with pytest.raises(TcsmtError, match="NAME=VALUE"):
        read_constants([text])


def test_constants() -> None:
    texts = ["a=0x3c", "b=-8", "c=0", "d=0b11", "e=0o7", "f;g=12"]
    assert read_constants(texts) == {"a": 60, "b": -8, "c": 0, "d": 3, "e": 7, "f;g": 12}
    with pytest.raises(TcsmtError, match="'a' is given twice"):
        read_constants(["a=1", "a=1"])
