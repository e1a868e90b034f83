"""Which forms in floating-point operations are proved: kept by the digests of both graphs.

``results/make/float_forms.py`` proves each form again and writes ``proved_forms.toml``.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.float_form import FloatForm, float_form

__all__ = ["PROVED", "digests", "proved_form"]

#: The file with the digests.
PROVED = Path(__file__).with_suffix(".toml")


def digests(model: Model, form: FloatForm) -> tuple[str, str]:
    """Of a model's graph, and of a form's with its guard."""
    return digest_of_graph(model.trace.output), digest_of_graph(form.result, form.guard)


@cache
def proved_form(model: Model) -> FloatForm | None:
    """The form of a model that is proved to give the model's words wherever its guard is 0; else None."""
    form = float_form(model)
    return form if form is not None and digests(model, form) in _proved() else None


@cache
def _proved() -> frozenset[tuple[str, str]]:
    return frozenset(
        (entry["model"], entry["form"])
        for entry in tomllib.loads(PROVED.read_text(encoding="utf-8"))["forms"]
    )
