"""Models as files that say all of them: what is written reads back, and nothing else stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.file_texts import has_file, parameters_toml
from tcsmt.matrix_units.models.files import KINDS, model_of
from tcsmt.support.errors import TcsmtError

PATH = Path("mine.toml")


@pytest.mark.slow
def test_every_model_of_the_catalogue_reads_back() -> None:
    kinds = set()
    for row in rows():
        assert has_file(row.model)
        assert model_of(PATH, parameters_toml(row.model).encode()) == row.model
        kinds.add(row.model.kind)
    assert kinds <= KINDS.keys()


def test_kinds_are_those_of_this_room() -> None:
    """Which of them a reader knows does not depend on what else is loaded."""
    own = {one for one in KINDS.values() if one.__module__.startswith("tcsmt.matrix_units.models.")}
    assert own == set(KINDS.values())
    classes = Model.__subclasses__()
    for one in classes:
        classes += one.__subclasses__()
    here = {
        one
        for one in classes
        if one.__module__.startswith("tcsmt.matrix_units.models.") and "kind" in vars(one)
    }
    assert here == own


@pytest.mark.parametrize("key", ["base", "name", "source", "note"])
def test_keys_beside_the_parameters_are_refused(key: str) -> None:
    text = parameters_toml(next(iter(rows())).model)
    with pytest.raises(TcsmtError, match=rf"mine\.toml:1: {key} is not allowed here"):
        model_of(PATH, f'{key} = "volta"\n{text}'.encode())


def test_errors_name_file_and_line() -> None:
    with pytest.raises(TcsmtError, match=r"mine\.toml: kind is not given; kinds: fused-dot-add"):
        model_of(PATH, b"k = 4")
    with pytest.raises(TcsmtError, match=r"mine\.toml:2: .*kind of model 'fused'"):
        model_of(PATH, b"\nkind = 'fused'")
    with pytest.raises(TcsmtError, match="not UTF-8 text"):
        model_of(PATH, b"\xff")
