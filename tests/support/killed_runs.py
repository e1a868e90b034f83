"""Runs that are killed at each of their writes, and what a run of the same thing gives after them.

``python -m tests.support.killed_runs NAME`` prints a job's outcome. It forks for each run, so that all begin
in the same state, and a killed one leaves nothing but files.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tcsmt
from tcsmt.interface.api.stored_products import stored_product

#: What a process that was killed ends with.
_KILLED = 77
#: Of a run's writes, and of the other one's, so many are tried: the first, the last, and some in between.
_TRIED, _OTHERS_TRIED = 4, 9
#: What says how a result was come by, and not what it is.
_HOW = {"seconds", "wall_seconds", "earlier", "date", "resumed_at_column", "machine", "output", "by"}
#: Events of Python's audit that change files.
_CHANGES = ("os.rename", "os.remove", "os.truncate")


@dataclass(frozen=True)
class ResumableJob:
    """A run that goes on from a file, and another one that uses the same file for other inputs.

    run: called with a folder and whether it is the other one; gives plain data. module: which keeps the file.
    solves: whether it starts solvers, which no two processes may share. long: whether it takes minutes.
    """

    module: str
    run: Callable[[Path, bool], Any]
    solves: bool = False
    long: bool = False


def _product(folder: Path, other: bool) -> Any:
    rng = np.random.default_rng(other)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((4, 16), (16, 12)))
    made = stored_product(folder / "d.npy", a, b, unit="h100", columns=4)
    return [made.as_json(), np.load(folder / "d.npy").tolist()]


def _same_product_other_epilogue(folder: Path, other: bool) -> Any:
    a, b = np.ones((2, 16), np.float16), np.ones((16, 8), np.float16)
    epilogue = tcsmt.epilogue("alpha=2" if other else "")
    stored_product(folder / "d.npy", a, b, unit="h100", columns=2, epilogue=epilogue)
    return np.load(folder / "d.npy").tolist()


_TINY = """name = "tiny"
source = "a file"
kind = "fused-dot-add"
a_format = "e2m1"
b_format = "e2m1"
c_format = "f16"
d_format = "f16"
k = 1
n_fma = 1
fraction_bits = {}
zero_exponent = "none"
rounding = "RTZ"
"""


def _tiny(folder: Path, other: bool) -> tcsmt.Unit:
    """The model of one file, whose content has changed."""
    file = folder.with_suffix(".toml")
    file.write_text(_TINY.format(3 if other else 6))
    return tcsmt.read_model(file)


def _check(folder: Path, other: bool) -> Any:
    asked = _tiny(folder, other)
    found = tcsmt.check(_tiny(folder, False), asked, rows=9000, resume=folder / "answers")
    return [found.agrees, found.rows, found.mismatches]


def _identification(folder: Path, other: bool) -> Any:
    unit = "x86/vpdpbusds" if other else "x86/vpdpbusd"
    return tcsmt.identify(unit, budget=8, transcript=folder / "asked.jsonl").as_json()


def _enumeration(folder: Path, other: bool) -> Any:
    options = tcsmt.SolvingOptions(confirm=False)
    units = _tiny(folder, False), _tiny(folder, other)
    return tcsmt.compare(*units, exhaustive=True, checkpoint=folder / "run.json", options=options).as_json()


def _reduced(folder: Path, other: bool) -> Any:
    options = tcsmt.SolvingOptions(jobs=0)
    units = "ampere" if other else "volta"
    return tcsmt.accuracy.reduced(
        "one-by-one",
        units,
        widths=2,
        inputs=8 if other else 14,
        seconds=1e9,
        output=folder / "r.json",
        options=options,
    ).as_json()


def _split(folder: Path, other: bool) -> Any:
    found = tcsmt.accuracy.split("tf32" if other else ["bf16", "f16"], output=folder / "s.json")
    return [each.as_json() for each in found]


def _slices(folder: Path, other: bool) -> Any:
    return tcsmt.accuracy.slices(
        "x86/vpdpbusds" if other else "x86/vpdpbusd", output=folder / "s.json"
    ).as_json()


def _variants(folder: Path, other: bool) -> Any:
    return tcsmt.accuracy.variants(1000, output=folder / "v.json").as_json()


def _sweep(folder: Path, other: bool) -> Any:
    recipes, lengths = ("markidis", [16, 32]) if other else (["single-f16", "markidis"], [16, 48])
    found = tcsmt.accuracy.sweep(
        recipes, "volta", distributions="positive", k=lengths, size=4, seeds=1,
        output=folder / "s.json",
    )  # fmt: skip
    wanted = {(name, k) for name in ("single-f16", "markidis") for k in (16, 48)}
    chosen = [record for record in found.records if (record["algorithm"], record["k"]) in wanted]
    return sorted(chosen, key=lambda record: (record["algorithm"], record["k"]))


def _findings(folder: Path, other: bool) -> Any:
    only = "Table 5" if other else "rounding inside: volta"
    options = tcsmt.SolvingOptions(jobs=0)
    return tcsmt.accuracy.findings(folder / "f.json", only=only, options=options).as_json()


def _reproduction(folder: Path, other: bool) -> Any:
    return tcsmt.reproduce("fasi", output=folder).as_json()


def _atlas(folder: Path, other: bool) -> Any:
    options = tcsmt.SolvingOptions(store=folder / "store.json", confirm=False, jobs=0)
    return tcsmt.atlas([_tiny(folder, other), "x86/vdpbf16ps"], options=options).as_json()


JOBS: Mapping[str, ResumableJob] = {
    "gemm, other inputs": ResumableJob("interface/api/stored_products", _product),
    "gemm, other epilogue": ResumableJob("interface/api/stored_products", _same_product_other_epilogue),
    "check": ResumableJob("interface/api/check", _check),
    "identify": ResumableJob("interface/api/identify", _identification, solves=True, long=True),
    "compare": ResumableJob("interface/api/compare", _enumeration),
    "accuracy reduced": ResumableJob("interface/api/reduced", _reduced, solves=True, long=True),
    "accuracy split": ResumableJob("interface/api/splits", _split, long=True),
    "accuracy slices": ResumableJob("interface/api/exact", _slices, solves=True, long=True),
    "accuracy variants": ResumableJob("interface/api/reproduce", _variants, long=True),
    "accuracy sweep": ResumableJob("interface/api/sweep", _sweep),
    "accuracy findings": ResumableJob("analysis/sweeps/findings", _findings, solves=True, long=True),
    "reproduce": ResumableJob("interface/api/reproduce", _reproduction),
    "atlas": ResumableJob("surveys/units/model_pairs", _atlas, solves=True),
}


def outcomes(job: ResumableJob) -> Iterator[str]:
    """What differs from an undisturbed run, in words, after each pair of killed runs.

    A run is killed at one of its writes; the other run, on what is left there, at one of its writes, or it
    ends; then the first one is run again. It gives what it gives alone, or a message that it cannot go on.
    """
    with tempfile.TemporaryDirectory() as base:
        if not job.solves:  # what is compiled and remembered here, no forked process computes again
            Path(base, "here").mkdir()
            job.run(Path(base, "here"), False)
        right, writes = _run(job, Path(base, "alone"), False)
        assert isinstance(right, dict) and "result" in right, right
        for first in _tried(writes, _TRIED):
            one = Path(base, f"first-{first}")
            _run(job, one, False, kill_at=first)
            _, others = _run(job, _copied(one, "counted"), True)
            for second in _tried(others + 1, _OTHERS_TRIED):
                two = _copied(one, f"second-{second}")
                _run(job, two, True, kill_at=second)
                found, _ = _run(job, two, False)
                if found != right and not (isinstance(found, dict) and "refused" in found):
                    yield f"killed at write {first}, the other one at {second}: {str(found)[:300]}"
                shutil.rmtree(two)


def _copied(folder: Path, name: str) -> Path:
    """The files of a folder in a new one of the same name elsewhere, as results name their files."""
    copy = folder.with_name(f"{folder.name}-{name}")
    shutil.copytree(folder, copy)
    return copy


def _tried(count: int, most: int) -> list[int]:
    return sorted({1 + round(n * (count - 1) / (most - 1)) for n in range(most)}) if count else []


def _run(job: ResumableJob, folder: Path, other: bool, kill_at: int = 0) -> tuple[Any, int]:
    """What a run gives in a process of its own, and how many writes it makes; killed before one."""
    folder.mkdir(exist_ok=True)
    answer = folder.with_suffix(".answer")
    answer.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        _as_child(job, folder, other, kill_at, answer)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == _KILLED:
        return None, kill_at
    assert code == 0, f"the run ended with {code}"
    found, writes = json.loads(answer.read_text())
    return found, writes


def _as_child(job: ResumableJob, folder: Path, other: bool, kill_at: int, answer: Path) -> None:
    code, writes = 1, 0
    inside = f"{folder}{os.sep}"

    def seen(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal writes
        writing = (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if (writing or event in _CHANGES) and str(arguments[0]).startswith(inside):
            writes += 1
            if writes == kill_at:
                os._exit(_KILLED)

    try:
        sys.addaudithook(seen)
        try:
            found = {"result": _bare(job.run(folder, other))}
        except tcsmt.TcsmtError as error:
            found = {"refused": str(error)}
        answer.write_text(json.dumps([found, writes]))
        code = 0
    finally:
        os._exit(code)


def _bare(data: Any) -> Any:
    """Plain data without what says how it was come by."""
    if isinstance(data, Mapping):
        return {str(name): _bare(value) for name, value in data.items() if name not in _HOW}
    return (
        [_bare(value) for value in data] if isinstance(data, list | tuple) else json.loads(json.dumps(data))
    )


if __name__ == "__main__":
    print(json.dumps([*outcomes(JOBS[sys.argv[1]])]))
