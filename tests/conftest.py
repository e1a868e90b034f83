"""Fixtures shared by the tests."""

from pathlib import Path

import pytest


@pytest.fixture
def shared() -> Path:
    """The folder `shared` (papers, recorded hardware outputs) beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}: papers and hardware data are not in this checkout")
    return folder
