"""Whether a zero result can be negative."""

from tcsmt.investigation import Claim, Investigation, concluded

CLAIMS = (Claim(source="mmasim 2.1.1", section="FDA", statement="zero results are +0"),)


def investigate(ask: Investigation) -> str:
    """Always +0 against signed zeros."""
    unit = ask.unit
    verdict = ask.differ(
        "+0 always against signed zeros",
        ("zero is +0", unit.replace(negative_zero=False)),
        ("zero keeps its sign", unit.replace(negative_zero=True)),
        lanes=(),
    )
    return concluded(verdict, "it can be seen", "it cannot be seen", "it can be seen")
