"""NaNs and infinities: the NaN's word, and whether special values follow IEEE 754."""

from tcsmt.investigation import Claim, Domain, Investigation, any_of, concluded, decode, ieee_like

CLAIMS = (
    Claim(
        source="MMA-Sim 2025",
        section="III-C, step 1",
        statement="NaN, Inf*0 and Inf-Inf give 0x7FFFFFFF (FP32) or 0x7FFF (FP16); else an infinity wins",
    ),
    Claim(
        source="Valpey et al. 2025",
        section="Algorithm 1, 2b",
        statement="NaN, or infinities of different signs: NaN",
    ),
)


def investigate(ask: Investigation) -> str:
    """The NaN's word; then, NaN words apart, the unit against IEEE's exact sum on special inputs."""
    unit = ask.unit
    quiet = unit.d_format.nan_word or 0
    other = quiet if unit.nan_word != quiet else quiet ^ 1
    word = ask.differ(
        "canonical NaN against " + ("IEEE's preferred quiet NaN" if other == quiet else "another one"),
        (f"NaN is {unit.d_format.hex(unit.nan_word)}", unit),
        (f"NaN is {unit.d_format.hex(other)}", unit.replace(nan=other)),
        Domain(finite=False),
        lanes=(1,),
    )
    nan = concluded(word, "the NaN's word can be seen", "no NaN can arise", "a NaN can arise")
    reference = ieee_like(unit, method="exact", sum_format=unit.d_format)
    sides = [(unit.a_format, t) for t in unit.trace.a] + [(unit.b_format, t) for t in unit.trace.b]
    numbers = [decode(fmt, t) for fmt, t in [*sides, (unit.c_format, unit.trace.c)]]
    special = any_of(x.nan | x.infinite for x in numbers)
    rules = ask.differ(
        "the unit against IEEE's exact sum, where some input is a NaN or an infinity",
        ("the unit", unit),
        ("IEEE 754", reference),
        Domain(finite=False),
        also=[special],
        lanes=(),
    )
    special_inputs = concluded(
        rules,
        "special inputs do not always give what IEEE 754's exact sum gives",
        "apart from it special inputs give what IEEE 754 gives (proved)",
        "apart from it special inputs give what IEEE 754 gives",
    )
    return f"{nan}; {special_inputs}"
