"""``tcsmt.export``: whatever means a unit, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tcsmt
from tcsmt.interface.api.export import Script, curated, hard
from tests.support.paths import ROOT

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_whatever_means_a_unit_gives_the_same_file(tmp_path: Path) -> None:
    """By its name, its GPU, a unit and a model file: the arithmetic is the same text."""
    path = tmp_path / "mine.toml"
    path.write_text(tcsmt.unit(VOLTA).as_toml())
    texts = [tcsmt.export(given, "c", name="dot").text for given in (VOLTA, "v100", tcsmt.unit(VOLTA), path)]
    codes = ["\n".join(line for line in t.splitlines() if not line.startswith((" *", "/*"))) for t in texts]
    assert "dot(" in codes[0]
    assert codes[0] == codes[1] == codes[2]
    assert "dot(" in codes[3]


@pytest.mark.parametrize(
    ("language", "options", "message"),
    [
        ("verilog", {}, "unknown language 'verilog': did you mean systemverilog"),
        ("c", {"pipeline": True}, "a pipeline is possible in systemverilog, not in c"),
        ("c", {"name": "1st"}, "name '1st': must be letters"),
        ("systemverilog", {"name": "a b"}, "name 'a b': must be letters"),
    ],
)
def test_unknown_languages_and_names_are_refused(
    language: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.export("volta", language, **options)


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
