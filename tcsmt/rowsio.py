"""Rows of inputs and results in files: JSON, CSV and .npz.

A row is k words of a, k words of b and one word of c. What :func:`write_rows` writes,
:func:`read_rows` reads again: results (``d``, ``value``) are allowed in a file of inputs, and
ignored. Errors name array elements from 0 (``rows[3].a[2]``, ``a[3, 2]``), lines of text from 1.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tcsmt.errors import TcsmtError, choose
from tcsmt.files import replace_bytes
from tcsmt.formats import Format
from tcsmt.models import Model, input_names
from tcsmt.words import to_word, to_words, unsigned

__all__ = ["Inputs", "read_rows", "write_rows"]

Array = np.ndarray[Any, np.dtype[Any]]

#: What a file of inputs may hold besides them.
_RESULTS = ("d", "value")


class Inputs(NamedTuple):
    """Words: a and b of shape (rows, k), c of shape (rows,), each of its format's ``unsigned``."""

    a: Array
    b: Array
    c: Array


def read_rows(path: Path, model: Model) -> Inputs:
    """The rows of a file for a model, by its suffix: .json, .csv or .npz.

    JSON: a list of ``{"a": [...], "b": [...], "c": ...}``, or an object whose "rows" is one. CSV:
    columns a0, a1, ..., b0, ..., c. Text is read as in :func:`tcsmt.words.to_word`; a JSON number
    is that value. .npz: arrays a, b, c as in :func:`tcsmt.words.to_words`. Without c it is +0.
    Raises :class:`tcsmt.errors.TcsmtError`.
    """
    read = _READERS[choose("suffix of an input file", path.suffix, _READERS)]
    inputs = read(path, model)
    if not len(inputs.c):
        raise TcsmtError(f"{path}: no rows")
    return inputs


def write_rows(path: Path, model: Model, inputs: Inputs, d: Array, *, name: str = "") -> None:
    """Inputs and results (words, shape (rows,)), by the path's suffix: .json, .csv or .npz.

    The text files hold hexadecimal words and each result's exact value; .npz holds the arrays a,
    b, c and d. ``name`` (ARCH/INSTRUCTION) makes the JSON a data set of :mod:`tcsmt.datasets`.
    The file is replaced in one step. Raises :class:`tcsmt.errors.TcsmtError`.
    """
    write = _WRITERS[choose("suffix of an output file", path.suffix, _WRITERS)]
    replace_bytes(path, write(model, inputs, d, name))


def read_bytes(path: Path) -> bytes:
    """A file's content. Raises :class:`tcsmt.errors.TcsmtError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TcsmtError(f"cannot read {path}: {error.strerror}") from None


def read_json(path: Path, **options: Any) -> Any:
    """A JSON file (``options`` as in ``json.loads``). Raises TcsmtError with the line."""
    content = read_bytes(path)
    try:
        return json.loads(content.decode("utf-8-sig"), **options)
    except json.JSONDecodeError as error:
        raise TcsmtError(f"{path}:{error.lineno}: no JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise TcsmtError(f"{path}: no JSON: not UTF-8 text") from None
    except (RecursionError, ValueError):  # integers of thousands of digits
        raise TcsmtError(f"{path}: no JSON that Python reads: too deep, or too long") from None


def read_arrays(path: Path, needed: str, allowed: tuple[str, ...]) -> dict[str, Array]:
    """The arrays of an .npz file, by name. Raises TcsmtError for others, and for missing ones."""
    content = io.BytesIO(read_bytes(path))
    try:
        loaded = np.load(content, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise ValueError("a single array")
        arrays = {name: loaded[name] for name in loaded.files}
    except (EOFError, NotImplementedError, OSError, ValueError, zipfile.BadZipFile, zlib.error):
        raise TcsmtError(f"{path}: no .npz file of numeric arrays") from None
    return _known(str(path), arrays, needed, allowed)


def shaped(where: str, array: Array, shape: tuple[int | None, ...]) -> Array:
    """The array, if of that shape (None: any length). Raises TcsmtError."""
    same = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(n not in (None, m) for m, n in same):
        names = zip(shape, ("rows", "k"), strict=False)
        wanted = ", ".join(name if n is None else str(n) for n, name in names)
        wanted += "," if len(shape) == 1 else ""
        raise TcsmtError(f"{where} has shape {array.shape}: it must be ({wanted})")
    return array


def _known(where: str, given: Mapping[str, Any], needed: str, allowed: tuple[str, ...]) -> dict[str, Any]:
    for name in needed:
        if name not in given:
            raise TcsmtError(f"{where}: {name} is missing")
    for name in given:
        if name not in allowed:
            raise TcsmtError(f"{where}: unknown {name!r}; allowed: {', '.join(allowed)}")
    return dict(given)


def _inputs(model: Model, rows: list[tuple[list[int], list[int], int]]) -> Inputs:
    a, b, c = zip(*rows, strict=True) if rows else ([], [], [])
    return Inputs(
        np.array(a, unsigned(model.a_format)).reshape(len(rows), model.k),
        np.array(b, unsigned(model.b_format)).reshape(len(rows), model.k),
        np.array(c, unsigned(model.c_format)),
    )


_word = lru_cache(maxsize=1 << 16)(to_word)


def _word_at(where: str, fmt: Format, value: object) -> int:
    match value:
        case bool() | None | list() | dict():
            raise TcsmtError(f"{where}: {json.dumps(value, default=str)} is no word or number")
        case str():
            text = value
        case _:  # a number: with its sign, or its digits might be taken for those of a word
            text = str(value)
            text = text if text.startswith("-") else f"+{text}"
    try:
        return _word(fmt, text)
    except TcsmtError as error:
        raise TcsmtError(f"{where}: {error}") from None


def _read_json(path: Path, model: Model) -> Inputs:
    data = read_json(path, parse_float=Decimal, parse_constant=lambda text: text)
    rows = data.get("rows") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise TcsmtError(f'{path}: neither a list of rows nor an object with a list "rows"')

    def lanes(where: str, fmt: Format, values: object) -> list[int]:
        if not isinstance(values, list):
            raise TcsmtError(f"{where}: not a list")
        if len(values) != model.k:
            raise TcsmtError(f"{where} has {len(values)} values: the model's k is {model.k}")
        return [_word_at(f"{where}[{i}]", fmt, value) for i, value in enumerate(values)]

    def row(where: str, given: object) -> tuple[list[int], list[int], int]:
        if not isinstance(given, dict):
            raise TcsmtError(f"{where}: not an object")
        known = _known(where, given, "ab", ("a", "b", "c", *_RESULTS))
        return (
            lanes(f"{where}.a", model.a_format, known["a"]),
            lanes(f"{where}.b", model.b_format, known["b"]),
            _word_at(f"{where}.c", model.c_format, known.get("c", "0x0")),
        )

    return _inputs(model, [row(f"{path}: rows[{i}]", given) for i, given in enumerate(rows)])


def _read_csv(path: Path, model: Model) -> Inputs:
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TcsmtError(f"{path}: not UTF-8 text") from None
    reader = csv.reader(io.StringIO(text, newline=""))
    names, formats = input_names(model.k), model.input_formats
    try:
        header = [name.strip() for name in next(reader, [])]
        for name in header:
            if name not in (*names, *_RESULTS):
                last = model.k - 1
                raise TcsmtError(
                    f"{path}:1: unknown column {name!r}; for this model: a0 to a{last}, b0 to b{last}, c"
                )
            if header.count(name) > 1:
                raise TcsmtError(f"{path}:1: column {name} is there twice")
        missing = [name for name in names if name not in header and name != "c"]
        if missing:
            raise TcsmtError(f"{path}:1: no column {', '.join(missing)}")

        def rows() -> Iterator[tuple[list[int], list[int], int]]:
            for values in reader:
                where = f"{path}:{reader.line_num}"
                if not any(value.strip() for value in values):
                    continue
                if len(values) != len(header):
                    raise TcsmtError(f"{where}: {len(values)} values under {len(header)} columns")
                given = {"c": "0x0", **dict(zip(header, values, strict=True))}
                words = [_word_at(f"{where}: {n}", formats[n], given[n]) for n in names]
                yield words[: model.k], words[model.k : -1], words[-1]

        return _inputs(model, list(rows()))
    except csv.Error as error:
        raise TcsmtError(f"{path}:{reader.line_num}: no CSV: {error}") from None


def _read_npz(path: Path, model: Model) -> Inputs:
    arrays = read_arrays(path, "ab", ("a", "b", "c", *_RESULTS))
    rows = len(arrays["a"]) if arrays["a"].ndim else None
    arrays.setdefault("c", np.zeros(rows or 0, unsigned(model.c_format)))

    def words(name: str, fmt: Format, shape: tuple[int | None, ...]) -> Array:
        array = shaped(f"{path}: {name}", arrays[name], shape)
        if array.dtype.kind == "V" and array.dtype.itemsize == unsigned(fmt).itemsize:
            array = array.view(unsigned(fmt))  # how NumPy stores a dtype of ml_dtypes
        return to_words(fmt, array, f"{path}: {name}")

    return Inputs(
        words("a", model.a_format, (None, model.k)),
        words("b", model.b_format, (rows, model.k)),
        words("c", model.c_format, (rows,)),
    )


def _texts(fmt: Format, words: Array) -> Any:
    """Words as hexadecimal text, in nested lists."""
    return [_texts(fmt, w) for w in words] if words.ndim > 1 else [fmt.hex(int(w)) for w in words]


def _columns(model: Model, inputs: Inputs, d: Array) -> Iterator[tuple[Any, Any, Any, Any, str]]:
    return zip(
        _texts(model.a_format, inputs.a),
        _texts(model.b_format, inputs.b),
        _texts(model.c_format, inputs.c),
        _texts(model.d_format, d),
        (model.d_format.describe(int(word)) for word in d),
        strict=True,
    )


def _json(model: Model, inputs: Inputs, d: Array, name: str) -> bytes:
    keys = ("a", "b", "c", "d", "value")
    rows = [
        json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False)
        for row in _columns(model, inputs, d)
    ]
    head = f'"model": {json.dumps(name)}, ' if name else ""
    return (f'{{{head}"rows": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def _csv(model: Model, inputs: Inputs, d: Array, name: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*input_names(model.k), *_RESULTS])
    writer.writerows([*a, *b, *rest] for a, b, *rest in _columns(model, inputs, d))
    return text.getvalue().encode()


def _npz(model: Model, inputs: Inputs, d: Array, name: str) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **inputs._asdict(), d=d.astype(unsigned(model.d_format)))
    return content.getvalue()


_READERS = {".json": _read_json, ".csv": _read_csv, ".npz": _read_npz}
_WRITERS = {".json": _json, ".csv": _csv, ".npz": _npz}
