"""Types of arguments that many calls take: domains, rules for operands, options of solvers."""

from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES
from tcsmt.prove.engine.options import CHOICES as SOLVERS
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain

__all__ = ["OPERAND_RULES", "SOLVERS", "Domain", "SolvingOptions"]
