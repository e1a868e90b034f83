"""Terms as clauses: every bit of every node is a literal, every gate a few clauses.

A word is a list of literals, the lowest bit first; a literal is a variable's number, negative where it is
negated, as in DIMACS files. Variable 1 is true. Gates of the same inputs are one gate, and gates of constants
are none, so that stages which two models share are the same literals.

Sums and products add up columns of bits, each sorted: sums of the same words in another order are the same
literals, and so is a sum shifted left and the sum of the words shifted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from tcsmt.language.terms import Term, expand, operands_first, variables
from tcsmt.support.errors import TooLarge

TRUE, FALSE = 1, -1
#: A formula of more clauses is refused: products of wide words have any number.
_MOST = 1 << 22
Word = list[int]


@dataclass
class Cnf:
    """Clauses that have a solution where a term has one. words: the literals of each input, by its name."""

    clauses: list[tuple[int, ...]] = field(default_factory=lambda: [(TRUE,)])
    words: dict[str, Word] = field(default_factory=dict)
    variables: int = TRUE
    _gates: dict[tuple[object, ...], int] = field(default_factory=dict)

    def dimacs(self) -> str:
        """Return the clauses as a DIMACS file, the input bits named in comments."""
        named = [f"c {name}: {' '.join(map(str, word))}" for name, word in self.words.items()]
        lines = [" ".join(map(str, (*clause, 0))) for clause in self.clauses]
        return "\n".join([*named, f"p cnf {self.variables} {len(self.clauses)}", *lines, ""])

    def word(self, width: int) -> Word:
        """Return a word of new variables."""
        self.variables += width
        return list(range(self.variables - width + 1, self.variables + 1))

    def both(self, a: int, b: int) -> int:
        """Return a literal for a and b."""
        if b in (a, TRUE):
            return a
        if a == TRUE:
            return b
        if FALSE in (a, b) or a == -b:
            return FALSE
        a, b = sorted((a, b))
        return self._gate(("and", a, b), lambda v: [(-v, a), (-v, b), (v, -a, -b)])

    def either(self, a: int, b: int) -> int:
        """Return a literal for a or b."""
        return -self.both(-a, -b)

    def unlike(self, a: int, b: int) -> int:
        """Return a literal that is true where a and b differ."""
        sign = (a < 0) != (b < 0)
        a, b = sorted((abs(a), abs(b)))
        if a == b:
            return TRUE if sign else FALSE
        if a == TRUE:
            return b if sign else -b
        v = self._gate(("xor", a, b), lambda v: [(-v, a, b), (-v, -a, -b), (v, -a, b), (v, a, -b)])
        return -v if sign else v

    def choice(self, s: int, t: int, e: int) -> int:
        """Return a literal for t where s holds, else e."""
        if s in (TRUE, FALSE) or t == e:
            return t if s != FALSE else e
        if s < 0:
            s, t, e = -s, e, t
        if t == -e:
            return -self.unlike(s, t)
        if t in (TRUE, FALSE, s, -s):
            return self.either(s, e) if t in (TRUE, s) else self.both(-s, e)
        if e in (TRUE, FALSE, s, -s):
            return self.either(-s, t) if e in (TRUE, -s) else self.both(s, t)
        return self._gate(
            ("ite", s, t, e),
            lambda v: [(-v, -s, t), (v, -s, -t), (-v, s, e), (v, s, -e), (-v, t, e), (v, -t, -e)],
        )

    def majority(self, a: int, b: int, c: int) -> int:
        """Return a literal that is true where at least two of the three are."""
        a, b, c = sorted((a, b, c), key=abs)
        if abs(a) == TRUE:
            return self.either(b, c) if a == TRUE else self.both(b, c)
        for p, q, other in ((a, b, c), (b, c, a)):
            if abs(p) == abs(q):
                return p if p == q else other
        if a < 0:
            return -self.majority(-a, -b, -c)
        pairs = ((a, b), (a, c), (b, c))
        return self._gate(
            ("maj", a, b, c),
            lambda v: [clause for x, y in pairs for clause in ((v, -x, -y), (-v, x, y))],
        )

    def _gate(self, key: tuple[object, ...], clauses: Callable[[int], list[tuple[int, ...]]]) -> int:
        """Return the output of a gate: the one that there is, or a new one."""
        gate = self._gates.get(key)
        if gate is None:
            if len(self.clauses) > _MOST:
                raise TooLarge(f"a formula has more than {_MOST} clauses")
            (gate,) = self.word(1)
            self._gates[key] = gate
            self.clauses += clauses(gate)
        return gate

    def select(self, s: int, t: Word, e: Word) -> Word:
        """Return a choice between two words."""
        return [self.choice(s, x, y) for x, y in zip(t, e, strict=True)]

    def sum(self, columns: Sequence[Iterable[int]]) -> Word:
        """Return the sum of bits, those of each place by themselves, without the last carry."""
        total: Word = []
        carried: list[int] = []
        for column in columns:
            bits = sorted(bit for bit in (*column, *carried) if bit != FALSE)
            carried, first = [], 0
            while len(bits) - first > 1:
                a, b, c = bits[first], bits[first + 1], FALSE
                first += 2
                if len(bits) > first:
                    c = bits[first]
                    first += 1
                bits.append(self.unlike(self.unlike(a, b), c))
                carried.append(self.majority(a, b, c))
            total.append(bits[first] if bits else FALSE)
        return total

    def less(self, x: Word, y: Word) -> int:
        """Return a literal for x < y, unsigned: what decides is the highest place at which they differ."""
        below = FALSE
        for a, b in zip(x, y, strict=True):
            below = self.majority(-a, b, below)
        return below

    def same(self, x: Word, y: Word) -> int:
        """Return a literal that is true where all bits are equal."""
        return reduce(self.both, (-self.unlike(a, b) for a, b in zip(x, y, strict=True)), TRUE)

    def shifted_right(self, x: Word, count: Word, fill: int) -> Word:
        """Return x shifted right by a word, whose places are filled."""
        for place, bit in enumerate(count):
            by = min(1 << place, len(x))
            x = self.select(bit, x[by:] + [fill] * by, x)
        return x


def as_clauses(goal: Term) -> Cnf:
    """Return clauses that hold for the inputs at which the goal, a truth value, is 1, and for no others.

    Raises :class:`.TooLarge`.
    """
    (goal,) = expand([goal])
    cnf = Cnf()
    for v in variables([goal]):
        cnf.words[str(v.data)] = cnf.word(v.width)
    words: dict[Term, Word] = {}
    for node in operands_first([goal]):
        words[node] = _WORD[node.op](cnf, node, *(words[arg] for arg in node.args))
    cnf.clauses.append((words[goal][0],))
    return cnf


def _bits(value: int, width: int) -> Word:
    return [TRUE if value >> place & 1 else FALSE for place in range(width)]


def _sum(cnf: Cnf, node: Term, *words: Word) -> Word:
    return cnf.sum(list(zip(*words, strict=True)))


def _product(cnf: Cnf, node: Term, x: Word, y: Word) -> Word:
    return cnf.sum([[cnf.both(x[i], y[n - i]) for i in range(n + 1)] for n in range(node.width)])


#: The bits of a node of each operation, from those of its arguments.
_WORD: dict[str, Callable[..., Word]] = {
    "const": lambda cnf, node: _bits(node.data, node.width),
    "var": lambda cnf, node: cnf.words[node.data],
    "not": lambda cnf, node, x: [-a for a in x],
    "and": lambda cnf, node, *words: [reduce(cnf.both, bits) for bits in zip(*words, strict=True)],
    "or": lambda cnf, node, *words: [reduce(cnf.either, bits) for bits in zip(*words, strict=True)],
    "xor": lambda cnf, node, x, y: [cnf.unlike(a, b) for a, b in zip(x, y, strict=True)],
    "neg": lambda cnf, node, x: _sum(cnf, node, [-a for a in x], _bits(1, node.width)),
    "add": _sum,
    "sub": lambda cnf, node, x, y: _sum(cnf, node, x, [-b for b in y], _bits(1, node.width)),
    "mul": _product,
    "shl": lambda cnf, node, x, y: cnf.shifted_right(x[::-1], y, FALSE)[::-1],
    "lshr": lambda cnf, node, x, y: cnf.shifted_right(x, y, FALSE),
    "ashr": lambda cnf, node, x, y: cnf.shifted_right(x, y, x[-1]),
    "concat": lambda cnf, node, x, y: y + x,
    "extract": lambda cnf, node, x: x[node.data[1] : node.data[0] + 1],
    "zext": lambda cnf, node, x: x + [FALSE] * (node.width - len(x)),
    "sext": lambda cnf, node, x: x + [x[-1]] * (node.width - len(x)),
    "ite": lambda cnf, node, s, x, y: cnf.select(s[0], x, y),
    "eq": lambda cnf, node, x, y: [cnf.same(x, y)],
    "ult": lambda cnf, node, x, y: [cnf.less(x, y)],
    # with the sign bits exchanged, the unsigned order is that of the numbers
    "slt": lambda cnf, node, x, y: [cnf.less([*x[:-1], y[-1]], [*y[:-1], x[-1]])],
    "umax": lambda cnf, node, *words: reduce(lambda x, y: cnf.select(cnf.less(x, y), y, x), words),
}
