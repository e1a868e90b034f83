"""``tcsmt compare``: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcsmt.language.run import jit
from tcsmt.prove.engine.solvers.answer import Answer
from tests.support.command_line import done, refused, tcsmt

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lemma of an earlier run."""
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))


def test_other_formats_or_k() -> None:
    text = refused("compare", "volta", "ampere/mma.m16n8k16.f32.bf16.bf16.f32")
    assert "a_format is f16 and bf16" in text
    assert "k = 24: for ampere/mma" in refused("compare", "volta", AMPERE, "--k", "24")
    assert "did you mean" in refused("compare", "volt", "ampere")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--exponents", "5:3"], "exponents 5 to 3: no number has such an exponent"),
        (["--c-free"], "--c-free exempts c from --exponents, which is not given"),
        (["--lanes", "0"], "lanes = 0: must be from 1 to k = 4"),
        (["--lanes", "5"], "lanes = 5: must be from 1 to k = 4"),
        (["--timeout", "0"], "timeout = 0"),
        (["--solver", "z4"], "unknown solver 'z4'"),
    ],
)
def test_bad_options(options: list[str], said: str) -> None:
    assert said in refused("compare", VOLTA, f"{VOLTA}@valpey", *options)


@pytest.mark.slow
def test_command_equal(tmp_path: Path) -> None:
    text = done("compare", "v100", f"{VOLTA}@zero-126")
    assert "EQUIVALENT, confirmed by another solver" in text
    assert "largest exponent, where some term is not zero" in text
    report = json.loads(done("compare", "v100", f"{VOLTA}@zero-126", "--no-confirm", "--json"))
    assert report["verdict"] == "equivalent"
    assert {"what", "how", "solver", "version", "seconds", "script", "confirmed", "earlier"} == set(
        report["steps"][0]
    )
    assert "same graph" in done("compare", "volta", "turing/mma.m8n8k4.f32.f16.f16.f32")
    file = tmp_path / "mine.toml"
    file.write_text(f'base = "{VOLTA}"\ncarry_bits = 3\n')
    script = tmp_path / "q.smt2"
    assert "EQUIVALENT" in done("compare", "volta", file, "--no-confirm", "--dump-smt", script)
    assert "(check-sat)" in script.read_text()


def test_command_different() -> None:
    text = done("compare", VOLTA, f"{VOLTA}@valpey", "--positive", "--explain", code=1)
    assert (
        "DISTINGUISHED by" in text and "they first differ at 'largest exponent" in text and "rounded" in text
    )
    report = json.loads(done("compare", VOLTA, f"{VOLTA}@valpey", "--lanes", 1, "--json", code=1))
    assert report["verdict"] == "distinguished"
    assert report["domain"] == "all words, 1 of 4 lanes"
    words = {name: int(value["word"], 16) for name, value in report["inputs"].items()}
    assert not any(words[f"{side}{i}"] for side in "ab" for i in (1, 2, 3))


def test_command_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tcsmt.prove.engine.solving.solve", lambda text, settings: Answer("unknown", "z3", reason="timeout")
    )
    result = tcsmt("compare", VOLTA, f"{VOLTA}@zero-126")
    assert result.exit_code == 3, result.output
    assert "UNKNOWN: timeout" in result.stdout


#: (a + c)(b + c), and the same multiplied out.
WORDS = "1 sort bitvec 4\n2 input 1 a\n3 input 1 b\n4 input 1 c\n5 add 1 2 4\n6 add 1 3 4\n"
FACTORS = f"{WORDS}10 mul 1 5 6\n7 output 10 d\n"
EXPANDED = (
    f"{WORDS}8 mul 1 2 3\n9 add 1 2 3\n10 mul 1 9 4\n11 mul 1 4 4\n12 add 1 8 10\n13 add 1 12 11\n"
    "7 output 13 d\n"
)


@pytest.mark.slow
@pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
def test_all_inputs(tmp_path: Path) -> None:
    formats = [f"--format={operand}=u4" for operand in "abcd"]
    for name, text in (("one", FACTORS), ("two", EXPANDED), ("three", EXPANDED.replace("12 11", "12 10"))):
        (tmp_path / f"{name}.btor2").write_text(text)
        file = f"{tmp_path / name}.btor2"
        done("design", file, *formats, "--output", tmp_path / f"{name}.toml")
    one, two, three = (tmp_path / f"{name}.toml" for name in ("one", "two", "three"))
    text = done("compare", one, two, "--exhaustive")
    assert "EQUIVALENT, confirmed by another solver" in text
    assert "256 of a0 b0 x 16 of c[3:0]: 4.1e+03 rows, all by NumPy, too" in text
    kept = tmp_path / "run.json"
    options = ["--exhaustive", "--no-confirm", "--checkpoint", kept, "--jobs", "2", "--json"]
    report = json.loads(done("compare", one, two, *options))
    assert report["verdict"] == "equivalent"
    assert [step["solver"] for step in report["steps"]] == ["LLVM"]
    assert "enumerations" in json.loads(kept.read_text())
    assert "DISTINGUISHED" in done("compare", one, three, "--exhaustive", code=1)
    assert "exhaustive is missing" in refused("compare", one, two, "--checkpoint", kept)
    folder = tmp_path / "certificates"
    refusal = refused("compare", one, two, "--exhaustive", "--certificate", folder)
    assert "leaves no scripts and no certificate" in refusal
    assert "at most 2.2e+12 are run" in refused("compare", "v100", f"{VOLTA}@zero-126", "--exhaustive")
