"""Words of NaN results: one word always, or by a rule that looks at the operands.

A rule is an ordered list of cases, and its text says it: ``"factors: 0xffc00a3d, products: 0xffc00000, c,
0xffc00000"`` reads: a NaN among the factors gives ffc00a3d; else an invalid product gives ffc00000; else a
NaN in c gives that NaN, quiet; else, for infinities of both signs, ffc00000.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.language.terms import FALSE, TRUE, Term, any_of, const
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.support.errors import TcsmtError, choose

#: What a case can look at.
SUBJECTS = {
    "a": "a NaN in a",
    "b": "a NaN in b",
    "c": "a NaN in c",
    "factors": "a NaN in a or b",
    "products": "infinity times zero, or infinite products of both signs",
}


@dataclass(frozen=True)
class Operand:
    """A word of a format, and what it decodes to."""

    format: Format
    word: Term
    number: Number

    @property
    def quiet(self) -> Term:
        """Return whether it is not a signalling NaN: the first fraction bit is set."""
        fmt = self.format
        return self.word[fmt.ignored_low_bits + fmt.fraction_bits - 1]


@dataclass(frozen=True)
class NanCase:
    """One case of a rule.

    subject: one of :data:`SUBJECTS`. word: the result's word; None: the NaN that is the subject (that of the
    lowest lane, a before b), quiet, with its sign and as much of its payload as fits.
    signalling: whether signalling NaNs alone count.
    """

    subject: str
    word: int | None
    signalling: bool = False

    def __str__(self) -> str:
        text = f"signalling {self.subject}" if self.signalling else self.subject
        return text if self.word is None else f"{text}: {self.word:#x}"


@dataclass(frozen=True, repr=False)
class NanRule:
    """The cases in order, and the word of every other NaN result."""

    cases: tuple[NanCase, ...]
    otherwise: int

    def __repr__(self) -> str:
        return repr(self.name)

    @classmethod
    def named(cls, text: str) -> NanRule:
        """Return the rule of a text. Raises :class:`.TcsmtError`, which says what is allowed."""
        *cases, last = (part.strip() for part in text.split(","))
        return cls(tuple(_case(part) for part in cases), _word(last))

    @property
    def name(self) -> str | int:
        """Return the text that reads back as the rule; the word alone where it is one word."""
        return ", ".join([*map(str, self.cases), f"{self.otherwise:#x}"]) if self.cases else self.otherwise

    @property
    def words(self) -> list[int]:
        """Return every word that the rule names."""
        return [case.word for case in self.cases if case.word is not None] + [self.otherwise]

    def objection(self, a: Format, b: Format, c: Format, d: Format) -> str:
        """Return why units with such operands and results cannot have the rule; empty where they can."""
        for word in self.words:
            if not d.is_nan(word):
                return f"{d.hex(word)} is not a NaN of {d.name}"
        for case in self.cases:
            formats = {"a": (a,), "b": (b,), "c": (c,), "factors": (a, b)}.get(case.subject, ())
            for fmt in formats:
                if (case.word is None or case.signalling) and fmt.specials is not Specials.IEEE:
                    return f"{case}: {fmt.name} has no NaNs with a payload"
        return ""

    def result(self, fmt: Format, lanes: Sequence[tuple[Operand, Operand]], c: Operand) -> Term:
        """Return the word that a NaN result has, of factors and c; any word where the result is not a NaN."""
        chosen: Term = const(self.otherwise, fmt.width)
        for case in reversed(self.cases):
            for holds, word in reversed(_found(case, fmt, lanes, c)):
                chosen = holds.ite(word, chosen)
        return chosen


def quieted(x: Operand, fmt: Format) -> Term:
    """Return a NaN as a quiet NaN of a format: its sign and the upper bits of its payload."""
    fmt_of_operand = x.format
    low, bits = fmt_of_operand.ignored_low_bits, fmt_of_operand.fraction_bits
    payload = x.word[low + bits - 1 : low]
    room = fmt.fraction_bits
    payload = payload.concat(const(0, room - bits)) if room > bits else payload[bits - 1 : bits - room]
    payload = payload | 1 << (room - 1)
    sign = x.word[fmt_of_operand.sign_bit]
    word = sign.concat(const((1 << fmt.exponent_bits) - 1, fmt.exponent_bits)).concat(payload)
    return word.concat(const(0, fmt.ignored_low_bits)) if fmt.ignored_low_bits else word


def _found(
    case: NanCase, fmt: Format, lanes: Sequence[tuple[Operand, Operand]], c: Operand
) -> list[tuple[Term, Term]]:
    """Return where a case applies and the word it gives, the first that applies before the others."""
    if case.subject == "products":
        assert case.word is not None
        return [(_invalid(lanes), const(case.word, fmt.width))]
    operands = {
        "a": [x for x, _ in lanes],
        "b": [y for _, y in lanes],
        "c": [c],
        "factors": [operand for pair in lanes for operand in pair],
    }[case.subject]
    cases = []
    for operand in operands:
        holds = operand.number.nan & (~operand.quiet if case.signalling else TRUE)
        cases.append((holds, quieted(operand, fmt) if case.word is None else const(case.word, fmt.width)))
    return cases


def _invalid(lanes: Sequence[tuple[Operand, Operand]]) -> Term:
    """Return whether a product, or the sum of the products, is invalid though no factor is a NaN."""
    numbers = [(x.number, y.number) for x, y in lanes]
    # (the one NaN of some formats has the negative zero's word, and decodes as a zero, too)
    invalid = [(x.infinite & y.zero | x.zero & y.infinite) & ~(x.nan | y.nan) for x, y in numbers]
    plus, minus = FALSE, FALSE
    for x, y in numbers:
        infinite = (x.infinite | y.infinite) & ~(x.nan | y.nan | x.zero | y.zero)
        plus, minus = plus | infinite & ~(x.sign ^ y.sign), minus | infinite & (x.sign ^ y.sign)
    return any_of([*invalid, plus & minus])


def _case(text: str) -> NanCase:
    subject, colon, word = (part.strip() for part in text.partition(":"))
    signalling = subject.startswith("signalling ")
    subject = choose("NaN case", subject.removeprefix("signalling ").strip(), SUBJECTS)
    if subject == "products" and (signalling or not colon):
        raise TcsmtError(f"NaN case {text!r}: must be products: and a word, such as products: 0x7fc00000")
    return NanCase(subject, _word(word) if colon else None, signalling)


def _word(text: str) -> int:
    if not re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        raise TcsmtError(f"NaN word {text!r}: must be hexadecimal, such as 0x7fc00000; a rule ends in a word")
    return int(text, 16)
