"""Models of one's own: TOML files as rows, and the one place that chooses a row.

A file has the model's ``kind`` and parameters (:mod:`tcsmt.matrix_units.models.files`); or, with
``base = "ARCH/INSTRUCTION"``, it is that catalogue row's model with these parameters changed. ``name``,
``source`` and ``note`` say what it is. ``nans_outside`` says which words NaNs have that a kernel makes
outside of the unit (:class:`.NanWords`); without it the base's rule holds, or none is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN, NanWords
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import (
    Model,
    circuit,  # noqa: F401 (a file may hold one)
)
from tcsmt.matrix_units.models.file_texts import has_file, meanings, parameters_toml, toml_value
from tcsmt.matrix_units.models.files import ABOUT, NONE, ModelTable, complete_model
from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import comment
from tcsmt.support.text import one_line
from tcsmt.support.toml_files import read_toml


def is_model_file(name: str) -> bool:
    """Return whether what was given for a model is a file and not ``ARCH[/INSTRUCTION]``."""
    return name.lower().endswith(".toml") or os.path.isfile(name)


def read_model(path: Path) -> Row:
    """Return the model of a file, as a row: ``custom/NAME``, conjectured, its source the file.

    NAME is the file's ``name``, or the file's own name. Raises :class:`.TcsmtError`,
    which names the file, the line and the key.
    """
    file = ModelTable(path, *read_toml(path))
    if "program" in file.given:
        raise file.error("program", f"a program as a unit needs its K at the end: {path}@64")
    about = {key: file.text(key) for key in ABOUT if key in file.given}
    model = _changed(file, about) if "base" in about else complete_model(file, ABOUT, _suggested)
    nans = row_named(about["base"]).nans_outside if "base" in about else UNKNOWN
    if "nans_outside" in about:
        with file.explained("nans_outside"):
            nans = NanWords.named(about["nans_outside"])
    changed = ", ".join(file.parameters) or "nothing"
    note = f"{about['base']}, changed: {changed}" if "base" in about else ""
    made = row_of_model(
        model, about.get("name", one_line(path.stem)), about.get("source", one_line(str(path)))
    )
    year = datetime.fromtimestamp(path.stat().st_mtime, UTC).year
    return replace(made, date=year, note=about.get("note", note), nans_outside=nans)


def row_of_model(model: Model, name: str = "unit", source: str = "") -> Row:
    """Return a model that is in no catalogue as a row: ``custom/NAME``, conjectured."""
    return Row(
        architecture="custom", instruction=name, model=model, source=source, date=0, evidence="conjectured"
    )


def model_toml(row: Row) -> str:
    """Return a file that reads back as the row's model: every parameter, below what it means.

    Raises :class:`.TcsmtError` for a model of others that no file can hold.
    """
    if not has_file(row.model):
        raise TcsmtError(f"{row.name}: a model file cannot hold {row.model.title}")
    about = [f"{row.name}", f"source: {row.source} ({row.date}); evidence: {row.evidence}"]
    head = "".join(f"# {comment(line)}\n" for line in about)
    meaning = "# which words NaN results have that a kernel makes outside of the unit"
    return f'{head}\n{meaning}\nnans_outside = "{row.nans_outside}"\n\n{parameters_toml(row.model)}'


def _suggested(kind: type[Model], name: str, table: Mapping[str, Any]) -> str:
    """Return what the catalogue's units have for a number that is missing: those of the table's formats, if
    any.
    """
    if not str(next(field.type for field in fields(kind.table()) if field.name == name)).endswith("| None"):
        return ""
    of_kind = [row for row in rows() if type(row.model) is kind and "@" not in row.instruction]
    alike = [row for row in of_kind if _has_formats(row.model, table)]
    suggestions: dict[str, str] = {}
    for row in alike or of_kind:
        suggestions.setdefault(toml_value(getattr(row.model.parameters, name)), row.name)
    suggestions.setdefault(json.dumps(NONE), meanings(kind)[name].partition("None: ")[2].rstrip("."))
    values = [f"{value} ({example})" for value, example in suggestions.items()][:_SUGGESTED]
    return f" (such as {', '.join(values)})"


#: Values that are suggested for a parameter, at most.
_SUGGESTED = 4


def _has_formats(model: Model, table: Mapping[str, Any]) -> bool:
    names = [name for name in ("a_format", "b_format", "c_format", "d_format") if name in table]
    return all(table[name] == getattr(model.parameters, name) for name in names)


def _changed(file: ModelTable, about: dict[str, str]) -> Model:
    with file.explained("base"):
        base = row_named(about["base"]).model
    if about.get("kind", base.kind) != base.kind:
        raise file.error(
            "kind", f"kind = {about['kind']!r}: must be {base.kind}, the kind of base = {about['base']}"
        )
    values = file.values(type(base))
    with file.explained("base"):
        return base.replace(**values)
