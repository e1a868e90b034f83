"""Run the console and Python blocks of the documentation, and compare what they print.

    python docs/run_blocks.py [--update] [--jobs 2] [README.md docs/howto/compare.md ...]

Each page runs in an empty folder of its own, from top to bottom:

* a block that is fenced as ``console`` holds commands (``$ command``, continued by ``> line``), each
  followed by what it prints;
* a ``python`` block is executed; with ``>>>`` its results are compared; all blocks of a page share names;
* a block of any language whose first line is a comment with a file name (``# narrow.toml``) is written to
  that file;
* other blocks (``sh``, ``text``) are only shown.

In expected output ``...`` stands for any text, on a line of its own for any lines. What differs from run
to run is masked on both sides: times, versions, dates, and the witness that a search found. A block that
needs the measured data (``../shared``), PyTorch or Triton, is skipped where it is absent. A block after
``<!-- not run: REASON -->`` is only shown. ``--update`` writes what was printed into the page, except where
``...`` already matches it.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
FENCE = re.compile(r"^(?P<fence>`{3,})\{?(?P<kind>[\w-]+)\}?.*$")
FILE = re.compile(r"^(?:#|//) ([\w.-]+\.[a-z]+)$")
NOT_RUN = re.compile(r"^<!-- not run: .+ -->$")
SECONDS = 120
#: The command that pages call, as an installed one would be.
COMMAND = """#!{python}
import sys
sys.argv[0] = "tcsmt"
from tcsmt.__main__ import main
if __name__ == "__main__":  # not in processes that the command starts
    sys.exit(main())
"""

MASKS = (
    (re.compile(r"\b\d+(\.\d+)? (s|seconds|minutes|min)\b"), "# s"),
    (re.compile(r"\b(bitwuzla|z3|cvc5|evaluator|simulator|llvmlite|NumPy|version) \d+(\.\d+)+\b"), r"\1 #"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\s+\bDISTINGUISHED by \b"), " DISTINGUISHED by "),
)
#: A witness that a search found: another version of a solver, or a slower machine, may find another one.
SEARCHED = re.compile(r"DISTINGUISHED by (?!evaluator)|^[A-Z ]+: found by")

#: Lines of a page that differ: from and up to which line, and what they should be.
Changes = dict[tuple[int, int], list[str]]


@dataclass
class Block:
    """One fenced block: the lines between the fences, and where they stand."""

    kind: str
    first: int  # index of the first line after the fence
    lines: list[str]
    run: bool


@dataclass
class Page:
    """A page and what came of it."""

    path: Path
    lines: list[str]
    failures: list[str] = field(default_factory=list)
    ran: int = 0
    skipped: int = 0
    seconds: float = 0.0


def blocks(lines: list[str]) -> Iterator[Block]:
    """The fenced blocks of a page."""
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        close = next(i for i in range(at + 1, len(lines)) if lines[i].rstrip() == opening["fence"])
        inside = lines[at + 1 : close]
        before = next((line for line in reversed(lines[:at]) if line.strip()), "")
        kind = "python" if opening["kind"] in ("python", "code-cell") else opening["kind"]
        if opening["kind"] != "code-cell":  # the documentation's build executes notebooks
            yield Block(kind, at + 1, inside, not NOT_RUN.match(before))
        at = close + 1


def commands(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """Each command of a console block, and where its output stands: from and up to which line."""
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise ValueError(f"a console block begins with '$ command', not {lines[at]!r}")
        said = [lines[at][2:]]
        at += 1
        while at < len(lines) and (lines[at] == ">" or lines[at].startswith("> ")):
            said.append(lines[at][2:])
            at += 1
        start = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        yield "\n".join(said), start, at


def masked(text: str) -> list[str]:
    """The lines of an output, without what differs from run to run."""
    found: list[str] = []
    witness = False
    for line in text.rstrip().splitlines():
        new = line.rstrip()
        for mask, instead in MASKS:
            new = mask.sub(instead, new)
        if witness and new:
            if found[-1] != "WITNESS":
                found.append("WITNESS")
            continue
        witness = SEARCHED.search(new) is not None
        found.append(new)
    return found


def matches(expected: str, printed: str) -> bool:
    """Whether an output is as expected, ``...`` standing for anything."""
    parts = []
    for line in masked(expected):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*?".join(map(re.escape, line.split("..."))) + r"\n")
    text = "".join(line + "\n" for line in masked(printed))
    return re.fullmatch("".join(parts), text) is not None


def compared(page: Page, where: str, expected: str, printed: str) -> bool:
    """Whether they match; if not, the difference is a failure of the page."""
    if matches(expected, printed):
        return True
    lines = difflib.unified_diff(masked(expected), masked(printed), "expected", "printed", lineterm="", n=1)
    page.failures.append("\n".join([where, *lines]))
    return False


def run_console(page: Page, block: Block, folder: Path, env: dict[str, str]) -> Changes:
    """Run a console block."""
    status = 0
    changes: Changes = {}
    for command, start, stop in commands(block.lines):
        where = f"{page.path}:{block.first + start}: $ {command}"
        try:
            done = subprocess.run(
                ["bash", "-c", f"set -o pipefail; (exit {status})\n{command}"],
                cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            page.failures.append(f"{where}\nnot finished after {SECONDS} seconds")
            return changes
        status = done.returncode
        if "Traceback (most recent call last)" in done.stdout:
            page.failures.append(f"{where}\n{done.stdout}")
        elif not compared(page, where, "\n".join(block.lines[start:stop]), done.stdout):
            blank = [""] if stop < len(block.lines) and block.lines[stop - 1] == "" else []
            changes[start, stop] = [line.rstrip() for line in done.stdout.rstrip().splitlines()] + blank
        page.ran += 1
    return changes


RUNNER = """
import sys
sys.path.insert(0, {here!r})
from run_blocks import python_blocks
sys.exit(python_blocks(sys.argv[1]))
"""


def python_blocks(path: str) -> int:
    """Run blocks of Python, separated by NUL, in one namespace. Returns the exit code."""
    names: dict[str, object] = {"__name__": "__main__"}
    failed = 0
    for number, text in enumerate(Path(path).read_text().split("\0")):
        first, code = text.split("\n", 1)
        if ">>>" in code:
            failed += _doctest(code, names, first)
            continue
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, first or f"block {number}", "exec"), names)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed += 1
    return 1 if failed else 0


def _doctest(code: str, names: dict[str, object], where: str) -> int:
    class Checker(doctest.OutputChecker):
        def check_output(self, want: str, got: str, optionflags: int) -> bool:
            if matches(want, got) if want else not got:
                return True
            return super().check_output(want, got, optionflags)

    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(code, {}, where, where, 0)
    test.globs = names
    runner = doctest.DocTestRunner(Checker(), optionflags=flags, verbose=False)
    return runner.run(test, clear_globs=False).failed


def run_page(path: Path, cache: str, *, update: bool) -> Page:
    """Run a page's blocks."""
    page = Page(path.relative_to(ROOT), path.read_text().splitlines())
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder, bin_folder = Path(name) / "page", Path(name) / "bin"
        folder.mkdir()
        bin_folder.mkdir()
        (bin_folder / "tcsmt").write_text(COMMAND.format(python=sys.executable))
        (bin_folder / "tcsmt").chmod(0o755)
        if SHARED.is_dir():
            (Path(name) / "shared").symlink_to(SHARED)
        # z3 and others are beside the interpreter
        places = [str(bin_folder), str(Path(sys.executable).parent), os.environ["PATH"]]
        package = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {
            **os.environ, "PATH": os.pathsep.join(places), "PYTHONPATH": os.pathsep.join(package),
            "TCSMT_CACHE": cache, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb",
        }  # fmt: skip
        _run_blocks(page, folder, env, update=update)
    page.seconds = time.monotonic() - began
    return page


def _lacks(text: str) -> bool:
    """Whether a block needs data or a library that is not there."""
    if "../shared" in text and not SHARED.is_dir():
        return True
    return any(name in text and importlib.util.find_spec(name) is None for name in ("torch", "triton"))


def _run_blocks(page: Page, folder: Path, env: dict[str, str], *, update: bool) -> None:
    python: list[str] = []
    changes: Changes = {}
    for block in blocks(page.lines):
        file = FILE.match(block.lines[0]) if block.lines else None
        if not block.run:
            continue
        if file is not None:
            (folder / file[1]).write_text("\n".join(block.lines) + "\n")
        elif block.kind in ("console", "python"):
            if _lacks("\n".join(block.lines)):
                page.skipped += 1
            elif block.kind == "python":
                python.append(f"{page.path}:{block.first + 1}\n" + "\n".join(block.lines) + "\n")
            else:
                found = run_console(page, block, folder, env)
                changes |= {(block.first + a, block.first + b): lines for (a, b), lines in found.items()}
    if python:
        (folder / "blocks").write_text("\0".join(python))
        command = [sys.executable, "-c", RUNNER.format(here=str(ROOT / "docs")), "blocks"]
        done = subprocess.run(
            command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        page.ran += len(python)
        if done.returncode:
            page.failures.append(done.stdout)
    if update and changes:
        lines = list(page.lines)
        for (start, stop), new in sorted(changes.items(), reverse=True):
            lines[start:stop] = new
        (ROOT / page.path).write_text("\n".join(lines) + "\n")


def pages(given: list[str]) -> list[Path]:
    """The pages that are named, else all."""
    if given:
        return [Path(name).resolve() for name in given]
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> int:
    """Run the pages; exit code 1 where some block does not print what the page says."""
    parser = argparse.ArgumentParser(description="Run the documentation's console and Python blocks.")
    parser.add_argument("pages", nargs="*", help="only these pages")
    parser.add_argument("--update", action="store_true", help="write what was printed into the pages")
    parser.add_argument("--jobs", type=int, default=2, help="pages at a time")
    given = parser.parse_args()
    if not SHARED.is_dir():
        print(f"blocks that read ../shared are skipped: {SHARED} does not exist")
    failed = 0
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(given.jobs) as pool:
        chosen = [path for path in pages(given.pages) if "_build" not in path.parts]
        for page in pool.map(lambda path: run_page(path, cache, update=given.update), chosen):
            for failure in page.failures:
                print(failure)
            failed += bool(page.failures)
            if page.ran or page.skipped:
                skipped = f", {page.skipped} blocks skipped" if page.skipped else ""
                print(
                    f"{page.path}: {page.ran} run, {len(page.failures)} differ{skipped}; {page.seconds:.0f} s"
                )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
