"""Parts of a certificate: where the files are, what names they may have, and what they look like."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tcsmt.interface.api.certificate_export import FORMATS
from tcsmt.prove.certificates.parts import require_shape, statement_files
from tcsmt.support.errors import Malformed
from tests.support.certificates import only
from tests.support.command_line import refused
from tests.support.fake_acl2 import fake_acl2


def test_statements_in_order(certificates: Path) -> None:
    paths = statement_files(certificates)
    assert paths == sorted(paths)
    assert len(paths) == 4


#: Names that are no statements', and a text that ends a string of Lisp and goes on as a command.
NAMES = [
    "..", ".", "", ".hidden", "-option", "_", "a b", "a\nb", 'a"b', "a'b", "a\\b", "a;b", "$(touch x)",
    "`touch x`", "a%0ab", "(cw 1)", "é", "a\u2028b", "\x1b[2J", "~", "a*", "\ud800", "a" * 201,
    """"))(defttag :e)(sys-call "touch" '("forged"))(ld '((cw \"""",
]  # fmt: skip
COMMANDS = [
    ("check",), ("check", "--json"), ("check", "--with", "acl2"), ("check", "--states", "volta", "ampere"),
    ("show",), *(("export", "--as", language, "--output", "OUT") for language in FORMATS),
]  # fmt: skip


@pytest.mark.slow_cases("..-arguments0")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [*((name, COMMANDS[0]) for name in NAMES), *product((NAMES[0], NAMES[7], NAMES[-1]), COMMANDS[1:])],
)
def test_names_of_statements_are_of_a_fixed_alphabet(
    certificates: Path, tmp_path: Path, name: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They become names of files, of folders, and parts of Lisp: no command takes another one."""
    folder, out = tmp_path / "a" / "c", tmp_path / "a" / "out"
    path = only(certificates, folder, "2 carry bits")
    try:
        path.rename(path.with_name(f"{name}.json"))
    except (OSError, UnicodeError):
        pytest.skip("a name that this file system does not take")
    out.mkdir()
    monkeypatch.chdir(tmp_path)
    fake_acl2(tmp_path, monkeypatch, "*) touch forged ;;")
    before = sorted(tmp_path.rglob("*"))
    command, *options = (out if word == "OUT" else word for word in arguments)
    said = refused("certificate", command, folder, *options)
    assert "a letter or a digit, then up to 199" in said
    assert len(said.splitlines()) == 1 and said[:-1].isprintable()
    assert sorted(tmp_path.rglob("*")) == before


SHAPES = {
    "smt2": (
        ["(check-sat)\n", "; a\n(assert true)\n(check-sat)\n(exit)\n"],
        ["", "(assert true)", "é(check-sat)"],
    ),
    "cnf": (
        ["p cnf 0 0\n", "c x\np cnf 2 2\n1 -2 0\n0\n"],
        ["", "1 0\n", "p cnf 1 1\n1", "p cnf 1 1\n01 0\n"],
    ),
    "lrat": (
        ["", "3 0 1 2 0\n", "3 1 -2 0 1 -2 0\n3 d 1 2 0\n"],
        ["3 0 1 2", "x 0 1 0\n", "3 d x 0\n", "3 d 1\n", "\n", "3 0 0 1 0\n", "3 0 1 0\nwords\n"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("suffix", "good", "bad"), [(suffix, *SHAPES[suffix]) for suffix in SHAPES])
def test_shapes_of_lemmas_files(suffix: str, good: list[str], bad: list[str]) -> None:
    for text in good:
        require_shape(Path("a"), suffix, text.encode())
    for text in bad:
        with pytest.raises(Malformed, match="a: not "):
            require_shape(Path("a"), suffix, text.encode())
