"""A model's intermediate results: where each stands, what kind of result it is, and its value.

Where a stage stands is data (:attr:`Stage.place`); its name is text for people, made from it here and
read by nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.ieee import Operation


class Kind(Enum):
    """The kind of a stage's result; the value is what people read."""

    PRODUCT = "product"
    GROUP_SUM = "group sum"
    SCALED_PRODUCT = "scaled product"
    SCALED_GROUP = "scaled group"
    LARGEST_PRODUCT = "largest exponent of a product"
    LARGEST_EXPONENT = "largest exponent"
    ALIGNED_PRODUCT = "aligned product"
    ALIGNED_C = "aligned c"
    SUM_OF_PRODUCTS = "sum of products"
    SUM_OF_GROUPS = "sum of groups"
    SUM = "sum"
    COUNTED_SUM = "sum as counted"
    ROUNDED_DOWN = "rounded down"
    RESULT = "result"
    C_ADDED = "c added"
    # dot products by IEEE operations
    START = "start"
    RUNNING_SUM = "running sum"
    EXACT_SUM = "exact sum"
    LEAF = "leaf"
    SUM_OF_LANES = "sum of lanes"
    SUM_OF_CHAINS = "sum of chains"
    SUM_WITH_C = "sum with c"
    # algorithms on a unit
    WORD = "word"
    C_OUTSIDE = "c outside"
    INSTRUCTION = "instruction"
    SUM_OUTSIDE = "sum outside"
    ERROR_OUTSIDE = "error of the sum outside"
    CONVERTED = "converted"
    COMPUTED = "computed outside"


@dataclass(frozen=True)
class OperandPlace:
    """The a or b (``side``) of a lane, which an algorithm splits into words."""

    side: str
    lane: int

    def __str__(self) -> str:
        return f"{self.side}{self.lane}"


@dataclass(frozen=True)
class InstructionPlace:
    """An instruction of an algorithm: word ``a`` of the a's times word ``b`` of the b's of some lanes.

    within: where a stage stands inside the unit.
    """

    a: int
    b: int
    lanes: range
    within: Where = None

    def __str__(self) -> str:
        own = f"A{self.a}·B{self.b}, lanes {self.lanes.start} to {self.lanes.stop - 1}"
        return f"{own}: {where_text(self.within)}" if self.within is not None else own


@dataclass(frozen=True)
class ChainPlace:
    """An instruction of a kernel: of which chain, and which one of it.

    within: where a stage stands inside the unit.
    """

    chain: int
    step: int
    within: Where = None

    def __str__(self) -> str:
        own = f"chain {self.chain}, instruction {self.step}"
        return f"{own}: {where_text(self.within)}" if self.within is not None else own


@dataclass(frozen=True)
class SequencePlace:
    """An instruction of several that are one unit: which one; within: where a stage stands inside of it."""

    step: int
    within: Where = None

    def __str__(self) -> str:
        own = f"instruction {self.step}"
        return f"{own}: {where_text(self.within)}" if self.within is not None else own


#: A fused sum of a chain (None: the unit does not chain, or the stage comes after the chain), an operand,
#: or an instruction of an algorithm, of a kernel or of several that are one unit.
Where = int | OperandPlace | InstructionPlace | ChainPlace | SequencePlace | None
Value = Number | Exponent | Fixed | SignMagnitude | AnyFormat
Place = tuple[Where, Kind, "int | range | None"]


def where_text(block: Where) -> str:
    """Return how people call the place of a stage; "" where there is only one."""
    if block is None:
        return ""
    return f"block {block}" if isinstance(block, int) else str(block)


@dataclass(frozen=True)
class Stage:
    """An intermediate result of a model, for explanations and for cutting proofs in parts.

    block: the fused sum, operand or instruction that it belongs to. lane: which product, group or number,
    or the lanes that a sum is of; None: the block has one result of this kind. term: what the graph is cut
    at. operation: what the result rounds, where it is that of an IEEE operation.
    """

    block: Where
    kind: Kind
    lane: int | range | None
    value: Value
    term: Term
    operation: Operation | None = None

    @property
    def place(self) -> Place:
        """Return the place: stages of two models correspond where this agrees."""
        return self.block, self.kind, self.lane

    @property
    def label(self) -> str:
        """Return what it is called within its block."""
        match self.kind, self.lane:
            case Kind.INSTRUCTION, _:
                return ""
            case Kind.RUNNING_SUM, count:
                return f"sum {count}"
            case Kind.SUM_OF_LANES, range() as lanes:
                return f"sum of {len(lanes)} lanes from {lanes.start}"
            case Kind.SUM_WITH_C, int() as count:
                return f"sum {count} with c"
            case kind, None:
                return str(kind.value)
            case kind, number:
                return f"{kind.value} {number}"

    @property
    def name(self) -> str:
        """Return what people read."""
        where, label = where_text(self.block), self.label
        if isinstance(self.block, OperandPlace):
            return f"{where}, {label}"
        return f"{where}: {label}" if where and label else where or label

    def inside(self, instruction: InstructionPlace | ChainPlace | SequencePlace) -> Stage:
        """Return the stage of a unit as one of an algorithm, a kernel or a sequence that runs the unit."""
        return replace(self, block=replace(instruction, within=self.block))
