"""A question with its verdict, ready to be shown: the witness, where the results first differ, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.prove.statements.cause import cause_text
from tcsmt.prove.statements.certified import Certified
from tcsmt.prove.statements.explain import first_difference, steps
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.invariants import checked_cast
from tcsmt.support.text import ranges

__all__ = ["Finding", "shown", "witness_of"]


@dataclass(frozen=True)
class Finding:
    """A question and its verdict; for a witness, which sides the unit's model agrees with.

    certified: what became of a proof's certificate, if there was to be one.
    """

    question: Question
    verdict: Verdict
    supported: tuple[str, ...] = ()
    certified: Certified | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain data (documented in the reference, "JSON")."""
        data: dict[str, Any] = {"question": self.question.title, "domain": self.question.domain_text}
        data |= self.verdict.as_json()
        if isinstance(self.verdict, Distinguished):
            data |= {"inputs": self.inputs(), "results": self.results()}
            data |= {"first_difference": self.first_difference(), "cause": self.cause()}
            data["supported"] = list(self.supported)
        if self.certified is not None:
            data["certificate"] = self.certified.as_json()
        return data

    def inputs(self) -> dict[str, dict[str, str]]:
        """Each input of the witness: word and exact value."""
        formats, values = self.question.formats, checked_cast(self.verdict, Distinguished).values
        return {name: shown(formats[name], word) for name, word in values.items()}

    def results(self) -> list[dict[str, str]]:
        """Return what each side computes on the witness."""
        values = checked_cast(self.verdict, Distinguished).values
        words = evaluate([side.trace.output for side in self.question.sides], values)
        sides = zip(self.question.sides, words, strict=True)
        return [{"side": side.label, **shown(side.format, word)} for side, word in sides]

    def first_difference(self) -> dict[str, str] | None:
        """Return the first stage at which two sides hold different values, and both values by the sides'
        labels.
        """
        if not isinstance(self.verdict, Distinguished) or len(self.question.sides) != 2:
            return None
        values = self.verdict.values
        pair = first_difference(*(steps(s.trace, values) for s in self.question.sides))
        if pair is None:
            return None
        labels = [side.label for side in self.question.sides]
        return {"stage": pair[0].name, labels[0]: pair[0].text, labels[1]: pair[1].text}

    def cause(self) -> str:
        """Why two sides differ on the witness, in one sentence; empty where nothing can be said."""
        if not isinstance(self.verdict, Distinguished) or len(self.question.sides) != 2:
            return ""
        return cause_text(*self.question.sides, self.verdict.values)

    def __str__(self) -> str:
        """For people: the question, the verdict, the witness, both results, where they differ, and why."""
        verdict = self.verdict
        title = f"* {self.question.title}"
        match verdict:
            case Unknown():
                return f"{title}\n  UNKNOWN: {verdict.reason}"
            case Equivalent():
                certificate = f"\n  {self.certified}" if self.certified is not None else ""
                if not verdict.solver:
                    return f"{title}\n  EQUIVALENT: both sides are the same graph{certificate}"
                steps = f": {verdict.stage}" if verdict.stage else ""
                by = f"{verdict.by_whom}, {verdict.seconds:.3f} s"
                return f"{title}\n  EQUIVALENT, proved by {by}{steps}{certificate}"
            case Distinguished():
                by = f"{verdict.by}, {verdict.seconds:.3f} s, replayed"
                return "\n".join([title, f"  DISTINGUISHED by {by}", *self.witness_lines()])

    def witness_lines(self) -> list[str]:
        """Return the witness for people: inputs that are not zero, both results, the first difference, the
        cause.
        """
        lines = []
        inputs = self.inputs()
        zeros = [n for n, v in inputs.items() if int(v["word"], 16) == 0]
        for name, value in inputs.items():
            if name not in zeros:
                lines.append(f"    {name:>4} = {value['word']}  {value['value']:<24} {value['decimal']}")
        if zeros:
            lines.append(f"    {', '.join(ranges(zeros))} = 0")
        for result in self.results():
            mark = "  (what the unit's model gives)" if result["side"] in self.supported else ""
            lines.append(
                f"    {result['side']}: {result['word']}  {result['value']}  {result['decimal']}{mark}"
            )
        differing = self.first_difference()
        if differing is not None:
            stage, left, right = differing.values()
            lines.append(f"    they first differ at '{stage}': {left}  |  {right}")
        cause = self.cause()
        return [*lines, f"    {cause}"] if cause else lines


def shown(fmt: AnyFormat, word: int) -> dict[str, str]:
    """A word in hexadecimal, its exact value and its decimal value."""
    exact = fmt.describe(word)
    finite = not (fmt.is_nan(word) or fmt.is_infinite(word))
    rounded = finite and exact != "-0" and not isinstance(fmt, IntegerFormat)  # whose values are in digits
    decimal = f"{float(fmt.value(word)):.9g}" if rounded else exact
    return {"word": fmt.hex(word), "value": exact, "decimal": decimal, "format": fmt.name}


def witness_of(record: Mapping[str, Any]) -> dict[str, int]:
    """Return the words of the inputs that a record of a finding has."""
    return {name: int(value["word"], 16) for name, value in record["inputs"].items()}
