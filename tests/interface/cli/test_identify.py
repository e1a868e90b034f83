"""``tcsmt identify``: plans, answers, probes, boxes, and how it is stopped."""

import json
import signal
import sys

import pytest
from click.testing import CliRunner

from tcsmt.identification.units.boxes import Transcript, model_box
from tcsmt.identification.units.search import Identification
from tcsmt.interface.cli import main
from tcsmt.matrix_units.catalogue import row_named
from tests.support.command_line import done, refused
from tests.support.families import family_like, kinds_like
from tests.support.processes import children, runs, start, until

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--box", "volta", "--data", "x"], "give one of"),
        (["--command", "cat"], "give --formats and --k, or --like"),
        (["--formats", "f16,f16,f32", "--k", "4", "--command", "cat"], "expected four formats"),
        (["--formats", "f16,f16,f32,e4m3", "--k", "4", "--command", "cat"], "with infinities"),
        (["--like", "x86/vpdpbusd", "--plan", "set"], "a plan supports only fused dot-adds"),
        (["--box", "hopper/mma.m8n8k4.f64.f64.f64.f64", "--probe", "tree"], "f64 is not a signed format"),
        (["--like", "ampere", "--box", "volta"], "are not those of formats or like"),
        (["--like", "volta", "--command", "/no/such/program"], "No such file"),
        (["--data", "/no/such/file.npz"], "/no/such/file"),
    ],
)
def test_bad_input(args, message):
    result = CliRunner().invoke(main, ["identify", *args])
    assert result.exit_code == 2
    assert message in result.output


@pytest.fixture(scope="module")
def plan():
    result = CliRunner().invoke(main, ["identify", "--like", "volta", "--plan", "set"])
    assert result.exit_code == 0
    return result.output


@pytest.mark.slow
def test_plan_prints_questions(plan):
    plan = json.loads(plan)
    assert plan["told_apart"] > 0.9 * plan["hypotheses"]
    assert len(plan["rows"]) <= 60
    assert all(len(row["a"]) == 4 and row["c"].startswith("0x") for row in plan["rows"])


def answers_of(model, plan):
    """What a probe program prints, where the unit is a model."""
    rows = []
    for row in plan["rows"]:
        words = [[int(w, 16) for w in row["a"]], [int(w, 16) for w in row["b"]], int(row["c"], 16)]
        rows.append({**row, "d": model.d_format.hex(model_box(model)(*words))})
    return {"model": plan["model"], "gpu": "none", "rows": rows}


@pytest.mark.long
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({}, 0, marks=pytest.mark.long),
        ({"fraction_bits": 24, "rounding": "RNE"}, None),
    ],
)
def test_from_a_plan_to_the_model(tmp_path, plan, changed, code):
    """plan → emitted vectors → answers of a unit → identify --answers."""
    run = CliRunner().invoke
    (tmp_path / "plan.json").write_text(plan)
    emitted = run(main, ["probe", "volta", "--vectors", str(tmp_path / "plan.json"), "--emit", "json"])
    assert emitted.exit_code == 0
    unit = VOLTA.replace(**changed)
    (tmp_path / "answers.json").write_text(json.dumps(answers_of(unit, json.loads(emitted.output))))
    result = run(main, ["identify", "--answers", str(tmp_path / "answers.json"), "--json"])
    found = json.loads(result.output)
    assert result.exit_code in (0, 3)
    assert unit.parameters.fraction_bits in found["values"]["fraction_bits"]
    if code is not None:
        assert result.exit_code == code
    else:  # it goes on with the box
        (tmp_path / "unit.toml").write_text(unit_file(changed))
        more = ["--box", str(tmp_path / "unit.toml"), "--json"]
        found = json.loads(run(main, ["identify", "--answers", str(tmp_path / "answers.json"), *more]).output)
        assert found["verdict"] == "identified"
        assert found["values"]["rounding"] == ["RNE"]
        assert found["values"]["fraction_bits"] == [24]


def unit_file(changed):
    values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in changed.items())
    return f'base = "volta/mma.m8n8k4.f32.f16.f16.f32"\n{values}'


@pytest.mark.long
def test_a_tree_names_every_candidate():
    result = CliRunner().invoke(main, ["identify", "--like", "volta", "--plan", "tree"])
    plan = json.loads(result.output)
    depths = []

    def leaves(node, depth=0):
        if "left" in node:
            depths.extend([depth] * len(node["left"]))
            return [node["left"]]
        return [leaf for child in node["answers"].values() for leaf in leaves(child, depth + 1)]

    found = leaves(plan["tree"])
    assert sum(map(len, found)) == plan["hypotheses"]
    assert len(found) == plan["told_apart"]
    assert max(depths) == plan["depth"]
    assert round(sum(depths) / len(depths), 2) == plan["expected"]
    # the unit itself goes down to a leaf that names it
    node = plan["tree"]
    while "left" not in node:
        words = [[int(w, 16) for w in node["a"]], [int(w, 16) for w in node["b"]], int(node["c"], 16)]
        node = node["answers"][VOLTA.d_format.hex(model_box(VOLTA)(*words))]
    assert any(name.startswith("volta/mma.m8n8k4.f32.f16.f16.f32") for name in node["left"])


#: Answers as Volta does, the third question never.
HONEST = """
import json, sys, time
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.identification.units.boxes import model_box
from tests.support.command_line import done, refused
box = model_box(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model)
for number, line in enumerate(sys.stdin):
    time.sleep(60 if number == 2 else 0)
    q = json.loads(line)
    a, b = ([int(w, 16) for w in q[side]] for side in "ab")
    print(json.dumps({"d": hex(box(a, b, int(q["c"], 16)))}), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.long
def test_an_interrupt_keeps_the_transcript(tmp_path):
    script = tmp_path / "box.py"
    script.write_text(HONEST)
    transcript = tmp_path / "t.jsonl"
    command = ["identify", "--like", "volta", "--transcript", transcript, "--command"]
    with start(*command, f"{sys.executable} {script}") as process:
        until(lambda: transcript.exists() and len(transcript.read_text().splitlines()) >= 2, 300)
        (box,) = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert not runs(box)
    kept = transcript.read_text().splitlines()
    holds = f"kept: {transcript} ({len(kept)} answers; the same command goes on from there)"
    assert (process.returncode, errors) == (130, f"tcsmt: interrupted; {holds}\n")
    again = Transcript(family_like(VOLTA).formats, transcript)
    found = Identification(kinds_like(VOLTA), model_box(VOLTA), budget=len(kept), transcript=again).run()
    assert [VOLTA.d_format.hex(e.d) for e in found.exchanges] == [json.loads(line)["d"] for line in kept]


def test_devices_without_a_compiler_are_refused(monkeypatch):
    monkeypatch.setenv("TCSMT_NVCC", "/nowhere/nvcc")
    result = CliRunner().invoke(main, ["identify", "--device", "volta"])
    assert result.exit_code == 2
    assert "TCSMT_NVCC = '/nowhere/nvcc' is not a program" in str(result.exception) + result.output


def test_ambiguous_formats_are_refused() -> None:
    common = ("identify", "--box", "cdna3/v_mfma_f32_16x16x32_fp8_bf8", "--k", 32, "--formats")
    said = refused(*common, "fp8,bf8,f32,f32")
    assert "ambiguous format 'fp8': it could mean e4m3 (OCP, bias 7) or e4m3fnuz (bias 8" in said
    said = refused(*common, "e4m3fnuz,bf8,f32,f32")
    assert "ambiguous format 'bf8': it could mean e5m2 (OCP, bias 15) or e5m2fnuz (bias 16" in said


def test_names_of_instructions_keep_their_formats() -> None:
    assert "a_format = e4m3fnuz" in done("describe", "cdna3/16x16x32_fp8_bf8")
