"""What calls are told: which inputs count, how operands are rounded, and how solvers are asked."""

from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES
from tcsmt.prove.engine.options import CHOICES as SOLVERS
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain

__all__ = ["OPERAND_RULES", "SOLVERS", "Domain", "SolvingOptions"]
