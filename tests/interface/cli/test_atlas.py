"""``tcsmt atlas``: what it prints and writes, and an interrupt."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.support.command_line import done, refused
from tests.support.paths import ROOT
from tests.support.small_atlas import CHOSEN


def test_two_runs_on_one_file(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    with verdicts_in(file):
        text = refused("atlas", *CHOSEN, "--store", file)
    assert f"is in use by another run (process {os.getpid()})" in text
    with verdicts_in(file):
        pass


def test_files_that_are_no_store(tmp_path: Path) -> None:
    for name, text in (("text", "no store"), ("array", "[]"), ("other", '{"entries": {}}')):
        file = tmp_path / name
        file.write_text(text)
        said = refused("atlas", *CHOSEN, "--store", file)
        assert f"--store {file} was not written by this command: expected a JSON object with an " in said
        assert file.read_text() == text
    assert "cannot write" in refused("atlas", *CHOSEN, "--store", tmp_path / "none" / "a.json")


@pytest.mark.slow
@pytest.mark.parametrize(("kibibytes", "kept"), [pytest.param(1, False, marks=pytest.mark.long), (6, True)])
def test_finished_verdicts_are_kept_when_the_file_cannot_grow(
    tmp_path: Path, kibibytes: int, kept: bool
) -> None:
    """As on a full disk, at once or on the way: one line; the next run goes on from what is there."""
    file = tmp_path / "a.json"
    limit = kibibytes * 1024
    command = [sys.executable, "-m", "tcsmt", "atlas", *CHOSEN, "--store", str(file)]
    ended = subprocess.run(
        command, cwd=ROOT, text=True, capture_output=True, check=False,
        # a compiled module that is cut off would end every later run
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert ended.returncode == 2
    last = ended.stderr.splitlines()[-1]
    assert last == f"Error: cannot write {file}: File too large; what was finished before is kept"
    assert "Traceback" not in ended.stderr
    with verdicts_in(file) as store:
        assert bool(store.records) == kept
        store.keep("more", {"verdict": "unknown"})


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    text = done("atlas", *CHOSEN, "--store", tmp_path / "a.json", "--output", tmp_path / "out", "--finite")
    assert "f32.f16.f16.f32, K = 4 (finite)" in text
    assert re.search(r"^  1: volta/mma\S+, volta/mma\S+@zero-126$", text, re.MULTILINE)
    data = json.loads((tmp_path / "out" / "atlas.json").read_text())
    assert set(data) == {"tcsmt", "prover", "domain", "models", "groups"}
    (group,) = data["groups"]
    assert len(group["classes"]) == 4
    assert re.search(r"@zero-126: proved equal, bitwuzla \S+ alone, ", text)
    assert (tmp_path / "out" / "atlas.txt").read_text() == text
    page = (tmp_path / "out" / "atlas.html").read_text()
    details = unpacked(page)
    assert sum("<svg" in text for text in details.values()) >= 9
    assert "http://" not in page and "https://" not in page  # it stands alone
    assert set(re.findall(r'data-pair="([^"]+)"', page)) == details.keys()
    assert "unknown types 'f32.f16'" in refused("atlas", "--types", "f32.f16", "--store", tmp_path / "b")
    assert "unknown architecture" in refused("atlas", "--arch", "voltar", "--store", tmp_path / "b")


def unpacked(page: str) -> dict[str, str]:
    """What the cells of a page show, by their names."""
    packed = re.search(r'id="details">([^<]*)<', page)
    assert packed is not None
    found: dict[str, str] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


@pytest.mark.slow
def test_interrupted_by_a_signal(tmp_path: Path) -> None:
    """Ctrl-C: one line, the file is free again, and what was finished is in it."""
    file = tmp_path / "a.json"
    command = [sys.executable, "-m", "tcsmt", "atlas", "--store", str(file), "--claims", "--no-confirm"]
    command += ["--types", "f32.f16.f16.f32"]
    process = subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("3/"):
            break
    os.killpg(process.pid, signal.SIGINT)
    _, text = process.communicate(timeout=300)
    assert process.returncode == 130
    kept = re.search(
        rf"interrupted; kept: {re.escape(str(file))} \((\d+) entries; the same command goes on", text
    )
    assert kept is not None and int(kept[1]) >= 3, text
    assert "Traceback" not in text
    time.sleep(0.1)
    with verdicts_in(file) as store:
        assert len(store.records) >= 3


@pytest.mark.slow
def test_chained(tmp_path: Path) -> None:
    chosen = ("--chained", "--arch", "volta", "--types", "f32.f16.f16.f32", "--no-confirm", "--timeout", 3)
    text = done("atlas", *chosen, "--store", tmp_path / "a.json", "--output", tmp_path / "out", "--k", 8)
    assert text.startswith("f32.f16.f16.f32, chained to K = 8\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"chained.{kind}" for kind in ("html", "json", "svg", "txt")
    ]
    data = json.loads((tmp_path / "out" / "chained.json").read_text())
    assert set(data) == {"tcsmt", "prover", "models", "groups"}
    assert json.loads(done("atlas", *chosen, "--k", 8, "--store", tmp_path / "a.json", "--json")) == data
    store = ("--store", tmp_path / "b.json")
    assert "--k needs --chained" in refused("atlas", "--k", 4, *store)
    assert "cannot be used with --finite" in refused("atlas", "--chained", "--finite", *store)
    assert "no unit has the types f32.f16" in refused("atlas", "--chained", "--types", "f32.f16", *store)
