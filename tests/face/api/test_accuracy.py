"""``tcsmt.accuracy``: its names."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt import accuracy
from tcsmt.face.cli.accuracy import accuracy as commands
from tcsmt.face.cli.lazy import Lazy


def test_every_command_has_its_call() -> None:
    """Of the same name; the list of algorithms is ``recipes``."""
    assert isinstance(commands, Lazy)
    calls = {name for name in accuracy.__all__ if name.islower()}
    assert calls == {"recipes" if name == "algorithms" else name for name in commands.summaries}


@pytest.mark.slow
def test_a_result_of_three_values_says_why_it_is_not_known() -> None:
    analysis = tcsmt.accuracy.split("bf16")[0]
    assert analysis.holds is None
    assert "not known (neither a proof nor all inputs were asked for)" in repr(analysis)
    exact = accuracy.exact("volta", integers=1 << 11, k=8, search=False)
    assert (exact.is_exact is None) == bool(exact.reason)
