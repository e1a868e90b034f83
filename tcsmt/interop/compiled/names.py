"""Compiled kernels as names of units, ``FILE.ptx,A,B,D,64,...``, and as the text of a program's file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.resolve import ResolvedName, register_files, resolve
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.escaping import comment

if TYPE_CHECKING:
    from tcsmt.interop.compiled.reading import ElementRead

#: PTX ISA: NaN results of arithmetic and conversions are canonical, all bits set but the sign.
_NANS = "ones:f16:bf16:f32"
_OPTIONS = ("block", "element", "grid", "kernel", "target", "threads")


def file_text(element: ElementRead, file: str) -> str:
    """Return the TOML file of an element's program. file: what it was read from."""
    text = element.text
    said = {
        "title": f"{element.kernel}, compiled for {element.target}",
        "source": f"{comment(Path(file).name)}, {element.line}",
        "note": f"read for K = {text.along['A'].count}, of {element.result}[{element.element}]",
        "a_format": text.formats["A"], "b_format": text.formats["B"], "c_format": text.formats["c"],
        "nan": _NANS,
    }  # fmt: skip
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in said.items()]
    lines += ["program = '''", *text.lines, "'''"]
    others = {name: fmt for name, (fmt, _) in text.inputs.items() if name != "c"}
    if others:
        lines += ["[inputs]", *(f'{name} = "{fmt}"' for name, fmt in others.items())]
    lines += ["[units]", *(f'{short} = "{unit}"' for short, unit in text.units.items())]
    return "\n".join(lines) + "\n"


def compiled_text(file: Path) -> str:
    """Return the text of a compiled kernel. Raises :class:`.TcsmtError`."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TcsmtError(f"{file}: {getattr(error, 'strerror', None) or error}") from None


def _compiled(text: str, like: Model | None) -> ResolvedName:
    """Return an element of a kernel as a unit: FILE.ptx, the arguments, options, and choices of freedoms."""
    from tcsmt.programs.written.programs import program_of_file  # slow to import

    length = re.search(r"@(\d+)$", text)
    name, *given = text.removesuffix(length[0] if length else "").split(",")
    file = Path(name)
    arguments = [argument for argument in given if "=" not in argument]
    options: dict[str, str] = {}
    for option in given[len(arguments) :]:
        key, equals, value = option.partition("=")
        if not equals:
            raise TcsmtError(f"{text}: argument {option!r} must stand before the options")
        options[key] = value
    own = {key: options.pop(key) for key in _OPTIONS if key in options}
    try:
        element = _read(compiled_text(file), tuple(arguments), **_values(own))
        for key in options:
            if key not in (*element.text.freedoms, *element.text.inputs):
                raise UnknownName("option of a kernel", key, (*_OPTIONS, *element.text.freedoms))
    except TcsmtError as error:
        raise error if str(error).startswith(name) else TcsmtError(f"{file}: {error}") from None
    choices = "".join(f",{key}={value}" for key, value in options.items())
    k = element.text.along["A"].count
    if length and int(length[1]) != k:
        raise TcsmtError(f"{text}: K is {k}, as the arguments say")
    row = program_of_file(file, file_text(element, name), choices, k, lambda unit: resolve(unit).row)
    said = f"{file.stem}{''.join(f',{part}' for part in given)}@{k}"
    return ResolvedName.of_row(replace(row, instruction=said), text)


@lru_cache(maxsize=8)
def _read(ptx: str, arguments: tuple[str, ...], *, element: int | None = None, **more: Any) -> ElementRead:
    from tcsmt.interop.compiled.reading import run_kernel

    return run_kernel(ptx, arguments, **more).read(element)


def _values(own: dict[str, str]) -> dict[str, Any]:
    """Return the values of options: block=1:0:0, element=11, kernel=NAME."""
    found: dict[str, Any] = {"name": own["kernel"]} if "kernel" in own else {}
    for key in own.keys() - {"kernel"}:
        if key == "target":
            found[key] = own[key]
        elif not re.fullmatch(r"\d+" if key == "element" else r"\d+(:\d+){0,2}", own[key]):
            raise TcsmtError(f"{key}={own[key]}: must be {'N' if key == 'element' else 'X:Y:Z'}")
        else:
            numbers = tuple(map(int, own[key].split(":")))
            found[key] = numbers[0] if key == "element" else numbers
    return found


register_files((".ptx",), _compiled)
