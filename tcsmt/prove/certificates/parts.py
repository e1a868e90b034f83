"""The parts of a certificate: which files it has, and what these look like.

What is here can only refuse: whatever it lets through is checked by the other modules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tcsmt.support.errors import Malformed, TcsmtError, TooLarge
from tcsmt.support.text import one_line

#: The files of a lemma, by their suffixes.
SUFFIXES = ("smt2", "cnf", "lrat")

_NAMES = (
    "a file's name must be a letter or a digit, then up to 199 letters, digits, dots, hyphens, underscores, "
    "then .json"
)
#: What a lemma's files look like, whatever they say.
_SHAPES = {
    "smt2": ("a script of SMT-LIB", rb"[\t\n -~]*\(check-sat\)[\t\n -~]*"),
    "cnf": ("clauses in the DIMACS format", rb"(?:c[^\n]*\n)*p cnf \d+ \d+\n(?:(?:-?[1-9]\d* )*0\n)*"),
    "lrat": (
        "a refutation in the LRAT format",
        rb"(?:\d+ (?:d (?:[1-9]\d* )*|(?:-?[1-9]\d* )*0 (?:-?[1-9]\d* )*)0\n)*",
    ),
}


def statement_files(folder: Path) -> list[Path]:
    """Return the files of a certificate's statements. Raises :class:`.TcsmtError` where there is none.

    A file of another name is refused, so that none is left out; hidden ones are a system's own.
    """
    paths = sorted(
        path
        for path in (folder / "statements").glob("*")
        if path.name.endswith(".json") or not path.name.startswith(".")
    )
    for name in (path.name for path in paths):  # other files, folders and parts of Lisp are named after it
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,199}\.json", name, re.ASCII):
            raise TcsmtError(f"{folder}: statements/{name!r:.80}: {_NAMES}")
    if not paths:
        raise TcsmtError(f"{folder} is not a certificate: it has no files statements/*.json")
    return paths


@contextmanager
def in_file(path: Path) -> Iterator[None]:
    """Say with the path of a statement's file what is wrong with a part of it."""
    try:
        yield
    except (Malformed, TooLarge) as why:
        raise type(why)(f"{path}: {one_line(str(why))}") from None
    except RecursionError:
        raise TooLarge(f"{path}: it is nested more deeply than is read") from None


def require_names(names: object) -> None:
    """Raise :class:`.Malformed` for what is not a list of lemmas' names."""
    for name in as_list(names):
        if not isinstance(name, str) or not re.fullmatch(r"[0-9a-f]{32}", name):
            raise Malformed(f"{name!r:.80} is not the name of a lemma")


def require_shape(path: Path, suffix: str, content: bytes) -> None:
    """Raise :class:`.Malformed` for a lemma's file that is not what files of its suffix are."""
    what, shape = _SHAPES[suffix]
    if not re.fullmatch(shape, content):
        raise Malformed(f"{path}: not {what}")


def require_lemmas(folder: Path, names: Iterable[str]) -> None:
    """Raise :class:`.Malformed` where a file of one of these lemmas is missing."""
    for path in (path_of(folder, name, suffix) for name in names for suffix in SUFFIXES):
        if not path.is_file():
            raise Malformed(f"{path} is missing")


def path_of(folder: Path, name: str, suffix: str) -> Path:
    """Return a file of a lemma, in the folder of a certificate."""
    return folder / "lemmas" / f"{name}.{suffix}.xz"


def with_keys(what: str, data: object, needed: Sequence[str], more: Sequence[str] = ()) -> dict[str, Any]:
    """Return an object that has the needed keys, and no others but ``more``. Raises :class:`.Malformed`."""
    if not isinstance(data, dict):
        raise Malformed(f"{what} is not an object: {data!r:.200}")
    missing, unknown = sorted(set(needed) - data.keys()), sorted(data.keys() - {*needed, *more})
    if missing or unknown:
        fault = f"has no {', '.join(missing)}" if missing else f"has {', '.join(map(repr, unknown))}"
        raise Malformed(f"{what} {fault:.200}: its keys are {', '.join(needed)}")
    return data


def as_list(value: object) -> list[Any]:
    """Return a list as it is. Raises :class:`.Malformed` for anything else."""
    if not isinstance(value, list):
        raise Malformed(f"not a list: {value!r:.200}")
    return value
