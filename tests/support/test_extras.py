"""What to install, in words that work for how tcsmt was installed."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from tcsmt.support.extras import LIBRARIES, install
from tests.support.paths import ROOT

Installed = Callable[[str | None], None]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Have tcsmt be installed with this ``direct_url.json``."""

    class Distribution:
        def __init__(self, text: str | None) -> None:
            self.text = text

        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return self.text

    return lambda text: monkeypatch.setattr(metadata, "distribution", lambda name: Distribution(text))


def words(extra: str) -> list[str]:
    """The arguments of ``python -m pip install``."""
    command = shlex.split(install(extra))
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    return command[4:]


def test_libraries_are_those_of_the_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert {extra: list(needed) for extra, needed in LIBRARIES.items()} == {
        extra: extras[extra] for extra in LIBRARIES
    }


@pytest.mark.parametrize("editable", [True, False])
def test_a_folder(editable: bool, installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "a check out [1]"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    installed(json.dumps({"dir_info": {"editable": True} if editable else {}, "url": folder.as_uri()}))
    assert words("plot") == [*(["-e"] if editable else []), f"{folder}[plot]"]


def test_a_wheel(installed: Installed, tmp_path: Path) -> None:
    wheel = tmp_path / "tcsmt-0.2.0-py3-none-any.whl"
    wheel.touch()
    installed(json.dumps({"archive_info": {"hash": "sha256=0"}, "url": wheel.as_uri()}))
    assert words("torch") == [f"{wheel}[torch]"]


@pytest.mark.parametrize("text", [
    None, "", "not JSON", "{}", '{"url": "file:///no/such/folder", "dir_info": {"editable": true}}',
    '{"url": "https://example.org/tcsmt.git", "vcs_info": {"vcs": "git", "commit_id": "0"}}',
])  # fmt: skip
def test_libraries_are_named_where_nothing_is_known(text: str | None, installed: Installed) -> None:
    """Of a folder that is gone, a package of somebody's, and what has no record."""
    installed(text)
    assert [words(extra) for extra in LIBRARIES] == [list(needed) for needed in LIBRARIES.values()]


def test_libraries_are_named_where_tcsmt_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be imported from a folder of its source alone."""

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert words("fast") == ["llvmlite>=0.45"]


def test_nothing_asks_pip_for_tcsmt_by_name() -> None:
    """No package index has it: whoever takes the name would be installed."""
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / ".ci" / "run"]
    for folder in ("tcsmt", "docs", "properties", "results", "tests"):
        files += [path for suffix in ("md", "py") for path in (ROOT / folder).rglob(f"*.{suffix}")]
    by_name = re.compile(r"\b(pip|uv|pipx) (install|add) [^\n]*(?<![\w./-])tcsmt(\[\w|\b(?![/.\w\[-]))")
    own = {Path(__file__), ROOT / "tcsmt" / "support" / "extras.py"}
    found = [path for path in files if path not in own and by_name.search(path.read_text())]
    assert found == []
