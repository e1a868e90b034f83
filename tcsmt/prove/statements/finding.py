"""A question with its verdict, ready to be shown: the witness, where the results first differ, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.prove.statements.explain import first_difference, steps
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.prove.statements.verdict import Certified, Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast
from tcsmt.support.text import ranges

#: What a parameter decides, for people.
MEANING = {
    "n_fma": "products in one sum (block size N_FMA)",
    "interleave": "how lanes are dealt to the sums",
    "fraction_bits": "alignment fraction bits F",
    "order": "the order of the lanes",
    "operand_format": "the format to which a and b are converted",
    "group": "lanes whose products are summed first",
    "group_fraction_bits": "fraction bits of the sums of groups",
    "alignment_complement": "subtraction by the ones' complement",
    "zero_c": "the exponent with which a zero c enters the maximum",
    "c_exponent_offset": "the exponent with which c enters the maximum",
    "c_dropped_above": "a c smaller than one unit of the grid",
    "c_enters": "where c takes part in the maximum",
    "inner_group": "lanes of a group that are truncated apart where c does not lead",
    "group_dropped_below": "the magnitude below which groups of lower scales add nothing to a subnormal sum",
    "rounded_format": "the format to which the sum is rounded",
    "flush_c": "a subnormal c flushed to zero",
    "subnormal_results": "how subnormal results are made",
    "tininess": "which results count as subnormal",
    "products": "products before alignment",
    "alignment": "rounding of the bits that alignment shifts out",
    "alignment_sticky": "a sticky bit of the bits that alignment shifts out",
    "carry_bits": "carry bits of the accumulator",
    "normalisation": "when the sum is normalised",
    "c_position": "where c enters",
    "c_rounding": "rounding of the addition of c",
    "zero_exponent": "the exponent with which a zero enters the maximum",
    "rounding": "final rounding",
    "round_fraction_bits": "the fraction bit of the final rounding",
    "overflow": "what an overflow gives",
    "flush_inputs": "subnormal inputs flushed to zero",
    "flush_outputs": "subnormal results flushed to zero",
    "negative_zero": "negative zero results",
    "nan": "the word of a NaN",
    "method": "order of the additions",
    "product_format": "the format to which products are rounded",
    "product_rounding": "rounding of products",
    "d_rounding": "rounding of the sum to the format of D",
    "sum_format": "the format of the additions",
    "chains": "chains to which lanes are dealt",
    "c_first": "whether c is the first term",
    "product_exponent": "the power of 2 that products are multiplied by",
    "flush_to_positive": "the sign of a flushed input",
    "lane_groups": "lanes on a grid of their own",
    "dot_fraction_bits": "fraction bits of the sum of products",
    "c_reach": "how far below the largest exponent c still counts",
    "normalised_fraction_bits": "bits of the normalised sum",
    "realignment": "rounding at the later alignments",
    "product_limit": "the magnitude from which a product is infinite",
    "group_lanes": "neighbouring lanes on a grid of their own",
    "a_first_bit": "the first significand bit of a that is multiplied",
    "a_bits": "how many significand bits of a are multiplied",
    "b_first_bit": "the first significand bit of b that is multiplied",
    "b_bits": "how many significand bits of b are multiplied",
    "least_exponent": "the exponent below which a group is left out",
    "sum_fraction_bits": "fraction bits of the sum of groups and c",
    "group_alignment": "rounding of the groups' sums when c is added",
    "c_alignment": "rounding of c when it is added",
    "kept_fraction_bits": "fraction bits to which aligned terms are rounded once more",
    "minus_one_shift": "the power of two for which a sum of -1 unit is taken",
    "largest_result": "the largest magnitude of a result",
}
#: What None means for a parameter.
_NONE = {
    "inner_group": "the whole group",
    "n_fma": "all",
    "carry_bits": "enough",
    "zero_exponent": "that of its fields",
    "nan": "the canonical one",
    "round_fraction_bits": "the format's last",
    "product_format": "exact",
    "c_reach": "always",
    "normalised_fraction_bits": "all",
    "least_exponent": "none is",
    "kept_fraction_bits": "all",
    "largest_result": "the format's",
}


def cause_text(first: ComparedModel, second: ComparedModel, values: Mapping[str, int]) -> str:
    """Return one sentence on why two sides give different results on an input; empty where there is none.

    values: the word of each input, by name. Parameters are tried on the evaluator: one is the cause if
    the first model with the second one's value gives the second one's result. Otherwise it says in which
    parameters the models differ.
    """
    left, right = first.model, second.model
    if type(left) is not type(right):
        return f"the units are of different kinds: {left.title}, against {right.title}"
    names = [f.name for f in fields(left.table()) if f.name in MEANING]
    ours, theirs = left.parameters, right.parameters
    apart = [name for name in names if getattr(ours, name) != getattr(theirs, name)]
    if not apart:
        return ""
    result, other = evaluate([first.trace.output, second.trace.output], values)
    tried = apart if _result(left, {}, values) == result else []  # else the side is more than its model
    causes = [name for name in tried if _result(left, {name: getattr(theirs, name)}, values) == other]
    texts = [_said(name, getattr(ours, name), getattr(theirs, name)) for name in causes or apart]
    if causes:
        return f"the cause, with all else equal: {' or '.join(texts)}"
    alone = "no parameter alone is the cause; " if tried else ""
    return f"{alone}the units differ in {', '.join(texts)}"


def _result(model: Model, changes: dict[str, Any], values: Mapping[str, int]) -> int | None:
    """Return the model's result with changed parameters; None where they contradict the others or the
    input.
    """
    try:
        changed = model.replace(**changes)
    except TcsmtError:
        return None
    if changed.input_formats != model.input_formats or changed.input_formats.keys() != values.keys():
        return None
    return evaluate([changed.trace.output], values)[0]


def _said(name: str, left: object, right: object) -> str:
    return f"{MEANING[name]} ({' against '.join(_texts(name, left, right))})"


def _texts(name: str, *values: object) -> Iterator[str]:
    for value in values:
        match value:
            case AnyFormat() | Rounding():
                yield value.name
            case bool():
                yield "yes" if value else "no"
            case NanRule(cases=()):
                yield f"{value.otherwise:#x}"
            case None:
                yield _NONE.get(name, "none")
            case _:
                yield str(value)


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
        """Return each input of the witness: word and exact value."""
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
        """Return why two sides differ on the witness, in one sentence; empty where nothing can be said."""
        if not isinstance(self.verdict, Distinguished) or len(self.question.sides) != 2:
            return ""
        return cause_text(*self.question.sides, self.verdict.values)

    def __str__(self) -> str:
        """Return the text: question, verdict, witness, both results, where they differ, and why."""
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
    """Return a word in hexadecimal, its exact value and its decimal value."""
    exact = fmt.describe(word)
    finite = not (fmt.is_nan(word) or fmt.is_infinite(word))
    rounded = finite and exact != "-0" and not isinstance(fmt, IntegerFormat)  # whose values are in digits
    decimal = f"{float(fmt.value(word)):.9g}" if rounded else exact
    return {"word": fmt.hex(word), "value": exact, "decimal": decimal, "format": fmt.name}


def witness_of(record: Mapping[str, Any]) -> dict[str, int]:
    """Return the words of the inputs that a record of a finding has."""
    return {name: int(value["word"], 16) for name, value in record["inputs"].items()}
