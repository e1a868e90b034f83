"""Models of matrix units: frozen parameters, and the datapath that they choose.

A model computes one element of ``D = A·B + C``: from ``k`` words of a row of A, ``k`` words of a
column of B, one word of C and, where the unit has them, block scales to one word of D. A variant is
``dataclasses.replace(model, ...)``.
"""

from tcsmt.models.base import Model, Trace
from tcsmt.models.circuit import Circuit
from tcsmt.models.dot_then_add import DotThenAdd
from tcsmt.models.fused import FusedDotAdd
from tcsmt.models.grouped_dot_add import GroupedDotAdd
from tcsmt.models.ieee_dot_add import IeeeDotAdd
from tcsmt.models.instruction_sequence import InstructionSequence
from tcsmt.models.integer_dot_add import IntegerDotAdd
from tcsmt.models.operands import Operands
from tcsmt.models.stages import Kind, Stage

__all__ = [
    "Circuit",
    "DotThenAdd",
    "FusedDotAdd",
    "GroupedDotAdd",
    "IeeeDotAdd",
    "InstructionSequence",
    "IntegerDotAdd",
    "Kind",
    "Model",
    "Operands",
    "Stage",
    "Trace",
]
