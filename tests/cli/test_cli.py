"""The command line, as a user meets it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tcsmt.ask.scripts import scripts
from tcsmt.catalogue import row_named
from tcsmt.cli.verdict import EXIT
from tcsmt.interpret.exact import evaluate
from tcsmt.papers.valpey import printed_tables
from tcsmt.prove.solvers import run
from tcsmt.prove.solvers.run import Settings, solve
from tcsmt.support.errors import Exit, TcsmtError
from tests.support.command_line import done, process, refused
from tests.support.paths import ROOT

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


# --- find --------------------------------------------------------------------------------------


def test_find_text() -> None:
    text = done("find", "--property", "carry-bits", "--arch", "volta")
    assert "carry-bits: How many carry bits the accumulator needs" in text
    assert "unit: volta/mma.m8n8k4.f32.f16.f16.f32, evidence: measured (v100_f16_f32)" in text
    assert re.search(r"EQUIVALENT, proved by bitwuzla \S+ alone, \d+\.\d+ s: sum$", text, re.MULTILINE)
    assert re.search(r"DISTINGUISHED by bitwuzla \S+, \d+\.\d+ s, replayed", text)
    assert re.search(r"^ +a0 = 0x[0-9a-f]{4}  ", text, re.MULTILINE)
    assert "they first differ at 'sum': " in text
    assert "answer: 3 carry bits are enough and 2 are not" in text
    assert "claimed: Fasi et al. 2020, 3.1.4: " in text


def test_find_json() -> None:
    report = json.loads(done("find", "--property", "carry-bits", "--arch", "v100", "--confirm", "--json"))
    assert list(report) == [
        "property", "title", "architecture", "instruction", "evidence", "measured", "conclusion",
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
    common = ("find", "--property", "product-normalization", "--arch", "volta")
    printed = done(*common, "--json", "--output", report, "--dump-smt", script)
    assert json.loads(report.read_text()) == json.loads(printed)
    assert solve(script.read_text(), Settings("cvc5")).answer == "sat"
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
    found = process("find", "--property", "own", "--arch", "volta", "--properties", tmp_path)
    assert found.returncode == 4 == Exit.CONTRADICTION
    assert found.stdout == ""
    assert found.stderr == (
        "Error: internal error: evidence contradicts a proof; proved: the error is at most 2; "
        "found: an error of 3 at a0 = 1\n"
    )


def test_exit_codes_are_those_of_cmp() -> None:
    assert [*EXIT.values()] == [0, 1, 3]
    assert [code.value for code in Exit] == [0, 1, 2, 3, 4]
    assert TcsmtError("").exit_code == 2


OWN = '''"""Asks once, then stops."""
import time
from dataclasses import replace


def investigate(ask):
    unit = ask.unit
    ask.differ("once", ("A", unit), ("B", replace(unit, fraction_bits=24)))
    LAST
'''


def test_what_was_finished_is_on_disk(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("LAST", "return 1 / 0"))
    report = tmp_path / "report.json"
    common = ("find", "--property", "own", "--arch", "volta", "--properties", tmp_path)
    assert "own.py: line 9: ZeroDivisionError" in refused(*common, "--output", report)
    data = json.loads(report.read_text())
    assert (len(data["findings"]), data["conclusion"]) == (1, "")


def test_interrupted(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("LAST", "time.sleep(60)"))
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "tcsmt", "find", "--property", "own", "--arch", "volta"]
    command += ["--properties", str(tmp_path), "--output", str(report)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as child:
        for _ in range(200):
            if report.exists() and json.loads(report.read_text())["findings"]:
                break
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=20)
    assert child.returncode == 130
    assert errors == f"tcsmt: interrupted; kept: {report} (1 finding)\n"
    assert len(json.loads(report.read_text())["findings"]) == 1


def test_the_same_answer_twice() -> None:
    common = ("find", "--property", "product-normalization", "--arch", "ampere", "--json")
    one, two = (json.loads(done(*common)) for _ in range(2))
    for report in (one, two):
        for finding in report["findings"]:
            del finding["seconds"]
    assert one == two


# --- show --------------------------------------------------------------------------------------


def test_properties() -> None:
    lines = done("properties").splitlines()
    data = json.loads(done("properties", "--json"))
    assert [line.split()[0] for line in lines] == [p["name"] for p in data]
    assert "carry-bits" in {p["name"] for p in data}
    assert all(p["title"] and Path(p["file"]).is_file() for p in data)


def test_models() -> None:
    text = done("models")
    assert re.search(rf"^{VOLTA} +4 +4 +23 +-131  measured +accepted$", text, re.MULTILINE)
    assert re.search(rf"^{VOLTA}@valpey .* refuted$", text, re.MULTILINE)
    assert "@" not in done("models", "--no-claims")
    hopper = json.loads(done("models", "--arch", "sm_90a", "--json"))
    assert {row["architecture"] for row in hopper} == {"hopper"}
    assert set(hopper[0]) == {
        "architecture", "instruction", "source", "date", "evidence", "measured", "status", "note", "model",
    }  # fmt: skip


#: F, n_eab, product alignment, bits kept, carry bits, accumulator, its integer.fraction, Fasi et al.'s.
CONVENTIONS: dict[str, tuple[object, ...]] = {
    "volta": (23, 0, "(2,23), 25", 24, "3 = ceil(log2(4 + 1))", 28, "{5.23}", "{4.23}"),
    "ampere": (24, 1, "(2,24), 26", 25, "4 = ceil(log2(8 + 1))", 30, "{6.24}", "{5.24}"),
    "hopper": (25, 2, "(2,25), 27", 26, "5 = ceil(log2(16 + 1))", 32, "{7.25}", "{6.25}"),
}


@pytest.mark.parametrize("arch", CONVENTIONS)
def test_describe(arch: str) -> None:
    text = done("describe", arch)
    f, extra, product, kept, carry, wide, integer, fasi = CONVENTIONS[arch]
    for part in (
        f"alignment fraction bits F: {f} ",
        f"extra alignment bits n_eab = F - 23: {extra} ",
        f"product alignment (integer, fraction bits): {product} bits wide\n",
        f"significand in [1, 2): {kept} ",
        f"carry bits above the two integer bits: {carry}\n",
        f"accumulator: {wide} bits and a sign; as {{integer.fraction}}: {integer}\n",
        f"Fasi et al. count from normalised terms: {fasi}\n",
        "final rounding: RTZ at fraction bit 23 of f32\n",
        f"    fraction_bits = {f}\n",
        "\nother instructions:\n",
    ):
        assert part in text, part


def test_describe_an_instruction() -> None:
    text = done("describe", "h200", "wgmma.m64n128k32.f32.e4m3.e4m3")
    assert text.startswith("hopper/wgmma.m64nNk32.f32.e4m3.e4m3\n")
    assert "n_eab = F - 23: -10 " in text
    assert "final rounding: RTZ at fraction bit 13 of f32" in text
    assert "other instructions" not in text
    dealt = done("describe", "b200", "mma.m16n8k32.f16.e5m2.e5m2.f16")
    assert "N_FMA: 16 of K = 32: 2 sums, lanes dealt in groups of 2" in dealt
    data = json.loads(done("describe", "volta", f"{VOLTA[6:]}@fasi", "--json"))
    assert (data["status"], data["model"]["kind"]) == ("refuted", "ieee-dot-add")


# --- run and validate --------------------------------------------------------------------------

ROWS = [
    {"a": ["0x3c00", "2.0", "0", "0"], "b": ["1.5", "0x1p-3", 0, 0], "c": "0x3f800000"},
    {"a": ["inf", "0", "0", "0"], "b": ["0", "0", "0", "0"], "c": "0"},
]
EXPECTED = ["0x40300000", "0x7fffffff"]  # 1.5 + 0.25 + 1, and a NaN


def test_run_json(tmp_path: Path) -> None:
    path, out = tmp_path / "rows.json", tmp_path / "out.json"
    path.write_text(json.dumps(ROWS))
    data = json.loads(done("run", VOLTA, "--input", path, "--json"))
    assert data["model"] == VOLTA
    assert [d["word"] for d in data["d"]] == EXPECTED
    assert data["d"][0] == {"word": "0x40300000", "value": "1.375·2^1", "decimal": "2.75", "format": "f32"}
    text = done("run", "volta", "--input", path, "--explain")
    assert "0: 0x40300000  1.375·2^1  2.75\n" in text
    assert re.search(r"^ +largest exponent +2\^0$", text, re.MULTILINE)
    # what was written is read again, and is a data set
    done("run", VOLTA, "--input", path, "--output", out)
    assert json.loads(done("run", VOLTA, "--input", out, "--json")) == data
    assert "1 data sets, 2 rows, 0 mismatches" in done("validate", out)


@pytest.mark.parametrize("suffix", ["json", "csv", "npz"])
def test_run_formats(suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / "rows.csv", tmp_path / f"out.{suffix}"
    names = row_named(VOLTA).model.input_names
    rows = [[*row["a"], *row["b"], row["c"]] for row in ROWS]
    first.write_text("\n".join(",".join(map(str, r)) for r in [names, *rows]))
    done("run", VOLTA, "--input", first, "--output", second)
    again = json.loads(done("run", VOLTA, "--input", second, "--json"))
    assert [d["word"] for d in again["d"]] == EXPECTED
    if suffix == "npz":
        arrays = np.load(second)
        assert arrays["a"].shape == (2, 4)
        assert [f"{word:#x}" for word in arrays["d"].view(np.uint32)] == EXPECTED


def test_validate(measured_data: Path) -> None:
    text = done("validate", measured_data)
    count, rows, wrong = map(int, re.findall(r"\d+", text.splitlines()[-1]))
    assert count >= 30
    assert rows > 70_000
    assert wrong == 0


def test_validate_against_a_refuted_model(measured_data: Path) -> None:
    path = measured_data / "v100_f16_f32.npz"
    common = ("validate", path, "--against", f"{VOLTA}@valpey")
    text = done(*common, "--examples", 1, code=1)
    assert "1 data sets, 2500 rows, 409 mismatches" in text
    assert text.count(": measured 0x") == 1
    data = json.loads(done(*common, "--json", code=1))
    assert (data["rows"], data["mismatches"]) == (2500, 409)
    assert set(data["datasets"][0]) == {
        "dataset", "gpu", "model", "rows", "mismatches", "provenance",
    }  # fmt: skip


# --- papers ------------------------------------------------------------------------------------


def test_reproduce_fasi(tmp_path: Path) -> None:
    text = done("reproduce", "fasi", "--results", tmp_path / "new" / "folder")
    assert "31 of 31 tests give on V100 and T4 what the paper reports" in text
    data = json.loads((tmp_path / "new" / "folder" / "fasi.json").read_text())
    assert len(data["tests"]) == 31
    assert all(set(t["results"]) == {"v100", "t4", "a100"} for t in data["tests"])


@pytest.mark.long
def test_printed_tables() -> None:
    one, three, five = printed_tables()
    assert not one["reproduces"]
    assert "no FP16 number" in one["as_printed"]
    assert one["meant"].startswith("a is the FP16 subnormal 1.03515625·2^-16")
    assert one["with_it"]["exact_agrees"]
    assert one["with_it"]["fp16_agrees"]
    assert three["reproduces"]
    assert not five["reproduces"]
    fits = {(f["input"], f["exponent"]) for f in five["single_exponents_that_reproduce_it"]}
    assert fits == {("b1", 7), ("a1", 6)}


@pytest.mark.long
def test_reproduce_valpey(tmp_path: Path) -> None:
    text = done("reproduce", "valpey", "--results", tmp_path, "--timeout", 300)
    data = json.loads((tmp_path / "valpey.json").read_text())
    assert "Table 3: reproduces as printed" in text
    for row in data["table 4"]:
        kind = "equivalent" if "changes nothing" in row["query"] else "distinguished"
        for solver in ("bitwuzla", "z3", "cvc5"):
            assert kind in row[solver]["answer"], (row["query"], solver)
            assert not row[solver]["unknown"], (row["query"], solver)


# --- queries -----------------------------------------------------------------------------------

SCRIPTS = dict(scripts())
#: What takes a while.
SLOW = {
    ("carry-bits-hopper-5-6", "cvc5"),
    ("alignment-bits-volta-23-24", "cvc5"),
    ("carry-bits-hopper-4-5", "bitwuzla"),
    ("carry-bits-hopper-4-5", "cvc5"),
    ("ieee-fma-e4-p4-rne", "bitwuzla"),
    ("ieee-fma-e4-p4-rne", "z3"),
    ("product-normalization-volta", "cvc5"),
    ("tf32-truncation-ampere", "cvc5"),
    ("zero-exponent-ampere-bf16-132-126", "bitwuzla"),
    ("zero-exponent-ampere-bf16-132-126", "cvc5"),
}  # fmt: skip


def test_export(tmp_path: Path) -> None:
    done("export", "--queries", tmp_path / "queries")
    written = {p.name: p.read_text() for p in (tmp_path / "queries").iterdir()}
    assert written == {f"{name}.smt2": text for name, text in SCRIPTS.items()}
    committed = ROOT / "queries"
    assert {p.name: p.read_text() for p in committed.glob("*.smt2")} == written


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        pytest.param(name, solver, marks=[pytest.mark.long] if (name, solver) in SLOW else [])
        for name in SCRIPTS
        # cvc5 has no floating-point formats but FP32 and FP64
        for solver in ("bitwuzla", "z3" if name.startswith("ieee") else "cvc5")
    ],
)
def test_scripts_have_their_answers(name: str, solver: str) -> None:
    text = SCRIPTS[name]
    status = re.search(r"^\(set-info :status (\w+)\)$", text, re.MULTILINE)
    assert status
    assert text.startswith("(set-info :smt-lib-version 2.6)\n")
    assert "(set-info :source |tcsmt; " in text
    assert solve(text, Settings(solver, timeout=120)).answer == status[1]


# --- bad input ---------------------------------------------------------------------------------


FIND = ("find", "--property", "carry-bits", "--arch", "volta")
F16 = "mma.m8n8k4.f32.f16.f16.f32"
BAD: dict[str, tuple[tuple[object, ...], str]] = {
    "property": (("find", "--property", "carry-bit", "--arch", "volta"), "did you mean carry-bits?"),
    "property far off": (("find", "--property", "zzz", "--arch", "volta"), "property 'zzz': nearest of "),
    "no property": (("find", "--arch", "volta"), "Missing option '--property'"),
    "architecture": (("describe", "hoper"), "unknown architecture 'hoper': did you mean hopper?"),
    "gpu": (("describe", "h20"), "unknown architecture 'h20': did you mean h200"),
    "empty architecture": (("describe", ""), "unknown architecture ''"),
    "instruction": (
        (*FIND, "--instruction", "mma.m8n8k4.f32.f61.f16.f32"),
        f"unknown instruction of volta 'mma.m8n8k4.f32.f61.f16.f32': did you mean {F16}",
    ),
    "several instructions": (("describe", "ampere", "f16"), "'f16' of ampere is one of several: mma."),
    "claim": (("describe", "volta", f"{F16}@valpi"), f"did you mean {F16}@valpey"),
    "solver": ((*FIND, "--solver", "bitwuzzla"), "'bitwuzzla': did you mean bitwuzla? allowed: auto, "),
    "negative timeout": ((*FIND, "--timeout", "-1"), "timeout = -1.0: allowed is over 0 "),
    "no timeout": ((*FIND, "--timeout", "soon"), "'soon' is not a valid float"),
    "nan timeout": ((*FIND, "--timeout", "nan"), "timeout = nan: allowed is over 0 "),
    "memory": ((*FIND, "--memory", "1"), "memory = 1: allowed is from 64 "),
    "unwritable output": ((*FIND, "--output", "/nowhere/x.json"), "cannot write /nowhere/x.json: No such"),
    "output is a folder": ((*FIND, "--output", "/tmp"), "cannot write /tmp: Is a directory"),
    "unwritable script": ((*FIND, "--dump-smt", "/nowhere/q.smt2"), "cannot write /nowhere/q.smt2: No"),
    "property folder": ((*FIND, "--properties", "/nowhere"), "no folder of property modules: /nowhere"),
    "not a unit": ((*FIND, "--instruction", f"{F16}@fasi"), f"does not apply to volta/{F16}@fasi: "),
    "nothing to ask": (("find", "--property", "tf32-truncation", "--arch", "volta"), "of volta: "),
    "command": (("fnid",), "unknown command 'fnid': did you mean find?"),
    "option": ((*FIND, "--sovler", "z3"), "No such option '--sovler'"),
    "model": (("run", "voltage", "--input", "x.json"), "architecture 'voltage': did you mean volta?"),
    "missing input": (("run", VOLTA, "--input", "/nowhere/x.json"), "cannot read /nowhere/x.json: No such"),
    "suffix": (("run", VOLTA, "--input", "x.xlsx"), "unknown suffix of an input file '.xlsx'"),
    "missing data": (("validate", "/nowhere"), "/nowhere"),
    "against": (("validate", "/nowhere", "--against", "volta/none"), "unknown instruction of volta 'none'"),
    "paper": (("reproduce", "fassi"), "unknown paper 'fassi': did you mean fasi?"),
    "results": (("reproduce", "fasi", "--results", "/dev/null/x"), "cannot make the folder /dev/null/x: "),
    "queries": (("export", "--queries", "/dev/null/x"), "cannot make the folder /dev/null/x: "),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    arguments, message = BAD[case]
    assert message in refused(*arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rows.json"),
        ("{", "rows.json"),
        ("[]", "no rows"),
        ('[{"a": [1, 2, 3], "b": [1, 2, 3, 4], "c": 0}]', "rows[0].a"),
        ('[{"a": [1, 2, 3, "x"], "b": [1, 2, 3, 4], "c": 0}]', "rows[0].a[3]"),
        ('[{"a": [1, 2, 3, 1e9], "b": [1, 2, 3, 4], "c": 0}]', "not representable in f16"),
        ('[{"a": [1, 2, 3, 4], "c": 0}]', "b"),
    ],
)
def test_bad_rows(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    assert message in refused("run", VOLTA, "--input", path)


def test_an_output_that_cannot_be_written_is_known_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a solver is started."""

    def never(*arguments: object) -> None:
        raise AssertionError("a solver is started")

    monkeypatch.setattr(run, "_start", never)
    find = ("find", "--property", "zero-exponent", "--arch", "hopper", "--output")
    assert "No such file" in refused(*find, tmp_path / "no" / "x")
    assert "a solver is started" in refused(*find, tmp_path / "x")  # where the file can be written


# --- as a process ------------------------------------------------------------------------------


def test_a_process() -> None:
    version = process("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("tcsmt, version ")
    asked = process(*FIND, "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["conclusion"].startswith("3 carry bits")
    wrong = process("find", "--property", "nothing", "--arch", "volta")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("Error: unknown property 'nothing'")


def test_a_cold_start_imports_little() -> None:
    """A usage error waits neither for NumPy nor for a solver, and the list of commands for no solver."""
    solvers = {"bitwuzla", "cvc5", "z3"}
    asked = [
        (["--help"], 0, solvers),
        (["--version"], 0, solvers | {"numpy"}),
        (["fnid"], 2, solvers | {"numpy"}),
    ]
    for arguments, code, slow in asked:
        program = f"""
import sys
from tcsmt.cli import main
try:
    main({arguments})
except SystemExit as end:
    print(end.code, {slow} & set(sys.modules))
"""
        command = [sys.executable, "-c", program]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert found.stdout.splitlines()[-1] == f"{code} set()"


def test_a_closed_pipe() -> None:
    """``tcsmt models | head -1`` ends quietly."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tcsmt", "models", "--json"]
    try:
        found = subprocess.run(
            command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (found.returncode, found.stderr) == (1, "")


def test_another_folder(tmp_path: Path) -> None:
    """The shipped properties are found wherever one stands."""
    command = [sys.executable, "-m", "tcsmt", "properties"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "carry-bits " in found.stdout
