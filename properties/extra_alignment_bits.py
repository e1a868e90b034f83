"""How many fraction bits survive alignment: a witness for each step, and where more cannot be seen.

F counts bits below the binary point of the largest exponent; n_eab = F - 23.
"""

from tcsmt.investigation import (
    Claim,
    ComparedModel,
    Domain,
    FusedDotAdd,
    Groups,
    Investigation,
    Kind,
    Question,
    any_of,
    concluded,
    const,
)

CLAIMS = (
    Claim(source="Fasi et al. 2020", section="3.1.4, 3.2", statement="none on V100, one on T4"),
    Claim(
        source="Valpey et al. 2025",
        section="4.3",
        statement="none on Volta and Turing, one on Ampere",
    ),
    Claim(
        source="Khattak and Mikaitis 2025",
        section="Table II",
        statement="0 on V100, 1 on A100 and Ada, 2 on H100 and B200, -10 for FP8 on Ada and Hopper",
    ),
    Claim(source="MMA-Sim 2025", section="III-C", statement="F = 23, 24, 25, and 13 for FP8"),
)


def investigate(ask: Investigation) -> str:
    """Steps around the unit's F, then the F beyond which nothing is shifted out of a sum with c = 0."""
    unit = ask.unit
    f = unit.parameters.fraction_bits
    verdicts = {}
    for bits in (f - 1, f):
        few, more = (unit.replace(fraction_bits=n, round_fraction_bits=None) for n in (bits, bits + 1))
        verdicts[f"{bits} and {bits + 1}"] = ask.differ(
            f"F = {bits} against {bits + 1} (n_eab {bits - 23} against {bits - 22})",
            (f"F = {bits}", few),
            (f"F = {bits + 1}", more),
            lanes=(2, 3),
        )
    most = _exact_from(unit)
    ask.ask(_nothing_lost(unit, most - 1))
    limit = concluded(
        ask.ask(_nothing_lost(unit, most)),
        f"with c = 0 a bit beyond F = {most} can be seen",
        f"with c = 0 no bit beyond F = {most} can be seen",
        f"with c = 0 a bit beyond F = {most} can be seen",
    )
    groups = Groups.of(verdicts)
    told = groups if groups.rest else "both neighbours are told apart"
    return f"the unit keeps F = {f} bits (n_eab = {f - 23}); {told}; {limit}"


def _exact_from(unit: FusedDotAdd) -> int:
    """The F with which no bit of any finite product is ever shifted out of a sum with c = 0."""
    formats = (unit.a_format, unit.b_format)
    highest = max(sum(f.e_max for f in formats), unit.parameters.zero_exponent or 0)
    return highest - sum(f.e_min for f in formats) + sum(f.fraction_bits for f in formats)


def _nothing_lost(unit: FusedDotAdd, bits: int) -> Question:
    """With c = 0 and F = ``bits``, does one more bit change any aligned product?"""
    models = [unit.replace(fraction_bits=n, round_fraction_bits=None) for n in (bits, bits + 1)]
    sides = tuple(ComparedModel(f"F = {m.parameters.fraction_bits}", m, m.trace) for m in models)
    aligned = [[s.term for s in m.trace.of(Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C)] for m in models]
    lost = any_of(x.concat(const(0, 1)).ne(y) for x, y in zip(*aligned, strict=True))
    domain = Domain(c_zero=True)
    where = domain.holds(unit.input_formats, unit.trace)
    return Question(
        title=f"F = {bits} against {bits + 1}, c = 0: is an aligned product another number?",
        sides=sides,
        goal=where & lost,
        formats=unit.input_formats,
        domain=where,
        domain_text=str(domain),
    )
