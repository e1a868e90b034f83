"""How additions lose bits: nearest, toward zero, up, down, or truncation of what alignment shifts out.

Valpey et al.'s point: truncation is not rounding toward zero; they differ when the dropped bits have the
other sign than the sum.
"""

from itertools import combinations

from tcsmt.investigation import ROUNDINGS, Claim, Domain, Groups, Investigation, Model, ieee_like

CLAIMS = (
    Claim(
        source="Fasi et al. 2020",
        section="3.1.3",
        statement="binary32 additions, rounded toward zero",
    ),
    Claim(
        source="Hickmann and Bradford 2019, by Valpey et al. 2025",
        section="4.2",
        statement="truncation",
    ),
    Claim(
        source="Valpey et al. 2025",
        section="4.2, Table 3",
        statement="truncation, not rounding toward zero",
    ),
)


def investigate(ask: Investigation) -> str:
    """Every pair of the five, on two terms: one product and c."""
    unit = ask.unit.replace(k=1, n_fma=1)
    wide = unit.c_format
    hypotheses: dict[str, Model] = {"truncation": unit}
    for mode in ("RNE", "RTZ", "RTP", "RTN"):
        rounded = ieee_like(unit, rounding=ROUNDINGS[mode], d_rounding=unit.parameters.rounding)
        hypotheses[f"IEEE {mode}"] = rounded
    verdicts = {}
    for one, two in combinations(hypotheses, 2):
        results = [hypotheses[name].trace.output for name in (one, two)]
        verdicts[f"{one}/{two}"] = ask.differ(
            f"{one} against {two}",
            (one, hypotheses[one]),
            (two, hypotheses[two]),
            Domain(subnormals=False),
            lanes=(),
            also=[word[unit.d_format.sign_bit - 1 : 0].ne(0) for word in results],
        )
    groups = Groups.of(verdicts)
    told = f"one product and c in {wide.name}: {len(groups.told)} of {len(verdicts)} pairs told apart"
    return f"{told}; {groups.rest}" if groups.rest else told
