"""What a sum too large for the output becomes: infinity, the largest finite number, or IEEE's choice."""

from itertools import combinations

from tcsmt.investigation import Claim, Groups, Investigation

CLAIMS = (
    Claim(
        source="MMA-Sim 2025",
        section="III-C, step 5",
        statement="infinity, although FP32 results are truncated",
    ),
)


def investigate(ask: Investigation) -> str:
    """Every pair of the three rules."""
    unit = ask.unit
    verdicts = {}
    for one, two in combinations(("infinity", "saturate", "ieee"), 2):
        verdicts[f"{one}/{two}"] = ask.differ(
            f"{one} against {two}",
            (one, unit.replace(overflow=one)),
            (two, unit.replace(overflow=two)),
            lanes=(1, 2),
        )
    return f"the unit gives {unit.parameters.overflow}; {Groups.of(verdicts)}"
