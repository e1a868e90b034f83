"""Markup that is left out of docstrings."""

from tcsmt.support.docstrings import unmarked


def test_roles_and_literals_leave_what_they_name() -> None:
    text = "see :func:`.decide` and :mod:`tcsmt.arithmetic.nans` (:data:`~tcsmt.x.NAN`), ``b0`` and `c`"
    assert unmarked(text) == "see decide and tcsmt.arithmetic.nans (NAN), b0 and c"
    assert unmarked(":class:`the bound <tcsmt.Bound>`: 2 : 1, a::b") == "the bound: 2 : 1, a::b"
