"""Text of others in other languages: each is read back by a reader of that language, as it was."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.support.escaping import (
    bibtex_comment,
    c_string,
    comment,
    file_operand,
    latex_text,
    lisp_string,
    lisp_symbol,
    markdown_cell,
)

TEXTS = st.text() | st.text(alphabet="\\\"'?/*|;$`(){}<>@%&#~^_- \n\r\tab1")


@pytest.mark.slow
@given(TEXTS)
def test_a_comment_is_one_line_that_ends_with_it(text: str) -> None:
    line = comment(text)
    assert line.isprintable() and len(line.splitlines()) <= 1
    assert "*/" not in line and "/*" not in line and "??" not in line
    assert not line.rstrip().endswith("\\")


def test_c_reads_its_strings_and_comments(tmp_path: Path) -> None:
    """Of C11, in which trigraphs are read before anything else."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    texts = [
        '??/"; return 7; //',
        'a"b',
        "a\\",
        "??/",
        "\\??/",
        "%d",
        "??'",
        "*/ int x = ; /*",
        "a\\\nb",
        "a??/\n",
    ]
    lines = [f"// {comment(text)}\n/* {comment(text)} */" for text in texts]
    code = ", ".join(map(c_string, texts))
    (tmp_path / "a.c").write_text(
        "#include <stdio.h>\n" + "\n".join(lines) + f"\nint main(void) {{ const char *t[] = {{{code}}};\n"
        f"  for (int i = 0; i < {len(texts)}; ++i) fwrite(t[i], 1, __builtin_strlen(t[i]) + 1, stdout);\n}}\n"
    )
    subprocess.run(["gcc", "-std=c11", "-o", "a", "a.c"], cwd=tmp_path, check=True, capture_output=True)
    said = subprocess.run([tmp_path / "a"], capture_output=True, check=True).stdout
    assert said.decode().split("\0")[:-1] == texts


@given(TEXTS)
def test_lisp_reads_its_strings(text: str) -> None:
    """A reader of Lisp's strings: a backslash takes the next character as it is, and a quote ends it."""
    written = lisp_string(text)
    match = re.fullmatch(r'"((?:\\.|[^"\\])*)"', written, re.DOTALL)
    assert match and re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL) == text
    assert re.fullmatch(r"[a-z0-9-]*", lisp_symbol(text))


@given(TEXTS)
def test_files(text: str) -> None:
    assert file_operand(text)[:1] not in ("-", "+", "@")


def test_markup() -> None:
    assert latex_text(r"\input{x} ~^") == r"\textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{}"
    assert bibtex_comment("a\n@article{x,}") == r"% a\n(at)article{x,}"
    assert markdown_cell("a|b\n|c|<script>") == r"a\|b\n\|c\|\<script>"
