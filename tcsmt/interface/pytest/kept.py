"""Records of earlier runs about a function, and whether they still hold.

An outcome counts where all is as it was that it is known to depend on: the unit's graph, the number of rows,
the function's code and the files that it imports (:mod:`tcsmt.support.fingerprints`). What else a function
reads, such as files of data, is not known: so some rows are asked all the same, other ones in each run. Where
an answer is not what the outcome says, the outcome counts for nothing, and all is asked again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tcsmt.interface.api.check import Check
from tcsmt.interface.api.implementations import of_arrays
from tcsmt.interop.implementations.check import wrong_answers
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import run_words
from tcsmt.surveys.units.vectors import random_rows

#: Rows that are asked of a function whose outcome is kept.
_ASKED = 2000


@dataclass(frozen=True)
class KeptOutcome:
    """An outcome.

    about: all that it depends on, as a digest. text: what was printed. values, got: of a failure, the short
    row by names, and the function's word. vectors: the file of rows and answers, as text.
    """

    about: str
    agrees: bool
    text: str
    values: Mapping[str, int]
    got: int
    vectors: str

    @classmethod
    def of(cls, about: str, result: Check, vectors: str) -> KeptOutcome:
        """Return what a check has found."""
        first = result.checked.first
        values, got = ({}, 0) if first is None else (dict(first.values), first.got)
        return cls(about, result.agrees, str(result), values, got, vectors)

    @classmethod
    def read(cls, record: Any) -> KeptOutcome | None:
        """Return the outcome of a record; None where it is none."""
        try:
            return cls(
                str(record["about"]),
                bool(record["agrees"]),
                str(record["text"]),
                {str(name): int(word) for name, word in record["values"].items()},
                int(record["got"]),
                str(record["vectors"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def still_so(outcome: KeptOutcome, model: Model, function: Any) -> bool:
    """Return whether the function answers some rows as the outcome says: random ones right, or the short one
    wrong.

    Raises what the function raises.
    """
    asked = of_arrays(model.operand_formats, model.d_format, function, "the implementation's result")
    if outcome.agrees:
        seed = time.time_ns()
        return all(
            not wrong_answers(model, asked(words), run_words(model, words)).any()
            for words in random_rows(model, _ASKED, seed)
        )
    if outcome.values.keys() != model.input_formats.keys():  # its answers changed, say
        return False
    words = words_of(model, {name: np.array([word], object) for name, word in outcome.values.items()})
    answers = asked(words)
    return bool(answers[0] == outcome.got) and bool(wrong_answers(model, answers, run_words(model, words))[0])
