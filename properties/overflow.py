"""What a sum too large for the output becomes: infinity, the largest finite number, or IEEE's choice."""

from dataclasses import replace
from itertools import combinations

from tcsmt.investigate import Claim, Investigation
from tcsmt.query import Distinguished

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
    apart = []
    for one, two in combinations(("infinity", "saturate", "ieee"), 2):
        verdict = ask.differ(
            f"{one} against {two}",
            (one, replace(unit, overflow=one)),
            (two, replace(unit, overflow=two)),
            lanes=(1, 2),
        )
        if isinstance(verdict, Distinguished):
            apart.append(f"{one}/{two}")
    return f"the unit gives {unit.overflow}; told apart: {', '.join(apart) or 'none'}"
