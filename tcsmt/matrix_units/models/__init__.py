"""Models of matrix units: frozen parameters, and the datapath that they choose.

A model computes one element of ``D = A·B + C``: from ``k`` words of a row of A, ``k`` words of a
column of B, one word of C and, where the unit has them, block scales to one word of D. A variant is
``dataclasses.replace(model, ...)``.
"""

from tcsmt.matrix_units.models.base import Model, Operands, Trace
from tcsmt.matrix_units.models.dot_then_add import DotThenAdd
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.fused_parameters import FusedParameters
from tcsmt.matrix_units.models.grouped_dot_add import GroupedDotAdd
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import IeeeParameters
from tcsmt.matrix_units.models.instruction_sequence import InstructionSequence
from tcsmt.matrix_units.models.integer_dot_add import IntegerDotAdd
from tcsmt.matrix_units.models.stages import Kind, Stage

__all__ = [
    "DotThenAdd",
    "FusedDotAdd",
    "FusedParameters",
    "GroupedDotAdd",
    "IeeeDotAdd",
    "IeeeParameters",
    "InstructionSequence",
    "IntegerDotAdd",
    "Kind",
    "Model",
    "Operands",
    "Stage",
    "Trace",
]
