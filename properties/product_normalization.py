"""Whether products are normalised before alignment: 1.5 * 1.5 against 1 * 2.25."""

from tcsmt.investigation import Claim, Domain, Investigation, concluded

CLAIMS = (
    Claim(
        source="Valpey et al. 2025",
        section="Algorithm 1",
        statement="products are FP32 numbers: normalised",
    ),
    Claim(source="Khattak and Mikaitis 2025", section="IV-A1", statement="products are not normalised"),
    Claim(source="MMA-Sim 2025", section="III-C", statement="products are not normalised"),
)


def investigate(ask: Investigation) -> str:
    """One question: the two behaviours."""
    unit = ask.unit
    verdict = ask.differ(
        "unnormalised against normalised products",
        ("unnormalised products", unit.replace(products="unnormalised")),
        ("normalised products", unit.replace(products="normalised")),
        Domain(subnormals=False),
        lanes=(1, 2),
    )
    return concluded(
        verdict,
        f"they can be told apart; the unit's products are {unit.parameters.products}",
        "no finite input without subnormal numbers tells them apart on this unit",
        "they can be told apart",
    )
