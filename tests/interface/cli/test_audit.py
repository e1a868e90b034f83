"""``tcsmt audit``: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcsmt.surveys.units import audit
from tcsmt.surveys.units.neighbours import neighbours
from tests.support.command_line import done, refused, tcsmt
from tests.support.paths import DATA

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: A unit whose proofs are quick.
SMALL = f'base = "{VOLTA}"\nk = 1\nn_fma = 1\n'


#: What the lines that are looked at are about.
ASKED = {"n_fma", "rounding", "fraction_bits"}


@pytest.mark.long
@pytest.mark.parametrize(("number", "every"), [(1, False), (1, True), (2, True)])
def test_fttn_misidentifies_the_custom_models(
    number: int, every: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among every hypothesis, or among the neighbours in a few parameters."""
    if not every:
        monkeypatch.setattr(audit, "rows", list)
        monkeypatch.setattr(audit, "neighbours", lambda m: (n for n in neighbours(m) if n.parameter in ASKED))
    text = tcsmt(
        "audit", "--published", "fttn", "--unit", DATA / f"khattak-custom-{number}.toml", "--no-solve"
    )
    assert text.exit_code == 1
    lines = text.stdout.splitlines()
    said = {line.split(":")[0].strip(): line for line in lines if line.startswith("  ")}
    if number == 1:  # no extra bits: neither feature shows
        assert "1, or no such feature   WRONG, it is 8 (no rule could" in said["N_FMA"]
        assert "RZ   WRONG, it is RN (no rule could" in said["rounding"]
        row = next(line for line in lines if line.startswith("rounding = RNE"))
        assert row.split()[3].startswith("RNA")  # nothing is told apart
    else:  # the answers do differ, but not as the rule expects
        assert ">= 16   WRONG, it is 8 (the rule is wrong" in said["N_FMA"]
        assert "WRONG" not in said["rounding"]
    assert "WRONG" not in said["extra bits"]


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    file, store = tmp_path / "v.csv", tmp_path / "a.json"
    file.write_text("a0,b0,c\n1,1,1\n0,0,0\n")
    model = tmp_path / "small.toml"
    model.write_text(SMALL)
    arguments = ["audit", file, "--unit", model, "--store", store, "--no-confirm", "--timeout", "2"]
    closed = tmp_path / "closing.json"
    result = tcsmt(*arguments, "--output", closed, "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["model"] == "custom/small"
    assert data["vectors"] == ["v.csv row 0", "v.csv row 1"]
    assert data["closing"]["vectors"]
    # the vectors that were written name their unit, are read again, and close what was open
    result = tcsmt(*arguments, closed, "--json")
    again = json.loads(result.stdout)
    assert {gap["verdict"] for gap in again["gaps"]} <= {"equal", "unknown"}
    assert result.exit_code in (0, 3)
    assert "# custom/small" in done("run", model, "--input", closed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give FILES, or --published"),
        (["--published", "fttn"], "needs --unit"),
        (["--published", "fttn", "--unit", "cdna2/v_mfma_f64_4x4x4f64"], "FTTN's vectors are for f16"),
        (["--published", "fasi", "--unit", "ada/mma.m16n8k8.f32.tf32"], "Fasi et al.'s tests are for f16"),
        (["none.json"], "there is no file or folder none.json"),
        (["FILE"], "does not say which unit its vectors are for: give --model"),
        (["FILE", "--unit", "ampere"], "missing columns: "),
        (["FILE", "--unit", "volta", "--output", "x.txt"], "allowed suffixes"),
        (["FILE", "--unit", "volta", "--output", "x.json", "--no-solve"], "--output needs --solve"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], message: str) -> None:
    file = tmp_path / "v.csv"
    file.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,1,1,1,1,1,1,1,1\n")
    given_ones = [str(file) if one == "FILE" else one for one in arguments]
    assert message in refused("audit", *given_ones, "--store", tmp_path / "a.json")
