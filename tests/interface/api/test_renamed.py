"""Parameters by their earlier names: taken with a warning, and refused where both are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import tcsmt
from tcsmt import accuracy
from tcsmt.interface.api.renamed import renamed
from tcsmt.support.errors import TcsmtError

OLD: dict[str, Any] = {"old": 4}


@renamed(old="new")
def double(*, new: int = 1) -> int:
    """Twice."""
    return 2 * new


def test_the_name_of_now_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    assert (double(), double(new=4)) == (2, 8)
    assert not recwarn.list


def test_the_earlier_name_warns() -> None:
    said = r"^double: old is new now; tcsmt 1\.0 will not take old$"
    with pytest.warns(DeprecationWarning, match=said) as seen:
        assert double(**OLD) == 8
    assert seen[0].filename == __file__
    with pytest.raises(TcsmtError, match="old is new now: give it once"):
        double(**OLD, new=2)


def test_the_call_keeps_its_signature() -> None:
    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert list(inspect.signature(double).parameters) == ["new"]


#: The call, what it is given by an earlier name, and what is refused of it.
CALLS: dict[str, tuple[Callable[..., object], tuple[object, ...], dict[str, Any], str]] = {
    "probe: emitted is emit": (tcsmt.probe, ("volta",), {"emitted": "cudo"}, "cudo"),
    "sweep: lengths is k": (accuracy.sweep, ("markidis", "volta"), {"lengths": 0}, "K = 0"),
    "table: lengths is k": (accuracy.table, (["volta"],), {"formats": ["f16"], "lengths": [0]}, "k = 0"),
    "kernel_tree: operands is format": (tcsmt.kernel_tree, ("volta", 16), {"operands": "f23"}, "f23"),
    "split: try_all is enumerate": (accuracy.split, ("f23",), {"try_all": True}, "f23"),
    "split: told is on_text": (accuracy.split, ("f23",), {"told": print}, "f23"),
    "reproduce: told is on_text": (tcsmt.reproduce, ("nobody",), {"told": print}, "nobody"),
    "variants: told is on_text": (accuracy.variants, (0,), {"told": print}, "0"),
}


@pytest.mark.parametrize("warning", CALLS)
def test_calls_take_their_earlier_names(warning: str) -> None:
    """The value arrives: each is refused for it, before any work."""
    call, values, named, refusal = CALLS[warning]
    with pytest.warns(DeprecationWarning, match=f"^{warning} now"), pytest.raises(TcsmtError, match=refusal):
        call(*values, **named)
