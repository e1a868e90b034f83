"""NaNs and infinities: the NaN's word, and whether special values go by IEEE 754's rules."""

from dataclasses import replace

from tcsmt.datapath import decode
from tcsmt.investigate import Claim, Investigation, ieee_like
from tcsmt.query import Distinguished, Domain, Equivalent
from tcsmt.terms import any_of

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
    quiet = unit.d_format.nan_word
    word = ask.differ(
        "canonical NaN against IEEE's preferred quiet NaN",
        (f"NaN is {unit.d_format.hex(unit.nan_word)}", unit),
        (f"NaN is {unit.d_format.hex(quiet or 0)}", replace(unit, nan=quiet)),
        Domain(finite=False),
        lanes=(1,),
    )
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
    parts = ["the NaN's word can be seen" if isinstance(word, Distinguished) else "no NaN can arise"]
    if isinstance(rules, Equivalent):
        parts.append("apart from it special inputs give what IEEE 754 gives (proved)")
    elif isinstance(rules, Distinguished):
        parts.append("special inputs do not always give what IEEE 754's exact sum gives")
    return "; ".join(parts)
