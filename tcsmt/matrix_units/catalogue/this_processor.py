"""The processor of this machine: what it is, and which of the catalogue's features it has."""

from __future__ import annotations

from pathlib import Path

from tcsmt.matrix_units.catalogue.processors import INSTRUCTIONS, Processor
from tcsmt.support.errors import TcsmtError

__all__ = ["CPUINFO", "facts", "this_processor"]

#: What the kernel says of the processor; its features are its flags.
CPUINFO = Path("/proc/cpuinfo")


def facts(path: Path) -> dict[str, str]:
    """Each name in the file, with the last value that it has. Raises :class:`.TcsmtError`."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise TcsmtError(f"cannot tell what this CPU has: {path}: {error.strerror}") from None
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def this_processor(architecture: str) -> Processor:
    """Return the processor of this machine, which has that architecture.

    Raises :class:`.TcsmtError` where nothing says what it is.
    """
    entries = facts(CPUINFO)
    has = {*entries.get("flags", entries.get("Features", "")).split()}
    singles = [feature for name in INSTRUCTIONS for feature in name.split() if feature in has]
    numbers = [
        f"{label} {entries[key]}"
        for key, label in (
            ("cpu family", "family"),
            ("model", "model"),
            ("CPU implementer", "implementer"),
            ("CPU part", "part"),
        )
        if key in entries
    ]
    name = entries.get("model name", "of unknown name")
    about = f"this processor, {name} ({', '.join(numbers)})" if numbers else f"this processor, {name}"
    return Processor(architecture, about, tuple(dict.fromkeys(singles)))
