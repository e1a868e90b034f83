"""``tcsmt reproduce`` and ``tcsmt export``."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.errors import choose
from tcsmt.files import make_folder, replace_text
from tcsmt.solvers.run import SOLVERS, Settings

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder for what was found.",
)


@click.command()
@click.argument("paper")
@click.option("--timeout", default=60.0, help="Seconds for each query.", show_default=True)
@results_option
def reproduce(paper: str, timeout: float, results: Path) -> None:
    """Run a paper's experiments again, and print our results beside the published ones.

    PAPER: valpey or fasi. Writes RESULTS/PAPER.json; until it is complete, PAPER.partial.json.
    """
    name = choose("paper", paper, _PAPERS)
    Settings(timeout=timeout)
    make_folder(results)
    path, partial = results / f"{name}.json", results / f"{name}.partial.json"
    data: dict[str, Any] = {
        "paper": name,
        "tcsmt": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }

    def save() -> None:
        replace_text(partial, json.dumps(data, indent=1, ensure_ascii=False) + "\n")

    _PAPERS[name](data, save, timeout)
    save()
    partial.replace(path)
    click.echo(f"written: {path}", err=True)


def _valpey(data: dict[str, Any], save: Callable[[], None], timeout: float) -> None:
    from tcsmt.papers import valpey

    head = f"{'Table 4 (seconds of solving)':<42}" + "".join(f"{s:>16}" for s in SOLVERS)
    click.echo(f"{head}   published: Z3 4.8.9, cvc5 1.0.2")
    data["table 4"] = []
    for row in valpey.table_four(timeout):
        data["table 4"].append(row)
        save()
        cells = "".join(f"{_cell(row[s]):>16}" for s in SOLVERS)
        published = ", ".join("none in 6 h" if t is None else f"{t:g}" for t in row["published"].values())
        click.echo(f"{row['query']:<42}{cells}   {published if row['in_paper'] else '(not asked)'}")
    data["printed tables"] = valpey.printed_tables()
    for table in data["printed tables"]:
        verdict = "reproduces as printed" if table["reproduces"] else "does not reproduce as printed"
        click.echo(f"\nTable {table['table']}: {verdict}")
        for key, value in table.items():
            if key not in ("table", "reproduces"):
                click.echo(f"  {key}: {json.dumps(value, ensure_ascii=False)}")


def _cell(result: dict[str, Any]) -> str:
    mark = "?" if result["unknown"] else ""
    kind = "+".join(word[:3] for word in result["answer"].split("+"))
    return f"{result['seconds']:.3f}{mark} {kind}"


def _fasi(data: dict[str, Any], save: Callable[[], None], timeout: float) -> None:
    from tcsmt.papers import fasi

    data["tests"] = list(fasi.run_tests())
    for test in data["tests"]:
        mark = "as the paper" if test["reproduces"] else "NOT as the paper"
        click.echo(f"{test['section']} {test['feature']}, {test['output']}: {test['title']} [{mark}]")
        for gpu, result in test["results"].items():
            click.echo(f"    {gpu:<5} {result['word']}  {result['value']:<28} {result['means']}")
    agree = sum(test["reproduces"] for test in data["tests"])
    click.echo(f"{agree} of {len(data['tests'])} tests give on V100 and T4 what the paper reports")


_PAPERS: dict[str, Callable[[dict[str, Any], Callable[[], None], float], None]] = {
    "valpey": _valpey,
    "fasi": _fasi,
}


@click.command()
@click.option(
    "--queries",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("queries"),
    show_default=True,
    help="Folder for the scripts.",
)
def export(queries: Path) -> None:
    """Write the curated SMT-LIB 2.6 scripts: self-contained, with the expected answer."""
    from tcsmt.curated import scripts

    make_folder(queries)
    for name, text in scripts():
        replace_text(queries / f"{name}.smt2", text)
        click.echo(f"{queries / name}.smt2")
