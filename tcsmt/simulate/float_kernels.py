"""Kernels of a proved form in floating-point operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TypeAlias

import numpy as np

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run.jit import converts_half, vector_bits
from tcsmt.language.terms import FALSE, Term, any_of, operands_first, substitute, var
from tcsmt.language.write.llvm import Emitter, container, native, of_halves, over_groups, schedule
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.arithmetic.native import half_word, through_half
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.forms.dot_form import DotForm
from tcsmt.simulate.forms.group_form import GroupForm
from tcsmt.simulate.forms.proved_forms import ProvedBlock
from tcsmt.simulate.kernel_source import KernelSource, load, some, some_special, without_specials
from tcsmt.simulate.prepared import PreparedWords, prepared

#: A loop goes over the lanes of a step where there are more than the first number, and takes up to the second
#: in one turn, or the third where it prepares them, too: LLVM keeps more values of a large block at a time
#: than there are registers.
_FEW_LANES, _TURN, _TURN_OF_ROWS = 4, 8, 4


class FloatRows(KernelSource):
    """Rows by a proved form in floating-point operations, one sum after the other where a unit chains them.

    What the form computes of single words comes in the same loop, without NaNs and infinities, which are
    looked for beside it.
    """

    def __init__(self, model: Model, block: ProvedBlock) -> None:
        super().__init__(model, vector_bits())
        factors = [operand for operand in self.inputs if operand.name in ("a", "b")]
        roots = without_specials(_chained(model, block), factors, [FALSE])  # a form flushes words, if any
        (plain, *guards) = (root for (root,) in fitted(roots, _native()))
        self._plain = plain
        self._order = [lane for lanes in block.sums for lane in lanes]
        special = [
            some_special(operand.format, [operand.terms[lane] for lane in lanes])
            for lanes in block.sums
            for operand in factors
        ]
        self._failures = _Failures(any_of([*guards, *special]))

    @staticmethod
    def pays(block: ProvedBlock) -> bool:
        """Return whether rows are faster than by integers: operands are converted with few instructions, or
        not.
        """
        if isinstance(block.form, GroupForm):
            return True
        if isinstance(block.form, DotForm) and len(block.form.grids) > 1:
            return False  # (measured: 0.7 to 1.1 times the rate of integers)
        return converts_half() or all(through_half(var("x", f.width), f) is None for f in _formats(block))

    def rows(self) -> str:
        """Return a function ``rows`` over arrays (rows, lanes) in memory order.

        The array ``%failed`` has a bit for each row, the lowest one first: whether its result says nothing.
        """
        failures, emitter = self._failures, self._emitter()
        sources = {
            operand.terms[lane]: _Prepared(operand.name, 0, place, emitter.container(operand.format.width))
            for operand in self.inputs
            if operand.name in ("a", "b")
            for place, lane in enumerate(self._order)
        }
        loops, roots = _over_lanes([self._plain, *failures.words], sources)
        if not loops:
            sources = {}
        rooms = {source.name: f"[{self.width * self.k} x i{source.bits}]" for source in sources.values()}

        def write(e: Emitter) -> str:
            def read(variable: Term, first: str) -> str:
                source = sources[variable]
                lane = e.emit(f"add i64 {first}, {source.lane}")
                return e.load(f"%{source.name}.lanes", source.bits, e.emit(f"mul i64 {lane}, {self.width}"))

            self._read_rows(e, rooms, self._order)
            result, *words = _computed(e, loops, roots, sources, self._lanes, read, _TURN_OF_ROWS)
            flags = failures.flags(e, failures.registers(e, words))
            flags = e.emit(f"bitcast {e.type(1)} {flags} to i{e.rows}")
            address = e.emit(f"getelementptr i{e.rows}, ptr %failed, i64 %g")
            e.lines.append(f"  store i{e.rows} {flags}, ptr {address}, align {e.rows // 8}")
            return result

        entry = "".join(f"  %{name}.lanes = alloca {room}, align 64\n" for name, room in rooms.items())
        return self._over_rows(write, ", ptr noalias %failed", entry)


def _formats(block: ProvedBlock) -> list[Format]:
    return [float_format(fmt) for fmt in (block.model.a_format, block.model.b_format)]


def _native() -> Callable[[str], bool]:
    """Return whether an operation is an instruction of this processor, by its name."""
    half = converts_half()  # asked once: LLVM takes a thousandth of a second to look at the processor
    return lambda name: native(name) or (half and of_halves(name))


def _chained(model: Model, block: ProvedBlock) -> list[Term]:
    """Return the form's result on the lanes of each of the model's blocks, each the next one's c; and all
    guards.
    """
    trace, words, k = block.model.trace, model.trace, block.model.k
    result, guards = words.c, []
    result_of_words, guard_of_words = _by_half(block, "abc")
    for first in range(0, model.k, k):
        values = {trace.c: result}
        for number, lane in enumerate(block.lanes[first : first + k]):
            values |= {trace.a[number]: words.a[lane], trace.b[number]: words.b[lane]}
        result, guard = substitute([result_of_words, guard_of_words], values)
        guards.append(guard)
    return [result, *guards]


def _by_half(block: ProvedBlock, names: str) -> list[Term]:
    """Return a form's result and its guard, in which numbers of some operands are converted by way of
    binary16 where that is shorter. Of words that are special they say nothing.
    """
    trace, short = block.model.trace, dict[Term, Term]()
    words = {"a": trace.a, "b": trace.b, "c": [trace.c]}
    formats = dict(zip("abc", (*_formats(block), float_format(block.model.c_format)), strict=True))
    factors = dict(zip("ab", block.factor_formats, strict=True))
    for name in names:
        fmt = formats[name]
        factor = factors.get(name, fmt)
        for word in words[name]:
            if (half := through_half(word, fmt)) is not None:
                short[widen(widen(word, fmt, factor), factor, FORMATS["f32"])] = half
            if factor == FORMATS["f16"] != fmt and (narrow := half_word(word, fmt)) is not None:
                short[widen(word, fmt, factor)] = narrow
    return substitute([block.form.result, block.form.guard], short)


class FloatColumns(KernelSource):
    """Products by a proved form in floating-point operations.

    prepared: what is computed of single words of a and of b, before products.
    """

    def __init__(self, block: ProvedBlock, roots: Sequence[Term], own: list[PreparedWords]) -> None:
        super().__init__(block.model)
        self._plain, self._guard = roots
        self.prepared = own

    @classmethod
    def of(cls, block: ProvedBlock) -> FloatColumns | None:
        """Return the columns of a block; None where lanes are prepared in different ways."""
        words = block.model.trace
        roots = [root for (root,) in fitted(_by_half(block, "c" if converts_half() else ""), _native())]
        operands = prepared({"a": words.a, "b": words.b}, roots)
        return None if operands is None else cls(block, roots, operands)

    def outer(self) -> str:
        """Return a function ``outer`` as that of the integers, of what is prepared.

        Where the results say nothing for some column of a row, its byte in the array ``%failed`` is 1.
        """
        sources = {
            variable: _Prepared(operand.name, number, lane, bits)
            for operand in self.prepared
            for number, (bits, variables) in enumerate(zip(operand.bits, operand.inputs, strict=True))
            for lane, variable in enumerate(variables)
        }
        inputs = {
            term: free
            for operand in self.prepared
            for terms, variables in zip(operand.terms, operand.inputs, strict=True)
            for term, free in zip(terms, variables, strict=True)
        }
        plain, guard = substitute([self._plain, self._guard], inputs)
        failures = _Failures(guard)
        lanes = {variable: source.lane for variable, source in sources.items()}
        loops, roots = _over_lanes([plain, *failures.words], sources)
        carried = failures.carried(self._emitter())

        def write(e: Emitter, starts: Mapping[str, str]) -> str:
            self._read_step(e, starts, ["c", *(operand.name for operand in self.prepared)])
            place = {operand.name: self._place(e, operand, starts[operand.name]) for operand in self.prepared}

            def read(variable: Term, first: str) -> str:
                source = sources[variable]
                return self._read_prepared(e, source, place[source.name], first, variable.width)

            result, *words = _computed(e, loops, roots, sources, lanes | self._lanes, read, _TURN)
            registers = failures.registers(e, words, before=[before for before, _, _ in carried])
            for (_, after, kind), register in zip(carried, registers, strict=True):
                e.lines.append(f"  {after} = freeze {kind} {register}")
            return result

        pointers = "".join(
            f", ptr noalias %{operand.name}.{number}"
            for operand in self.prepared
            for number in range(len(operand.terms))
        )
        return self._over_steps(
            write,
            f", ptr noalias %failed{pointers}",
            carried=carried,
            ended=lambda e: _store_flag(e, failures.flags(e, [after for _, after, _ in carried])),
        )

    def stored_bits(self, name: str) -> list[int]:
        """Return how many bits are stored for each word of a or b: of a, no fewer than 32, so that a load
        alone repeats it in a vector.
        """
        (operand,) = (operand for operand in self.prepared if operand.name == name)
        return [max(bits, 32) if name == "a" else bits for bits in operand.bits]

    def prepare(self, name: str) -> str:
        """Return a function ``prepare`` over one array of words of a or b, and one for each result."""
        (source,) = (source for source in self.prepared if source.name == name)
        (operand,) = (operand for operand in self.inputs if operand.name == name)
        e, word = self._emitter(), source.words[0]
        place = e.emit(f"mul i64 %g, {self.width}")
        loaded = load(e, operand, place)
        e.register[word] = e.fitted(operand.bits, e.container(word.width), loaded)
        terms = [lanes[0] for lanes in source.terms]
        e.run(schedule(terms, {}))
        for number, (term, bits) in enumerate(zip(terms, source.bits, strict=True)):
            value = e.fitted(e.container(term.width), bits, e.register[term])
            stored = self.stored_bits(name)[number]
            if stored > bits:
                extended = e.convert("zext", bits, stored, value)
                value = e.binary(
                    "or", stored, extended, e.binary("shl", stored, extended, e.constant(bits, stored))
                )
            e.store(f"%to.{number}", stored, place, value)
        results = "".join(f", ptr noalias %to.{number}" for number in range(len(terms)))
        return over_groups("prepare", f"ptr noalias %{name}{results}", e.text)

    def _place(self, e: Emitter, operand: PreparedWords, start: str) -> str:
        """Return the place of a step's first words that are prepared: lanes lie side by side."""
        moved = e.emit(f"mul i64 %s, {len(operand.words) * (1 if operand.name == 'a' else self.width)}")
        return e.emit(f"add i64 {start}, {moved}")

    def _read_prepared(self, e: Emitter, source: _Prepared, place: str, first: str, width: int) -> str:
        """Return what is prepared of a, the same in every column, or of b. first: the number that is added to
        the lane's.
        """
        each = 1 if source.name == "a" else self.width
        moved = e.emit(f"add i64 {first}, {source.lane}")
        place = e.emit(f"add i64 {place}, {e.emit(f'mul i64 {moved}, {each}')}")
        pointer = f"%{source.name}.{source.number}"
        if source.name == "b":
            vector = e.load(pointer, source.bits, place)
        elif source.bits == 16:
            vector = e.repeated_pair(e.load(pointer, 32, place, "i32"))
        else:
            vector = e.repeated(source.bits, e.load(pointer, source.bits, place, f"i{source.bits}"))
        return e.fitted(source.bits, e.container(width), vector)


@dataclass(frozen=True)
class _Prepared:
    """The place of a variable: a result prepared of an operand, its lane, and its elements' bits."""

    name: str
    number: int
    lane: int
    bits: int


#: A variable for a sum or a maximum, the operation, and what it is of, lane by lane.
_Reduction: TypeAlias = tuple[Term, str, list[Term]]


def _computed(
    e: Emitter,
    loops: Sequence[Sequence[_Reduction]],
    roots: Sequence[Term],
    sources: Mapping[Term, _Prepared],
    lanes: Mapping[Term, int],
    read: Callable[[Term, str], str],
    turn: int,
) -> list[str]:
    """Return the registers of roots. loops: what they need, as :func:`_over_lanes` has it. read: as
    ``Emitter.loop`` takes it. turn: lanes of a loop's turn, at most.
    """
    for together in loops:
        needed = [part for _, _, args in together for part in _besides(args[0], sources)]
        e.run(schedule(needed, lanes))
        reductions = [(op, args) for _, op, args in together]
        apart = _apart(together[0][2], sources)

        def moved(variable: Term, first: str, apart: int = apart) -> str:
            return read(variable, first if apart == 1 else e.emit(f"mul i64 {first}, {apart}"))

        registers = e.loop(reductions, _turn(len(together[0][2]), turn), moved)
        e.register |= dict(zip((variable for variable, _, _ in together), registers, strict=True))
    for variable in operands_first(roots):
        if variable in sources:
            e.register[variable] = read(variable, "0")
    e.run(schedule(roots, lanes))
    return [e.register[root] for root in roots]


def _over_lanes(
    roots: Sequence[Term], sources: Mapping[Term, _Prepared]
) -> tuple[list[list[_Reduction]], list[Term]]:
    """Return sums and maxima of what is alike in lanes equally far apart, those together that one loop can
    make; and the roots of their variables.
    """
    loops: dict[tuple[int, ...], list[_Reduction]] = {}
    replaced: dict[Term, Term] = {}
    depth: dict[Term, int] = {}
    for node in operands_first(roots):
        is_addition = node.op == "add" and node.width in (16, 32, 64)
        if not (is_addition or node.op == "umax") or len(node.args) <= _FEW_LANES:
            continue
        args = _alike(substitute(node.args, replaced), sources)
        if args is not None:
            inner = operands_first(args[:1])
            replaced[node] = var(f"total {len(replaced)}", node.width)
            depth[replaced[node]] = 1 + max((depth.get(term, 0) for term in inner), default=0)
            first = min(sources[term].lane for term in inner if term in sources)
            key = depth[replaced[node]], first, len(args), _apart(args, sources)
            loops.setdefault(key, []).append((replaced[node], node.op, args))
    return [loops[key] for key in sorted(loops)], substitute(roots, replaced)


def _alike(args: Sequence[Term], sources: Mapping[Term, _Prepared]) -> list[Term] | None:
    """Return the terms in the order of their lanes, which lie equally far apart, where each is the first one
    but for its lane; else None.
    """
    by_lane: dict[int, Term] = {}
    for arg in args:
        lanes = {sources[term].lane for term in operands_first([arg]) if term in sources}
        if len(lanes) == 1:
            by_lane[lanes.pop()] = arg
    ordered = sorted(by_lane)
    if len(ordered) != len(args) or len(set(np.diff(ordered))) != 1:
        return None
    first = ordered[0]
    variables = [term for term in operands_first([by_lane[first]]) if term in sources]
    place = {source: term for term, source in sources.items()}
    for lane, arg in by_lane.items():
        moved = {term: place[replace(sources[term], lane=lane)] for term in variables}
        if substitute([by_lane[first]], moved) != [arg]:
            return None
    return [by_lane[lane] for lane in ordered]


def _apart(args: Sequence[Term], sources: Mapping[Term, _Prepared]) -> int:
    """Return how far apart the lanes of neighbouring terms are."""
    first, second = (
        {sources[term].lane for term in operands_first([arg]) if term in sources} for arg in args[:2]
    )
    return second.pop() - first.pop()


def _besides(arg: Term, sources: Mapping[Term, _Prepared]) -> list[Term]:
    """Return what a term needs besides its lane's variables."""
    lane = {term for term in operands_first([arg]) if term in sources}
    inner = set(lane)
    for node in operands_first([arg]):
        if any(part in inner for part in node.args):
            inner.add(node)
    return [part for node in inner for part in node.args if part not in inner and part.op != "const"]


def _turn(count: int, most: int) -> int:
    """Return how many lanes one turn of a loop over so many takes, with two turns at least."""
    return next(size for size in range(min(most, count // 2), 0, -1) if count % size == 0)


class _Failures:
    """Failures of a guard, gathered over many steps with few instructions.

    A guard is a disjunction. Of a word whose first bit says it, the disjunction of all words is kept; of a
    word that may not reach some limit, the largest.
    """

    def __init__(self, guard: Term) -> None:
        self.parts = [_part(term) for term in _disjuncts(guard)]

    @property
    def words(self) -> list[Term]:
        """Return what has to be computed in each step."""
        return [part.word for part in self.parts]

    @property
    def _kept(self) -> list[_Part]:
        """Return one for each word that is kept."""
        return list({part.key: part for part in self.parts}.values())

    def carried(self, e: Emitter) -> list[tuple[str, str, str]]:
        """Return names of what is kept before and after a step, and the type."""
        return [
            (f"%failed.{number}.before", f"%failed.{number}", e.type(part.bits))
            for number, part in enumerate(self._kept)
        ]

    def registers(self, e: Emitter, words: Sequence[str], before: Sequence[str] = ()) -> list[str]:
        """Return what is kept after a step. words: the registers of what was computed in it."""
        registers = []
        for number, reduction in enumerate(self._kept):
            parts_here = [*before[number : number + 1]]
            parts = zip(self.parts, words, strict=True)
            parts_here += [part.fitted(e, word) for part, word in parts if part.key == reduction.key]
            registers.append(reduce(partial(reduction.together, e), parts_here))
        return registers

    def flags(self, e: Emitter, registers: Sequence[str]) -> str:
        """Return whether the guard was 1 in each row."""
        flags = []
        for part, register in zip(self._kept, registers, strict=True):
            test, limit = ("slt", 0) if part.limit is None else ("uge", part.limit)
            flags.append(
                e.emit(f"icmp {test} {e.type(part.bits)} {register}, {e.constant(limit, part.bits)}")
            )
        return reduce(partial(e.binary, "or", 1), flags)


@dataclass(frozen=True)
class _Part:
    """One term of a disjunction: the word, and the limit that it may not reach, or None: its first bit says
    it.
    """

    word: Term
    limit: int | None

    @property
    def bits(self) -> int:
        return 32 if self.word.width == 1 else container(self.word.width)

    @property
    def key(self) -> tuple[int, int | None]:
        return self.bits, self.limit

    def together(self, e: Emitter, word: str, other: str) -> str:
        if self.limit is None:
            return e.binary("or", self.bits, word, other)
        return e.call("umax", self.bits, word, other)

    def fitted(self, e: Emitter, register: str) -> str:
        """Return the word, in a register, as it is kept."""
        if self.word.width == 1:
            return e.convert("sext", 1, self.bits, register)
        return e.fitted(e.container(self.word.width), self.bits, register)


def _disjuncts(guard: Term) -> list[Term]:
    return [term for arg in guard.args for term in _disjuncts(arg)] if guard.op == "or" else [guard]


def _part(term: Term) -> _Part:
    if term.op == "extract":
        (word,) = term.args
        if word.width in (32, 64) and term.data == (word.width - 1, word.width - 1):
            return _Part(word, None)
    if term.op == "not" and term.args[0].op == "ult" and term.args[0].args[1].op == "const":
        word, limit = term.args[0].args
        return _Part(word, limit.value)
    return _Part(term, None)


def _store_flag(e: Emitter, flags: str) -> None:
    """Store whether some flag is 1, into the byte of this group."""
    byte = e.emit(f"zext i1 {some(e, flags)} to i8")
    address = e.emit("getelementptr i8, ptr %failed, i64 %g")
    e.lines.append(f"  store i8 {byte}, ptr {address}, align 1")
