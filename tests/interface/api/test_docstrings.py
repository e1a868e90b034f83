"""The public interface's docstrings: there, and their examples run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import tcsmt

MODULES = ["tcsmt", *(f"tcsmt.interface.api.{name}" for name in (
    "accuracy", "audit", "certificate_export", "certificates", "check", "compare", "designs",
    "error_comparison", "exact", "export", "find", "formats", "identify",
    "links", "page", "pictures", "probe", "quantise", "quantise_compare", "quantise_identify", "quantisers",
    "recipes", "reduced", "reproduce", "run", "sweep",
    "units", "validate", "vectors",
))]  # fmt: skip
#: Whose example takes seconds.
LONG = [pytest.param("tcsmt.interface.api.bound_table", marks=pytest.mark.long)]


@pytest.mark.parametrize("name", [*MODULES, *LONG])
@pytest.mark.slow_cases("tcsmt.interface.api.check", "tcsmt.interface.api.error_comparison")
def test_docstrings_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples write files
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


@pytest.mark.parametrize(
    "name", ["tcsmt.torch", "tcsmt.interface.torch.emulation", "tcsmt.interface.torch.quantised"]
)
def test_docstrings_of_pytorchs_module_run(name: str) -> None:
    pytest.importorskip("torch", reason="the extra `torch` is not installed")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_says_what_it_is() -> None:
    for name in tcsmt.__all__:
        thing = getattr(tcsmt, name)
        assert (thing.__doc__ or "").strip(), name
