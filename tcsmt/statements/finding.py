"""A question with its verdict, ready to be shown: the witness' words, each side's result, where they part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tcsmt.arithmetic.formats import Format
from tcsmt.interpret.exact import evaluate
from tcsmt.pictures.explain import first_difference, steps
from tcsmt.statements.question import Question
from tcsmt.statements.verdict import Distinguished, Verdict

__all__ = ["Finding", "shown"]


@dataclass(frozen=True)
class Finding:
    """A question and its verdict; for a witness, which sides the unit's model agrees with."""

    question: Question
    verdict: Verdict
    supported: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The finding as plain data (documented in README, "JSON")."""
        data: dict[str, Any] = {"question": self.question.title, "domain": self.question.domain_text}
        data |= self.verdict.as_json()
        if isinstance(self.verdict, Distinguished):
            data |= {"inputs": self.inputs(), "results": self.results(), "parts_at": self.parting()}
            data["supported"] = list(self.supported)
        return data

    def inputs(self) -> dict[str, dict[str, str]]:
        """Each input of the witness: word and exact value."""
        assert isinstance(self.verdict, Distinguished)
        formats = self.question.formats
        return {n: shown(formats[n], word) for n, word in self.verdict.values.items()}

    def results(self) -> list[dict[str, str]]:
        """What each side computes on the witness."""
        assert isinstance(self.verdict, Distinguished)
        words = evaluate([s.trace.output for s in self.question.sides], self.verdict.values)
        sides = zip(self.question.sides, words, strict=True)
        return [{"side": side.label, **shown(side.format, word)} for side, word in sides]

    def parting(self) -> dict[str, str] | None:
        """The first stage at which two sides part."""
        if not isinstance(self.verdict, Distinguished) or len(self.question.sides) != 2:
            return None
        values = self.verdict.values
        pair = first_difference(*(steps(s.trace, values) for s in self.question.sides))
        if pair is None:
            return None
        labels = [side.label for side in self.question.sides]
        return {"stage": pair[0].name, labels[0]: pair[0].text, labels[1]: pair[1].text}


def shown(fmt: Format, word: int) -> dict[str, str]:
    """A word in hexadecimal, its exact value and its decimal value."""
    exact = fmt.describe(word)
    finite = not (fmt.is_nan(word) or fmt.is_infinite(word))
    decimal = f"{float(fmt.value(word)):.9g}" if finite and exact != "-0" else exact
    return {"word": fmt.hex(word), "value": exact, "decimal": decimal, "format": fmt.name}
