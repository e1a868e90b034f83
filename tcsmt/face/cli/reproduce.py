"""``tcsmt reproduce``."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.terminal import TcsmtError, __version__, choose, make_folder, replace_text
from tcsmt.face.cli import options
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.statements.verdict import record_text
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.sources import digest_of_sources


@click.command(cls=options.SolvingCommand)
@click.argument("paper")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
    help="Folder for PAPER.json and the plots; a run continues where it stopped.",
)  # fmt: skip
@options.as_json
@options.solving("timeout")
def reproduce(paper: str, output: Path | None, as_json: bool, solving: SolvingOptions) -> None:
    """Run a paper's experiments again, and print our results next to the published ones.

    PAPER: valpey, fasi, mma-sim, khattak or ootomo. Nothing is written without --output. Until the run is
    complete, the file in FOLDER is PAPER.partial.json. With --json, prints JSON, and the text goes to
    standard error.

    \b
    Examples:
      tcsmt reproduce fasi
      tcsmt reproduce khattak --output khattak-2025
    """
    name = choose("paper", paper, _PAPERS)
    if output is not None:
        make_folder(output)
    data: dict[str, Any] = {
        "paper": name,
        "tcsmt": __version__,
        "code": _code(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    with Checkpoint(None if output is None else output / f"{name}.partial.json", _LAYOUT) as kept:
        job = _Job(data, kept, solving.timeout, output)
        with redirect_stdout(sys.stderr) if as_json else nullcontext():
            _PAPERS[name](job)
        data["models"] = models_named(data) | job.models
        text = json.dumps(data, indent=1, ensure_ascii=False)
        if output is not None:
            path = output / f"{name}.json"
            replace_text(path, text + "\n")
            click.echo(f"written: {path}", err=True)
        kept.finish()
    if output is not None:
        _draw(job.plots, output, name)
    if as_json:
        click.echo(text)


def _draw(plots: Mapping[str, Callable[[Path], None]], folder: Path, name: str) -> None:
    try:
        for suffix, draw in plots.items():
            path = folder / f"{name}-{suffix}.svg"
            draw(path)
            click.echo(f"written: {path}", err=True)
    except TcsmtError as error:
        click.echo(f"no plots: {error}", err=True)


#: Until a paper is complete: what each experiment has found, and by which code.
_LAYOUT = Layout("experiments")


@dataclass
class _Job:
    """A paper's run: what it found so far, and how to keep that.

    folder: where its numbers are written, if anywhere. plots: drawn when all numbers are written. models:
    the digests of what has no row in the catalogue.
    """

    data: dict[str, Any]
    kept: Checkpoint
    timeout: float
    folder: Path | None
    plots: dict[str, Callable[[Path], None]] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def keep(self, name: str, value: Any) -> Any:
        """A result under its name, on disk at once."""
        self.data[name] = value
        self.kept.keep(name, {"found": value, "code": self.data["code"]})
        return value

    def each(self, name: str, values: Iterable[Any]) -> Iterator[Any]:
        """The parts of a result, each on disk as it comes."""
        found: list[Any] = []
        self.keep(name, found)
        for value in values:
            found.append(value)
            self.keep(name, found)
            yield value

    def before(self, name: str) -> Any:
        """What an interrupted run of the same code found; None where it found nothing."""
        record = self.kept.records.get(name, {})
        return record.get("found") if record.get("code") == self.data["code"] else None


def _code() -> str:
    return digest_of_sources("language", "matrix_units", "simulate", "compose/recipes", "study/papers")


def _valpey(job: _Job) -> None:
    from tcsmt.study.papers import valpey

    head = f"{'Table 4 (seconds of solving)':<42}" + "".join(f"{s:>16}" for s in SOLVERS)
    click.echo(f"{head}   published: Z3 4.8.9, cvc5 1.0.2")
    for row in job.each("table 4", valpey.table_four(job.timeout)):
        cells = "".join(f"{_cell(row[s]):>16}" for s in SOLVERS)
        published = ", ".join("none in 6 h" if t is None else f"{t:g}" for t in row["published"].values())
        click.echo(f"{row['query']:<42}{cells}   {published if row['in_paper'] else '(not asked)'}")
    for table in job.keep("printed tables", valpey.printed_tables()):
        verdict = "reproduces as printed" if table["reproduces"] else "does not reproduce as printed"
        click.echo(f"\nTable {table['table']}: {verdict}")
        for key, value in table.items():
            if key not in ("table", "reproduces"):
                click.echo(f"  {key}: {json.dumps(value, ensure_ascii=False)}")


def _cell(result: dict[str, Any]) -> str:
    mark = "?" if result["unknown"] else ""
    kind = "+".join(word[:3] for word in result["answer"].split("+"))
    return f"{result['seconds']:.3f}{mark} {kind}"


def _fasi(job: _Job) -> None:
    from tcsmt.study.papers import fasi

    tests = job.keep("tests", list(fasi.run_tests()))
    for test in tests:
        mark = "as the paper" if test["reproduces"] else "NOT as the paper"
        click.echo(f"{test['section']} {test['feature']}, {test['output']}: {test['title']} [{mark}]")
        for gpu, result in test["results"].items():
            click.echo(f"    {gpu:<5} {result['word']}  {result['value']:<28} {result['means']}")
    agree = sum(test["reproduces"] for test in tests)
    click.echo(f"{agree} of {len(tests)} tests give on V100 and T4 what the paper reports")


def _mma_sim(job: _Job) -> None:
    from tcsmt.study.papers import mmasim

    click.echo(
        "detected by the probes of sections II-C to II-F (bits kept and rounding where aligned; result)"
    )
    table = []
    for row, names in mmasim.representatives():
        found = mmasim.detected(row.model)
        table.append({"unit": row.name, "rows": names, **found})
        click.echo(f"{row.name:<52} {found['tree']}")
        parts = [f"{n}: {_bits(v)}" for n, v in (*found["alignment"].items(), *found["result"].items())]
        click.echo(f"    {'; '.join(parts)}")
    job.keep("detected", table)
    families = job.keep("families", list(mmasim.families()))
    click.echo("\nfamilies of instructions, sections III-A to III-I")
    for family in families:
        click.echo(f"{family['rows']:>4} rows  {', '.join(family['algorithms']):<16} {family['family']}")
        for name in family["differs"]:
            click.echo(f"           differs: {name}")
    click.echo("\n2048*2048 - 2048*2048 - 0.000001")
    for unit in job.keep("cancellation", mmasim.cancellation()):
        click.echo(f"{unit['unit']:<52} {unit['value']:>10.3g}  {unit['means']}")
    click.echo("\nerror of random dot-adds: mean, standard deviation, below zero")
    for unit in job.keep("bias", mmasim.bias())["units"]:
        numbers = f"{unit['mean']:>+8.3f} {unit['standard_deviation']:>8.3f} {unit['below_zero']:>7.1%}"
        click.echo(f"{unit['label']:<28} {numbers}")
    job.keep("fp8 bits", mmasim.fp8_bits())
    accumulation = job.keep("accumulation", mmasim.accumulation())
    click.echo("\nFP8: largest relative error against K")
    click.echo(f"{'':<40}" + "".join(f"{k:>9}" for k in accumulation["K"]))
    for unit in accumulation["units"]:
        click.echo(f"{unit['label']:<40}" + "".join(f"{e:>9.1e}" for e in unit["error"]))
    click.echo("\nsubnormal numbers and large products")
    for case in job.keep("flush", mmasim.flush()):
        results = ", ".join(f"{n.partition('/')[0]}: {v}" for n, v in case["results"].items())
        click.echo(f"{case['case']} ({case['operands']}): {results}")
    _conclude(job, mmasim.conclusions(job.data))
    job.plots["bias"] = partial(mmasim.plot_bias, data=job.data["bias"])
    job.plots["accumulation"] = partial(mmasim.plot_accumulation, data=accumulation)


def _khattak(job: _Job) -> None:
    from tcsmt.study.papers import khattak, multiword

    click.echo("the printed test vectors, section IV")
    for test in job.keep("feature tests", khattak.feature_tests()):
        results = ", ".join(f"{gpu}: {value}" for gpu, value in test["results"].items())
        mark = "" if test["agrees"] else f"   NOT {test['published']}"
        click.echo(f"{test['section']:<6} {test['vector']:<56} {results}{mark}")
    click.echo("\nTable II, as the probes see our models")
    for row in job.keep("table 2", khattak.table_two()):
        features = ", ".join(f"{key} {value}" for key, value in row["ours"].items())
        click.echo(
            f"{row['input']:<16} {row['unit']:<42} {features}{'' if row['agrees'] else '   NOT as published'}"
        )
    click.echo("\nFTTN's vectors, section V-A")
    for judged in job.keep("authentication", khattak.authentication()):
        parts = [f"{key} {value} (is {judged['true'][key]})" for key, value in judged["concluded"].items()]
        click.echo(f"{judged['unit']:<26} {', '.join(parts)}")
    click.echo("\nvectors that tell the custom models from their neighbours")
    for told in job.each("telling vectors", khattak.telling_vectors(job.timeout)):
        inputs = ", ".join(f"{name} = {value['value']}" for name, value in told["inputs"].items())
        results = " | ".join(result["word"] for result in told.get("results", []))
        click.echo(f"{told['model']} against {told['against']}: {inputs or told['verdict']}: {results}")
    click.echo("\nFig. 7: relative norm-wise error")
    before: list[dict[str, Any]] = job.before("figure 7") or []
    points: list[dict[str, Any]] = []
    for point in multiword.figure_seven(before=before):
        points.append(point)
        if len(points) >= len(before):
            job.keep("figure 7", points)
        errors = "  ".join(f"{unit} {error:.2e}" for unit, error in point["errors"].items())
        click.echo(f"{point['panel']:<7} n = {point['n']:<8} {errors}")
    job.keep("published figure 7", multiword.published())
    job.models |= multiword.digests() | {name: m.digest for name, m in khattak.custom_models().items()}
    _conclude(job, [*khattak.conclusions(job.data), *multiword.conclusions(points)])
    job.plots["figure7"] = partial(multiword.plot, points=points)


def _ootomo(job: _Job) -> None:
    from tcsmt.analysis.bounds.split_analysis import SPLITS, record
    from tcsmt.study.papers import ootomo

    click.echo("mantissa kept, and residuals that underflow, for exponents 0 and -10 of x")
    kept = []
    for split in SPLITS:
        found = record(split)
        rows = [found["exponents"][exponent] for exponent in ("0", "-10")]
        text = ", ".join(f"{row['kept_bits']:.4f} bits and {row['underflow']:.2%}" for row in rows)
        click.echo(f"{found['split']:<36}{text}")
        kept.append({"split": found["split"], "ranges": found["ranges"]})
    job.keep("splits", kept)
    experiment = job.keep("last bit", ootomo.last_bit())
    click.echo(f"\nresidual, entries between -1 and 1, K = {experiment['k']}, A100")
    for label, residual in experiment["residuals"].items():
        click.echo(f"{label:<36}{residual:.2e}")
    click.echo("\nthe product of the residuals")
    for found in job.each("residual product", ootomo.residual_product(SolvingOptions(timeout=job.timeout))):
        unit = f" ({found['algorithm']}, {found['unit']})" if "unit" in found else ""
        click.echo(f"{record_text(found, 'refuted')}, {found['seconds']:.2f} s: {found['lemma']}{unit}")
        if "unit" in found:
            click.echo(
                f"    (1 + 2^-11)^2: without {found['without']}, with {found['with']}, {found['exact']}"
            )
    splits = ootomo.split_conclusions()
    swept = [one for one in ootomo.conclusions(_swept(job.folder)) if one not in splits]
    asked = [
        ootomo.last_bit_conclusion(experiment),
        ootomo.residual_product_conclusion(job.data["residual product"]),
    ]
    _conclude(job, [*asked, *splits, *(one for one in swept if one["published"])])
    job.plots["splits"] = ootomo.plot_splits


def _swept(folder: Path | None) -> list[dict[str, Any]]:
    """The records that ``accuracy sweep --output`` left in the folder, where it has run."""
    if folder is None:
        click.echo("the conclusions about a sweep need --output FOLDER, with sweep.json in it", err=True)
        return []
    path = folder / "sweep.json"
    if not path.exists():
        click.echo(f"{path} is missing; make it with tcsmt accuracy sweep --output {path}", err=True)
        return []
    records: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["records"]
    return records


def _bits(found: dict[str, Any]) -> str:
    return f"{'-' if found['bits'] is None else found['bits']} {found['mode']}"


def _conclude(job: _Job, conclusions: Iterable[dict[str, Any]]) -> None:
    """The published conclusions beside ours."""
    click.echo("\npublished, and ours")
    found = job.keep("conclusions", list(conclusions))
    for one in found:
        mark = {True: "as published", False: "differs", None: "undecided"}[one["agrees"]]
        click.echo(f"[{mark}] {one['section']}: {one['published']}\n    ours: {one['ours']}")
    click.echo(f"{sum(one['agrees'] is True for one in found)} of {len(found)} as published")


_PAPERS: dict[str, Callable[[_Job], None]] = {
    "valpey": _valpey,
    "fasi": _fasi,
    "mma-sim": _mma_sim,
    "khattak": _khattak,
    "ootomo": _ootomo,
}
