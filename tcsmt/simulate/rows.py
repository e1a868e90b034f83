"""A model on arrays: the same terms, compiled to machine code or interpreted with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from tcsmt.language.run import jit
from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, float_format
from tcsmt.matrix_units.arithmetic.words import from_words, operand_words, to_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.compiled import compiled, kernel
from tcsmt.simulate.forms.proved_forms import with_canonical_nan
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
Rows = TypeVar("Rows", bound="Batch")


@dataclass(frozen=True)
class Batch:
    """Inputs: a and b of shape (rows, lanes), c of shape (rows,).

    A kind of batch may have other arrays with a row for each input, and other fields that all rows share.
    """

    a: Array
    b: Array
    c: Array

    def __len__(self) -> int:
        return len(self.c)

    @property
    def _arrays(self) -> dict[str, Array]:
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}

    def __getitem__(self, places: Any) -> Self:
        """Return some rows: a slice, a list or an array of numbers, or a mask."""
        return replace(self, **{name: column[places] for name, column in self._arrays.items()})

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Return all rows of batches of one kind, in order; what rows share is that of the first batch."""
        columns = [part._arrays for part in parts]
        return replace(parts[0], **{name: np.concatenate([c[name] for c in columns]) for name in columns[0]})


#: Operands of many rows, each part's dtype its format's ``unsigned``.
Words: TypeAlias = Operands[Array, Array]


def joined_words(parts: Sequence[Words]) -> Words:
    """Return all rows, in order."""
    named = [part.named for part in parts]
    return Operands.of({name: np.concatenate([columns[name] for columns in named]) for name in named[0]})


#: Fewer rows are not worth the wait for a compiler (measured: 0.1 s to 1 s, against 1 to 3 million
#: rows a second with NumPy); a kernel that is there already takes any number.
WORTH_COMPILING = 16384
#: Rows that several models run together on before it is said how many are done.
_PIECE = 16384


def are_nan(model: Model, words: Array) -> Array:
    """Return which results of a unit that :func:`.with_canonical_nan` has another one for are NaNs.

    words: of ``unsigned(model.d_format)``, of any shape, which is that of the booleans returned.
    """
    fmt = float_format(model.d_format)
    magnitude = words & words.dtype.type((1 << fmt.sign_bit) - 1)
    result: Array = magnitude > words.dtype.type(fmt.infinity_word)
    return result


@lru_cache(maxsize=64)
def _program(model: Model) -> Program:
    return Program([model.trace.output])


def run_words(model: Model, operands: Words) -> Array:
    """Run the model: words in, words out, shape (rows,).

    Compiled with the extra ``fast``, unless the batch is small; the same bits either way.
    Raises :class:`.TcsmtError` for scales that do not fit.
    """
    _check_others(model, operands.named)
    plain = with_canonical_nan(model)
    if plain is None:
        return _run(model, operands)
    result = _run(plain, operands)
    places = np.flatnonzero(are_nan(model, result))
    if places.size:
        result[places] = _run(model, operands.map(itemgetter(places)))
    return result


def prepare(model: Model) -> None:
    """Compile a unit now, where a compiler is there: many small batches follow, none worth it by itself."""
    if jit.available():
        kernel(with_canonical_nan(model) or model)


def _run(model: Model, operands: Words) -> Array:
    # parameters of compiled functions are called like operands: a further input may be called like anything
    fast = jit.available() and not model.further_inputs
    if fast and (len(operands.c) >= WORTH_COMPILING or compiled(model)):
        return kernel(model).rows(operands.parts)
    words = _program(model).run(_columns(model, operands))[0]
    return words.astype(unsigned(model.d_format), copy=False)


def run_together(
    models: Sequence[Model], operands: Words, seen: Callable[[int], object] = lambda done: None
) -> Array:
    """Return the words of several models of the same formats on the same rows, shape (models, rows).

    What the models' graphs share is computed once, and nothing is compiled: of units that differ in one
    parameter each, that is most. seen: called with the number of rows that are done.
    Raises :class:`.TcsmtError` for scales that do not fit.
    """
    first = models[0]
    _check_others(first, operands.named)
    program = Program([model.trace.output for model in models])
    columns, rows = _columns(first, operands), len(operands.c)
    words = np.empty((len(models), rows), unsigned(first.d_format))
    for start in range(0, rows, _PIECE):
        part = slice(start, min(start + _PIECE, rows))
        columns_of_part = program.run({name: column[part] for name, column in columns.items()})
        for place, results in enumerate(columns_of_part):
            words[place, part] = results
        seen(part.stop)
    return words


def _columns(model: Model, operands: Words) -> dict[str, Array]:
    """Return each input of a model by its name: an array of all rows."""
    columns = operands.map(lambda words: np.moveaxis(words, -1, 0) if words.ndim > 1 else words).flat()
    return dict(zip(model.input_names, columns, strict=True))


def words_of_row(operands: Words, number: int) -> tuple[int, ...]:
    """Return the words of one row, in the order of :attr:`.Model.input_names`.

    operands: a, b of shape (rows, k), c of (rows,), scales of (rows, scales). number: from 0.
    """
    return tuple(int(word) for word in operands.map(lambda words: words[number]).flat())


def _check_others(model: Model, given: Mapping[str, Any]) -> None:
    """Refuse scales and further inputs that are missing, given where the unit has none, or of the wrong count
    in a row.
    """
    formats, counts = model.operand_formats.named, model.operand_lengths
    for name in [name for name in dict.fromkeys([*counts, *given]) if name not in ("a", "b", "c")]:
        values, scale = given.get(name), name in ("scale_a", "scale_b")
        if name not in counts:
            if values is not None:
                what = "no block scales" if scale else f"inputs {', '.join(model.operand_formats.named)}"
                raise TcsmtError(f"{name} is given, but the unit has {what}")
            continue
        wanted = f"{counts[name]} {formats[name].name} {'scales' if scale else 'words'} in each row"
        if values is None:
            raise TcsmtError(f"{name} is missing: the unit takes {wanted}")
        if np.ndim(values) == 0 or np.shape(values)[-1] != counts[name]:
            raise TcsmtError(f"{name} has shape {np.shape(values)}: the unit takes {wanted}")


def _words(fmt: AnyFormat, values: Any, name: str, operands: str | None) -> Array:
    """Return the words of values; scales and further inputs are never rounded."""
    if name not in ("a", "b", "c"):
        return to_words(fmt, values, name)
    return operand_words(fmt, values, name, operands)


def simulate(
    model: Model,
    a: Any,
    b: Any,
    c: Any = 0.0,
    scale_a: Any = None,
    scale_b: Any = None,
    *,
    operands: str | None = None,
    further: Mapping[str, Any] | None = None,
) -> Array:
    """Return the unit's result for every row: an array of the output format's dtype.

    a, b: shape (..., k); c: shape (...); scale_a, scale_b, for units with block scales: shape
    (..., model.scales); further: a program's other inputs by name, shape (..., words), or (...) of one word;
    leading dimensions broadcast. Each is an array of its format's dtype
    (float16, float32, float64, ml_dtypes), of unsigned words, or of values of another floating-point
    dtype that the format holds exactly. Exact for every bit pattern. operands: how a, b and c are rounded
    that it does not (:data:`.OPERAND_RULES`).
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    arrays = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b, **(further or {})}
    formats = model.operand_formats.named
    words = {
        name: _words(fmt, arrays[name], name, operands)
        for name, fmt in formats.items()
        if name in ("a", "b", "c") or arrays.get(name) is not None
    }
    single = [name for name, count in model.word_counts.items() if count is None and name != "c"]
    words |= {name: words[name][..., None] for name in single if name in words}
    for name in "ab":
        if words[name].ndim == 0 or words[name].shape[-1] != model.k:
            raise TcsmtError(
                f"{name} has shape {words[name].shape}: the last dimension must be k = {model.k}"
            )
    _check_others(model, arrays | words)
    leading = {name: w.shape if name == "c" else w.shape[:-1] for name, w in words.items()}
    try:
        shape = np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(str(w.shape) for w in words.values())
        raise TcsmtError(f"shapes of {', '.join(words)} do not broadcast: {shapes}") from None
    rows = int(np.prod(shape))
    flat = {
        name: np.broadcast_to(w, (*shape, *w.shape[len(leading[name]) :])).reshape(
            rows, *w.shape[len(leading[name]) :]
        )
        for name, w in words.items()
    }
    return from_words(model.d_format, run_words(model, Operands.of(flat))).reshape(shape)
