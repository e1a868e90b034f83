"""Probe vectors: inputs of one instruction, what each hypothesis predicts for them, a device's answers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.simulate.measured.row_files import read_rows, rows_of_json, word_at
from tcsmt.simulate.rows import Words, words_of_row
from tcsmt.support.errors import InternalError, TcsmtError
from tcsmt.support.files import uncompressed
from tcsmt.surveys.properties.discovery import BrokenProperty, LoadedProperty, load, properties
from tcsmt.surveys.properties.investigation import Investigation, on_instruction


@dataclass(frozen=True, kw_only=True)
class Vector:
    """Inputs of an instruction, what they ask, and each hypothesis' result.

    words: of every input, in the order of ``Model.input_names``.
    predictions: word of D by hypothesis: a property's sides, and catalogue rows.
    """

    asks: str
    words: tuple[int, ...]
    predictions: Mapping[str, int]


class NothingApplies(TcsmtError):
    """The error that no property applies to a unit, and nothing else was claimed of it."""


def from_rows(row: Row, asks: Sequence[str], inputs: Words) -> list[Vector]:
    """Return rows of words, with what each asks. The hypotheses: the row and its claims.

    inputs: unsigned integers, a, b (rows, k), c (rows,), scales (rows, scales) or None. asks: one for each
    row.
    """
    return [_vector(text, row, words_of_row(inputs, number), {}) for number, text in enumerate(asks)]


def from_file(path: Path, row: Row) -> list[Vector]:
    """Return the rows of a file (:func:`.read_rows`).

    The hypotheses: the row and its claims, and those whose predictions the file has. What a row asks is
    taken from there too. Raises :class:`.TcsmtError`.
    """
    inputs = read_rows(path, row.model)
    rows = _said(path, row)
    vectors = []
    for number in range(len(inputs.c)):
        asks, predictions = rows[number] if rows else ("", {})
        name = f"{path.name}, row {number}"
        vectors.append(
            _vector(f"{name}: {asks}" if asks else name, row, words_of_row(inputs, number), predictions)
        )
    return vectors


def _said(path: Path, row: Row) -> list[tuple[str, dict[str, int]]]:
    """Return what a JSON file or JSON lines say of each row: what it asks, and predictions (words of D)."""
    if uncompressed(path).suffix.lower() not in (".json", ".jsonl"):
        return []
    fmt, rows = row.model.d_format, []
    for number, row_json in enumerate(rows_of_json(path)):
        predictions = row_json.get("predictions", {})
        where = f"{path}: rows[{number}].predictions"
        if not isinstance(predictions, dict):
            raise TcsmtError(f"{where} is not an object")
        words = {name: word_at(f"{where}[{name!r}]", fmt, text) for name, text in predictions.items()}
        rows.append((str(row_json.get("asks", row_json.get("why", ""))), words))
    return rows


def from_properties(
    row: Row,
    names: Sequence[str],
    solving: Solving,
    folders: Sequence[Path] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> list[Vector]:
    """Return the witnesses of properties; without names, of all that apply, and of the row against its
    claims.

    The hypotheses: both sides of each witness, the row and its claims. Without names, a property that
    does not apply, or turns out not to, is skipped, and ``progress`` is told why.
    Raises :class:`NothingApplies`, and :class:`.TcsmtError` where there is no witness.
    """
    others = [] if names else [r for r in _readings(row) if r.model != row.model]
    if names:
        chosen = {name: load(name, folders) for name in names}
    else:
        chosen = _that_apply(row, folders, progress, needed=not others)
    vector_of: dict[tuple[int, ...], Vector] = {}

    def keep(name: str, finding: Finding) -> None:
        progress(f"{name}: {finding.question.title}: {type(finding.verdict).__name__.lower()}")
        vector = _witness(name, row, finding)
        if vector is not None:
            vector_of.setdefault(vector.words, vector)

    for name, prop in chosen.items():
        try:
            prop.investigate(Investigation(row, solving, partial(keep, name)))
        except (InternalError, BrokenProperty):
            raise
        except TcsmtError as why:
            if names:
                raise
            progress(f"{name}: skipped: {why}")
    for other in others:
        sides = (row.name, row.model), (other.name, other.model)
        Investigation(row, solving, partial(keep, "claim")).differ(f"against {other.instruction}", *sides)
    if not vector_of:
        raise TcsmtError(f"{', '.join(chosen) or 'claims'}: found no witness that {row.name} can run")
    return list(vector_of.values())


def _that_apply(
    row: Row, folders: Sequence[Path], progress: Callable[[str], None], *, needed: bool
) -> dict[str, LoadedProperty]:
    """Return all properties that apply to the row; ``progress`` is told why the others do not.

    Raises :class:`NothingApplies` where there is none and one is needed.
    """
    loaded = {name: load(name, folders) for name in properties(folders)}
    objections = {name: prop.objection(row) for name, prop in loaded.items()}
    chosen = {name: prop for name, prop in loaded.items() if not objections[name]}
    if needed and not chosen:
        reasons = "; ".join(dict.fromkeys(objections.values()))
        raise NothingApplies(f"no property applies to {row.name} ({reasons})")
    for name, why in objections.items():
        if why:
            progress(f"{name}: skipped: {why}")
    return chosen


def _witness(name: str, row: Row, finding: Finding) -> Vector | None:
    """Return a witness on the whole instruction, other lanes zero; None where nothing shows it."""
    if not isinstance(finding.verdict, Distinguished):
        return None
    values = on_instruction(row.model, finding.question.formats, finding.verdict.values)
    if values is None:
        return None
    sides = {
        result["side"]: int(result["word"], 16)
        for result, side in zip(finding.results(), finding.question.sides, strict=True)
        if side.format == row.model.d_format
    }
    vector = _vector(f"{name}: {finding.question.title}", row, tuple(values.values()), sides)
    decides = len(sides) < 2 or len(set(vector.predictions.values())) > 1  # not only at a stage within
    return vector if decides else None


def _vector(asks: str, row: Row, words: tuple[int, ...], sides: Mapping[str, int]) -> Vector:
    readings = _readings(row)
    values = dict(zip(row.model.input_names, words, strict=True))
    results = evaluate([reading.model.trace.output for reading in readings], values)
    names = {reading.name: word for reading, word in zip(readings, results, strict=True)}
    return Vector(asks=asks, words=words, predictions={**sides, **names})


def _readings(row: Row) -> list[Row]:
    """Return the row, the accepted one of its instruction, and what else was claimed of it."""
    if row.architecture not in ARCHITECTURES:
        return [row]
    name = row.instruction.partition("@")[0]
    readings = [r for r in rows(row.architecture) if r.instruction.partition("@")[0] == name]
    return [r for r in readings if r.model.input_formats == row.model.input_formats]


# As data


def row_data(model: Model, vector: Vector) -> dict[str, Any]:
    """Return a vector as a row of JSON: hexadecimal words, then :func:`members`."""
    return hex_words(model, vector.words) | members(model, vector)


def hex_words(model: Model, words: Sequence[int]) -> dict[str, Any]:
    """Return the inputs of a row by the names of a file: ``a``, ``b``, ``c`` and the scales, as hexadecimal
    text.
    """
    texts = [fmt.hex(word) for fmt, word in zip(model.input_formats.values(), words, strict=True)]
    return model.operands(texts).named


def members(model: Model, vector: Vector) -> dict[str, Any]:
    """Return what a row says besides its words: ``asks``, and ``predictions`` (hypothesis → word of D)."""
    predictions = {name: model.d_format.hex(word) for name, word in vector.predictions.items()}
    return {"asks": vector.asks, "predictions": predictions}


def as_json(row: Row, vectors: Sequence[Vector]) -> str:
    """Return one object: the rows, and digests of the models that predict; for :func:`.read_rows`."""
    rows = [row_data(row.model, vector) for vector in vectors]
    models = models_named([data["predictions"] for data in rows]) | {row.name: row.model.digest}
    lines = ",\n".join(json.dumps(data, ensure_ascii=False) for data in rows)
    return f'{{"model": {json.dumps(row.name)}, "models": {json.dumps(models)}, "rows": [\n{lines}\n]}}\n'


def as_csv(row: Row, vectors: Sequence[Vector]) -> str:
    """Return a line for each vector; :func:`.read_rows` reads it. Predictions are a JSON object."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*row.model.input_names, "asks", "predictions"])
    formats = row.model.input_formats.values()
    for vector in vectors:
        names = members(row.model, vector)
        words = [fmt.hex(word) for fmt, word in zip(formats, vector.words, strict=True)]
        writer.writerow([*words, names["asks"], json.dumps(names["predictions"], ensure_ascii=False)])
    return text.getvalue()


Array = np.ndarray[Any, np.dtype[Any]]


def as_dataset(
    row: Row, provenance: Mapping[str, object], inputs: Words, answers: Array, asks: Sequence[str]
) -> str:
    """Return JSON: where the answers come from, and each row with what it asks.

    inputs: words, a and b of shape (rows, k), c of (rows,). answers: words of D, (rows,). asks: of each row.
    """
    model, rows = row.model, []
    for number, (d, asked) in enumerate(zip(answers.tolist(), asks, strict=True)):
        words = hex_words(model, words_of_row(inputs, number))
        rows.append(words | {"d": model.d_format.hex(d), "asks": asked})
    head = json.dumps({"model": row.name.partition("@")[0], **provenance}, indent=1)[:-2]
    return f'{head},\n "rows": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n"
