"""Parameters of calls as options: their types, names and helps; functions by name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pytest

from tcsmt.interface.cli.parameters import (
    ARRAY,
    COMMAS,
    FACTOR,
    PATH,
    Form,
    function_named,
    option_of,
    sentences,
)
from tcsmt.support.errors import TcsmtError

Kind = Literal["one", "two"]


def call(
    word: str,
    kind: Kind = "one",
    *,
    count: int = 3,
    limit: float | None = None,
    loud: bool = False,
    sure: bool = True,
    some_names: list[str] = (),  # type: ignore[assignment]
    places: tuple[int, int] | None = None,
    matrix: Any = None,
) -> None:
    """Do nothing.

    Args:
        word: The word,
            on two lines.
        kind: Which of :class:`tcsmt.Unit`'s ``two``.
        count: How many. [default: as many as there are]
        limit: As for :func:`tcsmt.find`.
        matrix: A, (M, K).

    Raises nothing.
    """


def option(name: str, form: Form = "", annotation: str | None = None) -> Any:
    parameter = inspect.signature(call).parameters[name]
    if annotation is not None:
        parameter = parameter.replace(annotation=annotation)
    return option_of(parameter, form, sentences(call).get(name, ""), globals())


def test_sentences_are_those_of_the_docstring() -> None:
    assert sentences(call) == {
        "word": "The word, on two lines.",
        "kind": "Which of Unit's `two`.",
        "count": "How many.  [default: as many as there are]",
        "matrix": "A, (M, K).",
    }
    assert sentences(lambda: None) == {}


def test_a_parameter_without_a_default_is_an_argument() -> None:
    assert isinstance(option("word"), click.Argument) and option("word").required
    assert not option("word", "[WORD]").required
    named = option("word", "--said WORD")
    assert isinstance(named, click.Option) and named.required
    assert (named.opts, named.metavar, named.name) == (["--said"], "WORD", "word")
    assert not option("word", "[--said WORD]").required


@pytest.mark.parametrize(("name", "flags", "kind", "default"), [
    ("kind", ["--kind"], "choice", "one"), ("count", ["--count"], "integer", 3),
    ("limit", ["--limit"], "float", None), ("loud", ["--loud"], "boolean", False),
    ("sure", ["--sure"], "boolean", True), ("places", ["--places"], "<integer integer>", None),
])  # fmt: skip
def test_types_and_defaults(name: str, flags: list[str], kind: str, default: object) -> None:
    made = option(name)
    assert (made.opts, made.type.name, made.default) == (flags, kind, default)
    assert made.secondary_opts == (["--no-sure"] if name == "sure" else [])


def test_several_values_are_an_option_in_the_singular() -> None:
    made = option("some_names", annotation="str | Iterable[str]")
    assert made.multiple and made.opts == ["--some-name"]
    assert not option("some_names", COMMAS, "Sequence[str] | None").multiple


def test_helps_say_what_the_terminal_adds() -> None:
    assert option("count").help == "How many.  [default: as many as there are]"
    assert not option("count").show_default and option("kind").show_default
    assert option("matrix", ARRAY).help == "A, (M, K), .npy."


def test_files_are_read_when_the_command_runs(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3.0))
    assert (
        ARRAY.read(tmp_path / "x.npy").tolist() == [0, 1, 2] == FACTOR.read(str(tmp_path / "x.npy")).tolist()
    )
    assert FACTOR.read("0.5") == 0.5 and COMMAS.read("a, b") == ["a", "b"]
    assert PATH.convert("x", None, None) == Path("x")
    with pytest.raises(TcsmtError, match="cannot read nowhere"):
        FACTOR.read("nowhere")


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
