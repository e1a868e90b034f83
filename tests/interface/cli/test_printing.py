"""Every command has ``--json``, and what it prints then is JSON and nothing else."""

from __future__ import annotations

import json
import re
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest

from tcsmt import SolvingOptions, __version__
from tcsmt.interface.cli import main
from tcsmt.interface.cli.printing import echo_json, json_text, say_certified
from tcsmt.prove.engine.solvers.run import solve
from tests.support.command_line import done, process, refused, tcsmt
from tests.support.permalinks import asked_of_browsers, followed


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def test_every_command_has_it() -> None:
    without = [name for name, command in commands(main) if "as_json" not in {p.name for p in command.params}]
    assert without == []


@pytest.mark.parametrize(
    "command",
    [
        ("models", "--arch", "volta"),
        ("properties",),
        ("describe", "volta"),
        ("compare", "volta", "volta"),
        ("find", "--property", "product-normalization", "--arch", "volta"),
        ("explain", "volta", "--vector", "a0=1"),
        ("accuracy", "algorithms"),
        ("accuracy", "explain", "markidis", "--unit", "volta", "--vector", "a0=1 b0=1"),
    ],
)
def test_every_document_says_its_version(command: tuple[str, ...]) -> None:
    data = json.loads(done(*command, "--json"))
    assert next(iter(data.items())) == ("tcsmt", __version__)


def test_the_version_comes_first_and_letters_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"title": "A·B − π", "rows": [1, {"d": None}]})
    text = capsys.readouterr().out
    assert "A·B − π" in text
    assert list(json.loads(text).items()) == [
        ("tcsmt", __version__), ("title", "A·B − π"), ("rows", [1, {"d": None}]),
    ]  # fmt: skip
    with pytest.raises(TypeError):
        json_text({"a set": {1}})


@pytest.mark.slow
def test_scripts_have_a_header_and_names_of_stages(tmp_path: Path) -> None:
    """The status is what a solver answers to the script."""
    path = tmp_path / "q.smt2"
    found = tcsmt("find", "--property", "carry-bits", "--arch", "volta", "--dump-smt", path)
    assert found.exit_code == 0
    files = sorted(tmp_path.iterdir())
    assert found.stderr == f"--dump-smt: {len(files)} scripts: {path} to q-{len(files)}.smt2\n"
    for file in files:
        text = file.read_text()
        first, *lines = text.splitlines()
        assert re.fullmatch(r"; SHA-256 of the script as tcsmt asks it: [0-9a-f]{64}", first)
        assert lines[:3] == [
            "(set-info :smt-lib-version 2.6)", "(set-option :produce-models true)", "(set-logic QF_BV)",
        ]  # fmt: skip
        assert re.fullmatch(
            r"\(set-info :source \|tcsmt [0-9.]+; [23] against [34] carry bits; domain: finite.*\|\)",
            lines[3],
        )
        assert lines[4:6] == [
            '(set-info :license "https://www.apache.org/licenses/LICENSE-2.0")',
            '(set-info :category "crafted")',
        ]
        status = re.fullmatch(r"\(set-info :status (sat|unsat)\)", lines[6])
        assert status is not None
        for solver in ("bitwuzla", "z3"):
            assert solve(text, SolvingOptions(solver)).answer == status[1]
    texts = [file.read_text() for file in files]
    assert any(re.search(r"\(define-fun left\.product-\d\.\d ", text) for text in texts)
    assert any("; stage: sum|" in text and "(define-fun left.sum () " in text for text in texts)


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "volta", "volta"),
        ("accuracy", "compare", "single-f16", "fp32-fma", "--unit", "volta", "--k", "1"),
    ],
)
def test_there_may_be_nothing_to_write(arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "q.smt2"
    found = tcsmt(*arguments, "--dump-smt", path)
    assert found.exit_code in (0, 1), found.output
    said = "--dump-smt: nothing to write: every question was answered without a solver\n"
    assert found.stderr == said
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_without_the_option_nothing_is_said() -> None:
    assert process("compare", "volta", "volta").stderr == ""


@pytest.mark.long
def test_a_witness_on_few_lanes_names_stages(tmp_path: Path) -> None:
    path = tmp_path / "q.smt2"
    done("find", "--property", "product-normalization", "--arch", "volta", "--dump-smt", path)
    text = path.read_text()
    assert "(set-info :status sat)" in text
    assert re.search(r"\(define-fun right\.product-\d\.\d+ ", text)


PROVED = {"verdict": "equivalent"}


def test_proofs_are_counted_and_reasons_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        PROVED | {"certificate": {"certified": True}},
        PROVED | {"certificate": {"certified": False, "reason": "too large"}},
        PROVED | {"certificate": {"certified": False, "reason": "too large"}},
        PROVED,
        PROVED | {"certificate": None},
        {"verdict": "distinguished"},
        {"verdict": "unknown", "certificate": {"certified": True}},
    ]
    say_certified(SolvingOptions(certificate="proofs"), records)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "--certificate: 1 of 5 proofs in proofs\n  no certificate: too large\n"
    say_certified(SolvingOptions(certificate="proofs"), records[:1])
    assert capsys.readouterr().err == "--certificate: 1 of 1 proof in proofs\n"


def test_nothing_is_said_without_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    say_certified(SolvingOptions(), [PROVED])
    assert capsys.readouterr() == ("", "")


BASE = "https://example.org/index.html"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path_factory.mktemp("cache")))
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
    kernels = ("--left-kernel", "h100", "--right-kernel", "a100")
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
