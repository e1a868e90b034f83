"""Terms as WebAssembly, run by wasmtime, against integers."""

from __future__ import annotations

import random

import pytest

from tcsmt.language.graphs.limbs import fitted, pieces
from tcsmt.language.terms import FALSE, Term, const, var
from tcsmt.language.write.webassembly import module
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes
from tests.support.webassembly import Machine


def limbs_of(term: Term, word: int) -> list[int]:
    """The words of a variable's limbs."""
    return [word >> 64 * place & (1 << limb.width) - 1 for place, limb in enumerate(pieces(term))]


def check_wasm(case: Case, most: int = 10_000) -> None:
    """Every node of a computation in every row, with anything above the inputs' words."""
    limbs = fitted(case.terms, lambda macro: False)
    inputs = [limb for x in case.variables for limb in pieces(x)]
    flat = [limb for root in limbs for limb in root]
    machine = Machine(module(inputs, {"all": flat, "last": limbs[-1]}, most=most))
    above = random.Random(1)
    for number, row in enumerate(case.rows()):
        words = [w for x in case.variables for w in limbs_of(x, row[str(x.data)])]
        words = [
            word | above.getrandbits(64 - limb.width) << limb.width if limb.width < 64 else word
            for limb, word in zip(inputs, words, strict=True)
        ]
        results = iter(machine.run("all", words, len(flat)))
        found = [sum(next(results) << 64 * place for place, _ in enumerate(root)) for root in limbs]
        assert found == [column[number] for column in case.values], (case.name, row)
        last = machine.run("last", words, len(limbs[-1]))
        assert sum(word << 64 * place for place, word in enumerate(last)) == case.values[-1][number]


def test_shapes() -> None:
    on_shapes(check_wasm)


def test_random_computations() -> None:
    on_random_cases(check_wasm, 30)


def test_programs_of_several_functions() -> None:
    on_random_cases(lambda case: check_wasm(case, most=7), 10)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_wasm, steps)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_programs_of_several_functions(steps: int) -> None:
    on_many_random_cases(lambda case: check_wasm(case, most=5), steps)


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
    with pytest.raises(ValueError, match="the variable y is not among the inputs"):
        module([var("x", 8)], {"f": [var("y", 8)]})
