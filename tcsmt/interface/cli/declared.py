"""Commands made from calls: a parameter of the call is an option of the command.

The call has each parameter's name, type and default in its signature, and what it means in the section
``Args:`` of its docstring. A command adds what a terminal alone has: where the result is printed, progress,
its prose with examples, and the form of an option where that does not follow from the call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial, reduce
from importlib import import_module
from typing import Any

import click

from tcsmt.interface.api.terminal import progress_bar
from tcsmt.interface.cli import options
from tcsmt.interface.cli.options import Made
from tcsmt.interface.cli.parameters import Form, option_of, sentences


class DeclaredCall:
    """The calls that a command is made from, with the values that were given: call it for the first one."""

    def __init__(self, functions: Sequence[Callable[..., Any]], values: Mapping[str, Any]) -> None:
        self._functions, self.values = {function.__name__: function for function in functions}, values

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter."""
        return self.values[name]

    def __call__(self, **more: Any) -> Any:
        """Return what the first call gives. more: what the terminal does not take, or in its place."""
        return self.of(next(iter(self._functions)))(**more)

    def of(self, name: str) -> partial[Any]:
        """Return one of the calls, with the values of its own parameters."""
        parameters = inspect.signature(self._functions[name]).parameters
        values = {key: value for key, value in self.values.items() if key in parameters}
        several = [key for key in values if parameters[key].kind is inspect.Parameter.VAR_POSITIONAL]
        return partial(self._functions[name], *(one for key in several for one in values.pop(key)), **values)

    def with_progress(self, *, lines: bool = True, late: bool = False, **more: Any) -> Any:
        """Return what the first call gives, with its progress on standard error.

        late: from when there is any; else from the start.
        """
        with ExitStack() as opened:
            bar = cache(lambda: opened.enter_context(progress_bar(lines=lines)))
            if not late:
                bar()
            return self(progress=lambda *step: bar()(*step), **more)  # noqa: PLW0108


class Declared(options.SolvingCommand):
    """A command that is made from calls, and a body that prints what they give.

    made: the options of each parameter of a call, and what makes its value of theirs. renamed: options by
    their earlier names.
    """

    def __init__(
        self,
        calls: Sequence[Callable[..., Any]],
        body: Callable[..., None],
        made: Mapping[str, Made],
        renamed: Mapping[str, str],
    ) -> None:
        written = reversed(getattr(body, "__click_params__", []))
        super().__init__(
            body.__name__, callback=self._run, help=inspect.getdoc(body),
            params=[*(one for many, _ in made.values() for one in many), *written, options.json_option()],
        )  # fmt: skip
        self.calls, self.body, self.made, self.renamed = calls, body, made, renamed

    def _run(self, **values: Any) -> None:
        given = {
            name: fold(**{str(one.name): values.pop(str(one.name)) for one in many})
            for name, (many, fold) in self.made.items()
        }
        self.body(DeclaredCall(self.calls, given), **values)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the earlier names too, and say what they are now."""
        for number, word in enumerate(args):
            flag, equals, value = word.partition("=")
            if word == "--":
                break
            if (now := self.renamed.get(flag)) is not None:
                click.echo(f"{flag} is {now} now; tcsmt 1.0 will not take {flag}", err=True)
                args[number] = f"{now}{equals}{value}"
        return super().parse_args(ctx, args)


#: A parameter of these types is several options: they, and what makes its value of theirs. They take the
#: words of a form, the call's default and the help.
_FOLDED: dict[str, Callable[[str, Any, str], Made]] = {
    "SolvingOptions": options.solving_options,
    "Domain": options.domain_options,
    "DesignFiles": options.design_options,
}


def declared(
    *calls: str, was: Mapping[str, str] | None = None, **forms: Form | None
) -> Callable[[Callable[..., None]], Callable[[], Declared]]:
    """Make a command from calls, MODULE.FUNCTION of the interface, which are imported when it is used.

    The body takes a :class:`DeclaredCall`, ``as_json``, and the values of click's options that decorate it.
    forms: of the calls' parameters, None: the body supplies it; those that are named come first, in this
    order. was: options by their earlier names.
    """

    def decorate(body: Callable[..., None]) -> Callable[[], Declared]:
        @cache
        def make() -> Declared:
            functions: list[Callable[..., Any]] = []
            for call in calls:
                module, *names = call.split(".")
                found: Any = import_module(f"tcsmt.interface.api.{module}")
                functions.append(reduce(getattr, names, found))
            return Declared(functions, body, _made(functions, forms), was or {})

        return make

    return decorate


def _made(functions: Sequence[Callable[..., Any]], forms: Mapping[str, Form | None]) -> dict[str, Made]:
    found: dict[str, tuple[inspect.Parameter, Callable[..., Any]]] = {}
    for call in functions:
        for name, parameter in inspect.signature(call).parameters.items():
            found.setdefault(name, (parameter, call))
    made: dict[str, Made] = {}
    for name in dict.fromkeys([*forms, *found]):
        parameter, call = found[name]
        form = forms.get(name, "")
        if form is None or (callable(parameter.default) and parameter.default is not parameter.empty):
            continue  # the terminal's own: progress, and what is said on the way
        text = sentences(call).get(name, "")
        kind = str(parameter.annotation).partition(" ")[0]
        if kind in _FOLDED:
            made[name] = _FOLDED[kind](str(form), parameter.default, text)
            continue
        if name in options.FIELDS and not text:
            option: click.Parameter = options.solving_option(name, form or parameter.default)
        else:
            option = option_of(parameter, form, text, vars(inspect.getmodule(call)))
        made[name] = [option], partial(_value, parameter.default, getattr(option.type, "read", None))
    return made


def _value(default: Any, read: Callable[[Any], Any] | None, **values: Any) -> Any:
    """Return the value of one option; a file that its type reads is read now."""
    (value,) = values.values()
    if value == ():  # one that may be repeated, and is not given: to the call, that may be None
        return () if default is inspect.Parameter.empty else default
    return value if value is None or read is None else read(value)
