"""What the documentation takes from the code when it is built: the catalogue of units, and the public API."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Sequence
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Any

import click
from atlas_pages import unit_link
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from trusted import DESIGNS, closure

import tcsmt
from tcsmt.interface.cli import main
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.catalogue.description import arithmetic
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, aliases, gpus
from tcsmt.matrix_units.catalogue.processors import PROCESSORS
from tcsmt.matrix_units.models.file_texts import meanings, toml_value
from tcsmt.matrix_units.models.files import KINDS, file_parameters
from tcsmt.support.results import Result

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (
    "unit",
    "architecture",
    "a",
    "b",
    "D",
    "K",
    "N_FMA",
    "F",
    "zero",
    "arithmetic",
    "evidence",
    "status",
)


def _cells(row: Row) -> tuple[str, ...]:
    model = row.model
    parameters = (
        getattr(model.parameters, name, None) for name in ("n_fma", "fraction_bits", "zero_exponent")
    )
    n_fma, bits, zero = ("" if value is None else str(value) for value in parameters)
    formats = (model.a_format.name, model.b_format.name, model.d_format.name)
    return (
        row.name, row.architecture, *formats, str(model.k), n_fma, bits, zero, arithmetic(model),
        row.evidence, row.status,
    )  # fmt: skip


def _table(chosen: Sequence[Row]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    lines = [f'<div class="units"><table class="units table"><thead><tr>{head}</tr></thead><tbody>']
    for row in chosen:
        about = "; ".join(filter(None, [row.source, row.note, ", ".join(row.measured)]))
        _, *rest = (html.escape(cell) for cell in _cells(row))
        cells = "".join(f"<td>{cell}</td>" for cell in [unit_link(row, "../"), *rest])
        lines.append(f'<tr title="{html.escape(about)}">{cells}</tr>')
    return "".join([*lines, "</tbody></table></div>"])


class Units(Directive):
    """``.. units::``: every row of the catalogue as a table; units.js adds filters and sorts."""

    def run(self) -> list[nodes.Node]:
        """The table, as HTML."""
        return [nodes.raw("", _table(rows()), format="html")]


class Published(Directive):
    """``.. published-claims::``: the rows that were refuted or are disputed, and what they say."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        return self._parse([
            ".. list-table::", "   :header-rows: 1", "   :class: claims", "",
            "   * - unit", "     - what it says, and where", "     - status",
            *(
                line
                for row in rows()
                if "@" in row.instruction
                for line in (f"   * - ``{row.name}``", f"     - {row.note} ({row.source})",
                             f"     - {row.status}")
            ),
        ])  # fmt: skip

    def _parse(self, lines: list[str]) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(lines, source="generated"), self.content_offset, parent)
        return list(parent.children)


class Gpus(Published):
    """``.. gpus::``: what can be given where a command takes an architecture."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        lines = [
            ".. list-table::",
            "   :header-rows: 1",
            "",
            "   * - architecture",
            "     - also",
            "     - GPUs and processors",
        ]
        for name in ARCHITECTURES:
            also = ", ".join(alias for alias, other in aliases().items() if other == name)
            chips = {**gpus(), **{chip: one.architecture for chip, one in PROCESSORS.items()}}
            named = ", ".join(chip for chip, other in chips.items() if other == name)
            lines += [f"   * - ``{name}``", f"     - {also}", f"     - {named}"]
        return self._parse(lines)


class Formats(Published):
    """``.. formats::``: the number formats, with their widths."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        heads = ("format", "bits", "exponent bits", "significand bits (with the implicit one)", "exponents")
        lines = [".. list-table::", "   :header-rows: 1", ""]
        lines += [f"   {'* -' if i == 0 else '  -'} {head}" for i, head in enumerate(heads)]
        for name, fmt in FORMATS.items():
            exponents = f"{fmt.e_min} to {fmt.e_max}"
            cells = (f"``{name}``", fmt.width, fmt.exponent_bits, fmt.precision, exponents)
            lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(cells)]
        return self._parse(lines)


class Parameters(Published):
    """``.. parameters::``: of each kind of model, its parameters as they are declared."""

    def run(self) -> list[nodes.Node]:
        """A table for each kind."""
        lines: list[str] = []
        for name, kind in KINDS.items():
            lines += [f"``{name}``: {kind.title}", "", ".. list-table::", "   :header-rows: 1", ""]
            lines += ["   * - key", "     - values", "     - default", "     - meaning"]
            sentences = meanings(kind)
            for parameter in file_parameters(kind):
                required = parameter.default is MISSING
                default = "" if required else toml_value(parameter.default).strip('"')
                cells = (f"``{parameter.name}``", _values(parameter), default, sentences[parameter.name])
                lines += [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(cells)]
            lines.append("")
        return self._parse(lines)


def _values(parameter: Field[Any]) -> str:
    """What a parameter may be, as its declaration says."""
    kind, _, nothing = str(parameter.type).partition(" | ")
    ends, choices = parameter.metadata.get("ends"), parameter.metadata.get("choices")
    values = _KINDS.get(kind, kind)
    if ends:
        values = f"from {ends[0]} to {ends[1]}"
    elif choices:
        values = ", ".join(choices)
    elif parameter.metadata.get("unit") == "lanes":
        values = "a number of lanes"
    return f"{values}, or none" if nothing else values


#: What a kind of parameter is called.
_KINDS = {
    "int": "an integer", "bool": "true or false", "str": "a text", "AnyFormat": "a format",
    "Format": "a floating-point format", "IntegerFormat": "an integer or fixed-point format",
    "Rounding": "a rounding mode", "NanRule": "a NaN's word, or a rule", "tuple[int, ...]": "lanes",
    "tuple[str, ...]": "texts", "tuple[Model, ...]": "tables of models",
}  # fmt: skip


class TrustedBase(Published):
    """``.. trusted-base::``: the modules that the checker of certificates imports."""

    def run(self) -> list[nodes.Node]:
        """How many there are, and the table."""
        modules = closure()
        count = sum(one.lines for one in modules)
        lines = [
            f"The checker imports {len(modules)} modules with {count:,} lines:", "",
            ".. list-table::", "   :header-rows: 1", "",
            "   * - module", "     - lines", "     - what it is",
        ]  # fmt: skip
        for one in modules:
            lines += [f"   * - ``{one.name}``", f"     - {one.lines}", f"     - {one.about}"]
        names = {one.name for one in modules}
        more = [one for one in closure(DESIGNS) if one.name not in names]
        listed = ", ".join(f"``{one.name}`` ({one.lines})" for one in more)
        count = sum(one.lines for one in more)
        lines += ["", f"A statement about a design or a function in C rests on {count} lines more: {listed}."]
        return self._parse(lines)


class Api(Published):
    """``.. public-api::``: autodoc of each name that the package exports."""

    def run(self) -> list[nodes.Node]:
        """The documentation of each name, in the order of ``tcsmt.__all__``."""
        lines: list[str] = []
        for name in tcsmt.__all__:
            thing = getattr(tcsmt, name)
            if inspect.isclass(thing):
                inherited = ["   :inherited-members:"] if issubclass(thing, Result) else []
                lines += [f".. autoclass:: tcsmt.{name}", "   :members:", *inherited, ""]
            elif inspect.ismodule(thing):
                lines += [f".. automodule:: {thing.__name__}", "   :members:", ""]
            elif callable(thing):
                lines += [f".. autofunction:: tcsmt.{name}", ""]
            else:
                lines += [f".. autodata:: tcsmt.{name}", ""]
        return self._parse(lines)


#: The colours that a picture takes where the reader's system is dark; the site has a switch of its own.
DARK = re.compile(r"@media\(prefers-color-scheme:dark\)\{((?:[^{}]*\{[^{}]*\})*)\}")


class TwoPictures(SphinxTransform):
    """A picture of ``results/pictures`` in light and in dark colours: the site's switch chooses."""

    default_priority = 400

    def apply(self, **options: object) -> None:
        """Replace each image by two."""
        folder = Path(self.app.srcdir) / "_pictures"
        for image in list(self.document.findall(nodes.image)):
            if "results/pictures/" not in image["uri"]:
                continue
            source = ROOT / "results" / "pictures" / Path(image["uri"]).name
            text = source.read_text()
            folder.mkdir(exist_ok=True)
            both = []
            for scheme, colours in (("light", ""), ("dark", r"\1")):
                path = folder / f"{source.stem}-{scheme}.svg"
                path.write_text(DARK.sub(colours, text))
                copy = image.deepcopy()
                copy["uri"] = f"/_pictures/{path.name}"
                copy["classes"] = [*image["classes"], f"only-{scheme}"]
                both.append(copy)
            image.replace_self(both)


def examples_as_code(app: Sphinx, context: object, lines: list[str]) -> None:
    """Examples of a command's help, which sphinx-click makes a block of lines, as a block of code."""
    start = next((i for i, line in enumerate(lines) if line.strip() == "| Examples:"), None)
    if start is None:
        return
    stop = start + 1
    while stop < len(lines) and lines[stop].startswith("|"):
        stop += 1
    commands = [f"   {line.removeprefix('|').strip()}" for line in lines[start + 1 : stop]]
    lines[start:stop] = ["Examples:", "", ".. code-block:: sh", "", *commands, ""]


def make_commands(group: click.Group) -> None:
    """Make each command now: autodoc replaces the defaults in calls' signatures, from which they are made."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            make_commands(command)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    make_commands(main)
    app.add_transform(TwoPictures)
    app.connect("sphinx-click-process-description", examples_as_code)
    app.add_directive("units", Units)
    app.add_directive("published-claims", Published)
    app.add_directive("gpus", Gpus)
    app.add_directive("formats", Formats)
    app.add_directive("parameters", Parameters)
    app.add_directive("public-api", Api)
    app.add_directive("trusted-base", TrustedBase)
    return {"parallel_read_safe": True}
