"""Implementations that are asked: a function, another unit, a program, or the instruction itself.

They are compared with a unit on many rows, or are black boxes that are asked one question at a time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from tcsmt.identification.units.boxes import Box, Command, row_box
from tcsmt.identification.units.family import Family
from tcsmt.interface.api.arrays import as_numpy
from tcsmt.interface.api.units import Unit, UnitLike, side_of
from tcsmt.interop.hardware.run import Device
from tcsmt.interop.implementations.batches import Batches
from tcsmt.interop.implementations.check import Implementation
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, format_named
from tcsmt.matrix_units.arithmetic.words import from_words, to_words, unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.word_files import batch, result_type
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.matrix_units.resolve import ResolvedName
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.simulate.measured.datasets import find_datasets
from tcsmt.simulate.rows import Words, run_words, words_of_row
from tcsmt.support.checkpoint import AnswerLog
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.fingerprints import fingerprint_of_command, fingerprint_so_far
from tcsmt.support.floats import callers_floats

_SHAPE = "give like=UNIT, or formats=... and k=..."
#: What means a unit, and is not called.
_UNITS = (Unit, Row, Model, ResolvedName, str, os.PathLike)


@dataclass(frozen=True)
class BoxShape:
    """The shape of a black box: the formats of A, B, C and D, and K."""

    formats: tuple[AnyFormat, ...]
    k: int

    @classmethod
    def of(
        cls, unit: UnitLike | None, formats: Sequence[str] | None, k: int | None, data: DataSet | None = None
    ) -> BoxShape:
        """Return that of formats by name and K, of a unit, or of recorded answers. Raises
        :class:`.TcsmtError`.
        """
        if formats is not None and k is not None:
            if len(formats) != 4:
                raise TcsmtError(f"formats = {formats}: must be four formats, those of a, b, c and d")
            return cls(tuple(map(format_named, formats)), k)
        if unit is not None:
            side = side_of(unit)
            if side.row.model.scale_format is not None:
                raise TcsmtError(f"{side.text} has block scales; identify supports only units without them")
            return cls.of_model(side.row.model)
        if data is not None:
            return cls(tuple(data.formats), data.k)
        raise TcsmtError(_SHAPE)

    @classmethod
    def of_model(cls, model: Model) -> BoxShape:
        """Return that of a model without block scales."""
        return cls((model.a_format, model.b_format, model.c_format, model.d_format), model.k)

    def fused(self, what: str) -> Family:
        """Return the fused dot-adds, for what supports nothing else. Raises :class:`.TcsmtError`."""
        try:
            return Family.of(self.formats, self.k)
        except TcsmtError as error:
            raise TcsmtError(f"{what} supports only fused dot-adds: {error}") from None


@dataclass(frozen=True)
class AskedBox:
    """A box that answers, and what tells it from another one: a transcript's answers are of one identity."""

    ask: Box
    identity: str

    def __call__(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        """Return the answer to one question."""
        return self.ask(a, b, c)


@contextmanager
def box_asked(
    box: Callable[..., Any] | UnitLike | None,
    *,
    like: UnitLike | None,
    formats: Sequence[str] | None,
    k: int | None,
    command: str | None,
    device: UnitLike | None,
    timeout: float,
    data: DataSet | None = None,
) -> Iterator[tuple[BoxShape, AskedBox | None]]:
    """Yield what is known of a black box, and the box, whose program ends with the block.

    None where neither a box nor a command or device is given, but recorded answers (data).
    Raises :class:`.TcsmtError`.
    """
    sources = sum(source is not None for source in (box, command, device))
    if sources > 1 or (not sources and data is None):
        raise TcsmtError("give one of box, command=... and device=UNIT")
    if (formats is None) != (k is None) or (formats is not None and like is not None):
        raise TcsmtError(_SHAPE)
    own, function = (box, None) if isinstance(box, _UNITS) else (device, box)
    shape = BoxShape.of(like if like is not None else own, formats, k, data)
    with ExitStack() as opened:
        asked: AskedBox | None = None
        if command is not None:
            box = opened.enter_context(closing(Command(command, shape.formats, timeout=timeout)))
            asked = AskedBox(box, fingerprint_of_command(command))
        elif own is not None:
            side = side_of(own)
            row = side.row
            if BoxShape.of_model(row.model) != shape or row.model.scale_format is not None:
                raise TcsmtError(f"the formats, K or scales of {side.text} are not those of formats or like")
            if device is None:
                asked = AskedBox(row_box(partial(run_words, row.model), shape.formats[:3]), row.model.digest)
            else:
                opened_device = opened.enter_context(Device(row))
                identity = device_identity(row, opened_device.provenance)
                asked = AskedBox(row_box(opened_device.run, shape.formats[:3]), identity)
        elif function is not None:
            *operands, result = shape.formats
            run = of_arrays(Operands(*operands), result, function, "the box's answer")
            asked = AskedBox(row_box(run, operands), fingerprint_so_far(function))
        yield shape, asked


def one_dataset(path: Path) -> DataSet:
    """Return the only data set of a file. Raises :class:`.TcsmtError` for several."""
    datasets = list(find_datasets([path]))
    if len(datasets) != 1:
        raise TcsmtError(f"{path} holds {len(datasets)} data sets; give a single one")
    return datasets[0]


Array = np.ndarray[Any, np.dtype[Any]]
#: What a program reads and writes: lines of JSON, or batches of packed rows.
Protocol = Literal["lines", "batches"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
#: Rows whose answers are kept together: a stop loses as many at most.
_KEPT = 4096


@dataclass(frozen=True)
class NamedImplementation:
    """An implementation and what it is called.

    identity: what tells it from another one of its name: answers that are kept are those of this identity.
    provenance: what a device says of itself.
    """

    name: str
    run: Implementation
    identity: str
    provenance: Mapping[str, Any] = field(default_factory=dict)


def given_asked(row: Row, implementation: Callable[..., Any]) -> NamedImplementation:
    """A function of arrays, or another unit, whose formats are the row's. Raises :class:`.TcsmtError`."""
    if isinstance(implementation, Unit):
        run, unit = _of_unit(row.model, implementation), implementation
        return NamedImplementation(unit.name, run, unit.model.digest)
    model, name = row.model, getattr(implementation, "__name__", "the implementation")
    asked = of_arrays(model.operand_formats, model.d_format, implementation, "the implementation's result")
    return NamedImplementation(name, asked, fingerprint_so_far(implementation))


def program_asked(
    row: Row, command: str, protocol: str, timeout: float, opened: ExitStack
) -> NamedImplementation:
    """A program, which ends when ``opened`` does. timeout: seconds for an answer, or progress in a batch.

    Raises :class:`.TcsmtError`.
    """
    if choose("protocol", protocol, PROTOCOLS) == "batches":
        program = opened.enter_context(closing(Batches(command, row.model, timeout=timeout)))
        return NamedImplementation(command, program, fingerprint_of_command(command))
    model = row.model
    if model.scales:
        raise TcsmtError(f"{row.name} has block scales; --command supports them only with --protocol batches")
    formats = (model.a_format, model.b_format, model.c_format, model.d_format)
    lines = opened.enter_context(closing(Command(command, formats, timeout=timeout)))
    return NamedImplementation(command, _by_lines(model, lines), fingerprint_of_command(command))


def device_asked(row: Row, opened: ExitStack) -> NamedImplementation:
    """Return the row's instruction on this machine; its program ends when ``opened`` does.

    Raises :class:`.TcsmtError` without a compiler or the device.
    """
    device = opened.enter_context(Device(row))
    provenance = device.provenance
    name = str(provenance.get("gpu", "the device"))
    return NamedImplementation(name, device.run, device_identity(row, provenance), provenance)


def device_identity(row: Row, provenance: Mapping[str, Any]) -> str:
    """Return what tells an instruction of a device from that of another: all that it says but the date."""
    said = {name: value for name, value in provenance.items() if name != "date"}
    return json.dumps([row.name, said], sort_keys=True)


def cached_implementation(model: Model, implementation: Implementation, kept: AnswerLog) -> Implementation:
    """An implementation whose answers are kept: rows that it has answered before are not asked again."""
    result = result_type(model)

    def run(words: Words) -> Array:
        answers = [np.zeros(0, result.newbyteorder("="))]
        for first in range(0, len(words.c), _KEPT):
            rows = words.map(itemgetter(slice(first, first + _KEPT)))
            question = batch(model, rows)
            answer = kept.get(question)
            if answer is None:
                answer = implementation(rows).astype(result).tobytes()
                kept.put(question, answer)
            answers.append(np.frombuffer(answer, result).astype(result.newbyteorder("=")))
        return np.concatenate(answers)

    return run


def of_arrays(
    operands: Operands[AnyFormat, AnyFormat], d: AnyFormat, function: Callable[..., Any], result: str
) -> Implementation:
    """A function of arrays of the formats' dtypes: a, b of shape (rows, k), c of (rows,).

    Of a unit with block scales, also ``scale_a`` and ``scale_b`` by these names, of shape (rows, scales).
    Its result, which errors call ``result``, is an array of D's dtype or of D's words, shape (rows,).
    """

    function = callers_floats(function)

    def run(words: Words) -> Array:
        arrays = {name: from_words(operands.named[name], part) for name, part in words.named.items()}
        a, b, c = (arrays.pop(name) for name in "abc")
        words_of_d = to_words(d, as_numpy(function(a, b, c, **arrays), result), result)
        if words_of_d.shape != words.c.shape:
            raise TcsmtError(
                f"{result} has shape {words_of_d.shape}: must be {words.c.shape}, one result for each row"
            )
        return words_of_d

    return run


def _of_unit(model: Model, unit: Unit) -> Implementation:
    """A unit of the same formats: it takes the words themselves, whatever they are."""
    own_formats = unit.model.input_formats | {"d": unit.model.d_format}
    for name, fmt in (model.input_formats | {"d": model.d_format}).items():
        own = own_formats.get(name)
        if own != fmt:
            has = "none" if own is None else f"it in {own.name}"
            raise TcsmtError(f"the unit that is checked has {name} in {fmt.name}, and {unit.name} has {has}")
    return partial(run_words, unit.model)


def _by_lines(model: Model, command: Command) -> Implementation:
    """A program that is asked row by row."""

    def run(words: Words) -> Array:
        rows = (model.operands(words_of_row(words, n)) for n in range(len(words.c)))
        return np.array([command(row.a, row.b, row.c) for row in rows], unsigned(model.d_format))

    return run
