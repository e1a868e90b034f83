"""The report of a network's emulated products: the error of each layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcsmt.interface.torch.losses import CAUSES, ProductLosses
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.quantisation.recipe import OperandRecipe
from tcsmt.support.results import Result, columns

#: What the steps of an error are called.
_CAUSES = {
    "operands": "rounding of operands",
    "accumulation": "accumulation",
    "result": "rounding of the result",
}
#: Rows that the first line names.
_NAMED = 3


@dataclass(frozen=True, repr=False)
class EmulationReport(Result):
    """Losses of products, by layer, pass and operation.

    unit, recipe, reduction: as given. instructions: that computed them. losses: by layer, pass and operation.
    others: operations that PyTorch computed itself, by name and, of those with products, the reason, with how
    many times each. operands: the rule by which operands were rounded, as given. lone: products of one row or
    column that the unit computed as others, although libraries have kernels of their own for them, by
    operation.
    """

    unit: str
    recipe: OperandRecipe | None
    reduction: Reduction
    instructions: tuple[str, ...]
    losses: dict[tuple[str, str, str], ProductLosses]
    others: dict[tuple[str, str], int]
    operands: str | None = None
    lone: dict[str, int] = field(default_factory=dict)

    @property
    def skipped_products(self) -> dict[tuple[str, str], int]:
        """Return those of ``others`` that multiply and add."""
        return {key: count for key, count in self.others.items() if key[1]}

    @property
    def worst(self) -> list[tuple[str, str, str]]:
        """Layers, passes and operations by their relative error, the largest first."""
        return sorted(self.losses, key=lambda key: -self.losses[key].relative)

    @property
    def _title(self) -> str:
        return f"of {sum(entry.products for entry in self.losses.values())} products on {self.unit}"

    def _facts(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            "recipe": None if self.recipe is None else self.recipe.name,
            "source": None if self.recipe is None else self.recipe.source,
            "operands": self.operands,
            "reduction": str(self.reduction),
            "instructions": list(self.instructions),
            "products": [
                {
                    "layer": key[0],
                    "pass": key[1],
                    "operation": key[2],
                    "products": entry.products,
                    "shapes": list(entry.shapes),
                    "relative_error": entry.relative,
                    "parts": entry.parts,
                    "shares": entry.shares,
                    "largest_error": entry.largest,
                    "elements": entry.elements,
                    "overflowed": entry.overflowed,
                    "operands": entry.operands,
                    "saturated": entry.saturated,
                    "flushed": entry.flushed,
                }
                for key in self.worst
                for entry in (self.losses[key],)
            ],
            "one_row_or_column": self.lone,
            "not_emulated": [
                {"operation": name, "reason": why or None, "times": count}
                for (name, why), count in self.others.items()
            ],
        }

    def _lines(self) -> Iterable[str]:
        yield self.answer
        if self.recipe is not None:
            recipe = f"{self.recipe.name} ({self.recipe.title})"
        else:
            recipe = f"operands rounded: {self.operands}" if self.operands else "operands as they are"
        yield f"unit: {self.unit}, {recipe}, {self.reduction}; {', '.join(self.instructions) or 'no product'}"
        if self.losses:
            yield ""
            head = ["layer", "pass", "operation", "products", "error", *CAUSES, "saturated", "flushed"]
            yield from columns([head, *map(self._row, self.worst)], "<<<>>>>>>>")
            lost = sum(entry.overflowed for entry in self.losses.values())
            if lost:
                yield f"{lost} results overflowed: they are not finite, and not in the errors"
        if self.lone:
            yield ""
            told = ", ".join(f"{name} x {count}" for name, count in self.lone.items())
            yield f"of one row or column, computed as others (libraries have kernels of their own): {told}"
        if self.skipped_products:
            yield ""
            told = ", ".join(f"{name} x {n} ({why})" for (name, why), n in self.skipped_products.items())
            yield f"products that were not emulated: {told}"
        plain = ", ".join(f"{name} x {count}" for (name, why), count in self.others.items() if not why)
        if plain:
            yield f"computed by PyTorch: {plain}"

    @property
    def answer(self) -> str:
        """Return which layers lose most, and to what: a sentence."""
        measured = [key for key in self.worst if self.losses[key].elements]
        if not measured:
            return "No product was measured."
        if not self.losses[measured[0]].errors:
            return "Nothing is lost: all measured results are those of binary64."
        told = []
        for layer, run, _ in measured[:_NAMED]:
            entry = self.losses[layer, run, _]
            cause, share = max(entry.shares.items(), key=lambda item: item[1])
            told.append(f"{layer}, {run} ({entry.relative:.1e}, {share:.0%} to {_CAUSES[cause]})")
        return f"Most is lost in {'; '.join(told)}."

    def _row(self, key: tuple[str, str, str]) -> list[str]:
        entry = self.losses[key]
        measured = bool(entry.elements)
        errors = [f"{x:.1e}" if measured else "-" for x in (entry.relative, *entry.parts.values())]
        return [*key, str(entry.products), *errors, str(entry.saturated), str(entry.flushed)]

    def picture(self, path: str | Path) -> None:
        """A bar for each layer and pass, its error split into its steps, as SVG.

        Raises :class:`tcsmt.TcsmtError` without matplotlib (the extra ``plot``).
        """
        from tcsmt.interface.pictures.emulation_plot import emulation_plot

        bars = [
            (
                f"{layer}, {run}",
                self.losses[layer, run, operation].relative,
                self.losses[layer, run, operation].shares,
            )
            for layer, run, operation in self.worst
        ]
        emulation_plot(Path(path), bars, self.answer)
