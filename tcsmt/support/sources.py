"""The package's own source text, as a digest: what an answer rests on besides the question."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

__all__ = ["digest_of_sources"]


@cache
def digest_of_sources(*rooms: str) -> str:
    """The digest of every Python file in these rooms (``prove``) or modules (``terms``) of the package.

    Of the text: a changed comment gives another digest, and what rests on it is computed again.
    """
    package = Path(__file__).parents[1]
    made = blake2b(digest_size=16)
    for room in rooms:
        files = sorted((package / room).rglob("*.py")) or [package / f"{room}.py"]
        for file in files:
            content = file.read_bytes()
            name = file.relative_to(package).as_posix()
            made.update(f"{name} {len(content)}\n".encode() + content)
    return made.hexdigest()
