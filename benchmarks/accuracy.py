"""Is Ootomo-Yokota ever less accurate than Markidis? Ours beside the published encoding, in one run.

    python benchmarks/accuracy.py [--limit 300] [--k 1 2 4] [--output results/benchmarks/accuracy.json]

Both ask for an input at which the first algorithm's error is larger, on Volta as Valpey et al.
have it (``@valpey`` in the catalogue), over the same inputs. ``compare`` is what ``tcsmt accuracy
compare`` does: simulator, solver, replay, a short witness. The other lines are one script and one
solver each. The published encoding (:mod:`published`) measures errors against binary64, so that
its witness counts only where exact fractions agree. Goes on where it stopped; a machine that is
busy with other work gives longer times.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from machine import machine
from published import Published

import tcsmt
from tcsmt.analysis.search.compare import AlgorithmPair, compare, judge
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.support.files import replace_text

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32@valpey"
NAMES = ("ootomo-halfhalf", "markidis")
#: Type 1 with c, as in the paper's Table 5; the range of the authors' second experiment, c = 0.
DOMAINS = (Domain(exponents=(-15, 14)), Domain(exponents=(-35, -15), c_zero=True))


def pairs(lengths: list[int]) -> Iterator[AlgorithmPair]:
    """Every question: the paper's own first."""
    for domain in DOMAINS:
        for names in (NAMES, NAMES[::-1]):
            for k in sorted(lengths, reverse=True):
                one, two = (algorithm_named(name, UNIT, k)[0] for name in names)
                yield AlgorithmPair(names, (one, two), domain)


def ours(pair: AlgorithmPair, limit: float) -> dict[str, Any]:
    """The whole of ``compare``."""
    verdict = compare(pair, Solving(SolvingOptions("auto", limit))).verdict
    return {"answer": type(verdict).__name__.lower(), "seconds": round(verdict.seconds, 3)} | (
        {"by": f"{verdict.solver} {verdict.version}".strip()} if isinstance(verdict, Distinguished) else {}
    )


def asked(pair: AlgorithmPair, text: str, solver: str, limit: float) -> dict[str, Any]:
    """One script, one solver; a witness judged in exact fractions."""
    answer = solve(text, SolvingOptions(solver, limit))
    found: dict[str, Any] = {"answer": answer.answer, "seconds": round(answer.seconds, 3)}
    if answer.answer == "unknown":
        return found | {"reason": answer.reason}
    found["version"] = answer.version
    if answer.answer == "sat":
        values = {name: answer.values.get(name, 0) for name in pair.algorithms[0].input_formats}
        (judgement,) = judge(pair, [values])
        found |= {"worse": judgement.worse, "inputs": {n: f"0x{w:08x}" for n, w in values.items()}}
    return found


def entries(lengths: list[int], limit: float) -> Iterator[tuple[str, Any]]:
    """What is measured: a key for each line, and what measures it."""
    questions = {
        f"{pair.names[0]} worse than {pair.names[1]}, K = {pair.k}, {pair.domain}": pair
        for pair in pairs(lengths)
    }
    for question, pair in questions.items():
        yield f"{question}: compare", lambda pair=pair: ours(pair, limit)
    for domain in DOMAINS:
        asked_here = {q: pair for q, pair in questions.items() if pair.domain == domain}
        for encoding, write in (("published", published), ("ours", direct)):
            for question, pair in asked_here.items():
                for solver in SOLVERS:
                    yield (
                        f"{question}: {encoding}, {solver}",
                        lambda p=pair, w=write, s=solver: asked(p, w(p), s, limit),
                    )


def published(pair: AlgorithmPair) -> str:
    return Published(pair).script()


def direct(pair: AlgorithmPair) -> str:
    return script(pair.question.goal)


def table(known: Mapping[str, Any]) -> str:
    """Seconds, and how many times longer than ``compare``."""
    questions = list(dict.fromkeys(key.rpartition(": ")[0] for key in known))
    lines = []
    for question in questions:
        base = known[f"{question}: compare"]
        lines += [
            question,
            f"  {'compare':<22}{base['answer']:<16}{base['seconds']:>9.2f} s  {base.get('by', '')}",
        ]
        for encoding in ("published", "ours"):
            for solver in SOLVERS:
                one = known.get(f"{question}: {encoding}, {solver}")
                if one is None:
                    continue
                replayed = {True: "replayed", False: "NOT worse in exact fractions"}.get(one.get("worse"), "")
                least = ">" if one["answer"] == "unknown" else " "
                lines.append(
                    f"  {encoding + ', ' + solver:<22}{one['answer']:<16}{least}{one['seconds']:>8.2f} s"
                    f"  {least}{one['seconds'] / base['seconds']:.3g} times  {one.get('reason', replayed)}"
                )
    return "\n".join(lines)


def solvers() -> dict[str, str]:
    packages = {"bitwuzla": "bitwuzla", "z3": "z3-solver", "cvc5": "cvc5"}
    return {name: version(packages[name]) for name in SOLVERS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each query")
    parser.add_argument("--k", type=int, nargs="+", default=[1, 2, 4], help="products")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "benchmarks" / "accuracy.json")
    chosen = parser.parse_args()
    output = chosen.output
    data = json.loads(output.read_text()) if output.exists() else {}
    data |= {
        "machine": machine(),
        "tcsmt": tcsmt.__version__,
        "solvers": solvers(),
        "unit": UNIT,
        "limit": chosen.limit,
    }
    known = data.setdefault("queries", {})

    def save() -> None:
        data["models"] = models_named([UNIT, known])
        replace_text(output, json.dumps(data, indent=1, ensure_ascii=False) + "\n")

    for key, measure in entries(chosen.k, chosen.limit):
        if key not in known:
            known[key] = measure()
            print(f"{key}: {known[key]['answer']} {known[key]['seconds']} s", file=sys.stderr, flush=True)
            save()
    save()
    print(table(known))


if __name__ == "__main__":
    main()
