"""Find property modules: the ones that come with tcsmt, and those in a user's own folders."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from types import ModuleType

from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.invariants import not_none
from tcsmt.support.text import counted
from tcsmt.surveys.properties.investigation import Claim, Investigation, Report


class BrokenProperty(TcsmtError):
    """A property module raised an error of Python's: it is wrong, whatever it was asked about."""


@dataclass(frozen=True)
class Property:
    """A property module that is not loaded yet: its name and file."""

    name: str
    path: Path

    @cached_property
    def title(self) -> str:
        """Return the first line of the module's docstring; nothing of the module is run for it."""
        try:
            text = ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or ""
        except (SyntaxError, UnicodeDecodeError) as error:
            raise TcsmtError(f"{self.path}: {error}") from None
        return text.partition("\n")[0]


def shipped() -> Path:
    """Return the folder of the shipped modules: inside the installed package, or beside it in a checkout."""
    package = Path(str(resources.files("tcsmt")))
    folders = package / "properties", package.parent / "properties"
    for folder in folders:
        if folder.is_dir():
            return folder
    inside, beside = folders
    raise TcsmtError(f"tcsmt is not fully installed: no property modules in {inside} or {beside}")


def properties(folders: Sequence[Path] = ()) -> dict[str, Property]:
    """Every property by name; a module in a later folder replaces one of the same name."""
    result: dict[str, Property] = {}
    for folder in (shipped(), *folders):
        if not folder.is_dir():
            raise TcsmtError(f"there is no folder of property modules {folder}")
        for path in sorted(p for p in folder.resolve().glob("[!_]*.py") if p.is_file()):
            name = path.stem.replace("_", "-")
            result[name] = Property(name, path)
    return dict(sorted(result.items()))


def load(name: str, folders: Sequence[Path] = ()) -> LoadedProperty:
    """Return the property of that name. Raises :class:`.TcsmtError`."""
    shipped_and_own = properties(folders)
    if name not in shipped_and_own:
        raise UnknownName("property", name, shipped_and_own, "tcsmt properties")
    chosen = shipped_and_own[name]
    label = f"tcsmt_property_{chosen.path.stem}"
    spec = importlib.util.spec_from_file_location(label, chosen.path)
    spec = not_none(spec)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[label] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        plain = isinstance(error, (TcsmtError, SyntaxError, UnicodeDecodeError))
        message = str(error) if plain else repr(error)
        if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "tcsmt":
            message = f"{error}; property modules import all that they need of tcsmt from tcsmt.investigation"
        raise TcsmtError(f"{chosen.path}: {_place(error, chosen.path)}{message}") from None
    if not callable(getattr(module, "investigate", None)):
        raise TcsmtError(f"{chosen.path}: a property module must define investigate(ask)")
    claims = getattr(module, "CLAIMS", ())
    if not (isinstance(claims, tuple) and all(isinstance(claim, Claim) for claim in claims)):
        raise TcsmtError(f"{chosen.path}: CLAIMS must be a tuple of tcsmt.investigation.Claim")
    return LoadedProperty(chosen, module)


@dataclass(frozen=True)
class LoadedProperty:
    """A property module, ready to investigate catalogue rows."""

    about: Property
    module: ModuleType

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return what the literature claims."""
        return tuple(getattr(self.module, "CLAIMS", ()))

    def objection(self, row: Row) -> str:
        """Why there is nothing to ask about the row; empty where there is."""
        model = row.model
        if not isinstance(model, FusedDotAdd):
            return f"properties ask about units of {FusedDotAdd.title}; this one is {model.title}"
        if model.scale_format is not None:
            scales = counted(model.scales, f"{model.scale_format.name} scale")
            return f"properties ask about units without block scales; this one has {scales} of a row of a"
        applies = getattr(self.module, "applies", None)
        return str(self._call(applies, row)) if applies else ""

    def investigate(self, ask: Investigation) -> Report:
        """Ask everything and report."""
        objection = self.objection(ask.row)
        if objection:
            raise TcsmtError(f"{self.about.name} does not apply to {ask.row.name}: {objection}")
        conclusion = self._call(self.module.investigate, ask)
        return Report(
            self.about.name,
            self.about.title,
            self.claims,
            ask.row,
            tuple(ask.findings),
            str(conclusion),
        )

    def _call(self, function: object, argument: object) -> object:
        try:
            return function(argument)  # type: ignore[operator]
        except (TcsmtError, KeyboardInterrupt, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, OSError) and not _is_of(error, self.about.path):
                raise  # a full disk, a file that cannot be written: no module is to blame
            raise BrokenProperty(
                f"{self.about.path}: {_place(error, self.about.path)}{type(error).__name__}: {error}"
            ) from None


def choose_row(prop: LoadedProperty, rows: Sequence[Row]) -> Row:
    """Return the first row of a unit or an architecture to which the property applies."""
    for row in rows:
        if not prop.objection(row):
            return row
    reasons = "; ".join(dict.fromkeys(prop.objection(row) for row in rows))
    what = rows[0].name if len(rows) == 1 else f"any instruction of {rows[0].architecture}"
    raise TcsmtError(f"{prop.about.name} does not apply to {what}: {reasons}")


def _is_of(error: BaseException, path: Path) -> bool:
    """Return whether a file's own line raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == str(path)


def _place(error: BaseException, path: Path) -> str:
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"line {line}: " if line else ""
