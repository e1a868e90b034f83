"""Rows of inputs and results in files: JSON, JSON lines, CSV, .npz, and hexadecimal words.

A row is k words of a, k words of b, one word of c and, where the unit takes them, block scales.
What :func:`write_rows` writes, :func:`read_rows` reads again: results (``d``, ``value``) are
allowed in a file of inputs, and ignored. Errors name array elements from 0 (``rows[3].a[2]``,
``a[3, 2]``), lines of text from 1.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES, operand_rule
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.arithmetic.words import to_word, to_words, unsigned
from tcsmt.matrix_units.files import word_files
from tcsmt.matrix_units.files.arrays import restored
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.matrix_units.models.base import role_of
from tcsmt.simulate.rows import Words, words_of_row
from tcsmt.support.errors import TcsmtError, TooLarge, choose
from tcsmt.support.files import json_of, most_unpacked, read_bytes, replace_bytes, uncompressed
from tcsmt.support.text import ranges

Array = np.ndarray[Any, np.dtype[Any]]

#: What is written besides inputs.
_RESULTS = ("d", "value")
#: What a file of inputs may hold besides them: results, what ``tcsmt probe`` and ``identify`` say of their
#: vectors, and the model that ``tcsmt run`` has run.
_IGNORED = (*_RESULTS, "asks", "predictions", "why", "box", "model")


#: What errors say to do with an array's value that a format does not have.
_ADVICE = f"round it first (`tcsmt run` takes --operands {'|'.join(OPERAND_RULES)})"
#: What is told of a number that is taken as the nearest value of its format.
Told = Callable[[str], None]


def read_rows(path: Path, model: Model, rounded: Told | None = None, operands: str | None = None) -> Words:
    """Return the rows of a file for a model, by its suffix: .json, .jsonl, .csv, .npz, .hex or .mem.

    JSON: a list of ``{"a": [...], "b": [...], "c": ...}``, or an object whose "rows" is one; JSON lines:
    one of them on each line. CSV:
    columns a0, a1, ..., b0, ..., c. Block scales are "scale_a" and "scale_b", or columns sa0, ...,
    sb0, ... Text is read as in :func:`.to_word`; a JSON number is that value. .npz:
    arrays a, b, c, scale_a, scale_b as in :func:`.to_words`. Without c it is +0.
    rounded: takes decimal numbers in text as the nearest values, and is told which (see :func:`.to_word`).
    operands: how a, b and c are rounded, in text and in arrays, whose values must else be exact
    (:data:`.OPERAND_RULES`).
    Returns words: a, b of shape (rows, k), c of (rows,), scales of (rows, scales), unsigned integers of the
    formats' sizes. Raises :class:`.TcsmtError`, also for a file without rows.
    """
    inputs = _format(path).inputs(path, model, rounded, operand_rule(operands))
    if not len(inputs.c):
        raise TcsmtError(f"{path} has no rows")
    return inputs


def write_rows(path: Path, model: Model, inputs: Words, d: Array, *, name: str = "") -> None:
    """Write inputs and results (words, shape (rows,)) by the suffix: .json, .csv, .npz, .hex or .mem.

    The text files hold hexadecimal words and each result's exact value; .npz holds the arrays a,
    b, c and d. ``name`` (ARCH/INSTRUCTION, or a model file) makes it a data set of
    :mod:`tcsmt.simulate.measured.datasets`.
    The file is replaced in one step. Raises :class:`.TcsmtError`.
    """
    replace_bytes(path, rows_as(path.suffix, model, inputs, d, name=name))


def rows_as(suffix: str, model: Model, inputs: Words, d: Array, *, name: str = "") -> bytes:
    """Return the content of such a file. Raises :class:`.TcsmtError` for other suffixes.

    inputs: words as :func:`read_rows` returns them. d: words of shape (rows,). name: of the unit.
    """
    writers = {suffix: one.content for suffix, one in _FORMATS.items() if one.content is not None}
    return writers[choose("suffix of an output file", suffix, writers)](model, inputs, d, name)


def model_named_in(path: Path) -> str:
    """Return the model that a file of :func:`write_rows` says its results are of; empty: none.

    Raises :class:`.TcsmtError`, also where it names several.
    """
    names = _format(path).units(path)
    if len(names) > 1:
        raise TcsmtError(f"{path} has rows of several models: {', '.join(sorted(names))}")
    return names.pop() if names else ""


def read_results(path: Path, model: Model) -> Array:
    """Return the results (d) of a file, not of JSON, that :func:`read_rows` reads, as words: hexadecimal in
    text.

    Returns an array of shape (rows,) and of ``unsigned(model.d_format)``. Raises :class:`.TcsmtError`.
    """
    return _format(path).results(path, model)


def line_of_row(path: Path, row: int) -> int:
    """Return the line on which a row (from 0) of a CSV file ends. Raises :class:`.TcsmtError`."""
    return next(islice(_csv_rows(path)[1], row, None))[0]


def _csv_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the columns' names, and each row by them, with its line; blank rows are left out."""
    reader = csv.reader(io.StringIO(_text(path), newline=""))

    def lines() -> Iterator[list[str]]:
        try:
            yield from reader
        except csv.Error as error:
            raise TcsmtError(f"{path}:{reader.line_num}: not valid CSV: {error}") from None

    header = [name.strip() for name in next(lines(), [])]
    twice = [name for name, count in Counter(header).items() if name and count > 1]
    if twice:
        raise TcsmtError(f"{path}:1: column {twice[0]} is given twice")

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        for values in lines():
            if any(value.strip() for value in values):
                if len(values) != len(header):
                    raise TcsmtError(
                        f"{path}:{reader.line_num}: {len(values)} values for {len(header)} columns"
                    )
                yield reader.line_num, dict(zip(header, values, strict=True))

    return header, rows()


def read_json(path: Path, **options: Any) -> Any:
    """Read a JSON file (``options`` as in ``json.loads``). Raises TcsmtError with the line."""
    return parse_json(str(path), _text(path, " is not JSON: it"), **options)


def parse_json(where: str, text: str, **options: Any) -> Any:
    """Read JSON text from ``where`` (a file; or ``FILE:LINE``, and the text is that line)."""
    try:
        return json_of(text, **options)
    except json.JSONDecodeError as error:
        place = where if re.search(r":\d+$", where) else f"{where}:{error.lineno}"
        raise TcsmtError(f"{place}: not JSON: {error.msg}") from None
    except ValueError as error:  # nested too deeply, a key given twice, integers of thousands of digits
        raise TcsmtError(f"{where}: not JSON that can be read: {error}") from None


def read_npz(path: Path) -> dict[str, Array]:
    """Return the arrays of an .npz file, by name, of any shapes and numeric dtypes. Raises TcsmtError."""
    content = io.BytesIO(read_bytes(path))
    try:
        loaded = np.load(content, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile) or loaded.zip is None:
            raise ValueError("a single array")
        sizes = [member.file_size for member in loaded.zip.infolist()]
        if sum(sizes) > most_unpacked(len(content.getbuffer())):
            raise TooLarge(f"{path} unpacks to {sum(sizes)} bytes: too many for its size")
        if len(set(loaded.files)) < len(sizes):
            raise TcsmtError(f"{path} has an array twice: {', '.join(sorted(loaded.files))}")
        return {name: restored(loaded[name], f"{path}: {name}") for name in loaded.files}
    except TcsmtError:
        raise
    except Exception:  # whatever NumPy and zipfile meet
        raise TcsmtError(f"{path} is not an .npz file of numeric arrays") from None


def read_arrays(path: Path, needed: Iterable[str], allowed: tuple[str, ...]) -> dict[str, Array]:
    """Return the arrays of an .npz file, by name. Raises TcsmtError for others, and for missing ones.

    Arrays have any shape and numeric dtype.
    """
    return _known(str(path), read_npz(path), needed, allowed)


def shaped(where: str, array: Array, shape: tuple[int | None, ...]) -> Array:
    """Return the array, if of that shape (None: any length). Raises TcsmtError."""
    same = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(n not in (None, m) for m, n in same):
        names = zip(shape, ("rows", "k"), strict=False)
        wanted = ", ".join(name if n is None else str(n) for n, name in names)
        wanted += "," if len(shape) == 1 else ""
        raise TcsmtError(f"{where} has shape {array.shape}: it must be ({wanted})")
    return array


def _known(
    where: str, record: Mapping[str, Any], needed: Iterable[str], allowed: tuple[str, ...]
) -> dict[str, Any]:
    for name in needed:
        if name not in record:
            raise TcsmtError(f"{where}: {name} is missing")
    for name in record:
        if name not in allowed:
            raise TcsmtError(f"{where}: unknown name {name!r}; known: {', '.join(allowed)}")
    return dict(record)


def words_of(model: Model, columns: Mapping[str, Any]) -> Words:
    """Return the rows of columns of words, which have the names of the model's inputs.

    columns: (rows,) each. Returns unsigned integers: a, b (rows, k), c (rows,), scales (rows, scales) or
    None.
    """
    formats = model.input_formats

    def words(names: str | tuple[str, ...]) -> Array:
        if isinstance(names, str):
            return np.array(columns[names], unsigned(formats[names]))
        return np.ascontiguousarray(np.stack([words(name) for name in names], axis=1))

    return model.operands(model.input_names).map(words)


#: One row's words, in the order of the model's inputs.
_Row = list[int]


def _inputs(model: Model, rows: list[_Row]) -> Words:
    names = model.input_names
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return words_of(model, dict(zip(names, columns, strict=True)))


_word = lru_cache(maxsize=1 << 16)(partial(to_word, all_digits=False))


def word_at(
    where: str, fmt: AnyFormat, value: object, rounded: Told | None = None, rounding: Rounding | None = None
) -> int:
    """Return the word that a value of a file stands for. Raises TcsmtError, with the place.

    rounded, rounding: as in :func:`.to_word`, told with the place.
    """
    match value:
        case bool() | None | list() | dict():
            raise TcsmtError(f"{where}: {json.dumps(value, default=str)} is not a word or a number")
        case str():
            text = value
        case _:  # a number: with its sign, or its digits might be taken for those of a word
            text = str(value)
            text = text if text.startswith("-") else f"+{text}"
    try:
        if rounded is None:
            return _word(fmt, text)
        return to_word(
            fmt, text, lambda message: rounded(f"{where}: {message}"), rounding or ROUNDINGS["RNE"],
            all_digits=False,
        )  # fmt: skip
    except TcsmtError as error:
        raise TcsmtError(f"{where}: {error}") from None


def rows_of_json(path: Path) -> list[Any]:
    """Return the rows of a JSON file, or of JSON lines (.jsonl), as they are. Raises TcsmtError."""
    options: dict[str, Any] = {"parse_float": Decimal, "parse_constant": lambda text: text}
    if _suffix(path) == ".jsonl":
        return [parse_json(f"{path}:{n}", line, **options) for n, line in _lines(path)]
    data = read_json(path, **options)
    rows = data.get("rows") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise TcsmtError(f'{path} is neither a list of rows nor an object with a list "rows"')
    return rows


def _suffix(path: Path) -> str:
    return uncompressed(path).suffix.lower()


def _format(path: Path) -> _RowFormat:
    return _FORMATS[choose("suffix of an input file", _suffix(path), _FORMATS)]


def _text(path: Path, what: str = "") -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TcsmtError(f"{path}{what} is not UTF-8 text") from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    text = _text(path)
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _read_json(path: Path, model: Model, rounded: Told | None, rounding: Rounding | None) -> Words:
    rows = rows_of_json(path)

    formats = model.operand_formats.named

    def several(where: str, fmt: AnyFormat, values: object, count: int, what: str) -> list[int]:
        if not isinstance(values, list):
            raise TcsmtError(f"{where}: not a list")
        if len(values) != count:
            raise TcsmtError(f"{where} has {len(values)} values: the {what} is {count}")
        rule = rounding if what == "model's k" else None  # scales and further inputs are not operands
        return [word_at(f"{where}[{i}]", fmt, value, rounded, rule) for i, value in enumerate(values)]

    def row(where: str, record: object) -> _Row:
        if not isinstance(record, dict):
            raise TcsmtError(f"{where}: not an object")
        members = _known(where, record, model.operand_lengths, (*formats, *_IGNORED))
        words = []
        for name, fmt in formats.items():
            if name == "c":
                words.append(word_at(f"{where}.c", fmt, members.get("c", "0x0"), rounded, rounding))
                continue
            values = members[name]
            if model.word_counts[name] is None and not isinstance(values, list):
                values = [values]
            scale = "scales" if name.startswith("scale_") else "words"
            what = "model's k" if name in ("a", "b") else f"unit's number of {scale}"
            words += several(f"{where}.{name}", fmt, values, model.operand_lengths[name], what)
        return words

    return _inputs(model, [row(f"{path}: rows[{i}]", record) for i, record in enumerate(rows)])


def _json_units(path: Path) -> set[str]:
    data = read_json(path) if _suffix(path) == ".json" else None
    name = data.get("model") if isinstance(data, dict) else None
    return {name} if isinstance(name, str) else set()


def _no_results(path: Path, model: Model) -> Array:
    raise TcsmtError(f"{path}: results in JSON are read as a data set")


def _read_csv(path: Path, model: Model, rounded: Told | None, rounding: Rounding | None) -> Words:
    header, lines = _csv_rows(path)
    names, formats = model.input_names, model.input_formats
    rules = {name: rounding if role_of(name).factor is not None or name == "c" else None for name in names}
    for name in header:
        if name not in (*names, *_IGNORED):
            told = ", ".join(text.replace("..", " to ") for text in ranges(names))
            raise TcsmtError(f"{path}:1: unknown column {name!r}; for this model: {told}")
    missing = [name for name in names if name not in header and name != "c"]
    if missing:
        raise TcsmtError(f"{path}:1: missing columns: {', '.join(missing)}")

    def words(line: int, row: dict[str, str]) -> _Row:
        row = {"c": "0x0", **row}
        return [word_at(f"{path}:{line}: {n}", formats[n], row[n], rounded, rules[n]) for n in names]

    return _inputs(model, [words(line, row) for line, row in lines])


def _csv_units(path: Path) -> set[str]:
    return {row.get("model", "") for _, row in _csv_rows(path)[1]}


def _csv_results(path: Path, model: Model) -> Array:
    fmt, (header, lines) = model.d_format, _csv_rows(path)
    if "d" not in header:
        raise TcsmtError(f"{path}:1: column d is missing: a data set needs results")
    return np.array([word_at(f"{path}:{line}: d", fmt, row["d"]) for line, row in lines], unsigned(fmt))


def _read_npz(path: Path, model: Model, rounded: Told | None, rounding: Rounding | None) -> Words:
    formats = model.operand_formats.named
    arrays = read_arrays(path, model.operand_lengths, (*formats, *_IGNORED))
    rows = len(arrays["a"]) if arrays["a"].ndim else None
    arrays.setdefault("c", np.zeros(rows or 0, unsigned(model.c_format)))

    def words(name: str, fmt: AnyFormat, shape: tuple[int | None, ...]) -> Array:
        array = shaped(f"{path}: {name}", arrays[name], shape)
        if name not in ("a", "b", "c"):
            return to_words(fmt, array, f"{path}: {name}")
        return to_words(fmt, array, f"{path}: {name}", rounding, advice=_ADVICE)

    shapes: dict[str, tuple[int | None, ...]] = {
        name: (rows, length) for name, length in model.operand_lengths.items()
    }
    shapes |= {"a": (None, model.k), "c": (rows,)}
    for name, (_, count) in model.further_inputs.items():
        if count is None and arrays[name].ndim == 1:
            arrays[name] = arrays[name][:, None]
    return Operands.of({name: words(name, fmt, shapes[name]) for name, fmt in formats.items()})


def _npz_units(path: Path) -> set[str]:
    return {str(name) for name in read_npz(path).get("model", np.array([])).ravel()}


def _npz_results(path: Path, model: Model) -> Array:
    fmt, arrays = model.d_format, read_npz(path)
    if "d" not in arrays:
        raise TcsmtError(f"{path}: array d is missing")
    array = arrays["d"]
    if array.dtype.kind == "V" and array.dtype.itemsize == unsigned(fmt).itemsize:
        array = array.view(unsigned(fmt))
    return to_words(fmt, array, f"{path}: d")


def _texts(fmt: AnyFormat, words: Array) -> Any:
    """Return words as hexadecimal text, in nested lists."""
    return [_texts(fmt, w) for w in words] if words.ndim > 1 else [fmt.hex(int(w)) for w in words]


def _columns(model: Model, inputs: Words, d: Array) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a, b, c, the scales, d and the result's value."""
    formats = model.operand_formats.named
    return zip(
        *(_texts(formats[name], words) for name, words in inputs.named.items()),
        _texts(model.d_format, d),
        (model.d_format.describe(int(word)) for word in d),
        strict=True,
    )


def _json(model: Model, inputs: Words, d: Array, name: str) -> bytes:
    keys = (*model.operand_formats.named, *_RESULTS)
    rows = [
        json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False)
        for row in _columns(model, inputs, d)
    ]
    head = f'"model": {json.dumps(name)}, ' if name else ""
    return (f'{{{head}"rows": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def _csv(model: Model, inputs: Words, d: Array, name: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = ("model", name) if name else ()
    writer.writerow([*model.input_names, *_RESULTS, *named[:1]])
    for a, b, c, *scales, word, value in _columns(model, inputs, d):
        writer.writerow([*a, *b, c, *chain.from_iterable(scales), word, value, *named[1:]])
    return text.getvalue().encode()


def _npz(model: Model, inputs: Words, d: Array, name: str) -> bytes:
    content = io.BytesIO()
    named: dict[str, Any] = {"model": np.array(name)} if name else {}
    np.savez_compressed(content, **inputs.named, **named, d=d.astype(unsigned(model.d_format)))
    return content.getvalue()


def _word_rows(path: Path, model: Model) -> list[tuple[int, list[int]]]:
    return word_files.rows_of_text(str(path), _suffix(path), _text(path), model)


def _read_words(path: Path, model: Model, rounded: Told | None, rounding: Rounding | None) -> Words:
    return _inputs(model, [words[: len(model.input_names)] for _, words in _word_rows(path, model)])


def _word_units(path: Path) -> set[str]:
    return {word_files.named(_text(path))}


def _word_results(path: Path, model: Model) -> Array:
    rows = _word_rows(path, model)
    if rows and len(rows[0][1]) == len(model.input_names):
        raise TcsmtError(f"{path}:{rows[0][0]}: the row has no result: a data set needs results")
    return np.array([row[-1] for _, row in rows], unsigned(model.d_format))


def _words(write: Callable[[Model, list[list[int]], str], str]) -> Callable[..., bytes]:
    def written(model: Model, inputs: Words, d: Array, name: str) -> bytes:
        rows = [[*words_of_row(inputs, number), int(word)] for number, word in enumerate(d.tolist())]
        return write(model, rows, name).encode()

    return written


@dataclass(frozen=True)
class _RowFormat:
    """The way in which files of a suffix hold rows.

    inputs: the words of rows. units: the names of units that results are said to be of. results: the words of
    D. content: what is written; None: such files are only read.
    """

    inputs: Callable[[Path, Model, Told | None, Rounding | None], Words]
    units: Callable[[Path], set[str]]
    results: Callable[[Path, Model], Array]
    content: Callable[[Model, Words, Array, str], bytes] | None = None


_FORMATS = {
    ".json": _RowFormat(_read_json, _json_units, _no_results, _json),
    ".jsonl": _RowFormat(_read_json, _json_units, _no_results),
    ".csv": _RowFormat(_read_csv, _csv_units, _csv_results, _csv),
    ".npz": _RowFormat(_read_npz, _npz_units, _npz_results, _npz),
    ".hex": _RowFormat(_read_words, _word_units, _word_results, _words(word_files.as_hex)),
    ".mem": _RowFormat(_read_words, _word_units, _word_results, _words(word_files.as_readmemh)),
}
