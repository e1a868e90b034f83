"""A fused sum's algorithm as lines of Python (:mod:`.python_steps`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models.fused_parameters import FusedParameters

#: A line of code, and why it is so.
Line = tuple[str, str]


def format_name(fmt: AnyFormat) -> str:
    """Return a format as Python writes it: its name, in quotes unless it is an identifier."""
    return fmt.name if fmt.name.isidentifier() else repr(fmt.name)


def indented(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines as those of a block."""
    return ((f"    {code}", why) for code, why in lines)


def fused_steps(m: FusedParameters, *, in_paper: bool) -> Iterator[Line]:
    """Yield the lines of a fused dot-add: its blocks, one after the other.

    in_paper: MMA-Sim describes the unit, so that comments may number its steps.
    """
    blocks, last = m.k // m.n_fma, m.c_position == "last"
    if m.operand_format is not None:
        wide = format_name(m.operand_format)
        yield (
            f"a = [number({wide}, x, RNE) for x in a]",
            "exact; subnormal ones may be normal now",
        )
        yield f"b = [number({wide}, x, RNE) for x in b]", ""
    if m.flush_inputs:
        yield "a, b = [flushed(x) for x in a], [flushed(x) for x in b]", ""
    name = "s" if last else "c"
    if last:
        yield "s = number(" + format_name(m.d_format) + ", 0, RNE)", "the blocks begin with +0"
    lanes = f"range({m.k})"
    body = list(_block(m, name, lanes if blocks == 1 else "lanes", in_paper))
    if blocks > 1:
        yield f"for block in range({blocks}):", "each block's result is the next one's c"
        yield f"    lanes = {_lanes_of(m)}", ""
        yield from indented(iter(body))
    else:
        yield from body
    if last:
        addend = "flushed(c)" if m.flush_inputs or m.flush_c else "c"
        flush = ', tiny="result"' if m.flush_outputs else ""
        yield (
            f"return number({format_name(m.d_format)}, s + {addend}, {m.c_rounding.name}{flush})",
            "an IEEE addition",
        )
    else:
        yield "return c", ""


def _lanes_of(m: FusedParameters) -> str:
    if m.interleave:
        return f"[i for i in range({m.k}) if i // {m.interleave} % {m.k // m.n_fma} == block]"
    if m.order is not None:
        return f"{list(m.order)}[block * {m.n_fma} : (block + 1) * {m.n_fma}]"
    return f"range(block * {m.n_fma}, (block + 1) * {m.n_fma})"


def _block(m: FusedParameters, c: str, lanes: str, in_paper: bool) -> Iterator[Line]:
    """Yield the lines of one block, whose last one gives its result to the variable of the name ``c``."""
    scale = f" * (sa[i // {m.scale_block}] * sb[i // {m.scale_block}])" if m.scale_format is not None else ""
    if m.flush_inputs or m.flush_c:
        yield f"{c} = flushed({c})", ""
    if m.k == m.n_fma and m.order is not None:
        lanes = str(list(m.order))
    plain = m.products == "normalised" or _has_scaled_groups(m)
    why = "exact" if plain else "exact, not normalised: exp is the sum of the factors'"
    steps = _steps_in_paper(m) if in_paper else {}
    yield f"p = [a[i] * b[i]{scale} for i in {lanes}]", steps.get("products", "") + why
    bits = m.fraction_bits
    if m.products == "normalised":
        yield "p = [normalised(x) for x in p]", "exp is that of the leading bit"
    if m.normalisation == "every":
        yield from _one_by_one(m, c)
    elif m.c_position == "summed":
        yield f"own = max({_entering(m, 'x')} for x in p)", ""
        yield f"dot = sum({_aligned(m, 'x', 'own')} for x in p)", "the products on a grid of their own"
        yield f"top = max(own, {_entering(m, c)})", ""
        yield f"total = {_aligned(m, 'dot', 'top')} + {_aligned(m, c, 'top')}", ""
    elif _has_scaled_groups(m):
        yield from _scaled_groups(m, c, lanes, steps)
    else:
        terms = "p"
        if m.group_fraction_bits is not None:
            grid = (
                f"grid(x, max({_entering(m, 'y')} for y in g) - {m.group_fraction_bits}, {m.alignment.name})"
            )
            yield f"groups = [p[i : i + {m.group}] for i in range(0, {m.n_fma}, {m.group})]", ""
            yield f"s = [sum({grid} for x in g) for g in groups]", "each group on a grid of its own"
            terms = "s"
        yield (
            f"top = max(*({_entering(m, 'x')} for x in p), {_entering_c(m, c)})",
            steps.get("top", "") + _why_zero(m),
        )
        if m.c_dropped_above is not None:
            yield f"if top - {bits} > {m.c_dropped_above} and abs({c}) < 2 ** (top - {bits}):", ""
            yield f"    {c} = 0 * {c}", "c is lost if it is below one unit, unless the unit is tiny"
        aligned = f"{_aligned(m, 'x', 'top')} for x in {terms}"
        if m.alignment_complement:
            yield f"unit = 2**Fraction(top - {bits})", ""
            yield (
                f"more = [sign(x) * unit if sign(x) != sign({c}) else 0 for x in p]",
                "terms of the other sign than c are complemented, not negated: one unit off",
            )
            aligned = f"{_aligned(m, 'x', 'top')} + y for x, y in zip(p, more)"
        total = f"sum({aligned}) + {_aligned(m, c, 'top')}"
        yield f"total = {total}", steps.get("total", "") + "aligned to the grid, then added exactly"
        if m.alignment_complement:
            yield f"total = total if any(p) or {c} else 0", "zeros alone give zero"
    if m.carry_bits is not None:
        whole = 4 if m.scale_format is not None and m.scale_format.fraction_bits else 2
        sticky = int(m.alignment_sticky)
        size = 1 + whole + m.carry_bits + bits + sticky
        yield f"total = register(total, top - {bits + sticky}, {size})", f"{m.carry_bits} carry bits"
    twice = m.rounded_format is not None and m.rounded_format != m.d_format
    yield f"{c} = {_result(m)}", steps.get("result", "") + ("rounded twice" if twice else "rounded once")


def _steps_in_paper(m: FusedParameters) -> dict[str, str]:
    """Return the steps' numbers in MMA-Sim, for comments; none where the unit does other steps."""
    if _has_scaled_groups(m):
        return {
            "products": "MMA-Sim III-E, 2, with the scales of 4: ",
            "groups": "3: ",
            "top": "5: ",
            "total": "6: ",
            "result": "7: ",
        }
    others = (
        m.alignment_complement,
        m.group_fraction_bits,
        m.c_exponent_offset,
        m.alignment_sticky,
        m.c_position == "summed",
        m.normalisation == "every",
        m.group > 1,
        m.products != "unnormalised",
    )
    if any(others):
        return {}
    return {"products": "MMA-Sim III-C, 2: ", "top": "3: ", "total": "3 and 4: ", "result": "5: "}


def _has_scaled_groups(m: FusedParameters) -> bool:
    return m.scale_format is not None and (m.group > 1 or m.c_enters != "always")


def _entering(m: FusedParameters, x: str) -> str:
    """Return the exponent with which a term takes part in the maximum."""
    return f"{x}.exp" if m.zero_exponent is None else f"{x}.exp if {x} else {m.zero_exponent}"


def _entering_c(m: FusedParameters, c: str) -> str:
    sign = "-" if m.c_exponent_offset < 0 else "+"
    exponent = f"{c}.exp {sign} {abs(m.c_exponent_offset)}" if m.c_exponent_offset else f"{c}.exp"
    fields = m.zero_c == "fields" or m.zero_exponent is None
    return exponent if fields else f"{exponent} if {c} else {m.zero_exponent}"


def _why_zero(m: FusedParameters) -> str:
    return "" if m.zero_exponent is None else f"a zero counts as 2^{m.zero_exponent}"


def _aligned(m: FusedParameters, x: str, top: str) -> str:
    if m.alignment_sticky:
        return f"sticky_grid({x}, {top} - {m.fraction_bits})"
    return f"grid({x}, {top} - {m.fraction_bits}, {m.alignment.name})"


def _one_by_one(m: FusedParameters, c: str) -> Iterator[Line]:
    yield f"total, e = {c}, {_entering(m, c)}", ""
    yield "for x in p:", "sums of two, each normalised and truncated"
    yield f"    top = max(e, {_entering(m, 'x')})", ""
    yield f"    total = {_aligned(m, 'total', 'top')} + {_aligned(m, 'x', 'top')}", ""
    yield f"    e = leading(total) if total else {m.zero_exponent}", ""
    yield f"    total = grid(total, e - {m.fraction_bits}, RTZ)", ""


def _scaled_groups(m: FusedParameters, c: str, lanes: str, steps: Mapping[str, str]) -> Iterator[Line]:
    """Yield exact sums of groups, each with its scales' exponent; c decides the grid only if it leads."""
    bits, block, group = m.fraction_bits, m.scale_block, m.group
    leads = m.c_enters != "always"
    dropped = m.group_dropped_below is not None
    # the first lane of a group says which scales the group has
    yield f"groups = [p[i : i + {group}] for i in range(0, {m.n_fma}, {group})]", ""
    yield "s = [sum(g) for g in groups]", steps.get("groups", "") + "exact"
    first_lanes = f"range(0, {m.k}, {group})" if lanes == f"range({m.k})" else f"{lanes}[::{group}]"
    yield f"e = [sa[i // {block}].exp + sb[i // {block}].exp for i in {first_lanes}]", "exponents of groups"
    yield f"e = [x if any(g) else {m.zero_exponent} for x, g in zip(e, groups)]", _why_zero(m)
    if not leads:
        yield f"top = max(*e, {_entering_c(m, c)})", steps.get("top", "") + "one grid for the groups and c"
    else:
        yield "reached = [max((x.exp for x in g if x), default=-inf) for g in groups]", ""
        yield f"leads = {c} and {c}.exp >= max(reached)", ""
        yield (
            f"top = max(*e, ({_entering_c(m, c)}) if leads or not {c} else -inf)",
            "c takes part only where it leads",
        )
    mode = m.alignment.name
    if m.c_enters == "leading_by_group":
        finer = f"top if leads or not {c} or r > {c}.exp else max(top, {c}.exp)"
        yield f"tops = [{finer} for r in reached]", "a group below c is rounded to c's grid"
        yield f"t = [grid(x, y - {bits}, {mode}) for x, y in zip(s, tops)]", ""
    else:
        yield f"t = [{_aligned(m, 'x', 'top')} for x in s]", "aligned to it"
    if m.inner_group is not None:
        inner = m.inner_group
        parts = f"grid(sum(g[i : i + {inner}]), top - {bits}, {mode}) for i in range(0, {group}, {inner})"
        yield f"if not leads: t = [sum({parts}) for g in groups]", f"parts of {inner} lanes apart"
    yield f"total = sum(t) + {_aligned(m, c, 'top')}", steps.get("total", "") + "exact"
    if dropped:
        d = m.d_format
        low, high = d.e_min - d.fraction_bits, d.e_min
        yield f"if total and {low} <= leading(total) < {high}:", "a subnormal sum loses its small groups"
        small = f"abs(x) < 2**Fraction({m.group_dropped_below}) and y < max(e)"
        yield f"    t = [0 if {small} else x for x, y in zip(t, e)]", ""
        yield f"    total = sum(t) + {_aligned(m, c, 'top')}", ""


def _result(m: FusedParameters) -> str:
    wide = m.rounded_format or m.d_format
    options = "" if m.overflow == "ieee" else f', beyond="{m.overflow}"'
    if m.round_fraction_bits is not None:
        options += f", at={m.round_fraction_bits}"
    if m.flush_outputs:
        options += f', tiny="{m.tininess}"'
    if m.subnormal_results == "misplaced":
        options += f", misplaced=top - {m.fraction_bits + int(m.alignment_sticky)}"
    text = f"number({format_name(wide)}, total, {m.rounding.name}{options})"
    return text if wide == m.d_format else f"number({format_name(m.d_format)}, {text}, RTZ)"
