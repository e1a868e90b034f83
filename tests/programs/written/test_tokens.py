"""Words and marks of a line."""

from __future__ import annotations

import pytest

from tcsmt.programs.written.tokens import Tokens, Wrong


def test_kinds() -> None:
    tokens = Tokens.of('x = add(ieee/mul-add.f32, -2^-3:f32, 0x1F, "a b")·y')
    assert [kind for kind, _ in tokens.found] == [
        "name", "mark", "name", "mark", "name", "mark", "mark", "number", "mark", "name", "mark", "word",
        "mark", "text", "mark", "mark", "name",
    ]  # fmt: skip
    assert tokens.name("a name") == "x" and tokens.take("=") and not tokens.take("=")


def test_what_is_missing_is_named() -> None:
    with pytest.raises(Wrong, match=r"'\?x' is not understood"):
        Tokens.of("a ?x")
    for text, take in (("", "expect"), (")", "name"), ("x", "integer")):
        with pytest.raises(Wrong):
            getattr(Tokens.of(text), take)("(" if take == "expect" else "what")
