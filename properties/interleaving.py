"""How the lanes of a long instruction are dealt to its fused sums."""

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
    return "" if model.k > model.parameters.n_fma else "the instruction has one fused sum"


def investigate(ask: Investigation) -> str:
    """Contiguous blocks against lanes dealt in ones, twos and fours."""
    model = ask.row.model
    assert isinstance(model, FusedDotAdd)
    verdicts, n_fma, own = {}, model.parameters.n_fma, model.parameters.interleave
    patterns = [0, *(g for g in (1, 2, 4) if n_fma % g == 0 and g < n_fma)]
    for other in patterns:
        if other == own:
            continue
        names = {0: "contiguous blocks"}
        verdicts[names.get(other, f"groups of {other}")] = ask.differ(
            f"{names.get(own, f'groups of {own}')} against {names.get(other, f'groups of {other}')}",
            (names.get(own, f"dealt in {own}s"), model),
            (names.get(other, f"dealt in {other}s"), model.replace(interleave=other)),
            lanes=((0, 1, 2), (0, 1, 2, 4)),
        )
    pattern = f"groups of {own} dealt in turn" if own else "contiguous blocks"
    groups = Groups.of(verdicts)
    return f"{pattern}; {groups if groups.rest else 'every other pattern is told apart'}"
