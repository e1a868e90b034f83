"""The shipped property modules, asked for real; and that what they conclude rests on the verdicts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import ARCHITECTURES, Row, row_named, rows
from tcsmt.prove.engine.boundary_inputs import search
from tcsmt.prove.engine.engine import Decision
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import Contradiction, TcsmtError
from tcsmt.surveys.properties.discovery import load, properties
from tcsmt.surveys.properties.investigation import Investigation, Report, one_block

UNITS = ("volta", "ampere", "hopper")
#: Each property is asked of one unit; others, and what takes from 4 seconds to half a minute, by ``-m long``.
QUICK = {(name, "volta") for name in properties()} - {
    (name, "volta")
    for name in (
        "accumulation-order", "accumulator-rounding", "nan-and-infinity", "zero-exponent", "c-position",
        "extra-alignment-bits", "final-rounding", "block-size", "normalization-in-subtraction",
        "monotonicity",
    )
}  # fmt: skip


def report_on(name: str, row: Row, timeout: float = 60) -> Report:
    """The property of the row; every question must have an answer."""
    report = load(name).investigate(Investigation(row, Solving(SolvingOptions(timeout=timeout))))
    open_ = [f.question.title for f in report.findings if isinstance(f.verdict, Unknown)]
    assert not open_, f"{name} of {row.name}: unknown: {open_}"
    assert report.findings
    assert report.title == load(name).about.title
    return report


#: What each property answers about each architecture's first instruction; the start is enough.
GOLDEN: dict[str, tuple[str, str, str]] = {
    "accumulation-order": (
        "IEEE sums depend on the order; the fused sum does not: both graphs are the same",
    ) * 3,
    "accumulator-rounding": ("one product and c in f32: 10 of 10 pairs told apart",) * 3,
    "block-size": tuple(f"N_FMA = {n}; the neighbours are told apart" for n in (4, 8, 16)),
    "c-position": ("c is aligned; all three are told apart",) * 3,
    "carry-bits": (
        "3 carry bits are enough and 2 are not (4 products and c; accumulator 28 bits wide",
        "4 carry bits are enough and 3 are not (8 products and c; accumulator 30 bits wide",
        "5 carry bits are enough and 4 are not (16 products and c; accumulator 32 bits wide",
    ),
    "exact-product": ("an exact product can be told from every rounded one",) * 3,
    "exact-sum-f16": ("objection: operands or output are not FP16",) * 3,
    "extra-alignment-bits": tuple(
        f"the unit keeps F = {f} bits (n_eab = {f - 23}); both neighbours are told apart; "
        "with c = 0 no bit beyond F = 78 can be seen"
        for f in (23, 24, 25)
    ),
    "final-rounding": ("the unit rounds by RTZ; 45 of 45 pairs told apart",) * 3,
    "interleaving": (
        "objection: the instruction has one fused sum",
        "contiguous blocks; every other pattern is told apart",
        "objection: the instruction has one fused sum",
    ),
    "monotonicity": ("not monotonic",) * 3,
    "nan-and-infinity": (
        "the NaN's word can be seen; apart from it special inputs give what IEEE 754 gives (proved)",
    ) * 3,
    "negative-zero": ("it can be seen",) * 3,
    "normalization-in-addition": ("it can be seen",) * 3,
    "normalization-in-subtraction": ("it can be seen",) * 3,
    # an aligned c takes no product of FP16 numbers over FP32's largest number
    "overflow": ("the unit gives infinity; told apart: none",) * 3,
    "product-normalization": ("they can be told apart; the unit's products are unnormalised",) * 3,
    "subnormal-inputs": ("both can be seen",) * 3,
    "subnormal-outputs": (
        "a flush can be seen; normal a and b with c = 0 give no subnormal result",
    ) * 3,
    "tf32-truncation": ("objection: the operands are not TF32",) * 3,
    "zero-exponent": (
        "-131; told apart from the fields' own; no input tells it from -132, -130, -126",
        "-132; told apart from the fields' own; no input tells it from -133, -131, -126",
        "-133; told apart from the fields' own; no input tells it from -134, -132, -126",
    ),
}  # fmt: skip


def test_every_property_has_an_expectation() -> None:
    assert sorted(GOLDEN) == sorted(properties())


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        pytest.param(name, arch, marks=[] if (name, arch) in QUICK else [pytest.mark.long])
        for name in GOLDEN
        for arch in UNITS
    ],
)
@pytest.mark.slow_cases("carry-bits-volta", "overflow-volta")
def test_first_instructions(name: str, arch: str) -> None:
    expected = GOLDEN[name][UNITS.index(arch)]
    row, prop = rows(arch, claims=False)[0], load(name)
    objection = prop.objection(row)
    if objection:
        assert f"objection: {objection}" == expected
        with pytest.raises(TcsmtError, match=f"{name} does not apply to {row.name}: "):
            prop.investigate(Investigation(row, Solving()))
        return
    assert report_on(name, row).conclusion.startswith(expected)


BF16 = "ampere/mma.m16n8k8.f32.bf16.bf16.f32"
F16 = "volta/mma.m8n8k4.f16.f16.f16.f16"
FP8 = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
#: Other instructions that answer otherwise: property, row, start of the answer.
OTHERS = [
    # the papers' formula, ceil(log2(N_FMA + 1)), gives 6
    pytest.param(
        "carry-bits", FP8, "5 carry bits are enough and 4 are not (32 products and c; ",
        marks=pytest.mark.long,
    ),
    pytest.param("exact-sum-f16", F16, "it can be seen", marks=pytest.mark.long),
    pytest.param("final-rounding", F16, "the unit rounds by RNE; 4", marks=pytest.mark.long),
    ("overflow", F16, "the unit gives infinity; told apart: infinity/saturate, saturate/ieee"),
    ("overflow", BF16, "the unit gives infinity; told apart: infinity/saturate, infinity/ieee"),
    ("subnormal-outputs", BF16, "a flush can be seen"),
    pytest.param(
        "tf32-truncation", "ampere/mma.m16n8k4.f32.tf32.tf32.f32", "it can be seen", marks=pytest.mark.long
    ),
    pytest.param(
        "extra-alignment-bits", FP8, "the unit keeps F = 13 bits (n_eab = -10); both neighbours",
        marks=pytest.mark.long,
    ),
    pytest.param(
        "zero-exponent", BF16, "-132; told apart from -133, -131, -126, the fields' own",
        marks=pytest.mark.long,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "row", "expected"), OTHERS)
@pytest.mark.slow_cases(
    "overflow-ampere/mma.m16n8k8.f32.bf16.bf16.f32-the unit gives infinity; told apart: infinity/saturate, infinity/ieee"  # noqa: E501
)
def test_other_instructions(name: str, row: str, expected: str) -> None:
    assert report_on(name, row_named(row)).conclusion.startswith(expected)


@pytest.mark.long
def test_c_last_and_interleaving_of_fp8_on_the_f16_unit() -> None:
    row = row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32")
    report = report_on("interleaving", row)
    assert report.conclusion.startswith("groups of 2 dealt in turn; ")
    # the witness is of the whole instruction, and the catalogue's model is one of its sides
    for finding in report.findings:
        assert isinstance(finding.verdict, Distinguished)
        assert finding.supported == ("dealt in 2s",)


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", GOLDEN)
def test_every_architecture(name: str, arch: str) -> None:
    from tcsmt.surveys.properties.discovery import choose_row

    prop = load(name)
    if all(prop.objection(row) for row in rows(arch, claims=False)):
        with pytest.raises(TcsmtError, match=f"{name} does not apply to any instruction of {arch}"):
            choose_row(prop, rows(arch, claims=False))
    else:
        report_on(name, choose_row(prop, rows(arch, claims=False)), timeout=300)


#: One row of each unit: rows of one key have the same parameters.
def _distinct() -> list[Row]:
    table: dict[object, Row] = {}
    for row in rows():
        if "@" not in row.instruction:
            table.setdefault(row.model, row)
    return list(table.values())


@pytest.mark.long
@pytest.mark.parametrize("row", [row.name for row in _distinct()])
@pytest.mark.parametrize("name", ["carry-bits", "product-normalization", "monotonicity"])
def test_every_instruction(name: str, row: str) -> None:
    chosen = row_named(row)
    prop = load(name)
    if prop.objection(chosen):
        with pytest.raises(TcsmtError, match="does not apply to"):
            prop.investigate(Investigation(chosen, Solving()))
    else:
        report_on(name, chosen, timeout=300)


class Told:
    """Answers the questions in turn: E, there is none; D, there is one; U, unknown; the last one goes on."""

    def __init__(self, kinds: str) -> None:
        self.kinds, self.asked = kinds, 0

    def decide(self, question: Question, solving: Solving) -> Decision:
        return Decision(question, self.verdict(question))

    def verdict(self, question: Question) -> Verdict:
        kind = self.kinds[min(self.asked, len(self.kinds) - 1)]
        self.asked += 1
        by: Any = {"solver": "told", "version": "1", "seconds": 0.0}
        match kind:
            case "E":
                return Equivalent(stage="", scripts=("00",), **by)
            case "D":
                return Distinguished(values=dict.fromkeys(question.formats, 0), **by)
        return Unknown(reason="told", seconds=0.0)


def told(name: str, row: Row, kinds: str) -> tuple[str, int]:
    """What a property concludes from such verdicts, and how many it asked for."""
    by = Told(kinds)
    try:
        return load(name).investigate(Investigation(row, Solving(), decide=by.decide)).conclusion, by.asked
    except Contradiction as error:
        return str(error), by.asked


def row_for(name: str) -> Row:
    prop = load(name)
    return next(r for r in rows() if not prop.objection(r) and r.model.k <= 8 and "@" not in r.name)


#: Questions that are asked for their input alone: by property, their places.
FOR_SHOW = {"extra-alignment-bits": {2}}


@pytest.mark.parametrize("bases", ["E", pytest.param("DU", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", sorted(set(properties()) - {"final-rounding"}))
def test_every_verdict_counts(name: str, bases: str) -> None:
    """Another verdict on one question is another conclusion; and what is unknown is said to be."""
    row = row_for(name)
    for base in bases:
        _, count = told(name, row, base)
        for place in {0, 1, 2, count - 1} - FOR_SHOW.get(name, set()):
            if place >= count:
                continue
            ends = {}
            for kind in "DEU":
                kinds = base * place + kind + base
                conclusion, asked = told(name, row, kinds if kind != base else base)
                ends[kind] = conclusion
                if "U" in kinds[:asked]:
                    assert re.search(r"\bunknown\b|\bopen\b", conclusion), (kinds, conclusion)
                else:
                    assert not re.search(r"unknown whether|\bopen\b", conclusion), (kinds, conclusion)
            assert len(set(ends.values())) == 3, (base, place, ends)


@pytest.mark.parametrize(
    ("kinds", "conclusion"),
    [
        (
            "ED",
            "3 carry bits are enough and 2 are not (4 products and c; accumulator 28 bits wide, sign apart)",
        ),
        (
            "EED",
            "2 carry bits are enough and 1 are not (4 products and c; accumulator 27 bits wide, sign apart)",
        ),
        ("E", "no carry bit is needed"),
        ("D", "3 carry bits are not enough; unknown how many are"),
        ("U", "unknown whether 3 carry bits are enough"),
        (
            "EU",
            "3 carry bits are enough (4 products and c; accumulator 28 bits wide, sign apart); "
            "unknown whether 2 carry bits are enough",
        ),
    ],
)
def test_carry_bits_are_enough_only_by_a_proof(kinds: str, conclusion: str) -> None:
    assert told("carry-bits", row_named("volta"), kinds)[0] == conclusion


@pytest.mark.slow
def test_final_rounding_against_its_own_evidence() -> None:
    """A pair that was proved the same, and is told apart by the input for another one."""
    row = row_named("volta")
    told_all, asked = told("final-rounding", row, "E")
    pairs = len(ROUNDINGS) * (len(ROUNDINGS) - 1) // 2
    assert asked == pairs and told_all.count("/") == pairs
    assert "open: " in told("final-rounding", row, "U")[0]

    class Half(Told):
        """A proof for the first question, and real inputs for the others."""

        def verdict(self, question: Question) -> Verdict:
            found, values = super().verdict(question), search(question)
            return replace(found, values=values) if isinstance(found, Distinguished) and values else found

    with pytest.raises(Contradiction, match="proved: no input tells RNE/RNA apart"):
        load("final-rounding").investigate(Investigation(row, Solving(), decide=Half("ED").decide))


@pytest.mark.parametrize("bits", [0, 1])
def test_monotonicity_is_about_values(bits: int) -> None:
    """With a register that wraps, sums may be negative: held against fractions on inputs that wrap."""
    row = row_named("volta")
    unit = one_block(row.model).replace(carry_bits=bits)
    asked: list[Question] = []

    def listening(question: Question, solving: Solving) -> Decision:
        asked.append(question)
        return Decision(question, Unknown(reason="", seconds=0.0))

    load("monotonicity").investigate(Investigation(replace(row, model=unit), Solving(), decide=listening))
    (question,) = asked
    rng, seen = np.random.default_rng(1), Counter[tuple[bool, bool, bool]]()
    program = Program([question.goal, *(side.trace.output for side in question.sides)])
    count = 20_000
    values = {}
    for name, any_format in question.formats.items():  # near each other, so that many sums wrap
        fmt = float_format(any_format)
        exponents = rng.integers(fmt.bias - 1, fmt.bias + 3, count)
        words = exponents << fmt.fraction_bits | rng.integers(0, 1 << fmt.fraction_bits, count)
        values[name] = words.astype(unsigned(fmt))
    goals, lows, highs = program.run(values)
    for n in range(count):
        low, high = (unit.d_format.value(int(words[n])) for words in (lows, highs))
        falls = values["c"][n] < values["larger_c"][n] and high < low
        assert goals[n] == falls, (n, low, high)
        seen[bool(falls), low < 0, high < 0] += 1
    # falls to negative sums are rises of the words, and rises from them falls
    assert seen[True, False, True] and seen[False, True, False] and seen[False, False, False]


def test_a_proof_is_a_proof() -> None:
    """Every proof of a report names solver, version and script."""
    findings = report_on("carry-bits", row_named("volta")).findings
    proofs = [one.verdict for one in findings if isinstance(one.verdict, Equivalent)]
    assert proofs
    assert all(one.solver and one.version and one.scripts for one in proofs)
