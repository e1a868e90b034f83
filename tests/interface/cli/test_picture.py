"""Pictures on the command line: the format by suffix or option, and where the picture goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tcsmt
from tcsmt.interface.api.pictures import Explanation, vector_words
from tcsmt.interface.cli.picture import RoundedInputs, form_of, show_picture, vector_option
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.support.errors import TcsmtError

STARTS = {"text": "volta/", "svg": "<svg", "html": "<!doctype html>"}


@pytest.fixture
def picture() -> Explanation:
    return tcsmt.explain("volta", "a0=1.5 b0=2")


def test_the_suffix_says_the_format() -> None:
    assert [form_of(Path(f"x.{s}")) for s in ("txt", "svg", "html")] == ["text", "svg", "html"]
    assert form_of(None) == "text"
    with pytest.raises(TcsmtError, match=r"unknown suffix of a picture '\.svgz': did you mean \.svg"):
        form_of(Path("x.svgz"))


@pytest.mark.parametrize("form", STARTS)
def test_a_picture_is_printed_or_written(
    form: str, picture: Explanation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_picture(picture, form, None, as_json=False)
    printed = capsys.readouterr().out
    assert printed.startswith(STARTS[form])
    file = tmp_path / "x.picture"  # the option counts more than the suffix
    show_picture(picture, form, file, as_json=False)
    assert file.read_text() == printed
    assert capsys.readouterr().out == ""


def test_json_is_the_picture_with_the_version(
    picture: Explanation, capsys: pytest.CaptureFixture[str]
) -> None:
    show_picture(picture, "svg", None, as_json=True)
    data = json.loads(capsys.readouterr().out)
    assert data == json.loads(json.dumps(picture.as_json())) and data["tcsmt"]


def test_colours_are_for_terminals_that_want_them(
    picture: Explanation, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for name, coloured in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", name)
        show_picture(picture, None, None, as_json=False)
        assert ("\x1b[" in capsys.readouterr().out) is coloured


VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


@pytest.mark.parametrize(("count", "last"), [
    (0, []), (5, []), (6, ["and 1 more value rounded to nearest"]),
    (9, ["and 4 more values rounded to nearest"]),
])  # fmt: skip
def test_the_first_five_are_said(count: int, last: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rounded = RoundedInputs()
    for number in range(count):
        rounded(f"number {number}")
    rounded.finish()
    said = [f"number {number}" for number in range(min(count, 5))] + last
    assert capsys.readouterr().err.splitlines() == said
    assert len(rounded.said) == count


def test_words_of_a_vector_and_what_was_rounded(capsys: pytest.CaptureFixture[str]) -> None:
    """0.1 is 0x2e66 in binary16; 0.5 and words are exact."""
    with vector_option() as rounded:
        words = vector_words("a0=0.1 b0=0.5 c=0x3f800000", VOLTA, rounded)
    assert (words["a0"], words["b0"], words["c"], words["a1"]) == (0x2E66, 0x3800, 0x3F800000, 0)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("--vector: a0: 0.1 is not an exact f16 value") and said.err.count("\n") == 1


def test_errors_name_the_option() -> None:
    with pytest.raises(TcsmtError, match=r"^--vector: .*z0"), vector_option() as rounded:
        vector_words("z0=1", VOLTA, rounded)


def test_errors_of_other_arguments_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    """They end the list of what was rounded before them."""

    def call(rounded: Callable[[str], None]) -> None:
        for number in range(7):
            rounded(f"number {number}")
        raise TcsmtError("no such unit")

    with pytest.raises(TcsmtError, match=r"^no such unit$"), vector_option() as rounded:
        call(rounded)
    assert capsys.readouterr().err.splitlines()[5:] == ["and 2 more values rounded to nearest"]
