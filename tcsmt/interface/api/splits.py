"""The information that a split of a binary32 number into narrower words keeps: ``tcsmt.accuracy.split``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.analysis.bounds.split_analysis import (
    counted,
    enumerated,
    name_of,
    proved,
    record,
    splits,
    statement,
    traced,
)
from tcsmt.analysis.certified import certify_split
from tcsmt.interface.api.renamed import renamed
from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import (
    Certified,
    certificate_json,
    certificate_lines,
    engine_digest,
    record_text,
    sure,
)
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.files import make_folder
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, ignore, no_progress
from tcsmt.support.results import Result
from tcsmt.support.version import __version__


@dataclass(frozen=True, repr=False)
class SplitAnalysis(Result):
    """The analysis of one split: see ``record`` and ``holds``, or print it.

    record: the figures by the closed form, by ranges of exponents (``ranges``) and for each exponent of x
    (``exponents``); ``proof`` and ``all_inputs``, where they were asked for. Errors are in units in the last
    place (ulp) of x.
    """

    record: Mapping[str, Any]
    certified: Certified | None = None

    @property
    def name(self) -> str:
        """Return the split, as ``2 x f16 RNE, residual · 2^11``."""
        return str(self.record["split"])

    @property
    def holds(self) -> bool | None:
        """Return whether the closed form is right for all inputs; None: that was not asked, or is not
        known.
        """
        verdicts = [answer["verdict"] for answer in self.record.get("proof", ())]
        tried = self.record.get("all_inputs")
        if "distinguished" in verdicts or (tried is not None and tried["differ"]):
            return False
        return None if "unknown" in verdicts or not (verdicts or tried) else True

    @property
    def reason(self) -> str:
        """Why ``holds`` is None; empty where it is not."""
        if self.holds is not None:
            return ""
        unknown = [answer["reason"] for answer in self.record.get("proof", ()) if "reason" in answer]
        return "; ".join(dict.fromkeys(unknown)) or "neither a proof nor all inputs were asked for"

    def as_json(self) -> dict[str, Any]:
        """Return plain data: one of the ``splits`` that ``tcsmt accuracy split --json`` prints."""
        return {**self.record, **certificate_json(self.certified)}

    def _lines(self) -> Iterator[str]:
        yield self.name
        yield from _table(self.record["ranges"])
        yield from _answers(self.record)
        yield from (f"  {line}" for line in certificate_lines(self.certified))

    @property
    def _title(self) -> str:
        return f"of {self.name}: {f'not known ({self.reason})' if self.holds is None else self.holds}"

    @property
    def exit_code(self) -> Exit:
        """0: all inputs agree with the closed form, or nothing was asked; 1: one does not; 3: unknown."""
        return Exit.ANSWERED if self.holds is None and "proof" not in self.record else Exit.of(self.holds)


@renamed(try_all="enumerate", told="on_text")
@ieee_floats
def split(
    formats: str | Iterable[str] = (),
    *,
    prove: bool = False,
    enumerate: bool = False,  # noqa: A002
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(),
    on_text: Callable[[str], None] = ignore,
    say: Callable[[str], None] = ignore,
    progress: ProgressCallback = no_progress,
) -> list[SplitAnalysis]:
    """Return what each split of a binary32 number into narrower words keeps, and where its residual
    underflows.

    >>> import tcsmt
    >>> first, *others = tcsmt.accuracy.split("bf16")
    >>> first.name, first.record["ranges"][-1]["kept_bits"]
    ('2 x bf16 RNE', 18.8125)

    Args:
        formats: Format of the words: f16, tf32, bf16. [default: all]
        prove: Have a solver prove it for all inputs.
        enumerate: Try all 2^32 inputs on two back ends (three minutes each on one core).
        output: JSON file; a run continues where it stopped.
        options: Of solvers; a proof is not confirmed where they leave it open.
        on_text: Called with the text of each analysis as soon as it is known.
        say: Called with what is being done.
        progress: Of the inputs that are tried.

    Raises :class:`tcsmt.TcsmtError` for another format, and for a ``certificate`` without ``prove``.
    """
    if options.certificate is not None and not prove:
        raise TcsmtError("a certificate is of a proof: it needs prove=True, or --prove")
    chosen, solving = splits([formats] if isinstance(formats, str) else formats), Solving(options)
    if output is not None:
        make_folder(Path(output).parent)
    results: list[SplitAnalysis] = []
    with Checkpoint(output, _LAYOUT, "--output") as file:
        for split in chosen:
            (data, before), name = _begun(split, file, options), name_of(split)
            _keep(file, data, before)
            if prove and "proof" not in data:
                say(f"{name}: proving")
                data["proof"], before["about"]["proof"] = proved(split, solving), _about(split)
                _keep(file, data, before)
            if enumerate and "by" not in data.get("all_inputs", {}):
                say(f"{name}: all inputs")
                data["all_inputs"] = _all_inputs(split, progress)
                before["about"]["all_inputs"] = _about(split)
                _keep(file, data, before)
            certified = None
            if solving.certificates is not None and all(
                proof["verdict"] == "equivalent" for proof in data["proof"]
            ):
                say(f"{name}: writing the certificate")
                certified = certify_split(solving.certificates, split)
            results.append(SplitAnalysis(data, certified))
            on_text(str(results[-1]))
    return results


_LAYOUT = Layout(
    "splits", key=lambda record: str(record["split"]), head=lambda records: {"tcsmt": __version__}
)
#: What took time, and is taken from an earlier run.
_FOUND = ("proof", "all_inputs")


def _begun(split: Split, file: Checkpoint, options: SolvingOptions) -> tuple[Record, Record]:
    """Return what the closed form says, with what counts of an earlier run; and what the file has of the
    split.
    """
    name = name_of(split)
    before: Record = {k: v for k, v in file.records.get(name, {}).items() if k in (*_FOUND, "about")}
    labels, about = before.setdefault("about", {}), _about(split)
    counting = {
        k: v
        for k, v in before.items()
        if k in _FOUND and labels.get(k) == about and _answered(k, v) and options.takes(sure=_sure(k, v))
    }
    data: Record = {**record(split), "models": {name: asked_of(split)}, **counting}
    return data | ({"earlier": list(counting)} if counting else {}), before


def _keep(file: Checkpoint, data: Record, before: Record) -> None:
    # what does not count in this run stays in the file until it is found again
    file.keep(data["split"], {k: v for k, v in (before | data).items() if k != "earlier"})


def _about(split: Split) -> Record:
    return {"asked": asked_of(split), "code": engine_digest("analysis", "programs", "simulate")}


def asked_of(split: Split) -> str:
    """A digest of what is proved of a split, and of what is counted for every input."""
    t = traced(split)
    return digest_of_graph(statement(split), t.error, t.kind)


def _answered(what: str, answers: Any) -> bool:
    """Return whether it is an answer; what stayed unknown is asked again."""
    return what != "proof" or all(answer["verdict"] != "unknown" for answer in answers)


def _sure(what: str, answers: Any) -> bool:
    """Return whether no solver stands alone for what was found."""
    return what != "proof" or all(sure(answer) for answer in answers if answer["verdict"] == "equivalent")


def _all_inputs(split: Split, progress: ProgressCallback) -> Record:
    started = time.perf_counter()
    enumeration = enumerated(split, lambda done: progress(done, 512, name_of(split)))
    tallies = enumeration.tallies
    closed = {field: counted(split, field) for field in range(256)}
    special = [tally for field, tally in enumerate(tallies) if closed[field] is None]
    return {
        "by": enumeration.how,
        "inputs": sum(tally.inputs for tally in tallies),
        "wrong": sum(tally.kinds[-1] for tally in tallies),
        "binades_by_closed_form": sum(tally is not None for tally in closed.values()),
        "differ": [f for f, tally in closed.items() if tally is not None and tally != tallies[f]],
        "inputs_beyond_that_fit": sum(tally.split for tally in special),
        "exact_of_them": sum(tally.lengths[0] for tally in special),
        "exact_in_all": sum(tally.lengths[0] for tally in tallies),
        "seconds": round(time.perf_counter() - started, 1),
    }


def _table(ranges: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield "  exponents of x   error, ulp <=    exact   kept bits   underflow   or gradual"
    for row in ranges:
        low, high = row["exponents"]
        span = f"{low}" if low == high else f"{low} to {high}"
        error = row["largest_error_ulp"]
        yield (
            f"  {span:<14}{error:>14}{row['exact']:>13.4%}{row['kept_bits']:>10.4f}"
            f"{row['underflow']:>13.4%}{row['underflow_or_gradual']:>12.4%}"
        )


def _answers(data: Mapping[str, Any]) -> Iterator[str]:
    marks = dict.fromkeys(data.get("earlier", ()), " (kept from an earlier run)")
    for answer in data.get("proof", ()):
        where = answer["exponent_field"]
        where = "all 2^32 inputs" if where.startswith("x") else f"exponent field {where}"
        text = record_text(answer, f"NOT SO, x = {answer.get('x')},")
        yield f"  {where}: {text}, {answer['seconds']:.2f} s{marks.get('proof', '')}"
    if "all_inputs" in data:
        counts = data["all_inputs"]
        mark = f"DIFFERS at exponent fields {counts['differ']}" if counts["differ"] else "as the closed form"
        yield (
            f"  {counts['inputs']} inputs tried: {mark}; {counts['exact_in_all']} are split exactly"
            f"{marks.get('all_inputs', '')}"
        )
        yield f"  (by {counts.get('by', 'one back end')})"
