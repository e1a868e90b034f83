"""Forms of sums that are rounded to odd."""

from __future__ import annotations

from functools import cache

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.odd_form import OddForm, odd_form

__all__ = ["form_of"]


@cache
def form_of(name: str) -> tuple[IeeeDotAdd, OddForm]:
    """A unit's model, and its form."""
    model = row_named(name).model
    assert isinstance(model, IeeeDotAdd)
    form = odd_form(model)
    assert form is not None
    return model, form
