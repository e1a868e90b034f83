"""``--dump-smt``: scripts with a header and names of stages; and what is said where there are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tests.support.command_line import done, process, tcsmt


@pytest.mark.slow
def test_scripts_have_a_header_and_names_of_stages(tmp_path: Path) -> None:
    """The status is what a solver answers to the script."""
    path = tmp_path / "q.smt2"
    found = tcsmt("find", "--property", "carry-bits", "--arch", "volta", "--dump-smt", path)
    assert found.exit_code == 0
    files = sorted(tmp_path.iterdir())
    assert found.stderr == f"--dump-smt: {len(files)} scripts: {path} to q-{len(files)}.smt2\n"
    for file in files:
        text = file.read_text()
        first, *lines = text.splitlines()
        assert re.fullmatch(r"; SHA-256 of the script as tcsmt asks it: [0-9a-f]{64}", first)
        assert lines[:3] == [
            "(set-info :smt-lib-version 2.6)", "(set-option :produce-models true)", "(set-logic QF_BV)",
        ]  # fmt: skip
        assert re.fullmatch(
            r"\(set-info :source \|tcsmt [0-9.]+; [23] against [34] carry bits; domain: finite.*\|\)",
            lines[3],
        )
        assert lines[4:6] == [
            '(set-info :license "https://www.apache.org/licenses/LICENSE-2.0")',
            '(set-info :category "crafted")',
        ]
        status = re.fullmatch(r"\(set-info :status (sat|unsat)\)", lines[6])
        assert status is not None
        for solver in ("bitwuzla", "z3"):
            assert solve(text, SolvingOptions(solver)).answer == status[1]
    texts = [file.read_text() for file in files]
    assert any(re.search(r"\(define-fun left\.product-\d\.\d ", text) for text in texts)
    assert any("; stage: sum|" in text and "(define-fun left.sum () " in text for text in texts)


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "volta", "volta"),
        ("accuracy", "compare", "single-f16", "fp32-fma", "--arch", "volta", "--k", "1"),
    ],
)
def test_there_may_be_nothing_to_write(arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "q.smt2"
    found = tcsmt(*arguments, "--dump-smt", path)
    assert found.exit_code in (0, 1), found.output
    said = "--dump-smt: nothing to write: every question was answered without a solver\n"
    assert found.stderr == said
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_without_the_option_nothing_is_said() -> None:
    assert process("compare", "volta", "volta").stderr == ""


@pytest.mark.long
def test_a_witness_on_few_lanes_names_stages(tmp_path: Path) -> None:
    path = tmp_path / "q.smt2"
    done("find", "--property", "product-normalization", "--arch", "volta", "--dump-smt", path)
    text = path.read_text()
    assert "(set-info :status sat)" in text
    assert re.search(r"\(define-fun right\.product-\d\.\d+ ", text)
