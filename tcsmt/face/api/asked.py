"""What calls are told: which inputs count, and how solvers are asked."""

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain

__all__ = ["Domain", "SolvingOptions"]
