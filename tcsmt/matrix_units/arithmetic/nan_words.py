"""Words of NaNs that arithmetic outside of a matrix unit gives: additions, multiply-adds, conversions.

A unit's own rule can look at the operands (:mod:`tcsmt.matrix_units.arithmetic.nans`). Outside, either every
NaN result of a format is one word, which a document names, or no source says which word it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, Specials, float_format, format_named
from tcsmt.support.errors import TcsmtError, choose

Array = np.ndarray[Any, np.dtype[Any]]

#: What a NaN's word can be, for messages and pages.
KINDS = {
    "quiet": "the format's quiet NaN: no sign, of the fraction the first bit alone (0x7fc00000)",
    "ones": "all bits set but the sign (0x7fffffff)",
    "unknown": "no source says which",
}


@dataclass(frozen=True)
class NanWords:
    """The word of NaN results in each format: ``quiet``, ``ones:f16:bf16:f32``, ``unknown``.

    kind: one of :data:`KINDS`. formats: of results for which this is known, by name; none: every format.
    """

    kind: str = "unknown"
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choose("rule for NaN words", self.kind, KINDS)
        if self.kind == "unknown" and self.formats:
            raise TcsmtError(f"rule for NaN words {self}: unknown takes no formats")
        for name in self.formats:
            float_format(format_named(name))

    @classmethod
    def named(cls, text: str) -> NanWords:
        """Return the rule of a text. Raises :class:`.TcsmtError`, which says what is allowed."""
        kind, *formats = (part.strip() for part in text.split(":"))
        return cls(kind, tuple(format_named(name).name for name in formats))

    def __str__(self) -> str:
        return ":".join((self.kind, *self.formats))

    def word(self, fmt: AnyFormat) -> int | None:
        """Return the word of a NaN result; None where it is unknown, or where the format has no NaN."""
        if not isinstance(fmt, Format) or self.kind == "unknown":
            return None
        if self.formats and fmt.name not in self.formats:
            return None
        ones = ((1 << fmt.exponent_bits + fmt.fraction_bits) - 1) << fmt.ignored_low_bits
        return ones if self.kind == "ones" and fmt.is_nan(ones) else fmt.nan_word

    def computed(self, fmt: Format) -> int:
        """Return the word that results have: where it is unknown, the format's quiet NaN stands for every
        NaN.

        In a format without NaNs the largest number, as ``cvt.satfinite`` of the PTX ISA gives it.
        """
        if fmt.nan_word is None:
            return fmt.largest_finite_word
        word = self.word(fmt)
        return fmt.nan_word if word is None else word

    def is_known(self, fmt: AnyFormat) -> bool:
        """Return whether a source says which word a NaN result has, or there is none."""
        return not isinstance(fmt, Format) or fmt.nan_word is None or self.word(fmt) is not None


@runtime_checkable
class UnknownNans(Protocol):
    """A model whose NaN results may have words that no source says: one word stands for every NaN then."""

    @property
    def knows_nans(self) -> bool:
        """Return whether a source says which words its NaN results have."""


def knows_nans(model: object) -> bool:
    """Return whether the words of a model's NaN results are known: of an instruction, its row has them."""
    return not isinstance(model, UnknownNans) or model.knows_nans


def are_nan(fmt: AnyFormat, words: Array) -> Array:
    """Return where words are NaNs: booleans of their shape. words: unsigned integers of any shape."""
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return np.zeros(words.shape, bool)
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        return np.asarray(words == fmt.nan_word)
    stored = words >> words.dtype.type(fmt.ignored_low_bits)
    magnitude = stored & stored.dtype.type((1 << fmt.exponent_bits + fmt.fraction_bits) - 1)
    if fmt.has_infinity:
        return np.asarray(magnitude > fmt.infinity_word >> fmt.ignored_low_bits)
    return np.asarray(magnitude == fmt.nan_word)


#: IEEE 754's preferred NaN in every format.
QUIET = NanWords("quiet")
UNKNOWN = NanWords()


def with_nans_merged(fmt: AnyFormat, word: Term) -> Term:
    """Return the word, with one and the same NaN in place of every NaN."""
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return word
    if word.op == "ite":  # one NaN's word for all: what it stands for is enough
        nan, given, number = word.args
        if given.value is not None and fmt.is_nan(given.value) and nan is dp.decode(fmt, number).nan:
            word = number
    return dp.decode(fmt, word).nan.ite(fmt.nan_word, word)
