"""``--python MODULE:FUNCTION``: found from the current folder, too; whatever is wrong with it is one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcsmt.face.cli.functions import function_named
from tcsmt.support.errors import TcsmtError

MODULE = "tests_own_functions"
TEXT = """
import math

constant = 3

def added(*numbers):
    return math.fsum(numbers)

def failing(*numbers):
    raise IndexError(f"{len(numbers)} numbers")
"""


@pytest.fixture(autouse=True)
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / f"{MODULE}.py").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop(MODULE, None)


def test_functions_of_the_current_folder_are_found() -> None:
    before = list(sys.path)
    assert function_named(f"{MODULE}:added")(1, 2, 4) == 7
    assert sys.path == before


@pytest.mark.parametrize(("name", "said"), [
    ("added", "expected MODULE:FUNCTION"), (":added", "expected MODULE:FUNCTION"),
    (f"{MODULE}:", "expected MODULE:FUNCTION"), ("no_such_module:f", "No module named 'no_such_module'"),
    (f"{MODULE}:addet", f"unknown function of module {MODULE} 'addet': did you mean added"),
    (f"{MODULE}:constant", "not a function"), (f"{MODULE}.py:added", f"write {MODULE}:added"),
])  # fmt: skip
def test_names_without_a_function_are_refused(name: str, said: str) -> None:
    before = list(sys.path)
    with pytest.raises(TcsmtError, match=said) as raised:
        function_named(name)
    assert str(raised.value).startswith(f"--python {name}: ")
    assert sys.path == before


def test_exceptions_of_functions_are_reported() -> None:
    with pytest.raises(TcsmtError, match=f"^--python {MODULE}:failing: IndexError: 2 numbers$"):
        function_named(f"{MODULE}:failing")(1, 2)
