"""Whether products are exact: rounded to the operands' format in any IEEE mode, against exact."""

from tcsmt.investigation import (
    FORMATS,
    ROUNDINGS,
    Claim,
    ComparedModel,
    Domain,
    Investigation,
    Operands,
    Question,
    all_of,
    concluded,
    const,
    ieee_like,
)

CLAIMS = (
    Claim(
        source="NVIDIA Volta whitepaper, by Valpey et al. 2025",
        section="4.1",
        statement="full precision product",
    ),
    Claim(source="Fasi et al. 2020", section="3.1.2", statement="products are exact"),
    Claim(source="Valpey et al. 2025", section="4.1, Table 1", statement="products are exact"),
)


def investigate(ask: Investigation) -> str:
    """One product, c = 0: an input at which every rounding of the product is wrong."""
    unit = ask.unit
    c = const(0, unit.c_format.width)
    exact = ieee_like(unit, k=1, sum_format=unit.d_format)
    narrow_format = unit.a_format if unit.a_format.has_infinity else FORMATS["f16"]
    narrow = [
        exact.replace(product_format=narrow_format, product_rounding=ROUNDINGS[mode])
        for mode in ("RNE", "RTZ", "RTP", "RTN")
    ]
    a, b = unit.trace.a[:1], unit.trace.b[:1]
    operands = Operands(a, b, c)
    sides = [ComparedModel("exact product", exact, exact.apply(operands))]
    sides += [
        ComparedModel(
            f"product rounded to {narrow_format.name} by {m.parameters.product_rounding}",
            m,
            m.apply(operands),
        )
        for m in narrow
    ]
    domain = Domain(subnormals=False).holds(exact.input_formats, sides[0].trace)
    differ = all_of(sides[0].trace.output.ne(side.trace.output) for side in sides[1:])
    verdict = ask.ask(
        Question(
            title="one product, exact against rounded in each IEEE mode",
            sides=tuple(sides),
            goal=domain & differ,
            domain=domain,
            domain_text="finite, no subnormals, c = 0",
            formats={"a0": unit.a_format, "b0": unit.b_format},
        )
    )
    return concluded(
        verdict,
        "an exact product can be told from every rounded one",
        "no one input tells it from every rounded one: on each, some rounding of the product changes nothing",
        "one input tells an exact product from every rounded one",
    )
