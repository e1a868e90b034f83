"""Pictures on the command line: the format by suffix or option, and where the picture goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tcsmt
from tcsmt.face.api.pictures import Explanation
from tcsmt.face.cli.picture import form_of, show_picture
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
