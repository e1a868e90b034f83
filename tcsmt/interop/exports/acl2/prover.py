"""ACL2 as a process: forms go in, and what it prints comes out; theorems laid out in lines.

With the books of its own that ours include, it is saved as a program, which starts in 2 s instead of 20. The
program is made by ACL2, from its books, and holds nothing of tcsmt. It is kept in the user's cache, by the
file of ACL2 and by the contents of all books that it holds: where one of them is another now, it is made
again. Where it cannot be kept, a session loads the same books.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from tcsmt.support import cache
from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import lisp_string
from tcsmt.support.files import make_folder

_LOST = 3.0  # seconds: after an error in Lisp, ACL2 forgets what was sent
_PACKAGES = "acl2, acl2-books and acl2-books-certs"


class ProverStopped(Exception):
    """ACL2 did not answer in time, or ended."""


def prover_path() -> str:
    """Return where ACL2 is. Raises :class:`.TcsmtError` where it is not installed."""
    path = shutil.which("acl2")
    if path is None:
        raise TcsmtError(f"ACL2 is not installed: on Debian it is in the packages {_PACKAGES}")
    return path


class Prover:
    """An ACL2 session in a folder, to be used in a ``with`` statement. program: ACL2, or one saved by it.

    It starts in an empty folder and reads books from the other one: Lisp and ACL2 run the files ``init.lsp``
    and ``acl2-customization.lsp`` of the folder in which they start, and books may come from strangers. That
    folder is its home, too: ACL2 does not start where ``HOME`` is no folder.
    """

    def __init__(self, folder: Path, program: Path) -> None:
        self._folder, self._program = folder, program

    @property
    def start(self) -> Path:
        """Return the folder in which it has started: there, until it ends."""
        return Path(self._start.name)

    def __enter__(self) -> Self:
        self._start = tempfile.TemporaryDirectory(prefix="tcsmt-")
        self._process = subprocess.Popen(
            [self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            cwd=self._start.name,
            env=os.environ | {"ACL2_CUSTOMIZATION": "NONE", "HOME": self._start.name},
            start_new_session=True,
        )
        try:
            self.send(f"(set-debugger-enable nil)\n(set-cbd {lisp_string(f'{self._folder}/')})", 60)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        self._process.wait()
        self._start.cleanup()

    def _kill(self) -> None:
        """Kill it with what it has started, which would keep what is read from it open."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def megabytes(self) -> int:
        """Return the memory that it has; 0 where the system does not say."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return 0
        resident = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(resident.group(1)) >> 10 if resident else 0

    def send(self, forms: str, timeout: float) -> str:
        """Return what is printed while the forms are evaluated. timeout: in seconds.

        Raises :class:`ProverStopped` where it takes longer, and ends the session.
        """
        mark = f"end-of-forms-{secrets.token_hex(16)}"  # nothing that a form prints can look like it
        end = f'(cw "~%~s0~%" "{mark}")'
        stdout = self._process.stdout
        assert stdout is not None
        timers = [threading.Timer(timeout, self._kill)]
        timers[0].start()
        printed: list[str] = []
        try:
            self._write(f"{forms}\n{end}\n")
            for line in stdout:
                if line.strip() == mark:
                    return "".join(printed)
                printed.append(line)
                if "ABORTING from raw Lisp" in line:  # what was not read yet is lost then, the mark, too
                    timers.append(threading.Timer(_LOST, self._write, [f"{end}\n"]))
                    timers[-1].start()
        finally:
            for timer in timers:
                timer.cancel()
        tail = "".join(printed)[-500:]
        raise ProverStopped(f"ACL2 did not answer within {timeout:g} s, or ended: {tail}")

    def _write(self, forms: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: so does what it prints
            self._process.stdin.write(forms)
            self._process.stdin.flush()


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
    """Return a digest of each book, its certificate, and how large its compiled file is."""
    digests = {}
    for book in books:
        parts = [Path(f"{book}{suffix}").read_bytes() for suffix in (".lisp", ".cert")]
        compiled = Path(f"{book}.o")
        size = compiled.stat().st_size if compiled.exists() else 0
        digests[str(book)] = cache.digest(b"\0".join([*parts, str(size).encode()])).hex()
    return digests


_WIDTH = 100
_TOKEN = re.compile(r"\(|\)|'|\"(?:\\.|[^\"\\])*\"|[^\s()'\"]+", re.DOTALL)
#: A symbol, or a list, each with what is before it (a quote or nothing).
_Form: TypeAlias = "str | tuple[str, list[_Form]]"


def laid_out(theorem: str, names: Mapping[str, str]) -> list[str]:
    """Return the lines of a theorem. names: what a function is; its calls have lines of their own.

    >>> laid_out("(EQUAL (UNIT.1 A) (UNIT.2 A))", {"unit.1": "volta", "unit.2": "turing"})
    ['(EQUAL', '  (UNIT.1 A)  ; volta', '  (UNIT.2 A))  ; turing']
    """
    forms = _read(iter(_TOKEN.findall(theorem)))
    known = {function.lower(): name for function, name in names.items()}
    return [line for form in forms for line in _lines(form, 0, "", known)]


def _read(tokens: Iterator[str]) -> list[_Form]:
    """Return the forms up to the end, or to the parenthesis that closes them."""
    forms: list[_Form] = []
    before = ""
    for token in tokens:
        match token:
            case "'":
                before = "'"
                continue
            case "(":
                forms.append((before, _read(tokens)))
            case ")":
                break
            case _:
                forms.append(before + token)
        before = ""
    return forms


def _flat(form: _Form) -> str:
    return form if isinstance(form, str) else f"{form[0]}({' '.join(map(_flat, form[1]))})"


def _called(form: _Form, names: Mapping[str, str]) -> str:
    """Return what the function is that a form calls; "" of others."""
    first = form[1][0] if not isinstance(form, str) and form[1] else ""
    return names.get(first.lower(), "") if isinstance(first, str) else ""


def _has_call(form: _Form, names: Mapping[str, str]) -> bool:
    return not isinstance(form, str) and any(_called(f, names) or _has_call(f, names) for f in form[1])


def _lines(form: _Form, indent: int, after: str, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a form. after: the parentheses that close what it is in."""
    space, flat, name = " " * indent, _flat(form), _called(form, names)
    fits = indent + len(flat) + len(after) <= _WIDTH
    if isinstance(form, str) or name or (fits and not _has_call(form, names)):
        yield f"{space}{flat}{after}{name and f'  ; {name}'}"
        return
    before, (first, *others) = form[0], form[1] or [""]
    if not isinstance(first, str):
        first, others = "", [first, *others]
    yield f"{space}{before}({first}".rstrip()
    for number, other in enumerate(others, 1):
        yield from _lines(other, indent + 2, f"){after}" if number == len(others) else "", names)
