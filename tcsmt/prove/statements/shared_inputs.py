"""Two units on the same dot product: the smaller one chained as a kernel would, narrow inputs widened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, var
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.models import IeeeDotAdd, Model, Operands, Stage, Trace
from tcsmt.matrix_units.models.base import Call, Terms, word_names
from tcsmt.matrix_units.models.ieee_parts import ExactSums, Trees
from tcsmt.prove.statements.question import ComparedModel, check_further_inputs, not_comparable
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True)
class SharedInputs:
    """Two models as sides on the same words, and the format of each word by its name."""

    sides: tuple[ComparedModel, ComparedModel]
    input_formats: Mapping[str, AnyFormat]

    @property
    def widened(self) -> str:
        """Return which operands were converted, for people; empty where none was."""
        converted: dict[tuple[str, str, str], list[str]] = {}
        for side in self.sides:
            for operand, wide in side.model.operand_formats.named.items():
                count = side.model.word_counts[operand]
                narrow = self.input_formats[word_names(operand, count)[0]]
                if narrow != wide:
                    converted.setdefault((side.label, wide.name, narrow.name), []).append(operand)
        return "; ".join(
            f"{name} takes {' and '.join(operands)} in {wide}, converted from {narrow}"
            for (name, wide, narrow), operands in converted.items()
        )


@dataclass(frozen=True)
class Chain:
    """A unit's instruction repeated over k products, each result being the c of the next one.

    model: one with k products: the same function where its graph is that of the chain (then ``exact``);
    else the closest that there is, for pictures, which are held against the chain's result.
    """

    instruction: Model
    k: int
    model: Model
    exact: bool

    def on(self, x: Terms) -> Trace:
        """Return the chain on k lanes of words."""
        if self.exact:
            return self.model.trace if x == self.model.trace.operands else self.model.apply(x)
        return _repeated(self.instruction, x)


def chain(name: str, model: Model, k: int) -> Chain:
    """Return the unit of that name over k products. Raises :class:`.TcsmtError` if a kernel could not chain
    it.
    """
    if k == model.k:
        return Chain(model, k, model, exact=True)
    if model.further_inputs:
        inputs = ", ".join(model.further_inputs)
        raise TcsmtError(f"{name} has K = {model.k} and the inputs {inputs}: it is not chained to k = {k}")
    if k % model.k or k > 1024:
        raise TcsmtError(f"k = {k}: for {name} it must be a multiple of {model.k}, up to 1024")
    if model.c_format != model.d_format:
        formats = f"its c is {model.c_format.name}, its result {model.d_format.name}"
        raise TcsmtError(f"{name} cannot be chained to k = {k}: {formats}")
    try:
        longer = model.replace(k=k, **_blocks(model))
    except TcsmtError:  # an order of lanes, for example, is that of one instruction
        return Chain(model, k, model, exact=False)
    trace = longer.trace
    return Chain(model, k, longer, exact=_repeated(model, trace.operands).output is trace.output)


def _blocks(model: Model) -> dict[str, Any]:
    """Return the change that keeps a sum of all products what it is in one instruction."""
    blocks = isinstance(model, IeeeDotAdd) and isinstance(model.sum, (Trees, ExactSums))
    return {"n_fma": model.k} if blocks and model.parameters.n_fma is None else {}


def _repeated(model: Model, x: Terms) -> Trace:
    """Apply instruction after instruction, whose fused sums are numbered on."""
    c, scales = x.c, model.scales
    stages: list[Stage] = []
    calls: list[Call] = []
    before = 0
    for number in range(len(x.a) // model.k):
        lanes = slice(number * model.k, (number + 1) * model.k)
        scale_slice = slice(number * scales, (number + 1) * scales)
        scale_a, scale_b = (side and side[scale_slice] for side in (x.scale_a, x.scale_b))
        part = model.apply(Operands(x.a[lanes], x.b[lanes], c, scale_a, scale_b))
        blocks = [stage.block if isinstance(stage.block, int) else 0 for stage in part.stages]
        stages += [replace(s, block=before + block) for s, block in zip(part.stages, blocks, strict=True)]
        before += max(blocks, default=0) + 1
        c = part.output
        calls += part.calls
    return Trace(x, tuple(stages), c, tuple(calls))


def shared(
    left: tuple[str, Model], right: tuple[str, Model], k: int | None = None, *, finite: bool = False
) -> SharedInputs:
    """Return both models, by their names, on the same words: each operand in the narrower of its two formats.

    k: length of the dot product; None: the shortest to which both can be chained. finite: only finite
    numbers are asked about, so that a format of finite numbers alone can be the wider one.
    Results are compared as words, so that their formats must have the same fields.
    Raises :class:`.TcsmtError` where no format holds the other's values, or results or scales differ.
    """
    check_further_inputs(left, right)
    length = lcm(left[1].k, right[1].k) if k is None else k
    chains = tuple(chain(name, model, length) for name, model in (left, right))
    first, second = (part.instruction for part in chains)
    if not _same_fields(first.d_format, second.d_format):
        raise not_comparable(left, right, f"d_format is {first.d_format.name} and {second.d_format.name}")
    narrow: dict[str, AnyFormat] = {}
    for operand, wide in first.operand_formats.named.items():
        other = second.operand_formats.named[operand]
        shared_format = _narrower(wide, other, finite)
        if shared_format is None:
            both = f"{operand}_format is {wide.name} and {other.name}"
            special = _narrower(wide, other, finite=True) is not None
            values = "infinities and NaNs (but its finite values)" if special else "values"
            raise not_comparable(left, right, f"{both}, and neither holds the other's {values}")
        narrow[operand] = shared_format
    times = length // first.k
    counts = {name: count and times * count for name, count in first.word_counts.items()}
    names_of = {operand: word_names(operand, counts[operand]) for operand in narrow}
    formats = {name: narrow[operand] for operand, names in names_of.items() for name in names}
    inputs = Operands.split([var(name, fmt.width) for name, fmt in formats.items()], counts)
    names = left[0], right[0]
    sides = [
        ComparedModel(name, part.model, _on(part, inputs, narrow))
        for name, part in zip(names, chains, strict=True)
    ]
    return SharedInputs((sides[0], sides[1]), formats)


def _narrower(first: AnyFormat, second: AnyFormat, finite: bool) -> AnyFormat | None:
    """Return the format of two whose values, special ones too unless ``finite``, the other has as well."""
    for narrow, wide in ((first, second), (second, first)):
        special = wide.has_infinity or (
            not narrow.has_infinity and (wide.nan_word is not None) >= (narrow.nan_word is not None)
        )
        if narrow == wide or ((special or finite) and wide.holds(narrow)):
            return narrow
    return None


def _same_fields(first: AnyFormat, second: AnyFormat) -> bool:
    """Return whether two formats' words are made alike, whatever their special values."""
    if isinstance(first, Format) and isinstance(second, Format):
        return first == second or replace(first, name=second.name, specials=second.specials) == second
    return first == second


def _on(chain: Chain, words: Terms, narrow: Mapping[str, AnyFormat]) -> Trace:
    """Return the chain on words of these formats, converted to its own."""

    def widened(operand: str, part: Any) -> Any:
        wide = chain.instruction.operand_formats.named[operand]
        if operand == "c":
            return ieee.widen(part, narrow[operand], wide)
        return tuple(ieee.widen(word, narrow[operand], wide) for word in part)

    own = Operands.of({operand: widened(operand, part) for operand, part in words.named.items()})
    return replace(chain.on(own), operands=words)


def words_given_to(
    side: ComparedModel, formats: Mapping[str, AnyFormat], values: Mapping[str, int]
) -> dict[str, int] | None:
    """Return the words that a side's model takes for shared inputs of these formats, by name.

    None where the side is more than its model, so that a picture of the model would show something else.
    """
    own = side.model.input_formats
    if own.keys() != values.keys():
        return None
    words = {name: _converted(word, formats[name], own[name]) for name, word in values.items()}
    alone, in_question = evaluate([side.model.trace.output], words), evaluate([side.trace.output], values)
    return words if alone == in_question else None


def _converted(word: int, narrow: AnyFormat, wide: AnyFormat) -> int:
    return evaluate([ieee.widen(const(word, narrow.width), narrow, wide)], {})[0]
