"""Somebody's functions of a kit's heads, called on the kit's rows: ``python calling.py LIBRARY FOLDER``.

Every call is made in this program, which is run as a file and imports nothing of this package: a function
that ends the process, or writes where it may not, does so here. Each line of its output is a JSON object:
``name`` is that of the function that is called next, ``missing`` says that there is none, ``tiles`` is how
many rows of registers were compared, and ``differs`` the first difference: tile, place in D, what came, what
is right.
"""

from __future__ import annotations

import ctypes
import json
import sys
from array import array
from pathlib import Path
from typing import Any

#: Bytes around every array, and what is in them: they tell that a function wrote outside of D.
_FENCE = array("I", [0xA5A5A5A5] * 64)


def main(library: str, folder: Path) -> None:
    """Call every function, and print what was found."""
    functions = json.loads((folder / "kit.json").read_text(encoding="utf-8"))["functions"]
    loaded = ctypes.CDLL(library)
    for function in functions:
        name = function["name"]
        print(json.dumps({"name": name}), flush=True)
        called = getattr(loaded, name, None)
        found = {"missing": True} if called is None else compared(called, function, folder)
        print(json.dumps(found), flush=True)


def compared(called: Any, function: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return how many tiles were compared, and the first difference."""
    count, *words = (folder / "vectors" / f"{function['name']}.hex").read_text(encoding="utf-8").split()
    sizes = [function["words"][side] for side in "abcd"]
    numbers = array("I", (int(word, 16) for word in words))
    if len(numbers) != int(count) * sum(sizes):
        return {"unreadable": f"{len(numbers)} words of {int(count) * sum(sizes)}"}
    called.restype = None
    for tile in range(int(count)):
        parts, place = [], tile * sum(sizes)
        for size in sizes:
            parts.append(_FENCE + numbers[place : place + size] + _FENCE)
            place += size
        expected = parts[3][len(_FENCE) : -len(_FENCE)]
        if "c" not in function["arguments"] or sizes[2] == sizes[3]:
            parts[3] = array("I", parts[2])
        pointers = dict(zip("abcd", parts, strict=True))
        called(*(_argument(value, pointers) for value in function["arguments"]))
        for side, part in pointers.items():
            if part[: len(_FENCE)] != _FENCE or part[-len(_FENCE) :] != _FENCE:
                return {"tiles": tile + 1, "outside": side}
        got = parts[3][len(_FENCE) : -len(_FENCE)]
        if got != expected:
            at = next(n for n, pair in enumerate(zip(got, expected, strict=True)) if pair[0] != pair[1])
            return {"tiles": tile + 1, "differs": [tile, at, got[at], expected[at]]}
    return {"tiles": int(count)}


def _argument(value: str | int, pointers: dict[str, array[int]]) -> Any:
    if isinstance(value, str):
        address, _ = pointers[value].buffer_info()
        return ctypes.c_void_p(address + len(_FENCE) * _FENCE.itemsize)
    return ctypes.c_uint64(value)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
