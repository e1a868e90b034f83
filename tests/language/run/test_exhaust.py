"""Every word of a range by two back ends: each against integers, and what happens where they differ."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.analysis.bounds.split_analysis import SPLITS, statement
from tcsmt.interface.cli import main
from tcsmt.language.run import cc, exhaust, jit
from tcsmt.language.run.exhaust import ExhaustiveEvaluator
from tcsmt.language.terms import Term, const, operands_first, umax, var
from tcsmt.language.write import c
from tcsmt.support.errors import InternalError
from tests.oracles.wordmath import Maker, evaluate
from tests.support.computations import constructed

KINDS: dict[str, Callable[[Term, Term], exhaust.BackEnd]] = {
    "llvm": exhaust._Llvm,
    "c": exhaust._C,
    "numpy": exhaust._Arrays,
}
X = var("x", 32)


@pytest.fixture(params=KINDS)
def back_end(request: pytest.FixtureRequest) -> Callable[[Term, Term], exhaust.BackEnd]:
    """One that is there."""
    if request.param == "llvm" and not jit.available():
        pytest.skip("the extra `fast` is not installed")
    if request.param == "c" and not cc.available():
        pytest.skip("cc is not installed")
    return KINDS[request.param]


@pytest.mark.parametrize("width", [1, 2, 7, 16, 20, 31, 32])
def test_every_back_end(width: int, back_end: Callable[[Term, Term], exhaust.BackEnd]) -> None:
    """Random computations of one word, from any start, of any count; the last word of all, too."""
    last = 1 << width
    ranges = [(start, min(start + 37, last)) for start in {0, 1, last // 3, max(0, last - 37), last - 1}]
    for seed in range(4):
        made = Maker(random.Random(seed), 90)
        made.add("var", width, data="x")
        for _ in range(10):
            made.step()
        made.word(made.rng.choice([1, 8, 17, 32]))
        terms: list[Term] = []
        for node in made.nodes:
            terms.append(constructed(node, [terms[place] for place in node.args]))
        if terms[-1].value is not None:
            continue
        function = back_end(terms[-1], terms[0])
        for start, end in ranges:
            found = function(start, end - start)
            assert found.dtype == np.uint32
            assert found.tolist() == [evaluate(made.nodes, {"x": word})[-1] for word in range(start, end)]


def test_terms_that_were_once_wrong_are_right() -> None:
    """A product in LLVM's integers of 100 bits, and a conjunction made as a sum."""
    for root, right in (
        ((X[0].zext(100) * X[15:0].sext(100))[69:68], lambda x: 3 * (x & x >> 15 & 1)),
        ((X[15:0].sext(64) & X[31:16].sext(64))[31:0], lambda x: 0),
    ):
        assert ExhaustiveEvaluator(root)(0x7F00, 512).tolist() == [right(x) for x in range(0x7F00, 0x8100)]


def test_two_are_taken_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    root = statement(SPLITS[0])
    there = (jit.available(), cc.available())
    expected = None
    for wanted in itertools.product((True, False), repeat=2):
        llvm, compiler = (one and other for one, other in zip(wanted, there, strict=True))
        monkeypatch.setattr(jit, "available", lambda llvm=llvm: llvm)
        monkeypatch.setattr(cc, "available", lambda compiler=compiler: compiler)
        function = ExhaustiveEvaluator(root)
        names = [one.name for one in function._back_ends]
        assert [name.partition(" ")[0] for name in names] == [
            *(["LLVM"] if llvm else []),
            *([cc.version().partition(" ")[0]] if compiler else []),
            "NumPy",
        ][:2]
        if len(names) == 1:
            assert function.how == f"NumPy {np.__version__} alone"
        else:
            assert function.how == f"{names[0]} and {names[1]}, every word the same"
        words = function(0x3F800C00, 1000).tolist()
        expected = expected or words
        assert words == expected


def lie_at(word: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the last back end be wrong at one word."""
    (kind,) = exhaust._chosen(1 << 32)[-1:]
    honest = kind.__call__

    def wrong(self: exhaust.BackEnd, start: int, count: int) -> np.ndarray:
        found = honest(self, start, count)
        if start <= word < start + count:
            found[word - start] ^= 4
        return found

    monkeypatch.setattr(kind, "__call__", wrong)


@pytest.mark.parametrize("word", [1000, 1234, 1999])
def test_a_difference_is_an_internal_error(word: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first word of a range, at the last, or between: both answers are shown."""
    if len(exhaust._chosen(1 << 32)) < 2:
        pytest.skip("one back end alone: llvmlite and cc are not installed")
    lie_at(word, monkeypatch)
    function = ExhaustiveEvaluator(umax(X, const(3, 32)) & 0xFFFF)
    one, other = (back_end.name for back_end in function._back_ends)
    assert function(0, 1000).tolist()[:5] == [3, 3, 3, 3, 4]
    with pytest.raises(InternalError) as raised:
        function(1000, 1000)
    assert (
        str(raised.value)
        == f"internal error: for the word {word:#x} {one} gives {word:#x} and {other} gives {word ^ 4:#x}"
    )


def test_a_difference_ends_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an exit code of its own, and without a proof."""
    if len(exhaust._chosen(1 << 32)) < 2:
        pytest.skip("one back end alone: llvmlite and cc are not installed")
    lie_at(7, monkeypatch)
    result = CliRunner().invoke(main, ["accuracy", "split", "--format", "bf16", "--enumerate"])
    assert result.exit_code == 4
    assert "internal error: for the word 0x7 " in result.output
    assert "inputs tried" not in result.output


def test_few_words_are_not_compiled_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "available", lambda: True)
    monkeypatch.setattr(cc, "available", lambda: True)
    assert exhaust._chosen(1 << 20) == [exhaust._Llvm, exhaust._Arrays]
    assert exhaust._chosen(1 << 21) == [exhaust._Llvm, exhaust._C]
    monkeypatch.setattr(jit, "available", lambda: False)
    assert exhaust._chosen(1 << 20) == [exhaust._C, exhaust._Arrays]


def test_a_compiler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("/nowhere/cc", "", "false"):
        monkeypatch.setenv("CC", given)
        for found in (cc.available, cc.version, cc._target):
            found.cache_clear()
        assert not cc.available()
    monkeypatch.undo()
    for found in (cc.available, cc.version, cc._target):
        found.cache_clear()


def test_c_refuses_words_that_are_not_limbs() -> None:
    wide = var("x", 33)
    for root in (X.concat(X), X.zext(33), ~wide, wide.ult(5), wide[3:0]):
        with pytest.raises(ValueError, match="at most 32"):
            c.statements(operands_first([root]), {X: "x", wide: "y"})


def test_nothing_and_too_much() -> None:
    function = ExhaustiveEvaluator(var("x", 20).zext(32))
    assert function(5, 0).tolist() == []
    assert function((1 << 20) - 3, 3).tolist() == [(1 << 20) - 3, (1 << 20) - 2, (1 << 20) - 1]
    for start, count in ((-1, 5), (1 << 20, 1), (0, (1 << 20) + 1), (5, -1)):
        with pytest.raises(ValueError, match="must be within 0 to 1048576"):
            function(start, count)
    for root in (X.zext(33), var("x", 33)[5:0]):
        with pytest.raises(ValueError, match="must be words of 32 bits"):
            ExhaustiveEvaluator(root)
