"""The caller's floating-point state: set aside, restored, and refused where it cannot be set."""

from __future__ import annotations

import runpy
import threading
import warnings
from functools import cached_property

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.support import floats
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import IeeeFloats, callers_floats, check_floats, guard_members, usual_floats
from tcsmt.support.jobs.processes import Task
from tests.support.float_states import (
    STATES,
    control_word,
    needs_a_known_unit,
    numpy_errors,
    set_control_word,
    unit_state,
)


def test_the_usual_state_is_accepted() -> None:
    check_floats()


@needs_a_known_unit
@pytest.mark.parametrize("mode", ["up", "down", "toward zero"])
def test_another_rounding_is_refused(mode: str) -> None:
    """Also by what computes with the unit; in a thread of its own, so that no other test sees it."""
    said: list[str] = []

    def run() -> None:
        with unit_state(mode):
            for used in (check_floats, lambda: program.run({n: np.zeros(1, np.uint32) for n in "xyz"})):
                try:
                    used()
                except TcsmtError as error:
                    said.append(str(error))

    program = Program([var("x", 32)])
    program.floats = True
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(said) == 2 and all("does not round to nearest" in one for one in said)
    check_floats()


@needs_a_known_unit
def test_flushed_subnormals_are_refused() -> None:
    with (
        unit_state(flushing=True),
        pytest.raises(TcsmtError, match="flushes subnormals"),
    ):
        check_floats()


@needs_a_known_unit
@pytest.mark.parametrize("state", [name for name in STATES if name != "warnings are errors"])
def test_a_block_is_in_the_default_state(state: str) -> None:
    """Each state checks at its end that it is still there."""
    with STATES[state](), IeeeFloats():
        check_floats()
        assert control_word() == 0
        assert set(np.geterr().values()) == {"ignore"}
        assert np.float32(2.0**-100) * np.float32(2.0**-40) == 2.0**-140
        with IeeeFloats():  # inside another one, it does nothing
            assert control_word() == 0
        assert control_word() == 0


@needs_a_known_unit
def test_the_state_is_restored_after_an_exception() -> None:
    with unit_state("up", flushing=True), numpy_errors("raise"):
        with pytest.raises(KeyboardInterrupt), IeeeFloats():
            raise KeyboardInterrupt
        assert not usual_floats()


@needs_a_known_unit
def test_a_mark_that_an_interrupt_left_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    with IeeeFloats():
        caller = floats._THREAD.caller
    monkeypatch.setattr(floats._THREAD, "caller", caller)
    with unit_state("down"), IeeeFloats():
        check_floats()


@needs_a_known_unit
def test_where_the_state_cannot_be_set_it_is_refused_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a platform whose C library is not known."""

    def none(library: object) -> None:
        return None

    monkeypatch.setattr(floats, "_default_state", none)
    monkeypatch.setattr(floats, "_UNIT", floats._Unit())
    with IeeeFloats():  # what is right already is accepted
        check_floats()
    before = np.geterr()
    for mode in ("up", "down", "toward zero"):
        with unit_state(mode), pytest.raises(TcsmtError, match="floating-point unit"), IeeeFloats():
            pass
    with unit_state(flushing=True), pytest.raises(TcsmtError, match="floating-point unit"), IeeeFloats():
        pass
    assert np.geterr() == before


@needs_a_known_unit
def test_members_of_a_class_are_guarded() -> None:
    @guard_members
    class Number:
        def __init__(self) -> None:
            self.made = control_word()

        def __str__(self) -> str:
            return str(control_word())

        def method(self, value: int = 0) -> int:
            """Its docstring."""
            return control_word() + value

        @property
        def read(self) -> int:
            """Another one."""
            return control_word()

        @cached_property
        def kept(self) -> int:
            return control_word()

        def _private(self) -> int:
            return control_word()

    with unit_state("up"):
        number = Number()
        assert (number.made, str(number), number.method(value=1), number.read, number.kept) == (
            0,
            "0",
            1,
            0,
            0,
        )
        assert number._private() != 0
    assert Number.method.__doc__ == "Its docstring." and Number.read.__doc__ == "Another one."


@needs_a_known_unit
def test_a_callers_function_runs_in_the_callers_state() -> None:
    """What it changes stays the caller's, and ours is back after it, also where it raises."""

    def change(raised: bool) -> tuple[int, str]:
        found = control_word(), np.geterr()["over"]
        set_control_word(down)
        if raised:
            raise ValueError("its own")
        return found

    with unit_state("down"):
        down = control_word()
    for raised in (False, True):
        with numpy_errors("raise"), unit_state("up"):
            up = control_word()
            with IeeeFloats():
                if raised:
                    with pytest.raises(ValueError, match="its own"):
                        callers_floats(change)(True)
                else:
                    assert callers_floats(change)(False) == (up, "raise")
                assert control_word() == 0 and np.geterr()["over"] == "ignore"
            assert control_word() == down
            set_control_word(up)
    assert callers_floats(control_word)() == 0  # in no call of ours


@needs_a_known_unit
def test_a_task_runs_in_the_default_state() -> None:
    """Whoever runs it: this process, one of its own, or a worker of Dask."""
    with unit_state("up", flushing=True):
        assert Task("key", "asked", seen_by_a_task).run() == {"state": 0}


def seen_by_a_task() -> dict[str, int]:
    return {"state": control_word()}


@needs_a_known_unit
@pytest.mark.parametrize("state", ["up", "down", "toward zero, flushing"])
def test_the_module_may_be_imported_in_any_state(state: str) -> None:
    """Its own constants are right then."""
    with STATES[state]():
        module = runpy.run_path(floats.__file__)
        with module["IeeeFloats"]():
            assert control_word() == 0
    assert module["usual_floats"]()


def test_nothing_is_warned_of() -> None:
    with warnings.catch_warnings(), IeeeFloats():
        warnings.simplefilter("error")
        assert np.float32(3e38) * np.float32(3e38) == np.inf
