"""The base class of models: formats, the operands for one word of D in order, and a trace of the stages.

A model declares its parameters: what each one is, and the values that it may have; others are refused.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, cached_property, partial
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar

from tcsmt.language.graphs.digest import digest_of_graph, digest_of_texts
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, format_named
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import Rounding, rounding_named
from tcsmt.matrix_units.models.stages import Kind, Stage
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.renaming import warn_of_name


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """A table of parameters: each field is one, with its type, default and declared values.

    qualifiers: those that say how something is done, and say nothing of a model that does not do it.

    Formats, rounding modes and NaN rules may be given by name, and lanes in a list. Raises
    :class:`.TcsmtError` for a value that is not of the parameter's type, or outside of its declared range.
    """

    qualifiers: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        table: Any = type(self)
        for name, kind, allowed, named, optional, ends in _declared(table):
            own = value = getattr(self, name)
            if kind is NanRule and isinstance(value, int):
                value = NanRule((), value)
            elif kind is tuple and isinstance(value, Sequence):
                value = tuple(value)
            elif isinstance(value, str) and named is not None:
                value = named(value)
            if value is not own:
                object.__setattr__(self, name, value)
            if not (isinstance(value, kind) or (optional and value is None)):
                self.check(name, False, allowed)
            if ends and value is not None and not ends[0] <= value <= ends[1]:
                self.check(name, False, f"{'None or ' * optional}from {ends[0]} to {ends[1]}")

    def check(self, name: str, holds: bool, allowed: str) -> None:
        """Refuse a parameter with an error that names it, its value and what is allowed."""
        if not holds:
            raise self.refusal(name, allowed)

    def refusal(self, name: str, allowed: str) -> TcsmtError:
        """Return the error about a parameter, with its value and what is allowed."""
        value = getattr(self, name)
        shown = value.name if isinstance(value, AnyFormat) else f"{value!r:.200}"
        return TcsmtError(f"{name} = {shown}: must be {allowed}")


#: What a parameter of a kind must be, how errors call that, and how a name is looked up.
_KINDS: dict[str, tuple[type, str, Callable[[str], Any] | None]] = {
    "int": (Integral, "an integer", None),
    "bool": (bool, "True or False", None),
    "str": (str, "a name", None),
    "AnyFormat": (AnyFormat, "a format or its name", format_named),
    "Format": (Format, "a floating-point format or its name", format_named),
    "IntegerFormat": (IntegerFormat, "an integer or fixed-point format or its name", format_named),
    "Rounding": (Rounding, "a rounding mode or its name", rounding_named),
    "tuple[int, ...]": (tuple, "a permutation of the lanes", None),
    "NanRule": (NanRule, "a NaN's word or a rule for it", NanRule.named),
}


@cache
def _declared(
    table: Any,
) -> list[tuple[str, type, str, Callable[[str], Any] | None, bool, tuple[int, int] | None]]:
    """Return for each parameter its name, the rest as in ``_KINDS``, if it may be None, and its ends."""
    checks = []
    for f in fields(table):
        kind, _, optional = str(f.type).partition(" | ")
        if kind not in _KINDS:
            continue
        expected, allowed, named = _KINDS[kind]
        if "choices" in f.metadata:
            choices = f.metadata["choices"]
            allowed, named = " or ".join(choices), partial(choose, f.name, allowed=choices)
        allowed = f"{allowed} or {optional}" if optional else allowed
        checks.append((f.name, expected, allowed, named, bool(optional), f.metadata.get("ends")))
    return checks


def choice(default: str, *others: str) -> Any:
    """Return a parameter that is one of some names, with its default."""
    return field(default=default, metadata={"choices": (default, *others)})


def number(least: int, most: int, *, default: Any = MISSING) -> Any:
    """Return a parameter that is a number from ``least`` to ``most``."""
    return field(default=default, metadata={"ends": (least, most)})


def lane_count(*, default: Any = MISSING) -> Any:
    """Return a parameter that counts lanes; which counts fit, the model says."""
    return field(default=default, metadata={"unit": "lanes"})


class InputRole(NamedTuple):
    """The role of an input word: its operand (``scale_b``; "": a further input), its lane, which factor it is
    (0: of a, 1: of b), and whether it is a block scale.
    """

    operand: str = ""
    lane: int | None = None
    factor: int | None = None
    scale: bool = False


@cache
def role_of(name: str) -> InputRole:
    """Return the role of the input word of this name. No further input has a word of an operand's names."""
    match = re.fullmatch(r"(s(?=.[0-9])|)(a|b)([0-9]*)", name)
    if match is None:
        return InputRole("c" if name == "c" else "")
    scale, side, lane = bool(match[1]), match[2], int(match[3]) if match[3] else None
    return InputRole("scale_" * scale + side, lane, None if scale else "ab".index(side), scale)


def word_names(operand: str, count: int | None) -> list[str]:
    """Return the names of an operand's words, or of a further input's; count: None where it is one word."""
    if count is None:
        return [operand]
    name = {"a": "a{}", "b": "b{}", "scale_a": "sa{}", "scale_b": "sb{}"}.get(operand, operand + "[{}]")
    return [name.format(lane) for lane in range(count)]


Lanes_co = TypeVar("Lanes_co", covariant=True)
One_co = TypeVar("One_co", covariant=True)
Word = TypeVar("Word")


@dataclass(frozen=True)
class Operands(Generic[Lanes_co, One_co]):
    """k of a, k of b, one c, and the block scales of a unit that has them.

    They may be terms, integers or text (a, b and the scales are sequences of them, c is one), or arrays of
    words for many rows: a and b of shape (rows, k), c of shape (rows,), scales of shape (rows, scales).
    further: words of inputs beside these, by name; as a's, also where an input has one word.
    The fields' order is that of :attr:`.Model.input_names`, of files' columns and of compiled kernels.
    """

    a: Lanes_co
    b: Lanes_co
    c: One_co
    scale_a: Lanes_co | None = None
    scale_b: Lanes_co | None = None
    further: Mapping[str, Lanes_co] = field(default_factory=dict, hash=False, kw_only=True)

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> Operands[Any, Any]:
        """Return the operands of parts by name, as :attr:`named` gives them."""
        own = {name: parts[name] for name in ("a", "b", "c", "scale_a", "scale_b") if name in parts}
        return Operands(**own, further={name: part for name, part in parts.items() if name not in own})

    @classmethod
    def split(
        cls, words: Sequence[Word], counts: Mapping[str, int | None]
    ) -> Operands[tuple[Word, ...], Word]:
        """Split all inputs in order. counts: :attr:`.Model.word_counts`.

        Raises ValueError for another number of words.
        """
        needed = sum(count or 1 for count in counts.values())
        if len(words) != needed:
            raise ValueError(f"{len(words)} words for k = {counts['a']}, which takes {needed}")
        rest = iter(words)
        parts: dict[str, Any] = {name: tuple(islice(rest, count or 1)) for name, count in counts.items()}
        return Operands.of(parts | {"c": parts["c"][0]})

    @property
    def named(self) -> dict[str, Any]:
        """Return each part that is there by its field's name, in order."""
        parts = {"a": self.a, "b": self.b, "c": self.c, "scale_a": self.scale_a, "scale_b": self.scale_b}
        return {name: part for name, part in parts.items() if part is not None} | dict(self.further)

    @property
    def parts(self) -> tuple[Any, ...]:
        """Return the parts that are there, in order."""
        return tuple(self.named.values())

    def map(self, change: Callable[[Any], Any]) -> Operands[Any, Any]:
        """Return the operands with every part that is there changed."""
        return Operands.of({name: change(part) for name, part in self.named.items()})

    def flat(self: Operands[Sequence[Word], Word]) -> tuple[Word, ...]:
        """Return all inputs of one row in order, what :meth:`split` splits."""
        parts = self.named.items()
        return tuple(word for name, part in parts for word in ((part,) if name == "c" else part))


FormatOfC = TypeVar("FormatOfC")
Lanes = TypeVar("Lanes")
#: Input words as terms.
Terms: TypeAlias = Operands[Sequence[Term], Term]


@dataclass(frozen=True)
class Call:
    """A model, the terms that it was applied to, and its output word."""

    model: Model
    operands: Terms
    output: Term


@dataclass(frozen=True)
class Trace:
    """A model applied to input terms: the inputs, every stage's result, and the output word.

    calls: of models on terms, by which a reader gets the output again, each output before its use.
    """

    operands: Terms
    stages: tuple[Stage, ...]
    output: Term
    calls: tuple[Call, ...]

    @property
    def a(self) -> Sequence[Term]:
        """Return the words of a, in lane order."""
        return self.operands.a

    @property
    def b(self) -> Sequence[Term]:
        """Return the words of b, in lane order."""
        return self.operands.b

    @property
    def c(self) -> Term:
        """Return the word of c."""
        return self.operands.c

    @property
    def inputs(self) -> tuple[Term, ...]:
        """Return all input terms, in the order of :attr:`Model.input_names`."""
        return self.operands.flat()

    def of(self, *kinds: Kind) -> list[Stage]:
        """Return the stages of some kinds, in order."""
        return [stage for stage in self.stages if stage.kind in kinds]


@dataclass(frozen=True, kw_only=True)
class Model(Parameters, ABC):
    """The base of every model: formats and length of the dot product.

    kind: the class, as data names it. title: what such a unit does, for messages. longest: the largest k.
    a_format, b_format, c_format, d_format: formats, or their names.
    k: products in one instruction, per element of D.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    longest: ClassVar[int] = 1024
    a_format: AnyFormat
    b_format: AnyFormat
    c_format: AnyFormat
    d_format: AnyFormat
    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check("k", 1 <= self.k <= self.longest, f"from 1 to {self.longest}")
        self.validate()

    def __getstate__(self) -> dict[str, Any]:
        """Return parameters alone: the terms of a trace belong to their process."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def table(cls) -> type[Parameters]:
        """Return the parameters, declared; of a model that is not composed of parts, itself."""
        return cls

    @classmethod
    def of(cls, **parameters: Any) -> Self:
        """Return the model of these parameters. Raises :class:`.TcsmtError` if they contradict each other."""
        return cls(**parameters)

    @property
    def parameters(self) -> Any:
        """Return the value of each parameter of :meth:`table`, under its name."""
        return self

    def replace(self, **changes: Any) -> Self:
        """Return the model with parameters changed. Raises :class:`.TcsmtError` if they contradict others."""
        parameters = self.parameters
        return self.of(
            **{f.name: getattr(parameters, f.name) for f in fields(parameters) if f.init} | changes
        )

    def varied(self, **changes: Any) -> Self:
        """Return :meth:`replace` of the changes: its earlier name, for property modules until 1.0."""
        warn_of_name("Model", "varied", "replace")
        return self.replace(**changes)

    @abstractmethod
    def validate(self) -> None:
        """Refuse contradictory parameters. Raises :class:`.TcsmtError`."""

    @abstractmethod
    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Return the output word of input words; every intermediate result is appended to ``stages``."""

    def apply(self, operands: Terms) -> Trace:
        """Return the model on input words. Raises :class:`.TcsmtError` for another number of them."""
        self.check_lengths(operands)
        stages: list[Stage] = []
        output = self.result(operands, stages)
        return Trace(operands, tuple(stages), output, (Call(self, operands, output),))

    def check_lengths(self, operands: Terms) -> None:
        """Refuse operands that are not as many as the model takes. Raises :class:`.TcsmtError`."""
        lengths = {name: len(part) for name, part in operands.named.items() if name != "c"}
        if lengths != self.operand_lengths:
            raise TcsmtError(f"operands of lengths {lengths}: must be {self.operand_lengths}")

    @cached_property
    def trace(self) -> Trace:
        """Return the model on the variables a0, a1, ..., b0, b1, ..., c, sa0, ..., sb0, ..."""
        return self.apply(self.operands([var(name, fmt.width) for name, fmt in self.input_formats.items()]))

    def operands(self, words: Sequence[Word]) -> Operands[tuple[Word, ...], Word]:
        """Return what stands for each input, in the order of :attr:`input_names`, as one value.

        words: as many as there are inputs: terms, integers, or arrays of one shape.
        """
        return Operands.split(words, self.word_counts)

    @property
    def operand_formats(self) -> Operands[AnyFormat, AnyFormat]:
        """Return the format of each operand."""
        further = {name: fmt for name, (fmt, _) in self.further_inputs.items()}
        scale = self.scale_format
        return Operands(self.a_format, self.b_format, self.c_format, scale, scale, further=further)

    @cached_property
    def digest(self) -> str:
        """Return what the model computes (32 hexadecimal digits): its words' formats, and its graph.

        Parameters that change neither do not change it; a changed datapath does.
        """
        words = [f"{name} {fmt.name}" for name, fmt in self.input_formats.items()]
        return digest_of_texts([*words, self.d_format.name, digest_of_graph(self.trace.output)])

    @property
    def scale_format(self) -> Format | None:
        """Return the format of the block scales; None: the unit has none."""
        return None

    @property
    def scales(self) -> int:
        """Return how many block scales a has, and b."""
        return 0

    @property
    def further_inputs(self) -> Mapping[str, tuple[AnyFormat, int | None]]:
        """Return the format of each input beside these, by name, and its words' number (None: it is one)."""
        return {}

    @property
    def word_counts(self) -> dict[str, int | None]:
        """Return how many words there are in a row of each operand; None: it is one word, without a lane."""
        scales = {"scale_a": self.scales, "scale_b": self.scales} if self.scales else {}
        further = {name: count for name, (_, count) in self.further_inputs.items()}
        return {"a": self.k, "b": self.k, "c": None} | scales | further

    @property
    def operand_lengths(self) -> dict[str, int]:
        """Return the same of each operand but c."""
        return {name: count or 1 for name, count in self.word_counts.items() if name != "c"}

    @property
    def input_names(self) -> list[str]:
        """Return the names of the input variables: a0..., b0..., c, scales sa0..., sb0..., further ones."""
        return list(self.input_formats)

    @cached_property
    def input_formats(self) -> dict[str, AnyFormat]:
        """Return the format of each input variable, by name."""
        formats, counts = self.operand_formats.named.items(), self.word_counts
        return {name: fmt for operand, fmt in formats for name in word_names(operand, counts[operand])}

    def as_json(self) -> dict[str, Any]:
        """Return the parameters as plain values, the kind first."""
        data: dict[str, Any] = {"kind": self.kind}
        for f in fields(self.table()):
            value = getattr(self.parameters, f.name)
            data[f.name] = value.name if isinstance(value, (AnyFormat, Rounding, NanRule)) else value
        return data


def chained(
    blocks: Sequence[Lanes],
    c: tuple[Term, FormatOfC],
    d_format: FormatOfC,
    sum_of: Callable[[int | None, Lanes, Term, FormatOfC], Term],
) -> Term:
    """Sum blocks of lanes one after another: each block's result, in ``d_format``, is the next one's c.

    c: the first block's, with its format. sum_of: of a block's number (None: it is the only one), its lanes,
    c and c's format.
    """
    word, fmt = c
    for number, lanes in enumerate(blocks):
        word = sum_of(number if len(blocks) > 1 else None, lanes, word, fmt)
        fmt = d_format
    return word
