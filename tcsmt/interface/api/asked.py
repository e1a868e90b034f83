"""Arguments that many calls take: domains, rules for operands, options of solvers, lengths and times."""

from __future__ import annotations

from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES
from tcsmt.prove.engine.options import CHOICES as SOLVERS
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError

__all__ = ["OPERAND_RULES", "SOLVERS", "TYPE1", "Domain", "SolvingOptions", "check_effort"]


#: The exponents of Ootomo and Yokota's Type 1, where no domain is given.
TYPE1 = Domain(exponents=(-15, 14))


def check_effort(k: int | None, search: float = 1.0, most: int = 64) -> None:
    """Refuse lengths and times that nothing can be done with. most: products that terms are made for."""
    if k is not None and not 1 <= k <= most:
        raise TcsmtError(f"k = {k}: must be from 1 to {most}")
    if not 0 < search <= 1e6:
        raise TcsmtError(f"search = {search:g}: must be over 0 and up to 1000000 seconds")
