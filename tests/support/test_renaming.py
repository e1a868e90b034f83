"""Public names that were changed are taken until 1.0, each with a warning that names the one of now."""

from __future__ import annotations

from typing import Any

import pytest

import tcsmt
from tcsmt import investigation


@pytest.mark.parametrize(
    ("module", "old", "new"), [(tcsmt, "Audited", "AuditResult"), (investigation, "Side", "ComparedModel")]
)
def test_a_renamed_class_is_found_by_its_earlier_name(module: Any, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=new) as warned:
        assert getattr(module, old) is getattr(module, new)
    assert {old, f"{module.__name__}.{new}"} <= set(str(warned[0].message).replace(";", "").split())
    assert warned[0].filename == __file__
    assert old not in module.__all__ and new in module.__all__
    name = "no_such_name"
    with pytest.raises(AttributeError, match=name):
        getattr(module, name)
