"""A design of a*b + c*d + e is the exact sum rounded once, ties away from zero: proved by a chain of lemmas.

    python results/make/ties_away.py DESIGN.toml EXACT.toml [--timeout SECONDS]

The design adds the two terms with the largest exponents first, in a window of 2P + 3 bits, then the third
one, in a window of p more bits, where p and P are the precisions of the factors and of the result. Its
wires have the names that they have in PULP's ``fpnew_sdotp_multi`` (docs/explanation/open-designs.md).
EXACT.toml is of ``kind = "ieee-dot-add"``, ``method = "exact"``, ``rounding = "RNA"``.

Every lemma is about the graphs of both models: Bitwuzla finds that it has no counterexample. What a lemma has
shown is put into the graphs (a word for one that was proved equal), or a word becomes free and keeps what was
proved of it, which leaves more inputs than there are. In order:

1. words with a NaN or an infinity;
2. multipliers: each term of the exact sum is the design's significand, shifted by the design's exponent.
   After that both graphs are functions of three significands, exponents and signs, without a multiplier;
3. the order of exponents: all six orders give the same pair of graphs, of a largest, a middle and a least
   term;
4. for each largest exponent: what the design's shifters give is what the exact sum has in those places, and
   how small terms are of which bits are lost;
5. both additions, moved to one place, so that this is asked once: the design's sum is the first bits of the
   exact one, or both are close to the largest term, which is large then;
6. for each largest exponent: such sums are normalised and rounded to the same word.

It ends with exit code 1 at the first lemma that has no proof: that says nothing of the design.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from symmetric_inputs import sum_of

from tcsmt.language.terms import (
    FALSE,
    TRUE,
    Term,
    all_of,
    any_of,
    const,
    operands_first,
    substitute,
    var,
    variables,
)
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.matrix_units.resolve import resolve
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference


class NotProved(Exception):
    """A lemma that the solver refutes, or leaves open."""


@dataclass
class Chain:
    """Lemmas, counted. step: what they are for."""

    solving: Solving
    step: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lemmas = Lemmas(self.solving, lasting=True)

    def none(self, what: str, goal: Term) -> None:
        """That a goal has no solution. Raises :class:`NotProved`."""
        found = self.lemmas.prove(goal, self.solving.options.timeout)
        if not found.holds:
            raise NotProved(f"{self.step}: {what}: {found.answer.answer} {found.answer.reason}".strip())
        self.counts[self.step] = self.counts.get(self.step, 0) + 1
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + found.answer.seconds

    def holds(self, goal: Term) -> bool:
        """Whether a goal has no solution."""
        return self.lemmas.prove(goal, self.solving.options.timeout).holds


@dataclass(frozen=True)
class Shape:
    """Numbers of a design, of the formats of its factors and of its result.

    p, P: their precisions. low, high: exponents of products that are not zero; both_normal: from which one on
    both factors are normal numbers; zero: that of a zero product. top: the largest exponent.
    """

    p: int
    P: int
    low: int
    high: int
    both_normal: int
    zero: int
    top: int

    @classmethod
    def of(cls, factor: Format, result: Format) -> Shape:
        """Of a design with these formats."""
        largest = (1 << factor.exponent_bits) - 2
        offset = result.bias + 1 - 2 * factor.bias
        return cls(
            p=factor.fraction_bits + 1, P=result.fraction_bits + 1, low=2 + offset, high=2 * largest + offset,
            both_normal=largest + 2 + offset, zero=2 - result.bias, top=(1 << result.exponent_bits) - 2,
        )  # fmt: skip

    @property
    def spare(self) -> int:
        """Zeros behind a product, so that it has P bits."""
        return self.P - 2 * self.p

    @property
    def first(self) -> int:
        """Places below a term's last bit in the first window."""
        return self.P + 3

    @property
    def second(self) -> int:
        """The same in the second window."""
        return self.P + 3 + self.p


@dataclass(frozen=True)
class Operand:
    """A term of the sum: its significand as an integer of P bits, its exponent and its sign."""

    m: Term
    e: Term
    s: Term

    @classmethod
    def free(cls, name: str, bits: int, exponent_bits: int) -> Operand:
        """Any, with so many bits of significand and exponent."""
        return cls(var(f"m.{name}", bits), var(f"e.{name}", exponent_bits), var(f"s.{name}", 1))

    def onto(self, other: Operand) -> dict[Term, Term]:
        """What to put for this one so that it is another one."""
        return {self.m: other.m, self.e: other.e, self.s: other.s}

    def product(self, shape: Shape) -> Term:
        """What is known of a product."""
        nonzero, low, e = self.m.ne(0), shape.low, self.e
        known = [
            nonzero.ite(at_least(e, low) & e.sle(shape.high), e.eq(shape.zero)),
            ~nonzero | e.eq(low) | not_below(self.m, shape.P - shape.p - 1),
            ~nonzero | ~at_least(e, shape.both_normal) | not_below(self.m, shape.P - 2),
        ]
        return all_of([*known, self.m[shape.spare - 1 : 0].eq(0)] if shape.spare else known)

    def addend(self, shape: Shape) -> Term:
        """What is known of e."""
        inside = at_least(self.e, 1) & self.e.sle(shape.top)
        return inside & (self.e.eq(1) | not_below(self.m, shape.P - 1))


def at_least(e: Term, number: int) -> Term:
    """Of signed words."""
    return const(number, e.width).sle(e)


def not_below(m: Term, power: int) -> Term:
    """m >= 2^power."""
    return m[m.width - 1 : power].ne(0)


def placed(m: Term, e: Term, width: int) -> Term:
    """A term's magnitude, in units of the last place of the smallest result."""
    return m.zext(width) << (e - 1).zext(width)


def below(word: Term, place: int) -> Term:
    """Whether a bit below this place is set."""
    return word[place - 1 : 0].ne(0) if place > 0 else FALSE


def beyond(word: Term, place: int) -> Term:
    """Whether a bit at this place or above is set."""
    return word[word.width - 1 : max(place, 0)].ne(0)


def magnitude(word: Term) -> Term:
    """Of a two's complement word."""
    return word[word.width - 1].ite(-word, word)


def put(term: Term, *given: Mapping[Term, Term]) -> Term:
    """The term with words put for others, one mapping after the other."""
    for one in given:
        (term,) = substitute(
            [term], {k.args[0] if k.op == "not" else k: ~v if k.op == "not" else v for k, v in one.items()}
        )
    return term


#: Wires of the design, by what they are here.
NAMES = (
    "product_x", "product_y", "mantissa_a", "mantissa_b", "mantissa_c", "mantissa_d",
    "addend_x", "addend_y", "addend_z", "exponent_addend_x", "exponent_addend_y", "exponent_addend_z",
    "product_x_sign_q", "product_y_sign_q", "operand_e_sign_q", "result_is_special",
    "addend_int_after_shift", "sticky_before_add", "addend_min_after_shift", "sticky_before_add_z",
    "bypass_w", "sum_lower", "final_tentative_exponent", "final_sign_z", "effective_subtraction_z",
)  # fmt: skip
#: Wires before rounding that may be anything for it; a design may lack them.
OTHERS = ("effective_subtraction_first", "final_sign_zero")
#: Factors of each product, with the wires of their significands, of the product and of its term.
PRODUCTS = {
    "x": (("a0", "mantissa_a"), ("b0", "mantissa_b"), "product_x"),
    "y": (("a1", "mantissa_c"), ("b1", "mantissa_d"), "product_y"),
}
SIGNS = {"x": "product_x_sign_q", "y": "product_y_sign_q", "z": "operand_e_sign_q"}
#: Bits that compare exponents (x >= y, x >= z, y >= z), and the terms from the largest exponent on.
ORDERS = {
    (0, 0, 0): "zyx", (0, 0, 1): "yzx", (0, 1, 1): "yxz",
    (1, 0, 0): "zxy", (1, 1, 0): "xzy", (1, 1, 1): "xyz",
}  # fmt: skip


class ThreeTerms:
    """Both graphs, and what is put for their words from step to step.

    design, exact: the results, as far as the steps have come. sum: the exact sum, in the second.
    """

    def __init__(self, design: Circuit, exact: Model, chain: Chain) -> None:
        self.chain = chain
        sides = ("design", design), ("exact", exact)
        self.question = difference("", *sides, Domain(finite=False))
        self.domain = difference("", *sides, Domain(finite=True)).domain
        factor, result = self.question.formats["a0"], self.question.formats["c"]
        assert isinstance(factor, Format)
        assert isinstance(result, Format)
        self.factor, self.shape = factor, Shape.of(factor, result)
        others = [name for name in OTHERS if name in design.design.named]
        self.wires = {name: design.wire(name) for name in (*NAMES, *others)}
        self.design, self.exact = (side.trace.output for side in self.question.sides)
        self.sum = sum_of(self.question.sides[1])
        self.width = self.sum.width
        bits = self.wires["exponent_addend_x"].width
        self.terms = {k: Operand.free(k, self.shape.P, bits) for k in "xyz"}
        self.sorted = {k: Operand.free(k, self.shape.P, bits) for k in ("max", "int", "min")}
        #: where the largest exponent is moved to for the additions
        self.place = max(self.shape.top, self.shape.high)
        if self.width < self.place + self.shape.P + 3:
            raise NotProved("the exact sum has too few bits to be moved there")

    def prove(self) -> None:
        """All of it. Raises :class:`NotProved`."""
        self.special()
        self.multipliers()
        self.cut()
        self.known()
        self.order()
        self.small()
        self.doubled()
        self.additions()
        self.bypassed()
        for exponent in range(self.shape.low, self.place + 1):
            print(f"largest exponent {exponent} of {self.place}", end="\r", file=sys.stderr, flush=True)
            self.moved(exponent)
            self.rounded(exponent)

    def none(self, what: str, goal: Term) -> None:
        self.chain.none(what, goal)

    # 1

    def special(self) -> None:
        """NaNs and infinities; the results of the others do not have them."""
        self.chain.step = "special words"
        self.none("the result", self.question.goal & ~self.domain)
        word = self.exact
        flags = self.wires["result_is_special"], word.args[0], word.args[2].args[0]
        never = [flag for flag in flags if self.chain.holds(self.domain & flag)]
        for flag in never:
            self.none("a flag", self.domain & flag)
        self.design, self.exact = (put(one, dict.fromkeys(never, FALSE)) for one in (self.design, self.exact))

    # 2

    def multipliers(self) -> None:
        """The exact sum's terms are the design's: significand and exponent."""
        self.chain.step = "multipliers"
        words = [arg.args[2] for arg in self.sum.args if arg.op == "ite"]
        same = {}
        for word in words:
            inputs = {str(v.data) for v in variables([word])}
            (k,) = (k for k in "xyz" if inputs == ({"c"} if k == "z" else {n for n, _ in PRODUCTS[k][:2]}))
            term = placed(self.wires[f"addend_{k}"], self.wires[f"exponent_addend_{k}"], self.width)
            if k == "z":
                self.none("e", self.domain & word.ne(term))
            else:
                self._product(k, word, term)
            same[word] = term
        self.exact, self.sum = substitute([self.exact, self.sum], same)

    def _product(self, k: str, word: Term, term: Term) -> None:
        """A product of normalised factors, shifted, is the product of those that are not.

        The shift is taken out of one factor after the other; then the product is free.
        """
        factors, product = PRODUCTS[k][:2], self.wires[PRODUCTS[k][2]]
        width, nodes = product.width, operands_first([word])
        one, two = (self.wires[wire].zext(width) for _, wire in factors)
        if product is not one * two:
            raise NotProved("a product that is not one of the significands")
        (multiplier,) = (node for node in nodes if node.op == "mul")
        finite = all_of(finite_word(self.factor, name) for name, _ in factors)
        shifts = []
        for name, wire in factors:
            significand = self.wires[wire]
            (normal,) = (x for x in multiplier.args if names_in(x) == {name})
            (zeros,) = (
                n
                for n in nodes
                if n.op == "macro" and str(n.data).startswith("leading") and names_in(n) == {name}
            )
            shifts.append(zeros)
            self.none("a factor", finite & normal.ne(significand.zext(width) << zeros.zext(width)))
            lost = (significand << zeros.zext(self.shape.p)) >> zeros.zext(self.shape.p)
            self.none("no bit of a factor is lost", finite & lost.ne(significand))

        one, two, by = var("one", width), var("two", width), var("by", width)
        self.none("a shift out of a factor", ((one << by) * two).ne((one * two) << by))
        pair = [(var(f"m{i}", self.shape.p), var(f"z{i}", z.width)) for i, z in enumerate(shifts)]
        kept = all_of(((m << z.zext(m.width)) >> z.zext(m.width)).eq(m) for m, z in pair)
        free = pair[0][0].zext(width) * pair[1][0].zext(width)
        self.none("no bit of a product is lost", kept & ~unshifted(free, [z for _, z in pair]))

        value = var("product", width)
        empty = any_of(self.question_word(name)[self.factor.width - 2 : 0].eq(0) for name, _ in factors)
        self.none("a zero factor", finite & empty & product.ne(0))
        goal = put(word.ne(term), {multiplier: shifted(product, shifts)}, {product: value})
        self.none("a product", finite & unshifted(value, shifts) & (~empty | value.eq(0)) & goal)

    def question_word(self, name: str) -> Term:
        """An input."""
        return var(name, self.question.formats[name].width)

    # 3

    def cut(self) -> None:
        """No input is left in the graphs: terms are free, and flags say which of them are zero."""
        self.chain.step = "flags"
        terms: dict[Term, Term] = {}
        for k, free in self.terms.items():
            term = Operand(
                self.wires[f"addend_{k}"], self.wires[f"exponent_addend_{k}"], self.wires[SIGNS[k]]
            )
            terms |= term.onto(free)
        flags: dict[Term, Term] = {}
        for root in (self.design, self.exact):
            while bits := list(self._left(put(root, flags | terms, terms))):
                if any(bit.width > 1 for bit in bits):
                    raise NotProved("a word that is not a term's is left")
                found = {bit: same for bit in bits if (same := self._meaning(bit)) is not None}
                if not found:
                    raise NotProved("bits of unknown meaning are left")
                flags |= found
        self.cuts: list[Mapping[Term, Term]] = [flags | terms, terms]
        self.design, self.exact, self.sum = (put(x, *self.cuts) for x in (self.design, self.exact, self.sum))

    def _left(self, root: Term) -> Iterator[Term]:
        """The largest words that inputs alone decide."""
        inputs, seen = set(self.question.formats), set()
        of_inputs: set[Term] = set()
        nodes = operands_first([root])
        for node in nodes:
            own = (
                str(node.data) in inputs
                if node.op == "var"
                else bool(node.args) and all(arg in of_inputs or arg.op == "const" for arg in node.args)
            )
            if own:
                of_inputs.add(node)
        for node in nodes:
            if node not in of_inputs:
                for arg in node.args:
                    if arg in of_inputs and arg not in seen:
                        seen.add(arg)
                        yield arg

    def _meaning(self, bit: Term) -> Term | None:
        """A flag as the condition that a term is zero, or as a constant."""
        empty = [self.wires[f"addend_{k}"].eq(0) for k in "xyz"]
        for same in (FALSE, TRUE, *empty, *(~one for one in empty)):
            if self.chain.holds(self.domain & bit.ne(same)):
                self.none("a flag", self.domain & bit.ne(same))
                return same
        return None

    def known(self) -> None:
        """What is known of the terms."""
        self.chain.step = "terms"
        for k in "xyz":
            own = Operand(self.wires[f"addend_{k}"], self.wires[f"exponent_addend_{k}"], self.wires[SIGNS[k]])
            fact = own.addend(self.shape) if k == "z" else own.product(self.shape)
            self.none(f"what is known of {k}", self.domain & ~fact)
        largest, middle, least = self.sorted.values()
        order = middle.e.sle(largest.e) & least.e.sle(middle.e)
        #: e is the largest, the middle or the least term
        self.facts = any_of(
            all_of([order, *(one.addend(self.shape) if i == j else one.product(self.shape)
                             for j, one in enumerate(self.sorted.values()))])
            for i in range(3)
        )  # fmt: skip

    def order(self) -> None:
        """All orders of exponents give the same graphs."""
        self.chain.step = "order"
        x, y, z = (self.terms[k].e for k in "xyz")
        less = [x.slt(y), x.slt(z), y.slt(z)]
        pairs = set()
        for bits, roles in ORDERS.items():
            given = {one: const(1 - bit, 1) for one, bit in zip(less, bits, strict=True)}
            roled: dict[Term, Term] = {}
            for k, sorted_ in zip(roles, self.sorted.values(), strict=True):
                roled |= self.terms[k].onto(sorted_)
            pairs.add(tuple(put(one, given, roled) for one in (self.design, self.exact, self.sum)))
            holds = all_of(~(one ^ value) for one, value in given.items())
            first, second, third = (self.terms[k].e for k in roles)
            self.none("order", holds & ~(second.sle(first) & third.sle(second)))
        self.none("no other order", all_of(
            any_of(one ^ const(1 - bit, 1) for one, bit in zip(less, bits, strict=True)) for bits in ORDERS
        ))  # fmt: skip
        if len(pairs) > 1:
            raise NotProved("the orders of exponents do not give the same graphs")
        ((self.design, self.exact, self.sum),) = pairs
        self.cuts += [given, roled]  # those of the last order; all give the same
        self.largest, self.middle, self.least = self.sorted.values()
        self.none("exponents", self.facts & ~(at_least(self.largest.e, 1) & self.largest.e.sle(self.place)))

    def wire(self, name: str) -> Term:
        """A wire in terms of the sorted terms."""
        return put(self.wires[name], *self.cuts)

    def small(self) -> None:
        """Both products are zero where the largest exponent is below that of any product."""
        self.chain.step = "e alone"
        small = self.facts & ~at_least(self.largest.e, self.shape.low)
        others = (self.middle, self.least)
        zero = all_of(one.m.eq(0) & one.e.eq(self.shape.zero) for one in others)
        self.none("zero products", small & ~zero)
        given = {one.m: const(0, one.m.width) for one in others}
        given |= {one.e: const(self.shape.zero, one.e.width) for one in others}
        self.none("the result", put(small & self.design.ne(self.exact), given))

    # 4

    def shifted(self, exponent: int) -> list[tuple[str, Term, Term]]:
        """Wires behind shifters: the name, the wire for this largest exponent, and the exact sum's bits."""
        shape, top = self.shape, self.place + self.shape.P
        move, given = self.place - exponent, {self.largest.e: const(exponent, self.largest.e.width)}
        found = []
        for one, places, high, wire, sticky in (
            (self.middle, shape.first, top - 2, "addend_int_after_shift", "sticky_before_add"),
            (self.least, shape.second, top - 1, "addend_min_after_shift", "sticky_before_add_z"),
        ):
            word = placed(one.m, one.e, self.width) << move
            last = self.place - 1 - places
            found += [
                (wire, put(self.wire(wire), given), word[high:last]),
                (sticky, put(self.wire(sticky), given), below(word, last)),
            ]
        return found

    def moved(self, exponent: int) -> None:
        """For one largest exponent: shifters, what is known of the moved terms, and their sum."""
        self.chain.step = "shifters"
        given = {self.largest.e: const(exponent, self.largest.e.width)}
        move = self.place - exponent
        facts = put(self.facts, given)
        self.none(
            f"exponent {exponent}", facts & any_of(wire.ne(bits) for _, wire, bits in self.shifted(exponent))
        )
        words = {
            var(f"moved.{name}", self.width): placed(one.m, one.e, self.width) << move
            for name, one in (("int", self.middle), ("min", self.least))
        }
        self.chain.step = "what is known of moved terms"
        self.none(f"exponent {exponent}", facts & ~put(any_of(self.cases().values()), words))

        self.chain.step = "sums that are moved"
        size = exponent + self.shape.P
        parts = [var(f"placed.{name}", self.width) for name in ("int", "min")]
        plain = [placed(one.m, one.e, self.width) for one in (self.middle, self.least)]
        whole = put(self.sum, given, dict(zip(plain, parts, strict=True)))
        fits = ~any_of(beyond(part, size - 1) for part in parts)
        self.none(f"exponent {exponent}, size", fits & whole.ne(whole[size + 2 : 0].sext(self.width)))
        whole, part = var("sum", size + 3).sext(self.width), parts[1]
        alone = any_of((whole << move).eq(one << move) & whole.ne(one) for one in (part, -part))
        largest = put(placed(self.largest.m, self.largest.e, self.width) << move, given)
        wrong = largest.ne(self.largest.m.zext(self.width) << (self.place - 1))
        self.none(f"exponent {exponent}, back", wrong | ~beyond(part, size - 1) & alone)

    def doubled(self) -> None:
        """The sum of doubled terms is the doubled sum; so the sum of moved terms is the moved sum."""
        self.chain.step = "sums that are moved"
        plain = [placed(one.m, one.e, self.width) for one in self.sorted.values()]
        parts = [var(f"placed.{name}", self.width) for name in self.sorted]
        twice = [part << 1 for part in parts]
        once, doubled = (put(self.sum, dict(zip(plain, new, strict=True))) for new in (parts, twice))
        if any(name.startswith(("m.", "e.")) for name in names_in(once)):
            raise NotProved("the exact sum is not that of the three terms")
        for signs in product((0, 1), repeat=3):
            given = {one.s: const(sign, 1) for one, sign in zip(self.sorted.values(), signs, strict=True)}
            self.none("doubled", put(doubled.ne(once << 1), given))

    # 5

    @property
    def moved_terms(self) -> tuple[Term, Term]:
        """The middle and the least term, moved."""
        return var("moved.int", self.width), var("moved.min", self.width)

    @property
    def moved_sum(self) -> Term:
        """The exact sum, moved."""
        one, two = (placed(x.m, x.e, self.width) for x in (self.middle, self.least))
        largest = placed(self.largest.m, self.largest.e, self.width)
        there = self.largest.m.zext(self.width) << (self.place - 1)
        given = {largest: there, **dict(zip((one, two), self.moved_terms, strict=True))}
        return put(self.sum, given)

    def cases(self) -> dict[str, Term]:
        """What is known of the moved terms, by case. In each: terms of which bits are lost are small, and the
        middle one has no small bits where it may cancel the largest one.
        """
        shape, unit = self.shape, self.place - 1
        middle, least = self.moved_terms
        first, second = unit - shape.first, unit - shape.second
        common = [
            ~beyond(middle, unit + shape.P), ~beyond(least, unit + shape.P),
            ~below(middle, first) | ~(beyond(middle, unit - 4) | beyond(least, unit - 4)),
            ~below(least, second) | ~beyond(least, unit - 4 - shape.p),
            self.least.m.eq(0).eq(least.eq(0)),
            *(
                ~beyond(middle, unit + power) | ~below(middle, unit + power - shape.P + 1)
                for power in (shape.P - 3, shape.P - shape.p - 2)
            ),
        ]  # fmt: skip
        m = self.largest.m
        spare = shape.spare
        tiny = all_of([m.ne(0), *([m[spare - 1 : 0].eq(0)] if spare else [])])
        alternatives = {
            "large": not_below(m, shape.P - 2),
            "the least loses nothing": not_below(m, shape.P - shape.p - 1) & ~below(least, first),
            "the middle loses nothing": not_below(m, shape.P - shape.p - 1) & ~below(middle, first),
            "the least is a multiple": tiny & ~below(least, unit + spare),
            "the middle is a multiple": tiny & ~below(middle, unit + spare),
        }
        return {name: all_of([*common, case]) for name, case in alternatives.items()}

    def behind_shifters(self, name: str, given: Mapping[str, Term]) -> Term:
        """A wire behind the shifters, of the moved terms, where other wires have these values.

        The largest exponent is not in it: what it decides is how the terms are shifted.
        """
        plain = [placed(x.m, x.e, self.width) for x in (self.middle, self.least)]
        moved = dict(zip(plain, self.moved_terms, strict=True))
        bits = {self.wire(wire): put(word, moved) for wire, _, word in self.shifted(self.place)}
        found = put(self.wire(name), {self.wire(wire): value for wire, value in given.items()}, bits)
        if any(one.startswith("e.") for one in names_in(found)):
            raise NotProved(f"an exponent is left behind the shifters: {name}")
        return found

    def hypotheses(self, whole: Term, window: Term) -> dict[str, Term]:
        """How the moved exact sum and the design's are related, apart from their signs."""
        shape, unit = self.shape, self.place - 1
        first, second, top = unit - shape.first, unit - shape.second, unit + shape.P + 2
        size, bits = magnitude(whole), window.width
        there, here = (self.largest.m.zext(w) << p for w, p in ((self.width, unit), (bits, shape.second)))
        near, close = const(1 << (unit - 3), self.width), const(1 << (shape.second - 3), bits)
        return {
            "the first bits": size[top - 1 : second].eq(window)
            & (~below(size, second) | not_below(window, shape.P + 1)),
            "the bits of the first window": size[top - 1 : first].eq(window[bits - 1 : shape.p])
            & not_below(window, shape.p + shape.P + 1),
            "close to the largest": not_below(self.largest.m, shape.P - 2)
            & (there - near).ult(size) & size.ult(there + near)
            & (here - close).ult(window) & window.ult(here + close),
        }  # fmt: skip

    def additions(self) -> None:
        """Both additions, of the moved terms."""
        bypass = self.behind_shifters("bypass_w", {})
        whole, least = self.moved_sum, self.moved_terms[1]
        names = ("sum_lower", "final_sign_z", "effective_subtraction_z")
        window, sign, subtracts = (self.behind_shifters(name, {"bypass_w": FALSE}) for name in names)
        stickies = any_of(
            self.behind_shifters(name, {}) for name in ("sticky_before_add", "sticky_before_add_z")
        )
        size = magnitude(whole)
        top = self.place - 1 + self.shape.P + 2
        related = self.hypotheses(whole, window)
        for name, case in self.cases().items():
            self.chain.step = f"additions: {name}"
            case = case & ~bypass
            lost = below(self.moved_terms[0], self.place - 1 - self.shape.first)
            large = not_below(self.largest.m, self.shape.P - 2)
            parts = {
                "the first bits": ~lost,
                "the bits of the first window": lost & ~large,
                "close to the largest": lost & large,
            }
            for how, part in parts.items():
                self.none(how, case & part & whole.ne(0) & ~related[how])
            self.none("the first bits of the sum", case & beyond(size, top))
            self.none("a sum that is not zero", case & whole.ne(0) & window.eq(0))
            self.none("sign", case & whole.ne(0) & sign.ne(whole[self.width - 1]))
            zero = window.eq(0) & ~stickies & (subtracts | ~sign)
            self.none("a zero sum", case & whole.eq(0) & ~zero)
        self.chain.step = "additions: exponent"
        exponent = put(self.wire("final_tentative_exponent"), {self.wire("bypass_w"): FALSE})
        self.none("exponent", self.facts & exponent.ne(self.largest.e + 1))
        self.chain.step = "additions: bypassed"
        alone = whole.eq(self.least.s.ite(-least, least)) & least.ne(0)
        for name, case in self.cases().items():
            self.none(name, case & bypass & ~alone)

    def bypassed(self) -> None:
        """A first sum of zero, after which the least term alone is rounded."""
        self.chain.step = "bypassed"
        one = placed(self.least.m, self.least.e, self.width)
        design = put(self.design, {self.wire("bypass_w"): TRUE})
        exact = put(self.exact, {self.sum: self.least.s.ite(-one, one)})
        known = self.least.m.ne(0) & (self.least.product(self.shape) | self.least.addend(self.shape))
        self.none("the result", known & design.ne(exact))

    # 6

    def rounded(self, exponent: int) -> None:
        """For one largest exponent: sums that are related are rounded to the same word."""
        self.chain.step = "rounding"
        lower = self.wire("sum_lower")
        carry, rest = lower.args
        window = var("window", lower.width)
        free = {
            carry: window[lower.width - 1],
            rest: window[lower.width - 2 : 0],
            self.wire("final_tentative_exponent"): const(exponent + 1, self.largest.e.width),
            **{
                self.wire(name): var(name, 1)
                for name in (
                    "bypass_w", "final_sign_z", "effective_subtraction_z",
                    "sticky_before_add", "sticky_before_add_z", *OTHERS,
                )
                if name in self.wires
            },
        }  # fmt: skip
        if rest.op == "extract" and rest.data == (rest.width - 1, 0):  # other bits of it may be used as well
            (inner,) = rest.args
            others = var("carry", inner.width - rest.width)
            free[inner] = others.concat(window[lower.width - 2 : 0])
        design = put(self.design, free)
        move = self.place - exponent
        short = var("sum", exponent + self.shape.P + 3)
        whole = short.sext(self.width)
        exact = put(self.exact, {self.sum: whole})
        there = whole << move
        sign = var("final_sign_z", 1)
        fits = there.ashr(const(move, self.width)).eq(whole) & ~beyond(
            magnitude(there), self.place - 1 + self.shape.P + 2
        )
        related = any_of(self.hypotheses(there, window).values())
        same = fits & whole.ne(0) & window.ne(0) & sign.eq(whole[self.width - 1]) & related
        wrong = design.ne(exact)
        self.none(f"exponent {exponent}", same & self.largest.m.ne(0) & wrong)
        quiet = ~(var("sticky_before_add", 1) | var("sticky_before_add_z", 1))
        zero = whole.eq(0) & window.eq(0) & quiet & (var("effective_subtraction_z", 1) | ~sign)
        self.none(
            f"exponent {exponent}, a zero sum", zero & ~var("bypass_w", 1) & self.largest.m.ne(0) & wrong
        )


def finite_word(fmt: Format, name: str) -> Term:
    """Whether an input is finite."""
    word = var(name, fmt.width)
    return word[fmt.width - 2 : fmt.fraction_bits].ne((1 << fmt.exponent_bits) - 1)


def names_in(term: Term) -> set[str]:
    """The variables of a term."""
    return {str(v.data) for v in variables([term])}


def shifted(product: Term, by: Sequence[Term]) -> Term:
    """A product shifted as its factors are."""
    for one in reversed(by):
        product = product << one.zext(product.width)
    return product


def unshifted(product: Term, by: Sequence[Term]) -> Term:
    """Whether no bit of a product is lost where it is shifted."""
    back = shifted(product, by)
    for one in by:
        back = back >> one.zext(product.width)
    return back.eq(product)


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("design")
    given.add_argument("exact")
    given.add_argument("--timeout", type=float, default=120.0, help="seconds for a lemma")
    options = given.parse_args()
    start = time.process_time()
    chain = Chain(Solving(SolvingOptions("bitwuzla", options.timeout, 8192)))
    design, exact = (resolve(name).row.model for name in (options.design, options.exact))
    assert isinstance(design, Circuit)
    try:
        ThreeTerms(design, exact, chain).prove()
    except NotProved as why:
        sys.exit(f"not proved: {why}")
    for step, count in chain.counts.items():
        print(f"{step}: {count} lemmas, {chain.seconds[step]:.1f} s")
    lemmas, seconds = sum(chain.counts.values()), sum(chain.seconds.values())
    print(f"proved: {lemmas} lemmas, {seconds:.0f} s, and {time.process_time() - start:.0f} s of our own")


if __name__ == "__main__":
    main()
