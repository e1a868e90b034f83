"""``tcsmt accuracy algorithms``: every algorithm, with its source."""

from __future__ import annotations

import json

from tcsmt.programs.recipes.emulation.named import EMULATIONS
from tcsmt.programs.recipes.named import RECIPES
from tests.support.command_line import done


def test_every_algorithm_is_listed() -> None:
    data = json.loads(done("accuracy", "algorithms", "--json"))["algorithms"]
    assert [one["name"] for one in data] == [*(recipe.name for recipe in RECIPES.values()), *EMULATIONS]
    assert all(set(one) == {"name", "title", "source"} for one in data)
    lines = done("accuracy", "algorithms").splitlines()
    assert [line.split()[0] for line in lines[::2]] == [one["name"] for one in data]
    assert [line.strip() for line in lines[1::2]] == [one["source"] for one in data]
