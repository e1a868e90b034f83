"""Whether a larger c can give a smaller result: non-negative inputs, only c grows, d falls."""

from dataclasses import replace

from tcsmt.investigation import (
    Claim,
    ComparedModel,
    Domain,
    Investigation,
    Question,
    all_of,
    concluded,
    decode,
    ordered,
    var,
)

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
    high = unit.apply(replace(low.operands, c=larger))
    domain = Domain(positive=True)
    where = domain.holds(unit.input_formats, low) & domain.holds(unit.input_formats, high) & low.c.ult(larger)
    numbers = all_of(~decode(unit.d_format, trace.output).nan for trace in (low, high))
    # as values, not as words: a sum that wraps may be negative
    falls = ordered(high.output).slt(ordered(low.output))
    verdict = ask.ask(
        Question(
            title="positive inputs, c < c': d > d'",
            sides=(ComparedModel("with c", unit, low), ComparedModel("with larger c", unit, high)),
            goal=where & numbers & falls,
            domain=where,
            domain_text=f"{domain}, c < larger_c",
            formats={**unit.input_formats, "larger_c": unit.c_format},
            lanes=(3,),
            alike=True,
        )
    )
    return concluded(verdict, "not monotonic", "monotonic in c for positive inputs", "it is monotonic in c")
