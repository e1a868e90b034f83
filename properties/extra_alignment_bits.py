"""How many fraction bits survive alignment: a witness for each step, and where more cannot be seen.

F counts bits below the binary point of the largest exponent; n_eab = F - 23.
"""

from dataclasses import replace

from tcsmt.datapath import decode
from tcsmt.investigate import Claim, Investigation
from tcsmt.query import Distinguished, Domain, Equivalent

CLAIMS = (
    Claim(source="Fasi et al. 2020", section="3.1.4, 3.2", statement="none on V100, one on T4"),
    Claim(source="Valpey et al. 2025", section="4.3", statement="none on Volta and Turing, one on Ampere"),
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
    f = unit.fraction_bits
    seen = []
    for bits in (f - 1, f):
        few, more = (replace(unit, fraction_bits=n, round_fraction_bits=None) for n in (bits, bits + 1))
        verdict = ask.differ(
            f"F = {bits} against {bits + 1} (n_eab {bits - 23} against {bits - 22})",
            (f"F = {bits}", few),
            (f"F = {bits + 1}", more),
            lanes=(2, 3),
        )
        seen.append(isinstance(verdict, Distinguished))
    a, b = (decode(fmt, term) for fmt, term in ((unit.a_format, unit.trace.a[0]), (unit.b_format, unit.trace.b[0])))
    top = max(a.exponent.high + b.exponent.high, unit.zero_exponent or 0)
    most = top - (a.exponent.low + b.exponent.low) + a.fraction_bits + b.fraction_bits
    if most <= 126:
        exact, more = (replace(unit, fraction_bits=n, round_fraction_bits=None) for n in (most, most + 1))
        verdict = ask.differ(
            f"F = {most} against {most + 1}, c = 0: every bit of every product is kept",
            (f"F = {most}", exact),
            (f"F = {most + 1}", more),
            Domain(c_zero=True),
            lanes=(),
        )
        limit = f"; with c = 0 no more than F = {most} can be seen" * isinstance(verdict, Equivalent)
    else:
        limit = f"; every product is exact only from F = {most} on"
    told = "both neighbours are told apart" if all(seen) else "not every neighbour is told apart"
    return f"the unit keeps F = {f} bits (n_eab = {f - 23}); {told}{limit}"
