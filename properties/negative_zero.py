"""Whether a zero result can be negative."""

from dataclasses import replace

from tcsmt.investigate import Claim, Investigation
from tcsmt.query import Distinguished

CLAIMS = (Claim(source="mmasim 2.1.1", section="FDA", statement="zero results are +0"),)


def investigate(ask: Investigation) -> str:
    """Always +0 against signed zeros."""
    unit = ask.unit
    verdict = ask.differ(
        "+0 always against signed zeros",
        ("zero is +0", replace(unit, negative_zero=False)),
        ("zero keeps its sign", replace(unit, negative_zero=True)),
        lanes=(),
    )
    return "it can be seen" if isinstance(verdict, Distinguished) else "it cannot be seen"
