"""What every model of a matrix unit has: formats, inputs, and a trace of its stages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from numbers import Integral
from typing import Any, ClassVar

from tcsmt.arithmetic.formats import Format, format_named
from tcsmt.arithmetic.rounding import Rounding, rounding_named
from tcsmt.interpret.digest import digest_of_graph, digest_of_texts
from tcsmt.models.stages import Kind, Stage
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.terms import Term, var

__all__ = ["Model", "Trace", "choice"]


@dataclass(frozen=True)
class Trace:
    """A model applied to input terms: the inputs, every stage's result, and the output word."""

    a: tuple[Term, ...]
    b: tuple[Term, ...]
    c: Term
    stages: tuple[Stage, ...]
    output: Term
    scale_a: tuple[Term, ...] = ()
    scale_b: tuple[Term, ...] = ()

    @property
    def inputs(self) -> tuple[Term, ...]:
        """All input terms, in the order of :attr:`Model.input_names`."""
        return (*self.a, *self.b, self.c, *self.scale_a, *self.scale_b)

    def of(self, *kinds: Kind) -> list[Stage]:
        """The stages of some kinds, in order."""
        return [stage for stage in self.stages if stage.kind in kinds]


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """What every model has: formats and length of the dot product.

    kind: the class, as data names it. title: what such a unit does, for messages.
    a_format, b_format, c_format, d_format: formats, or their names.
    k: products in one instruction, per element of D.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    k: int

    def __post_init__(self) -> None:
        for one in fields(self):
            kind, _, optional = str(one.type).partition(" | ")
            if kind not in _KINDS:
                continue
            expected, allowed, named = _KINDS[kind]
            given = getattr(self, one.name)
            if "choices" in one.metadata:
                choices = one.metadata["choices"]
                allowed, named = " or ".join(choices), partial(choose, one.name, allowed=choices)
            if isinstance(given, str) and named is not None:
                given = named(given)
                object.__setattr__(self, one.name, given)
            holds = isinstance(given, expected) or (bool(optional) and given is None)
            self.check(one.name, holds, f"{allowed} or {optional}" if optional else allowed)
        self.check("k", 1 <= self.k <= 1024, "from 1 to 1024")
        self.validate()

    def __getstate__(self) -> dict[str, Any]:
        """Parameters alone: the terms of a trace belong to their process."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def check(self, name: str, holds: bool, allowed: str) -> None:
        """Refuse a parameter with an error that names it, its value and what is allowed."""
        if not holds:
            raise TcsmtError(f"{name} = {getattr(self, name)!r}: allowed is {allowed}")

    @abstractmethod
    def validate(self) -> None:
        """Refuse contradictory parameters. Raises :class:`.TcsmtError`."""

    @abstractmethod
    def apply(
        self,
        a: Sequence[Term],
        b: Sequence[Term],
        c: Term,
        scale_a: Sequence[Term] = (),
        scale_b: Sequence[Term] = (),
    ) -> Trace:
        """The model on input words: k of a, k of b, c, and the block scales of a unit that has them."""

    @cached_property
    def trace(self) -> Trace:
        """The model on the variables a0, a1, ..., b0, b1, ..., c, sa0, ..., sb0, ..."""
        words = [var(name, fmt.width) for name, fmt in self.input_formats.items()]
        k, scales = self.k, self.scales
        c = words[2 * k]
        return self.apply(
            words[:k],
            words[k : 2 * k],
            c,
            words[2 * k + 1 : 2 * k + 1 + scales],
            words[2 * k + 1 + scales :],
        )

    @cached_property
    def digest(self) -> str:
        """What the model computes (32 hexadecimal digits): its words' formats, and its graph.

        Parameters that change neither do not change it; a changed datapath does.
        """
        words = [f"{name} {fmt.name}" for name, fmt in self.input_formats.items()]
        return digest_of_texts([*words, self.d_format.name, digest_of_graph(self.trace.output)])

    @property
    def scale_format(self) -> Format | None:
        """The format of the block scales; None: the unit has none."""
        return None

    @property
    def scales(self) -> int:
        """Block scales of a, and of b."""
        return 0

    @property
    def input_names(self) -> list[str]:
        """The names of the input variables: a0..., b0..., c, then scales sa0..., sb0..."""
        return list(self.input_formats)

    @cached_property
    def input_formats(self) -> dict[str, Format]:
        """The format of each input variable, by name."""
        named: dict[str, Format] = {f"a{lane}": self.a_format for lane in range(self.k)}
        named |= {f"b{lane}": self.b_format for lane in range(self.k)}
        named["c"] = self.c_format
        scale = self.scale_format
        if scale is not None:
            named |= {f"s{side}{number}": scale for side in "ab" for number in range(self.scales)}
        return named

    def as_json(self) -> dict[str, Any]:
        """The parameters as plain values, the kind first."""
        data: dict[str, Any] = {"kind": self.kind}
        for one in fields(self):
            value = getattr(self, one.name)
            data[one.name] = value.name if isinstance(value, (Format, Rounding)) else value
        return data


#: What a parameter of a kind must be, how errors call that, and how a name is looked up.
_KINDS: dict[str, tuple[type, str, Callable[[str], Any] | None]] = {
    "int": (Integral, "an integer", None),
    "bool": (bool, "True or False", None),
    "str": (str, "a name", None),
    "Format": (Format, "a format or its name", format_named),
    "Rounding": (Rounding, "a rounding mode or its name", rounding_named),
}


def choice(default: str, *others: str) -> Any:
    """A parameter that is one of some names, with its default."""
    return field(default=default, metadata={"choices": (default, *others)})
