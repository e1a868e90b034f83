"""Programs compiled and run on the GPU or CPU of this machine, and their answers judged.

A program answers all vectors at once, or keeps running and is asked for many rows (:class:`Device`).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import tempfile
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from tcsmt.interop.hardware.cpu import require_feature
from tcsmt.interop.hardware.instructions import TARGETS, language_of
from tcsmt.interop.hardware.source import build_command, program
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.word_files import batch, result_type
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.measured.datasets import explaining_row, find_datasets, replay
from tcsmt.simulate.measured.row_files import read_json
from tcsmt.support.conversation import Conversation, ConversationEnded
from tcsmt.support.errors import TcsmtError

#: Compilers by language, and the environment variable that names another one.
COMPILERS = {"cuda": ("nvcc", "TCSMT_NVCC"), "hip": ("hipcc", "TCSMT_HIPCC"), "c": ("cc", "TCSMT_CC")}
#: Where this machine is not an Arm one: a compiler for it, and the emulator that plays it.
_CROSS = ("aarch64-linux-gnu-gcc", "TCSMT_AARCH64_CC")
_EMULATOR = ("qemu-aarch64", "TCSMT_QEMU_AARCH64")
#: What a file of source code is called.
_SUFFIXES = {"cuda": ".cu", "hip": ".hip", "c": ".c"}
#: What the program says where there is no GPU (``program.template``).
NO_GPU = "find a GPU"
#: Seconds for the compiler, and for the program.
_PATIENCE = 600


def compiler_of(row: Row) -> str:
    """Return the path of the compiler for a row's programs. Raises :class:`.TcsmtError` where there is
    none.
    """
    language = language_of(row)
    name, variable = _CROSS if emulated(row) else COMPILERS[language]
    return _found(name, variable, f"a {language} compiler")


def emulated(row: Row) -> bool:
    """Return whether an emulator plays the device: for an Arm CPU, on any other machine."""
    return TARGETS.get(row.architecture) == "aarch64" and platform.machine() not in ("aarch64", "arm64")


def launcher(row: Row) -> list[str]:
    """Return what runs a row's programs: nothing, or the emulator, which tells the program what it is."""
    if not emulated(row):
        return []
    path = _found(*_EMULATOR, "an emulator")
    version = _done("asking its version", [path, "--version"]).partition("\n")[0]
    return [path, "-cpu", "max", "-E", f"TCSMT_EMULATOR={version.replace(',', ';')}; -cpu max"]


def _found(name: str, variable: str, what: str) -> str:
    location = os.environ.get(variable, "")
    path = shutil.which(location or name)
    if path is None:
        where = f"{variable} = {location!r} is not a program" if location else f"no {name} on PATH"
        raise TcsmtError(f"--run needs {what}: {where} ({variable} names one elsewhere)")
    return path


def require_device(row: Row) -> None:
    """Raises :class:`.TcsmtError` where nothing here can run the row's programs, as far as can be told.

    Whether there is a GPU only the program can tell; a CPU without the instruction would kill it.
    """
    compiler_of(row)
    launcher(row)
    if TARGETS[row.architecture] == "x86-64":
        require_feature(row)


def measure(row: Row, source: str) -> str:
    """Return what the program prints, a JSON document. Raises :class:`.TcsmtError`."""
    require_device(row)
    with tempfile.TemporaryDirectory(prefix="tcsmt-probe-") as folder:
        return run_binary([*launcher(row), str(compiled(row, source, Path(folder)))])


def run_binary(command: list[str]) -> str:
    """Return what a program prints: the text of a JSON object. Raises :class:`.TcsmtError`."""
    text = _done("running", command)
    try:
        answers = json.loads(text)
    except json.JSONDecodeError as error:
        raise TcsmtError(f"the program did not print JSON: {error.msg} in line {error.lineno}") from None
    if not isinstance(answers, dict):
        raise TcsmtError("the program printed JSON that is not an object")
    return text


def compiled(row: Row, source: str, folder: Path) -> Path:
    """Return the program in a folder. Raises :class:`.TcsmtError`."""
    language, compiler = language_of(row), compiler_of(row)
    file = folder / f"probe{_SUFFIXES[language]}"
    file.write_text(source, encoding="utf-8")
    binary = folder / "probe"
    _done("compiling", build_command(row, str(file), str(binary), compiler))
    return binary


def _done(what: str, command: list[str]) -> str:
    """Return the output of a command that must succeed."""
    name = Path(command[0]).name
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise TcsmtError(f"{what}: {name} did not end within {_PATIENCE} s") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TcsmtError(f"{what}: {name}: {error}") from None
    if ended.returncode:
        if NO_GPU in ended.stderr:
            raise TcsmtError(no_gpu(ended.stderr))
        lines = (ended.stderr.strip() or ended.stdout.strip()).splitlines()[:4]
        raise TcsmtError(f"{what}: {name} ended with {ended.returncode}: {' | '.join(lines) or 'no message'}")
    return ended.stdout


def no_gpu(message: str) -> str:
    """Return what is said where the program found no GPU."""
    why = message.partition(NO_GPU)[2].strip(": \n")
    return f"this machine has no usable GPU ({why}); tcsmt probe --emit writes the program for one that has"


def judged(path: Path, kept: bool = True) -> dict[str, Any]:
    """Return what the answers of a file say of each hypothesis, and in how many rows the model is wrong.

    kept: whether the file is there for longer, so that it is named.
    """
    answers = read_json(path)
    dataset = next(find_datasets([path]))
    row = explaining_row(dataset)
    judgements = []
    counts: dict[str, list[int]] = {}
    for answer in answers["rows"]:
        d, predictions = answer["d"], answer.get("predictions", {})
        same = [name for name, word in predictions.items() if int(word, 16) == int(d, 16)]
        for name in predictions:
            right, count = counts.get(name, (0, 0))
            counts[name] = [right + (name in same), count + 1]
        judgements.append({"asks": answer.get("asks", ""), "d": d, "predicted_by": same})
    return {
        "output": str(path) if kept else None,
        "gpu": dataset.gpu,
        "model": row.name,
        "rows": dataset.rows,
        "mismatches": replay(dataset, row.model).mismatches,
        "answers": judgements,
        "hypotheses": {name: {"right": right, "predictions": of} for name, (right, of) in counts.items()},
    }


def judge_lines(judgement: dict[str, Any]) -> list[str]:
    """Return what :func:`judged` found, for people."""
    of = f"{judgement['output']}: " if judgement["output"] else ""
    rows = f"{judgement['rows']} rows, {judgement['mismatches']} mismatches with {judgement['model']}"
    lines = [f"{of}{judgement['gpu']}, {rows}"]
    for number, answer in enumerate(judgement["answers"]):
        by = "; ".join(answer["predicted_by"]) or "NO HYPOTHESIS"
        lines.append(f"  {number}: {answer['asks']}: {answer['d']}: {by}")
    for name, of_it in judgement["hypotheses"].items():
        lines.append(f"  {of_it['right']} of {of_it['predictions']} answers are those of: {name}")
    return lines


Array = np.ndarray[Any, np.dtype[Any]]

#: Rows that are given at once.
_ROWS = 1 << 16
#: Seconds for a batch.
_PATIENCE_FOR_ROWS = 120.0


class Device:
    """A row's instruction; a context manager. Its program is compiled when it is made.

    Raises :class:`.TcsmtError` where there is no compiler, no such program, or no device.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        source = program(row, [], language_of(row))
        require_device(row)
        self._folder = tempfile.TemporaryDirectory(prefix="tcsmt-device-")
        self._command = [*launcher(row), str(compiled(row, source, Path(self._folder.name)))]
        self._talk = Conversation(f"--device {row.name}", [*self._command, "--rows"])

    @property
    def provenance(self) -> dict[str, Any]:
        """Return what the program says of the device, of itself, and when. Raises :class:`.TcsmtError`."""
        reply = json.loads(run_binary(self._command))
        return {name: value for name, value in reply.items() if name not in ("model", "rows", "unequal")}

    def run(self, operands: Operands[Array, Array]) -> Array:
        """Return the device's words of D, shape (rows,); a, b: words, shape (rows, k).

        Raises :class:`.TcsmtError`.
        """
        model, results = self.row.model, []
        result = result_type(model)
        for first in range(0, len(operands.c), _ROWS):
            chosen = slice(first, first + _ROWS)
            rows = operands.map(itemgetter(chosen))
            try:
                data = self._talk.exchange(
                    batch(model, rows), len(rows.c) * result.itemsize, _PATIENCE_FOR_ROWS
                )
            except ConversationEnded as error:
                raise TcsmtError(no_gpu(str(error)) if NO_GPU in str(error) else str(error)) from None
            results.append(np.frombuffer(data, result).astype(result.newbyteorder("=")))
        return np.concatenate(results) if results else np.zeros(0, result.newbyteorder("="))

    def close(self) -> None:
        """End the program."""
        self._talk.close()
        self._folder.cleanup()

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
