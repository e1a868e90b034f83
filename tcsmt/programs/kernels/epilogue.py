"""The epilogue of a kernel: alpha, beta, a bias, and conversions to the format of the output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN, NanWords
from tcsmt.matrix_units.arithmetic.formats import Format, float_format, format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding, rounding_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.floats import guard_members

_NEAREST = ROUNDINGS["RNE"]
_ENTERS = ("first", "epilogue")


@guard_members
@dataclass(frozen=True, kw_only=True)
class Epilogue:
    """fma(sum, alpha, beta·C), a bias, and roundings; its text is its name.

    alpha, beta: beta·C is rounded on its own, and left out where beta is 0: the sum is multiplied by alpha
    alone then, and keeps its word where alpha is 1.
    c: where C enters: ``first``: before all products, in the first chain, or before the first part of the
    outermost level; ``epilogue``: here. None: first where alpha and beta are 1, else here.
    bias: whether a number for each column is added, after C.
    out: the formats to which the result is converted, one after the other; none: that of the sum.
    rounding: of these conversions.
    saturate: whether what is beyond the last format's largest number, and an infinity, becomes that number
    (else as IEEE 754 says); a NaN becomes the largest number where the format has no NaN (PTX ISA, "cvt",
    ``.satfinite``).
    stochastic: bits of a random number, given for each element, which the last conversion adds below the last
    kept bit before it truncates (0: it does not). A result whose first ``stochastic`` dropped bits and
    the random number carry grows by one unit; lower bits are not looked at.
    nan: which words NaN results have of all arithmetic outside of the unit, that of the reduction as well
    (:class:`.NanWords`); None: ``nans_outside``, which is no part of the text: what the vendor's documents
    say of the unit's architecture (:meth:`on`).
    Arithmetic here is binary32, or binary64 where the sum is.
    """

    alpha: float = 1.0
    beta: float = 1.0
    c: str | None = None
    bias: bool = False
    out: tuple[Format, ...] = ()
    rounding: Rounding = _NEAREST
    saturate: bool = False
    stochastic: int = 0
    nan: NanWords | None = None
    nans_outside: NanWords = UNKNOWN

    def __post_init__(self) -> None:
        out = (self.out,) if isinstance(self.out, (str, Format)) else self.out
        object.__setattr__(
            self, "out", tuple(float_format(format_named(o) if isinstance(o, str) else o) for o in out)
        )
        if isinstance(self.rounding, str):
            object.__setattr__(self, "rounding", rounding_named(self.rounding))
        if isinstance(self.nan, str):
            object.__setattr__(self, "nan", NanWords.named(self.nan))
        if self.c is not None:
            choose("c", self.c, _ENTERS)
            self._check(
                self.c != "first" or (self.alpha, self.beta) == (1, 1), "c=first needs alpha and beta 1"
            )
        converts = self.saturate or self.stochastic or self.rounding != _NEAREST
        self._check(bool(self.out) or not converts, "saturate, stochastic and rounding need out=FORMAT")
        self._check(0 <= self.stochastic <= 32, "stochastic must be from 1 to 32 bits")
        self._check(not self.stochastic or self.rounding == _NEAREST, "stochastic has no other rounding")
        for number, fmt in enumerate(self.out, 1):
            self._check(fmt.signed, f"{fmt.name} has no sign")
            ends = fmt.has_infinity or (self.saturate and number == len(self.out))
            self._check(ends, f"{fmt.name} has no infinity: it must be the last of out, with saturate")

    def _check(self, holds: bool, why: str) -> None:
        if not holds:
            raise TcsmtError(f"epilogue {self}: {why}")

    @property
    def c_first(self) -> bool:
        """Return whether C enters before the products."""
        return self.c == "first" or (self.c is None and self.alpha == self.beta == 1)

    @property
    def plain(self) -> bool:
        """Return whether the sum is the result, C being added before the products if at all."""
        return not self.out and not self.bias and self.alpha == 1 and self.c_first

    def on(self, unit: Row) -> Epilogue:
        """On a unit, whose row says which words NaNs have where the epilogue does not."""
        return replace(self, nans_outside=unit.nans_outside)

    @property
    def nans(self) -> NanWords:
        """Return which words NaN results have outside of the unit."""
        return self.nans_outside if self.nan is None else self.nan

    def with_numbers(self, alpha: float | None, beta: float | None) -> Epilogue:
        """Return it with these numbers for alpha and beta; None: its own."""
        return replace(
            self,
            alpha=self.alpha if alpha is None else float(alpha),
            beta=self.beta if beta is None else float(beta),
        )

    def __str__(self) -> str:
        parts = [f"{name}={_shown(x)}" for name, x in (("alpha", self.alpha), ("beta", self.beta)) if x != 1]
        parts += [f"c={self.c}"] if self.c is not None else []
        parts += ["bias"] if self.bias else []
        parts += ["out=" + ":".join(fmt.name for fmt in self.out)] if self.out else []
        parts += [self.rounding.name] if self.rounding != _NEAREST else []
        parts += ["saturate"] if self.saturate else []
        parts += [f"stochastic={self.stochastic}"] if self.stochastic else []
        parts += [f"nan={self.nan}"] if self.nan is not None else []
        return ",".join(parts)

    def __repr__(self) -> str:
        return f"Epilogue({str(self)!r})"


def _shown(number: float) -> str:
    """Return the number as text, as short as reads back."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


#: The sum as it is.
PLAIN = Epilogue()


def is_epilogue(text: str) -> bool:
    """Return whether the first option of a text is one of an epilogue, which no reduction begins with."""
    first = text.partition(",")[0].strip()
    return first in ROUNDINGS or first.partition("=")[0] in _OPTIONS


def epilogue_named(text: str) -> Epilogue:
    """Return the epilogue of a text such as ``alpha=2,bias,out=f16:bf16,saturate``. Raises
    :class:`.TcsmtError`.
    """
    options: dict[str, Any] = {}
    for option in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = option.partition("=")
        if not equals and key in ROUNDINGS:
            options["rounding"] = ROUNDINGS[key]
            continue
        key = choose("option of an epilogue", key, _OPTIONS)
        if key in ("alpha", "beta"):
            try:
                options[key] = float(value)
            except ValueError:
                raise TcsmtError(f"epilogue {text!r}: {key} = {value!r}: must be a number") from None
        elif key in ("bias", "saturate"):
            options[key] = True
        elif key == "stochastic":
            if not value.isdecimal():
                raise TcsmtError(f"epilogue {text!r}: {key} = {value!r}: must be a number of bits")
            options[key] = int(value)
        else:
            options[key] = tuple(value.split(":")) if key == "out" else value
    return Epilogue(**options)


_OPTIONS = ("alpha", "beta", "c", "bias", "out", "saturate", "stochastic", "nan")
