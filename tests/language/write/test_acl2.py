"""Terms as ACL2 text, read by an evaluator that shares nothing with what writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, expand, substitute, total, umax, var, variables
from tcsmt.language.write.acl2 import Acl2Writer, Parts, defined, variables_of
from tcsmt.matrix_units.catalogue import row_named
from tests.support.acl2_text import Session
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes


def check_text(case: Case) -> None:
    """Every node has the value of the integers', in every row."""
    roots = expand(case.terms)
    names = [str(x.data) for x in variables([*roots, *case.variables])]
    inputs = variables_of(names)
    bindings, results = Acl2Writer(inputs).bindings(roots, {})
    session = Session()
    session.read(defined("f", list(inputs.values()), bindings, f"(list {' '.join(results)})"))
    for row, words in enumerate(case.rows()):
        args = [words[name] for name in names]
        assert session.value(["f", *args], {}) == [column[row] for column in case.values], case.name


@pytest.mark.slow
def test_shapes() -> None:
    on_shapes(check_text)


def test_random_computations() -> None:
    on_random_cases(check_text, 12)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_text, steps)


@pytest.mark.parametrize("shifted", [Term.__lshift__, Term.__rshift__, Term.ashr])
def test_shift_amounts(shifted: Callable[[Term, Term], Term]) -> None:
    """An amount of many bits is cut before it shifts; those of few bits, and constants, are as they are."""
    x, long, short = var("x", 25), var("long", 25), var("short", 12)
    inputs = variables_of(["x", "long", "short"])
    texts = []
    for amount in (long, short.zext(25), const(3, 25)):
        bindings, (result,) = Acl2Writer(inputs).bindings([shifted(x, amount)], {})
        texts.append(" ".join(text for _, text in bindings))
        session = Session()
        session.read(defined("f", list(inputs.values()), bindings, result))
        for word in (0x1AAAAAA, 0x0AAAAAA):
            for far in (0, 1, 7, 24, 25, 26, 31, 32, 33, 4095):
                words = {"x": word, "long": far, "short": far}
                expected = evaluate([shifted(x, amount)], words)[0]
                assert session.value(["f", word, far, far], {}) == expected
    assert ["loghead 5" in text for text in texts] == [True, False, False]


def test_variables_are_told_apart_without_case() -> None:
    names = variables_of(["a0", "A0", "t", "c"])
    assert names == {"a0": "a0", "A0": "a0-1", "t": "t-2", "c": "c"}


def test_a_sum_has_the_order_of_its_inputs() -> None:
    """Whatever its words are: with one replaced, and in the terms another order, the others stay in place."""
    a, b, c = (var(name, 8) for name in ("a", "b", "c"))
    words = [(x & 15) << 1 for x in (a, b, c)]
    root = total(*words)
    writer = Acl2Writer(variables_of("abc"))
    for node, name in ((words[1], "free"), (words[2], "free")):
        (changed,) = substitute([root], {node: node ^ 1})
        bindings, (result,) = writer.bindings([changed], {node ^ 1: "free"})
        text = dict(bindings)[result]
        kept = [dict(bindings).get(word, word) for word in text.strip("()").split()[3:]]
        assert kept.index(name) == words.index(node), text


def test_the_order_of_arguments_survives_a_conversion() -> None:
    """A unit on converted inputs is written as the unit is: their bits are the same."""
    model = row_named("ampere/mma.m16n8k16.f16.f16.f16.f16").model
    unit = Acl2Writer(variables_of(model.input_names))
    whole = Acl2Writer(unit.inputs)
    words = {
        var(name, fmt.width): var(name, 8).concat(const(0, 8))
        for name, fmt in model.input_formats.items()
        if name != "c"
    }
    several = 0
    for node in unit.operands_first(expand([model.trace.output]), {}):
        if node.op in ("add", "and", "or", "umax", "xor") and len(node.args) > 2:
            image, *args = expand(substitute([node, *unit.arguments(node)], words))
            if image.op == node.op and len(image.args) == len(args):
                several += 1
                assert tuple(whole.arguments(image)) == tuple(args)
    assert several > 40


def session_of(
    roots: Sequence[Term], names: Sequence[str], cuts: Mapping[Term, str]
) -> tuple[Parts, Session]:
    """The roots as a list, a function ``f`` of the inputs and the cuts."""
    parts = Parts(Acl2Writer(variables_of(names)))
    bindings, results = parts.bindings(roots, cuts)
    session = Session()
    for text in parts.definitions:
        session.read(text)
    formals = [*parts.write.inputs.values(), *cuts.values()]
    session.read(defined("f", formals, bindings, f"(list {' '.join(results)})"))
    return parts, session


def check_parts(case: Case) -> None:
    """Every node has the value of the integers', in every row."""
    names = [str(x.data) for x in variables([*case.terms, *case.variables])]
    _, session = session_of(expand(case.terms), names, {})
    for row, words in enumerate(case.rows()):
        args = [words[name] for name in names]
        assert session.value(["f", *args], {}) == [column[row] for column in case.values], case.name


@pytest.mark.slow
def test_shapes_in_parts() -> None:
    on_shapes(check_parts)


def test_random_computations_in_parts() -> None:
    on_random_cases(check_parts, 12)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations_in_parts(steps: int) -> None:
    on_many_random_cases(check_parts, steps)


def lane(number: int, top: Term | None = None) -> Term:
    a, b = var(f"a{number}", 8), var(f"b{number}", 8)
    product = (a.zext(16) * b.zext(16)) ^ ~b.zext(16)
    return product if top is None else product >> (top - product)


def test_lanes_share_their_functions() -> None:
    top = umax(*(lane(number) for number in range(4)))
    (root,) = expand([total(*(lane(number, top) for number in range(4)))])
    names = [f"{side}{number}" for number in range(4) for side in "ab"]
    parts, session = session_of([root], names, {})
    assert len(parts.definitions) < 6  # a product, the maximum, a product below it, the sum
    rng = Random(1)
    for _ in range(20):
        words = {name: rng.getrandbits(8) for name in names}
        assert session.value(["f", *words.values()], {}) == evaluate([root], words)


def test_nothing_is_written_below_a_cut() -> None:
    """The value of a node that has a name is the name's, below it the other inputs are not met."""
    x, y = var("x", 8), var("y", 8)
    cut = (x * y) + x
    wide = cut.zext(16)
    root = (wide * wide) ^ (y.zext(16) - wide)
    for node in (cut, wide):
        parts, session = session_of([root, node], ["x", "y"], {node: "free-0"})
        free = var("free-0", node.width)
        for words in ({"x": 3, "y": 7, "free-0": 11}, {"x": 0, "y": 255, "free-0": 200}):
            expected = evaluate(substitute([root, node], {node: free}), words)
            assert session.value(["f", *words.values()], {}) == expected
        assert not any("(* x-" in text and "x-2" in text for text in parts.definitions)


def test_roots_that_are_inputs_constants_and_widened() -> None:
    x = var("x", 8)
    roots = [x, const(5, 8), x.zext(12), (x + const(1, 8)).zext(12), x + const(1, 8)]
    _, session = session_of(roots, ["x"], {})
    assert session.value(["f", 255], {}) == [255, 5, 255, 0, 0]


def test_a_unit_has_short_functions() -> None:
    """So that ACL2 has few variables in each: the unit in one function has 2,000 lines."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    (root,) = expand([model.trace.output])
    whole, _ = Acl2Writer(variables_of(model.input_names)).bindings([root], {})
    parts, session = session_of([root], model.input_names, {})
    lines = [len(re.findall(r"\(w-\d+ ", text)) for text in parts.definitions]
    assert max(lines) < len(whole) / 5
    rng = Random(2)
    for _ in range(5):
        words = {name: rng.getrandbits(fmt.width) for name, fmt in model.input_formats.items()}
        args = [words[name] for name in model.input_names]
        assert session.value(["f", *args], {}) == evaluate([root], words)
