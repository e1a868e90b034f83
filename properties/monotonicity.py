"""Whether a larger c can give a smaller result: non-negative inputs, only c grows, d falls."""

from tcsmt.investigate import Claim, Investigation
from tcsmt.query import Distinguished, Domain, Question, Side, Unknown
from tcsmt.terms import var

CLAIMS = (
    Claim(
        source="Fasi et al. 2020",
        section="3.1.4",
        statement="not monotonic: c = 1 - 2^-24 gives 1 + 2^-23, c = 1 gives 1",
    ),
)


def investigate(ask: Investigation) -> str:
    """Two runs of the unit with the same a and b."""
    unit = ask.unit
    low = unit.trace
    larger = var("larger_c", unit.c_format.width)
    high = unit.apply(low.a, low.b, larger)
    domain = Domain(positive=True)
    where = domain.holds(unit, low) & domain.holds(unit, high) & low.c.ult(larger)
    verdict = ask.ask(
        Question(
            title="positive inputs, c < c': d > d'",
            sides=(Side("with c", unit, low), Side("with larger c", unit, high)),
            goal=where & high.output.ult(low.output),
            domain=where,
            domain_text=f"{domain}, c < larger_c",
            formats={**unit.input_formats, "larger_c": unit.c_format},
            lanes=(3,),
            alike=True,
        )
    )
    if isinstance(verdict, Unknown):
        return "unknown"
    return "not monotonic" if isinstance(verdict, Distinguished) else "monotonic in c"
