"""The script that tries certificates: a proof gets one that is checked, or the reason why it has none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import certify_accuracy
import pytest
from certify_accuracy import certified, proofs, tried

from tcsmt.analysis.sweeps.findings import Effort, entries
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.checkpoint import Record
from tcsmt.support.jobs.processes import Task
from tests.support.results import result

pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")

KNOWN = result("accuracy/findings")


@cache
def entry(start: str) -> tuple[Task, Record]:
    """The first of the list whose name starts so."""
    tasks = entries(Effort(SolvingOptions(), 0.0))
    task = next(task for task in tasks if task.key.startswith(start))
    return task, KNOWN[task.key]


@pytest.mark.long
def test_every_proof_is_tried_once() -> None:
    keys = [task.key for task, _ in proofs(KNOWN)]
    assert sorted(keys) == sorted(key for key, one in KNOWN.items() if one.get("verdict") == "equivalent")


@pytest.mark.long
def test_bounds_without_lemmas_are_certified(tmp_path: Path) -> None:
    found = tried(*entry("bound of fp32-fma: hopper, K = 4"), Certificates(tmp_path), LemmaFiles(tmp_path))
    assert (found["kind"], found["certified"], found["lemmas"]) == ("bounded", True, 0)
    assert found["models"].keys() == {"fp32-fma"}


@pytest.mark.long
def test_another_bound_than_that_of_the_file(tmp_path: Path) -> None:
    task, record = entry("bound of fp32-fma: hopper, K = 4")
    found = tried(
        task, record | {"proved": record["proved"] / 2}, Certificates(tmp_path), LemmaFiles(tmp_path)
    )
    assert not found["certified"]
    assert found["reason"] == f"lemmas prove {record['proved']:.6g}, and not {record['proved'] / 2:.6g}"


@pytest.mark.long
@pytest.mark.parametrize("start", ["bound of single-f16", "sign single-f16", "markidis worse than"])
def test_no_time(start: str, tmp_path: Path) -> None:
    certificates = Certificates(tmp_path, SolvingOptions(timeout=0.01))
    found = tried(*entry(start), certificates, LemmaFiles(tmp_path))
    assert not found["certified"]
    assert "CaDiCaL: timeout after 0.01 s" in found["reason"]
    assert not (tmp_path / "statements").exists()


@pytest.mark.slow
def test_a_certificate_that_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here one of another bound: that is a defect of ours, and no answer."""
    task, record = entry("bound of fp32-fma: hopper, K = 4")

    def changed(task: Task, record: Record, certificates: Certificates) -> Certified:
        made = certified(task, record, certificates)
        assert made.path is not None
        made.path.write_text(made.path.read_text().replace('"k": 4', '"k": 16'))
        return made

    monkeypatch.setattr(certify_accuracy, "certified", changed)
    with pytest.raises(AssertionError, match="is refused: limit: the lemmas prove"):
        tried(task, record, Certificates(tmp_path), LemmaFiles(tmp_path))
