"""Algorithms of one's own: TOML files that take the place of an algorithm's name.

A file changes a named algorithm (``base``), or says all of its own: ``format``, ``words`` and the sums. Its
other keys are the parameters of names (:data:`.PARAMETERS`) with the same values, but for ``sums``,
``order``, ``every`` and ``first``: a table ``[[sum]]`` has its products in order, and its own ``every`` and
``first``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tcsmt.matrix_units.arithmetic.formats import float_format, format_named
from tcsmt.programs.recipes.algorithm import Sum
from tcsmt.programs.recipes.recipe import INSTRUCTION, PARAMETERS, Recipe
from tcsmt.programs.steps.split import Split
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.toml_files import TomlFile, read_toml, shown_value

Made = TypeVar("Made")

_ABOUT = ("base", "title", "source")
_SUM = "sum"
_LENGTHS = ("every", "first")
_OF_SUM = ("products", *_LENGTHS)
_OWN = tuple(name for name in PARAMETERS if name not in ("sums", "order", *_LENGTHS))
_NUMBERS = ("words", "scale")


def is_recipe_file(name: str) -> bool:
    """Return whether what was given for an algorithm is a file."""
    return name.lower().endswith(".toml")


def read_recipe(path: Path, named: Mapping[str, Recipe]) -> Recipe:
    """Return the algorithm of a file. named: those that may be its ``base``.

    Raises :class:`.TcsmtError`, which names the file, the line and the key.
    """
    return _File(path, *read_toml(path)).recipe(named)


class _File(TomlFile):
    def recipe(self, named: Mapping[str, Recipe]) -> Recipe:
        allowed = [*_ABOUT, *_OWN, _SUM]
        for key in self.given:
            if key not in allowed:
                raise self.error(key, str(UnknownName("key of a recipe", key, allowed)))
        about = {key: self.text(key) for key in _ABOUT if key in self.given}
        recipe = self.base(about["base"], named) if "base" in about else self.whole()
        title, source = about.get("title", self.path.stem), about.get("source", str(self.path))
        recipe = replace(recipe, name=str(self.path), title=title, source=source)
        for key in _OWN:
            if key in self.given:
                recipe = self.changed(recipe, key)
        if _SUM in self.given:
            recipe = replace(recipe, sums=self.sums(recipe.split.words))
        return recipe

    def base(self, name: str, named: Mapping[str, Recipe]) -> Recipe:
        if name.lower() not in named:
            raise self.error("base", str(UnknownName("algorithm", name, named, "tcsmt accuracy algorithms")))
        return named[name.lower()]

    def whole(self) -> Recipe:
        missing = [key for key in ("format", "words", _SUM) if key not in self.given]
        if missing:
            raise TcsmtError(f"{self.path}: without base, these are needed: {', '.join(missing)}")
        fmt = self.made("format", lambda: float_format(format_named(self.text("format"))))
        split = self.made("words", lambda: Split(format=fmt, words=self.integer("words")))
        return Recipe(name="", title="", source="", split=split, sums=())

    def changed(self, recipe: Recipe, key: str) -> Recipe:
        value = self.given[key]
        if key == "interleaved":
            if not isinstance(value, bool):
                raise self.error(key, f"{key} = {shown_value(value)}: must be true or false")
            text = "yes" if value else "no"
        else:
            text = str(self.integer(key)) if key in _NUMBERS else self.text(key)
        return self.made(key, lambda: PARAMETERS[key](recipe, text))

    def sums(self, words: int) -> tuple[Sum, ...]:
        tables = self.given[_SUM]
        if not isinstance(tables, list) or not tables or not all(isinstance(item, dict) for item in tables):
            raise self.error(_SUM, f"{_SUM} = {shown_value(tables)}: must be tables, [[{_SUM}]]")
        sums = []
        for number, table in enumerate(tables):
            place = TomlFile(self.path, self.lines, table, _SUM, number)
            for key in table:
                if key not in _OF_SUM:
                    raise place.error(key, str(UnknownName(f"key of [[{_SUM}]]", key, _OF_SUM)))
            products = table.get("products", [])
            fine = (
                isinstance(products, list)
                and bool(products)
                and all(_is_pair(item, words) for item in products)
            )
            if not fine:
                allowed = f"pairs [word of a, word of b], words 0 to {words - 1}"
                raise place.error("products", f"products = {shown_value(products)}: must be {allowed}")
            sums.append(Sum(tuple((i, j) for i, j in products), *(_length(place, key) for key in _LENGTHS)))
        return tuple(sums)

    def integer(self, key: str) -> int:
        value = self.given[key]
        if type(value) is not int:
            raise self.error(key, f"{key} = {shown_value(value)}: must be an integer")
        return value

    def made(self, key: str, make: Callable[[], Made]) -> Made:
        """Return what is made of a key's value; an error has the file and the line before it."""
        try:
            return make()
        except TcsmtError as error:
            if str(error).startswith(self.at(key)):
                raise
            raise self.error(key, str(error)) from None


def _length(place: TomlFile, key: str) -> int:
    value = place.given.get(key, 0)
    if value == "instruction":
        return INSTRUCTION
    if type(value) is not int or value < 0:
        raise place.error(
            key, f'{key} = {shown_value(value)}: must be "instruction", or an integer, 0 or more'
        )
    return value


def _is_pair(value: object, words: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(word) is int and 0 <= word < words for word in value)
    )
