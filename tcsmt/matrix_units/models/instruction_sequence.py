"""Instructions that are always run one after another on the same a and b, as one unit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models.base import Model, Terms
from tcsmt.matrix_units.models.stages import SequencePlace, Stage


@dataclass(frozen=True, kw_only=True)
class InstructionSequence(Model):
    """Several instructions on the same words of a and b; each one's result is the next one's c.

    So a multiplier that is narrower than the significands multiplies all of their bits: each instruction
    takes another part of them.

    instructions: their models, in order, all with the same formats of a, b and c and the same k.
    """

    kind: ClassVar[str] = "instruction-sequence"
    title: ClassVar[str] = "instructions one after another on the same a and b"
    a_format: AnyFormat = field(init=False)
    b_format: AnyFormat = field(init=False)
    c_format: AnyFormat = field(init=False)
    d_format: AnyFormat = field(init=False)
    k: int = field(init=False)
    instructions: tuple[Model, ...]

    def __post_init__(self) -> None:
        some = bool(self.instructions) and all(isinstance(part, Model) for part in self.instructions)
        self.check("instructions", some, "one model or more")
        for name in ("a_format", "b_format", "c_format", "d_format", "k"):
            object.__setattr__(self, name, getattr(self.instructions[0], name))
        super().__post_init__()

    def validate(self) -> None:
        """Check that all instructions take the same words, and c is what they give."""
        alike = {(part.a_format, part.b_format, part.c_format, part.k) for part in self.instructions}
        self.check("instructions", len(alike) == 1, "instructions with the same formats of a, b and c, and k")
        chained = all(part.d_format == self.c_format for part in self.instructions)
        self.check("instructions", chained, f"instructions that give {self.c_format.name}, as c is")
        plain = all(part.scale_format is None for part in self.instructions)
        self.check("instructions", plain, "instructions without block scales")

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Run each instruction on a, b and the result of the one before it."""
        word = x.c
        for number, part in enumerate(self.instructions):
            trace = part.apply(replace(x, c=word))
            stages += [stage.inside(SequencePlace(number)) for stage in trace.stages]
            word = trace.output
        return word

    def as_json(self) -> dict[str, Any]:
        """Return the instructions' parameters, in order."""
        return super().as_json() | {"instructions": [part.as_json() for part in self.instructions]}
