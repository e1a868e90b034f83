"""Programs as data: what is written is what is read, and no step is skipped."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Kind
from tcsmt.programs.kernels.kernel import kernel_named
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import NoRule, ProductRun, ProgramStep, UnitProgram, read

F16, F32 = FORMATS["f16"], FORMATS["f32"]
UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


class Told:
    """Rules that say what they are told."""

    def constant(self, **how: Any) -> str:
        return f"{how['fmt'].hex(how['word'])}"

    def chain(self, c: str | None, a: str, b: str, **how: Any) -> str:
        return f"chain({c or '+0'}, {a}·{b}, {[run.indices.tolist() for run in how['runs']]})"

    def add(self, x: str, y: str, **how: Any) -> str:
        return f"({x} + {y})"


def written() -> tuple[UnitProgram, Builder]:
    build = Builder()
    a, b = build.input("A", F16, "A"), build.input("B", F16, "B")
    first = build.chain(UNIT, (a, b), [ProductRun(np.arange(2))], None)
    total = build.note(first, Kind.SUM_OUTSIDE, 0)
    zero = build.constant(F32, 0)
    assert build.constant(F32, 0) == zero
    total = build.add(F32, build.chain(UNIT, (a, b), [ProductRun(np.array([3, 2]))], zero), total)
    return build.program(total), build


def test_a_program_is_read_in_order() -> None:
    program, _ = written()
    assert read(program, Told(), {"A": "A", "B": "B"}) == (
        "(chain(0x00000000, A·B, [[3, 2]]) + chain(+0, A·B, [[0, 1]]))"
    )
    assert read(program, Told(), {"A": "A", "B": "B"}, given={2: "x"}).endswith(" + x)")
    assert [step.kind for step in program.chains] == ["chain", "chain"]
    assert not program.starts_with(program.chains[1], "A") and program.result.kind == "add"


def test_a_value_may_be_the_result_wherever_it_stands() -> None:
    build = Builder()
    x = build.input("x", F32)
    negative = build.negate(F32, x)
    build.constant(F32, 1)
    program = build.program(build.note(negative, Kind.RESULT))
    assert program.result.kind == "negate"


def test_what_the_result_does_not_hang_on_is_left_out() -> None:
    program, build = written()
    wanted = build.note(build.convert(build.negate(F32, build.constant(F32, 5)), F16), Kind.RESULT)
    needed = build.program(wanted).needed
    assert [step.kind for step in needed.steps] == ["input", "input", "constant", "negate", "convert", "note"]
    assert needed.result.takes == (3,) and program.needed.steps == program.steps


def test_a_step_without_a_rule_is_refused_by_its_name() -> None:
    program, build = written()
    build.convert(build.constant(F32, 0), F16)
    with pytest.raises(NoRule, match=f"step {len(build.steps)}, convert: Told has no rule"):
        read(UnitProgram(tuple(build.steps), len(build.steps) - 1), Told(), {"A": "A", "B": "B"})
    odd = ProgramStep("guess", (0,), {}, F32)
    with pytest.raises(NoRule, match="guess"):
        read(UnitProgram((program.steps[0], odd), 1), Told(), {"A": "A"})


def test_a_constant_of_a_compound_step_is_its_own() -> None:
    """A reading with a rule for all of it never sees the constant; one without sees the same sum."""

    class Whole(Told):
        def twice(self, x: str) -> tuple[str]:
            return (f"2·{x}",)

    build = Builder()
    x = build.input("x", F32)
    (double,) = build.compound("twice", [x], lambda: (build.add(F32, x, build.constant(F32, 1)),))
    program = build.program(build.add(F32, double, build.constant(F32, 1)))
    assert read(program, Whole(), {"x": "x"}) == "(2·x + 0x00000001)"
    assert read(program, Told(), {"x": "x"}) == "((x + 0x00000001) + 0x00000001)"


def test_kernels_and_algorithms_are_programs() -> None:
    kernel = kernel_named("volta/mma.m8n8k4.f32.f16.f16.f32+split-k:2+out=f16", row_named)
    program = kernel.schedule.program(12, c=True)
    assert [step.kind for step in program.steps] == [
        "input", "input", "input", "chain", "chain", "add", "add", "convert",
    ]  # fmt: skip
    assert kernel.schedule.program(12, c=True) is program
    kahan = algorithm_named("markidis,compensated=kahan,every=4", "volta", 8)[0].program(8)
    assert {step.kind for step in kahan.steps} == {
        "input", "split", "chain", "note", "constant", "add", "negate",
    }  # fmt: skip
    assert {run.words for run in kahan.chains[0].how["runs"]} == {(0, 0), (1, 0), (0, 1), (1, 1)}


def test_runs_are_equal_where_they_take_the_same() -> None:
    assert ProductRun(np.arange(3)) == ProductRun(np.array([0, 1, 2])) != ProductRun(np.arange(3), (0, 0))
    assert len({ProductRun(np.arange(3)), ProductRun(np.arange(3)), ProductRun(np.arange(4))}) == 2
    assert ProductRun(np.arange(3)) != 3


def test_values_that_no_step_takes_any_more_are_let_go() -> None:
    """Of a sum of many arrays, two are held at a time."""
    held: list[ref[Any]] = []
    most = 0

    class Numbers:
        """Rules on arrays, which count those that there are."""

        def add(self, x: Any, y: Any, **how: Any) -> Any:
            nonlocal most
            total = x + y
            held.append(ref(total))
            most = max(most, sum(one() is not None for one in held))
            return total

    build = Builder()
    total = c = build.input("c", F32)
    for _ in range(10):
        total = build.add(F32, total, c)
    assert read(build.program(total), Numbers(), {"c": np.ones(3)}).tolist() == [11.0] * 3
    assert most == 2
