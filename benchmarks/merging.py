"""The list of theorems by both ways of merging two graphs: stage by stage, and word by word.

    python benchmarks/merging.py [--every N] [--limit SECONDS] [--part NAME]

Asks every N-th entry of each part of the list (at least one) both ways, one after the other, each in a
process of its own that ends after so many seconds of wall time. Solvers answer alone, and nothing is kept
between runs. Prints for each entry the verdicts and the processor time, solvers included; then how many
verdicts are as expected, and the ratio of the times where both have one.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "results" / "make")]

from unit_theorems import Entry, entries

from tcsmt.prove.engine import engine
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.sat_sweeping import Sweeping
from tcsmt.prove.engine.solvers.run import spent
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.engine.stage_by_stage import StageByStage
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.support.errors import TcsmtError

WAYS = {"stages": StageByStage, "words": Sweeping}


def sample(every: int, part: str) -> list[int]:
    """The places of every N-th entry of each part, or of one."""
    parts: dict[str, list[int]] = {}
    for place, entry in enumerate(entries()):
        parts.setdefault(f"{entry.part}, {'equal' if entry.equal else 'different'}", []).append(place)
    return [place for name, places in parts.items() if name.startswith(part) for place in places[::every]]


def asked(place: int, way: str, limit: float, answers: mp.Queue[tuple[str, float]]) -> None:
    """In a process of its own: an entry's verdict, and the processor time."""
    entry = list(entries())[place]
    engine._merging = WAYS[way]
    before = spent()
    solving = Solving(SolvingOptions(timeout=limit))
    verdict = entry.ask(solving, Lemmas(solving)).verdict
    said = {Equivalent: "equal", Distinguished: "different"}.get(type(verdict), "unknown")
    answers.put((said, spent() - before))


def answer(place: int, way: str, limit: float) -> tuple[str, float]:
    """An entry's verdict and the processor time; ``unknown`` after so many seconds."""
    answers: mp.Queue[tuple[str, float]] = mp.Queue()
    child = mp.Process(target=asked, args=(place, way, limit, answers))
    child.start()
    child.join(limit)
    if child.is_alive():
        child.terminate()
        child.join()
    return answers.get() if not answers.empty() else ("unknown", limit)


def report(found: Sequence[tuple[Entry, dict[str, tuple[str, float]]]]) -> None:
    """How often each way has the expected verdict, and how the times compare."""
    expected = {True: "equal", False: "different"}
    for way in WAYS:
        right = sum(said[way][0] == expected[entry.equal] for entry, said in found)
        spent = sum(said[way][1] for _, said in found)
        print(f"{way}: {right} of {len(found)} verdicts, {spent:.0f} s of processor time")
    for equal, name in expected.items():
        both = [
            said["words"][1] / said["stages"][1]
            for entry, said in found
            if entry.equal == equal and {one for one, _ in said.values()} == {name}
        ]
        if both:
            each = f"median {statistics.median(both):.2g}, from {min(both):.2g} to {max(both):.2g}"
            print(f"{name}, both: {len(both)}; time by words over time by stages: {each}")


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--every", type=int, default=10)
    given.add_argument("--limit", type=float, default=30.0)
    given.add_argument("--part", default="")
    options = given.parse_args()
    if options.every < 1:
        raise TcsmtError(f"--every {options.every}: must be at least 1")
    known, found = list(entries()), []
    for place in sample(options.every, options.part):
        said = {way: answer(place, way, options.limit) for way in WAYS}
        found.append((known[place], said))
        times = "  ".join(f"{way} {one:9} {spent:6.2f} s" for way, (one, spent) in said.items())
        print(f"{times}  {known[place].part}: {known[place].title}", flush=True)
    report(found)


if __name__ == "__main__":
    main()
