"""A certificate on disk states what the command asked: the goal is built again by another process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import tcsmt
from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Certified
from tests.support.certificates import two_products
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")

#: Prints the digest of each statement's goal, by the file's name; nothing is left of who wrote it.
READ = """
import json, sys
from pathlib import Path
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.language.graphs.digest import digest_of_graph
paths = statement_files(Path(sys.argv[1]))
print(json.dumps({path.name: digest_of_graph(opened(path, record_of(path))[0].goal) for path in paths}))
"""


def stated(folder: Path) -> dict[str, str]:
    """The digest of the goal of each statement, by its file."""
    command = [sys.executable, "-c", READ, str(folder)]
    found: dict[str, str] = json.loads(subprocess.check_output(command, cwd=ROOT, text=True))
    return found


def asked(proofs: Iterable[tuple[Question, Certified | None]]) -> dict[str, str]:
    """The same of the questions that were asked, by the file that each one's certificate is said to be."""
    return {
        certified.path.name: digest_of_graph(question.goal)
        for question, certified in proofs
        if certified is not None and certified.path is not None
    }


#: Where a property does not apply to any unit of Volta.
ELSEWHERE = {"interleaving": "ampere", "tf32-truncation": "ampere"}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long(sorted(tcsmt.properties()), {"carry-bits"}))
def test_find(name: str, tmp_path: Path) -> None:
    report = tcsmt.find(
        name, ELSEWHERE.get(name, "volta"), options=tcsmt.SolvingOptions(certificate=tmp_path)
    )
    posed = asked((finding.question, finding.certified) for finding in report.findings)
    if not posed:
        pytest.skip("nothing was proved, or no proof has a certificate")
    assert stated(tmp_path) == posed


@pytest.mark.long
def test_compare(tmp_path: Path) -> None:
    """On all words, and on a domain; of units that are not the same graph."""
    one, two = (two_products(carry_bits=bits) for bits in (2, 3))
    comparisons = [
        tcsmt.compare(one, two, domain, options=tcsmt.SolvingOptions(certificate=tmp_path))
        for domain in (None, Domain(c_zero=True))
    ]
    assert all(one.equal for one in comparisons)
    posed = asked((one.decision.question, one.decision.certified) for one in comparisons)
    assert len(set(posed.values())) == 2
    assert stated(tmp_path) == posed
