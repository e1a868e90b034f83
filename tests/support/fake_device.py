"""A compiler whose programs answer rows as a unit's model does: a device that this machine does not have."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_PROGRAM = """#!{python}
import json, sys
from tcsmt.matrix_units.catalogue import row_named
import numpy as np
from tcsmt.matrix_units.files.word_files import result_type, row_type
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.rows import run_words
model = row_named({unit!r}).model
if "--rows" not in sys.argv:
    print(json.dumps({{"model": {unit!r}, "gpu": "fake", "date": "2026-01-01T00:00:00Z", "rows": []}}))
    sys.exit()
while head := sys.stdin.buffer.read(4):
    count = int.from_bytes(head, "little")
    data = np.frombuffer(sys.stdin.buffer.read(count * row_type(model).itemsize), row_type(model))
    rows = Operands(**{{name: np.ascontiguousarray(data[name]) for name in data.dtype.names}})
    {before}
    d = run_words(model, rows) ^ {flip}
    sys.stdout.buffer.write(d.astype(result_type(model)).tobytes())
    sys.stdout.buffer.flush()
"""


def fake_device(
    monkeypatch: pytest.MonkeyPatch, folder: Path, unit: str, *, flip: int = 0, before: str = "pass"
) -> None:
    """An ``nvcc`` whose programs are this unit, with the bits ``flip`` inverted in every answer."""
    program = _PROGRAM.format(python=sys.executable, unit=unit, flip=flip, before=before)
    compiler = folder / "nvcc"
    compiler.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "target = sys.argv[sys.argv.index('-o') + 1]\n"
        f"open(target, 'w').write({program!r})\n"
        "os.chmod(target, 0o755)\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("TCSMT_NVCC", str(compiler))
