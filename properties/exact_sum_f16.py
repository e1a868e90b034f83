"""Whether FP16 output is accumulated wider than FP16: products and their sum rounded to FP16 each time.

Valpey et al.'s property 1: products that FP16 cannot hold, with a sum that it can.
"""

from tcsmt.investigation import (
    FORMATS,
    ROUNDINGS,
    Claim,
    ComparedModel,
    Domain,
    IeeeDotAdd,
    Investigation,
    Kind,
    Operands,
    Question,
    Row,
    all_of,
    concluded,
    const,
    convert,
    decode,
    exact_product,
)

CLAIMS = (
    Claim(
        source="NVIDIA PTX ISA, by Valpey et al. 2025",
        section="4.1",
        statement="at least half precision",
    ),
    Claim(source="Valpey et al. 2025", section="4.1, property 1", statement="single precision"),
    Claim(
        source="Fasi et al. 2020",
        section="3.1.2",
        statement="products are held exactly in FP16 mode too",
    ),
)


def applies(row: Row) -> str:
    """FP16 operands and output, two products or more."""
    f16 = FORMATS["f16"]
    if row.model.a_format is f16 and row.model.d_format is f16:
        return ""
    return "operands or output are not FP16"


def investigate(ask: Investigation) -> str:
    """Two products, c = 0."""
    unit = ask.unit
    f16, f32 = FORMATS["f16"], FORMATS["f32"]
    shape = dict.fromkeys(("a_format", "b_format", "c_format", "d_format"), f16)
    wide = IeeeDotAdd.of(**shape, k=2, sum_format=f32, c_first=False)
    narrow = IeeeDotAdd.of(**shape, k=2, sum_format=f16, product_format=f16, c_first=False)
    a, b, c = unit.trace.a[:2], unit.trace.b[:2], const(0, 16)
    sides = (
        ComparedModel("FP32 sum", wide, wide.apply(Operands(a, b, c))),
        ComparedModel("FP16 products and sum", narrow, narrow.apply(Operands(a, b, c))),
    )
    domain = Domain().holds(wide.input_formats, sides[0].trace)
    products = [exact_product(decode(f16, x), decode(f16, y)) for x, y in zip(a, b, strict=True)]
    toward, up = ROUNDINGS["RTZ"], ROUNDINGS["RA"]
    inexact = [convert(p, f16, toward).ne(convert(p, f16, up)) for p in products]
    whole = sides[0].trace.of(Kind.RUNNING_SUM)[-1].term
    total = decode(f32, whole)
    exact_in_f16 = convert(total, f16, toward).eq(convert(total, f16, up))
    differ = sides[0].trace.output.ne(sides[1].trace.output)
    where = all_of([domain, *inexact, exact_in_f16])
    verdict = ask.ask(
        Question(
            title="products not in FP16, their sum in FP16: FP32 against FP16 accumulation",
            sides=sides,
            goal=where & differ,
            domain=where,
            domain_text="finite, c = 0",
            formats=dict.fromkeys(("a0", "a1", "b0", "b1"), f16),
        )
    )
    return concluded(verdict, "it can be seen", "no such input shows it", "such an input shows it")
