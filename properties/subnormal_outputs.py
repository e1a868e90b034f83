"""Whether subnormal results are returned or flushed to zero."""

from tcsmt.investigation import Claim, Domain, Investigation, concluded

CLAIMS = (
    Claim(
        source="Fasi et al. 2020",
        section="3.1.1",
        statement="returned; FP32 ones cannot arise from FP16 products",
    ),
    Claim(
        source="Khattak and Mikaitis 2025",
        section="Table II, note",
        statement="supported in and out",
    ),
)


def investigate(ask: Investigation) -> str:
    """Returned against flushed: from any input, and from normal inputs only."""
    unit = ask.unit
    pair = (
        ("subnormal results returned", unit),
        ("subnormal results flushed", unit.replace(flush_outputs=True)),
    )
    any_input = ask.differ("a subnormal result", *pair, lanes=(1,))
    normal = ask.differ(
        "a subnormal result of normal inputs, c = 0",
        *pair,
        Domain(subnormals=False, c_zero=True),
        lanes=(1, 2),
    )
    flush = concluded(any_input, "a flush can be seen", "a flush cannot be seen", "a flush can be seen")
    given = "normal a and b with c = 0 give"
    results = concluded(
        normal,
        f"{given} subnormal results, too",
        f"{given} no subnormal result",
        f"{given} a subnormal result",
    )
    return f"{flush}; {results}"
