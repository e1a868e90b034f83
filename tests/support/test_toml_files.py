"""TOML files: their lines and data, and the line that an error names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.support.errors import TcsmtError
from tcsmt.support.toml_files import TomlFile, read_toml, shown_value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


@pytest.mark.parametrize("content", [
    b'k = 4\n[format.x]\nbits = 3\n', b'\xef\xbb\xbfk = 4\r\n[format.x]\r\nbits = 3\r\n',
])  # fmt: skip
def test_files_give_their_lines_and_data(content: bytes, file: Path) -> None:
    """Also with the marks that editors on Windows leave."""
    file.write_bytes(content)
    lines, data = read_toml(file)
    assert lines[:3] == ["k = 4", "[format.x]", "bits = 3"]
    assert data == {"k": 4, "format": {"x": {"bits": 3}}}


@pytest.mark.parametrize(("content", "said"), [
    (b"k = 4\nk = 5\n", r":2: not TOML: k is given twice: 'k = 5'"),
    (b"k = 4\nn = \n", r":2: not TOML: .*: 'n ='"),
    (b"k = [1,\n2", r":2: not TOML: "),
    (b"k = \xff\n", r": not UTF-8 text$"),
    (b"k = " + b"[" * 100_000, r": not TOML: "),
])  # fmt: skip
def test_malformed_toml_is_refused_with_its_line(content: bytes, said: str, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises(TcsmtError, match=said) as raised:
        read_toml(file)
    assert str(raised.value).startswith(str(file))
    assert "\n" not in str(raised.value)


def test_no_file(file: Path) -> None:
    with pytest.raises(TcsmtError, match=r"mine\.toml: No such file"):
        read_toml(file)


LINES = [
    'title = """',
    "k = 1",
    "[[sum]]",
    '"""',
    "k = 2",
    '"n.fma" = 3',
    "[[sum]]",
    "k = 4",
    "[[sum]]",
    "every = 1",
    "k = 5",
    "",
]


@pytest.mark.parametrize(("key", "given", "line"), [
    ("k", {}, 5),  # and not the text's second line
    ("n.fma", {}, 6), ("none", {}, None),
    ("k", {"number": 0, "within": "sum"}, 8), ("k", {"number": 1, "within": "sum"}, 11),
    ("every", {"number": 0, "within": "sum"}, 7),  # the first table has none: the table's line
    ("every", {"number": 1, "within": "sum"}, 10), ("k", {"number": 2, "within": "sum"}, None),
])  # fmt: skip
def test_the_line_of_a_key_is_its_own(key: str, given: dict[str, object], line: int | None) -> None:
    path = Path("mine.toml")
    found = TomlFile(path, LINES, {}, **given).at(key)  # type: ignore[arg-type]
    assert found == ("mine.toml" if line is None else f"mine.toml:{line}")


@pytest.mark.parametrize("value", [3, "", "two\nlines", "\x1b[31mred"])
def test_a_text_is_one_line(value: object) -> None:
    file = TomlFile(Path("mine.toml"), ["k = 4", 'title = "?"'], {"title": value, "source": "a paper"})
    assert file.text("source") == "a paper"
    with pytest.raises(TcsmtError, match=r"^mine\.toml:2: title = .*one line"):
        file.text("title")


def test_values_as_files_have_them() -> None:
    assert [shown_value(v) for v in (True, False, 3, "text", [1])] == ["true", "false", "3", "'text'", "[1]"]
