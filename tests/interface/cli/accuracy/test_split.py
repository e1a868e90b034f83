"""``tcsmt accuracy split``: what it prints and keeps, and which proofs it takes from its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.analysis.bounds.split_analysis import (
    splits,
)
from tcsmt.interface.api.splits import asked_of
from tcsmt.interface.cli import main
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Certified, Equivalent, Unknown, Verdict, engine_digest


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["accuracy", "split", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.slow
def test_splits_are_printed_and_kept_with_their_proofs(tmp_path: Path) -> None:
    path = tmp_path / "splits.json"
    code, text = run("--format", "bf16", "--output", path)
    assert code == 0
    assert "3 x bf16 RNE" in text
    records = json.loads(path.read_text())["splits"]
    assert records[0]["split"] == "2 x bf16 RNE"
    exponents = records[0]["exponents"]
    assert sum(exponents["0"]["kinds"].values()) == 1 << 24
    proof = Equivalent(stage="", scripts=("00",), solver="x", version="1", seconds=1)
    records[0]["proof"] = [{"exponent_field": "xxxxxxxx", **proof.as_json()}]
    versions = engine_digest("analysis", "programs", "simulate")
    about = {"asked": asked_of(splits(["bf16"])[0]), "code": versions}
    records[0]["about"] = {"proof": about}
    path.write_text(json.dumps({**json.loads(path.read_text()), "splits": records}))
    code, text = run("--format", "bf16", "--output", path)
    assert "proved by x 1 alone, 1.00 s (kept from an earlier run)" in text
    # nor does a proof count that is about another graph, or by other code
    for name in about:
        others = [{**records[0], "about": {"proof": {**about, name: "another"}}}, *records[1:]]
        path.write_text(json.dumps({**json.loads(path.read_text()), "splits": others}))
        code, text = run("--format", "bf16", "--output", path)
        assert "proved by x" not in text
    path.write_text(json.dumps({**json.loads(path.read_text()), "splits": records}))
    # a file proves nothing where a confirmation is asked for; nor is it lost
    code, text = run("--format", "bf16", "--output", path, "--confirm")
    assert "proved by x" not in text
    assert json.loads(path.read_text())["splits"][0]["proof"][0]["solver"] == "x"


def test_bad_input(tmp_path: Path) -> None:
    code, text = run("--format", "fp17")
    assert code == 2
    assert "unknown split format 'fp17': " in text
    path = tmp_path / "other.json"
    path.write_text("[1]")
    code, text = run("--output", path)
    assert code == 2
    assert f"--output {path} was not written by this command" in text
    assert "expected a JSON object with an array of records in 'splits'" in text
    assert len(text.strip().splitlines()) == 1


def test_unknown_splits_are_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, unknown = tmp_path / "splits.json", Unknown(reason="timeout", seconds=0)
    proof = Equivalent(stage="", scripts=("00",), solver="z3", version="1", seconds=0)
    said: Verdict = unknown

    def proved(split: Split, solving: Solving) -> list[dict[str, object]]:
        return [{"exponent_field": "x", **said.as_json()}]

    monkeypatch.setattr("tcsmt.interface.api.splits.proved", proved)
    given = ["accuracy", "split", "--prove", "--format", "bf16", "--output", str(path)]
    for said, code in ((unknown, 3), (proof, 0), (unknown, 0)):  # noqa: B007 (proved reads it)
        assert CliRunner().invoke(main, given).exit_code == code


def test_certificates_of_proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those of this run and of an earlier one; not of what stayed unknown, and not without a proof."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    file, folder = tmp_path / "splits.json", tmp_path / "proofs"
    code, text = run("--certificate", folder)
    assert code == 2
    assert "--certificate needs --prove" in text
    unknown = Unknown(reason="timeout", seconds=0)
    proof = Equivalent(stage="", scripts=("00",), solver="z3", version="1", seconds=0)

    def proved(split: Split, solving: Solving) -> list[dict[str, object]]:
        verdict = unknown if split.words == 3 else proof
        return [{"exponent_field": "x" * 8, **verdict.as_json()}]

    def certify(certificates: Certificates, split: Split) -> Certified:
        assert certificates.folder == folder
        nearest = split.rounding.nearest
        return Certified("", folder / "a.json" if nearest else None, 1, "" if nearest else "no time")

    monkeypatch.setattr("tcsmt.interface.api.splits.proved", proved)
    monkeypatch.setattr("tcsmt.interface.api.splits.certify_split", certify)
    given = ["--prove", "--format", "bf16", "--output", file, "--certificate", folder]
    for _ in range(2):  # the second time, the file has the proofs
        code, text = run(*given)
        assert code == 3
        assert text.count(f"  certificate: {folder / 'a.json'} (1 lemma)\n") == 1
        assert text.count("  no certificate: no time\n") == 1
    assert "kept from an earlier run" in text
    code, text = run(*given, "--json")
    records = json.loads(text[text.index("{") :])["splits"]
    assert [record.get("certificate", {}).get("certified") for record in records] == [True, False, None, None]
