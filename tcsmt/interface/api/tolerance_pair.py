"""One limit for all elements, as tests have it: (rtol, atol), a cosine, a relative norm, a correlation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from tcsmt.analysis.tolerance.pairs import BoundedDifference
from tcsmt.support.results import Result
from tcsmt.support.text import counted

__all__ = ["TolerancePair"]


@dataclass(frozen=True, repr=False)
class TolerancePair(Result):
    """A pair (rtol, atol) that is proved for given matrices, and other limits; it unpacks as the pair.

    kernel: its name. against: that of the reference kernel; "" where the reference is the exact result.
    precision: the format in which the test computes. rtol_alone: the smallest rtol with atol = 0; infinity
    where there is none. cosine, pcc: the smallest ones; relative_norm: the largest Frobenius norm of the
    difference over the reference's; None: nothing is proved. left_out: elements without a bound.
    """

    kernel: str
    against: str
    precision: str
    rtol: float
    atol: float
    rtol_alone: float
    cosine: float | None
    relative_norm: float | None
    pcc: float | None
    left_out: int

    @classmethod
    def of(
        cls, difference: BoundedDifference, rtol: float, *, names: tuple[str, str], left_out: int
    ) -> TolerancePair:
        """Return the limits for bounds. names: of the kernel, and of the one that is the reference."""
        wide = difference.sums_are_bounded
        cosine, pcc = (x if wide and x > -1 else None for x in (difference.cosine, difference.pcc))
        norm = difference.relative_norm if wide else inf
        return cls(
            *names, difference.format.name, rtol, difference.atol(rtol), difference.rtol, cosine,
            None if norm == inf else norm, pcc, left_out,
        )  # fmt: skip

    def __iter__(self) -> Iterator[float]:
        return iter((self.rtol, self.atol))

    def _facts(self) -> dict[str, Any]:
        names = ("rtol", "atol", "rtol_alone", "cosine", "relative_norm", "pcc", "left_out")
        facts = {name: getattr(self, name) for name in names}
        facts["rtol_alone"] = None if self.rtol_alone == inf else self.rtol_alone
        return {"kernel": self.kernel, "against": self.against or None, "precision": self.precision, **facts}

    def _lines(self) -> Iterator[str]:
        where = "float64" if self.precision == "f64" else self.precision
        test = "|actual - expected| <= atol + rtol·|expected|"
        yield f"for a test in {where}, {test}, proved for these matrices:"
        yield f"  rtol={self.rtol:.17g}, atol={self.atol:.17g}"
        alone = "no rtol does" if self.rtol_alone == inf else f"rtol={self.rtol_alone:.17g}"
        yield f"  with atol=0: {alone}"
        limits = (
            ("cosine similarity", ">=", self.cosine),
            ("relative Frobenius norm", "<=", self.relative_norm),
            ("PCC", ">=", self.pcc),
        )
        for what, sign, limit in limits:
            yield f"  {what}: " + ("nothing is proved" if limit is None else f"{sign} {limit:.12g}")
        if self.left_out:
            yield f"  {counted(self.left_out, 'element')} without a bound: not included"

    @property
    def _title(self) -> str:
        return f"of {self.kernel}: rtol={self.rtol:.4g}, atol={self.atol:.4g}"
