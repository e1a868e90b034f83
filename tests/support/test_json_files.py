"""JSON of others: one value for each key, and nothing that Python cannot read."""

from __future__ import annotations

import pytest

from tcsmt.support.json_files import json_of


def test_what_json_says() -> None:
    assert json_of(b'{"a": [1, {"b": null}], "c": 1.5}') == {"a": [1, {"b": None}], "c": 1.5}
    assert json_of("[NaN]", parse_constant=str) == ["NaN"]
    assert json_of("1.50", parse_float=str) == "1.50"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "b": 2, "a": 1}', "'a' is given twice"),
        ('[{"x": {"y": 1, "y": 2}}]', "'y' is given twice"),
        ("[NaN]", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "digits"),
        ("{", "Expecting"),
    ],
)
def test_what_is_not_one_text(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        json_of(text)
