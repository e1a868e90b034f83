"""Rounding modes, as objects that decide over bit-vector terms.

The names are IEEE 754's, with MMA-Sim's (Tables I and II) for the tie rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tcsmt.language.terms import FALSE, TRUE, Term
from tcsmt.support.errors import choose


@dataclass(frozen=True)
class Rounding:
    """One rule for what happens to the bits below the last kept one.

    away(sign, odd, half, rest): whether the kept magnitude grows by one unit, where ``odd`` is its
    last bit, ``half`` the first dropped bit and ``rest`` whether any lower one is set.
    infinite(sign): whether an overflow gives infinity (else the largest finite number).
    """

    name: str
    title: str
    away: Callable[[Term, Term, Term, Term], Term]
    infinite: Callable[[Term], Term]

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def decisions(self) -> list[tuple[int, int, int, int, int | None]]:
        """Return each sign, odd, half and rest, and what :attr:`away` says: None where a variable decides."""
        decisions = []
        for s, o, h, r in product((0, 1), repeat=4):
            sign, odd, half, rest = (TRUE if bit else FALSE for bit in (s, o, h, r))
            decisions.append((s, o, h, r, self.away(sign, odd, half, rest).value))
        return decisions

    @cached_property
    def nearest(self) -> bool:
        """Return whether the result is always one of the nearest numbers, however ties are broken."""
        return all(away == h for _, _, h, r, away in self.decisions if r or not h)

    @cached_property
    def ties_to_even(self) -> bool:
        """Return whether it is IEEE 754's default: the nearest number, the even one of two."""
        return all(away == (h & (r | o)) for _, o, h, r, away in self.decisions)

    @cached_property
    def ties_away(self) -> bool:
        """Return whether the result is the nearest number, the one farther from zero of two."""
        return all(away == h for _, _, h, _, away in self.decisions)

    @cached_property
    def truncates(self) -> bool:
        """Return whether the magnitude never grows: what is below the last kept bit is cut off."""
        return all(away == 0 for *_, away in self.decisions)

    @cached_property
    def floors(self) -> bool:
        """Return whether it rounds down, toward minus infinity."""
        return all(away == (s & (h | r)) for s, _, h, r, away in self.decisions)

    @cached_property
    def to_odd(self) -> bool:
        """Return whether what is below the last kept bit sets it: the OR of all of them."""
        return all(away == ((1 - o) & (h | r)) for _, o, h, r, away in self.decisions)

    @property
    def overflows_by_sign(self) -> bool:
        """Return whether the sign decides what an overflow becomes."""
        return self.overflows(negative=True) != self.overflows(negative=False)

    def overflows(self, *, negative: bool) -> bool:
        """Return whether a number too large for the format, of this sign, becomes an infinity."""
        return self.infinite(TRUE if negative else FALSE) is TRUE

    def __reduce__(self) -> tuple[Callable[[str], Rounding], tuple[str]]:
        return rounding_named, (self.name,)


def _always(sign: Term) -> Term:
    return TRUE


ROUNDINGS: dict[str, Rounding] = {
    mode.name: mode
    for mode in (
        Rounding("RNE", "nearest, ties to even", lambda s, o, h, r: h & (r | o), _always),
        Rounding("RNA", "nearest, ties away from zero", lambda s, o, h, r: h, _always),
        Rounding("RNZ", "nearest, ties toward zero", lambda s, o, h, r: h & r, _always),
        Rounding("RNU", "nearest, ties up", lambda s, o, h, r: h & (r | ~s), _always),
        Rounding("RND", "nearest, ties down", lambda s, o, h, r: h & (r | s), _always),
        Rounding("RNO", "nearest, ties to odd", lambda s, o, h, r: h & (r | ~o), _always),
        Rounding("RTZ", "toward zero", lambda s, o, h, r: FALSE, lambda s: FALSE),
        Rounding("RTP", "up (toward +inf)", lambda s, o, h, r: ~s & (h | r), lambda s: ~s),
        Rounding("RTN", "down (toward -inf)", lambda s, o, h, r: s & (h | r), lambda s: s),
        Rounding("RTO", "to odd: an inexact result ends in 1", lambda s, o, h, r: ~o & (h | r), _always),
        Rounding("RA", "away from zero", lambda s, o, h, r: h | r, _always),
    )
}


def rounding_named(name: str) -> Rounding:
    """Return the mode of that name. Raises :class:`.UnknownName`."""
    return ROUNDINGS[choose("rounding mode", name, ROUNDINGS)]
