"""SystemVerilog to BTOR2, by Yosys in a process of its own (the extra ``rtl``)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tcsmt.interop.implementations.verilog_meaning import Sources, check_meaning
from tcsmt.interop.implementations.verilog_tree import VerilogTree, members, read_verilog_tree, tree_in
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.escaping import file_operand
from tcsmt.support.text import one_line

_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}


def require_parameters(tree: VerilogTree, given: Mapping[str, str]) -> None:
    """Raise :class:`.TcsmtError` where a module does not have a parameter, or not with the value given.

    A front end passes over names that a module does not have, and cuts off what does not fit a type. What an
    expression is, and in how many bits, is left to the front end.
    """
    taken = {
        str(node["name"]): str(node.get("value", ""))
        for node in members(tree.top)
        if node["kind"] == "Parameter" and not node.get("isLocal")
    }
    for name, text in given.items():
        if name not in taken:
            raise UnknownName("parameter", name, taken)
        number, taken_number = _number(text), _number(taken[name])
        if None not in (number, taken_number) and number != taken_number:
            raise TcsmtError(
                f"parameter {name}={text:.80}: its type does not have this value: {taken[name]:.80}"
            )


def _number(text: str) -> int | None:
    """Return the value of an integer literal; None for what is none, or not known in all bits."""
    match = re.fullmatch(r"(-?)\s*(?:(\d+)?'(s?)([bodh]))?([0-9a-f_]+)", text.strip().lower())
    if match is None:
        return None
    minus, width, signed, base, digits = match.groups()
    try:
        value = int(digits, _BASES[base or "d"])
    except ValueError:
        return None
    if width and value >> int(width):
        return None
    if width and signed and value >> (int(width) - 1):
        value -= 1 << int(width)
    return -value if minus else value


_CHILD = Path(__file__).parent / "yosys_child.py"


def available() -> bool:
    """Return whether Yosys is installed: the extra ``rtl``."""
    return find_spec("pyosys") is not None


@dataclass(frozen=True)
class RtlDesign:
    """A design as Yosys reads it: its text as BTOR2, and the syntax tree that it was made from."""

    btor2: str
    tree: VerilogTree


def read_rtl(
    sources: Sequence[Path],
    top: str,
    output: str,
    *,
    parameters: Mapping[str, str] | None = None,
    cut: Sequence[str] = (),
    include: Sequence[Path] = (),
    define: Sequence[str] = (),
    timeout: float = 300.0,
) -> RtlDesign:
    """Read a design as far as its ``output`` depends on it; other outputs are left out.

    sources: in the order in which they are compiled. top: the module; "": the one that no other has.
    parameters: of that module. cut: registers, which keep their names; the output may be one of them.
    include: folders. define: ``NAME`` or ``NAME=VALUE``. timeout: seconds.
    Raises :class:`.TcsmtError` for a design that has no such text, with file and line where Yosys says them.
    """
    if not available():
        raise TcsmtError(f"RTL is read by Yosys: {extras.install('rtl')}")
    for path in sources:
        if not path.is_file():
            raise TcsmtError(f"{path}: no such file")
    for name in (top, *(parameters or {})):
        if not re.fullmatch(r"[A-Za-z_][\w$.]*|", name):
            raise TcsmtError(f"{name!r:.80}: must be a name of Verilog")
    for name, value in (parameters or {}).items():
        if not value.isprintable() or re.search(r"//|/\*|[`;]", value):
            raise TcsmtError(f"parameter {name}: {value!r:.80} is not a value of Verilog")
    with tempfile.TemporaryDirectory(prefix="tcsmt-") as folder:
        here = Path(folder)
        words = ["--single-unit"] if define else []
        words += ["--top", top] if top else []
        words += [word for path in include for word in ("-I", _path(path))]
        words += [word for macro in define for word in ("-D", macro)]
        words += [word for name, value in (parameters or {}).items() for word in ("-G", f"{name}={value}")]
        words += [_path(path) for path in sources]
        request = {"arguments": words, "top": top, "output": output, "cut": list(cut)}
        (here / "request").write_text(json.dumps(request), encoding="utf-8")
        reply, tree = _asked(here, timeout)
        if "outputs" in reply:
            raise UnknownName("output", output, reply["outputs"])
        if "registers" in reply:
            unknown = next(register for register in cut if register not in reply["registers"])
            raise UnknownName("register", unknown, reply["registers"])
        if reply["problems"]:
            raise TcsmtError("; ".join(reply["problems"]))
        design = RtlDesign(
            (here / "btor2").read_text(encoding="utf-8"), read_verilog_tree(tree, reply["top"])
        )
        require_parameters(design.tree, parameters or {})
        where = Sources(reply["places"], reply["blocks"])
        check_meaning(design.tree, [reply["output"], *cut], where)
        return design


def _asked(folder: Path, timeout: float) -> tuple[dict[str, Any], str]:
    """Return the reply of Yosys, in a process of its own, to the request in a folder, and the syntax tree."""
    files = (str(folder / name) for name in ("request", "reply", "btor2"))
    try:
        done = subprocess.run(
            [sys.executable, str(_CHILD), *files], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TcsmtError(f"Yosys has not read the design in {timeout:g} s") from None
    tree, log = tree_in(done.stdout)
    if done.returncode or not (folder / "reply").is_file():
        raise TcsmtError(_error(log))
    reply: dict[str, Any] = json.loads((folder / "reply").read_text(encoding="utf-8"))
    return reply, tree


def _path(path: Path) -> str:
    """Return a file or folder as a word for Yosys's reader, which takes some names for patterns."""
    if re.search(r"[*?]|\.\.\.", str(path)):
        raise TcsmtError(f"{one_line(str(path))}: *, ? and ... in the name of a file of RTL are not allowed")
    return file_operand(path)


def _error(log: str) -> str:
    """Return what Yosys has said last, its own line of an error first."""
    errors = [line.strip() for line in log.splitlines() if "ERROR:" in line]
    placed = [line for line in errors if re.match(r".+?:\d+: ERROR:", line)]
    if placed:
        shown = [re.sub(r":\s*ERROR:\s*", ": ", line) for line in placed[:3]]
        return "; ".join(shown)
    last = [line.strip() for line in log.splitlines() if line.strip()][-1:]
    return "Yosys: " + (re.sub(r"^.*?ERROR:\s*", "", (errors or last or ["no answer"])[0]))
