"""Parameters of calls as options and arguments of commands, and what the texts of some stand for."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from tcsmt.interface.api.asked import OPERAND_RULES
from tcsmt.interface.api.terminal import TcsmtError, UnknownName
from tcsmt.interface.cli.names import ALGORITHM, ARCHITECTURE, PROPERTY, UNIT

#: How the terminal writes a parameter, where its name and type do not say it: option names and a metavar
#: ("--as LANGUAGE"; in brackets: it may be left out), a type of click, or both.
Form = str | click.ParamType[Any] | tuple[str, click.ParamType[Any]]

#: A file or folder; what is wrong with it is said where it is used.
PATH = click.Path(path_type=Path)


class _Array(click.Path):
    """A file of an array, which is read when the command runs."""

    def read(self, path: Path) -> Any:
        """Return its array. Raises :class:`.TcsmtError`."""
        from tcsmt.interface.api.arrays import read_array  # NumPy is slow to import

        return read_array(path)


ARRAY = _Array(path_type=Path)


class _Factor(click.ParamType[str]):
    """A number, or a file of an array of numbers."""

    name = "number|file"

    def read(self, text: str) -> Any:
        """Return the number or the array. Raises :class:`.TcsmtError`."""
        try:
            return float(text)
        except ValueError:
            return ARRAY.read(Path(text))


FACTOR = _Factor()


class _Named(click.ParamType[str]):
    """A file of an array, and the name of the input that it is."""

    name = "NAME=FILE.npy"

    def read(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return each array by its name. Raises :class:`.TcsmtError`."""
        found: dict[str, Any] = {}
        for text in texts:
            name, equals, path = text.partition("=")
            if not (name.isidentifier() and equals and path):
                raise TcsmtError(f"{text!r}: must be NAME=FILE.npy, such as bias=bias.npy")
            if name in found:
                raise TcsmtError(f"input {name} is given twice")
            found[name] = ARRAY.read(Path(path))
        return found


NAMED_ARRAYS = _Named()


class _Commas(click.ParamType[str]):
    """Texts with commas between, which are all values of a parameter that has several."""

    name = "text"

    def read(self, text: str) -> list[str]:
        """Return the texts."""
        return [part.strip() for part in text.split(",")]


COMMAS = _Commas()


class _Settings(click.ParamType[str]):
    """Values of a name, with commas between, which are numbers or texts."""

    name = "NAME=VALUE,..."

    def read(self, texts: Sequence[str]) -> dict[str, list[Any]]:
        """Return the values of each name. Raises :class:`.TcsmtError`."""
        found: dict[str, list[Any]] = {}
        for text in texts:
            name, equals, values = text.partition("=")
            if not (name.isidentifier() and equals and values):
                raise TcsmtError(f"{text!r}: must be NAME=VALUE or NAME=VALUE,..., such as BLOCK_M=64")
            if name in found:
                raise TcsmtError(f"{name} is set twice")
            found[name] = [_plain(value) for value in values.split(",")]
        return found


def _plain(text: str) -> Any:
    """Return a number, True, False or None, or the text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


SETTINGS = _Settings()

#: The type of a parameter by its name, then by its annotation.
_NAMED: dict[str, click.ParamType[Any]] = {
    "algorithm": ALGORITHM, "algorithms": ALGORITHM, "arch": ARCHITECTURE, "architectures": ARCHITECTURE,
    "operands": click.Choice([*OPERAND_RULES]), "property": PROPERTY, "properties": PROPERTY, "units": UNIT,
}  # fmt: skip
_TYPES: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": str, "UnitLike": UNIT}
_OPERANDS = (
    "How to round operands that the formats of the unit do not have: "
    f"{', '.join(OPERAND_RULES)}.  [default: they are refused]"
)


def sentences(call: Callable[..., Any]) -> dict[str, str]:
    """Return what the section ``Args:`` of a docstring says of each parameter, without markup.

    What only points elsewhere ("As for ...") is left out.
    """
    section = re.search(r"^Args:\n((?: .*\n?)+)", inspect.getdoc(call) or "", re.MULTILINE)
    entries = re.split(r"^    (?=\w+: )", section[1] if section is not None else "", flags=re.MULTILINE)
    said = {}
    for entry in entries[1:]:
        name, _, text = entry.partition(": ")
        text = re.sub(r":\w+:`~?(?:tcsmt\.)?([^`]+)`", r"\1", " ".join(text.split())).replace("``", "`")
        if not text.startswith("As for "):
            said[name] = text.replace(" [default:", "  [default:")
    return said


def option_of(
    parameter: inspect.Parameter,
    form: Form,
    text: str,
    names: Mapping[str, Any],
    cls: type[click.Option] = click.Option,
) -> click.Parameter:
    """Return the option or argument of a parameter. text: its help; names: those that its type may have.

    A parameter without a default is an argument, others are options; several values of one parameter are an
    option in the singular that may be repeated.
    """
    words, given = form if isinstance(form, tuple) else (form, None) if isinstance(form, str) else ("", form)
    optional = words.startswith("[")
    flags = re.findall(r"--[\w/-]+", words)
    metavar = re.sub(r"--[\w/-]+ ?", "", words.strip("[]") if flags else words)
    annotation, default = str(parameter.annotation), parameter.default
    several = None
    if given is not COMMAS and not isinstance(default, str):
        several = re.search(r"(?:Sequence|Iterable|Mapping)\[(.*?)\](?: \| None)?$", annotation)
    inner = (annotation if several is None else several[1]).removesuffix(" | None")
    many = several is not None or parameter.kind is inspect.Parameter.VAR_POSITIONAL
    kind = given or _NAMED.get(parameter.name) or _type(inner, names)
    settings: dict[str, Any] = {"type": kind, "metavar": metavar or None}
    missing = default is inspect.Parameter.empty
    if not flags and (missing or optional):
        return click.Argument([parameter.name], required=not optional, nargs=-1 if many else 1, **settings)
    dashed = parameter.name.replace("_", "-")
    if inner == "bool":
        flags = flags or [f"--{dashed}/--no-{dashed}" if default else f"--{dashed}"]
        settings |= {"is_flag": True, "show_default": "/" in flags[0] and default is not None}
    elif not missing:
        default = default if isinstance(default, (int, float, str, tuple, type(None))) else str(default)
        settings["show_default"] = default not in (None, "", ()) and "[default:" not in text
    if parameter.name == "operands" and not text:
        settings["metavar"], text = "RULE", _OPERANDS
    if not missing:  # click takes None for a default, too
        settings["default"] = default
    return cls(
        [*(flags or [f"--{dashed.removesuffix('s') if many else dashed}"]), parameter.name],
        required=missing and not optional, multiple=many,
        help=_help(text, kind, many=many), **settings,
    )  # fmt: skip


def _type(text: str, names: Mapping[str, Any]) -> Any:
    """The type of click of an annotation's text."""
    if text.startswith("tuple["):
        return click.Tuple([_type(part, names) for part in text[6:-1].split(", ")])
    if "PathLike" in text or text == "Path":
        return PATH
    if text in _TYPES:
        return _TYPES[text]
    choices = get_args(names.get(text))
    return click.Choice(choices) if choices and all(isinstance(one, str) for one in choices) else str


def _help(text: str, kind: Any, *, many: bool) -> str:
    """A parameter's sentences with what the terminal adds: files of arrays, and that it may be repeated."""
    first, default, rest = text.partition("  [default:")
    added = ", .npy" if kind is ARRAY else " (may be repeated)" if many else ""
    return f"{first.removesuffix('.')}{added}.{default}{rest}" if added else text


def function_named(name: str) -> Callable[..., Any]:
    """Return the function MODULE:FUNCTION, found from the current folder too. Raises :class:`.TcsmtError`."""
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise TcsmtError(f"--python {name}: expected MODULE:FUNCTION, e.g. my_emulator:dot")
    if module.endswith(".py"):
        dotted = module.removesuffix(".py").replace("/", ".").strip(".")
        raise TcsmtError(f"--python {name}: a module has no suffix; write {dotted}:{function}")
    sys.path.insert(0, "")
    try:
        imported = importlib.import_module(module)
        if not hasattr(imported, function):
            names = [key for key in dir(imported) if callable(getattr(imported, key)) and key[0] != "_"]
            unknown = UnknownName(f"function of module {module}", function, names)
            raise TcsmtError(f"--python {name}: {unknown}")
        target = getattr(imported, function)
    except ImportError as error:
        raise TcsmtError(f"--python {name}: {error}") from None
    finally:
        sys.path.remove("")
    if not callable(target):
        raise TcsmtError(f"--python {name}: not a function")

    def called(*arrays: Any, **named: Any) -> Any:
        try:
            return target(*arrays, **named)
        except Exception as error:  # whatever a stranger's code raises
            raise TcsmtError(f"--python {name}: {type(error).__name__}: {error}") from error

    called.__name__ = name
    return called
