"""The catalogue's rows, from the tables of its files: ``architectures/NAME.toml``.

A file has ``vendor``, ``aliases`` and ``gpus`` (:mod:`tcsmt.matrix_units.catalogue.naming`); where programs
can be written for it ``compiler_target``; ``shared_memory``, the bytes that a block has at most (CUDA C++
Programming Guide, "Compute Capabilities"); ``preferred``, how the names of those instructions begin that GEMM
can be written for it ``compiler_target``; ``matrix_fragments``, how its threads hold matrices, where several
ways have one name of an instruction; ``preferred``, how the names of those instructions begin that GEMM
libraries use for operands below 16 bits; and:

``[[rows]]``: the keys of one row, with its ``instruction``; or of several: ``table`` is a text of columns,
    whose first line names a key for each and whose other lines are a row each
    (:mod:`tcsmt.matrix_units.catalogue.architecture_files`), and the keys beside it hold for all of them.
``[defaults]``: keys of every row of the file.
``[shared.NAME]``: keys of those rows whose ``inherits`` names it.
``[[sequences]]``: the same as rows, of instructions that are always run one after another: they are no rows.
    ``instructions`` names the last part of each instruction's name.

A key that is given twice counts where it is nearest to the row: in the row, in what it inherits, beside its
table, in the defaults. The keys are those of :class:`.Row`, and for its model those of a model file
(:mod:`tcsmt.matrix_units.models.files`). A row ``INSTRUCTION@TAG`` is another reading of an instruction above
it: without a ``kind`` it has that one's parameters, except for those that it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.catalogue.naming import FOLDER, contents
from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.matrix_units.models.files import ModelTable, complete_model
from tcsmt.support.errors import TcsmtError, UnknownName, choose

#: Columns whose cells are lists, of one element too.
_LISTS = ("inherits", "instructions", "lanes", "measured", "where")


def entries_of(table: str) -> Iterator[dict[str, Any]]:
    """Yield the keys that each line gives; ``-`` stands for nothing, and commas divide a list.

    Raises :class:`.TcsmtError` where a line has not as many cells as there are columns.

    >>> list(entries_of("name   k   lanes  exact\\nfirst  16  3,4    -\\nnext   -   2      true"))
    [{'name': 'first', 'k': 16, 'lanes': [3, 4]}, {'name': 'next', 'lanes': [2], 'exact': True}]
    """
    header, *lines = table.splitlines()
    columns = header.split()
    for line in lines:
        cells = line.split()
        if len(cells) != len(columns):
            raise TcsmtError(
                f"{line!r}: {len(cells)} cells: must be {len(columns)}, one for each of {header}"
            )
        named = zip(columns, cells, strict=True)
        yield {name: _value(cell, name in _LISTS) for name, cell in named if cell != "-"}


@cache
def _value(cell: str, is_list: bool) -> Any:
    """Return what a cell says: a list, a number, true or false, or a text."""
    if is_list or "," in cell:
        return [_value(part, False) for part in cell.split(",")]
    if re.fullmatch(r"-?\d+|0x[0-9a-f]+", cell):
        return int(cell, 0)
    return {"true": True, "false": False}.get(cell, cell)


#: A row's keys that are not parameters of its model, and those of them that must be given.
_ABOUT = {
    one.name: one.default for one in fields(Row) if one.name not in ("architecture", "instruction", "model")
}
_NEEDED = [name for name, default in _ABOUT.items() if default is MISSING]
#: What a file may have.
_KEYS = (
    "vendor",
    "compiler_target",
    "shared_memory",
    "matrix_fragments",
    "aliases",
    "gpus",
    "preferred",
    "defaults",
    "shared",
    "rows",
    "sequences",
)


@dataclass
class ArchitectureFile:
    """An architecture's file: where it is, and its data.

    Its errors, of :class:`.TcsmtError`, name the file and the row.
    """

    architecture: str
    path: Path
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        for key in self.data:
            if key not in _KEYS:
                raise UnknownName(f"key of {self.path}", key, _KEYS)

    @property
    def instructions(self) -> list[str]:
        """Return the names of the rows, in the file's order."""
        return [*self._tables[0]]

    @property
    def sequences(self) -> list[str]:
        """Return the names of the sequences of those rows' instructions."""
        return [*self._tables[1]]

    def row(self, name: str) -> Row:
        """Return the row, or the sequence, of that name. Of many models in a file, only those asked are
        made.
        """
        if name not in self._made:
            rows, sequences = self._tables
            self._made[name] = self._row(name, dict((rows | sequences)[name]))
        return self._made[name]

    @cached_property
    def _made(self) -> dict[str, Row]:
        return {}

    @cached_property
    def _tables(self) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Return the keys of each row and each sequence, with those of the row above and of its
        instructions.
        """
        models: dict[str, dict[str, Any]] = {}
        rows, sequences = (
            dict(self._complete(keys, models) for keys in self._entries(self.data.get(name, ())))
            for name in ("rows", "sequences")
        )
        return rows, sequences

    def _entries(self, blocks: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the keys of each row of some blocks, with those that it inherits."""
        shared = self.data.get("shared", {})
        for block in blocks:
            single = "table" not in block
            beside = {} if single else {name: value for name, value in block.items() if name != "table"}
            for entry in (block,) if single else self._lines(block["table"]):
                keys = self.data.get("defaults", {}) | beside
                for name in entry.get("inherits", ()):
                    keys |= shared[choose(f"{self.path}: shared keys", name, shared)]
                keys |= entry
                keys.pop("inherits", None)
                yield keys

    def _lines(self, table: str) -> list[dict[str, Any]]:
        try:
            return list(entries_of(table))
        except TcsmtError as error:
            raise TcsmtError(f"{self.path}: {error}") from None

    def _complete(
        self, keys: dict[str, Any], models: dict[str, dict[str, Any]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the name of a row and its keys. models: the keys of those above it, and then its own,
        too.
        """
        name = keys.pop("instruction", "a row without an instruction")
        missing = [key for key in _NEEDED if key not in keys]
        if missing:
            raise self._error(name, f"missing: {', '.join(missing)}")
        if name in models:
            raise self._error(name, "given twice")
        if "kind" not in keys and "@" in name:
            keys = self._above(name.partition("@")[0], models) | keys
        if "instructions" in keys:
            alike = name.rpartition(".")[0]
            keys["instructions"] = [self._above(f"{alike}.{part}", models) for part in keys["instructions"]]
        models[name] = {key: value for key, value in keys.items() if key not in _ABOUT}
        return name, keys

    def _row(self, name: str, keys: dict[str, Any]) -> Row:
        about = {key: keys.pop(key) for key in _ABOUT if key in keys}
        try:
            model = complete_model(ModelTable(self.path, [], keys))
        except TcsmtError as error:  # names the file
            raise TcsmtError(f"{name}: {error}") from None
        about["measured"] = tuple(about.get("measured", ()))
        return Row(architecture=self.architecture, instruction=name, model=model, **about)

    def _above(self, instruction: str, models: dict[str, dict[str, Any]]) -> dict[str, Any]:
        return models[choose(f"{self.path}: instruction above", instruction, models)]

    def _error(self, name: str, message: str) -> TcsmtError:
        return TcsmtError(f"{self.path}: {name}: {message}")


@cache
def architecture_file(architecture: str) -> ArchitectureFile:
    """Return the catalogue's file of an architecture."""
    return ArchitectureFile(architecture, FOLDER / f"{architecture}.toml", contents(architecture))
