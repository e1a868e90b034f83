"""``tcsmt.page``: a folder with a page."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcsmt
from tcsmt.matrix_units.catalogue import rows


def test_a_page_of_some_units(tmp_path: Path) -> None:
    seen: list[str] = []
    made = tcsmt.page(tmp_path / "a" / "b", ["volta", "h100"], progress=lambda *what: seen.append(what[2]))
    assert made.path == tmp_path / "a" / "b" / "index.html" and made.path.is_file()
    assert made.units == ("volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32")
    assert [*made.units] == seen and made.modules == len([*made.path.parent.glob("units/*.js")]) == 2
    files = [path for path in made.path.parent.rglob("*") if path.is_file()]
    assert made.size == sum(path.stat().st_size for path in files)
    assert not (made.path.parent / "pairs.js").exists()
    first = (made.path.parent / "index.js").read_text()
    assert '"first":"#v=1&a=volta/mma.m8n8k4.f32.f16.f16.f32&b=hopper/' in first


def test_a_model_file_and_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(tcsmt.unit("volta").as_toml())
    kernel = "volta/mma.m8n8k4.f32.f16.f16.f32+split-k:2@8"
    made = tcsmt.page(tmp_path, [tmp_path / "mine.toml", kernel])
    assert made.units[1] == kernel and made.modules == 2
    with pytest.raises(tcsmt.TcsmtError, match="volta"):
        tcsmt.page(tmp_path, ["volt"])


@pytest.mark.long
def test_the_whole_catalogue(tmp_path: Path) -> None:
    made = tcsmt.page(tmp_path)
    names = [row.name for row in rows()]
    assert [*made.units][: len(names)] == names
    kernels = made.units[len(names) :]
    assert len(kernels) > 20 and all("+" in name and "@" in name for name in kernels)
