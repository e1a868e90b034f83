"""Frozen results of mmasim 2.1.1, and mmasim itself where it is installed.

``tests/data/mmasim.npz`` is written by ``tests/oracles/against_mmasim.py --freeze``.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import IntegerDotAdd, Operands
from tcsmt.simulate.rows import run_words
from tests.oracles import against_mmasim, deciding_inputs
from tests.support.paths import DATA
from tests.support.sampling import mostly_long

FROZEN = DATA / "mmasim.npz"


@cache
def frozen() -> dict[str, np.ndarray[Any, Any]]:
    """Arrays by ``ARCH/INSTRUCTION/a`` and so on."""
    with np.load(FROZEN) as arrays:
        return dict(arrays)


NAMES = sorted(name.removesuffix("/d") for name in frozen() if name.endswith("/d"))


def test_every_arithmetic_is_frozen() -> None:
    """Of the GPUs that mmasim has, all but integers, DOT2, and FP8 through mma.sync on Hopper and Blackwell.

    The NaNs of Hopper's binary64, too, which mmasim does not know.
    """
    known = {row_named(name).model for name in NAMES}
    simulated = {name.partition("/")[0] for name in NAMES}
    there = [r for r in rows(claims=False) if r.architecture in simulated and "_dot2_" not in r.name]
    missing = [r for r in there if r.model not in known and not isinstance(r.model, IntegerDotAdd)]
    assert {r.architecture for r in missing} == {"hopper", "blackwell"}
    others = [r for r in missing if r.architecture != "hopper" or r.model.a_format.name != "f64"]
    assert {r.model.kind for r in others} == {"fused-dot-add"}
    assert {r.model.parameters.c_position for r in others} == {"last"}


#: Those that take little time: others have many instructions of the same kinds.
SOME = ("volta", "cdna2", "cdna3")


@pytest.mark.parametrize("architecture", mostly_long(sorted({n.partition("/")[0] for n in NAMES}), SOME))
def test_frozen_results_are_reproduced(architecture: str) -> None:
    """Word by word; any NaN for another where the vendor's word is not known."""
    for name in NAMES:
        if name.startswith(f"{architecture}/"):
            row, arrays = row_named(name), frozen()
            words = [arrays.get(f"{name}/{n}") for n in against_mmasim.Words._fields]
            got = run_words(row.model, Operands(*words))
            different = against_mmasim.differing(row, got, arrays[f"{name}/d"])
            assert not different.any(), (name, np.flatnonzero(different))


@pytest.mark.long
@pytest.mark.oracle
def test_against_mmasim(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 rows of each arithmetic; the script takes more (``--rows``)."""
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install '.[oracle]'")
    pytest.importorskip("mmasim", reason="mmasim is not installed: pip install '.[oracle]'")
    monkeypatch.setattr(sys, "argv", ["against_mmasim.py", "--rows", "20000", "--variant-rows", "2000"])
    assert against_mmasim.main() == 0


@pytest.mark.slow
def test_mmasim_decides_for_our_parameters() -> None:
    """On inputs that a solver found, mmasim gives our result and not that of a changed parameter."""
    rows = json.loads((FROZEN.parent / "deciding.json").read_text())["rows"]
    assert len(rows) > 60
    for item in rows:
        ours, changed, theirs = deciding_inputs.results(item)
        assert ours == theirs != changed, item
