"""Whether subnormal inputs are used or read as zero."""

from tcsmt.investigation import Claim, Groups, Investigation

CLAIMS = (
    Claim(source="Fasi et al. 2020", section="3.1.1", statement="supported, in a, b and c"),
    Claim(
        source="Khattak and Mikaitis 2025",
        section="Table II, note",
        statement="supported in and out",
    ),
)


def investigate(ask: Investigation) -> str:
    """Used against flushed: by a product, and by c alone."""
    unit = ask.unit
    pair = (
        ("subnormal inputs used", unit),
        ("subnormal inputs flushed", unit.replace(flush_inputs=True)),
    )
    c = unit.trace.c
    product = ask.differ("a subnormal a or b", *pair, also=[c.eq(0)], lanes=(1,))
    rest = [t.eq(0) for t in (*unit.trace.a, *unit.trace.b)]
    alone = ask.differ("a subnormal c, all products zero", *pair, also=rest, lanes=())
    groups = Groups.of({"those of a and b": product, "those of c alone": alone})
    return f"used and flushed ones: {groups}" if groups.rest else "both can be seen"
