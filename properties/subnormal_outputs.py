"""Whether subnormal results are returned or flushed to zero."""

from dataclasses import replace

from tcsmt.investigate import Claim, Investigation
from tcsmt.query import Distinguished, Domain

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
        ("subnormal results flushed", replace(unit, flush_outputs=True)),
    )
    any_input = ask.differ("a subnormal result", *pair, lanes=(1,))
    normal = ask.differ(
        "a subnormal result of normal inputs, c = 0",
        *pair,
        Domain(subnormals=False, c_zero=True),
        lanes=(1, 2),
    )
    parts = ["a flush can be seen" if isinstance(any_input, Distinguished) else "a flush cannot be seen"]
    if not isinstance(normal, Distinguished):
        parts.append("normal a and b with c = 0 give no subnormal result")
    return "; ".join(parts)
