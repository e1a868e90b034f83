"""With which exponent a zero product or zero c enters the maximum, and which inputs show it."""

from tcsmt.investigation import Claim, Distinguished, FusedDotAdd, Investigation, Row, Unknown, all_terms_zero

CLAIMS = (
    Claim(source="MMA-Sim 2025, as first published", section="III-C", statement="-126 for FP32 output"),
    Claim(
        source="mmasim 2.1.1",
        section="zero exponent table",
        statement="-131, -132, -133 for FP32 output; -19, -20, -21 for FP16 output",
    ),
)


def applies(row: Row) -> str:
    """Only units whose zeros enter the maximum with one exponent."""
    own = row.model.parameters.zero_exponent if isinstance(row.model, FusedDotAdd) else None
    return (
        "the unit has no zero exponent: its zeros have the exponents of their fields" if own is None else ""
    )


def investigate(ask: Investigation) -> str:
    """The unit's value against its neighbours, the smallest normal exponent, and the fields' own."""
    unit = ask.unit
    own = unit.parameters.zero_exponent
    assert own is not None
    told, same, open_ = [], [], []
    # only where every term is zero may the maxima differ without a trace in the result
    all_zero = all_terms_zero(unit)
    for other in (own - 1, own + 1, unit.d_format.e_min, None):
        name = "the fields' own" if other is None else str(other)
        verdict = ask.differ(
            f"zero exponent {own} against {name}",
            (f"zero exponent {own}", unit),
            (f"zero exponent {name}", unit.replace(zero_exponent=other)),
            lanes=(2,),
            cases=(all_zero,),
        )
        kind = told if isinstance(verdict, Distinguished) else open_ if isinstance(verdict, Unknown) else same
        kind.append(name)
    parts = [f"{own}"]
    parts += [f"told apart from {', '.join(told)}"] if told else []
    parts += [f"no input tells it from {', '.join(same)}"] if same else []
    parts += [f"open against {', '.join(open_)}"] if open_ else []
    return "; ".join(parts)
