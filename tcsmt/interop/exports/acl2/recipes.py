"""A recipe on a unit as functions of ACL2: how it splits a number, its instructions, its additions outside.

The order of the steps is the algorithm's own (:meth:`.Algorithm.program`), over the names of words. The
split and an addition outside are written from their terms; an instruction is the function of a unit's book.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tcsmt.interop.exports.acl2.derivation import BookEvent
from tcsmt.interop.exports.acl2.units import UnitBook
from tcsmt.language.terms import Term, expand, var
from tcsmt.language.write.acl2 import Acl2Writer, defined
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, Specials
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.program import ProductRun, read
from tcsmt.prove.certificates.derivation import InvalidProof

#: What a format's special words are called in ``values.lisp``.
_SPECIALS = {Specials.IEEE: ":ieee", Specials.NAN_ONLY: ":nan-only", Specials.NONE: ":finite"}


def quoted_format(fmt: Format) -> str:
    """Return a format as ``values.lisp`` has it. Raises :class:`.InvalidProof` where it has none like it."""
    if not fmt.signed or fmt.ignored_bits or fmt.specials not in _SPECIALS:
        raise InvalidProof(f"the page of values has no format like {fmt.name}")
    return f"'({fmt.exponent_bits} {fmt.fraction_bits} {fmt.bias} {_SPECIALS[fmt.specials]})"


@dataclass(frozen=True)
class RecipeFunctions:
    """The functions that compute a recipe's result.

    name: of the function of its inputs. unit: the book of its instruction. ``NAME.word-I`` of a number is its
    word I, ``NAME.sums`` of all words and c the result, ``NAME.plus-N`` of x and y the word of x·2^-N + y.
    """

    name: str
    algorithm: Algorithm
    unit: UnitBook

    def word(self, number: int, of: str) -> str:
        """Return the call that gives a word of a number."""
        return f"({self.name}.word-{number} {of})"

    def words(self, lane: str) -> list[str]:
        """Return what the words of an input are called where they are arguments."""
        return [f"{lane}-{number}" for number in range(self.algorithm.split.words)]

    @property
    def inputs(self) -> tuple[list[str], list[str]]:
        """Return the names of the a's and of the b's."""
        a, b = ([f"{side}{lane}" for lane in range(self.algorithm.k)] for side in "ab")
        return a, b

    def events(self) -> list[BookEvent]:
        """Return the functions, in order."""
        width = self.algorithm.wide.width
        x, y = var("x", width), var("y", width)
        made = [
            self._of_terms(f"word-{number}", [x], word)
            for number, word in enumerate(self.algorithm.split.apply(x))
        ]
        sums = _Sums(self)
        rows = ([self.words(lane) for lane in side] for side in self.inputs)
        program = self.algorithm.program(self.algorithm.k)
        splits = [n for n, step in enumerate(program.steps) if step.kind == "split"]
        given = dict(zip(splits, rows, strict=True))
        result: str = read(program, sums, {"A": (), "B": (), "c": "c"}, given=given)
        made += [
            self._of_terms(f"plus-{shift}", [x, y], self.algorithm.added(x, shift, y).word())
            for shift in sorted(sums.shifts)
        ]
        a, b = self.inputs
        words = [word for lane in (*a, *b) for word in self.words(lane)]
        made.append(BookEvent(defined(f"{self.name}.sums", [*words, "c"], sums.lines, result)))
        calls = [self.word(i, lane) for lane in (*a, *b) for i in range(self.algorithm.split.words)]
        result = f"({self.name}.sums {' '.join(calls)} c)"
        return [*made, BookEvent(defined(self.name, [*a, *b, "c"], [], result))]

    def _of_terms(self, name: str, inputs: Sequence[Term], output: Term) -> BookEvent:
        names = {str(word.data): str(word.data) for word in inputs}
        bindings, (result,) = Acl2Writer(names).bindings(expand([output]), {})
        return BookEvent(defined(f"{self.name}.{name}", list(names), bindings, result))


@dataclass
class _Sums:
    """The steps after the split, as bindings. shifts: of the additions outside."""

    recipe: RecipeFunctions
    lines: list[tuple[str, str]] = field(default_factory=list)
    shifts: set[int] = field(default_factory=set)

    def constant(self, *, fmt: AnyFormat, word: int) -> str:
        """Return a constant."""
        return str(word)

    def chain(
        self, c: str | None, *operands: Sequence[Sequence[str]], unit: Model, runs: Sequence[ProductRun]
    ) -> str:
        """Write instructions one after the other."""
        word = c or "0"
        for run in runs:
            numbers = run.words or (0, 0)
            for first in range(0, len(run.indices), unit.k):
                part = run.indices[first : first + unit.k]
                nothing = ["0"] * (unit.k - len(part))
                left, right = (
                    [side[int(n)][pair] for n in part] for side, pair in zip(operands, numbers, strict=True)
                )
                call = [self.recipe.unit.function, *left, *nothing, *right, *nothing, word]
                word = self._bound(f"instruction-{len(self.lines)}", f"({' '.join(call)})")
        return word

    def add(self, x: str, y: str, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> str:
        """Write x·2^-shift + y, rounded once."""
        self.shifts.add(shift)
        return f"({self.recipe.name}.plus-{shift} {x} {y})"

    def negate(self, x: str, *, fmt: Format) -> str:
        """Write -x."""
        return f"(logxor {1 << fmt.sign_bit} {x})"

    def note(self, x: str, *, kind: Kind, number: int | None, fmt: AnyFormat) -> str:
        """Return a step's word under a name."""
        return self._bound(f"sum-{len(self.lines)}", x)

    def _bound(self, name: str, value: str) -> str:
        if not value.startswith("("):
            return value
        self.lines.append((name, value))
        return name
