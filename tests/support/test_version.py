"""The version stands in one place."""

from __future__ import annotations

import tcsmt
from tcsmt.support.version import __version__
from tests.support.paths import ROOT


def test_the_version_is_the_one_that_is_cited_and_logged() -> None:
    assert tcsmt.__version__ == __version__
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {__version__} (" in (ROOT / "CHANGELOG.md").read_text()
    assert 'attr = "tcsmt.support.version.__version__"' in (ROOT / "pyproject.toml").read_text()
