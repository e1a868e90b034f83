"""Criteria by which tests accept a result: a closeness of elements, a cosine, a norm, a correlation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from tcsmt.support.errors import TcsmtError, choose

Array = np.ndarray[Any, np.dtype[Any]]

#: The formats in which a test may compute.
PRECISIONS = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}


class Criterion(Protocol):
    """Whether a test accepts a result."""

    def accepts(self, actual: Array, expected: Array) -> bool:
        """Return whether it does: arrays of float64, of one shape."""


@dataclass(frozen=True)
class ElementwiseCloseness:
    """|actual - expected| <= atol + rtol·|expected|, as torch.isclose, numpy.isclose and JAX have it.

    rtol: a number. atol: a number, or one for each element. outside: the share of elements that may be
    further off. precision: the format in which the test computes. equal_nan: whether NaNs are close to each
    other. An infinity is close to itself.
    """

    rtol: float
    atol: float | Array
    outside: float = 0.0
    precision: str = "f64"
    equal_nan: bool = False

    def accepts(self, actual: Array, expected: Array) -> bool:
        """Return whether enough elements are close."""
        dtype = PRECISIONS[self.precision]
        with np.errstate(all="ignore"):
            x, y, atol, rtol = (
                np.asarray(part).astype(dtype) for part in (actual, expected, self.atol, self.rtol)
            )
            apart = np.abs(x - y)
            close = (x == y) | (np.isfinite(apart) & (apart <= atol + rtol * np.abs(y)))
        close |= self.equal_nan & np.isnan(x) & np.isnan(y)
        return float(np.mean(~close)) <= self.outside if close.size else True

    def __str__(self) -> str:
        atol = _shown(self.atol) if np.ndim(self.atol) == 0 else "one for each element"
        parts = [f"rtol={_shown(self.rtol)}", f"atol={atol}"]
        parts += [f"outside={_shown(self.outside)}"] if self.outside else []
        parts += [f"precision={self.precision}"] if self.precision != "f64" else []
        return ",".join([*parts, *(["equal_nan"] if self.equal_nan else [])])


def _cosine(actual: Array, expected: Array) -> float:
    size = float(np.linalg.norm(actual) * np.linalg.norm(expected))
    return float(np.vdot(actual, expected)) / size if size else 0.0


def _correlation(actual: Array, expected: Array) -> float:
    return _cosine(actual - actual.mean(), expected - expected.mean())


def _relative_norm(actual: Array, expected: Array) -> float:
    size = float(np.linalg.norm(expected))
    return float(np.linalg.norm(actual - expected)) / size if size else float("inf")


def _largest(actual: Array, expected: Array) -> float:
    return float(np.max(np.abs(actual - expected), initial=0.0))


#: What is measured of a whole result, and whether it must be no less than a limit, or no more.
_MEASURES: dict[str, tuple[Callable[[Array, Array], float], bool]] = {
    "cosine": (_cosine, True),
    "pcc": (_correlation, True),
    "norm": (_relative_norm, False),
    "max": (_largest, False),
}


@dataclass(frozen=True)
class MeasuredCriterion:
    """A limit of a number that is computed from the whole result, in float64."""

    measure: str
    limit: float

    def accepts(self, actual: Array, expected: Array) -> bool:
        """Return whether the number is within its limit; a NaN is not."""
        measured, least = _MEASURES[self.measure]
        with np.errstate(all="ignore"):
            value = measured(actual, expected)
        return value >= self.limit if least else value <= self.limit

    def __str__(self) -> str:
        return f"{self.measure}{'>=' if _MEASURES[self.measure][1] else '<='}{_shown(self.limit)}"


@dataclass(frozen=True)
class CriterionFunction:
    """A function of two arrays: it returns whether actual is accepted, or raises AssertionError."""

    function: Callable[[Array, Array], Any]

    def accepts(self, actual: Array, expected: Array) -> bool:
        """Return what the function says; None, as of an assertion that holds, is yes."""
        try:
            said = self.function(actual.copy(), expected.copy())
        except AssertionError:
            return False
        except TcsmtError as error:  # the terminal's functions say which one raised
            if isinstance(error.__cause__ or error.__context__, AssertionError):
                return False
            raise
        return said is None or bool(said)

    def __str__(self) -> str:
        return getattr(self.function, "__qualname__", "a function")


def criterion_named(text: str) -> Criterion:
    """Return the criterion of a text: ``rtol=1e-2,atol=1e-2``, with ``outside=SHARE``, ``precision=FORMAT``
    and ``equal_nan``; ``cosine>=0.99``, ``pcc>=0.99``, ``norm<=0.01``, ``max<=0.1``; or ``equal``.

    Raises :class:`.TcsmtError`.
    """
    if text == "equal":
        return ElementwiseCloseness(0.0, 0.0)
    for sign in (">=", "<="):
        name, found, number = text.partition(sign)
        if found:
            name = choose("criterion", name.strip(), _MEASURES)
            if _MEASURES[name][1] is not (sign == ">="):
                raise TcsmtError(f"criterion {text!r}: {name} has {'<=' if sign == '>=' else '>='}")
            return MeasuredCriterion(name, _number(text, number))
    options: dict[str, Any] = {"rtol": 0.0, "atol": 0.0}
    for part in text.split(","):
        if part.strip() == "equal_nan":
            options["equal_nan"] = True
            continue
        key, equals, value = (word.strip() for word in part.partition("="))
        key = choose(
            "criterion", key, ["rtol", "atol", "outside", "precision", "equal", "equal_nan", *_MEASURES]
        )
        if not equals or key in ("equal", "equal_nan", *_MEASURES):
            raise TcsmtError(
                f"criterion {text!r}: expected rtol=NUMBER,atol=NUMBER, cosine>=NUMBER, or equal"
            )
        options[key] = choose("precision", value, PRECISIONS) if key == "precision" else _number(text, value)
    return ElementwiseCloseness(**options)


def _shown(number: Any) -> str:
    """Return the shortest text that reads back as the number."""
    return repr(float(number)).removesuffix(".0")


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number) or number < 0:
        raise TcsmtError(f"criterion {text!r}: {value.strip()!r}: must be a number, 0 or more")
    return number
