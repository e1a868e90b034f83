"""Files are read as they are, compressed with xz or not."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tcsmt.support import reading
from tcsmt.support.errors import TcsmtError, TooLarge
from tcsmt.support.reading import TomlFile, json_of, read_bytes, read_toml, shown_value, uncompressed


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json.xz"
    path.write_bytes(lzma.compress(b"[1]"))
    assert read_bytes(path) == b"[1]"
    assert uncompressed(path) == uncompressed(tmp_path / "a.json") == tmp_path / "a.json"
    path.write_bytes(b"{}")
    with pytest.raises(TcsmtError, match=r"a\.json\.xz is not compressed with xz"):
        read_bytes(path)
    with pytest.raises(TcsmtError, match=r"none\.xz: No such file"):
        read_bytes(tmp_path / "none.xz")


def test_files_are_read_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is packed, the limit is about what it unpacks to; a large file may unpack to more."""
    plain, packed = tmp_path / "a", tmp_path / "a.xz"
    plain.write_bytes(bytes(1000))
    packed.write_bytes(lzma.compress(bytes(1000)))
    for path in (plain, packed):
        assert len(read_bytes(path, 1000)) == len(read_bytes(path)) == 1000
        with pytest.raises(TooLarge, match=r"more than .*999 bytes"):
            read_bytes(path, 999)
    monkeypatch.setattr(reading, "_UNPACKED", 500)
    monkeypatch.setattr(reading, "_FOLD", 2)
    with pytest.raises(TooLarge, match="unpacks to more than"):
        read_bytes(packed)
    assert reading.most_unpacked(1000) == 2000
    assert len(read_bytes(plain)) == 1000


def test_several_streams_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(b"one ") + lzma.compress(b"two"))
    assert read_bytes(path) == b"one two" == lzma.decompress(path.read_bytes())
    path.write_bytes(lzma.compress(b"one" * 1000)[:-9])
    with pytest.raises(TcsmtError, match="not to the end"):
        read_bytes(path)


def test_unpacking_takes_little_memory(tmp_path: Path) -> None:
    """A file may ask for a dictionary of gigabytes, whatever is in it."""
    path = tmp_path / "a.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    path.write_bytes(lzma.compress(b"x", filters=filters))
    with pytest.raises(TcsmtError, match="not compressed with xz"):
        read_bytes(path)


def test_what_json_says() -> None:
    assert json_of(b'{"a": [1, {"b": null}], "c": 1.5}') == {"a": [1, {"b": None}], "c": 1.5}
    assert json_of("[NaN]", parse_constant=str) == ["NaN"]
    assert json_of("1.50", parse_float=str) == "1.50"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "b": 2, "a": 1}', "'a' is given twice"),
        ('[{"x": {"y": 1, "y": 2}}]', "'y' is given twice"),
        ("[NaN]", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "digits"),
        ("{", "Expecting"),
    ],
)
def test_what_is_not_one_text(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        json_of(text)


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
