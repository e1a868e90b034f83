"""A program that takes many rows at a time in binary, as ``word_files`` packs them."""

from __future__ import annotations

import shlex
from operator import itemgetter
from typing import Any

import numpy as np

from tcsmt.identification.units.boxes import BoxFailed
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.files.word_files import batch, result_type
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.rows import Words, words_of_row
from tcsmt.support.conversation import Conversation, ConversationEnded
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows in a batch.
ROWS = 1 << 14


class Batches:
    """A program that reads batches of rows on its standard input and writes a word of D for each row.

    timeout: seconds without any progress. A program that ends or hangs is started again, and asked the
    same batch once more; if it ends again, halves of the batch are tried, so that the row is named.
    """

    def __init__(self, command: str, model: Model, *, timeout: float = 30.0) -> None:
        self._command, self._model, self._timeout = shlex.split(command), model, timeout
        if not self._command:
            raise TcsmtError("--command is empty")
        self._talk: Conversation | None = None

    def __call__(self, rows: Words) -> Array:
        """Return the program's words of D, shape (rows,). Raises :class:`.BoxFailed`."""
        answers = [np.zeros(0, unsigned(self._model.d_format))]
        for first in range(0, len(rows.c), ROWS):
            answers.append(self._answers(rows.map(itemgetter(slice(first, first + ROWS)))))
        return np.concatenate(answers)

    def close(self) -> None:
        """End the program."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.close()

    def _answers(self, rows: Words) -> Array:
        problem = ""
        for _ in range(2):
            try:
                return self._exchange(rows)
            except ConversationEnded as error:
                problem = str(error)
        # halves cost a second each where the program ends, and the whole time limit where it hangs
        count = len(rows.c)
        if count > 1 and "no answer within" not in problem:
            half = count // 2
            parts = [rows.map(itemgetter(part)) for part in (slice(half), slice(half, count))]
            return np.concatenate([self._answers(part) for part in parts])
        named = zip(self._model.input_formats.items(), words_of_row(rows, 0), strict=True)
        words = " ".join(f"{name}={fmt.hex(word)}" for (name, fmt), word in named)
        where = f"the row {words}" if count == 1 else f"{count} rows, the first of which is {words}"
        raise BoxFailed(f"{problem} (asked twice), at {where}")

    def _exchange(self, rows: Words) -> Array:
        result, fmt = result_type(self._model), self._model.d_format
        if self._talk is None:
            self._talk = Conversation(f"--command {self._command[0]}", self._command)
        try:
            data = self._talk.exchange(batch(self._model, rows), len(rows.c) * result.itemsize, self._timeout)
        except ConversationEnded:
            self.close()
            raise
        words = np.frombuffer(data, result).astype(result.newbyteorder("="))
        if fmt.width < 8 * result.itemsize:
            too_wide = np.flatnonzero(words >> words.dtype.type(fmt.width))
            if too_wide.size:
                word = int(words[too_wide[0]])
                raise BoxFailed(
                    f"--command {self._command[0]}: {word:#x}: a word of {fmt.name} has {fmt.width} bits"
                )
        return words
