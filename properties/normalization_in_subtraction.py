"""Whether partial sums are normalised when they shrink: c negative, the first product positive."""

from tcsmt.investigation import Claim, Investigation, Row, cannot_become, concluded

CLAIMS = (
    Claim(
        source="Fasi et al. 2020",
        section="3.1.4",
        statement="differences are not normalised either",
    ),
)


def applies(row: Row) -> str:
    """Only units that can normalise after every addition with their other parameters as they are."""
    return cannot_become(row.model, normalisation="every")


def investigate(ask: Investigation) -> str:
    """Once against after every addition, where c and the first product cancel."""
    unit = ask.unit
    trace = unit.trace
    signs = [trace.c[unit.c_format.sign_bit]]
    signs += [~t[f.sign_bit] for t, f in ((trace.a[0], unit.a_format), (trace.b[0], unit.b_format))]
    # the partial sum c + first product has lost its leading bits: the result is below half of c
    small = trace.output[unit.d_format.sign_bit - 1 : 0]
    also = signs
    if unit.c_format is unit.d_format:
        limit = trace.c[unit.c_format.sign_bit - 1 : 0]
        half = 2 << unit.d_format.fraction_bits
        also += [(small + half).ult(limit), ~limit.ult(half)]
    verdict = ask.differ(
        "normalised once against after every addition, c and a product cancel",
        ("normalised once", unit.replace(normalisation="once")),
        ("normalised every time", unit.replace(normalisation="every")),
        also=also,
        lanes=(2, 3),
    )
    return concluded(verdict, "it can be seen", "no such input shows it", "such an input shows it")
