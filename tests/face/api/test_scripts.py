"""Sets of SMT-LIB scripts: each file once, with the answer that its text states."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tcsmt.face.api.scripts import Script, curated, hard
from tests.support.paths import ROOT


@pytest.mark.parametrize("scripts", [curated, hard])
def test_a_set_has_each_file_once(scripts: Callable[[], Iterator[Script]]) -> None:
    made = list(scripts())
    assert len(made) > 5
    assert len({script.file for script in made}) == len({script.name for script in made}) == len(made)
    for script in made:
        assert f"(set-info :status {script.status})" in script.text


def test_curated_scripts_are_the_committed_ones() -> None:
    committed = {path.name: path.read_text() for path in (ROOT / "queries").glob("*.smt2")}
    assert {script.file: script.text for script in curated()} == committed


def test_a_script_without_an_answer_is_unknown() -> None:
    assert Script("one", "one.smt2", "(check-sat)\n").status == "unknown"
