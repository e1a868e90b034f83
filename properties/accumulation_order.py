"""Whether the order of the products matters: it does for IEEE additions, not for a fused sum."""

from tcsmt.investigation import (
    ROUNDINGS,
    Claim,
    ComparedModel,
    Domain,
    Equivalent,
    Investigation,
    Operands,
    Question,
    concluded,
    ieee_like,
)

CLAIMS = (
    Claim(source="Fasi et al. 2020", section="3.1.2", statement="no fixed order: from the largest on"),
    Claim(
        source="Valpey et al. 2025",
        section="4.3, property 3",
        statement="the result does not depend on the order",
    ),
    Claim(source="MMA-Sim 2025", section="III-C, step 4", statement="the sum is exact after alignment"),
)


def investigate(ask: Investigation) -> str:
    """(p1 + p2) + p3 against p1 + (p2 + p3) rounding toward zero; then the unit with its lanes reversed."""
    unit = ask.unit
    toward_zero = {"rounding": ROUNDINGS["RTZ"], "d_rounding": unit.parameters.rounding}
    ieee = ieee_like(unit, k=3, c_first=False, **toward_zero)
    sums = ask.differ(
        "IEEE additions toward zero: (p1 + p2) + p3 against p1 + (p2 + p3)",
        ("(p1 + p2) + p3", ieee),
        ("p1 + (p2 + p3)", ieee.replace(order=(2, 1, 0))),
        Domain(subnormals=False, c_zero=True),
        lanes=(),
        ones=True,
    )
    trace = unit.trace
    reversed_lanes = unit.apply(Operands(trace.a[::-1], trace.b[::-1], trace.c))
    same = ask.ask(
        Question(
            title=f"the unit, {unit.parameters.n_fma} lanes in order against in reverse",
            sides=(ComparedModel("in order", unit, trace), ComparedModel("in reverse", unit, reversed_lanes)),
            goal=trace.output.ne(reversed_lanes.output),
            formats=unit.input_formats,
            domain_text="all words",
        )
    )
    graph = isinstance(same, Equivalent) and not same.scripts
    why = ": both graphs are the same (sum and maximum are symmetric)" if graph else ""
    ieee_sums = concluded(
        sums,
        "IEEE sums depend on the order",
        "these IEEE sums do not depend on the order",
        "IEEE sums depend on the order",
    )
    fused = concluded(
        same, "the fused sum does, too", f"the fused sum does not{why}", "the fused sum depends on it"
    )
    return f"{ieee_sums}; {fused}"
