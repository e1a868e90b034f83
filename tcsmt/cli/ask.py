"""``tcsmt find``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt.cli import options
from tcsmt.custom import row_given
from tcsmt.discovery import choose_row, load
from tcsmt.errors import Exit
from tcsmt.files import replace_text
from tcsmt.investigate import Finding, Investigation, Report
from tcsmt.query import Distinguished, Equivalent, Solving, Unknown
from tcsmt.solvers.run import Settings


@click.command()
@click.option("--property", "name", required=True, help="What to ask; see `tcsmt properties`.")
@click.option("--arch", help="Architecture, sm_XX or GPU, such as volta or h200.")
@click.option("--instruction", help="Instruction, or a part that only one has; see `tcsmt models`.")
@click.option("--model", help="Instead: a model file, or ARCH/INSTRUCTION; see `tcsmt models --toml`.")
@options.solver
@options.timeout()
@options.memory
@options.confirm
@options.as_json
@click.option("--output", type=click.Path(path_type=Path), help="Write the JSON report here as it grows.")
@options.dump_smt
@options.folders
def find(
    name: str,
    arch: str | None,
    instruction: str | None,
    model: str | None,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    as_json: bool,
    output: Path | None,
    dump_smt: Path | None,
    folders: tuple[Path, ...],
) -> None:
    """Ask a property of a unit (--arch or --model): a witness, or a proof that there is none.

    Exit code: 0 answered, 2 usage error, 3 some question stayed unknown.
    """
    settings = Settings(solver, timeout, memory)
    if (arch is None) == (model is None) or (model is not None and instruction is not None):
        raise click.UsageError("give either --arch (and --instruction), or --model")
    prop = load(name, folders)
    row = choose_row(prop, arch, instruction) if arch is not None else row_given(str(model))
    ask = Investigation(row, Solving(settings, confirm=confirm, dump=dump_smt))

    def save() -> None:
        if output is not None:
            partial = Report(name, prop.about.title, prop.claims, row, tuple(ask.findings), "")
            replace_text(output, json.dumps(partial.as_json(), indent=1, ensure_ascii=False) + "\n")

    if output is not None:  # so that a file that cannot be written is known before the work starts
        save()

    def progress(finding: Finding) -> None:
        save()
        if sys.stderr.isatty():
            click.echo(f"{finding.question.title}: {type(finding.verdict).__name__.lower()}", err=True)

    ask.progress = progress
    report = prop.investigate(ask)
    text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
    if output is not None:
        replace_text(output, text + "\n")
    click.echo(text if as_json else report_text(report))
    sys.exit(Exit.UNKNOWN if report.unknown else Exit.ANSWERED)


def report_text(report: Report) -> str:
    """The report for people."""
    row = report.row
    measured = f" ({', '.join(row.measured)})" if row.measured else f" ({row.source})"
    lines = [
        f"{report.name}: {report.title}",
        f"unit: {row.name}, evidence: {row.evidence}{measured}",
        "",
    ]
    for finding in report.findings:
        lines += [*finding_lines(finding), ""]
    lines.append(f"answer: {report.conclusion}")
    for claim in report.claims:
        lines.append(f"  claimed: {claim.source}, {claim.section}: {claim.statement}")
    return "\n".join(lines)


def finding_lines(finding: Finding) -> list[str]:
    """One finding for people: the verdict, the witness, both results, where they part."""
    verdict = finding.verdict
    title = f"* {finding.question.title}"
    match verdict:
        case Unknown():
            return [title, f"  UNKNOWN: {verdict.reason}"]
        case Equivalent():
            if not verdict.solver:
                return [title, "  EQUIVALENT: both sides are the same graph"]
            where = f", at stage '{verdict.stage}'" if verdict.stage else ""
            by = f"{verdict.by_whom}, {verdict.seconds:.3f} s"
            return [title, f"  EQUIVALENT: proved by {by}{where}"]
        case Distinguished():
            by = f"{verdict.by}, {verdict.seconds:.3f} s, replayed"
            return [title, f"  DISTINGUISHED by {by}", *_witness_lines(finding)]


def _witness_lines(finding: Finding) -> list[str]:
    lines = []
    inputs = finding.inputs()
    zeros = [n for n, v in inputs.items() if int(v["word"], 16) == 0]
    for name, value in inputs.items():
        if name not in zeros:
            lines.append(f"    {name:>4} = {value['word']}  {value['value']:<24} {value['decimal']}")
    if zeros:
        lines.append(f"    {_ranges(zeros)} = 0")
    for result in finding.results():
        mark = "  (what the unit's model gives)" if result["side"] in finding.supported else ""
        lines.append(f"    {result['side']}: {result['word']}  {result['value']}  {result['decimal']}{mark}")
    parting = finding.parting()
    if parting is not None:
        stage, left, right = parting.values()
        lines.append(f"    they part at '{stage}': {left}  |  {right}")
    return lines


def _ranges(names: list[str]) -> str:
    """``a1..a3, b1..b3, c`` for a list of input names."""
    parts: list[list[str]] = []
    for name in names:
        previous = parts[-1][-1] if parts else ""
        follows = previous[1:].isdigit() and name == f"{previous[0]}{int(previous[1:]) + 1}"
        if follows:
            parts[-1].append(name)
        else:
            parts.append([name])
    return ", ".join(p[0] if len(p) == 1 else f"{p[0]}..{p[-1]}" for p in parts)
