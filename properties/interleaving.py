"""How the lanes of a long instruction are dealt to its fused sums."""

from dataclasses import replace

from tcsmt.investigation import Claim, FusedDotAdd, Groups, Investigation, Row

CLAIMS = (
    Claim(
        source="Khattak and Mikaitis 2025",
        section="IV-A5",
        statement="FP8 through mma.sync on H100 and B200: pairs of lanes alternate between two sums",
    ),
    Claim(source="MMA-Sim 2025", section="III-D", statement="contiguous halves are chained"),
)


def applies(row: Row) -> str:
    """Only where there is a second block."""
    model = row.model
    assert isinstance(model, FusedDotAdd)
    return "" if model.k > model.n_fma else "the instruction has one fused sum"


def investigate(ask: Investigation) -> str:
    """Contiguous blocks against lanes dealt in ones, twos and fours."""
    model = ask.row.model
    assert isinstance(model, FusedDotAdd)
    verdicts = {}
    patterns = [0, *(g for g in (1, 2, 4) if model.n_fma % g == 0 and g < model.n_fma)]
    for other in patterns:
        if other == model.interleave:
            continue
        names = {0: "contiguous blocks"}
        verdicts[names.get(other, f"groups of {other}")] = ask.differ(
            f"{names.get(model.interleave, f'groups of {model.interleave}')} against "
            f"{names.get(other, f'groups of {other}')}",
            (names.get(model.interleave, f"dealt in {model.interleave}s"), model),
            (names.get(other, f"dealt in {other}s"), replace(model, interleave=other)),
            lanes=((0, 1, 2), (0, 1, 2, 4)),
        )
    pattern = f"groups of {model.interleave} dealt in turn" if model.interleave else "contiguous blocks"
    groups = Groups.of(verdicts)
    return f"{pattern}; {groups if groups.rest else 'every other pattern is told apart'}"
