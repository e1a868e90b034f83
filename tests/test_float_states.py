"""Every public call, in every state of the caller's floating-point unit, NumPy's errors and warnings."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
import tcsmt.testing
from tcsmt.matrix_units.models import Model
from tests.support.float_states import STATES, control_word, needs_a_known_unit, numpy_errors, unit_state
from tests.support.paths import ROOT
from tests.support.public_calls import CALLS, H100, SLOW, A, product

pytestmark = needs_a_known_unit


def exact_sum(a: Any, b: Any) -> Any:
    """A product in Python's numbers."""
    return np.array([[float(sum(x * y for x, y in zip(row, column, strict=True))) for column in b.T.tolist()]
                     for row in a.tolist()], np.float32)  # fmt: skip


def plain(value: Any, depth: int = 0) -> Any:
    """All that a value says, comparable: arrays as bytes, results by their text, data and properties."""
    if isinstance(value, np.ndarray | np.generic):
        return str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, list | tuple):
        return [plain(item, depth) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item, depth) for key, item in value.items()}
    text = TIMES.sub("TIME", str(value))
    if hasattr(value, "as_json") and depth < 1 and not isinstance(value, Model):
        text += TIMES.sub("TIME", json.dumps(value.as_json(), default=str))
        for name in (name for name in dir(type(value)) if not name.startswith("_")):
            if isinstance(inspect.getattr_static(type(value), name), property | cached_property):
                try:
                    with warnings.catch_warnings():  # of earlier names
                        warnings.simplefilter("ignore", DeprecationWarning)
                        text += f"\n{name} {plain(getattr(value, name), depth + 1)}"
                except tcsmt.TcsmtError as error:
                    text += f"\n{name}: {error}"
    return TIMES.sub("TIME", text)


#: What differs from one run to the next: seconds, paths and addresses.
TIMES = re.compile(r"\d+\.\d+ s\b|(seconds|time|elapsed)\W{1,5}[0-9.e-]+|/\S+|0x[0-9a-f]{12}\b")


SPACES = {"tcsmt": "tcsmt", "accuracy": "tcsmt.interface.api.accuracy", "testing": "tcsmt.testing"}


@pytest.mark.parametrize(
    ("space", "module"), [*SPACES.items(), pytest.param("torch", "tcsmt.torch", marks=pytest.mark.slow)]
)
def test_the_table_has_every_public_function(space: str, module: str) -> None:
    """A new one is added with a small call of it."""
    if space == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    public = import_module(module)
    names = {name for name in public.__all__ if inspect.isfunction(getattr(public, name))}
    listed = {name.partition(".")[2] for name in CALLS if name.startswith(f"{space}.")}
    assert names == listed and names


#: What a call gives in the default state.
EXPECTED: dict[str, Any] = {}


def same_in(name: str, state: str, tmp_path: Path) -> None:
    """Compare a call's results in a state with those in the default state."""
    for folder in ("default", "state"):
        (tmp_path / folder).mkdir()
    if name not in EXPECTED:
        EXPECTED[name] = plain(CALLS[name](tmp_path / "default"))
    with STATES[state]():
        found = CALLS[name](tmp_path / "state")
        text = plain(found)  # what a result says is computed when it is read
    assert text == EXPECTED[name]


@pytest.mark.parametrize("state", ["all at once, down", "all at once, up"])
@pytest.mark.parametrize("name", [name for name in CALLS if name not in SLOW])
@pytest.mark.slow_cases(
    "tcsmt.find-all at once, down", "tcsmt.identify-all at once, down", "tcsmt.tolerance-all at once, down"
)
def test_no_state_changes_a_result(name: str, state: str, tmp_path: Path) -> None:
    same_in(name, state, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", CALLS)
def test_each_state_alone_changes_no_result(name: str, state: str, tmp_path: Path) -> None:
    same_in(name, state, tmp_path)


def test_the_state_is_restored_after_an_error() -> None:
    with unit_state("up", flushing=True):
        for name in ("gemm", "unit"):
            with pytest.raises(tcsmt.TcsmtError):
                tcsmt.gemm(A, A, unit=H100) if name == "gemm" else tcsmt.unit("none")


def test_a_thread_of_the_callers_has_a_state_of_its_own() -> None:
    found: list[Any] = []

    def run() -> None:
        with unit_state("down", flushing=True), numpy_errors("raise"):
            found.append(product(reduction="split-k:2"))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert plain(found[0]) == plain(product(reduction="split-k:2"))


def test_a_function_of_the_callers_runs_in_the_callers_state() -> None:
    """And what it calls of ours in ours; a mode that it sets stays the caller's."""
    seen: list[tuple[int, str, bool]] = []

    def naive(a: Any, b: Any, c: Any) -> Any:
        seen.append((control_word(), np.geterr()["under"], plain(product()) == expected))
        return np.zeros(c.shape, np.uint32)

    def multiply(a: Any, b: Any) -> Any:
        seen.append((control_word(), np.geterr()["under"], True))
        return exact_sum(a, b)

    expected = plain(product())
    with unit_state("up"), numpy_errors("raise"):
        state = control_word()
        tcsmt.check("x86/vpdpbusd", naive, rows=100)
        with suppress(tcsmt.TcsmtError):  # sums that are rounded up have no tree
            tcsmt.kernel_tree(multiply, 4, shape=(1, 1))
        tcsmt.identify(naive, like="x86/vpdpbusd", budget=2)
    assert seen and set(seen) == {(state, "raise", True)}


@pytest.mark.slow
def test_what_is_compiled_and_imported_in_a_state_is_the_same(tmp_path: Path) -> None:
    """Python adds literals up when it compiles a module, and NumPy what a module does when it is imported."""
    program = """
import sys
from tests.support.float_states import STATES
with STATES[sys.argv[1]]():
    import tcsmt.testing
    for name in tcsmt.__all__:
        getattr(tcsmt, name)
from pathlib import Path
from tests.support.public_calls import CALLS
from tests.test_float_states import plain
for name in sys.argv[2:]:
    print(name, plain(CALLS[name](Path("."))))
"""
    names = [
        "tcsmt.gemm",
        "tcsmt.unit",
        "tcsmt.tolerance",
        "tcsmt.quantise",
        "accuracy.bound",
        "tcsmt.explain",
    ]
    found = []
    for state in ("default", "all at once, up"):
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / state), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", program, state, *names], cwd=tmp_path, env=environment, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    assert found[0] == found[1] and len(found[0]) > 1000


def test_results_of_commands_are_the_same(tmp_path: Path) -> None:
    """Also numbers that a command line reads: Python's own reading of a decimal rounds, too."""
    from click.testing import CliRunner

    from tcsmt.interface.cli import main

    halves = np.random.default_rng(0).standard_normal((5, 64)).astype(np.float16)
    np.savez(tmp_path / "x.npz", a=halves, b=halves.T.copy())
    words = ["gemm", "h100", str(tmp_path / "x.npz"), "--epilogue", "alpha=0.3,beta=0.7", "--json"]
    expected = CliRunner().invoke(main, words)
    for state in ("up", "toward zero, flushing"):
        with STATES[state]():
            found = CliRunner().invoke(main, words)
        assert (found.exit_code, found.output) == (expected.exit_code, expected.output)
