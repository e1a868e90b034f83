"""The package's own source text, as a digest: what an answer rests on besides the question."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

__all__ = ["digest_of_sources"]

#: Of files that say what is computed: code, and tables such as the catalogue's.
_SUFFIXES = (".py", ".toml")


@cache
def digest_of_sources(*rooms: str) -> str:
    """Return the digest of the code and tables, .py and .toml, in these rooms (``prove``) or modules.

    Of the text: a changed comment gives another digest, and what rests on it is computed again.
    """
    package = Path(__file__).parents[1]
    made = blake2b(digest_size=16)
    for room in rooms:
        found = (path for path in (package / room).rglob("*") if path.suffix in _SUFFIXES)
        files = sorted(found) or [package / f"{room}.py"]
        for file in files:
            content = file.read_bytes()
            name = file.relative_to(package).as_posix()
            made.update(f"{name} {len(content)}\n".encode() + content)
    return made.hexdigest()
