"""Where c enters: aligned with the products, added to their unrounded sum, or added last."""

from itertools import combinations

from tcsmt.investigation import Claim, Groups, Investigation

CLAIMS = (
    Claim(
        source="Khattak and Mikaitis 2025",
        section="Table II",
        statement="early everywhere; late (RNE) for FP8 through mma.sync on H100, H200 and B200",
    ),
    Claim(
        source="MMA-Sim 2025",
        section="III-C, III-F",
        statement="NVIDIA: aligned; CDNA3: added to the sum",
    ),
)


def investigate(ask: Investigation) -> str:
    """Every pair of the three."""
    unit = ask.unit
    verdicts = {}
    for one, two in combinations(("aligned", "summed", "last"), 2):
        verdicts[f"{one} and {two}"] = ask.differ(
            f"c {one} against c {two}",
            (f"c {one}", unit.replace(c_position=one)),
            (f"c {two}", unit.replace(c_position=two)),
            lanes=(2,),
        )
    groups = Groups.of(verdicts)
    return f"c is {unit.parameters.c_position}; {groups if groups.rest else 'all three are told apart'}"
