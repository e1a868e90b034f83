"""The documentation's blocks are compared; the README is short; the package is whole."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from tests.support import wings
from tests.support.paths import ROOT

RUNNER = ROOT / "docs" / "run_blocks.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_blocks(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a page's blocks. The page lies in the repository's folder, as the runner expects."""
    command = [sys.executable, str(RUNNER), "--jobs", "1", *options, str(page)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the runner with a page of its own beside it."""
    (tmp_path / "docs").mkdir()
    copy = tmp_path / "docs" / "run_blocks.py"
    copy.write_text(RUNNER.read_text())
    monkeypatch.setattr(sys.modules[__name__], "RUNNER", copy)
    return tmp_path / "docs" / "page.md"


def block(kind: str, *lines: str) -> str:
    return "\n".join([f"```{kind}", *lines, "```", ""])


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (block("console", "$ echo one; echo two", "one", "two"), True),
        (block("console", "$ echo one; echo two", "one"), False),
        (block("console", "$ echo one; echo two; echo three", "...", "three"), True),
        (block("console", "$ echo one; echo two; echo three", "...", "four"), False),
        (block("console", "$ echo 12 words", "... words"), True),
        (block("console", "$ echo 0.25 s, z3 4.13.0", "17 s, z3 4.12"), True),
        (block("console", "$ (exit 3)", "$ echo $?", "3"), True),
        (block("console", "$ cat <<END", "> text", "> END", "text"), True),
        (block("toml", "# mine.toml", "k = 4") + block("console", "$ tail -1 mine.toml", "k = 4"), True),
        (block("console", "$ echo 'DISTINGUISHED by z3 4'; echo 0x1", "DISTINGUISHED by z3 4", "0x2"), True),
        (block("console", "$ echo DISTINGUISHED by evaluator; echo 1", "DISTINGUISHED by ...", "2"), False),
        (block("python", ">>> x = 6", ">>> x * 7", "42") + block("python", "assert x == 6"), True),
        (block("python", ">>> 6 * 7", "43"), False),
        (block("python", "assert False"), False),
        (block("python", "print('unchecked')"), True),
        ("<!-- not run: slow -->\n" + block("console", "$ echo one", "two"), True),
        (block("sh", "exit 1"), True),
    ],
)  # fmt: skip
def test_the_runner(page: Path, text: str, good: bool) -> None:
    page.write_text(text)
    done = run_blocks(page)
    assert done.returncode == (0 if good else 1), done.stdout + done.stderr


def test_the_runner_updates(page: Path) -> None:
    page.write_text(block("console", "$ echo one", "two", "$ echo three; echo four", "three", "..."))
    assert run_blocks(page, "--update").returncode == 1
    assert page.read_text() == block(
        "console", "$ echo one", "one", "$ echo three; echo four", "three", "..."
    )
    assert run_blocks(page).returncode == 0


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    first, second = re.findall(r"^```sh\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)[:2]
    assert "tcsmt find --property" in first
    assert "pytest" in second


def _tasks(path: Path) -> dict[str, str]:
    """What a reader may want, in the tables of a page, and the command with its page."""
    rows = re.findall(r"^\| ([^|]+) \| \[(`[^`]+`)\]\(([^)]+)\) \|$", path.read_text(), re.MULTILINE)
    return {want: f"{command} {(path.parent / page).resolve()}" for want, command, page in rows}


def test_the_readmes_commands_are_those_of_the_guides() -> None:
    readme, guides = _tasks(ROOT / "README.md"), _tasks(ROOT / "docs" / "howto" / "index.md")
    assert len(readme) == 16
    assert readme.items() <= guides.items()


def test_each_guide_is_named_by_a_task() -> None:
    folder = ROOT / "docs" / "howto"
    named = {text.rpartition(" ")[2] for text in _tasks(folder / "index.md").values()}
    assert {str(path) for path in folder.glob("*.md") if path.name != "index.md"} <= named


@pytest.mark.slow
def test_the_picture_of_the_wings_is_that_of_the_imports() -> None:
    """And no wing imports from one above it: nothing stands below the diagonal."""
    page = wings.PAGE.read_text()
    assert wings.with_picture(page) == page, "python -m tests.support.wings"
    order = wings.layers("tcsmt")
    assert len(wings.imports()) > 40
    assert all(order.index(wing) < order.index(other) for wing, other in wings.imports())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Links to files of the repository, which GitHub follows."""
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path}: {target}"


def files_of_git() -> list[str]:
    """What git holds. An unpacked source distribution is no repository: the test is skipped there."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode or not (ROOT / ".git").exists():
        pytest.skip("not a repository of git")
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_everything_is_in_the_source_distribution() -> None:
    """What setuptools does not take by itself, MANIFEST.in names."""
    taken = {"LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py", "tcsmt"}
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        command, *names = line.split()
        if command in ("graft", "include"):
            taken |= set(names)
    assert {name.partition("/")[0] for name in files_of_git()} == taken


@pytest.mark.long
def test_wheel_and_source_distribution(tmp_path: Path) -> None:
    """Both are built from what git holds; the wheel works where the repository is not."""
    source = tmp_path / "source"
    files = files_of_git()
    for name in files:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip"]
    built = tmp_path / "built"
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", str(built), str(source)], check=True)
    (wheel,) = built.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {"tcsmt/py.typed", "tcsmt/properties/carry_bits.py", "tcsmt/surveys/claims/published.toml"} <= held
    assert {
        f"tcsmt/interop/exports/acl2/by_hand/{name}.lisp" for name in ("specification", "specified")
    } <= held
    assert "tcsmt/matrix_units/catalogue/architectures/hopper.toml" in held
    assert not [name for name in held if name.startswith(("tests", "docs", "benchmarks"))]

    backend = "import setuptools.build_meta as b, sys; b.build_sdist(sys.argv[1])"
    packed = tmp_path / "packed"
    packed.mkdir()
    subprocess.run([*pip, "install", "-q", "--target", str(tmp_path / "tools"), "setuptools>=77"], check=True)
    environment = {"PYTHONPATH": str(tmp_path / "tools"), "PATH": "/usr/bin:/bin"}
    subprocess.run(
        [sys.executable, "-c", backend, str(packed)],
        cwd=source,
        env=environment,
        check=True,
        capture_output=True,
    )
    (archive,) = packed.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        about = next(name for name in opened.getnames() if name.count("/") == 1 and name.endswith("PKG-INFO"))
        member = opened.extractfile(about)
        assert member is not None
        metadata = message_from_bytes(member.read())
    assert set(files) <= names
    assert not [name for name in names if name.endswith((".pyc", ".lock"))]
    # a package index shows the README alone: what lies beside it in the repository does not lie there
    readme = metadata.get_payload()
    assert isinstance(readme, str) and readme.startswith("# tcsmt\n")
    assert re.findall(r"\]\((?!https?:)[^)]*\)", readme) == []
    assert metadata["Description-Content-Type"] == "text/markdown"

    target = tmp_path / "target"
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", str(target), str(wheel)], check=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin", "TCSMT_CACHE": str(tmp_path / "cache")}

    def installed(*arguments: str) -> str:
        command = [sys.executable, "-m", "tcsmt", *arguments]
        done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    found = installed("find", "--property", "product-normalization", "--arch", "volta")
    assert "answer: they can be told apart" in found
    listed = [Path(module["file"]) for module in json.loads(installed("properties", "--json"))["properties"]]
    assert {path.name for path in listed} == {path.name for path in (ROOT / "properties").glob("*.py")}
    assert {path.parent for path in listed} == {target / "tcsmt" / "properties"}
    installed("export", "--queries", "scripts")
    queries = {path.name: path.read_text() for path in (ROOT / "queries").iterdir()}
    assert {path.name: path.read_text() for path in (empty / "scripts").iterdir()} == queries


def test_the_changelog_says_nothing_twice() -> None:
    """Entries that begin alike are one that a merge has doubled."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    begins = [line[:60] for line in lines if line.startswith("- ")]
    assert len(begins) == len(set(begins)) > 10
