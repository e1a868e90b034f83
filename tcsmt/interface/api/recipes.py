"""The algorithms and emulations that have a name, and matrices multiplied by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcsmt.interface.api.arrays import as_numpy, library_of
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import arrays
from tcsmt.programs.recipes.emulation.named import EMULATIONS, emulation_named, is_emulation
from tcsmt.programs.recipes.named import RECIPES, algorithm_named
from tcsmt.programs.written import on_matrices as of_programs
from tcsmt.programs.written.on_matrices import is_program_file
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result


class Recipes(Result, dict[str, str]):
    """Descriptions of algorithms, by name; print it, with the sources."""

    @property
    def sources(self) -> dict[str, str]:
        """Return the source of each algorithm."""
        return {name: (RECIPES.get(name) or EMULATIONS[name]).source for name in self}

    def _facts(self) -> dict[str, Any]:
        sources = self.sources
        return {
            "algorithms": [
                {"name": name, "title": title, "source": sources[name]} for name, title in self.items()
            ]
        }

    def _lines(self) -> Iterator[str]:
        sources = self.sources
        for name, title in self.items():
            yield f"{name:<20} {title}"
            yield f"{'':<20} {sources[name]}"

    @property
    def _title(self) -> str:
        return f"of {len(self)} algorithms"


@ieee_floats
def recipes() -> Recipes:
    """Return the algorithms by name, each with what it does; ``NAME,PARAMETER=VALUE,...`` changes one.

    >>> import tcsmt
    >>> tcsmt.accuracy.recipes()["ozaki1-int8"]
    'binary64 by 8 s8 slices of 7 bits, toward zero'
    """
    titles = {recipe.name: recipe.title for recipe in RECIPES.values()}
    return Recipes(titles | {recipe.name: recipe.title for recipe in EMULATIONS.values()})


@ieee_floats
def multiply(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    algorithm: str,
    unit: UnitLike | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Any:
    """A·B + C by an algorithm on a unit, bit for bit: an array (M, N), float32, or float64 of an emulation.

    It is an array of the operands' library, as for :class:`tcsmt.Unit`.

    >>> import numpy, tcsmt
    >>> a = numpy.array([[1.0, 2.0**-52]])
    >>> tcsmt.accuracy.multiply(a, a.T, algorithm="ozaki1-int8", unit="ampere")
    array([[1.]])

    Of an algorithm on binary32, arrays are float32, values that binary32 has, or uint32 words; of an
    emulation of binary64: float64, float32 or uint64 words; of a program in a file, numbers or words of its
    formats, and the result has the dtype of the result's.

    Args:
        a: A, (M, K).
        b: B, (K, N).
        c: C, (M, N). [default: zeros]
        algorithm: A name of :func:`recipes`, or a file; a program's file names its units.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file; none for a program.
        inputs: Further inputs of a program, by name: scales, zero points, a bias. [default: nothing]

    Raises :class:`tcsmt.TcsmtError` for unknown names, and for shapes and values that do not fit.
    """
    library = library_of({"a": a, "b": b, "c": c})
    a, b, c = (as_numpy(values, name) for name, values in (("a", a), ("b", b), ("c", c)))
    given = {name: as_numpy(values, name) for name, values in (inputs or {}).items()}
    if given and unit is not None:
        raise TcsmtError("inputs are those of a program in a file, which names its units: leave unit out")
    if unit is None:
        if not is_program_file(algorithm):
            raise TcsmtError(f"{algorithm}: unit is missing; only a program in a file names its own")
        return library.array(of_programs.multiply(algorithm, a, b, c, lambda name: side_of(name).row, given))
    instruction = unit if isinstance(unit, str) else side_of(unit).row
    if is_emulation(algorithm):
        library.check(FORMATS["f64"])
        return library.array(arrays.multiply(emulation_named(algorithm, instruction)[0], a, b, c))
    return library.array(arrays.multiply(algorithm_named(algorithm, instruction)[0], a, b, c))
