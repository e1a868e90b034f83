"""The common parts of compiled kernels, as LLVM text: loops over rows, or over the steps of a product.

What is computed in them is in :mod:`.integer_kernels` and :mod:`.float_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcsmt.language.terms import FALSE, TRUE, Term, substitute, umax
from tcsmt.language.write.llvm import Emitter, container, over_groups
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, Specials
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model

#: Bits of a vector of words of B: as many columns are computed side by side, with the same words of A.
COLUMNS = 512
#: Bits of a part of a vector in which processors shuffle.
_SHUFFLED = 128


@dataclass(frozen=True)
class OperandArray:
    """One input array of a model: its name, its variables in lane order, and their format."""

    name: str
    terms: tuple[Term, ...]
    format: AnyFormat

    @property
    def bits(self) -> int:
        """Return how many bits a stored word has."""
        return unsigned(self.format).itemsize * 8


def operands(model: Model) -> list[OperandArray]:
    """Return the model's input arrays: a, b, c, and the block scales where it has them."""
    formats = model.operand_formats.named
    terms = model.trace.operands.named
    return [
        OperandArray(name, (terms[name],) if name == "c" else tuple(terms[name]), fmt)
        for name, fmt in formats.items()
    ]


def lanes(model: Model) -> dict[Term, int]:
    """Return the lane of each operand, c after the last one, as :func:`.schedule` takes it; scales have
    none.
    """
    products = (operand.terms for operand in operands(model) if len(operand.terms) == model.k)
    return {term: lane for terms in products for lane, term in enumerate(terms)} | {model.trace.c: model.k}


class KernelSource:
    """The source of a kernel's functions.

    inputs: the model's arrays. k: lanes. width: rows, or columns, in a vector. uses_floats: whether the state
    of the floating-point unit can change the results. vector: bits of a vector of input words.
    """

    uses_floats = True

    def __init__(self, model: Model, vector: int = COLUMNS) -> None:
        self.inputs, self.k = operands(model), model.k
        operand_bits = container(max(model.a_format.width, model.b_format.width))
        self.width = vector // operand_bits
        self._least = min(operand_bits, 32)
        self._bits = unsigned(model.d_format).itemsize * 8
        self._lanes = lanes(model)
        self._result_width = model.trace.output.width

    def _emitter(self, prefix: str = "v", block: str = "group") -> Emitter:
        return Emitter(self.width, self._least, prefix, block=block)

    def _read_rows(self, e: Emitter, rooms: Collection[str] = (), order: Sequence[int] = ()) -> None:
        """Read the words of some rows. rooms: operands that go to memory. order: of their lanes there."""
        for operand in self.inputs:
            for lane, (bits, vector) in enumerate(self._gathered(e, operand)):
                term = operand.terms[lane]
                held = e.container(term.width)
                word = e.fitted(bits, held, vector)
                if operand.name in rooms:
                    e.store(f"%{operand.name}.lanes", held, str(order.index(lane) * self.width), word)
                else:
                    e.register[term] = word

    def _over_rows(self, write: Callable[[Emitter], str], parameters: str = "", entry: str = "") -> str:
        """Write the loop over rows. write: gives the results' register. entry: what comes first."""
        e = self._emitter()
        self._store(e, write(e), e.emit(f"mul i64 %g, {self.width}"))
        pointers = "".join(f", ptr noalias %{operand.name}" for operand in self.inputs)
        signature = f"ptr noalias %d{pointers}{parameters}"
        return over_groups("rows", signature, e.text, last=e.block, entry=entry)

    def _read_step(self, e: Emitter, starts: Mapping[str, str], besides: Sequence[str]) -> None:
        """Read the words of a step of each operand but those ``besides``. starts: of the rows' words."""
        for operand in self.inputs:
            if operand.name in besides:
                continue
            moved = e.emit(f"mul i64 %s, {len(operand.terms)}")
            moved = e.emit(f"mul i64 {moved}, %{operand.name}.lane")
            base = e.emit(f"add i64 {starts[operand.name]}, {moved}")
            for lane, term in enumerate(operand.terms):
                place = e.emit(f"mul i64 %{operand.name}.lane, {lane}")
                place = e.emit(f"add i64 {base}, {place}")
                if operand.name in ("a", "scale_a"):
                    vector = e.repeated(operand.bits, load(e, operand, place, f"i{operand.bits}"))
                else:
                    vector = load(e, operand, place)
                e.register[term] = e.fitted(operand.bits, e.container(term.width), vector)

    def _over_steps(
        self,
        write: Callable[[Emitter, Mapping[str, str]], str],
        parameters: str = "",
        *,
        carried: Sequence[tuple[str, str, str]] = (),
        ended: Callable[[Emitter], None] = lambda e: None,
    ) -> str:
        """Write the loop over steps. write: gives a step's results, c's in ``%c.word``. carried: what else
        goes from step to step, 0 at first: names before and after a step, and the type. ended: writes what
        comes after the last step.
        """
        before, e, after = self._emitter("b"), self._emitter(block="step"), self._emitter("a")
        starts = {o.name: before.emit(f"mul i64 %g, %{o.name}.group") for o in self.inputs}
        (addend,) = (operand for operand in self.inputs if operand.name == "c")
        loaded = before.load("%c", addend.bits, starts["c"])
        first = before.fitted(addend.bits, before.container(addend.terms[0].width), loaded)
        e.register[addend.terms[0]] = "%c.word"
        result = write(e, starts)
        self._store(after, "%c.next", after.emit("mul i64 %g, %d.group"))
        ended(after)
        names = [operand.name for operand in self.inputs]
        strided = "".join(f", ptr noalias %{n}, i64 %{n}.lane, i64 %{n}.group" for n in names)
        kind = e.type(e.container(self._result_width))
        more = "".join(
            f"  {start} = phi {of} [zeroinitializer, %group], [{end}, %{e.block}]\n"
            for start, end, of in carried
        )
        body = f"""{before.text}
  br label %step
step:
  %s = phi i64 [0, %group], [%s.next, %{e.block}]
  %c.word = phi {kind} [{first}, %group], [%c.next, %{e.block}]
{more}{e.text}
  %c.next = freeze {kind} {result}
  %s.next = add i64 %s, 1
  %s.more = icmp ult i64 %s.next, %steps
  br i1 %s.more, label %step, label %finish
finish:
{after.text}"""
        signature = f"i64 %steps, ptr noalias %d, i64 %d.group{strided}{parameters}"
        return over_groups("outer", signature, body, last="finish")

    def _gathered(self, e: Emitter, operand: OperandArray) -> Iterator[tuple[int, str]]:
        """Yield a vector for each lane, from rows one after the other, and the bits of its elements."""
        bits, lanes = operand.bits, len(operand.terms)
        base = e.emit(f"mul i64 %g, {self.width * lanes}")
        if lanes == 1:
            yield bits, load(e, operand, base)
        elif lanes & (lanes - 1) == 0:
            pair = 2 if bits == 8 else 1  # bytes travel in pairs: half as many shuffles
            for vector in self._transposed(e, operand, base, bits * pair, lanes // pair):
                if pair == 1:
                    yield bits, vector
                else:
                    yield 16, e.binary("and", 16, vector, e.constant(255, 16))
                    yield 16, e.binary("lshr", 16, vector, e.constant(8, 16))
        else:
            for lane in range(lanes):
                vector = "poison"
                for row in range(self.width):
                    place = e.emit(f"add i64 {base}, {row * lanes + lane}")
                    word = load(e, operand, place, f"i{bits}")
                    vector = e.emit(f"insertelement {e.type(bits)} {vector}, i{bits} {word}, i64 {row}")
                yield bits, vector

    def _transposed(
        self, e: Emitter, operand: OperandArray, base: str, bits: int, columns: int
    ) -> Iterator[str]:
        """Yield the columns of a matrix of ``width`` rows, of elements of so many bits: as many at a time as
        a part of a vector holds.

        Vectors are made of parts in which a processor shuffles with one instruction, and each part has rows
        of its own: the first ones in the first part, and so on. Every interleaving of two vectors brings one
        bit of the rows' numbers, the highest first, to where the last place of a part is counted.
        """
        if columns == 1:
            yield load(e, operand, base, e.type(bits))
            return
        size = _SHUFFLED // bits
        for column in range(0, columns, size):
            vectors = self._parts(e, operand, base, bits, columns, column)
            bit = size // 2
            while bit:
                vectors = self._interleaved(e, bits, vectors, bit)
                bit //= 2
            for lane in range(column, min(column + size, columns)):
                yield vectors[tuple((row, lane) for row in range(size))]

    def _parts(
        self, e: Emitter, operand: OperandArray, base: str, bits: int, columns: int, column: int
    ) -> dict[tuple[tuple[int, int], ...], str]:
        """Return vectors as they lie in memory, of the columns from one on: by row and column of elements of
        their first parts.
        """
        size = _SHUFFLED // bits
        vectors: dict[tuple[tuple[int, int], ...], str] = {}
        for number in range(min(size, columns)):
            first = number * columns + column if columns > size else number * size
            parts = []
            for part in range(self.width // size):
                moved = (part * size * columns + first) * bits // operand.bits
                place = e.emit(f"add i64 {base}, {moved}")
                parts.append(load(e, operand, place, f"<{size} x i{bits}>"))
            length = size
            while len(parts) > 1:
                pairs = zip(parts[::2], parts[1::2], strict=True)
                parts = [_joined(e, f"<{length} x i{bits}>", 2 * length, *pair) for pair in pairs]
                length *= 2
            vectors[tuple(divmod(first + place, columns) for place in range(size))] = parts[0]
        return vectors

    def _interleaved(
        self, e: Emitter, bits: int, vectors: Mapping[tuple[tuple[int, int], ...], str], bit: int
    ) -> dict[tuple[tuple[int, int], ...], str]:
        """Return each vector with that whose rows are ``bit`` more. vectors: by elements' row and column."""
        new, kind, size = {}, e.type(bits), _SHUFFLED // bits
        for places, vector in vectors.items():
            others = tuple((row + bit, column) for row, column in places)
            if others not in vectors:
                continue
            for half in (0, size // 2):
                picks = [
                    start + half + place + from_other
                    for start in range(0, e.rows, size)
                    for place in range(size // 2)
                    for from_other in (0, e.rows)
                ]
                mask = ", ".join(f"i32 {pick}" for pick in picks)
                pairs = zip(places[half:][: size // 2], others[half:][: size // 2], strict=True)
                new[tuple(place for pair in pairs for place in pair)] = e.emit(
                    f"shufflevector {kind} {vector}, {kind} {vectors[others]}, <{e.rows} x i32> <{mask}>"
                )
        return new

    def _store(self, e: Emitter, value: str, place: str) -> None:
        e.store("%d", self._bits, place, e.fitted(e.container(self._result_width), self._bits, value))


def without_specials(
    roots: Sequence[Term], inputs: Sequence[OperandArray], reading: Sequence[Term] = (FALSE, TRUE)
) -> list[Term]:
    """Return the graphs as they are where no word is a NaN or an infinity.

    reading: how words are read there: whether a subnormal number is zero.
    """
    special = [
        flag
        for operand in inputs
        for term in operand.terms
        for flush in reading
        for x in ([decode(operand.format, term, flush=flush)] if isinstance(operand.format, Format) else [])
        for flag in (x.infinite, x.nan)
    ]
    return substitute(roots, dict.fromkeys(special, FALSE))


def some_special(fmt: AnyFormat, words: Iterable[Term]) -> Term:
    """Return whether some word is a NaN or an infinity, with few operations: by the largest magnitude."""
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return FALSE
    last = fmt.sign_bit - 1 if fmt.signed else fmt.width - 1
    magnitudes = [word[last:0] for word in words]
    least = fmt.infinity_word if fmt.has_infinity else fmt.nan_word
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:  # all bits flipped but the sign: the largest word
        magnitudes = [word ^ (fmt.nan_word - 1) for word in words]
        least = (1 << fmt.width) - 1
    return ~umax(*magnitudes).ult(least)


def some(e: Emitter, flags: str) -> str:
    """Return whether the flag of some row is 1."""
    word = e.emit(f"bitcast {e.type(1)} {flags} to i{e.rows}")
    return e.emit(f"icmp ne i{e.rows} {word}, 0")


def load(e: Emitter, operand: OperandArray, place: str, kind: str = "") -> str:
    """Return a vector of an operand's words, or what else ``kind`` says, from a place in its array."""
    return e.load(f"%{operand.name}{e.suffix}", operand.bits, place, kind)


def _joined(e: Emitter, kind: str, length: int, first: str, second: str) -> str:
    """Return one vector of the elements of two."""
    mask = ", ".join(f"i32 {place}" for place in range(length))
    return e.emit(f"shufflevector {kind} {first}, {kind} {second}, <{length} x i32> <{mask}>")
