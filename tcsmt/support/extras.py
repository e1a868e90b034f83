"""The libraries of tcsmt's extras, and the command that installs those of one.

No package index has tcsmt. So no message says ``pip install 'tcsmt[…]'``: pip would find nothing, or a
stranger's package of that name.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What each extra that a message names needs; as ``pyproject.toml`` has it.
LIBRARIES = {
    "certificates": ("python-sat>=1.9.dev17",),
    "dask": ("distributed>=2024.1",),
    "fast": ("llvmlite>=0.45",),
    "plot": ("matplotlib>=3.8",),
    "rtl": ("pyosys>=0.60",),
    "torch": ("torch>=2.8", "safetensors>=0.5"),
    "triton": ("triton>=3.5",),
}


def install(extra: str) -> str:
    """Return the command that installs an extra for this Python, as tcsmt itself was installed.

    That is from the folder or the file that tcsmt was installed from, where that is still there; else the
    extra's libraries are named.
    """
    libraries = LIBRARIES[extra]
    editable, place = _origin()
    words = [*editable, f"{place}[{extra}]"] if place else libraries
    return shlex.join([sys.executable, "-m", "pip", "install", *words])


def _origin() -> tuple[list[str], str]:
    """Return pip's options and the folder or file of the installation; an empty text where there is none."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import

    try:
        record = distribution("tcsmt").read_text  # always as UTF-8
        recorded = json.loads(record("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return [], ""
    url = urlsplit(recorded.get("url", ""))
    path = Path(unquote(url.path))
    if url.scheme != "file" or not ((path / "pyproject.toml").is_file() or path.is_file()):
        return [], ""
    return ["-e"] if recorded.get("dir_info", {}).get("editable") else [], str(path)
