"""Files of captured, emulated or predicted rows, each of several units (:mod:`.published_files`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.matrix_units.catalogue.published_files import MVMUL_FILES, PREDICTIONS, SELECTIONS
from tcsmt.simulate.measured.dataset import DataSet, Formats, Register, words_of
from tcsmt.simulate.measured.row_files import read_json
from tcsmt.support.errors import TcsmtError

#: What such a file may say of how it was made.
_PROVENANCE = ("target", "capture_software", "cpu", "emulator", "simulator", "method", "evidence")


def is_unit_file(path: Path) -> bool:
    """Return whether the file's name is one of those that are known to hold rows of several units."""
    return path.suffix == ".json" and (path.stem in SELECTIONS or path.stem in MVMUL_FILES)


def has_predictions(path: Path) -> bool:
    """Return whether the file's name is one of those that are known to hold predictions."""
    return path.suffix == ".json" and path.stem in PREDICTIONS


def unit_datasets(path: Path) -> Iterator[DataSet]:
    """Yield the rows of each unit. Raises :class:`.TcsmtError`, also where none is of a unit that is
    expected.
    """
    data = _read(path)
    rows = {f"{path}: rows[{number}]": row for number, row in enumerate(data["rows"])}
    for where, row in rows.items():
        if not isinstance(row, dict):
            raise TcsmtError(f"{where}: not an object")
    if path.stem in MVMUL_FILES:
        parts, registers = _of_mvmul(path, rows), _REGISTERS
    else:
        parts, registers = _selected(path, rows), {}
    for name, unit, result, chosen in parts:
        formats = Formats.of(unit.model)
        results = {where: {**row, "d": row.get(result)} for where, row in chosen.items()}
        yield DataSet.of(
            words_of(results, formats, unit.model, registers), name=f"{path.stem}{name}", path=path,
            gpu=_device(data, result), architecture=unit.architecture, interface=unit.instruction,
            formats=formats, notes=str(data.get("licence", "")),
            provenance={key: data[key] for key in _PROVENANCE if isinstance(data.get(key), str)},
        )  # fmt: skip


#: Rows by where they stand; those of a unit, with their data set's name and the key of their results.
_Rows = Mapping[str, Any]
_Part = tuple[str, Row, str, _Rows]


def _selected(path: Path, rows: _Rows) -> Iterator[_Part]:
    for selection in SELECTIONS[path.stem]:
        chosen = {where: row for where, row in rows.items() if selection.has(row)}
        if not chosen:
            raise TcsmtError(f"{path}: rows: none is of {selection.unit}")
        unit = row_named(selection.unit)
        yield f":{unit.instruction}", unit, selection.result, chosen


#: How files of MVMUL's registers call formats, and how they hold words.
_NAMES = {"BF16": "bf16", "TF32": "tf32", "FP16": "f16", "FP32": "f32"}
_REGISTERS = {"a": Register(10), "b": Register(10), "c": Register(23), "d": Register(23)}


def _of_mvmul(path: Path, rows: _Rows) -> Iterator[_Part]:
    """Yield the rows of each unit, which they say by ``arch``, ``src``, ``dst`` and ``phase``."""
    if not rows:
        raise TcsmtError(f"{path}: rows: there are none")
    units: dict[str, tuple[Row, dict[str, Any]]] = {}
    for where, row in rows.items():
        for key in ("src", "dst"):
            if row.get(key) not in [*_NAMES]:
                raise TcsmtError(f"{where}: {key} = {row.get(key)!r}: must be one of {', '.join(_NAMES)}")
        name = f"{row.get('arch')}/mvmul.{_NAMES[row['dst']]}.{_NAMES[row['src']]}.phase{row.get('phase')}"
        try:
            unit = row_named(name)
        except TcsmtError as error:
            raise TcsmtError(f"{where}: {error}") from None
        units.setdefault(name, (unit, {}))[1][where] = row
    for unit, chosen in units.values():
        yield f"-{unit.architecture}-{unit.instruction}", unit, "d", chosen


def _device(data: Mapping[str, Any], result: str) -> str:
    """Return the device's name; of a file of several, that whose name is in the key of the results."""
    gpu = data.get("gpu", "")
    if isinstance(gpu, dict):
        return next((str(name) for target, name in gpu.items() if target in result), "")
    return str(gpu or data.get("cpu", data.get("emulator", "")))


@dataclass(frozen=True)
class Prediction:
    """The word that one reading of a unit is said to give on an input, and that of its model here.

    file, row: where it stands (rows from 0). question: what the input is about. reading: whose reading.
    unit: the catalogue's row for it; None: there is none, and ``ours`` is None.
    """

    file: Path
    row: int
    question: str
    reading: str
    expected: int
    unit: Row | None
    ours: int | None
    width: int

    @property
    def differs(self) -> bool:
        """Return whether the model gives another word."""
        return self.ours is not None and self.ours != self.expected

    def as_json(self) -> dict[str, Any]:
        """Return the prediction as plain data."""
        digits = self.width // 4
        return {
            "file": str(self.file),
            "row": self.row,
            "question": self.question,
            "reading": self.reading,
            "predicted": f"0x{self.expected:0{digits}x}",
            "model": self.unit.name if self.unit else None,
            "ours": None if self.ours is None else f"0x{self.ours:0{digits}x}",
        }


def predictions(path: Path) -> Iterator[Prediction]:
    """Each reading of each row. Raises :class:`.TcsmtError`."""
    about = PREDICTIONS[path.stem]
    for number, row in enumerate(_read(path)["rows"]):
        where = f"{path}: rows[{number}]"
        row = {**about.otherwise, **row}
        keys = {**row, "lanes": len(row.get("a", []))}
        named = {reading: row_named(unit.format(**keys)) for reading, unit in about.units.items() if unit}
        if not named:
            raise TcsmtError(f"{where}: no unit")
        first = next(iter(named.values()))
        formats = Formats.of(first.model)
        record = {"c": "0" * formats.c.hex_digits, **row}
        for reading in about.units:
            if reading not in row:  # not every source says something about every input
                continue
            words = words_of({where: {**record, "d": row[reading]}}, formats)
            unit = named.get(reading)
            yield Prediction(
                path, number, str(row[about.question]), reading, int(words["d"][0]), unit,
                None if unit is None else _ours(unit, words), formats.d.width,
            )  # fmt: skip


def _ours(unit: Row, words: Mapping[str, Any]) -> int:
    model = unit.model
    a, b = (words[side][0].tolist() for side in "ab")
    zeros = [0] * (model.k - len(a))
    values = [*a, *zeros, *b, *zeros, int(words["c"][0])]
    return evaluate([model.trace.output], dict(zip(model.input_names, values, strict=True)))[0]


def _read(path: Path) -> dict[str, Any]:
    data = read_json(path)
    if isinstance(data, dict) and isinstance(data.get("rows"), dict):
        parts = data["rows"].items()
        if all(isinstance(part, list) for _, part in parts):
            data["rows"] = [{**row, "part": name} for name, part in parts for row in part]
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise TcsmtError(f'{path}: no list "rows"')
    return data
