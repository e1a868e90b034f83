"""Instructions as one unit: each takes a, b and the result of the one before it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named, rows, sequences_of
from tcsmt.matrix_units.models import GroupedDotAdd, InstructionSequence, Model
from tcsmt.support.errors import TcsmtError
from tests.oracles import mvmul

HIGH = GroupedDotAdd(
    a_format="e8m7fn", b_format="e8m7fn", c_format="e8m23fn", d_format="e8m23fn", k=2, group_lanes=1,
    a_bits=5, b_bits=8, fraction_bits=20, zero_exponent=-127, sum_fraction_bits=30,
)  # fmt: skip
LOW = replace(HIGH, a_first_bit=5)
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.f32.ue8m0"
WHOLE = replace(HIGH, a_bits=8)


def word_of(model: Model, values: dict[str, int]) -> int:
    (word,) = evaluate([model.trace.output], values)
    assert word is not None
    return word


def test_two_parts_are_the_whole() -> None:
    """1.9921875·1 + 1·1: five bits, and the three bits below them."""
    values = {"a0": 0x3FFF, "b0": 0x3F80, "a1": 0x3F80, "b1": 0x3F80, "c": 0}
    both = InstructionSequence(instructions=(HIGH, LOW))
    results = [word_of(model, values) for model in (HIGH, LOW, both, WHOLE)]
    assert results == [0x403C0000, 0x3D600000, 0x403F8000, 0x403F8000]
    assert [stage.name for stage in both.trace.stages if stage.term is both.trace.output] == [
        "instruction 1: result"
    ]


@pytest.mark.parametrize("architecture", ["wormhole", "blackhole"])
@pytest.mark.parametrize("source", ["bf16", "f16"])
def test_fidelities_against_the_steps_of_the_simulator(architecture: str, source: str) -> None:
    """Register words: a sign, 8 bits of exponent and 10 of fraction; FP16's exponent has five."""
    rng = Random(f"{architecture} {source}")
    dropped, fields = (3, 8) if source == "bf16" else (0, 5)
    for number, fidelity in ((4, "hifi4"), (3, "hifi3"), (2, "hifi2"), (1, "lofi")):
        unit = row_named(f"{architecture}/mvmul.f32.{source}.{fidelity}").model
        for _ in range(12):
            middle = rng.randint(110, 140) if source == "bf16" else rng.randint(8, 20)
            registers = [
                rng.getrandbits(1) << 18
                | min(max(middle + rng.randint(-6, 6), 0), (1 << fields) - 1) << 10
                | rng.getrandbits(10) >> dropped << dropped
                for _ in range(32)
            ]
            c = rng.getrandbits(1) << 31 | rng.randint(100, 150) << 23 | rng.getrandbits(23)
            expected = c
            for phase in range(number):
                a, b = registers[:16], registers[16:]
                expected = mvmul.mvmul(architecture, source, "f32", phase, a, b, expected)
            words = [
                (x >> 18) << (unit.a_format.width - 1) | (x & (1 << (fields + 10)) - 1) >> dropped
                for x in registers
            ]
            values = dict(zip(unit.input_names, [*words, c], strict=True))
            assert word_of(unit, values) == expected


def test_sequences_have_names_and_are_no_rows() -> None:
    names = {row.name for row in rows()}
    found = sequences_of("n150")
    assert found
    for row in found:
        assert row.name not in names
        assert row_named(row.name) is row
    assert sequences_of("hopper") == []


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        ((), r"instructions = \(\): must be one model or more"),
        ((HIGH, LOW.replace(k=4)), "the same formats of a, b and c, and k"),
        ((HIGH, LOW.replace(a_format="e5m10fn")), "the same formats"),
        ((HIGH, LOW.replace(d_format="e8m7fn")), "must be instructions that give e8m23fn, as c is"),
        (
            (row_named(SCALED).model,),
            "block",
        ),
    ],
)
def test_sequences_that_do_not_fit_together_are_refused(
    instructions: tuple[Model, ...], message: str
) -> None:
    with pytest.raises(TcsmtError, match=message):
        InstructionSequence(instructions=instructions)
