"""The atlas of chained units as a page and as an SVG."""

from __future__ import annotations

import json
import re
from itertools import combinations
from xml.etree import ElementTree

from tcsmt.interface.pictures.chained_atlas import as_chained_page, as_chained_svg
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, vendors
from tests.support.small_chained import chained_atlas


def test_every_architecture_has_a_vendor() -> None:
    assert tuple(vendors()) == ARCHITECTURES


def test_page() -> None:
    """It stands alone; each pair has two cells of the colour of its verdict, and its details."""
    page = as_chained_page(chained_atlas())
    assert "http://" not in page and "https://" not in page
    cells = re.findall(r'data-kind="(\w+)"><button data-pair="(\S+)"', page)
    wanted = {f"g0-{one}-{two}" for one, two in combinations(range(3), 2)}
    assert sorted(pair for _, pair in cells) == sorted([*wanted, *wanted])
    assert {kind for kind, pair in cells if pair == "g0-0-1"} == {"equal"}
    assert {kind for kind, pair in cells if pair == "g0-0-2"} <= {"differs", "somewhere"}
    found = re.search(r'id="details">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    details = json.loads(found[1])
    assert details.keys() == wanted
    assert details["g0-0-1"][1:] == ["Proved equal on: all words."]
    assert details["g0-0-2"][1].startswith("They differ at ")
    for name, values in (("vendor", {"NVIDIA", "AMD"}), ("types", {"f32.f16.f16.f32"})):
        assert set(re.findall(rf'name="{name}" value="([^"]+)"', page)) == values


def test_svg() -> None:
    root = ElementTree.fromstring(as_chained_svg(chained_atlas()))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 9
    assert titles.count("1 | 2: proved equal on all words") == 2
