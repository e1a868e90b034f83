"""Other people's files as sides: designs and C have a model, programs and answers do not."""

from __future__ import annotations

import re
import sys

import click
import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.interface.cli import main
from tcsmt.interop.implementations.sides import is_design
from tcsmt.support.errors import TcsmtError


def test_designs_are_known_by_their_suffix_whatever_options_follow() -> None:
    for text in ("a.sv", "B.V", "c.btor2", "dot.c,function=dot", "x.sv,top=a,port=a=in_a"):
        assert is_design(text), text
    for text in ("d.toml", "volta", "rows.json", "volta/mma.m8n8k4.f32.f16.f16.f32"):
        assert not is_design(text), text


@pytest.mark.parametrize(
    ("text", "option"),
    [("tool.py", "--python tool:FUNCTION"), (sys.executable, f"--command {sys.executable}"),
     ("rows.npz", "--data rows.npz"), ("rows.json.xz", "--data rows.json.xz")],
)  # fmt: skip
def test_programs_and_recordings_say_how_they_are_asked(text: str, option: str) -> None:
    side = side_of(text)
    assert not side.rows
    for wanted in ("row", "units"):
        with pytest.raises(TcsmtError) as caught:
            getattr(side, wanted)
        assert str(caught.value).startswith(f"{text}: ") and option in str(caught.value)


def test_every_command_that_is_advised_exists() -> None:
    """With its option: a function is given to `identify` in Python alone."""
    for text in ("tool.py", sys.executable, "rows.npz"):
        with pytest.raises(TcsmtError) as caught:
            side_of(text).row  # noqa: B018
        for advised in re.findall(r"`tcsmt (.*?)`", str(caught.value)):
            command = main.get_command(click.Context(main), advised.split()[0])
            assert command is not None, advised
            flags = {flag for option in command.params for flag in option.opts}
            assert set(re.findall(r"--[a-z]+", advised)) <= flags, advised
