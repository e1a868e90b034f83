"""Files of strangers: names and texts in them that are code, a path or markup of another language.

Every kind of file that has text is written with every hostile text, and given to everything that writes it
on. In no output does a text begin a line, end a comment or a string, or have a control character.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tcsmt
from tcsmt.interop.c_reader import c_source
from tcsmt.interop.c_reader.c_source import ReadingTime
from tcsmt.interop.exports.languages import LANGUAGES
from tcsmt.interop.hardware.source import program
from tcsmt.interop.hardware.vectors import Vector
from tcsmt.interop.implementations import rtl
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.model_files import model_toml, read_model
from tcsmt.support.progress import no_progress
from tests.support.certificates import edited, only
from tests.support.command_line import done, refused
from tests.support.command_line import tcsmt as command

#: What a text must not become: a line of its own that begins like this.
EVIL = "EVIL"
TEXTS = [
    f"a\n{EVIL}", f"a\r{EVIL}", f"a\u2028{EVIL}", f"*/ {EVIL} /*", f"a \\\n{EVIL}", f"a ??/\n{EVIL}",
    "ends in \\", f'"; {EVIL}; //', f'??/"; {EVIL}; //', f"'); {EVIL}", f"|) ({EVIL}", f')) ({EVIL} "',
    f"<script>{EVIL}</script>", f"$({EVIL})", f"`{EVIL}`", f"; {EVIL}", f"@article{{{EVIL},}}",
    f"\\input{{{EVIL}}}", f"a|{EVIL}|", "\x1b[2J", f"-/ {EVIL}", f"%s%n {EVIL}", "$name ${x}",
]  # fmt: skip
hostile = pytest.mark.parametrize("text", TEXTS)


def plain(text: str) -> None:
    """No line of an output is the stranger's, and no character moves the cursor."""
    for line in text.split("\n"):
        assert line.replace("\t", " ").isprintable(), line
        assert not line.lstrip(" ;/*#%-").startswith(EVIL), line


def model_file(folder: Path, key: str, text: str) -> Path:
    """A unit whose key has the text; a line break in a file's text is refused, in a file's name it is not."""
    path = folder / "unit.toml"
    if key == "file":
        path = folder / f"{text.replace('/', '_')}.toml"
    given = "" if key == "file" else f"{key} = {json.dumps(text)}\n"
    path.write_text(f'base = "volta"\n{given}carry_bits = 3\n')
    return path


@hostile
@pytest.mark.parametrize("key", ["name", "source", "note", "file"])
def test_a_models_file(key: str, text: str, tmp_path: Path) -> None:
    path = model_file(tmp_path, key, text)
    if key != "file" and not text.isprintable():
        assert "must be one line of text" in refused("describe", path)
        return
    row = read_model(path)
    for language in LANGUAGES[:-1]:
        written = tcsmt.export(path, language, name="unit").text
        plain(written)
        assert written.count("*/") == (tcsmt.export("volta", language, name="unit").text.count("*/"))
    plain(model_toml(row))
    again = tmp_path / "again.toml"
    again.write_text(model_toml(row))
    assert read_model(again).model == row.model
    plain(done("describe", path))
    cited = done("describe", path, "--cite")
    plain(cited)
    assert "@" not in cited  # no entry: BibTeX has no comments, and reads one wherever this begins


@hostile
@pytest.mark.slow
def test_a_certificates_title(text: str, certificates: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    edited(only(certificates, folder, "2 carry bits"), lambda record: record["statement"].update(title=text))
    printed = command("certificate", "check", folder)
    plain(printed.stdout)
    if not text.isprintable():
        assert printed.exit_code == 2 and "not a line of text" in printed.stderr
        plain(printed.stderr)
        return
    for language in ("smtlib", "lean", "acl2"):
        (statement,) = tcsmt.export_certificate(folder, language).statements
        for written in statement.files.values():
            plain(written)
            comments = [line for line in written.split("\n") if EVIL in line]
            assert all(line.startswith((";", "--")) for line in comments)


@pytest.mark.parametrize(
    "name", ["true", "let", "if", "BitVec", "condition_1", "in_domain", "results_differ", "umax9", "fun"]
)
@pytest.mark.parametrize("language", ["smtlib", "lean"])
def test_names_of_inputs_that_mean_something_else(
    name: str, language: str, certificates: Path, tmp_path: Path
) -> None:
    """They would change what an exported statement says: (condition_1 := P) and its own name in the next."""
    folder = tmp_path / "c"
    path = only(certificates, folder, "a NaN stays")
    path.write_text(re.sub(r'"c"(?=: "|, \[\])', f'"{name}"', path.read_text()))
    said = refused("certificate", "export", folder, "--as", language, "--output", tmp_path / "out")
    assert f"{name!r} is not exported as the name of an input" in said
    assert not (tmp_path / "out").exists()


@hostile
def test_a_probe(text: str, tmp_path: Path) -> None:
    """What a file of rows says stands in comments and strings of a program in C11, which has trigraphs."""
    row = row_named("x86/vdpbf16ps")
    words = tuple(0 for _ in row.model.input_names)
    source = program(row, [Vector(asks=text, words=words, predictions={text: 0})], "c", made_by=text)
    plain(source)
    if shutil.which("gcc"):
        (tmp_path / "probe.c").write_text(source)
        said = subprocess.run(
            ["gcc", "-std=c11", "-fsyntax-only", "probe.c"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode == 0, said.stderr


@hostile
@pytest.mark.slow
def test_a_design(text: str, tmp_path: Path) -> None:
    """The file's name is a word for Yosys and clang, and no part of a script or an option."""
    name = text.replace("/", "_")
    if rtl.available():
        path = tmp_path / f"{name}.sv"
        path.write_text("module t (input logic [3:0] a, output logic [3:0] d); assign d = a; endmodule\n")
        if any(part in name for part in ("*", "?", "...")):
            with pytest.raises(tcsmt.TcsmtError, match="are not allowed") as error:
                rtl.read_rtl([path], "t", "d")
            plain(str(error.value))
        else:
            assert "output" in rtl.read_rtl([path], "t", "d").btor2
        assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("name", ["-fplugin=evil.c", "@evil.c", "-o.c", "-.c"])
def test_a_file_of_c_is_no_option(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not c_source.available():
        pytest.skip("clang is not installed")
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("unsigned d(unsigned a) { return a; }\n")
    u32 = {operand: format_named("f32") for operand in "abcd"}
    function = c_source.CFunction(file=Path(name), name="d", formats=u32, k=1)
    assert "define" in function._compiled(c_source._OPTIONS, ReadingTime(Path(name), 60, no_progress))
    assert [*tmp_path.iterdir()] == [tmp_path / name]
