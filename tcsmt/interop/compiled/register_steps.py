"""Instructions on registers: integers, moves, selections, and arithmetic on single numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tcsmt.interop.compiled.byte_forms import BYTE_FORMS
from tcsmt.interop.compiled.integers import INTEGER_FORMS, cut
from tcsmt.interop.compiled.machine import Machine, Meaning
from tcsmt.interop.compiled.ptx_text import Operand, PtxInstruction, PtxRegister, PtxSymbol, PtxVector
from tcsmt.interop.compiled.scalar_forms import SCALAR_FORMS, ScalarForm
from tcsmt.interop.compiled.terms import NumberStep
from tcsmt.interop.compiled.trace import ByteLanes, ComputedNumber, Lanes, Unread, Word, stacked
from tcsmt.support.errors import TcsmtError

_SIZES = {"f32": 4, "tf32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}


def _integer(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    form = INTEGER_FORMS[instruction.name]
    target, *operands = instruction.operands
    if len(operands) != len(form.widths):
        raise TcsmtError(f"{len(form.widths)} operands are expected")
    words = [machine.word(operand) for operand in operands]
    wider = isinstance(target, PtxRegister) and machine.width(target) != form.width
    if wider and (not instruction.name.startswith("cvt.") or machine.width(target) < form.width):
        raise TcsmtError("the register has not the width of the result")
    if all(word.codes is None for word in words):
        bits = [cut(word.bits, width) for word, width in zip(words, form.widths, strict=True)]
        if instruction.name.startswith(("div.", "rem.")) and not bits[1].all():
            raise TcsmtError("it divides by zero")
        found = np.broadcast_to(form.apply(*bits), (machine.lanes,))
        word = Word(found, None, machine.blocks.moved(instruction.name, words, form.widths))
        machine.write(target, _widened(machine, instruction, target, word) if wider else word, mask)
        return
    if wider and instruction.name.split(".")[1].startswith("s"):
        raise TcsmtError("it extends the sign of what depends on numbers")
    why = "it is arithmetic on the bits of numbers"
    if instruction.name in BYTE_FORMS:
        sizes = [width // 8 for width in form.widths]
        given = [machine.trace.bytes_of(word, size) for word, size in zip(words, sizes, strict=True)]
        try:
            machine.write(target, machine.trace.word_of(BYTE_FORMS[instruction.name](*given)), mask)
            return
        except TcsmtError as wrong:
            why = str(wrong)
    for word in words:
        machine.blocks.still(word)
    # refused where somebody needs it; lanes in which all is concrete are computed
    coded = np.any([word.codes != 0 for word in words if word.codes is not None], axis=0)
    bits = [
        np.where(coded, np.uint64(1), cut(word.bits, w)) for word, w in zip(words, form.widths, strict=True)
    ]
    (word,) = machine.trace.words(Unread(instruction.error(why)), machine.lanes)
    assert word.codes is not None
    found = np.where(coded, np.uint64(0), form.apply(*bits))
    machine.write(target, Word(found, np.where(coded, word.codes, 0)), mask)


def _widened(machine: Machine, instruction: PtxInstruction, target: Operand, word: Word) -> Word:
    """Return the result of ``cvt`` in a register that is wider: it is extended as its type says."""
    kind = instruction.name.split(".")[1]
    name = f"cvt.{kind[0]}{machine.width(target)}.{kind}"
    form = INTEGER_FORMS[name]
    return Word(form.apply(word.bits), None, machine.blocks.moved(name, [word], form.widths))


def _moved(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    target, source = instruction.operands
    if isinstance(target, PtxVector):
        widths = [8 * (machine.width(part) // 8) if part != PtxSymbol("_") else 0 for part in target.parts]
        total = int(instruction.name.rpartition("b")[2]) // 8
        each = total // len(target.parts)
        given = machine.bytes(source, total)
        for number, part in enumerate(target.parts):
            if part != PtxSymbol("_") and widths[number] != 8 * each:
                raise TcsmtError("the registers do not have the size of the parts")
            rows = slice(number * each, (number + 1) * each)
            word = machine.trace.word_of(ByteLanes(given.codes[rows], given.index[rows]))
            machine.write(part, word, mask)
    elif isinstance(source, PtxVector):
        size = machine.width(target) // 8 // len(source.parts)
        parts = [machine.bytes(part, size) for part in source.parts]
        machine.write(target, machine.trace.word_of(stacked(parts)), mask)
    else:
        machine.write(target, machine.word(source), mask)


def _selected(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    target, x, y, chooses = instruction.operands
    if not isinstance(chooses, PtxRegister):
        raise TcsmtError("a predicate is expected")
    condition = machine.word(replace(chooses, negated=False))
    pair = machine.word(x), machine.word(y)
    if condition.codes is not None and condition.codes.any():
        if chooses.negated or not condition.codes.all() or instruction.name not in ("selp.f32", "selp.b32"):
            raise TcsmtError("a selection by numbers in some lanes is not read")
        takes = (machine.trace.bytes_of(condition, 1), *(machine.trace.bytes_of(w, 4) for w in pair))
        machine.write(target, _computed(machine, instruction, takes, "select({0}, {1}, {2})", 4), mask)
        return
    machine.write(target, pair[0].where((condition.bits == 1) != chooses.negated, pair[1]), mask)


def _computed(
    machine: Machine,
    instruction: PtxInstruction,
    takes: tuple[ByteLanes, ...],
    form: str,
    size: int,
    line: int = 0,
) -> Word:
    terms = machine.trace.terms

    def make(*numbers: int) -> int:
        return terms.add(NumberStep(form, numbers, size, line))

    (word,) = machine.trace.words(ComputedNumber(takes, make, (size,), instruction.error), machine.lanes)
    return word


def _not_nan(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``setp.num``: whether neither operand is a NaN."""
    target, x, y = instruction.operands
    if x != y:
        raise TcsmtError("it is read of one number alone, which is given twice")
    takes = (machine.bytes(x, 4),)
    machine.write(target, _computed(machine, instruction, takes, "compare({0}, equal, {0})", 1), mask)


def _scalar(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    form = SCALAR_FORMS[instruction.name]
    target, *operands = instruction.operands
    size = _SIZES[form.gives]
    if form.swapped:
        parts = [
            machine.trace.bytes_of(_scalar_of(machine, instruction, form, [machine.bytes(x, 4)]), size)
            for x in reversed(operands)
        ]
        if len(parts) != form.lanes:
            raise TcsmtError(f"{form.lanes} operands are expected")
    else:
        if len(operands) != len(form.takes):
            raise TcsmtError(f"{len(form.takes)} operands are expected")
        parts = []
        for lane in range(form.lanes):
            takes = []
            for operand, fmt in zip(operands, form.takes, strict=True):
                given = machine.bytes(operand, _SIZES[fmt] * form.lanes)
                rows = slice(_SIZES[fmt] * lane, _SIZES[fmt] * (lane + 1))
                takes.append(ByteLanes(given.codes[rows], given.index[rows]))
            parts.append(machine.trace.bytes_of(_scalar_of(machine, instruction, form, takes), size))
    machine.write(target, machine.trace.word_of(stacked(parts)), mask)


def _scalar_of(
    machine: Machine, instruction: PtxInstruction, form: ScalarForm, takes: Sequence[ByteLanes]
) -> Word:
    line = instruction.line if form.joins or form.approximate else 0
    name = instruction.name.replace("f32x2", "f32")  # each lane is the scalar instruction
    return _computed(machine, instruction, tuple(takes), name, _SIZES[form.gives], line)


def _table() -> Mapping[str, Meaning]:
    found: dict[str, Meaning] = dict.fromkeys(INTEGER_FORMS, _integer)
    found |= dict.fromkeys(SCALAR_FORMS, _scalar)
    for kind in ("pred", *(f"{kind}{width}" for kind in "busf" for width in (16, 32, 64))):
        found[f"mov.{kind}"] = _moved
        if kind != "pred":
            found[f"selp.{kind}"] = _selected
    return found | {"setp.num.f32": _not_nan}


#: These instructions, by their names with all modifiers.
REGISTER_STEPS = _table()
