"""Terms as WebAssembly, run by wasmtime, against integers."""

from __future__ import annotations

import pytest

from tcsmt.language.terms import FALSE, const, var
from tcsmt.language.write.webassembly import module
from tests.support.interpretations import MANY, on_many_random_cases, on_random_cases, on_shapes
from tests.support.interpreters import check_webassembly
from tests.support.webassembly import Machine


@pytest.mark.slow
def test_shapes() -> None:
    on_shapes(check_webassembly)


def test_random_computations() -> None:
    on_random_cases(check_webassembly, 30)


def test_programs_of_several_functions() -> None:
    on_random_cases(lambda case: check_webassembly(case, most=7), 10)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_webassembly, steps)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_programs_of_several_functions(steps: int) -> None:
    on_many_random_cases(lambda case: check_webassembly(case, most=5), steps)


def test_results_that_are_constants_inputs_or_the_same_word() -> None:
    x = var("x", 16)
    roots = [const(5, 8), x, x, x.zext(40), const(1 << 63, 64), FALSE, x.zext(32)]
    machine = Machine(module([x], {"f": roots}))
    assert machine.run("f", [0xFFFF0000000A1234], len(roots)) == [
        5, 0x1234, 0x1234, 0x1234, 1 << 63, 0, 0x1234,
    ]  # fmt: skip


def test_sections_that_engines_ignore() -> None:
    x = var("x", 8)
    code = module([x], {"f": [~x]}, {"about": b"anything"})
    assert code.startswith(b"\0asm\1\0\0\0") and code.endswith(b"\5aboutanything")
    assert Machine(code).run("f", [1], 1) == [0xFE]


def test_what_has_no_code_is_refused() -> None:
    x = var("x", 65)
    with pytest.raises(ValueError, match="a word of 65 bits: at most 64"):
        module([x], {"f": [x]})
    with pytest.raises(ValueError, match=r"variable y .*inputs"):
        module([var("x", 8)], {"f": [var("y", 8)]})
