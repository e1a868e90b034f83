"""The answers of a device, as a data set that `tcsmt validate` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcsmt.matrix_units.catalogue import Row
from tcsmt.outside.hardware.vectors import hex_words
from tcsmt.simulate.rows import Words, words_of_row

__all__ = ["as_dataset"]

Array = np.ndarray[Any, np.dtype[Any]]


def as_dataset(
    row: Row, provenance: Mapping[str, object], inputs: Words, answers: Array, asks: Sequence[str]
) -> str:
    """JSON: where the answers come from, and each row with what it asks.

    inputs: words, a and b of shape (rows, k), c of (rows,). answers: words of D, (rows,). asks: of each row.
    """
    model, rows = row.model, []
    for number, (d, asked) in enumerate(zip(answers.tolist(), asks, strict=True)):
        words = hex_words(model, words_of_row(inputs, number))
        rows.append(words | {"d": model.d_format.hex(d), "asks": asked})
    head = json.dumps({"model": row.name.partition("@")[0], **provenance}, indent=1)[:-2]
    return f'{head},\n "rows": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n"
