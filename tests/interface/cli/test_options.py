"""Options of which a call takes one object: their defaults, what the call gets, and what they refuse."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main, options
from tcsmt.interop.implementations.designs import DesignFiles
from tcsmt.prove.engine.options import CHOICES, SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import tcsmt

Made = tuple[list[click.Parameter], Callable[..., Any]]


def value(made: Made, *arguments: str) -> Any:
    """What the call gets of these options."""
    options_made, fold = made
    seen: list[Any] = []
    command = click.Command("c", params=options_made, callback=lambda **given: seen.append(fold(**given)))
    done = CliRunner().invoke(command, arguments)
    if isinstance(done.exception, TcsmtError):
        raise done.exception
    if done.exit_code:
        raise ValueError(done.stderr)
    return seen[0]


def solving(fields: str, default: SolvingOptions | None = None) -> Made:
    return options.solving_options(fields, default, "")


def test_defaults_are_those_of_the_call() -> None:
    fields = "timeout jobs confirm reuse store certificate"
    assert value(solving(fields)) == SolvingOptions(confirm=False)
    usual = SolvingOptions(timeout=3.0, jobs=2, confirm=True)
    assert value(solving("timeout jobs confirm", usual)) == usual
    assert value(solving("solver", usual)) == usual
    assert value(solving("timeout=3 memory")) == SolvingOptions(timeout=3.0)
    assert value(solving("reuse"), "--again") == SolvingOptions(reuse=False)
    assert value(solving("store"), "--store", "x") == SolvingOptions(store=Path("x"))


def test_every_field_has_an_option() -> None:
    fields = [one.name for one in dataclasses.fields(SolvingOptions)]
    made, _ = solving(" ".join(fields))
    assert [str(one.name) for one in made] == fields
    assert all(isinstance(one, click.Option) and one.help for one in made)


@pytest.mark.parametrize(("arguments", "said"), [
    (["--jobs", "0"], "0 is not in the range"), (["--jobs", "257"], "257 is not in the range"),
    (["--timeout", "soon"], "'soon' is not a valid float"),
])  # fmt: skip
def test_values_out_of_range_are_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        value(solving("jobs timeout"), *arguments)


def leaves(group: click.Group) -> Iterator[click.Command]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command)
        else:
            yield command


def test_a_name_means_the_same_in_every_command() -> None:
    """An option that is written here has one form, wherever it is taken."""
    forms: dict[str, set[tuple[str, ...]]] = {}
    for command in leaves(main):
        for one in command.params:
            if one.name in ("as_json", "solver", "timeout", "memory", "jobs", "scheduler", "dump_smt"):
                forms.setdefault(one.name, set()).add((*one.opts, str(one.type)))
    assert {name for name, several in forms.items() if len(several) > 1} == set()
    assert len(forms) == 7
    solver = options.solving_option("solver", "auto")
    assert all(choice in (solver.help or "") for choice in CHOICES)


def test_commands_with_jobs_take_a_scheduler() -> None:
    """But for ``compare``, whose jobs are threads that run inputs."""
    taking = {command.name for command in leaves(main) if "jobs" in {one.name for one in command.params}}
    assert taking >= {"atlas", "audit", "check", "findings", "reduced", "sweep"}
    assert taking - {"compare"} == {
        c.name for c in leaves(main) if "scheduler" in {one.name for one in c.params}
    }


@pytest.mark.parametrize("command", list(leaves(main)), ids=lambda command: command.name)
def test_no_command_has_a_path_of_its_own(command: click.Command) -> None:
    """What is written is where its user said; without that, it is shown, and nothing is written."""
    paths = [one for one in command.params if isinstance(one.type, click.Path)]
    assert [one.name for one in paths if isinstance(one.default, (str, Path))] == []


@pytest.mark.slow_cases("atlas --arch")
@pytest.mark.parametrize("arguments", [
    ("reproduce", "fasi"),
    ("atlas", "--arch", "volta", "--types", "f32.f16.f16.f32", "--claims", "--no-confirm"),
    ("accuracy", "reduced", "--widths", 2, "--unit", "volta", "--inputs", 14, "--question", "error-single"),
], ids=lambda arguments: " ".join(map(str, arguments[:2])))  # fmt: skip
def test_nothing_is_written_unasked(
    arguments: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tcsmt(*arguments).exit_code in (0, 1), arguments
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "domain"), [
    ([], Domain(finite=False)),
    (["--finite"], Domain()),
    (["--positive", "--c-zero"], Domain(finite=False, positive=True, c_zero=True)),
    (["--exclude-subnormal"], Domain(finite=False, subnormals=False)),
    (["--exponents", "-3:4", "--bits", "5", "7"], Domain(finite=False, exponents=(-3, 4), bits=(5, 7))),
    (["--exponents", "type1", "--c-free"], Domain(finite=False, exponents=(-15, 14), c_free=True)),
])  # fmt: skip
def test_domains_of_models(arguments: list[str], domain: Domain) -> None:
    assert value(options.domain_options("", None, ""), *arguments) == domain


def test_domains_of_algorithms_have_exponents() -> None:
    usual = Domain(exponents=(-15, 14))
    assert value(options.domain_options("", usual, "")) == usual
    words = ("--exponents", "small", "--positive", "--bits", "11", "12")
    expected = Domain(exponents=(-35, -15), positive=True, bits=(11, 12))
    assert value(options.domain_options("", usual, ""), *words) == expected


def test_domains_of_operands_leave_exponents_open() -> None:
    """The call says what they are then."""
    made = options.domain_options("", Domain(), "Of the inputs.  [default: the normal numbers]")
    assert value(made) == Domain()
    (exponents,) = (one for one in made[0] if one.name == "exponents")
    assert isinstance(exponents, click.Option) and str(exponents.help).endswith(
        "  [default: the normal numbers]"
    )


@pytest.mark.parametrize(("text", "said"), [
    ("1:x", "exponents '1:x': expected LOW:HIGH, two integers"), (":", "expected LOW:HIGH"),
    ("type2", "unknown exponents 'type2': did you mean type1"), ("7", "unknown exponents '7'"),
])  # fmt: skip
def test_texts_that_are_not_ranges_are_refused(text: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        options.exponents_of(text)


def test_c_free_needs_exponents() -> None:
    with pytest.raises(TcsmtError, match="--c-free exempts c from --exponents, which is not given"):
        value(options.domain_options("", None, ""), "--c-free")


def design(*arguments: str) -> Any:
    return value(options.design_options("", None, ""), *arguments)


def test_all_options_of_a_design() -> None:
    words = "--top mac --port a=x[7:0] --port b=y --const rnd=0 --cycles 2 --hold --format a=f16 --param W=8"
    words += " --source pkg.sv --include inc --define FAST --define N=3 --read-timeout 9"
    assert design(*words.split()) == DesignFiles(
        files=(Path("pkg.sv"),), top="mac", ports=("a=x[7:0]", "b=y"), constants=("rnd=0",), cycles=2,
        hold=True, formats={"a": "f16"}, parameters={"W": "8"}, include=(Path("inc"),),
        define=("FAST", "N=3"), timeout=9.0,
    )  # fmt: skip


def test_a_value_may_have_an_equals_sign() -> None:
    assert design("--param", "INIT=a=b").parameters == {"INIT": "a=b"}
    assert design() == DesignFiles(files=())


@pytest.mark.parametrize(("arguments", "said"), [
    (["--format", "f16"], "--format f16: expected NAME=VALUE"),
    (["--param", "=8"], "--param =8: expected NAME=VALUE"), (["--param", "W="], "--param W=: expected"),
    (["--format", "a=f16", "--format", "a=f32"], "--format a=f32: a is given twice"),
])  # fmt: skip
def test_pairs_that_are_none(arguments: list[str], said: str) -> None:
    with pytest.raises(TcsmtError, match=re.escape(said)):
        design(*arguments)
