"""``tcsmt.torch`` is loaded on its first use, and the core does without PyTorch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tcsmt.support import extras
from tests.support.paths import ROOT


@pytest.mark.slow
def test_the_core_does_without_pytorch() -> None:
    """It is loaded by ``tcsmt.torch`` alone; without it, the error says what to install."""
    code = """
import sys
sys.modules["torch"] = None  # as if it were not installed
import tcsmt
tcsmt.unit("h100"); tcsmt.gemm
try:
    import tcsmt.torch
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"tcsmt.torch needs PyTorch: {extras.install('torch')}\n"
