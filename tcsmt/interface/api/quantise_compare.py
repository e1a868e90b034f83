"""Are two quantisers the same function? ``tcsmt.compare_quantisers``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tcsmt.identification.quantisers.comparison import BlockWitness, QuantiserDecision
from tcsmt.identification.quantisers.comparison import compare_quantisers as decide
from tcsmt.interface.api.quantisers import word_text
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format, format_named
from tcsmt.programs.quantisation.quantiser import Quantiser, quantiser_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import reason_of
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result

_F32 = FORMATS["f32"]


@dataclass(frozen=True, repr=False)
class QuantiserComparison(Result):
    """Whether two quantisers give the same scales and elements: see ``equal``, or print it.

    quantisers: both. decision: blocks on which they differ, or proofs. domain: in words.
    """

    quantisers: tuple[Quantiser, Quantiser]
    decision: QuantiserDecision
    domain: str

    @property
    def equal(self) -> bool | None:
        """True: proved equal; False: there is a block on which they differ; None: unknown."""
        return self.decision.equal

    @property
    def exit_code(self) -> Exit:
        """0: proved equal; 1: there is a block; 3: unknown."""
        return Exit.of(self.equal)

    def block(self, what: str) -> list[float] | None:
        """Return the numbers of the block on which the ``scale``, or the ``element``, of both differs."""
        for one in self.decision.witnesses:
            if one.what == what:
                return [_number(one, word) for word in one.numbers]
        return None

    def _facts(self) -> dict[str, Any]:
        return {
            "quantisers": [row.name for row in self.quantisers], "equal": self.equal, "domain": self.domain,
            "witnesses": [self._witness(one) for one in self.decision.witnesses],
            "proofs": [
                {"asked": asked} | decision.verdict.as_json() for asked, decision in self.decision.proofs
            ],
        }  # fmt: skip

    def _witness(self, one: BlockWitness) -> dict[str, Any]:
        sides = zip(self.quantisers, one.words, one.lines, strict=True)
        return {
            "what": one.what,
            "block": [one.format.hex(word) for word in one.numbers],
            "numbers": [str(_number(one, word)) for word in one.numbers],
            "given": None if one.given is None else _F32.hex(one.given),
            "sides": [
                {"quantiser": row.name, "word": hex(word)}
                | {"lines": {name: fmt.hex(value) for name, (fmt, value) in lines.items()}}
                for row, word, lines in sides
            ],
        }

    def _lines(self) -> Iterator[str]:
        left, right = self.quantisers
        yield f"{left.name}: {left.source}"
        yield f"{right.name}: {right.source}"
        yield f"domain: {self.domain}"
        yield ""
        if self.equal is False:
            yield "DIFFERENT, replayed as terms"
        else:
            yield "EQUAL, proved" if self.equal else "UNKNOWN"
        for one in self.decision.witnesses:
            numbers = ", ".join(f"{_number(one, word):.9g}" for word in one.numbers)
            given = ""
            if one.given:
                factor = any("S" in row.given for row in self.quantisers)
                told = "with the factor {}" if factor else "with {} elsewhere in the tensor"
                given = f", {told.format(f'{float(_F32.value(one.given)):.9g}')}"
            yield f"the {one.what} of [{numbers}]{given}:"
            for row, lines in zip(self.quantisers, one.lines, strict=True):
                yield f"  {row.name}"
                yield from (f"    {name} = {word_text(fmt, word)}" for name, (fmt, word) in lines.items())
        for asked, decision in self.decision.proofs:
            verdict = decision.verdict
            told = reason_of(verdict) or ("the same graph" if not verdict.scripts else f"by {verdict.solver}")  # type: ignore[union-attr]
            yield f"  {asked}: {told}"

    @property
    def _title(self) -> str:
        told = {True: "equal", False: "different", None: "unknown"}[self.equal]
        return f"{' against '.join(row.name for row in self.quantisers)}: {told}"


def _number(one: BlockWitness, word: int) -> float:
    if one.format.is_nan(word):
        return float("nan")
    if one.format.is_infinite(word):
        return float("-inf") if word >> one.format.sign_bit else float("inf")
    return float(one.format.value(word))


@ieee_floats
def compare_quantisers(
    left: str,
    right: str,
    domain: Domain | None = None,
    *,
    numbers: str = "f32",
    nearest: bool = False,
    options: SolvingOptions = SolvingOptions(),
) -> QuantiserComparison:
    """Return whether two quantisers give the same scales and elements for every block: a proof, or a shortest
    block on which they differ.

    Small integers are tried first, then numbers next to the ends of significands at every exponent, and then
    solvers are asked. A scale counts by what elements are multiplied by; the factors of tensors do not count.
    Where one of both takes the largest magnitude of the tensor, or a factor, it is an input, too.

    Args:
        left: A quantiser: LIBRARY/NAME, or LIBRARY/NAME:FORMAT.
        right: The other one, with elements of the same format.
        domain: Of the numbers; None: all words.
        numbers: The format of the numbers: f32, bf16 or f16.
        nearest: Functions of which only approximations are known give the nearest number.
        options: Of solvers.

    Raises :class:`tcsmt.TcsmtError` for unknown names, elements of two formats, and approximations.

    >>> import tcsmt
    >>> tcsmt.compare_quantisers("deepgemm/fp8", "deepgemm/fp8.cuda").block("element")
    [52.0, 39.0]
    """
    rows = quantiser_named(left), quantiser_named(right)
    fmt = float_format(format_named(numbers))
    if fmt.name not in ("f32", "bf16", "f16"):
        raise TcsmtError(f"numbers in {fmt.name}: f32, bf16 or f16 are quantised")
    domain = domain or Domain(finite=False)
    decision = decide(*rows, domain, Solving(options), fmt, nearest=nearest)
    return QuantiserComparison(rows, decision, domain.in_words({"a": fmt}))
