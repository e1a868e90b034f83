"""Blocks that are stopped say what they had; nothing else does."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from tcsmt.support.stopping import on_stop


class Stopped(BaseException):
    pass


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyboardInterrupt(), True), (Stopped(), True), (SystemExit(3), False), (ValueError(), False),
        (GeneratorExit(), False), (None, False),
    ],
)  # fmt: skip
def test_only_a_stop_is_one(error: BaseException | None, says: bool) -> None:
    said: list[str] = []
    with nullcontext() if error is None else pytest.raises(type(error)):  # noqa: SIM117
        with on_stop(lambda: said.append("two of three")):
            if error is not None:
                raise error
    assert said == ["two of three"] * says
