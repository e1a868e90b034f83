"""Reports and findings as text."""

from __future__ import annotations

from tcsmt.ask.investigation import Report
from tcsmt.statements.finding import Finding
from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.support.text import ranges


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
            steps = f": {verdict.stage}" if verdict.stage else ""
            by = f"{verdict.by_whom}, {verdict.seconds:.3f} s"
            return [title, f"  EQUIVALENT, proved by {by}{steps}"]
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
        lines.append(f"    {', '.join(ranges(zeros))} = 0")
    for result in finding.results():
        mark = "  (what the unit's model gives)" if result["side"] in finding.supported else ""
        lines.append(f"    {result['side']}: {result['word']}  {result['value']}  {result['decimal']}{mark}")
    parting = finding.parting()
    if parting is not None:
        stage, left, right = parting.values()
        lines.append(f"    they part at '{stage}': {left}  |  {right}")
    return lines
