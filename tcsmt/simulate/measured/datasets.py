"""Measured inputs and outputs of real matrix units: read, and replayed on a model.

Six layouts are read: a folder with ``manifest.json`` and .npz files (or one of them); directed
cases in JSON; the text files of ``model_validation`` in the published repository
north-numerical-computing/MATLAB-tensor-core; tcsmt's own JSON, ``{"model": "ARCH/INSTRUCTION",
"rows": [{"a": [hex], "b": [hex], "c": hex, "d": hex}]}`` (or a model file; "scale_a" and "scale_b"
where the unit has block scales), which ``tcsmt run`` and the programs of ``tcsmt probe`` write too; JSON
files of several units' rows, known by their names (:mod:`tcsmt.simulate.measured.unit_files`); and the CSV,
.npz, .hex and .mem files of ``tcsmt run`` and ``tcsmt vectors``.

A data set holds what the instruction was given: where the host rounded c to FP16 before the call,
or did not use it, so does the reader. Errors name array elements from 0, lines of text from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, format_named
from tcsmt.matrix_units.arithmetic.words import dtype_of, to_words, unsigned
from tcsmt.matrix_units.catalogue import Row, architecture_named, rows, sequences_of
from tcsmt.matrix_units.catalogue.published_files import CALLED, CALLED_WITHOUT_C, FORMAT_NAMES
from tcsmt.matrix_units.files.model_files import is_model_file, read_model
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.resolve import resolve
from tcsmt.simulate.measured.dataset import HEXADECIMAL, DataSet, Formats, placed, words_of
from tcsmt.simulate.measured.row_files import (
    model_named_in,
    read_arrays,
    read_json,
    read_results,
    read_rows,
)
from tcsmt.simulate.measured.unit_files import (
    Prediction,
    has_predictions,
    is_unit_file,
    predictions,
    unit_datasets,
)
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import read_bytes, uncompressed
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]

#: What a file in tcsmt's own JSON may say of how it was measured.
_PROVENANCE = ("date", "driver", "runtime", "kernel_driver", "instruction", "target", "program")
#: What an interface is called, and what its rows in the catalogue begin with.
_FAMILIES = {"wmma": "mma", "mma": "mma", "wgmma": "wgmma", "tcgen05": "tcgen05"}
_SHAPE = re.compile(r"m(\d+|M)n(\d+|N)k\d+")


@dataclass(frozen=True)
class Mismatch:
    """A row on which the unit and the model differ: its index from 0, and words."""

    row: int
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    expected: int
    got: int


@dataclass(frozen=True)
class Replay:
    """A data set held against a model: how many rows differ, and the first few that do."""

    dataset: DataSet
    model: Model
    rows: int
    mismatches: int
    examples: tuple[Mismatch, ...]


def objection(dataset: DataSet, model: Model) -> str:
    """Say why a model cannot be compared with a data set; empty where it can."""
    formats = Formats.of(model)
    if formats != dataset.formats:
        return f"has formats {dataset.formats}, but the model takes {formats}"
    scale = dataset.operands.scale_a
    if (scale is None) != (model.scale_format is None):
        scales, units = ("no ", "them") if scale is None else ("", "none")
        return f"has {scales}block scales, but the model takes {units}"
    if scale is not None and (scale.shape[1], dataset.k) != (model.scales, model.k):
        return f"has {scale.shape[1]} block scales for {dataset.k} lanes, but the model takes {model.scales}"
    if not _fits(dataset.k, model):
        return f"has {dataset.k} lanes, which is not a multiple of the model's k = {model.k}"
    if dataset.k > model.k and formats.c != formats.d:
        return (
            f"has {dataset.k} lanes, but the model has k = {model.k} and cannot be chained: its result is "
            f"{formats.d.name}, and the next c would have to be {formats.c.name}"
        )
    return ""


def replay(dataset: DataSet, model: Model, *, keep: int = 5) -> Replay:
    """Run the model on every row of a data set; ``keep`` mismatching rows are shown.

    Lanes that the data set does not list are +0: they were in the measurement, and a zero product
    has its part in the largest exponent. More lanes than the model's k are several instructions,
    the result of each being the next one's c.
    Raises :class:`.TcsmtError` where formats or lanes do not fit.
    """
    reason = objection(dataset, model)
    if reason:
        raise TcsmtError(f"data set {dataset.name} {reason}")
    operands, padded = dataset.operands, dataset.with_lanes(-(-dataset.k // model.k) * model.k)
    got = operands.c
    for first in range(0, dataset.k, model.k):
        lanes = slice(first, first + model.k)
        got = run_words(model, replace(operands, a=padded.a[:, lanes], b=padded.b[:, lanes], c=got))
    wrong = np.flatnonzero(got != dataset.d)
    examples = tuple(
        Mismatch(
            row=int(i),
            a=tuple(operands.a[i].tolist()),
            b=tuple(operands.b[i].tolist()),
            c=int(operands.c[i]),
            expected=int(dataset.d[i]),
            got=int(got[i]),
        )
        for i in wrong[:keep]
    )
    return Replay(dataset, model, dataset.rows, len(wrong), examples)


def explaining_row(dataset: DataSet) -> Row:
    """Return the row that should explain a data set.

    The unit that its file names, or else the model file, instruction or sequence that its interface is.
    Otherwise, of the architecture's accepted rows with these formats: the one that lists the data set as
    measured; else one of the same family (WMMA runs as mma), preferring the shape in the interface, then
    measured rows, then the k nearest to the data set's. Raises :class:`.TcsmtError`.
    """
    if dataset.unit is not None:
        return dataset.unit
    if is_model_file(dataset.interface):
        return read_model(Path(dataset.interface))
    with _at(f"data set {dataset.name}"):
        architecture = architecture_named(dataset.architecture)
    for row in (*rows(architecture), *sequences_of(architecture, claims=True)):
        if row.instruction == dataset.interface:
            return row
    same = [r for r in rows(architecture, claims=False) if Formats.of(r.model) == dataset.formats]
    for row in same:
        if dataset.name in row.measured:
            return row
    family = _FAMILIES.get(re.split(r"\W", dataset.interface.lower())[0], "")
    shape = _SHAPE.search(dataset.interface)
    fitting = [r for r in same if r.instruction.startswith(f"{family}.") and _fits(dataset.k, r.model)]
    if not fitting:
        names = {str(Formats.of(r.model)): None for r in rows(architecture, claims=False)}
        raise TcsmtError(
            f"data set {dataset.name}: no {architecture} instruction for "
            f"{dataset.interface or 'an unknown interface'} of {dataset.formats} and {dataset.k} "
            f"lanes; its formats: {'; '.join(names)}"
        )

    def distance(row: Row) -> tuple[bool, bool, int]:
        named = shape is not None and f".{shape[0]}." in row.instruction
        return not named, not row.measured, abs(row.model.k - dataset.k)

    return min(fitting, key=distance)


def find_datasets(paths: Iterable[Path], model: str = "") -> Iterator[DataSet]:
    """Yield every data set under the given files and folders, one at a time.

    A folder: the files of its ``manifest.json``; else published text files up to three folders
    below it (the repository, ``model_validation``, a GPU's folder or a format's); else its *.json.
    A file: an .npz that a manifest beside it describes, JSON, a published ``d_*.txt``, or a CSV or .npz
    file of rows and results; model: of those that do not say whose results they are.
    Raises :class:`.TcsmtError`.
    """
    chosen = [Path(path) for path in paths]
    for path in chosen:
        if not path.exists():
            raise TcsmtError(f"there is no file or folder {path}")
    for path in chosen:
        yield from _folder(path) if path.is_dir() else _file(path, model)


def find_predictions(paths: Iterable[Path]) -> Iterator[Prediction]:
    """Yield every prediction in the given files, and in the JSON files of the given folders."""
    for path in paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            if has_predictions(file):
                yield from predictions(file)


def _fits(lanes: int, model: Model) -> bool:
    return lanes <= model.k or lanes % model.k == 0


@contextmanager
def _at(where: object) -> Iterator[None]:
    """Put the place before an error's message."""
    try:
        yield
    except TcsmtError as error:
        raise TcsmtError(f"{where}: {error}") from None


def _folder(folder: Path) -> Iterator[DataSet]:
    manifest = folder / "manifest.json"
    if manifest.exists():
        for number, entry in enumerate(_manifest(manifest)):
            yield _listed(f"{manifest}: [{number}]", entry, folder)
        return
    depths = (folder.glob("*/" * depth + "*.[tT][xX][tT]") for depth in range(4))
    published = sorted(p for paths in depths for p in paths if _published_output(p))
    for path in published:
        yield _published(path)
    json_files = [] if published else sorted([*folder.glob("*.json"), *folder.glob("*.json.xz")])
    for path in json_files:
        yield from _json_files(path)
    if not published and not json_files:
        raise TcsmtError(
            f"{folder} is not a data set: it has no manifest.json, no published GPU/FORMAT/d_*.txt "
            "and no *.json"
        )


def _file(path: Path, model: str) -> Iterator[DataSet]:
    suffix = uncompressed(path).suffix.lower()
    if path.name == "manifest.json":
        yield from _folder(path.parent)
    elif suffix == ".json":
        yield from _json_files(path)
    elif suffix in (".csv", ".hex", ".mem"):
        yield _own_rows(path, model_named_in(path) or model)
    elif suffix == ".npz":
        yield _npz_file(path, model)
    elif suffix == ".txt" and _published_output(path):
        yield _published(path)
    else:
        raise TcsmtError(
            f"{path} is not a data set: must be .npz, .json, .csv, .hex, .mem or a published "
            "GPU/FORMAT/d_GPU_FORMAT.txt"
        )


def _npz_file(path: Path, model: str) -> DataSet:
    """Return what a manifest beside the file describes; else rows of a model that the file names."""
    manifest = path.with_name("manifest.json")
    entries = _manifest(manifest) if manifest.exists() else []
    names = [entry["file"] for entry in entries]
    if path.name in names:
        number = names.index(path.name)
        return _listed(f"{manifest}: [{number}]", entries[number], path.parent)
    named = model_named_in(path)
    if named or (model and not entries):
        return _own_rows(path, named or model)
    if not entries:
        raise TcsmtError(f"{path} has no manifest.json beside it, and {_NAMELESS}")
    near = get_close_matches(path.name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise TcsmtError(f"{path} is not listed in {manifest}{hint}")


#: Of a file of rows and results.
_NAMELESS = (
    "it does not say which unit its results are from: give `tcsmt validate` --against UNIT; "
    "or add a column (an array) `model`"
)


def _own_rows(path: Path, model: str) -> DataSet:
    """Read a CSV, .npz, .hex or .mem file of ``tcsmt run``, or one like it."""
    if not model:
        raise TcsmtError(f"{path}: {_NAMELESS}")
    with _at(path):
        row = resolve(model).row
    return DataSet(
        name=uncompressed(path).stem,
        path=path,
        gpu="",
        architecture=row.architecture,
        interface=row.instruction,
        unit=row,
        formats=Formats.of(row.model),
        operands=read_rows(path, row.model),
        d=read_results(path, row.model),
    )


# What a manifest or a JSON file says of a data set


def _text(where: str, record: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = record.get(name, default)
    if not isinstance(value, str):
        raise TcsmtError(f"{where}: {name!r} is missing or is not text")
    return value


def _facts(where: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a DataSet that are no arrays."""
    names = [_text(where, record, f"{side}_format") for side in "abcd"]
    with _at(where):
        formats = Formats(*map(format_named, names))
    told = ("c_convention", "published_at", "published_file", "licence")
    notes = [record.get(name) for name in told]
    return {
        "gpu": _text(where, record, "gpu"),
        "architecture": _known_architecture(_text(where, record, "architecture")),
        "interface": _text(where, record, "interface"),
        "formats": formats,
        "notes": "; ".join(note for note in notes if isinstance(note, str)),
    }


def _known_architecture(name: str) -> str:
    with suppress(TcsmtError):
        return architecture_named(name)
    return name


def _as_called(formats: Formats, c: Array, convention: str) -> tuple[Formats, Array]:
    """Return c as the instruction got it: 0, or rounded to FP16, where the convention says so."""
    if "not used" in convention.lower():
        c = np.zeros_like(c)
    half = FORMATS["f16"]
    if "rne to fp16" in convention.lower() and formats.c != half:
        with np.errstate(over="ignore", invalid="ignore"):
            c = c.view(dtype_of(formats.c)).astype(np.float16).view(unsigned(half))
        formats = formats._replace(c=half)
    return formats, c


# manifest.json with .npz files


def _manifest(path: Path) -> list[dict[str, Any]]:
    data = read_json(path)
    if not isinstance(data, list):
        raise TcsmtError(f"{path}: not a list of data sets")
    for number, entry in enumerate(data):
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise TcsmtError(f'{path}: [{number}] is not an object with a "file" that is text')
    return data


def _listed(where: str, entry: Mapping[str, Any], folder: Path) -> DataSet:
    path = folder / entry["file"]
    dataset = _json_file(path) if uncompressed(path).suffix.lower() == ".json" else _npz(where, entry, path)
    for name in ("rows", "k"):
        listed, actual = entry.get(name), getattr(dataset, name)
        if listed not in (None, actual):
            raise TcsmtError(f"{where}: {name!r} is {listed!r}, but {path} has {actual}")
    return dataset


def _npz(where: str, entry: Mapping[str, Any], path: Path) -> DataSet:
    facts = _facts(where, entry)
    arrays = read_arrays(path, "abcd", ("a", "b", "c", "d"))
    words: dict[str, Any] = {
        side: to_words(fmt, arrays[side], f"{path}: {side}")
        for side, fmt in zip("abcd", facts["formats"], strict=True)
    }
    convention = _text(where, entry, "c_convention", "")
    facts["formats"], words["c"] = _as_called(facts["formats"], words["c"], convention)
    return DataSet.of(words, name=uncompressed(path).stem, path=path, **facts)


# JSON: directed cases, and tcsmt's own


def _json_files(path: Path) -> Iterator[DataSet]:
    """Yield one data set, or those of each unit in a file of several; none in a file of predictions."""
    if is_unit_file(path):
        yield from unit_datasets(path)
    elif not has_predictions(path):
        yield _json_file(path)


def _json_file(path: Path) -> DataSet:
    data = read_json(path)
    if not isinstance(data, dict) or not ("cases" in data or {"model", "rows"} <= data.keys()):
        raise TcsmtError(f'{path} is not a data set: it has neither "cases" nor "model" and "rows"')
    if "cases" in data:
        key, facts = "cases", _facts(str(path), data)
    else:
        key = "rows"
        with _at(path):
            model = _text(str(path), data, "model")
            row = resolve(model).row
        facts = {
            "gpu": _text(str(path), data, "gpu", ""),
            "architecture": row.architecture,
            "interface": row.instruction,
            "unit": row,
            "formats": Formats.of(row.model),
            "notes": _text(str(path), data, "notes", ""),
            "provenance": {key: data[key] for key in _PROVENANCE if isinstance(data.get(key), str)},
        }
    rows = placed(f"{path}: {key}", data[key])
    words = words_of(rows, facts["formats"], row.model if key == "rows" else None)
    convention = _text(str(path), data, "c_convention", "")
    facts["formats"], words["c"] = _as_called(facts["formats"], words["c"], convention)
    return DataSet.of(words, name=uncompressed(path).stem, path=path, **facts)


# The published text files: GPU/FORMAT/{a,b}_GPU_FORMAT.txt, {c,d}_GPU_FORMAT.txt


def _published_output(path: Path) -> re.Match[str] | None:
    """Match a ``d_GPU_FORMAT.txt`` in a folder of that GPU; the match has the output's format."""
    gpu = path.resolve().parent.parent.name
    return re.fullmatch(rf"d_{re.escape(gpu)}_(.+)\.txt", path.name, re.IGNORECASE)


def _published(path: Path) -> DataSet:
    folder, output = path.resolve().parent, _published_output(path)
    output = not_none(output)
    gpu, kind = folder.parent.name, folder.name
    beside = {p.name.lower(): p for p in path.parent.iterdir()}

    def sibling(side: str, fmt: str) -> Path:
        name = f"{side}_{gpu}_{fmt}.txt"
        if name.lower() not in beside:
            raise TcsmtError(f"{path}: the file {name} is missing beside it")
        return beside[name.lower()]

    with _at(path):
        inputs, result = (format_named(FORMAT_NAMES.get(name.lower(), name)) for name in (kind, output[1]))
    if inputs.name not in CALLED:
        allowed = ", ".join(CALLED)
        raise TcsmtError(f"{path}: input format {inputs.name}: must be one of {allowed}")
    formats = Formats(inputs, inputs, FORMATS["f32"], result)
    words: dict[str, Any] = {side: _matrix(sibling(side, kind), inputs) for side in "ab"}
    words["d"] = _column(path, result)
    without_c = CALLED_WITHOUT_C.get((gpu.lower(), inputs.name, result.name))
    if without_c:
        words["c"], notes = np.zeros(len(words["d"]), np.uint32), "c not used: 0"
    else:
        words["c"] = _column(sibling("c", "fp32"), formats.c)
        notes = "RNE to fp16 before the call" if result.name == "f16" else "fp32 as given"
        formats, words["c"] = _as_called(formats, words["c"], notes)
    rows, lanes = words["a"].shape
    for side, array in words.items():
        if len(array) != rows:
            raise TcsmtError(f"{path}: {side} has {len(array)} rows, but a has {rows}")
    if words["b"].shape[1] != lanes:
        raise TcsmtError(f"{path}: b has {words['b'].shape[1]} lanes, but a has {lanes}")
    return DataSet.of(
        words,
        name=f"{gpu}_{inputs.name}_{result.name}".lower(),
        path=path,
        gpu=gpu,
        architecture=_known_architecture(gpu),
        interface=without_c or CALLED[inputs.name],
        formats=formats,
        notes=notes,
    )


def _lines(path: Path) -> list[str]:
    lines = read_bytes(path).decode("ascii", errors="replace").rstrip().splitlines()
    if not lines:
        raise TcsmtError(f"{path} has no rows")
    return lines


def _matrix(path: Path, fmt: AnyFormat) -> Array:
    """Read lines of hexadecimal binary32 words, as words of the format that they are values of."""
    rows = [line.lower().split() for line in _lines(path)]
    lanes = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != lanes:
            raise TcsmtError(f"{path}:{number}: {len(row)} words, but line 1 has {lanes}")
    digits = "".join(word.removeprefix("0x").zfill(8) for row in rows for word in row)
    try:
        words = np.frombuffer(bytes.fromhex(digits), ">u4").reshape(len(rows), lanes)
    except ValueError:
        number, word = next(
            (number, word)
            for number, row in enumerate(rows, 1)
            for word in row
            if not re.fullmatch(r"(0x)?[0-9a-f]{1,8}", word)
        )
        what = "wider than 32 bits" if HEXADECIMAL.fullmatch(word) else "not a hexadecimal word"
        raise TcsmtError(f"{path}:{number}: {word!r} is {what}") from None
    return _narrowed(path, fmt, words)


def _column(path: Path, fmt: AnyFormat) -> Array:
    """Read lines of 32 binary digits, as words of the format that they are binary32 values of."""
    lines = [line.strip() for line in _lines(path)]
    for number, line in enumerate(lines, 1):
        if len(line) != 32 or line.strip("01"):
            raise TcsmtError(f"{path}:{number}: {line!r} is not a word of 32 binary digits")
    bits = np.frombuffer("".join(lines).encode(), np.uint8) & 1
    return _narrowed(path, fmt, np.packbits(bits).view(">u4"))


def _narrowed(path: Path, fmt: AnyFormat, words: Array) -> Array:
    """Return the format's words of binary32 words, if it holds every value (NaNs stay NaNs)."""
    words = words.astype(np.uint32)
    values = words.view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(dtype_of(fmt))
        wrong = (narrow.astype(np.float32).view(np.uint32) != words) & ~np.isnan(values)
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        raise TcsmtError(f"{path}:{first[0] + 1}: {words[first]:08x} is not a valid {fmt.name} value")
    return narrow.view(unsigned(fmt))
