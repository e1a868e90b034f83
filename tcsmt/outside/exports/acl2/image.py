"""ACL2 with the books of its own that ours include, saved as a program: it starts in 2 s instead of 20.

The program is made by ACL2, from its books, and holds nothing of tcsmt. It is kept in the user's cache, by
the file of ACL2 and by the contents of all books that it holds: where one of them is another now, it is made
again. Where it cannot be kept, a session loads the same books.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from tcsmt.outside.exports.acl2.prover import Prover, ProverStopped, prover_path
from tcsmt.support import cache
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import make_folder

__all__ = ["is_saved", "load_books", "with_books"]

_BOOKS = (
    "centaur/gl/gl",
    "centaur/aignet/aig-cnf",
    "centaur/satlink/lrat-interface",
    "projects/sat/lrat/stobj-based/soundness",
    "projects/sat/lrat/stobj-based/lrat-parser",
)
#: What loads the books; redundant, and quick, in the saved program. An uncertified one is an error of ACL2's.
_LOADED = "\n".join(f'(include-book "{name}" :dir :system :uncertified-okp nil)' for name in _BOOKS)
_TIME = 900.0  # seconds: of a busy machine
#: The files of the saved program's folder: it, and which books it holds.
_PROGRAM, _HELD = "acl2", "books.json"


def load_books(prover: Prover, timeout: float = _TIME) -> list[Path]:
    """Have a session load the books, and return all that it has then: these, and those that they include.

    Raises :class:`.TcsmtError` where ACL2 does not take one of them as certified.
    """
    said = prover.send(_LOADED, timeout)
    mark = secrets.token_hex(16)
    held = prover.send(
        f'(cw "~%{mark} ~x0~%" (strip-cars (global-val \'include-book-alist-all (w state))))', timeout
    )
    books = [Path(text) for text in re.findall(r'"([^"]+)\.lisp"', held.partition(mark)[2])]
    missing = [name for name in _BOOKS if not any(str(book).endswith(f"/{name}") for book in books)]
    if missing:
        error = re.search(r"ACL2 (?:Error|Warning)[^\n]*.*?(?=\n\n|\Z)", said, re.DOTALL)
        why = f": {' '.join(error.group().split())[:300]}" if error else ""
        raise TcsmtError(
            f"ACL2's own book {missing[0]} is not there as a certified book: the packages acl2-books and "
            f"acl2-books-certs must be installed whole{why}"
        )
    return books


def with_books(try_out: Callable[[Path], None]) -> Path:
    """Return the program with the books, made if it is not there; ACL2 itself where it cannot be kept.

    try_out: is given a program that was just made, and raises an error where it does not work.
    Raises :class:`.TcsmtError` where ACL2's books are not certified.
    """
    program = Path(prover_path()).resolve()
    about = program.stat()
    key = cache.digest(f"{program} {about.st_size} {about.st_mtime_ns}\n{_LOADED}".encode()).hex()
    place = _place()
    if place is None:
        return program
    for home in sorted(place.glob(f"acl2-{key}-*")):
        if _is_of_these_books(home):
            return home / _PROGRAM
        shutil.rmtree(home, ignore_errors=True)  # books of it have changed: they do not become what they were
    try:
        return _made(program, place / f"acl2-{key}", try_out)
    except OSError:  # no space, for example
        return program


def is_saved(program: Path) -> bool:
    """Return whether a program is one that was kept, and not ACL2 itself or one that is tried out."""
    return program.parent.parent == _place()


def _place() -> Path | None:
    """Return the cache's folder; None where there is none, or it cannot be made."""
    try:
        place = cache.folder()
        make_folder(place)
    except TcsmtError:
        return None
    return place


def _made(program: Path, place: Path, try_out: Callable[[Path], None]) -> Path:
    """Save the program in a folder of its own first: others may do the same at this time."""
    with tempfile.TemporaryDirectory(prefix="acl2-", dir=place.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        with Prover(made, program) as prover:
            held = _digests(load_books(prover))
            with suppress(ProverStopped):  # saving ends the session
                prover.send(':q\n(save-exec "acl2" "with books")', _TIME)
            for file in prover.start.iterdir():
                shutil.move(file, made)
        if not (made / _PROGRAM).exists():
            return program
        (made / _HELD).write_text(json.dumps(held), encoding="utf-8")
        try_out(made / _PROGRAM)
        home = place.with_name(f"{place.name}-{cache.digest(json.dumps(held).encode()).hex()}")
        if not home.exists():
            shutil.move(made, home)
    return home / _PROGRAM


def _is_of_these_books(home: Path) -> bool:
    """Return whether a saved program's books are still the ones that it was made of."""
    try:
        held: dict[str, str] = json.loads((home / _HELD).read_text(encoding="utf-8"))
        return (home / _PROGRAM).exists() and held == _digests(map(Path, held))
    except (OSError, ValueError, AttributeError):
        return False


def _digests(books: Iterable[Path]) -> dict[str, str]:
    """A digest of each book, its certificate, and how large its compiled file is."""
    digests = {}
    for book in books:
        parts = [Path(f"{book}{suffix}").read_bytes() for suffix in (".lisp", ".cert")]
        compiled = Path(f"{book}.o")
        size = compiled.stat().st_size if compiled.exists() else 0
        digests[str(book)] = cache.digest(b"\0".join([*parts, str(size).encode()])).hex()
    return digests
