"""What command lines take from below the interface: the same objects, so that errors are caught as one."""

from __future__ import annotations

import tcsmt
from tcsmt.interface.api import terminal
from tcsmt.support import errors, files, floats, interrupts, plots, progress, results, text, version


def test_names_are_those_of_support() -> None:
    homes = (errors, files, floats, interrupts, plots, progress, results, text, version)
    for name in terminal.__all__:
        assert any(getattr(home, name, None) is getattr(terminal, name) for home in homes), name
    assert terminal.TcsmtError is tcsmt.TcsmtError
