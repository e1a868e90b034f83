"""The certificates in ``results/certificates``, made again: ``python results/make/certificates.py [FOLDER]``.

Headline results, chosen so that they are some megabytes and are checked in a minute: see ``CHOSEN`` and
``ALGORITHMS``. ``tcsmt certificate check FOLDER`` checks them. ``index.json`` says which models each file is
about, by their digests, so that the tests name what is stale.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unit_theorems import Entry, entries

import tcsmt
from tcsmt import accuracy
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Certified

#: Parts of the list of theorems, each with what the titles of its entries have to contain.
CHOSEN = {
    "order": "",
    "same units": "",
    "mma and wgmma": "",
    "zero exponents": "",
    "papers": "",
    "FP8 on the FP16 unit": "e5m2",
    "carry bits": " carry bits against ",
}
#: Properties of units, proofs in Table 4 of Valpey et al. among them.
PROPERTIES = (("extra-alignment-bits", "volta"), ("carry-bits", "volta"))
#: An accuracy bound, and two algorithms of which one is never less accurate.
BOUND = ("single-bf16", "hopper", 1, tcsmt.Domain(exponents=(0, 0)))
NEVER_WORSE = (
    "ootomo-halfhalf", "markidis", "volta", 1, tcsmt.Domain(exponents=(-2, 2), bits=(11, 11), c_zero=True),
)  # fmt: skip


def chosen() -> Iterator[Entry]:
    """The entries of the list of theorems that are to be proved equal.

    Of the many ``tcgen05`` units, whose fused sums are alike, those of one pair of formats.
    """
    for entry in entries():
        alike = "tcgen05" in entry.title and ".e4m3.e4m3:" not in entry.title
        if entry.equal and CHOSEN.get(entry.part, "\0") in entry.title and not alike:
            yield entry


def made(folder: Path) -> Iterator[tuple[Certified, Mapping[str, str]]]:
    """Each certificate as it is written, with the digests of its models by their names."""
    solving = Solving(SolvingOptions(timeout=60.0, certificate=folder))
    lemmas = Lemmas(solving)
    for entry in chosen():
        found = entry.ask(solving, lemmas)
        if found.certified is not None:
            yield found.certified, entry.models()
    for name, arch in PROPERTIES:
        report = tcsmt.find(name, arch, options=tcsmt.SolvingOptions(certificate=folder))
        for finding in report.findings:
            if finding.certified is not None:
                yield finding.certified, {report.row.name: report.row.model.digest}
    name, arch, k, domain = BOUND
    bound = accuracy.bound(
        name, arch, k=k, domain=domain, search=2.0, options=tcsmt.SolvingOptions(certificate=folder)
    )
    one, two, unit, k, domain = NEVER_WORSE
    compared = accuracy.compare(
        one, two, unit, k=k, domain=domain, options=tcsmt.SolvingOptions(certificate=folder)
    )
    for certified, rows in ((bound.certified, [bound.row]), (compared.certified, compared.rows)):
        if certified is not None:
            yield certified, {row.name: row.model.digest for row in rows}


def main() -> None:
    """Write the certificates and the index."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results/certificates"))
    folder: Path = parser.parse_args().folder
    if folder.exists():
        if not (folder / "index.json").is_file():  # what is not this program's is not deleted
            parser.error(f"{folder}: must be a new folder, or one that this program has written")
        shutil.rmtree(folder)
    records: list[dict[str, Any]] = []
    for certified, models in made(folder):
        print(certified, flush=True)
        if certified.path is not None:
            records.append({"file": certified.path.name, "title": certified.title, "models": models})
    (folder / "index.json").write_text(
        json.dumps({"tcsmt": tcsmt.__version__, "certificates": records}, indent=1)
    )


if __name__ == "__main__":
    main()
