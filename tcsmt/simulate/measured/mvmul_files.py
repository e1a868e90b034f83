"""Rows of MVMUL, one element each, as the registers of the unit hold words.

A JSON object whose "rows" each say ``arch``, ``src``, ``dst`` and ``phase``, and have words in hexadecimal
without a prefix. a and b: sign, 8 bits of exponent, 10 bits of fraction (BF16: the upper 7 of these; FP16:
the lower 5 bits of the exponent). c and d: as binary32 has its fields (16-bit results: the upper bits of
the fraction; FP16: the lower 5 bits of the exponent).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.measured.dataset import DataSet, Formats
from tcsmt.simulate.measured.row_files import read_json
from tcsmt.support.errors import TcsmtError

__all__ = ["mvmul_datasets"]

#: How the file calls formats.
_NAMES = {"BF16": "bf16", "TF32": "tf32", "FP16": "f16", "FP32": "f32"}
#: Fraction bits of a register's words, with 8 bits of exponent.
_SOURCE_FRACTION, _RESULT_FRACTION = 10, 23
_PROVENANCE = ("evidence", "simulator")


def mvmul_datasets(path: Path) -> Iterator[DataSet]:
    """A data set for each instruction of the file, in the order in which it has them.

    Raises :class:`.TcsmtError`, with the place, for what is not such a file.
    """
    data = read_json(path)
    rows = data.get("rows") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not rows:
        raise TcsmtError(f'{path}: must be an object with a list "rows", not empty')
    units: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
    for number, row in enumerate(rows):
        where = f"{path}: rows[{number}]"
        if not isinstance(row, dict):
            raise TcsmtError(f"{where}: not an object")
        units.setdefault(_unit(where, row), []).append((where, row))
    provenance = {name: data[name] for name in _PROVENANCE if isinstance(data.get(name), str)}
    for (architecture, instruction), own in units.items():
        model = row_named(f"{architecture}/{instruction}").model
        words = {
            name: [_words(where, row, name, fmt, model.k) for where, row in own]
            for name, fmt in (*model.operand_formats.named.items(), ("d", model.d_format))
        }
        arrays = {
            name: np.array(
                columns, unsigned(model.d_format if name == "d" else getattr(model, f"{name}_format"))
            )
            for name, columns in words.items()
        }
        yield DataSet(
            name=f"{path.stem}-{architecture}-{instruction}",
            path=path,
            gpu="",
            architecture=architecture,
            interface=instruction,
            formats=Formats.of(model),
            operands=Operands(a=arrays["a"], b=arrays["b"], c=arrays["c"][:, 0]),
            d=arrays["d"][:, 0],
            provenance=provenance,
        )


def _unit(where: str, row: dict[str, Any]) -> tuple[str, str]:
    """Return the architecture and the instruction of a row, which the catalogue has."""
    names = []
    for key in ("src", "dst"):
        text = row.get(key)
        if text not in _NAMES:
            raise TcsmtError(f"{where}: {key} = {text!r}: must be one of {', '.join(_NAMES)}")
        names.append(_NAMES[text])
    source, result = names
    architecture = row.get("arch")
    if not isinstance(architecture, str):
        raise TcsmtError(f"{where}: 'arch' is missing or is not text")
    try:
        unit = row_named(f"{architecture}/mvmul.{result}.{source}.phase{row.get('phase')}")
    except TcsmtError as error:
        raise TcsmtError(f"{where}: {error}") from None
    return unit.architecture, unit.instruction


def _words(where: str, row: dict[str, Any], name: str, fmt: Format, k: int) -> list[int]:
    """An operand's words; c and d are one."""
    single = name in ("c", "d")
    values = [row.get(name)] if single else row.get(name)
    if not isinstance(values, list) or len(values) != (1 if single else k):
        raise TcsmtError(f"{where}: {name} must be {'a word' if single else f'a list of {k} words'}")
    bits = _RESULT_FRACTION if single else _SOURCE_FRACTION
    return [_word(f"{where}: {name}", text, fmt, bits) for text in values]


def _word(where: str, text: object, fmt: Format, fraction_bits: int) -> int:
    """A register's word as one of the format: what it has no place for must be zero."""
    try:
        register = int(text, 16) if isinstance(text, str) else -1
    except ValueError:
        register = -1
    if not 0 <= register < 1 << (9 + fraction_bits):
        raise TcsmtError(f"{where}: {text!r} is not a hexadecimal word of {9 + fraction_bits} bits")
    unused = fraction_bits - fmt.fraction_bits
    sign, magnitude = register >> (8 + fraction_bits), register & ((1 << (8 + fraction_bits)) - 1)
    if magnitude & ((1 << unused) - 1) or magnitude >> unused >> fmt.sign_bit:
        raise TcsmtError(f"{where}: {text!r} has bits that a word of {fmt.name} has no place for")
    return sign << fmt.sign_bit | magnitude >> unused
