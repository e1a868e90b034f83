"""From a text to a side: the one grammar of what is compared, simulated, described or asked.

The page "Names of units" (``docs/reference/names.md``) states the grammar. The catalogue's names and model
files are read here. Wings above register what they know: kernels and IEEE operations, hardware designs and C,
programs and recorded answers. Files of data, which this wing's neighbours read, thus take the same names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import tcsmt
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.files.model_files import is_model_file, read_model
from tcsmt.matrix_units.models import Model
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True)
class ResolvedName:
    """The meaning of a text.

    text: as it was given. rows: the unit of each instruction that it can stand for, the one that is meant
    where nothing else decides first; or a program; none for what has no model. listed: whether the text names
    an architecture, a GPU or a processor, without an instruction.
    questions: how to ask what has no model.
    """

    text: str
    rows: tuple[Row, ...]
    listed: bool = False
    questions: str = ""

    @property
    def row(self) -> Row:
        """Return the unit that is meant. Raises :class:`.TcsmtError` as :attr:`units`."""
        return self.units[0]

    @property
    def units(self) -> list[Row]:
        """Return the units. Raises :class:`.TcsmtError` for a side that can only be asked, and for a program
        with inputs that no unit has.
        """
        for name in self.program.model.further_inputs:
            raise TcsmtError(
                f"{self.text}: input {name}: a unit takes A, B, c, and one input of scales of each side, in "
                f"one format and for whole blocks of one length: give it a number ({name}=1), or call it c"
            )
        return self.programs

    @property
    def program(self) -> Row:
        """Return the unit that is meant, or the program, as :attr:`programs`."""
        return self.programs[0]

    @property
    def programs(self) -> list[Row]:
        """Return ``rows``, programs with further inputs among them: for who asks for inputs by their names.

        Raises :class:`.TcsmtError` for a side that can only be asked.
        """
        if not self.rows:
            raise TcsmtError(f"{self.text}: {self.questions}")
        return [*self.rows]

    @staticmethod
    def of_row(row: Row, text: str = "") -> ResolvedName:
        """Return a side of one unit."""
        return ResolvedName(text or row.name, (row,))


#: The side of a text. The model is of the other side of a comparison, if there is one: a file that does not
#: state its formats has that model's.
Reader = Callable[[str, Model | None], ResolvedName]
#: A file's options, with whole paths for the files that they name.
WholePaths = Callable[[str], str]
_FILES: dict[str, tuple[Reader, WholePaths]] = {}
_SPELLINGS: list[tuple[Callable[[str], bool], Reader]] = []


def register_files(
    suffixes: Iterable[str], reader: Reader, whole: WholePaths = lambda options: options
) -> None:
    """Read files whose names end so, in lower case, by this; options may follow after a comma."""
    _FILES.update(dict.fromkeys(suffixes, (reader, whole)))


def register_spelling(takes: Callable[[str], bool], reader: Reader) -> None:
    """Read texts that ``takes`` recognizes by this."""
    _SPELLINGS.append((takes, reader))


@cache
def _load_readers() -> None:
    """Load what wings above register, so that a text means the same whatever was imported before.

    The package names these modules, which import this one: nothing here imports upward.
    """
    for module in tcsmt.READERS:
        import_module(module)


def resolve(text: str | os.PathLike[str], like: Model | None = None) -> ResolvedName:
    """Return the side that a text means.

    like: a model whose formats and k a design has where its text states none.
    Raises :class:`.TcsmtError`, which names the nearest names, or the file and line.

    >>> resolve("h100/m16n8k8.f32.f16").row.name
    'hopper/mma.m16n8k8.f32.f16.f16.f32'
    """
    name = os.fspath(text)
    _load_readers()
    for takes, reader in _SPELLINGS:
        if takes(name):
            return reader(name, like)
    registered = _registered(file_of(name))
    if registered is not None:
        return registered[0](name, like)
    if is_model_file(name):
        return ResolvedName.of_row(read_model(Path(name)), name)
    units = rows(name, claims=False)
    return ResolvedName(name, tuple(units), listed=len(units) > 1)


def reference(text: str, row: Row) -> str:
    """Return a text that means the row in any folder: its name, or what was given, with whole paths.

    text: what the row was resolved from.
    """
    return whole_paths(text) if _leading_file(text) else row.name


def whole_paths(text: str) -> str:
    """Return a text for a unit with whole paths for its files: the leading one, and those of options.

    Paths are from the present folder.
    """
    file = _leading_file(text)
    if not file:
        return text
    options, plus, kernel = text[len(file) :].partition("+")
    registered = _registered(file)
    return f"{Path(file).resolve()}{registered[1](options) if registered else options}{plus}{kernel}"


def _leading_file(text: str) -> str:
    """Return the file with which a text begins, that of a kernel's unit too."""
    return file_of(text) or file_of(text.partition("+")[0]) or file_of(re.split("[,@]", text)[0])


def file_of(text: str) -> str:
    """Return the file with which a text begins, without options; empty where it begins with a name.

    >>> file_of("dot.toml"), file_of("h100+split-k:2,pairs@64")
    ('dot.toml', '')
    """
    head = text.partition(",")[0]
    if not os.path.isfile(text) and _registered(head) is not None:
        return head
    return text if is_model_file(text) or _registered(text) is not None else ""


def _registered(file: str) -> tuple[Reader, WholePaths] | None:
    _load_readers()
    lower = file.lower()
    return next((registered for suffix, registered in _FILES.items() if lower.endswith(suffix)), None)


def none_fits(what: str, unit: str | Row, needed: str) -> TcsmtError:
    """Return the error where no row that a unit means takes an algorithm; needed: of the unit that it
    needs.
    """
    given, label = (resolve(unit).units, unit) if isinstance(unit, str) else ([unit], unit.name)
    formats = sorted({f"{row.model.a_format.name} to {row.model.d_format.name}" for row in given})
    return TcsmtError(
        f"{what} on {label}: it needs a unit {needed}; there is one from {', from '.join(formats)}"
    )
