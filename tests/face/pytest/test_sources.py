"""What a function is made of: a change of anything that is known changes its mark."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcsmt.face.pytest.sources import fingerprint

FILES = {
    "top.py": "from inner import helper\nimport math\n\n"
    "def function(a, b, c):\n    import late\n    return helper(a)\n"
    "def closed(n, other=None):\n    def inside(a, b, c, m=2):\n        return n, other\n    return inside\n",
    "inner.py": "from package.part import VALUE\n\ndef helper(a):\n    return VALUE in {'x', 'y', 'z'}\n",
    "late.py": "X = 1\n",
    "package/__init__.py": "",
    "package/part.py": "from . import sibling\nVALUE = 1\n",
    "package/sibling.py": "Y = 1\n",
    "apart.py": "Z = 1\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("top", "inner", "late", "package", "package.part", "package.sibling"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return tmp_path


def mark(folder: Path) -> Any:
    return fingerprint(importlib.import_module("top").function)


def test_a_change_of_any_file_that_is_imported_counts(folder: Path) -> None:
    first = mark(folder)
    assert first is not None and mark(folder) == first
    for name, text in FILES.items():
        (folder / name).write_text(text + "\n# changed\n")
        assert (mark(folder) == first) == (name == "apart.py"), name
        (folder / name).write_text(text)
    assert mark(folder) == first


def test_it_is_the_same_in_another_process(folder: Path) -> None:
    program = (
        "import top; from tcsmt.face.pytest.sources import fingerprint; print(fingerprint(top.function))"
    )
    environment = {"PYTHONPATH": f"{folder}:{Path.cwd()}", "PYTHONHASHSEED": "7", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == mark(folder)


def test_values_that_a_function_holds_count(folder: Path) -> None:
    closed = importlib.import_module("top").closed
    helper = importlib.import_module("inner").helper
    marks = [fingerprint(closed(n, other)) for n, other in ((1, None), (2, None), (1, helper))]
    assert len({*marks, None}) == 4
    assert fingerprint(closed(1)) == marks[0]
    for unknown in (
        closed([1]),
        closed(1, object()),
        functools.partial(helper, 1),
        functools.wraps(helper)(closed(1)),
        len,
        3,
    ):
        assert fingerprint(unknown) is None
    exec("def made(a, b, c): return c", space := {"__name__": "nowhere"})
    assert fingerprint(space["made"]) is None  # of no file
