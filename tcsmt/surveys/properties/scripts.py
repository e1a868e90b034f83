"""The curated SMT-LIB scripts in ``queries/``: what each asks, and the answer it must have."""

from __future__ import annotations

from collections.abc import Iterator

from tcsmt.language.terms import Term, all_of, umax, var
from tcsmt.language.write.smtlib import definitions, script
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Kind, Trace
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.invariants import checked_cast
from tcsmt.surveys.properties.investigation import one_block


def scripts() -> Iterator[tuple[str, str]]:
    """(file name without suffix, text) of every curated script."""
    for arch, few in (("volta", 2), ("ampere", 3), ("hopper", 4)):
        unit = _unit(arch)
        source = "Valpey et al. 2025, section 4.3; Khattak and Mikaitis 2025, IV-A2"
        for bits, status in ((few, "sat"), (few + 1, "unsat")):
            yield _pair(
                f"carry-bits-{arch}-{bits}-{bits + 1}",
                status,
                source,
                unit.replace(carry_bits=bits),
                unit.replace(carry_bits=bits + 1),
                Kind.SUM,
            )
    volta = _unit("volta")
    yield _pair(
        "product-normalization-volta",
        "sat",
        "Khattak and Mikaitis 2025, IV-A1",
        volta,
        volta.replace(products="normalised"),
    )
    yield _pair(
        "alignment-bits-volta-23-24",
        "sat",
        "Fasi et al. 2020, 3.1.4",
        volta,
        volta.replace(fraction_bits=24),
    )
    bf16 = _unit("ampere/mma.m16n8k8.f32.bf16.bf16.f32").replace(k=2, n_fma=2)
    yield _pair(
        "zero-exponent-ampere-bf16-132-126",
        "sat",
        "MMA-Sim 2025, III-C, and mmasim 2.1.1",
        bf16,
        bf16.replace(zero_exponent=-126),
    )
    yield from _zero_exponent_proof(volta)
    tf32 = _unit("ampere/mma.m16n8k4.f32.tf32.tf32.f32")
    yield _pair(
        "tf32-truncation-ampere",
        "sat",
        "MMA-Sim 2025, III-C, TF32 truncation",
        tf32,
        tf32.replace(a_format=FORMATS["f32"], b_format=FORMATS["f32"]),
    )
    x, y, z = (var(name, 12) for name in "xyz")
    yield (
        "lemma-maximum-is-associative",
        script(
            umax(x, umax(y, z)).ne(umax(umax(x, y), z)),
            info=_info("unsat", "why the maximum of exponents is one n-ary term"),
        ),
    )
    for operation in OPERATIONS:
        yield f"ieee-{operation}-e4-p4-rne", ieee_script(operation, _small(4, 4), "RNE")


def _small(exponent_bits: int, precision: int) -> Format:
    bias = (1 << (exponent_bits - 1)) - 1
    return Format(
        name=f"e{exponent_bits}p{precision}",
        exponent_bits=exponent_bits,
        fraction_bits=precision - 1,
        bias=bias,
    )


#: Operations that are held against SMT-LIB's floating-point theory, with its name for each.
OPERATIONS = {"add": "fp.add", "multiply": "fp.mul", "fma": "fp.fma", "convert": "to_fp"}


def ieee_script(operation: str, fmt: Format, mode: str, target: Format | None = None) -> str:
    """Is there an input at which our operation and SMT-LIB's floating-point theory differ? (no)

    operation: a key of :data:`OPERATIONS`; fmt: an IEEE-like format; mode: RNE, RNA, RTZ, RTP or
    RTN; target: the format of a conversion's result (default: one with a bit less on each side).
    """
    x, y, z = (var(name, fmt.width) for name in "xyz")
    a, b, c = (decode(fmt, word) for word in (x, y, z))
    rounding = ROUNDINGS[mode]
    result_format = fmt
    match operation:
        case "add":
            used, result = [x, y], ieee.add(a, b, fmt, rounding)
        case "multiply":
            used, result = [x, y], ieee.multiply(a, b, fmt, rounding)
        case "fma":
            used, result = [x, y, z], ieee.fma(a, b, c, fmt, rounding)
        case _:
            result_format = target or _small(fmt.exponent_bits - 1, fmt.precision - 1)
            used, result = [x], ieee.convert(a, result_format, rounding)
    lines, (ours,) = definitions([result])
    theirs = " ".join(_to_fp(fmt, str(word.data)) for word in used)
    if operation == "convert":
        reference = f"((_ to_fp {_sizes(result_format)}) {mode} {theirs})"
    else:
        reference = f"({OPERATIONS[operation]} {mode} {theirs})"
    head = _info("unsat", f"{operation} of {fmt.name}, {mode}, against the floating-point theory")
    return "\n".join(
        [
            f"(set-info :{head[0][0]} {head[0][1]})",
            "(set-logic QF_BVFP)",
            *(f"(set-info :{key} {value})" for key, value in head[1:]),
            *lines,
            f"(assert (distinct {_to_fp(result_format, ours)} {reference}))",
            "(check-sat)",
            "(exit)",
            "",
        ]
    )


def _to_fp(fmt: Format, word: str) -> str:
    return f"((_ to_fp {_sizes(fmt)}) {word})"


def _sizes(fmt: Format) -> str:
    return f"{fmt.exponent_bits} {fmt.precision}"


def _zero_exponent_proof(volta: FusedDotAdd) -> Iterator[tuple[str, str]]:
    """In two parts: terms that are all zero, and terms that are not."""
    other = volta.replace(zero_exponent=-126)
    products = [s.term.eq(0) for s in volta.trace.of(Kind.PRODUCT)]
    all_zero = all_of([*products, decode(volta.c_format, volta.trace.c).significand.eq(0)])
    domain = Domain().holds(volta.input_formats, volta.trace)
    first, second = (_at(model.trace, Kind.LARGEST_EXPONENT) for model in (volta, other))
    info = _info("unsat", "MMA-Sim 2025, III-C, and mmasim 2.1.1")
    differ = volta.trace.output.ne(other.trace.output)
    yield "zero-exponent-volta-131-126-zeros", script(domain & all_zero & differ, info=info)
    yield "zero-exponent-volta-131-126-others", script(domain & ~all_zero & first.ne(second), info=info)


def _unit(name: str) -> FusedDotAdd:
    row = row_named(name)
    unit = one_block(row.model)
    return checked_cast(unit, FusedDotAdd)


def _info(status: str, source: str) -> list[tuple[str, str]]:
    return [
        ("smt-lib-version", "2.6"),
        ("source", f"|tcsmt; {source}|"),
        ("category", '"crafted"'),
        ("status", status),
    ]


def _pair(
    name: str,
    status: str,
    source: str,
    left: FusedDotAdd,
    right: FusedDotAdd,
    stage: Kind | None = None,
    domain: Domain | None = None,
) -> tuple[str, str]:
    """Do two models differ (at a stage, if named)? Inputs a0..., b0..., c are raw words."""
    first, second = (_at(model.trace, stage) for model in (left, right))
    goal = (domain or Domain()).holds(left.input_formats, left.trace) & first.ne(second)
    labels: dict[Term, str] = {}
    for side, trace in (("left", left.trace), ("right", right.trace)):
        for number, term in enumerate(trace.stages):
            if term.term.args:
                labels.setdefault(term.term, f"{side}.{term.name.replace(' ', '-')}.{number}")
    return name, script(goal, labels=labels, info=_info(status, source))


def _at(trace: Trace, stage: Kind | None) -> Term:
    if stage is None:
        return trace.output
    (chosen,) = trace.of(stage)
    return chosen.term
