"""How many products go into one fused sum (N_FMA): half as many, and twice as many in a longer one."""

from tcsmt.investigation import Claim, Groups, Investigation

CLAIMS = (
    Claim(
        source="Khattak and Mikaitis 2025",
        section="Table II",
        statement="16 bits: 4 on V100, 8 on A100 and Ada, 16 on H100 and B200; half for TF32, twice for FP8",
    ),
    Claim(source="Fasi et al. 2020", section="3.2", statement="4 on T4"),
    Claim(source="MMA-Sim 2025 (mmasim 2.1.1)", section="III-D", statement="8 on Turing's m16n8k8"),
)


def investigate(ask: Investigation) -> str:
    """N/2 against N, and N against 2N, on as many lanes as the larger needs."""
    unit = ask.unit
    size = unit.parameters.n_fma
    verdicts = {}
    for few in (size // 2, size):
        if few < 1:
            continue
        long = unit.replace(k=2 * few, n_fma=2 * few)
        verdicts[f"{few} and {2 * few}"] = ask.differ(
            f"blocks of {few} against blocks of {2 * few} products",
            (f"N_FMA = {few}", long.replace(n_fma=few)),
            (f"N_FMA = {2 * few}", long),
            lanes=((0, few), (0, 1, few, few + 1)),
        )
    groups = Groups.of(verdicts)
    return f"N_FMA = {size}; {groups if groups.rest else 'the neighbours are told apart'}"
