"""How many carry bits the accumulator needs: fewest that are enough, with a witness for one fewer.

Carry bits count from the accumulator's two integer bits up; the sign is apart. A register with
fewer wraps. The catalogue's model has enough by definition; the proof is about the register.
"""

from tcsmt.investigation import Claim, Distinguished, Equivalent, Investigation

CLAIMS = (
    Claim(source="Fasi et al. 2020", section="3.1.4", statement="at least 2, most likely 3 (Volta)"),
    Claim(
        source="Valpey et al. 2025",
        section="4.3",
        statement="3 are needed and enough for 5 terms; 4 for 9 terms not confirmed in 6 hours",
    ),
    Claim(
        source="Khattak and Mikaitis 2025",
        section="IV-A2",
        statement="the fourth bit cannot be verified through tests; Table II: ceil(log2(N_FMA + 1))",
    ),
)


def investigate(ask: Investigation) -> str:
    """Enough by the range of the terms; then from there down, until one fewer makes a difference.

    A step down that is proved equal keeps what was said of the one above it.
    """
    unit = ask.unit
    enough = ""
    for bits in range(unit.enough_carry_bits, -1, -1):
        few, more = (unit.replace(carry_bits=n) for n in (bits, bits + 1))
        verdict = ask.differ(
            f"{bits} against {bits + 1} carry bits",
            (f"{bits} carry bits", few),
            (f"{bits + 1} carry bits", more),
            lanes=(),
        )
        if isinstance(verdict, Equivalent):
            width = unit.integer_bits + unit.parameters.fraction_bits + bits
            known = f"({unit.parameters.n_fma} products and c; accumulator {width} bits wide, sign apart)"
            enough = f"{bits} carry bits are enough"
            continue
        if not isinstance(verdict, Distinguished):
            unknown = f"unknown whether {bits} carry bits are enough"
            return f"{enough} {known}; {unknown}" if enough else unknown
        if not enough:
            return f"{bits} carry bits are not enough; unknown how many are"
        return f"{enough} and {bits} are not {known}"
    return "no carry bit is needed"
