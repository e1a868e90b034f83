"""LLVM IR run on terms: what a function returns and stores, and the inputs at which it has no meaning.

The function is run as the machine would, with words that are terms. Loops are followed for as long as it is
known that they go on; where a branch depends on the inputs, both ways are run and what they leave is merged
where they meet. Every operation whose result LLVM leaves undefined is noted together with the inputs at which
it is reached (:class:`Fault`): what is returned says something only if none of them can be.

The IR must come from a compiler that has not optimised it, as an optimiser may have used that an overflow,
for example, cannot happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tcsmt.interop.c_reader.llvm_memory import Memory, MemoryCell, MemoryPlace, Object, Part
from tcsmt.interop.c_reader.llvm_module import (
    Address,
    Aggregate,
    Array,
    Function,
    Instruction,
    Int,
    Literal,
    Local,
    Module,
    Operand,
    Pointer,
    Struct,
    Symbol,
    Type,
    Undefined,
    Zero,
)
from tcsmt.interop.c_reader.llvm_operations import (
    BINARY,
    INTRINSICS,
    PREDICATES,
    NotSupported,
    OperationResult,
)
from tcsmt.language.terms import FALSE, TRUE, Term, any_of, const
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

Value = Term | MemoryPlace | tuple["Value", ...]

#: Rounds of a loop whose end depends on the inputs, and instructions in all, at most.
_ROUNDS, _STEPS = 128, 200_000
#: After so many rounds, it is asked whether one more can be.
_ASKED = frozenset((4, 11, 24, 32, 53, 64, 113))
#: After so many instructions, it is told where the run is.
_TOLD = 64
#: Places that an index may choose.
_PLACES = 4096
#: The place behind a function's last instruction.
_END = ""
#: What traps of clang's sanitizers are about, by their number.
_TRAPS = {
    10: "a truth value that is neither 0 nor 1",
    20: "a signed number shifted left that is negative, or of which a bit reaches its sign",
}
#: Functions that end the program.
_ENDS = frozenset(("abort", "exit", "_exit", "__assert_fail", "llvm.trap", "llvm.ubsantrap"))


@dataclass(frozen=True)
class Fault:
    """A fault: something that has no meaning, where it is, and the truth value that it happens."""

    what: str
    source: str
    happens: Term


@dataclass
class _Frame:
    """A call.

    order: in which its blocks come. meeting: where the ways from a block meet. depth: of calls.
    variables: its own, which end with it.
    """

    function: Function
    order: Mapping[str, int]
    meeting: Mapping[str, str]
    depth: int
    variables: list[Object] = field(default_factory=list)


@dataclass
class _State:
    """The state of a way: the block that comes next, memory, values, and what the function returned."""

    block: str
    memory: Memory
    values: dict[str, Value]
    returned: Value | None = None


@dataclass
class Execution:
    """Runs functions of a module.

    possible: whether a truth value may be 1 at some input; it may say so of one that cannot, and what it says
    is noted as a fault that has to be refuted. at: told now and then where the run is, which may end it by an
    error. faults: what was noted so far.
    """

    module: Module
    possible: Callable[[Term], bool] = lambda bit: True
    at: Callable[[str], None] = lambda source: None
    faults: list[Fault] = field(default_factory=list)
    steps: int = 0
    _globals: dict[str, Object] = field(default_factory=dict)
    _ended: set[Object] = field(default_factory=set)
    _constants: Memory = field(default_factory=Memory)

    def run(self, name: str, arguments: Sequence[Value], memory: Memory) -> tuple[Value | None, Memory]:
        """Return what a function returns, and the memory after it. Raises :class:`.TcsmtError`."""
        return self._call(self.module.functions[name], arguments, memory, TRUE, 0)

    def _call(
        self, function: Function, arguments: Sequence[Value], memory: Memory, path: Term, depth: int
    ) -> tuple[Value | None, Memory]:
        if depth > 64:
            raise TcsmtError(f"{function.source}: {function.name} calls itself too often")
        names = (name for name, _ in function.parameters)
        frame = _Frame(function, _order(function), _meeting_points(function), depth)
        first = next(iter(function.blocks))
        start = _State(first, memory, dict(zip(names, arguments, strict=True)))
        first_number = Object("", 0).number
        end = self._region(frame, {first: (TRUE, start)}, path, _END)
        self._ended.update(frame.variables)
        if end is None:
            if path is TRUE:
                raise TcsmtError(f"{function.source}: {function.name} never returns")
            return const(0, function.type.width) if isinstance(function.type, Int) else None, memory
        end.memory.forget(first_number)
        return end.returned, end.memory

    # ways

    def _region(
        self, frame: _Frame, waiting: dict[str, tuple[Term, _State]], path: Term, stop: str
    ) -> _State | None:
        """Run from blocks, each with the truth value that it is reached, to ``stop``; None if no way leads.

        path: that this region is reached. Where two ways come to one block, they are merged. A loop goes on
        for as long as anything waits in it, as its blocks come before those behind it.
        """
        rounds: dict[str, int] = {}
        while waiting.keys() - {stop}:
            name = min(waiting.keys() - {stop}, key=frame.order.__getitem__)
            bit, state = waiting.pop(name)
            here = path & bit
            block = frame.function.blocks[name]
            if not all(self._step(frame, state, op, here) for op in block[:-1]):
                continue
            last = block[-1]
            self._count(last)
            ways = self._ways(frame, state, last, here)
            if len(ways) > 1:
                rounds[name] = rounds.get(name, 0) + 1
                ways = self._may_be(ways, here, rounds[name], last)
            if len(ways) < 2 or frame.meeting[name] == stop:
                self._wait(frame, waiting, ((bit & way, label, state) for way, label in ways), last)
                continue
            inner: dict[str, tuple[Term, _State]] = {}
            self._wait(frame, inner, ((way, label, state) for way, label in ways), last)
            met = self._region(frame, inner, here, frame.meeting[name])
            if met is not None:
                self._arrive(waiting, bit, met, last)
        return waiting[stop][1] if waiting else None

    def _ways(self, frame: _Frame, state: _State, last: Instruction, path: Term) -> list[tuple[Term, str]]:
        """Return the blocks that may come next, with truth values of which one is 1."""
        if last.opcode == "ret":
            state.returned = self._value(state, last.operands[0], last.type) if last.operands else None
            return [(TRUE, _END)]
        if last.opcode == "unreachable":
            self._fault("a place that the compiler takes to be unreachable", last, path)
            return []
        if last.opcode not in ("br", "switch"):
            self._step(frame, state, last, path)
            raise TcsmtError(f"{last.source}: a block that ends with {last.opcode}")
        if not last.operands:
            return [(TRUE, last.labels[0])]
        kind = last.type if last.opcode == "switch" else Int(1)
        word = self._word(state, last.operands[0], kind, last)
        if last.opcode == "br":
            ways = [(word, last.labels[0]), (~word, last.labels[1])]
        else:
            cases = [word.eq(number) for number in last.numbers]
            ways = [*zip(cases, last.labels[1:], strict=True), (~any_of(cases), last.labels[0])]
        return [
            (bit, label)
            for bit, label in ways
            if bit is not FALSE and not self._traps(frame.function.blocks[label][0], last, path & bit)
        ]

    def _traps(self, first: Instruction, last: Instruction, path: Term) -> bool:
        """Return whether a block only says that something undefined has happened, which is noted then."""
        if first.opcode != "call" or first.words != ("llvm.ubsantrap",):
            return False
        (kind,) = first.operands
        assert isinstance(kind, Literal)
        self._fault(_TRAPS.get(kind.value, "something undefined"), last, path)
        return True

    def _may_be(
        self, ways: list[tuple[Term, str]], path: Term, count: int, last: Instruction
    ) -> list[tuple[Term, str]]:
        """Return the ways without those that a solver calls impossible, which is noted; asked in loops
        alone.
        """
        if count > _ROUNDS:
            raise TcsmtError(
                f"{last.source}: a loop of more than {_ROUNDS} rounds whose end depends on the inputs"
            )
        if count not in _ASKED:
            return ways
        targets = []
        self.at(f"{last.source}: whether it goes on after {counted(count, 'round')}")
        for bit, label in ways:
            if self.possible(path & bit):
                targets.append((bit, label))
            else:
                self._fault("a way that was taken to be impossible", last, path & bit)
        return [(TRUE, label) for _, label in targets] if len(targets) == 1 else targets

    def _wait(
        self,
        frame: _Frame,
        waiting: dict[str, tuple[Term, _State]],
        ways: Iterable[tuple[Term, str, _State]],
        last: Instruction,
    ) -> None:
        for bit, label, state in ways:
            branch_state = _State(state.block, state.memory.copy(), dict(state.values), state.returned)
            self._enter(frame, branch_state, label)
            self._arrive(waiting, bit, branch_state, last)

    def _arrive(
        self, waiting: dict[str, tuple[Term, _State]], bit: Term, state: _State, last: Instruction
    ) -> None:
        other = waiting.get(state.block)
        if other is None:
            waiting[state.block] = bit, state
        else:
            waiting[state.block] = other[0] | bit, self._merged(bit, state, other[1], last)

    def _enter(self, frame: _Frame, state: _State, label: str) -> None:
        """Enter the next block, whose phis get their values."""
        values = dict(state.values)
        for op in frame.function.blocks.get(label, ()):
            if op.opcode != "phi":
                break
            operand = op.operands[op.labels.index(state.block)]
            values[op.result] = self._value(state, operand, op.type)
        state.values, state.block = values, label

    def _merged(self, bit: Term, then: _State, otherwise: _State, at: Instruction) -> _State:
        def cells(bit: Term, left: MemoryCell, right: MemoryCell) -> MemoryCell:
            written = bit.ite(left.written, right.written)
            if left.written is FALSE or right.written is FALSE:
                side = right if left.written is FALSE else left
                return MemoryCell(side.value, side.size, written)
            value = self._either(bit, left.value, right.value, at)
            assert isinstance(value, (Term, MemoryPlace))
            return MemoryCell(value, left.size, written)

        values = {
            name: value
            if value is otherwise.values[name]
            else self._either_or_nothing(bit, value, otherwise.values[name])
            for name, value in then.values.items()
            if name in otherwise.values
        }
        common = {name: value for name, value in values.items() if value is not None}
        returned = then.returned
        if returned is not None and otherwise.returned is not None:
            returned = self._either(bit, returned, otherwise.returned, at)
        try:
            memory = then.memory.merged(bit, otherwise.memory, cells)
        except ValueError as why:
            raise TcsmtError(f"{at.source}: {why} is not supported") from None
        return _State(then.block, memory, common, returned)

    def _either_or_nothing(self, bit: Term, then: Value, otherwise: Value) -> Value | None:
        """Choose a value; None for addresses of different objects: an error only where they are used."""
        try:
            return self._either(bit, then, otherwise, None)
        except TcsmtError:
            return None

    def _either(self, bit: Term, then: Value, otherwise: Value, at: Instruction | None) -> Value:
        if isinstance(then, Term) and isinstance(otherwise, Term) and then.width == otherwise.width:
            return bit.ite(then, otherwise)
        if isinstance(then, tuple) and isinstance(otherwise, tuple):
            return tuple(self._either(bit, x, y, at) for x, y in zip(then, otherwise, strict=True))
        if then == otherwise:
            return then
        if (
            isinstance(then, MemoryPlace)
            and isinstance(otherwise, MemoryPlace)
            and then.object is otherwise.object
        ):
            words = [const(p.offset, 64) + (p.index if p.index is not None else 0) for p in (then, otherwise)]
            part = (
                then.part if then.part == otherwise.part and then.part and then.part.index is None else None
            )
            return MemoryPlace(then.object, 0, bit.ite(words[0], words[1]), 1, part)
        where = f"{at.source}: " if at is not None else ""
        raise TcsmtError(f"{where}an address of one of several variables, by the inputs, is not supported")

    # instructions

    def _count(self, op: Instruction) -> None:
        """Count an instruction that is executed; a loop may have no other than the jump at its end."""
        self.steps += 1
        if self.steps % _TOLD == 1:
            self.at(f"{op.source} (after {self.steps:,} instructions)")
        if self.steps > _STEPS:
            raise TcsmtError(f"{op.source}: more than {_STEPS:,} instructions: does the function end?")

    def _step(self, frame: _Frame, state: _State, op: Instruction, path: Term) -> bool:
        """Return whether the function goes on after an instruction."""
        self._count(op)
        if op.opcode == "phi":
            return True
        if op.opcode == "unsupported":
            raise TcsmtError(f"{op.source}: {op.words[0]}")
        if op.opcode == "call":
            return self._called(frame, state, op, path)
        if op.opcode == "alloca":
            frame.variables.append(Object(op.result.removesuffix(".addr"), op.type.size))
            state.values[op.result] = MemoryPlace(frame.variables[-1])
            return True
        method = _METHODS.get(op.opcode)
        try:
            if method is None:
                value: Value | None = self._computed(state, op, path)
            else:
                value = method(self, state, op, path)
        except (ValueError, NotSupported) as why:
            raise TcsmtError(f"{op.source}: {op.opcode}: {why}") from None
        if op.result and value is not None:
            state.values[op.result] = value
        return True

    def _computed(self, state: _State, op: Instruction, path: Term) -> Term:
        """Compute operations on words."""
        words = [self._word(state, operand, op.type, op) for operand in op.operands]
        result = BINARY[op.opcode](words[0], words[1], frozenset(op.words))
        return self._checked(result, op, path)

    def _checked(self, result: OperationResult, op: Instruction, path: Term) -> Term:
        for what, happens in result.faults:
            self._fault(what, op, path & happens)
        return result.value

    def _fault(self, what: str, op: Instruction, happens: Term) -> None:
        if happens is not FALSE:  # else no input leads here: the terms have shown it
            self.faults.append(Fault(what, op.source, happens))

    def _load(self, state: _State, op: Instruction, path: Term) -> Value:
        return self._loaded(state, self._place(state, op.operands[0], op), op.type, op, path)

    def _loaded(self, state: _State, place: MemoryPlace, kind: Type, op: Instruction, path: Term) -> Value:
        if isinstance(kind, (Struct, Array)):
            places = ((_moved_by(place, offset), part) for offset, part in _parts_of(kind))
            return tuple(self._loaded(state, at, part, op, path) for at, part in places)
        cell = self._read(state, place, kind.size, op, path)
        if place.object is not None:
            of = "" if place.object not in self._globals.values() else ", a variable that is not const,"
            self._fault(f"{place.object.name}{of} is read before it is written", op, path & ~cell.written)
        if isinstance(kind, Pointer):
            if isinstance(cell.value, MemoryPlace):
                return cell.value
            raise ValueError("an address that is not one of a variable")
        if isinstance(cell.value, MemoryPlace):
            raise ValueError("an address read as a number")
        if not isinstance(kind, Int):
            raise ValueError(f"a value of type {kind}")
        return cell.value if kind.width == cell.value.width else cell.value[kind.width - 1 : 0]

    def _read(self, state: _State, place: MemoryPlace, size: int, op: Instruction, path: Term) -> MemoryCell:
        constant = place.object is not None and place.object.constant
        memory = self._constants if constant else state.memory
        result: MemoryCell | None = None
        for bit, offset in self._offsets(state, place, size, op, path):
            assert place.object is not None
            cell = memory.load(place.object, offset, size)
            if result is None:
                result = cell
            else:
                value = self._either(bit, cell.value, result.value, op)
                assert isinstance(value, (Term, MemoryPlace))
                result = MemoryCell(value, size, bit.ite(cell.written, result.written))
        # nowhere: that is a fault, which was noted, so the word does not matter
        return result or MemoryCell(const(0, 8 * size), size)

    def _offsets(
        self, state: _State, place: MemoryPlace, size: int, op: Instruction, path: Term
    ) -> list[tuple[Term, int]]:
        """Return where so many bytes may lie, each with its truth value; anything else is a fault."""
        if place.object is None:
            self._fault("the null pointer is used", op, path)
            return []
        name = place.object.name
        if place.object in self._ended or place.object in state.memory.ended:
            self._fault(f"{name} is used after the end of its block", op, path)
            return []
        if place.part != Part(0, None, place.object.size):
            beyond = f"beyond the array or member of {name} that is meant"
            self._fault(beyond, op, path & place.leaves(size))
        outside = f"beyond the {place.object.size} bytes of {name}"
        if place.index is None:
            if 0 <= place.offset <= place.object.size - size:
                return [(TRUE, place.offset)]
            self._fault(outside, op, path)
            return []
        offsets = list(place.offsets(size))
        if len(offsets) > _PLACES:
            raise ValueError(f"an index into {name}, which has more than {_PLACES} places")
        inside = FALSE
        for bit, _ in offsets:
            inside = inside | bit
        self._fault(outside, op, path & ~inside)
        return offsets

    def _store(self, state: _State, op: Instruction, path: Term) -> None:
        value = self._value(state, op.operands[0], op.type)
        self._stored(state, self._place(state, op.operands[1], op), op.type, value, op, path)

    def _stored(
        self, state: _State, place: MemoryPlace, kind: Type, value: Value, op: Instruction, path: Term
    ) -> None:
        if isinstance(value, tuple):
            assert isinstance(kind, (Struct, Array))
            for (offset, part), part_value in zip(_parts_of(kind), value, strict=True):
                self._stored(state, _moved_by(place, offset), part, part_value, op, path)
            return
        if isinstance(value, Term):
            value = value.zext(8 * kind.size)
        self._write(state, place, MemoryCell(value, kind.size), op, path)

    def _write(
        self, state: _State, place: MemoryPlace, cell: MemoryCell, op: Instruction, path: Term
    ) -> None:
        if place.object is not None and place.object.constant:
            self._fault(f"{place.object.name} is const", op, path)
            return
        for bit, offset in self._offsets(state, place, cell.size, op, path):
            assert place.object is not None
            here = cell
            if bit is not TRUE:  # where the store goes elsewhere, what was here stays
                old = state.memory.load(place.object, offset, cell.size)
                value = (
                    self._either(bit, cell.value, old.value, op) if old.written is not FALSE else cell.value
                )
                assert isinstance(value, (Term, MemoryPlace))
                here = MemoryCell(value, cell.size, bit | old.written)
            state.memory.store(place.object, offset, here)

    def _address(self, state: _State, op: Instruction, path: Term) -> Value:
        base = self._place(state, op.operands[0], op)
        indices = [
            self._word(state, operand, kind, op)
            for operand, kind in zip(op.operands[1:], op.types, strict=True)
        ]
        for index in indices:
            if index.value is None and "inbounds" in op.words and index.width == 64:
                far = ~(index + (1 << 47)).ult(1 << 48)
                self._fault("an index that no array has", op, path & far)
        place = _moved(base, op.type, indices)
        if place.object is not None and "inbounds" in op.words:
            within = place if place.part else replace(place, part=Part(0, None, place.object.size))
            beyond = f"an address beyond the end of {place.object.name}, or of the part that is meant"
            self._fault(beyond, op, path & within.leaves(0))
        return place

    def _compared(self, state: _State, op: Instruction, path: Term) -> Value:
        if isinstance(op.type, Pointer):
            left, right = (self._place(state, operand, op) for operand in op.operands)
            comparable = all(
                p.index is None and (p.object is None or 0 <= p.offset <= p.object.size)
                for p in (left, right)
            )
            if op.words[0] not in ("eq", "ne") or not comparable or left.object is not right.object:
                raise ValueError("a comparison of these addresses is not supported")
            same = left.offset == right.offset
            return TRUE if same == (op.words[0] == "eq") else FALSE
        left_word, right_word = (self._word(state, operand, op.type, op) for operand in op.operands)
        return PREDICATES[op.words[0]](left_word, right_word)

    def _cast(self, state: _State, op: Instruction, path: Term) -> Value:
        (source,), value = op.types, self._value(state, op.operands[0], op.types[0])
        if op.opcode == "bitcast":
            if isinstance(source, Pointer) == isinstance(op.type, Pointer) and not isinstance(value, tuple):
                return value
            raise ValueError("not supported")
        if not isinstance(value, Term) or not isinstance(op.type, Int):
            raise ValueError("not of integers")
        if op.opcode == "trunc":
            return value[op.type.width - 1 : 0]
        return value.zext(op.type.width) if op.opcode == "zext" else value.sext(op.type.width)

    def _selected(self, state: _State, op: Instruction, path: Term) -> Value:
        bit = self._word(state, op.operands[0], Int(1), op)
        then, otherwise = (self._value(state, operand, op.type) for operand in op.operands[1:])
        return self._either(bit, then, otherwise, op)

    def _extracted(self, state: _State, op: Instruction, path: Term) -> Value:
        aggregate = self._value(state, op.operands[0], op.type)
        if not isinstance(aggregate, tuple):
            raise ValueError("not supported")
        return aggregate[op.numbers[0]]

    # calls

    def _called(self, frame: _Frame, state: _State, op: Instruction, path: Term) -> bool:
        name = op.words[0]
        if name in _ENDS:
            self._fault(f"{name} is called", op, path)
            return False
        if name.startswith(("llvm.dbg.", "llvm.donothing")):
            return True
        arguments = [
            self._value(state, operand, kind) for operand, kind in zip(op.operands, op.types, strict=True)
        ]
        if name.startswith("llvm.lifetime."):
            place = arguments[1]
            assert isinstance(place, MemoryPlace)
            assert place.object is not None
            (state.memory.begin if ".start." in name else state.memory.end)(place.object)
            return True
        plain = name.removeprefix("llvm.").partition(".")[0] if name.startswith("llvm.") else name
        if plain in ("memcpy", "memmove", "memset"):
            self._moved_bytes(state, plain, arguments, op, path)
            if op.result:
                state.values[op.result] = arguments[0]
            return True
        if name in self.module.functions:
            function = self.module.functions[name]
            self._apart(function, arguments, op, path)
            returned, memory = self._call(function, arguments, state.memory, path, frame.depth + 1)
            state.memory = memory
            if op.result:
                assert returned is not None
                state.values[op.result] = returned
            return True
        if not name.startswith("llvm."):
            raise TcsmtError(f"{op.source}: {name} is not defined in this file")
        self._intrinsic(state, op, plain, arguments, path)
        return True

    def _intrinsic(
        self, state: _State, op: Instruction, plain: str, arguments: Sequence[Value], path: Term
    ) -> None:
        name = op.words[0]
        words = [word for word in arguments if isinstance(word, Term)]
        key = ".".join(name.split(".")[1:-1]) or plain
        if plain == "assume":
            self._fault("what the compiler is told to assume does not hold", op, path & ~words[0])
            return
        intrinsic = INTRINSICS.get(key) or INTRINSICS.get(plain)
        if intrinsic is None or len(words) != len(arguments):
            raise TcsmtError(f"{op.source}: {name} is not supported")
        try:
            result = intrinsic(words)
        except NotSupported as why:
            raise TcsmtError(f"{op.source}: {why}") from None
        word = self._checked(result, op, path)
        if op.result:
            state.values[op.result] = word if result.also is None else (word, result.also)

    def _apart(self, function: Function, arguments: Sequence[Value], op: Instruction, path: Term) -> None:
        """Require that a parameter with ``restrict`` leads to something of its own."""
        names = [name for name, _ in function.parameters]
        places = {
            name: value.object
            for name, value in zip(names, arguments, strict=True)
            if isinstance(value, MemoryPlace) and value.object is not None and not value.object.constant
        }
        for name in function.alone & places.keys():
            others = [*self._globals.values(), *(place for owner, place in places.items() if owner != name)]
            if places[name] in others:
                self._fault(f"{name} of {function.name} is restrict, but does not lead alone", op, path)

    def _moved_bytes(
        self, state: _State, how: str, arguments: Sequence[Value], op: Instruction, path: Term
    ) -> None:
        target, source, length = arguments[:3]
        if not isinstance(length, Term) or length.value is None:
            raise TcsmtError(f"{op.source}: {how} of a number of bytes that depends on the inputs")
        size = length.value
        places = [target] if how == "memset" else [target, source]
        for place in places:
            if not isinstance(place, MemoryPlace) or place.index is not None:
                raise TcsmtError(f"{op.source}: {how} at a place that depends on the inputs")
            if not self._offsets(state, place, size, op, path):
                return
        if not size:
            return
        assert isinstance(target, MemoryPlace)
        assert target.object is not None
        if target.object.constant:
            self._fault(f"{target.object.name} is const", op, path)
            return
        if how == "memset":
            assert isinstance(source, Term)
            for at in range(size):
                state.memory.store(target.object, target.offset + at, MemoryCell(source[7:0], 1))
            return
        assert isinstance(source, MemoryPlace)
        self._copied(state, how, target, source, size, op, path)

    def _copied(
        self, state: _State, how: str, target: MemoryPlace, origin: MemoryPlace, size: int,
        op: Instruction, path: Term,
    ) -> None:  # fmt: skip
        assert target.object is not None
        assert origin.object is not None
        distance = abs(target.offset - origin.offset)
        if how == "memcpy" and target.object == origin.object and 0 < distance < size:
            self._fault("memcpy of bytes that overlap", op, path)
        source = self._constants if origin.object.constant else state.memory
        state.memory.move((target.object, target.offset), source, (origin.object, origin.offset), size)

    # operands

    def _word(self, state: _State, operand: Operand, of: Type, op: Instruction) -> Term:
        value = self._value(state, operand, of)
        if not isinstance(value, Term):
            raise TcsmtError(f"{op.source}: {op.opcode} of an address is not supported")
        if isinstance(of, Int) and of.name and op.opcode != "store":
            raise TcsmtError(f"{op.source}: {op.opcode} of {of.name}: only integer code is supported")
        return value

    def _place(self, state: _State, operand: Operand, op: Instruction) -> MemoryPlace:
        value = self._value(state, operand, Pointer())
        if not isinstance(value, MemoryPlace):
            raise TcsmtError(f"{op.source}: {op.opcode} of an address that is a number is not supported")
        return value

    def _value(self, state: _State, operand: Operand, of: Type) -> Value:
        match operand:
            case Local(name):
                if name not in state.values:
                    raise TcsmtError(
                        f"{state.block}: %{name}: an address of one of several variables, by the inputs"
                    )
                return state.values[name]
            case Literal(value) if isinstance(of, Int):
                return const(value, of.width)
            case Zero() if isinstance(of, Pointer):
                return MemoryPlace(None)
            case Zero() if isinstance(of, Int):
                return const(0, of.width)
            case Zero() if isinstance(of, Struct):
                return tuple(self._value(state, operand, kind) for kind in of.fields)
            case Symbol(name):
                return MemoryPlace(self._global(name))
            case Address(type=element, base=base, indices=indices):
                place = self._value(state, base, Pointer())
                assert isinstance(place, MemoryPlace)
                if all(isinstance(index, Literal) for index in indices):
                    words = [const(index.value, 64) for index in indices if isinstance(index, Literal)]
                    return _moved(place, element, words)
            case Undefined():
                raise TcsmtError("a value that the compiler calls undefined")
        raise TcsmtError(f"a constant of type {of} is not supported")

    def _global(self, name: str) -> Object:
        """Return a variable of the file. One that is not const may have been changed by an earlier call."""
        if name not in self._globals:
            variable = self.module.variables.get(name)
            if variable is None:
                raise TcsmtError(f"{name}: its definition is not in this file, or not supported")
            variable_object = self._globals[name] = Object(name, variable.type.size, variable.constant)
            if variable.constant and variable.value is not None:
                empty = _State("", Memory(), {})
                for offset, kind, value in _flat(variable.type, variable.value, 0):
                    word = self._value(empty, value, kind)
                    if isinstance(word, Term):
                        word = word.zext(8 * kind.size)
                    assert isinstance(word, (Term, MemoryPlace))
                    self._constants.store(variable_object, offset, MemoryCell(word, kind.size))
        return self._globals[name]


_METHODS: dict[str, Callable[[Execution, _State, Instruction, Term], Value | None]] = {
    "load": Execution._load,
    "store": Execution._store,
    "getelementptr": Execution._address,
    "icmp": Execution._compared,
    "zext": Execution._cast,
    "sext": Execution._cast,
    "trunc": Execution._cast,
    "bitcast": Execution._cast,
    "select": Execution._selected,
    "extractvalue": Execution._extracted,
    "freeze": lambda self, state, one, path: self._value(state, one.operands[0], one.type),
}


def _moved(base: MemoryPlace, of: Type, indices: Sequence[Term]) -> MemoryPlace:
    """Return an address by its indices: the first one in units of the type, the others into it."""
    kind: Type = of
    for number, index in enumerate(indices):
        word = index.sext(64) if index.width < 64 else index
        if number == 0:
            base = base.moved(word, kind.size)
        elif isinstance(kind, Array):
            base = base.narrowed(kind.size).moved(word, kind.element.size)
            kind = kind.element
        elif isinstance(kind, Struct):
            assert word.value is not None
            base = base.moved(const(kind.offsets[word.value], 64), 1)
            kind = kind.fields[word.value]
            base = base.narrowed(kind.size)
        else:
            raise ValueError("an index into what has no parts")
    return base


def _moved_by(place: MemoryPlace, offset: int) -> MemoryPlace:
    return place.moved(const(offset, 64), 1)


def _parts_of(kind: Struct | Array) -> list[tuple[int, Type]]:
    """Return where each part begins, and its type."""
    if isinstance(kind, Array):
        return [(number * kind.element.size, kind.element) for number in range(kind.count)]
    return list(zip(kind.offsets, kind.fields, strict=False))


def _flat(kind: Type, value: Operand, offset: int) -> list[tuple[int, Type, Operand]]:
    """Return the words of a constant, each with its place."""
    if isinstance(kind, Array):
        parts = [(kind.element, Zero())] * kind.count if isinstance(value, Zero) else _parts(value)
        places = [offset + number * kind.element.size for number in range(kind.count)]
    elif isinstance(kind, Struct):
        parts = [(member, Zero()) for member in kind.fields] if isinstance(value, Zero) else _parts(value)
        places = [offset + start for start in kind.offsets[:-1]]
    else:
        return [(offset, kind, value)]
    flat = []
    for place, (member, part) in zip(places, parts, strict=True):
        flat += _flat(member, part, place)
    return flat


def _parts(value: Operand) -> list[tuple[Type, Operand]]:
    if not isinstance(value, Aggregate):
        raise TcsmtError("a constant that is not supported")
    return list(value.parts)


def _order(function: Function) -> dict[str, int]:
    """Return a number for each block, larger than those of blocks before it, but for ways back in loops."""
    order: list[str] = []
    seen: set[str] = set()
    first = next(iter(function.blocks))
    stack = [(first, iter(reversed(function.blocks[first][-1].labels)))]
    seen.add(first)
    while stack:
        name, ways = stack[-1]
        for label in ways:
            if label not in seen:
                seen.add(label)
                stack.append((label, iter(reversed(function.blocks[label][-1].labels))))
                break
        else:
            order.append(name)
            stack.pop()
    return {name: number for number, name in enumerate(reversed(order))}


def _meeting_points(function: Function) -> dict[str, str]:
    """Return for each block the first that every way from it to the end goes through; the end is ``_END``.

    A way that ends nowhere (``unreachable``) does not count: it is noted as a fault.
    """
    follow = {name: list(block[-1].labels) for name, block in function.blocks.items()}
    for name, block in function.blocks.items():
        if block[-1].opcode == "ret":
            follow[name] = [_END]
    lead = {_END}
    while more := {name for name, labels in follow.items() if name not in lead and lead & set(labels)}:
        lead |= more
    through: dict[str, set[str]] = {name: {*follow, _END} for name in follow} | {_END: {_END}}
    changed = True
    while changed:
        changed = False
        for name in reversed(follow):
            after = [through[label] for label in follow[name] if label in lead]
            new = {name} | (set.intersection(*after) if after else {_END})
            if new != through[name]:
                through[name], changed = new, True
    points: dict[str, str] = {}
    for name in follow:
        later = through[name] - {name}
        # the nearest is the one behind which all the others are
        points[name] = next((meeting for meeting in later if later <= through[meeting]), _END)
    return points
