"""Whether partial sums are normalised when they grow: all terms positive."""

from tcsmt.investigation import Claim, Domain, Investigation, Row, cannot_become, concluded

CLAIMS = (
    Claim(source="Fasi et al. 2020", section="3.1.4", statement="only the final sum is normalised"),
    Claim(
        source="Valpey et al. 2025",
        section="4.3, property 4",
        statement="intermediate sums are not normalised",
    ),
)


def applies(row: Row) -> str:
    """Only units that can normalise after every addition with their other parameters as they are."""
    return cannot_become(row.model, normalisation="every")


def investigate(ask: Investigation) -> str:
    """Once against after every addition, on positive inputs."""
    unit = ask.unit
    verdict = ask.differ(
        "normalised once against after every addition, positive inputs",
        ("normalised once", unit.replace(normalisation="once")),
        ("normalised every time", unit.replace(normalisation="every")),
        Domain(positive=True),
        lanes=(2, 3),
    )
    return concluded(verdict, "it can be seen", "no such input shows it", "such an input shows it")
