"""A model's algorithm as a short Python function on exact numbers, made from the model's parameters.

It is for reading: what a unit does, with its own numbers, in about twelve lines. It runs, too: the tests
define the few names that it uses (:data:`NAMES`) on fractions, and hold it against the simulator. NaNs and
infinities are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.dot_then_add import DotThenAdd
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.grouped_dot_add import GroupedDotAdd
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import IeeeParameters
from tcsmt.matrix_units.models.instruction_sequence import InstructionSequence
from tcsmt.matrix_units.models.integer_dot_add import IntegerDotAdd
from tcsmt.matrix_units.models.python_fused_steps import Line, format_name, fused_steps, indented
from tcsmt.support.errors import TcsmtError

#: What a line means beyond Python, by the name that it uses.
NAMES: Mapping[str, str] = {
    "exp": "x.exp: the exponent in x's exponent field (the smallest normal one if x is subnormal or zero); "
    "of a product: the sum of its factors' exponents",
    "grid": "grid(x, e, MODE): x rounded to a multiple of 2^e",
    "sticky_grid": "sticky_grid(x, e): x truncated to a multiple of 2^e, then half a unit farther from zero "
    "if that changed it",
    "register": "register(x, e, bits): x in two's complement of so many bits, in units of 2^e, wrapped",
    "number": "number(FORMAT, x, MODE): x rounded to the format; it overflows as in IEEE 754",
    "beyond": "beyond: what a result that overflows becomes instead",
    "at": "at: the fraction bit at which x is rounded, if not the last",
    "tiny": "tiny: subnormal results become zero; the test is made before rounding, after rounding "
    "(with an unbounded exponent; IEEE 754, 7.5), or on the result",
    "misplaced": "misplaced: a subnormal result is |x| in units of 2^e, shifted right by its exponent field",
    "integer": "integer(FORMAT, x): x in the format, wrapped or saturated",
    "flushed": "flushed(x): zero if x is subnormal",
    "leading": "leading(x): floor(log2(|x|))",
    "bits": "bits(x, first, n): n bits of x's significand, the first of them `first` places below the "
    "leading bit; its exp is x.exp - first",
    "sign": "sign(x): +1 or -1, also for zeros",
    "RTZ": "RTZ: toward zero (truncation)",
    "RNE": "RNE: to nearest, ties to even",
    "RTN": "RTN: toward negative infinity",
    "RNA": "RNA: to nearest, ties away from zero",
    "RNU": "RNU: to nearest, ties toward positive infinity",
    "RTO": "RTO: to odd",
}
_COMMENTS_FROM = 64


def python_steps(model: Model, source: str = "") -> list[str]:
    """Return the lines of a Python function ``d(a, b, c)`` (with ``sa`` and ``sb`` where there are scales).

    source: where the parameters come from; comments cite MMA-Sim's steps only where it is among them.
    Raises :class:`.TcsmtError` for a model without parameters: one that was read from C or RTL.
    """
    scaled = ", sa, sb" if model.scale_format is not None else ""
    body = _body(model, in_paper="MMA-Sim" in source)
    lines = [(f"def d(a, b, c{scaled}):", f"{model.kind}, K = {model.k}"), *indented(body)]
    return [text for code, why in lines for text in _laid_out(code, why)]


def names_used(lines: list[str]) -> list[str]:
    """Return what the names in these lines mean, a sentence each."""
    words = set(re.findall(r"\w+", "\n".join(line.partition("# ")[0] for line in lines)))
    meanings = [meaning for name, meaning in NAMES.items() if name in words]
    if cited := re.search(r"MMA-Sim (III-\w)", "\n".join(lines)):
        section = f"section {cited[1]} of the paper on MMA-Sim (Xie et al., 2025)"
        meanings.append(f"MMA-Sim {cited[1]}: {section}; numbers in comments are the steps of its algorithm")
    return meanings


def _body(model: Model, *, in_paper: bool) -> Iterator[Line]:
    match model:
        case FusedDotAdd():
            return fused_steps(model.parameters, in_paper=in_paper)
        case DotThenAdd():
            return _dot_then_add(model, in_paper)
        case GroupedDotAdd():
            return _grouped(model)
        case IeeeDotAdd():
            return _ieee(model.parameters, in_paper)
        case IntegerDotAdd():
            return _integers(model)
        case InstructionSequence():
            return _sequence(model, in_paper)
    raise TcsmtError(f"a model of the kind {model.kind} has no parameters: its steps are those of its source")


def _laid_out(code: str, why: str) -> Iterator[str]:
    """Yield a line with its comment beside it, or above it where the line is long."""
    if why and len(code) > _COMMENTS_FROM:
        yield f"{code[: len(code) - len(code.lstrip())]}# {why}"
    yield f"{code:{_COMMENTS_FROM}}  # {why}" if why and len(code) <= _COMMENTS_FROM else code


def _written(value: Fraction) -> str:
    """Return an integer times a power of two as Python writes it."""
    trailing = (value.numerator & -value.numerator).bit_length() - 1
    odd = value.numerator >> trailing
    power = f"2**Fraction({trailing + 1 - value.denominator.bit_length()})"
    return power if odd == 1 else f"{odd} * {power}"


def _dot_then_add(m: DotThenAdd, in_paper: bool) -> Iterator[Line]:
    lanes = f"range({m.k})" if m.n_fma == m.k else f"range(block, block + {m.n_fma})"
    body = list(_down_block(m, lanes, in_paper))
    if m.n_fma == m.k:
        yield from body
    else:
        yield f"for block in range(0, {m.k}, {m.n_fma}):", "each block's result is the next one's c"
        yield from indented(iter(body))
    yield "return c", ""


def _down_block(m: DotThenAdd, lanes: str, in_paper: bool) -> Iterator[Line]:
    """Yield the lines of one block. Steps are those of MMA-Sim, III-F, and III-H where there are groups."""
    bits, again, grouped = m.fraction_bits, m.realignment.name, m.lane_groups > 1

    def step(number: int, why: str) -> str:
        return f"{number}: {why}" if in_paper else why

    paper = ("MMA-Sim III-H, " if grouped else "MMA-Sim III-F, ") if in_paper else ""
    limit = "" if m.product_limit is None else f"; infinite from 2^{m.product_limit} on"
    yield f"p = [a[i] * b[i] for i in {lanes}]", f"{paper}{step(2, f'exact{limit}')}"
    if grouped:
        grid = f"grid(x, e - {bits}, {m.alignment.name})"
        yield f"groups = [p[g::{m.lane_groups}] for g in range({m.lane_groups})]", "lanes dealt in turn"
        tops = "tops = [max((x.exp for x in g if x), default=-inf) for g in groups]"
        yield tops, step(4, "a grid for each group; zeros do not count")
        sums = f"s = [sum({grid} for x in g) for g, e in zip(groups, tops)]"
        yield sums, step(5, "aligned to the grid, then added exactly")
        yield "dot_top = max(tops)", step(6, "the groups on one grid")
        yield f"dot = sum(grid(x, dot_top - {bits}, {again}) for x in s)", step(7, "exact")
    else:
        yield (
            "dot_top = max((x.exp for x in p if x), default=-inf)",
            step(4, "zeros do not count, nor does c"),
        )
        dot = f"dot = sum(grid(x, dot_top - {bits}, {m.alignment.name}) for x in p)"
        yield dot, step(5, "aligned to the grid, then added exactly")
    first = 8 if grouped else 6
    yield "top = max(dot_top, c.exp)", step(first, "a second alignment, with c")
    reach = f" if c.exp >= top - {m.c_reach} else 0" if m.c_reach is not None else ""
    yield f"addend = grid(c, top - {bits}, {again}){reach}", ""
    # the paper's text says 31; the authors' program, and what was measured, has 32
    where = "; 32 as in mmasim 2.1.1, 31 in the paper" if in_paper and m.dot_fraction_bits == 32 else ""
    total = f"total = grid(dot, top - {m.dot_fraction_bits}, {again}) + addend"
    yield total, step(first + 1, f"exact{where}")
    if m.normalised_fraction_bits is not None:
        place = f"max(leading(total), {m.d_format.e_min}) - {m.normalised_fraction_bits}"
        where = " (mmasim 2.1.1; not in the paper)" if in_paper else ""
        yield f"total = grid(total, {place}, RTN) if total else total", f"normalised and rounded down{where}"
    yield f"c = number({format_name(m.d_format)}, total, {m.rounding.name})", step(first + 2, "rounded")


def _grouped(m: GroupedDotAdd) -> Iterator[Line]:
    bits, sums = m.fraction_bits, m.sum_fraction_bits
    if m.flush_inputs:
        yield "a, b, c = [flushed(x) for x in a], [flushed(x) for x in b], flushed(c)", ""
    part = f"bits(a[i], {m.a_first_bit}, {m.a_bits}) * bits(b[i], {m.b_first_bit}, {m.b_bits})"
    yield f"p = [{part} for i in range({m.k})]", "a phase takes some bits of each significand"
    zero = f"a zero counts as 2^{m.zero_exponent}"
    yield f"e = [p[i].exp if a[i] and b[i] else {m.zero_exponent} for i in range({m.k})]", zero
    yield "s, tops = [], []", ""
    yield f"for g in range(0, {m.k}, {m.group_lanes}):", "groups of lanes, each on a grid of its own"
    yield f"    tops.append(max(e[g : g + {m.group_lanes}]))", ""
    grid = f"grid(x, tops[-1] - {bits}, {m.alignment.name})"
    yield f"    s.append(sum({grid} for x in p[g : g + {m.group_lanes}]))", ""
    if m.least_exponent is not None:
        yield f"    if tops[-1] < {m.least_exponent}: s[-1], tops[-1] = 0, -inf", "too small: left out"
    yield "top = max(c.exp, *tops)", "then all of them and c on one grid"
    of_c, of_groups = m.c_alignment.name, m.group_alignment.name
    yield f"c, s = grid(c, top - {sums}, {of_c}), [grid(x, top - {sums}, {of_groups}) for x in s]", ""
    unit = sums
    if m.kept_fraction_bits is not None:
        unit = kept = m.kept_fraction_bits
        yield (
            f"c, s = grid(c, top - {kept}, {of_c}), [grid(x, top - {kept}, {of_groups}) for x in s]",
            "some of these bits are kept",
        )
    yield "total = c + sum(s)", ""
    if m.minus_one_shift is not None:
        yield f"if total == -(2**Fraction(top - {unit})):", "the unit normalises a sum of -1 unit wrongly"
        yield f"    total *= 2**{m.minus_one_shift}", ""
    flush = f', tiny="{m.tininess}"' if m.flush_outputs else ""
    result = f'number({format_name(m.d_format)}, total, {m.rounding.name}, beyond="saturate"{flush})'
    if m.largest_result is None:
        yield f"return {result}", ""
        return
    largest = _written(m.d_format.value(m.largest_result))
    yield f"x = {result}", ""
    yield (
        f"return number({format_name(m.d_format)}, max(-{largest}, min(x, {largest})), RTZ)",
        "no result is larger in magnitude",
    )


def _ieee(m: IeeeParameters, in_paper: bool) -> Iterator[Line]:
    fmt, d = format_name(m.sum_format), format_name(m.d_format)
    ends = "" if m.overflow == "ieee" else f', beyond="{m.overflow}"'
    ends += f', tiny="{m.tininess}"' if m.flush_outputs else ""

    def rounded(x: str) -> str:
        return f"number({fmt}, {x}, {m.rounding.name}{ends})"

    if m.flush_inputs:
        yield "a, b = [flushed(x) for x in a], [flushed(x) for x in b]", ""
    if m.flush_inputs or m.flush_c:
        yield "c = flushed(c)", ""
    lanes = f"range({m.k})" if m.order is None else str(list(m.order))
    product = "a[i] * b[i]" + (f" * 2**Fraction({m.product_exponent})" if m.product_exponent else "")
    if m.product_format is None:
        yield f"p = [{product} for i in {lanes}]", "exact"
    else:
        target = f"number({format_name(m.product_format)}, {product}, {m.product_rounding.name}{ends})"
        yield f"p = [{target} for i in {lanes}]", "each rounded"
    size = m.n_fma or m.k
    blocks = f"[p[i : i + {size}] for i in range(0, {m.k}, {size})]"
    match m.method:
        case "exact" if m.c_first:
            yield f"for block in {blocks}:", ""
            yield f"    c = {rounded('sum(block) + c')}", "the exact sum, rounded once"
        case "exact":
            yield f"for block in {blocks}:", ""
            yield f"    c = {rounded('c + ' + rounded('sum(block)'))}", "the exact sum rounded, then c"
        case "pairwise":
            yield f"for block in {blocks}:", ""
            ready = m.product_format == m.sum_format and m.product_rounding == m.rounding
            yield "    s = block" if ready else f"    s = [{rounded('x')} for x in block]", ""
            yield "    while len(s) > 1:", "neighbours in pairs" + (" (MMA-Sim III-B, 3)" if in_paper else "")
            yield f"        s = [{rounded('x + y')} for x, y in zip(s[::2], s[1::2])]", ""
            yield f"    c = {rounded('s[0] + c')}", ""
        case "fma" if m.chains > 1:
            yield f"sums = [number({fmt}, 0, RNE)] * {m.chains}", f"{m.chains} chains from +0, lanes in turn"
            yield "for i, x in enumerate(p):", "fused multiply-adds"
            yield f"    sums[i % {m.chains}] = {rounded(f'x + sums[i % {m.chains}]')}", ""
            yield "s = sums[0]", ""
            yield "for x in sums[1:]:", ""
            yield f"    s = {rounded('s + x')}", ""
            yield f"c = {rounded('c + s')}", ""
        case "fma":
            yield "for x in p:", "fused multiply-adds, from c on" + (" (MMA-Sim III-A)" if in_paper else "")
            yield f"    c = {rounded('x + c')}", ""
        case _:
            yield f"c, *others = {'c, *p' if m.c_first else '*p, c'}", ""
            if not m.c_first and m.product_format is None:
                yield f"c = {rounded('c')}", ""
            yield "for x in others:", "additions in turn"
            yield f"    c = {rounded('c + x')}", ""
    if m.sum_format == m.d_format:
        yield "return c", ""
    else:
        yield f"return number({d}, c, {m.d_rounding.name}{ends})", ""


def _integers(m: IntegerDotAdd) -> Iterator[Line]:
    size, d = m.block, format_name(m.d_format)
    how = "wrapped" if m.overflow == "wrap" else "saturated"
    if size < m.k:
        yield f"for block in range(0, {m.k}, {size}):", "each block's result is the next one's c"
        lanes = f"range(block, block + {size})"
        yield (
            f'    c = integer({d}, c + sum(a[i] * b[i] for i in {lanes}), "{m.overflow}")',
            f"exact, then {how}",
        )
        yield "return c", ""
        return
    total = f"c + sum(a[i] * b[i] for i in range({m.k}))"
    yield f'return integer({d}, {total}, "{m.overflow}")', f"exact, then {how}"


def _sequence(m: InstructionSequence, in_paper: bool) -> Iterator[Line]:
    for number, part in enumerate(m.instructions):
        yield f"def instruction{number}(a, b, c):", f"{part.kind}"
        yield from indented(_body(part, in_paper=in_paper))
    for number in range(len(m.instructions)):
        yield f"c = instruction{number}(a, b, c)", ""
    yield "return c", ""
