"""Papers as experiments: their names, and the text of a result, whole or as it comes."""

from __future__ import annotations

import pytest

from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.papers.experiment import Experiment, concluded, paper_named


@pytest.mark.parametrize("name", ["valpey", "fasi", "mma-sim", "khattak", "ootomo"])
def test_every_paper_has_experiments_of_different_names(name: str) -> None:
    spelt, paper = paper_named(name.upper())
    names = [experiment.name for experiment in paper.experiments]
    assert spelt == name and len(names) == len(set(names)) > 0


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(TcsmtError, match="allowed: valpey, fasi, mma-sim, khattak, ootomo"):
        paper_named("markidis")


def test_the_text_of_a_list_is_that_of_its_parts() -> None:
    experiment = Experiment(
        "name", lambda run: None, lambda part: [str(part)], "head", lambda parts: ["foot"]
    )
    assert list(experiment.text([1, 2])) == list(experiment.text(iter([1, 2]))) == ["head", "1", "2", "foot"]
    assert list(experiment.text({"a": 1})) == ["head", "{'a': 1}", "foot"]
    assert list(Experiment("name", lambda run: None).text([1, 2])) == []


def test_conclusions_are_counted() -> None:
    judged = [{"section": "1", "published": "x", "ours": "y", "agrees": a} for a in (True, False, None)]
    text = list(concluded(lambda run: judged).text(judged))
    assert text[1::2] == [f"[{mark}] 1: x" for mark in ("as published", "differs", "undecided")] + [
        "1 of 3 as published"
    ]
