"""Files of strangers, of every kind that a command reads: no traceback, no answer, little memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.hostile_files import MAKERS
from tests.support.paths import ROOT

#: Bytes of address space and seconds of a processor that a process may have.
_MEMORY, _SECONDS = 3 << 30, 150
#: These need a process of their own: what they ask for is more than all others together.
HEAVY = [
    "products_of_wide_words", "a_refutation_that_unpacks_to_anything", "rows_that_unpack_to_anything",
    "arrays_that_unpack_to_anything",
]  # fmt: skip
#: A certificate whose proof fails: that is an answer, and its exit code is 1.
NOT_PROVED = {"a_proof_in_itself"}


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


def _ends(folder: Path, *names: str) -> dict[str, tuple[int, str, str]]:
    """How the commands end: the exit code, what they say last, and an exception that came through."""
    command = [sys.executable, "-m", "tests.support.hostile_files", str(folder), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=_limited)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return {name: tuple(rest) for name, *rest in map(json.loads, done.stdout.splitlines())}


def _assert_refused(name: str, end: tuple[int, str, str]) -> None:
    code, says, error = end
    assert not error, (name, error)
    assert code == (1 if name in NOT_PROVED else 2), (name, code, says)
    assert ("NOT PROVED" if code == 1 else "Error: ") in says or says.startswith("..."), (name, says)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    return _ends(tmp_path_factory.mktemp("light"), *(name for name in MAKERS if name not in HEAVY))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in HEAVY])
def test_a_hostile_file_is_refused(name: str, light: dict[str, tuple[int, str, str]]) -> None:
    _assert_refused(name, light[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_what_asks_for_much_is_refused(name: str, tmp_path: Path) -> None:
    _assert_refused(name, _ends(tmp_path, name)[name])
