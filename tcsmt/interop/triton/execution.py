"""The numbers of a compiled kernel: what a block stores, computed from the bytes of its buffers.

The block has run on its integers (:func:`.run_kernel`); what it did with numbers are events. Here each event
is computed in all lanes, in order. An element's program is not read, so this is a second way to its bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tcsmt.interop.compiled.matrix_forms import Fragments, Multiplied
from tcsmt.interop.compiled.reading import KernelRun
from tcsmt.interop.compiled.scalar_forms import SCALAR_FORMS
from tcsmt.interop.compiled.terms import MemoryWord, NumberStep
from tcsmt.interop.compiled.trace import LANES, ByteLanes, ComputedNumber, Gathered, Loaded, Unread
from tcsmt.interop.compiled.warpgroup_steps import WarpgroupProduct
from tcsmt.interop.hardware.instructions import Tile
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Operands
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import UnitProgram, read
from tcsmt.programs.written.grammar import program_of
from tcsmt.simulate.matmul import Progress, chain_words
from tcsmt.simulate.rows import prepare, run_words
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
#: Stands for a byte that is not known: of a word that was never written, or outside of the buffers.
_UNKNOWN = 256
_F32 = format_named("f32")
#: PTX ISA: NaN results of arithmetic and conversions are canonical.
_NANS = NanWords.named("ones:f16:bf16:f32")


@dataclass(frozen=True)
class BlockNumbers:
    """The numbers of a block that has run. buffers: the bytes of the pointers, by the parameters' numbers."""

    run: KernelRun
    buffers: Mapping[int, Array]

    def stored(self) -> dict[int, tuple[Array, Array]]:
        """Return the offsets and the bytes that the block stores in each buffer.

        Raises :class:`.TcsmtError` for a byte that is not known or is stored twice with different values, and
        where the bits depend on what the assembler makes of the text.
        """
        self._compute()
        found = {}
        machine = self.run.machine
        for buffer in machine.stored:
            offsets, codes, index, instructions = machine.stored_bytes(buffer)
            values = self._taken(codes, index)
            if (unknown := values == _UNKNOWN).any():
                number = int(unknown.argmax())
                machine.trace.follow([codes[number]])  # raises, where nothing has written it
                instruction = machine.kernel.instructions[instructions[number]]
                raise instruction.error("it stores what is read outside of a tensor")
            again = np.flatnonzero(offsets[1:] == offsets[:-1])
            if (values[again] != values[again + 1]).any():
                raise TcsmtError(f"a byte of {self.run.names[buffer]} is stored twice, with different values")
            found[buffer] = offsets, values.astype(np.uint8)
        return found

    @cached_property
    def _starts(self) -> Array:
        """Return where the bytes of each slot begin in :attr:`_bytes`."""
        slots = self.run.machine.trace.slots
        sizes = [event.sizes[output] * self.run.machine.lanes for event, output in slots]
        return np.cumsum([0, *sizes])

    @cached_property
    def _bytes(self) -> Array:
        """Return the bytes of all slots: those of a slot in all lanes, byte by byte."""
        return np.full(self._starts[-1], _UNKNOWN, np.int16)

    def _taken(self, codes: Array, index: Array) -> Array:
        """Return bytes by their codes and places, of the same shape."""
        at = self._starts[codes // LANES - 1] + index * self.run.machine.lanes + codes % LANES
        return np.where(codes == 0, index, self._bytes[np.where(codes == 0, 0, at)])

    def _compute(self) -> None:
        slots = self.run.machine.trace.slots
        multiplied = np.zeros(len(slots), bool)  # which ptxas may join with an addition that follows
        for slot, (event, output) in enumerate(slots):
            if output or isinstance(event, Unread):
                continue
            match event:
                case Gathered():
                    found = self._taken(event.bytes.codes, event.bytes.index)
                case Loaded():
                    found = self._loaded(event)
                case ComputedNumber():
                    found = self._number(event, slot, multiplied)
                case Multiplied() | WarpgroupProduct():
                    found = self._product(event)
                case _:
                    raise TcsmtError(f"{type(event).__name__}: not computed here")
            start = self._starts[slot]
            self._bytes[start : start + found.size] = found.ravel()

    def _loaded(self, event: Loaded) -> Array:
        places = event.offsets + np.arange(sum(event.sizes))[:, None]
        found = np.full(places.shape, _UNKNOWN)
        for buffer, held in self.buffers.items():
            inside = (event.buffers == buffer) & (places >= 0) & (places < len(held))
            found[inside] = held[places[inside]]
        return found

    def _number(self, event: ComputedNumber, slot: int, multiplied: Array) -> Array:
        terms, taken = self.run.machine.trace.terms, event.takes
        # the step is asked for by terms that stand for the operands
        makes = terms[
            event.make(*(terms.add(MemoryWord(-n - 1, 0, len(x.codes))) for n, x in enumerate(taken)))
        ]
        assert isinstance(makes, NumberStep)
        scalar = SCALAR_FORMS.get(makes.form)
        if scalar is not None and "approximate(" in scalar.step:
            raise event.error("an approximation, of which no document gives the words")
        if scalar is not None and scalar.joins:
            before = np.unique(np.concatenate([x.codes[x.codes != 0] for x in taken]) // LANES) - 1
            if makes.form == "mul.f32":
                multiplied[slot] = True
            elif multiplied[before].any():
                raise event.error(
                    "the GPU's assembler may join this addition with the multiplication before it, and no "
                    "document says whether it does: compile with enable_fp_fusion=False"
                )
        words, unknown = zip(*(_words(self._taken(x.codes, x.index)) for x in taken), strict=True)
        return _bytes_of(_step(makes.form, words), event.sizes[0], np.any(unknown, axis=0))

    def _product(self, event: Multiplied | WarpgroupProduct) -> Array:
        """Return the bytes of D's registers, of the products of all warps or warpgroups."""
        unit, lanes = self.run.units(event.fragments.unit).model, self.run.machine.lanes
        prepare(unit)
        tile = event.fragments.tile
        groups = np.arange(lanes) // tile.threads
        places = (groups, *np.tile(_results(tile, len(event.sizes)), lanes // tile.threads))
        if isinstance(event, Multiplied):
            first = np.arange(0, lanes, tile.threads)
            of_operand = _operands(event.fragments)
            taken = [
                self._taken(*_of_registers(x, *of_operand[n], first))
                for n, x in (("A", event.a), ("B", event.b))
            ]
        else:
            taken = [np.moveaxis(self._taken(x.codes, x.index), -1, 0) for x in (event.a, event.b)]
        (a, a_unknown), (b, b_unknown) = map(_words, taken)
        left, right = a.astype(unsigned(unit.a_format)), b.astype(unsigned(unit.b_format))
        c = np.zeros((len(a), a.shape[1], b.shape[1]), np.uint64)
        unknown = a_unknown.max(-1)[:, :, None] | b_unknown.max(-1)[:, None]
        if event.c is not None:
            codes, index = (np.stack([getattr(x, name) for x in event.c]) for name in ("codes", "index"))
            shape = len(codes), -1, tile.d.bits // 8, lanes
            c[places], more = _words(np.moveaxis(self._taken(codes, index).reshape(shape), 2, 0))
            unknown[places] |= more
        starts = c.astype(unsigned(unit.c_format))
        if isinstance(event, Multiplied):  # all warps at once, as rows
            shape = *starts.shape, unit.k
            x, y = (np.broadcast_to(z, shape).reshape(-1, unit.k) for z in (left[:, :, None], right[:, None]))
            words = run_words(unit, Operands(x, y, starts.ravel())).reshape(starts.shape)
        else:
            matrices = zip(left, np.swapaxes(right, 1, 2), starts, strict=True)
            words = np.stack([chain_words(unit, Operands(*one), Progress(0, None)) for one in matrices])
        # of each register its numbers, of these the bytes, in all lanes
        spread = _bytes_of(words[places], tile.d.bits // 8, unknown[places])
        return np.moveaxis(spread, 0, 2).reshape(-1, lanes)


def _words(given: Array) -> tuple[Array, Array]:
    """Return words of bytes, along the first axis, and which are unknown."""
    unknown = (given == _UNKNOWN).any(axis=0)
    shifts = (8 * np.arange(len(given), dtype=np.uint64)).reshape(-1, *[1] * (given.ndim - 1))
    known = np.where(unknown, 0, given).astype(np.uint64)
    return np.bitwise_or.reduce(known << shifts, axis=0), unknown


def _bytes_of(words: Array, size: int, unknown: Array) -> Array:
    """Return the bytes of words, along a new first axis."""
    shifts = (8 * np.arange(size, dtype=np.uint64)).reshape(-1, *[1] * words.ndim)
    found = (words.astype(np.uint64) >> shifts & np.uint64(255)).astype(np.int16)
    return np.where(unknown, np.int16(_UNKNOWN), found)


def _step(form: str, words: Sequence[Array]) -> Array:
    """Return the words of a step on words."""
    if form.startswith("select("):
        return np.where(words[0] != 0, words[1], words[2])
    rules = ArrayRules(words[0].shape, no_chain, _NANS)
    if form == "compare({0}, equal, {0})":
        x = words[0].astype(np.uint32)
        return rules.compare(x, x, fmt=_F32, relation="equal")
    scalar = SCALAR_FORMS[form]
    given = {
        f"x{n}": x.astype(unsigned(format_named(fmt)))
        for n, (x, fmt) in enumerate(zip(words, scalar.takes, strict=True))
    }
    nothing = np.zeros((len(words[0]), 1), np.uint32)
    return np.asarray(read(_program(form), rules, {**given, "A": nothing, "B": nothing}))


@lru_cache(maxsize=64)
def _program(form: str) -> UnitProgram:
    scalar = SCALAR_FORMS[form]
    inputs = {f"x{n}": format_named(fmt) for n, fmt in enumerate(scalar.takes)} | {"A": _F32, "B": _F32}
    return program_of(f"d = {scalar.step.format(*inputs)}", 1, inputs, lambda name: resolve(name).row.model)


def _of_registers(
    registers: Sequence[ByteLanes], register: Array, byte: Array, lane: Array, first: Array
) -> tuple[Array, Array]:
    """Return the codes and places of the bytes of an operand: (bytes, warps, rows, k)."""
    codes, index = (np.stack([getattr(x, name) for x in registers]) for name in ("codes", "index"))
    at = register, byte[:, None], lane + first[:, None, None]
    return codes[at], index[at]


@lru_cache(maxsize=64)
def _operands(fragments: Fragments) -> Mapping[str, tuple[Array, Array, Array]]:
    """Return of A and B the register, the bytes in it and the lane of each row and k."""
    tile, found = fragments.tile, {}
    for name, rows in (("A", tile.m), ("B", tile.n)):
        size, each = tile.operands[name].bits // 8, tile.register // tile.operands[name].bits
        held = [[fragments.places[name][row, k] for k in range(tile.k)] for row in range(rows)]
        lane, element = np.moveaxis(np.array(held), -1, 0)
        found[name] = element // each, element % each * size + np.arange(size)[:, None, None], lane
    return found


@lru_cache(maxsize=64)
def _results(tile: Tile, registers: int) -> Array:
    """Return the row and the column of each number of D: (2, registers, numbers in one, lanes).

    Each eight columns of a warpgroup's product are as the first ones. C lies as D does.
    """
    each, inside = tile.register // tile.d.bits, 1 << len(tile.d.fragment.elements)
    found = np.zeros((2, registers * each, tile.threads), int)
    for element, lane in np.ndindex(*found.shape[1:]):
        place = tile.d.fragment.place(lane, element % inside)
        found[:, element, lane] = place.row, place.column + 8 * (element // inside)
    return found.reshape(2, registers, each, tile.threads)
