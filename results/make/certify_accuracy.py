"""Which proofs of ``tcsmt accuracy findings`` have a certificate: tried in turn, each one checked.

    python results/make/certify_accuracy.py FOLDER [--limit 60] [--only TEXT] [--output FILE]

FOLDER gets the certificates, and is used again by the next run. Each record says whether there is a
certificate, how many lemmas it needs, or why there is none; and how many seconds of one core it took to write
it (the SAT solver's and ours) and to check it, without the lemmas that FOLDER had before. The limit is for a
clock on the wall: a machine that is busy with other work needs a longer one. Goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from machine import machine

import tcsmt
from tcsmt.analysis.bounds.budget import budget
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain
from tcsmt.analysis.bounds.split_constants import guessed
from tcsmt.analysis.certified import (
    THEOREMS,
    certify_bound,
    certify_comparison,
    certify_flaw,
)
from tcsmt.analysis.search.bound import Bound, unit
from tcsmt.analysis.search.compare import AlgorithmPair
from tcsmt.analysis.search.result_flaws import FLAWS
from tcsmt.analysis.sweeps.findings import Effort, asked, bounded, entries, flawed
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.certificates.checker import check_statement
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.files import read_bytes
from tcsmt.support.jobs.processes import Task


def proofs(known: Mapping[str, Any]) -> Iterator[tuple[Task, Record]]:
    """The entries of the list that are proved, with their records: bounds first."""
    found = [(task, known[task.key]) for task in entries(Effort(SolvingOptions(), 0.0))]
    proved = [(task, record) for task, record in found if record.get("verdict") == "equivalent"]
    order = [bounded, flawed, asked]
    return iter(sorted(proved, key=lambda one: order.index(one[0].arguments[1])))


def certified(task: Task, record: Record, certificates: Certificates) -> Certified:
    """The certificate of an entry that is proved, or why there is none."""
    _, function, *given = task.arguments
    if function is bounded:
        return certified_bound(*given, record, certificates)
    if function is flawed:
        question, name, arch, k, domain = given
        algorithm, row = algorithm_named(name, arch, k)
        return certify_flaw(certificates, question, FLAWS[question](name, algorithm, domain), row)
    one, two, arch, k, domain = given
    (first, row), (second, other) = (algorithm_named(name, arch, k) for name in (one, two))
    return certify_comparison(certificates, AlgorithmPair((one, two), (first, second), domain), [row, other])


def certified_bound(
    name: str, arch: str, k: int, domain: Domain, record: Record, certificates: Certificates
) -> Certified:
    """The bound of the record, of which the file has six digits: it is computed again, by lemmas alone.

    The constants of splits are guessed: that they hold is among the lemmas, and not tried on all numbers.
    """
    algorithm, row = algorithm_named(name, arch, k)
    limit = Fraction(record["proved"])
    if record["shares"]:
        try:
            spent = budget(LemmaChain(certificates.lemma), algorithm, domain, guessed)
        except Unbounded as why:
            return certificates.failed(title_of(name, arch, k, domain), str(why))
        limit = spent.total / unit(algorithm.wide)
        if f"{float(limit):.6g}" != f"{record['proved']:.6g}":
            why = f"lemmas prove {float(limit):.6g}, and not {record['proved']:.6g}"
            return certificates.failed(title_of(name, arch, k, domain), why)
    shares = {share: Fraction(loss) for share, loss in record["shares"].items()}
    found = Bound(None, None, limit, None, None, shares, "", 0.0)
    return certify_bound(certificates, name, algorithm, row, domain, found, guessed)


def title_of(name: str, arch: str, k: int, domain: Domain) -> str:
    return f"bound of {name}: {arch}, K = {k}, {domain}"


def cpu_seconds() -> float:
    """What this process and those that it started have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def tried(task: Task, record: Record, certificates: Certificates, files: LemmaFiles) -> Record:
    """What became of one proof."""
    start = cpu_seconds()
    found = certified(task, record, certificates)
    written = cpu_seconds()
    flaw = "" if found.path is None else check_statement(found.path, files, THEOREMS).flaw
    if flaw:
        raise AssertionError(f"{task.key}: the certificate that was written is refused: {flaw}")
    about: Record = {"kind": task.arguments[1].__name__, "certified": found.path is not None}
    about |= {"reason": found.why} if found.path is None else {"lemmas": found.lemmas}
    about |= {"seconds": round(written - start, 1), "check_seconds": round(cpu_seconds() - written, 1)}
    return about | {"models": dict(task.models)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="for the certificates")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for the refutation of one lemma")
    parser.add_argument("--only", default="", help="only proofs whose keys contain this")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "accuracy" / "certified.json")
    chosen = parser.parse_args()

    def head(records: Mapping[str, Record]) -> Record:
        certified = sum(record["certified"] for record in records.values())
        return {
            "tcsmt": tcsmt.__version__, "machine": machine(), "limit": chosen.limit,
            "proofs": len(listed), "tried": len(records), "certified": certified,
        }  # fmt: skip

    known = json.loads(read_bytes(ROOT / "results" / "accuracy" / "findings.json.xz"))
    listed = list(proofs(known))
    certificates = Certificates(chosen.folder, SolvingOptions(timeout=chosen.limit))
    files = LemmaFiles(chosen.folder)
    with Checkpoint(chosen.output, Layout("entries", head=head), "--output") as kept:
        for task, record in listed:
            known_models = kept.records.get(task.key, {}).get("models")
            if chosen.only not in task.key or known_models == dict(task.models):
                continue
            found = tried(task, record, certificates, files)
            kept.keep(task.key, found)
            print(f"{task.key}: {found}", flush=True)
        kept.arrange(task.key for task, _ in listed if task.key in kept.records)


if __name__ == "__main__":
    main()
