"""``tcsmt claims``."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from pathlib import Path

import click

from tcsmt import SolvingOptions
from tcsmt.face.api.terminal import Exit, UnknownName, counted, replace_text, shown
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json, json_text
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Unknown
from tcsmt.simulate.measured.datasets import DataSet, find_datasets
from tcsmt.study.claims import Judgement, judge, published


@click.command(cls=options.SolvingCommand)
@click.argument("names", nargs=-1)
@click.option(
    "--data", "folders", type=click.Path(path_type=Path), multiple=True,
    help="Measured data sets, as for `tcsmt validate` (may be repeated).",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write JSON here, and update it during the run."
)
@options.as_json
@options.solving("solver", "timeout", "confirm")
def claims(
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Check published statements about matrix units against measured data and proofs.

    NAMES: check only these statements. Without NAMES, the output names all of them. Measured rows confirm
    or refute a statement about hardware. If no row decides it, the command prints a vector that would, or
    says that there is none.

    Exit code: 0 judged, 2 usage error, 3 a solver did not answer a decisive question.

    \b
    Examples:
      tcsmt claims --data ../shared/hardware
    """
    known = {claim.name: claim for claim in published()}
    for name in names:
        if name not in known:
            raise UnknownName("claim", name, known, "tcsmt claims")
    engine = Solving(solving)
    data: list[DataSet] = list(find_datasets(folders)) if folders else []
    found: list[Judgement] = []
    if not data:
        click.echo(_WITHOUT_DATA, err=True)
    chosen = list(dict.fromkeys(names)) or list(known)
    with shown() as progress:
        for number, name in enumerate(chosen):
            progress(number, len(chosen), name)
            judgement = judge(known[name], data, engine)
            found.append(judgement)
            if output is not None:
                replace_text(output, json_text({"claims": [one.as_json() for one in found]}) + "\n")
            if not as_json:
                click.echo("\n".join(_lines(judgement)))
        progress(len(chosen), len(chosen), "judged")
    if as_json:
        echo_json({"claims": [one.as_json() for one in found]})
    else:
        counts = Counter(one.verdict for one in found)
        summary = ", ".join(f"{counts[word]} {word}" for word in ("confirmed", "refuted", "undecided"))
        click.echo(f"{counted(len(found), 'claim')}: {summary}")
    unknown = any(one.finding and isinstance(one.finding.verdict, Unknown) for one in found)
    sys.exit(Exit.UNKNOWN if unknown else Exit.ANSWERED)


_WITHOUT_DATA = (
    "no --data: statements about hardware remain undecided; for each, solvers look for a vector "
    "that would decide it"
)


def _lines(judgement: Judgement) -> list[str]:
    claim = judgement.claim
    lines = [
        f"{judgement.verdict.upper():<9}  {claim.name}: {claim.statement}",
        f"           {claim.source}, {claim.section}; {claim.unit}",
        f"           {judgement.why}",
    ]
    if claim.evidence:
        lines += textwrap.wrap(
            claim.evidence.strip(), 100, initial_indent=" " * 11, subsequent_indent=" " * 11
        )
    if judgement.finding is not None:
        lines += [f"           {line}" for line in str(judgement.finding).splitlines()[1:]]
    return lines
