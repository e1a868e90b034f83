"""Words that move with the block: what one run says of every block, against each block on its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.interop.compiled.integers import INTEGER_FORMS, cut
from tcsmt.interop.compiled.moves import Blocks, Undecided
from tcsmt.interop.compiled.trace import Word

_LANES = 8
_COUNTS = (5, 1, 3)
_SHIFTS = ("shl", "shr", "bfe", "bfi")


def _word(rng: np.random.Generator, width: int, kind: int) -> Word:
    """A word of one of the kinds that kernels have: constant, small, aligned, at the edges, anything."""
    sizes = (8, 64, 1 << (width - 1), 1 << min(width, 62))
    bits = rng.integers(0, sizes[kind % 4], _LANES).astype(np.uint64)
    if rng.random() < 0.2:
        bits = (np.uint64(0) - bits) & np.uint64((1 << width) - 1)
    if rng.random() < 0.4:
        bits &= ~np.uint64(15)
    if width == 1 or rng.random() < 0.4:
        return Word(cut(bits, width))
    moves = rng.integers(-4, 5, (3, 1)) * rng.choice([1, 1, 4, 16, 64, 1 << (width - 3)])
    moves = np.broadcast_to(moves, (3, _LANES)) * rng.integers(0, 2, (1, _LANES))
    return Word(cut(bits, width), None, moves * (np.array(_COUNTS)[:, None] > 1))


def _at(word: Word, place: tuple[int, ...], width: int) -> Any:
    if word.moves is None:
        return cut(word.bits, width)
    far = (word.moves * np.array(place)[:, None]).sum(axis=0)
    return cut(word.bits + far.astype(np.uint64), width)


@pytest.mark.parametrize("name", INTEGER_FORMS)
def test_every_form_moves_as_each_block_says(name: str) -> None:
    form, blocks = INTEGER_FORMS[name], Blocks(_COUNTS)
    rng = np.random.default_rng(1)
    for kind in range(40):
        words = [_word(rng, width, kind + place) for place, width in enumerate(form.widths)]
        if name.startswith(_SHIFTS) and kind % 2:
            words[1] = Word(words[1].bits % np.uint64(form.widths[0]))
        if name.startswith(("div", "rem")):
            words[1] = Word(np.maximum(words[1].bits, np.uint64(1)), None, words[1].moves)
        zero = name.startswith(("div", "rem")) and any(
            not _at(words[1], place, form.widths[1]).all() for place in np.ndindex(*_COUNTS)
        )
        try:
            moves = blocks.moved(name, words, form.widths)
        except Undecided:
            continue
        assert not zero
        first = (_at(word, (0, 0, 0), width) for word, width in zip(words, form.widths, strict=True))
        found = Word(form.apply(*first), None, moves)
        for place in np.ndindex(*_COUNTS):
            own = form.apply(*(_at(word, place, w) for word, w in zip(words, form.widths, strict=True)))
            assert (_at(found, place, form.width) == own).all(), (kind, place, words)


def _moving(first: list[int], step: int, width: int = 32, axis: int = 0) -> Word:
    moves = np.zeros((3, len(first)), np.int64)
    moves[axis] = step
    return Word(cut(np.array(first).astype(np.uint64), width), None, moves)


def test_what_kernels_do_is_decided() -> None:
    blocks = Blocks((16, 1, 1))
    constant = lambda n: Word(np.full(3, n, np.uint64))  # noqa: E731
    lanes = Word(np.arange(3, dtype=np.uint64))
    block = _moving([0, 0, 0], 1)
    for name, words, step in (
        ("shl.b32", [block, constant(6)], 64),
        ("or.b32", [_moving([0, 0, 0], 64), lanes], 64),
        ("add.s32", [_moving([0, 0, 0], 64), lanes], 64),
        ("mad.lo.s32", [block, constant(100), lanes], 100),
        ("mul.wide.s32", [_moving([0, 1, 2], 64), constant(200)], 12800),
        ("rem.s32", [_moving([0, 1, 2], 64), constant(1024)], 64),
        ("and.b32", [_moving([0, 1, 2], 64), constant(63)], 0),
        ("shr.u32", [_moving([0, 1, 2], 64), constant(6)], 1),
        ("setp.lt.s32", [_moving([0, 1, 2], 64), constant(1000)], 0),
        ("min.s32", [_moving([0, 1, 2], 64), constant(962)], 64),
    ):
        moves = blocks.moved(name, words, INTEGER_FORMS[name].widths)
        assert moves is not None
        assert moves[0].tolist() == [step] * 3, name
        assert not moves[1:].any()


def test_the_cut_is_where_the_first_block_differs() -> None:
    blocks = Blocks((16, 1, 4))
    edge = Word(np.full(2, 70, np.uint64))
    for words, name, cut_at in (
        ([_moving([0, 1], 10), edge], "setp.lt.s32", (0, 7)),
        ([_moving([0, 1], 20, axis=2), edge], "rem.u32", (2, 0)),
        ([_moving([0, 60], 20, axis=2), edge], "rem.u32", (2, 1)),
    ):
        if cut_at[1] == 0:
            blocks.moved(name, words, (32, 32))
            continue
        with pytest.raises(Undecided) as found:
            blocks.moved(name, words, (32, 32))
        assert (found.value.axis, found.value.at) == cut_at


def test_what_wraps_or_looks_at_the_block_itself_is_cut() -> None:
    blocks = Blocks((16, 1, 1))
    for words, name in (
        ([_moving([(1 << 31) - 5, 0], 1), Word(np.full(2, 2, np.uint64))], "mul.wide.s32"),
        ([_moving([0, 0], 1), Word(np.full(2, 1, np.uint64))], "and.b32"),
        ([_moving([0, 0], 1), _moving([0, 0], 1)], "mul.lo.s32"),
        ([_moving([3, 3], -1), Word(np.full(2, 2, np.uint64))], "div.s32"),
    ):
        with pytest.raises(Undecided):
            blocks.moved(name, words, INTEGER_FORMS[name].widths)
    with pytest.raises(Undecided):
        blocks.still(_moving([1, 2], 3))
