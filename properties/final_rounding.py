"""How the sum is rounded to the output format: every pair of modes, the tie rules included."""

from itertools import combinations

from tcsmt.investigation import (
    ROUNDINGS,
    Claim,
    Contradiction,
    Distinguished,
    Investigation,
    Unknown,
    difference,
    evaluate,
)

CLAIMS = (
    Claim(
        source="Fasi et al. 2020",
        section="3.1.3, 3.1.4",
        statement="FP32: toward zero; FP16: to nearest",
    ),
    Claim(
        source="Valpey et al. 2025",
        section="4.2, property 2",
        statement="FP16: to nearest, in hardware",
    ),
    Claim(
        source="Khattak and Mikaitis 2025",
        section="Table II",
        statement="FP32: truncation; FP16: RNE",
    ),
)


def investigate(ask: Investigation) -> str:
    """A witness for each pair that no earlier witness tells apart."""
    unit = ask.unit
    models = {name: unit.replace(rounding=mode, overflow="infinity") for name, mode in ROUNDINGS.items()}
    outputs = [model.trace.output for model in models.values()]
    apart: set[frozenset[str]] = set()
    same, unknown = [], []
    for one, two in combinations(models, 2):
        if frozenset((one, two)) in apart:
            continue
        question = difference(
            f"{one} ({ROUNDINGS[one].title}) against {two} ({ROUNDINGS[two].title})",
            (one, models[one]), (two, models[two]), lanes=(1, 2),
        )  # fmt: skip
        verdict = ask.ask(question)
        if isinstance(verdict, Unknown):
            unknown.append(f"{one}/{two}")
        elif isinstance(verdict, Distinguished):
            words = dict(zip(models, evaluate(outputs, verdict.values), strict=True))
            apart |= {frozenset(pair) for pair in combinations(models, 2) if words[pair[0]] != words[pair[1]]}
        else:
            same.append(f"{one}/{two}")
    for pair in same:
        if frozenset(pair.split("/")) in apart:
            raise Contradiction(f"no input tells {pair} apart", "an input for another pair does")
    pairs = len(models) * (len(models) - 1) // 2
    parts = [
        f"{len(apart)} of {pairs} pairs told apart by {len(ask.findings) - len(same) - len(unknown)} inputs"
    ]
    parts += [f"no input tells {', '.join(same)}"] if same else []
    parts += [f"open: {', '.join(unknown)}"] if unknown else []
    return f"the unit rounds by {unit.parameters.rounding}; " + "; ".join(parts)
