"""ACL2 with the books of its own that ours include, saved as a program: it starts in 2 s instead of 20.

The program is made by ACL2, from its books, and holds nothing of tcsmt. It is kept in the user's cache, by
the file of ACL2 that made it; where it cannot be made, a session loads the same books.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from tcsmt.outside.exports.acl2.prover import Prover, ProverStopped, prover_path
from tcsmt.support import cache
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import make_folder

__all__ = ["LOADED", "with_books"]

_BOOKS = (
    "centaur/gl/gl",
    "centaur/aignet/aig-cnf",
    "centaur/satlink/lrat-interface",
    "projects/sat/lrat/stobj-based/soundness",
    "projects/sat/lrat/stobj-based/lrat-parser",
)
#: What loads the books; redundant, and quick, in the saved program.
LOADED = "\n".join(f'(include-book "{name}" :dir :system)' for name in _BOOKS)
_TIME = 900.0  # seconds: of a busy machine


def with_books() -> Path:
    """The program with the books, made if it is not there; ACL2 itself where it cannot be saved."""
    program = Path(prover_path()).resolve()
    about = program.stat()
    key = cache.digest(f"{program} {about.st_size} {about.st_mtime_ns}\n{LOADED}".encode()).hex()
    home = cache.folder() / f"acl2-{key}"
    if not (home / "acl2").exists():
        with suppress(OSError, TcsmtError):
            _save(program, home)
    return home / "acl2" if (home / "acl2").exists() else program


def _save(program: Path, home: Path) -> None:
    """In a folder beside it first: others may do the same at this time."""
    make_folder(home.parent)
    with tempfile.TemporaryDirectory(prefix="acl2-", dir=home.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        with Prover(made, program) as prover, suppress(ProverStopped):  # saving ends the session
            prover.send(f'{LOADED}\n:q\n(save-exec "acl2" "with books")', _TIME)
        if (made / "acl2").exists() and not home.exists():
            shutil.move(made, home)
