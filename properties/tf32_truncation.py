"""Whether the low 13 bits of a TF32 operand's word take part."""

from tcsmt.investigation import FORMATS, Claim, Domain, Groups, Investigation, Row

CLAIMS = (
    Claim(
        source="MMA-Sim 2025",
        section="III-C, TF32 truncation",
        statement="the 13 low bits are read as zero, so a NaN word can become an infinity",
    ),
)


def applies(row: Row) -> str:
    """Only for TF32 operands."""
    return "" if row.model.a_format.name == "tf32" else "the operands are not TF32"


def investigate(ask: Investigation) -> str:
    """Ignored against used, on finite words and on all words."""
    unit = ask.unit
    whole = unit.replace(a_format=FORMATS["f32"], b_format=FORMATS["f32"])
    pair = (("low bits ignored", unit), ("low bits used", whole))
    finite = ask.differ("on finite words", *pair, lanes=(1,))
    special = ask.differ(
        "on all words, where both results are no finite number", *pair, Domain(finite=False),
        also=[m.trace.output[30:23].eq(0xFF) for m in (unit, whole)], lanes=(1,),
    )  # fmt: skip
    groups = Groups.of({"finite words": finite, "words with infinities and NaNs": special})
    return f"ignored and used bits: {groups}" if groups.rest else "it can be seen"
