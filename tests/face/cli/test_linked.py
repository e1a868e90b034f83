"""``--link``, ``--page`` and ``--browser`` on the command line."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import numpy as np
import pytest

from tests.support.command_line import done, refused, tcsmt
from tests.support.permalinks import asked_of_browsers, followed

BASE = "https://example.org/index.html"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TCSMT_PAGE", raising=False)


def link_in(text: str) -> str:
    """The address in the line that begins with "link:"."""
    (line,) = (line for line in text.splitlines() if line.startswith("link: "))
    return line.split()[-1]


@pytest.mark.slow
def test_compare_and_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    common = ("compare", "volta", "ampere", "--finite")
    plain = done(*common, code=1)
    assert "link:" not in plain
    linked = done(*common, "--page", BASE, code=1)
    assert linked.startswith(plain) and link_in(linked).startswith(f"{BASE}#v=1")
    assert link_in(done(*common, "--link", code=1)).startswith("file:///")
    monkeypatch.setenv("TCSMT_PAGE", BASE)
    assert link_in(done(*common, "--link", code=1)) == link_in(linked)
    data = json.loads(done(*common, "--link", "--json", code=1))
    assert data["links"] == [{"title": "", "url": link_in(linked)}] and data["verdict"] == "distinguished"
    vector = ("explain", "volta", "--vector", "a0=1.5 b0=1")
    drawn = done(*vector)
    assert done(*vector, "--link") == f"{drawn}link: {BASE}#v=1&a={VOLTA}&w=3e00,0,0,0,3c00\n"
    assert json.loads(done(*vector, "--link", "--json"))["links"][0]["url"].endswith("w=3e00,0,0,0,3c00")


def test_find() -> None:
    text = done("find", "--property", "carry-bits", "--arch", "volta", "--page", BASE)
    assert text.splitlines()[-1].startswith(f"link: 2 against 3 carry bits: {BASE}#v=1&a={VOLTA}&w=")


def test_kernel_diff(tmp_path: Path) -> None:
    a, b = np.zeros((1, 16), np.float16), np.zeros((16, 1), np.float16)
    a[0, :3], b[:3, 0] = (1, -1, 2**-12), (1, 1, 2**-13)
    for name, array in {"a": a, "b": b, "h": np.float32([[2**-25]]), "z": np.float32([[0]])}.items():
        np.save(tmp_path / f"{name}.npy", array)
    files = [word for name in ["a", "b"] for word in (f"--{name}", tmp_path / f"{name}.npy")]
    files += ["--left", tmp_path / "h.npy", "--right", tmp_path / "z.npy"]
    kernels = ("--left-unit", "h100", "--right-unit", "a100")
    shown = followed(link_in(done("kernel", "diff", *files, *kernels, "--page", BASE, code=1)))
    assert shown.results == [0x33000000, 0]
    result = tcsmt("kernel", "diff", *files, "--link")
    assert "no link: there is no input" in result.stderr and "link:" not in result.stdout


@pytest.mark.slow
def test_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program answers is in the link."""
    (tmp_path / "zero_of_links.py").write_text("def dot(a, b, c):\n    return c.astype('u4') & 0\n")
    monkeypatch.chdir(tmp_path)
    options = ("--python", "zero_of_links:dot", "--rows", 20_000)
    shown = followed(link_in(done("check", "volta", *options, "--page", BASE, code=1)))
    assert shown.units == [VOLTA] and [shown.answer] != shown.results


def test_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_of_browsers(monkeypatch)
    vector = ("explain", "volta", "--vector", "a0=1.5 b0=1", "--browser")
    text = done(*vector)
    assert text.startswith("link: file:///") and len(text.splitlines()) == 1
    assert asked[0].endswith("/open.html")
    done(*vector, "--page", BASE)
    assert asked[1].startswith(f"{BASE}#v=1")
    assert "--browser draws nothing here" in refused(*vector, "--format", "svg")
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert f"no browser could be started: open {BASE}#v=1" in tcsmt(*vector, "--page", BASE).stderr
