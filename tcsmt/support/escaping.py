"""Text of others in another language: one function for each, so that no text is code, a path or markup.

A name, a title or a note of a file is data, whatever it holds. HTML and XML have :func:`html.escape`, shells
:func:`shlex.quote`, JSON :func:`json.dumps`, SMT-LIB :func:`tcsmt.language.write.smtlib.symbol`; programs are
started with lists of words, without a shell.
"""

from __future__ import annotations

import re

from tcsmt.support.text import one_line

#: What LaTeX reads as something else.
_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def file_operand(path: object) -> str:
    """Return a file's name as a word that no program takes for one of its options.

    >>> file_operand("-o.c"), file_operand("dot.c")
    ('./-o.c', 'dot.c')
    """
    return f"./{path}" if str(path).startswith(("-", "+", "@")) else str(path)


def comment(text: str) -> str:
    """Return the text as a line of a comment, in any language that has these: nothing in it ends the comment.

    In C, a backslash (or ``??/``) at the end of a line goes on in the next one, and ``*/`` ends a comment.

    >>> comment("two\\nlines */ ??/")
    'two\\\\nlines * / ? ?/'
    """
    plain = one_line(text).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
    return re.sub(r"(\\+)(\s*)$", r"\1.", plain)


def c_string(text: str) -> str:
    """Return a string literal of C, C++ and CUDA, in ASCII; a question mark may begin a trigraph.

    A character beyond ASCII becomes the text of its escape in Python, such as ``\\xe9``.

    >>> print(c_string('say "a"??/'))
    "say \\"a\\"\\?\\?/"
    """
    ascii_text = text.encode("ascii", "backslashreplace").decode()
    quoted = re.sub(r'(["\\?])', r"\\\1", ascii_text)
    return '"' + re.sub(r"[\0-\x1f\x7f]", lambda match: f"\\{ord(match[0]):03o}", quoted) + '"'


def lisp_string(text: str) -> str:
    """Return a string of Lisp.

    >>> print(lisp_string('a "b"'))
    "a \\"b\\""
    """
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def lisp_symbol(text: str) -> str:
    """Return a part of a symbol of Lisp, made of the text: letters, digits and hyphens.

    >>> lisp_symbol("single-bf16 @ Volta")
    'single-bf16---volta'
    """
    return re.sub(r"[^a-z0-9]", "-", text.lower())


def latex_text(text: str) -> str:
    """Return the text for LaTeX, in which it looks as it is.

    >>> print(latex_text("50% of a_0"))
    50\\% of a\\_0
    """
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def bibtex_comment(text: str) -> str:
    """Return a comment between entries, in which BibTeX, which has no comments, sees no entry begin.

    >>> bibtex_comment("a unit @1")
    '% a unit (at)1'
    """
    return f"% {one_line(text)}".replace("@", "(at)")


def markdown_cell(text: str) -> str:
    """Return the text of a cell of a Markdown table, without markup of its own.

    >>> markdown_cell("a|b")
    'a\\\\|b'
    """
    return re.sub(r"([|<])", r"\\\1", one_line(text))
