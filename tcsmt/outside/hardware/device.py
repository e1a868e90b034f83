"""An instruction of this machine's GPU or CPU, asked for many rows by one program that keeps running."""

from __future__ import annotations

import json
import tempfile
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.packed_rows import batch, result_type
from tcsmt.matrix_units.models import Operands
from tcsmt.outside.hardware.instructions import language_of
from tcsmt.outside.hardware.run import NO_GPU, compiled, launcher, no_gpu, require_device, run_binary
from tcsmt.outside.hardware.source import program
from tcsmt.support.conversation import Conversation, ConversationEnded
from tcsmt.support.errors import TcsmtError

__all__ = ["Device"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows that are given at once.
_ROWS = 1 << 16
#: Seconds for a batch.
_PATIENCE = 120.0


class Device:
    """A row's instruction; a context manager. Its program is compiled when it is made.

    Raises :class:`.TcsmtError` where there is no compiler, no such program, or no device.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        source = program(row, [], language_of(row))
        require_device(row)
        self._folder = tempfile.TemporaryDirectory(prefix="tcsmt-device-")
        self._command = [*launcher(row), str(compiled(row, source, Path(self._folder.name)))]
        self._talk = Conversation(f"--device {row.name}", [*self._command, "--rows"])

    @property
    def provenance(self) -> dict[str, Any]:
        """Return what the program says of the device, of itself, and when. Raises :class:`.TcsmtError`."""
        reply = json.loads(run_binary(self._command))
        return {name: value for name, value in reply.items() if name not in ("model", "rows", "unequal")}

    def run(self, operands: Operands[Array, Array]) -> Array:
        """Return the device's words of D, shape (rows,); a, b: words, shape (rows, k).

        Raises :class:`.TcsmtError`.
        """
        model, results = self.row.model, []
        result = result_type(model)
        for first in range(0, len(operands.c), _ROWS):
            chosen = slice(first, first + _ROWS)
            rows = operands.map(itemgetter(chosen))
            try:
                data = self._talk.exchange(batch(model, rows), len(rows.c) * result.itemsize, _PATIENCE)
            except ConversationEnded as error:
                raise TcsmtError(no_gpu(str(error)) if NO_GPU in str(error) else str(error)) from None
            results.append(np.frombuffer(data, result).astype(result.newbyteorder("=")))
        return np.concatenate(results) if results else np.zeros(0, result.newbyteorder("="))

    def close(self) -> None:
        """End the program."""
        self._talk.close()
        self._folder.cleanup()

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
