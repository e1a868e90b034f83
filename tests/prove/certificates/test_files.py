"""Files of a certificate: where they are, and what names they may have."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tcsmt.face.api.certificate_export import FORMATS
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.files import opened, record_of, statement_files
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import carry_bits, edited, only
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
    assert "a file's name must be a letter or a digit, then up to 199" in said
    assert len(said.splitlines()) == 1 and said[:-1].isprintable()
    assert sorted(tmp_path.rglob("*")) == before


def test_statements_are_read_with_their_proofs(certificates: Path) -> None:
    (path,) = (path for path in statement_files(certificates) if path.name.startswith("2-carry"))
    statement, proof = opened(path, record_of(path))
    assert statement.goal is carry_bits().goal
    assert proof


def renamed(name: str, record: Any) -> None:
    """Another name of the first call's model."""
    record["statement"]["calls"][0]["model"] = name


def test_a_models_file_is_in_the_folder(certificates: Path, tmp_path: Path) -> None:
    """A name that leads elsewhere is refused, also where there is such a file."""
    path = only(certificates, tmp_path / "c", "2 carry bits")
    name = record_of(path)["statement"]["calls"][0]["model"]
    for given in (
        f"../models/{name}",
        str(tmp_path / "c" / "models" / name),
        f"./{name}",
        name.upper(),
        name[:-5],
    ):
        edited(path, partial(renamed, given))
        with pytest.raises(InvalidProof, match="not the name of a model's file"):
            opened(path, record_of(path))


def test_proofs_nested_too_deeply_are_refused(certificates: Path, tmp_path: Path) -> None:
    """What is nested more deeply than Python can follow is refused, not a crash."""
    path = only(certificates, tmp_path / "c", "2 carry bits")
    for levels in (100, 250, 400, 490, 5000):
        proof = '[{"using": [], "free": []}]'
        text = '[{"fact": 2, "proof": ' * levels + proof + '}, {"using": [], "free": []}]' * levels
        path.write_text(path.read_text().partition('"proof": ')[0] + f'"proof": {text}, "lemmas": []}}')
        if levels == 100:
            opened(path, record_of(path))
        elif levels > 400:
            with pytest.raises((InvalidProof, TcsmtError), match=r"nested|recursion"):
                opened(path, record_of(path))
        else:
            with suppress(InvalidProof):
                opened(path, record_of(path))
        path.unlink()
        path = only(certificates, tmp_path / f"c{levels}", "2 carry bits")
