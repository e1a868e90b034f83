"""How solvers are asked."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tcsmt.prove.engine.asking import Asking


def test_every_proof_is_confirmed_by_default_and_none_is_kept() -> None:
    asking = Asking()
    assert asking.confirm and asking.kept is None and asking.certificates is None
    assert (asking.jobs, asking.scheduler) == (1, "")
    with pytest.raises(FrozenInstanceError):
        asking.jobs = 2
