"""The common parts of a model's exported files: its name, its words, the names of its stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcsmt.language.terms import Term, expand
from tcsmt.language.write.llvm import schedule
from tcsmt.language.write.operators import distinct, identifier
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.file_texts import is_known, table_of_format
from tcsmt.simulate.kernel_source import OperandArray, lanes, operands
from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import comment
from tcsmt.support.version import __version__


@dataclass(frozen=True)
class Design:
    """A row of the catalogue, or a model of one's own, on its way into another language.

    name: of the module or function.
    """

    row: Row
    name: str

    @classmethod
    def of(cls, row: Row, name: str | None = None) -> Design:
        """Return the design, named after the row. Raises :class:`.TcsmtError` for an impossible name."""
        chosen = identifier(f"tcsmt {row.name}".replace("@", " at ")) if name is None else name
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", chosen):
            raise TcsmtError(
                f"name {chosen!r}: must be letters, digits and underscores, the first one a letter, such as "
                f"{identifier(chosen) if chosen else 'unit'}"
            )
        return cls(row, chosen)

    @property
    def model(self) -> Model:
        """Return the model."""
        return self.row.model

    @cached_property
    def inputs(self) -> list[OperandArray]:
        """Return the operands: a, b, c, and the block scales of a unit that has them."""
        return operands(self.model)

    @cached_property
    def root(self) -> Term:
        """Return the result, without macros."""
        (root,) = expand([self.model.trace.output])
        return root

    def ordered(self, roots: Sequence[Term]) -> list[Term]:
        """Return everything below some nodes, lane by lane where it can be, arguments first."""
        return schedule(roots, lanes(self.model))

    @cached_property
    def stages(self) -> dict[Term, str]:
        """Return the model's stages without macros, those that are computed, each with what it is called."""
        stages = [stage for stage in self.model.trace.stages if stage.term.args]
        named: dict[Term, str] = {}
        for term, stage in zip(expand([stage.term for stage in stages]), stages, strict=True):
            if term.args:
                named.setdefault(term, stage.name)
        return named

    def names(
        self, nodes: Sequence[Term], more: Iterable[str] = (), stages: Mapping[Term, str] | None = None
    ) -> dict[Term, str]:
        """Return an identifier for each variable and for each stage among the nodes; none of ``more``.

        stages: what they are called, where they are not :attr:`stages`.
        """
        inputs = {term: str(term.data) for operand in self.inputs for term in operand.terms}
        taken = {*inputs.values(), *(operand.name for operand in self.inputs), "d", self.name, *more}
        here = set(nodes)
        called = self.stages if stages is None else stages
        return inputs | distinct({term: name for term, name in called.items() if term in here}, taken)

    def about(self) -> Iterator[str]:
        """Yield what a file says of itself, line by line."""
        row, model = self.row, self.model
        yield f"{row.name}: {model.title}, d = c + the sum of a[i] * b[i], i from 0 to {model.k - 1}"
        source = f"; source: {row.source} ({row.date})" if row.source else ""
        yield f"made by tcsmt {__version__} from its model{source}; evidence: {row.evidence}"
        yield ""
        for operand in self.inputs:
            count = len(operand.terms)
            yield f"  {operand.name}: {_words(count)} of {_format(operand.format)}"
        yield f"  d: one word of {_format(model.d_format)}"
        yield ""
        yield "parameters:"
        for name, value in model.as_json().items():
            yield f"  {name} = {value}"

    def comment(self, write: Callable[[str], str]) -> list[str]:
        """Return the lines of :meth:`about` as comments. write: makes a line one."""
        plain = (comment(" ".join(line.splitlines())) for line in self.about())
        return [write(line).rstrip() for line in plain]


def _words(count: int) -> str:
    return "one word" if count == 1 else f"{count} words"


def _format(fmt: AnyFormat) -> str:
    """Return its name; and, where that does not say it, what it is."""
    if is_known(fmt):
        return f"{fmt.name} ({fmt.width} bits)"
    table = ", ".join(f"{key} = {value}" for key, value in table_of_format(fmt).items())
    return f"{fmt.name} ({fmt.width} bits: {table})"
