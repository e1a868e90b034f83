"""What an earlier run of a command left, for one that goes on from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tcsmt.support.errors import TcsmtError

__all__ = ["earlier"]

T = TypeVar("T")


def earlier(path: Path | None, read: Callable[[Any], T], option: str = "") -> T | None:
    """What ``read`` takes from a JSON file, or None where there is no file.

    option: what gave the path, for the error. Raises :class:`.TcsmtError` where the file
    cannot be read, or lacks what ``read`` looks for.
    """
    if path is None or not path.exists():
        return None
    try:
        return read(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        given = f"{option} {path}".lstrip()
        raise TcsmtError(f"{given}: a file is there that is none of this command's") from None
