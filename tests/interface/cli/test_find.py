"""``tcsmt find``: what it prints and writes, and what is left where it is stopped."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers import run
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.support.errors import Exit
from tests.support.command_line import done, process, refused
from tests.support.paths import ROOT

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_find_text() -> None:
    text = done("find", "--property", "carry-bits", "--arch", "volta")
    assert "carry-bits: How many carry bits the accumulator needs" in text
    assert "unit: volta/mma.m8n8k4.f32.f16.f16.f32, evidence: measured (v100_f16_f32)" in text
    assert re.search(r"EQUIVALENT, proved by bitwuzla \S+ alone, \d+\.\d+ s: sum$", text, re.MULTILINE)
    assert re.search(r"DISTINGUISHED by evaluator \S+, \d+\.\d+ s, replayed", text)
    assert re.search(r"^ +a0 = 0x[0-9a-f]{4}  ", text, re.MULTILINE)
    assert "they first differ at 'sum': " in text
    assert "answer: 3 carry bits are enough and 2 are not" in text
    assert "claimed: Fasi et al. 2020, 3.1.4: " in text


def test_find_json() -> None:
    report = json.loads(done("find", "--property", "carry-bits", "--arch", "v100", "--confirm", "--json"))
    assert list(report) == [
        "tcsmt", "property", "title", "architecture", "instruction", "evidence", "measured", "conclusion",
        "findings", "claims",
    ]  # fmt: skip
    assert set(report["claims"][0]) == {"source", "section", "statement"}
    proof, witness = report["findings"]
    common = {"question", "domain", "verdict", "solver", "version", "seconds"}
    assert set(proof) == common | {"stage", "scripts", "confirmed"}
    assert set(witness) == common | {"inputs", "results", "first_difference", "cause", "supported"}
    assert (proof["verdict"], witness["verdict"]) == ("equivalent", "distinguished")
    assert re.fullmatch(r"[0-9a-f]{64}", proof["scripts"][0])
    assert proof["confirmed"].startswith("z3 ")
    assert set(witness["inputs"]) == set(row_named(VOLTA).model.input_names)
    assert set(witness["inputs"]["a0"]) == {"word", "value", "decimal", "format"}
    assert [r["side"] for r in witness["results"]] == ["2 carry bits", "3 carry bits"]
    assert witness["supported"] == ["3 carry bits"]
    # the words are a witness: the catalogue's model gives what the report says
    words = {n: int(v["word"], 16) for n, v in witness["inputs"].items()}
    known = evaluate([row_named(VOLTA).model.trace.output], words)[0]
    assert int(witness["results"][1]["word"], 16) == known


@pytest.mark.slow
def test_find_unknown(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    common = ("find", "--property", "carry-bits", "--arch", "hopper", "--timeout", 0.001)
    text = done(*common, "--output", path, code=3)
    assert "UNKNOWN: bitwuzla: timeout" in text
    finding = json.loads(path.read_text())["findings"][0]
    assert set(finding) == {"question", "domain", "verdict", "reason", "seconds"}
    assert finding["verdict"] == "unknown"


def test_find_output_and_scripts(tmp_path: Path) -> None:
    report, script = tmp_path / "report.json", tmp_path / "query.smt2"
    common = ("find", "--property", "monotonicity", "--arch", "volta")
    printed = done(*common, "--json", "--output", report, "--dump-smt", script)
    assert json.loads(report.read_text()) == json.loads(printed)
    assert solve(script.read_text(), SolvingOptions("cvc5")).answer == "sat"
    # nothing half-written is left behind
    assert {p.suffix for p in tmp_path.iterdir()} == {".json", ".smt2"}


def test_evidence_against_a_proof_has_its_own_exit_code(tmp_path: Path) -> None:
    """It says both, and is nothing that the user did."""
    (tmp_path / "own.py").write_text(
        '''"""Contradicts itself."""
from tcsmt.support.errors import Contradiction


def investigate(ask):
    raise Contradiction("the error is at most 2", "an error of 3 at a0 = 1")
'''
    )
    found = process("find", "--property", "own", "--arch", "volta", "--folder", tmp_path)
    assert found.returncode == 4 == Exit.CONTRADICTION
    assert found.stdout == ""
    assert found.stderr == (
        "Error: internal error: evidence contradicts a proof; proved: the error is at most 2; "
        "found: an error of 3 at a0 = 1\n"
    )


OWN = '''"""Asks once, then stops."""
import time
from dataclasses import replace


def investigate(ask):
    unit = ask.unit
    ask.differ("once", ("A", unit), ("B", unit.replace(fraction_bits=24)))
    LAST
'''


def test_finished_findings_are_on_disk(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("LAST", "return 1 / 0"))
    report = tmp_path / "report.json"
    common = ("find", "--property", "own", "--arch", "volta", "--folder", tmp_path)
    assert "own.py: line 9: ZeroDivisionError" in refused(*common, "--output", report)
    data = json.loads(report.read_text())
    assert (len(data["findings"]), data["conclusion"]) == (1, "")


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("LAST", "time.sleep(60)"))
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "tcsmt", "find", "--property", "own", "--arch", "volta"]
    command += ["--folder", str(tmp_path), "--output", str(report)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as child:
        for _ in range(200):
            if report.exists() and json.loads(report.read_text())["findings"]:
                break
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=300)
    assert child.returncode == 130
    assert errors == f"tcsmt: interrupted; kept: {report} (1 finding)\n"
    assert len(json.loads(report.read_text())["findings"]) == 1


@pytest.mark.slow
def test_two_runs_give_the_same_report() -> None:
    common = ("find", "--property", "product-normalization", "--arch", "ampere", "--json")
    one, two = (json.loads(done(*common)) for _ in range(2))
    for report in (one, two):
        for finding in report["findings"]:
            del finding["seconds"]
    assert one == two


def test_unwritable_outputs_are_refused_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a solver is started."""

    def never(*arguments: object) -> None:
        raise AssertionError("a solver is started")

    monkeypatch.setattr(run, "_start", never)
    find = ("find", "--property", "zero-exponent", "--arch", "hopper", "--output")
    assert "No such file" in refused(*find, tmp_path / "no" / "x")
    assert "a solver is started" in refused(*find, tmp_path / "x")  # where the file can be written
