"""Programs that run vectors through an instruction: written, or run on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

from tcsmt.interface.api.renamed import renamed
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interop.hardware.instructions import language_of
from tcsmt.interop.hardware.run import judge_lines, judged, measure, require_device
from tcsmt.interop.hardware.source import program
from tcsmt.interop.hardware.vectors import (
    NothingApplies,
    Vector,
    as_csv,
    as_json,
    from_file,
    from_properties,
    from_rows,
)
from tcsmt.matrix_units.catalogue import Row
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.files import replace_text
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, ignore, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.surveys.units.vectors import vectors_of

#: What a probe is written as: a program, or its vectors.
Emitted = Literal["cuda", "hip", "c", "json", "csv"]
EMITTED: tuple[Emitted, ...] = get_args(Emitted)


@dataclass(frozen=True, repr=False)
class ProbeAnswers(Result):
    """A device's answers: ``mismatches`` with the unit's model; for each answer, who predicted it."""

    said: Mapping[str, Any]

    @property
    def device(self) -> str:
        """Return the GPU or CPU."""
        return str(self.said["gpu"])

    @property
    def rows(self) -> int:
        """Vectors asked."""
        return int(self.said["rows"])

    @property
    def mismatches(self) -> int:
        """Answers that are not the model's."""
        return int(self.said["mismatches"])

    @property
    def exit_code(self) -> Exit:
        """0: every answer is the model's; 1: some is not."""
        return Exit.of(not self.mismatches)

    def as_json(self) -> dict[str, Any]:
        """Return plain data: what ``tcsmt probe --run --json`` prints."""
        return dict(self.said)

    def _lines(self) -> Iterable[str]:
        return judge_lines(self.as_json())

    @property
    def _title(self) -> str:
        return f"{self.device}: {self.rows} rows, {self.mismatches} mismatches"


@dataclass(frozen=True, repr=False)
class Probe:
    """Vectors for an instruction, each with what it asks and what each hypothesis predicts.

    made_by: the command or call that programs name.
    """

    row: Row
    vectors: Sequence[Vector]
    made_by: str = ""

    @property
    def language(self) -> str:
        """Return the language of its program: ``cuda``, ``hip`` or ``c``. Raises
        :class:`tcsmt.TcsmtError`.
        """
        return language_of(self.row)

    def text(self, emitted: str = "") -> str:
        """Return the program (``cuda``, ``hip``, ``c``; empty: its own), or the vectors (``json``, ``csv``).

        Raises :class:`tcsmt.TcsmtError` for the language of other devices, or where there is no program.
        """
        match choose("form of a probe", emitted or self.language, EMITTED):
            case "json":
                return as_json(self.row, self.vectors)
            case "csv":
                return as_csv(self.row, self.vectors)
            case language:
                return program(self.row, self.vectors, language, self.made_by)

    def save(self, path: str | os.PathLike[str], emitted: str = "") -> None:
        """Write ``text(emitted)`` to a file, which is replaced. Raises :class:`tcsmt.TcsmtError`."""
        replace_text(Path(path), self.text(emitted))

    def run(self, output: str | os.PathLike[str] | None = None) -> ProbeAnswers:
        """Compile the program, run it on this machine, and judge the answers.

        output: a file (.json) for the answers, which :func:`tcsmt.validate` reads; None: they are not kept.
        Raises :class:`tcsmt.TcsmtError` without a compiler or the device.
        """
        if output is not None and Path(output).suffix.lower() != ".json":
            raise TcsmtError(f"{output}: the answers are JSON: give FILE.json")
        answers = measure(self.row, self.text())
        with TemporaryDirectory(prefix="tcsmt-answers-") as folder:
            path = Path(output) if output is not None else Path(folder) / "answers.json"
            replace_text(path, answers)
            return ProbeAnswers(judged(path, kept=output is not None))

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        return f"<Probe of {self.row.name}: {counted(len(self), 'vector')}>"


@renamed(emitted="emit")
@ieee_floats
def probe(
    unit: UnitLike,
    properties: str | Sequence[str] = (),
    *,
    vectors: str | os.PathLike[str] | None = None,
    folders: Sequence[str | os.PathLike[str]] = (),
    options: SolvingOptions = SolvingOptions(timeout=20.0),
    emit: Emitted | None = None,
    run: bool = False,
    made_by: str = "",
    say: Callable[[str], None] = ignore,
    progress: ProgressCallback = no_progress,
) -> Probe:
    """Vectors for an instruction: ``text()`` is a program that asks it, ``run()`` asks it on this machine.

    They are the witnesses of some properties, or of all that apply; where none applies, the vectors that
    decide between the unit, other units and changes of one parameter. If it is known what the probe is for
    (emit, run), what cannot be is refused before solvers work.

    Args:
        unit: The unit.
        properties: Only the witnesses of this property.
        vectors: Instead: rows of a file, e.g. from `identify --plan` or `audit --output`.
        emit: What to write: a program, or the vectors.
        run: Compile and run the program; judge the answers.
        folders: A folder with property modules of your own.
        options: Of solvers.
        made_by: What programs name as their origin.
        say: Is told what becomes of each property.
        progress: Is told how far the search for vectors that decide is.

    Raises :class:`tcsmt.TcsmtError` for an unknown property, properties and vectors, or a file that cannot be
    read.

    >>> import tcsmt
    >>> found = tcsmt.probe("x86/vpdpbusds")
    >>> found.language, len(found) > 0
    ('c', True)
    """
    row = side_of(unit).row
    names = [properties] if isinstance(properties, str) else list(properties)
    if vectors is not None and names:
        raise TcsmtError("give properties or vectors, not both")
    if emit is not None or run:
        Probe(row, ()).text(emit or "")
    if run:
        require_device(row)
    if vectors is not None:
        return Probe(row, from_file(Path(vectors), row), made_by)
    try:
        witnesses = from_properties(row, names, Solving(options), [Path(folder) for folder in folders], say)
    except NothingApplies as why:
        say(f"{why}: vectors that decide between it and other units")
        deciding = vectors_of(row, "deciding", progress=progress).vectors
        witnesses = from_rows(row, deciding.names, deciding.inputs)
    return Probe(row, witnesses, made_by)
