"""Links to the page, read again: which units, and which words each of them takes."""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import pytest

import tcsmt
from tcsmt.language.run.exact import evaluate

__all__ = ["Followed", "asked_of_browsers", "followed"]


#: The word of 1 in the formats of block scales, which are 1 where nothing is said.
_ONES = {"ue8m0": 127, "ue4m3": 0x38}


@dataclass(frozen=True)
class Followed:
    """What a link shows: the units' names, each one's words by name and its result; an answer."""

    units: list[str]
    words: list[dict[str, int]]
    results: list[int]
    answer: int | None


def asked_of_browsers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that browsers are asked to open from now on, which none does."""
    asked: list[str] = []

    def noted(url: str) -> bool:
        asked.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", noted)
    return asked


def followed(url: str) -> Followed:
    """As the page reads it: a's words in order, those that are left out 0; b's by the same names."""
    parts = dict(parse_qsl(urlsplit(url).fragment, strict_parsing=True, keep_blank_values=True))
    assert parts.pop("v") == "1"
    units = [parts.pop(side) for side in "ab" if side in parts]
    models = [tcsmt.unit(name).model for name in units]
    given = [int(word, 16) for word in parts.pop("w").split(",") if word]
    names = models[0].input_names
    words = [dict(zip(names, [*given, *[0] * (len(names) - len(given))], strict=True))]
    for model in models[1:]:
        ones = {name: _ONES.get(fmt.name, 0) for name, fmt in model.input_formats.items()}
        own = {name: words[0].get(name, ones[name]) for name in model.input_names}
        changed = dict(entry.split(":") for entry in parts.pop("x", "").split(",") if entry)
        words.append(own | {name: int(word, 16) for name, word in changed.items()})
    answer = parts.pop("r", None)
    assert not parts
    results = [evaluate([m.trace.output], own)[0] for m, own in zip(models, words, strict=True)]
    return Followed(units, words, results, None if answer is None else int(answer, 16))
