"""``tcsmt accuracy variants``: what it prints, keeps and draws, on lengths that are short."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tcsmt.surveys.papers.variants import SIGNS, one_at_a_time
from tests.support.command_line import done, refused

ARGUMENTS = ("accuracy", "variants", "--largest", 1000, "--output")


def point(signs: str, words: int) -> dict[str, Any]:
    """As ``points`` makes them, with errors that are known."""
    labels = one_at_a_time()
    error = {label: 4e-7 if label.startswith("V100") else 1e-7 for label in labels}
    error["V100, fraction_bits = 25"] = 2e-7
    toward = dict.fromkeys(labels, 0.75)
    return {"n": 1000, "signs": signs, "words": words, "error": error, "toward_zero": toward}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The points that were computed, and not taken from a file."""
    new: list[dict[str, Any]] = []

    def points(largest: int, known: Sequence[dict[str, Any]] = ()) -> Iterator[dict[str, Any]]:
        assert largest == 1000
        for signs, words in product(SIGNS, (2, 3)):
            before = [p for p in known if (p["signs"], p["words"]) == (signs, words)]
            if not before:
                new.append(point(signs, words))
            yield before[0] if before else new[-1]

    monkeypatch.setattr("tcsmt.interface.api.reproduce.points", points)
    return new


def test_points_are_printed_and_kept(
    made: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("tcsmt.interface.api.reproduce.plot", lambda path, found: drawn.append(found))
    text = done(*ARGUMENTS, tmp_path / "variants.json")
    assert [len(found) for found in drawn] == [4]
    assert "n = 1000, 2 words, random signs" in text
    assert "  V100                            4.00e-07       75%" in text
    # 2e-7 against 4e-7; the row of a change of the V100
    (line,) = (one for one in text.splitlines() if one.startswith("  V100 -> fraction_bits = 25"))
    assert line.split()[-4:] == ["0.5", "x", "0.5", "x"]
    kept = json.loads((tmp_path / "variants.json").read_text())
    assert [one["signs"] for one in kept["points"]] == [SIGNS[0], SIGNS[0], SIGNS[1], SIGNS[1]]
    assert set(kept["models"]) == set(one_at_a_time())
    assert len(made) == 4
    data = json.loads(done(*ARGUMENTS, tmp_path / "variants.json", "--json"))
    assert len(made) == 4  # nothing was computed again
    assert data["points"] and data["conclusions"] == kept["conclusions"]


def test_points_of_other_code_are_computed_again(
    made: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcsmt.interface.api.reproduce.plot", lambda path, found: None)
    done(*ARGUMENTS, tmp_path / "variants.json")
    monkeypatch.setattr("tcsmt.interface.api.reproduce.content", lambda: "other code")
    done(*ARGUMENTS, tmp_path / "variants.json")
    assert len(made) == 8


def test_bad_input(tmp_path: Path) -> None:
    assert "is not in the range" in refused("accuracy", "variants", "--largest", 2)
    (tmp_path / "variants.json").write_text("[]")
    assert "variants.json was not written by this command" in refused(*ARGUMENTS, tmp_path / "variants.json")


@pytest.mark.long
@pytest.mark.usefixtures("made")
def test_figures_show_each_unit_words_and_signs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done(*ARGUMENTS, tmp_path / "variants.json")
    drawn = (tmp_path / "variants.svg").read_text()
    for unit, words, signs in product(("V100", "B200"), (2, 3), SIGNS):
        assert f"{unit}: {words} words, {signs}" in drawn
