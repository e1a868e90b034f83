"""The units of a page as scripts: each distinct function is one WebAssembly module, as text.

A page that is opened as a file cannot read other files, but can load classic scripts. So a module is deflated
and written in base64 as the argument of a call. Units of one function share their module.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from tcsmt.interop.exports.webassembly import module_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.support.progress import ProgressCallback, no_progress


@dataclass(frozen=True)
class Modules:
    """names: of each row's module, by the row's name. scripts: of each module, by its name."""

    names: dict[str, str]
    scripts: dict[str, str]


def modules_of(rows: Sequence[Row], progress: ProgressCallback = no_progress) -> Modules:
    """Return the modules of some units, with their stages. progress: called with units done, of how many."""
    names: dict[str, str] = {}
    scripts: dict[str, str] = {}
    by_model: dict[Model, str] = {}
    for number, row in enumerate(rows, 1):
        if row.model not in by_model:
            code = module_of(row.model).code
            name = by_model[row.model] = blake2b(code, digest_size=6).hexdigest()
            if name not in scripts:
                scripts[name] = _script(name, code)
        names[row.name] = by_model[row.model]
        progress(number, len(rows), row.name)
    return Modules(names, scripts)


def _script(name: str, code: bytes) -> str:
    compressor = zlib.compressobj(9, wbits=-15)
    deflated = compressor.compress(code) + compressor.flush()
    return f'moduleText("{name}","{base64.b64encode(deflated).decode()}");\n'
