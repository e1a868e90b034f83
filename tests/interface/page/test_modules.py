"""Units as scripts: text that decodes to the module of the unit's function."""

from __future__ import annotations

import base64
import json
import re
import zlib

from tcsmt.interface.page.modules import modules_of
from tcsmt.interop.exports.webassembly import module_of
from tcsmt.matrix_units.catalogue import row_named


def test_scripts_hold_the_modules() -> None:
    rows = [row_named(name) for name in ("volta", "turing/mma.m8n8k4.f32.f16.f16.f32", "hopper")]
    seen: list[tuple[int, int, str]] = []
    modules = modules_of(rows, lambda *what: seen.append(what))
    assert [done for done, _, _ in seen] == [1, 2, 3] and {count for _, count, _ in seen} == {3}
    assert modules.names[rows[0].name] == modules.names[rows[1].name] != modules.names[rows[2].name]
    assert len(modules.scripts) == 2
    for row in rows:
        name = modules.names[row.name]
        match = re.fullmatch(r"moduleText\((.*)\);\n", modules.scripts[name])
        assert match is not None
        key, text = json.loads(f"[{match[1]}]")
        assert key == name
        assert zlib.decompress(base64.b64decode(text), wbits=-15) == module_of(row.model).code
