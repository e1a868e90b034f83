"""The catalogue: which model describes which instruction of which architecture, and why we think so.

Rows are data: every parameter that differs between architectures is in ``architectures/``, one file of tables
for each; nothing else in tcsmt knows an architecture's name.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.catalogue.architecture_files import ArchitectureFile, architecture_file
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, means, named
from tcsmt.matrix_units.catalogue.processors import INSTRUCTIONS, PROCESSORS, Processor, instructions_of
from tcsmt.matrix_units.catalogue.row import EVIDENCE, Row
from tcsmt.support.errors import TcsmtError, UnknownName, choose

__all__ = [
    "ARCHITECTURES",
    "Row",
    "architecture_named",
    "disputes",
    "row_named",
    "rows",
    "selected",
    "sequences_of",
    "stands_for",
    "status_text",
]


def rows(name: str | None = None, *, claims: bool = True) -> list[Row]:
    """Return every row, by architecture; or those that a name stands for, the most used one first.

    name: an architecture, a GPU or a processor (of which those are meant that it has), ``ARCH/INSTRUCTION``,
    or an instruction that one architecture alone has. Without ``claims``: those that nobody refutes or
    disputes, unless it is named. Raises :class:`.TcsmtError` for unknown and ambiguous names.
    """
    if name is None:
        return [row for architecture in ARCHITECTURES for row in _rows_in(architecture, claims)]
    architecture, slash, instruction = name.partition("/")
    if slash:
        return [_instruction(architecture, instruction)]
    try:
        return _rows_of(architecture, claims)
    except UnknownName:
        matches = [row for row in rows(claims=False) if means(name, row.instruction)]
        if not matches:
            raise
        if len(matches) == 1:
            return matches
    several = ", ".join(dict.fromkeys(row.architecture for row in matches))
    raise TcsmtError(f"{name!r} is an instruction of several architectures ({several}): give ARCH/{name}")


def _rows_in(architecture: str, claims: bool) -> list[Row]:
    file = architecture_file(architecture)
    return _of(file, file.instructions, claims)


def _of(file: ArchitectureFile, names: Iterable[str], claims: bool) -> list[Row]:
    return [file.row(name) for name in names if claims or "@" not in name]


def disputes(row: Row) -> list[Row]:
    """Return the disputed models of an accepted row's unit, where no outputs of the hardware support the
    row.
    """
    if row.status != "accepted" or row.measured or row.architecture not in ARCHITECTURES:
        return []
    file = architecture_file(row.architecture)
    names = [name for name in (*file.instructions, *file.sequences) if name.startswith(f"{row.instruction}@")]
    return [other for other in map(file.row, names) if other.status == "disputed"]


def status_text(row: Row) -> str:
    """Return a row's status; of an accepted row also whether another model of its unit disputes it."""
    return f"{row.status}, disputed" if disputes(row) else row.status


def selected(
    candidates: Iterable[Row],
    *,
    formats: Mapping[str, str | None] | None = None,
    k: int | None = None,
    evidence: str | None = None,
) -> list[Row]:
    """Return the rows with these formats (by parameter, as ``a_format``), this K and this evidence; None:
    any.

    Raises :class:`.TcsmtError` for an unknown format or evidence.
    """
    wanted = {name: format_named(text).name for name, text in (formats or {}).items() if text is not None}
    if evidence is not None:
        choose("evidence", evidence, EVIDENCE)
    return [
        row
        for row in candidates
        if all(getattr(row.model, name).name == text for name, text in wanted.items())
        and (k is None or row.model.k == k)
        and (evidence is None or row.evidence == evidence)
    ]


def architecture_named(name: str) -> str:
    """Return the architecture of that name, alias (``sm_90``), GPU (``h200``) or processor (``graviton4``,
    ``cpu``).

    Case, spaces, hyphens and makers' names do not matter. Raises :class:`.UnknownName`.
    """
    return named(name).architecture


def _rows_of(architecture: str, claims: bool) -> list[Row]:
    """Return an architecture's rows; of a processor, those that it has, and an error where it has none."""
    meant = named(architecture)
    of_architecture = _rows_in(meant.architecture, claims)
    return of_architecture if meant.processor is None else _that_it_has(meant.processor, of_architecture)


def _that_it_has(processor: Processor, of_architecture: Sequence[Row]) -> list[Row]:
    """Return the rows of a processor's instructions, the most used first."""
    prefixes = instructions_of(processor.features)
    places = {
        row.name: next((n for n, prefix in enumerate(prefixes) if _is_of(row, prefix)), None)
        for row in of_architecture
    }
    present = [row for row in of_architecture if places[row.name] is not None]
    if not present:
        features = ", ".join(name for name in INSTRUCTIONS if any(map(_of_feature(name), of_architecture)))
        raise TcsmtError(
            f"{processor.about} has none of the dot products of the catalogue, which need one of: {features}"
        )
    return sorted(present, key=lambda row: (places[row.name], "@" in row.instruction))


def stands_for(name: str) -> str:
    """Return what a processor's name, or its architecture's, stands for, as a sentence; "" for all others.

    Its instructions compute different functions of operands of one format, so that people are told.
    name: also with an instruction (``cpu/vdpbf16ps``). Raises :class:`.TcsmtError` for unknown names.
    """
    alone, slash, _ = name.partition("/")
    processor = named(alone).processor
    if slash:
        return "" if processor is None else f"{alone} is {processor.about}"
    of_architecture = _rows_of(alone, claims=False)
    if not any(other.architecture == of_architecture[0].architecture for other in PROCESSORS.values()):
        return ""
    about = "" if processor is None else f" is {processor.about}, and"
    names = ", ".join(row.instruction for row in of_architecture)
    return f"{alone}{about} has {names}: the first that fits is meant"


def _is_of(row: Row, prefix: str) -> bool:
    """Return whether a row, or the one that a claim is about, is the instruction, or a variant of it."""
    name = row.instruction.partition("@")[0]
    return name == prefix or name.startswith(f"{prefix}.")


def _of_feature(name: str) -> Callable[[Row], bool]:
    return lambda row: any(_is_of(row, prefix) for prefix in INSTRUCTIONS[name])


def sequences_of(architecture: str, *, claims: bool = False) -> list[Row]:
    """Return an architecture's sequences of instructions that multiply what no instruction does alone.

    The first ones leave least of a product out. They have names as instructions have. claims: with those
    that are refuted or disputed.
    """
    file = architecture_file(architecture_named(architecture))
    return _of(file, file.sequences, claims)


def _instruction(architecture: str, instruction: str) -> Row:
    """Return the row of an instruction: its name, a unique part of it, or as PTX or AMD's manual writes
    it.
    """
    meant = named(architecture)
    file, name = architecture_file(meant.architecture), meant.architecture
    instructions = file.instructions
    if meant.processor is not None:
        name = meant.processor.about
        instructions = [row.instruction for row in _rows_of(architecture, claims=True)]
    matches = _meant(instruction, instructions) or _meant(instruction, file.sequences)
    if len(matches) == 1:
        return file.row(matches[0])
    if matches:
        raise TcsmtError(f"{instruction!r} matches several instructions of {name}: {_listed(matches)}")
    names = [*instructions, *file.sequences]
    raise UnknownName(
        f"instruction of {name}", instruction, names, f"tcsmt models --arch {shlex.quote(architecture)}"
    )


def _meant(instruction: str, names: Sequence[str]) -> list[str]:
    """Return the names that a text means: the same, else as a manual writes it, else those that it is a part
    of.
    """
    same = [name for name in names if name == instruction]
    candidates = [name for name in names if "@" in instruction or "@" not in name]
    return (
        same
        or [name for name in candidates if means(instruction, name)]
        or [name for name in candidates if instruction.lower() in name.lower()]
    )


def _listed(names: Sequence[str], most: int = 8) -> str:
    listed = ", ".join(names[:most])
    return f"{listed}, and {len(names) - most} more; see `tcsmt models`" if len(names) > most else listed


def row_named(name: str) -> Row:
    """Return the first of those rows that a name stands for (:func:`rows`): of an architecture, the most
    used.

    It knows the catalogue alone. What people give for a unit is read by :func:`.resolve`.
    """
    return rows(name, claims=False)[0]
