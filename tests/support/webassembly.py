"""WebAssembly modules, run by wasmtime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

__all__ = ["Machine"]

Array = np.ndarray[Any, np.dtype[Any]]


class Machine:
    """A module in wasmtime; where there is none, the test is skipped."""

    def __init__(self, code: bytes) -> None:
        wasmtime = pytest.importorskip("wasmtime", reason="wasmtime is not installed (the extra `test`)")
        self._store = wasmtime.Store()
        module = wasmtime.Module(self._store.engine, code)
        exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory = exports["memory"]
        self._call = {export.name: exports[export.name] for export in module.exports}
        size = self._memory.data_len(self._store)
        pointer = self._memory.data_ptr(self._store)
        self.words = np.ctypeslib.as_array(pointer, shape=(size,)).view("<u8")

    def run(self, function: str, row: Sequence[int], results: int) -> list[int]:
        """The first words behind the inputs, after a call with these inputs."""
        count = len(row)
        self.words[:count] = row
        self._call[function](self._store)
        return self.words[count : count + results].tolist()

    def rows(self, function: str, rows: Iterable[Sequence[int]], results: int) -> list[list[int]]:
        """The same of each row."""
        return [self.run(function, row, results) for row in rows]
