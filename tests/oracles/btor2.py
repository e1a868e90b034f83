"""BTOR2 on Python integers: line by line, as the format's paper says, and random files to try it on.

Shares no code with the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

__all__ = ["evaluate", "mutated", "program"]

_TWO = ("and", "or", "xor", "add", "sub", "mul", "sll", "srl", "sra", "nand", "nor", "xnor")
_TRUTHS = ("eq", "neq", "ult", "ulte", "ugt", "ugte", "slt", "slte", "sgt", "sgte")
_ONE = ("not", "neg", "inc", "dec")


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


def evaluate(text: str, inputs: Mapping[str, int]) -> dict[str, int]:
    """The outputs of a file without registers; inputs without a name are 0."""
    sorts: dict[int, int] = {}
    value: dict[int, int] = {}
    width: dict[int, int] = {}
    outputs: dict[str, int] = {}

    def get(word: str) -> int:
        number = int(word)
        found = value[abs(number)]
        return found if number > 0 else ~found & ((1 << width[-number]) - 1)

    for line in text.splitlines():
        words = line.partition(";")[0].split()
        if not words:
            continue
        number, op = int(words[0]), words[1]
        if op == "sort":
            sorts[number] = int(words[3])
            continue
        if op == "output":
            outputs[words[3]] = get(words[2])
            continue
        w = sorts[int(words[2])]
        width[number] = w
        rest = words[3:]
        if op == "input":
            value[number] = inputs[rest[0]] if rest else 0
            continue
        constants = {"zero": 0, "one": 1, "ones": -1}
        if op in constants:
            found = constants[op]
        elif op in ("const", "constd", "consth"):
            found = int(rest[0], {"const": 2, "constd": 10, "consth": 16}[op])
        else:
            x = get(rest[0])
            wx = width[abs(int(rest[0]))]
            two = len(rest) > 1 and op not in ("uext", "sext", "slice") and rest[1].lstrip("-").isdigit()
            y, wy = (get(rest[1]), width[abs(int(rest[1]))]) if two else (0, wx)
            sx, sy = _signed(x, wx), _signed(y, wy)
            full = (1 << wx) - 1
            match op:
                case "not":
                    found = ~x
                case "neg":
                    found = -x
                case "inc":
                    found = x + 1
                case "dec":
                    found = x - 1
                case "redor":
                    found = int(x != 0)
                case "redand":
                    found = int(x == full)
                case "redxor":
                    found = bin(x).count("1") % 2
                case "uext":
                    found = x
                case "sext":
                    found = sx
                case "slice":
                    found = x >> int(rest[2])
                case "and":
                    found = x & y
                case "or":
                    found = x | y
                case "xor":
                    found = x ^ y
                case "nand":
                    found = ~(x & y)
                case "nor":
                    found = ~(x | y)
                case "xnor" | "iff":
                    found = ~(x ^ y) if op == "xnor" else int(x == y)
                case "implies":
                    found = int(not x or y)
                case "add":
                    found = x + y
                case "sub":
                    found = x - y
                case "mul":
                    found = x * y
                case "sll":
                    found = x << y if y < wx else 0
                case "srl":
                    found = x >> y
                case "sra":
                    found = sx >> y
                case "concat":
                    found = x << wy | y
                case "eq":
                    found = int(x == y)
                case "neq":
                    found = int(x != y)
                case "ult":
                    found = int(x < y)
                case "ulte":
                    found = int(x <= y)
                case "ugt":
                    found = int(x > y)
                case "ugte":
                    found = int(x >= y)
                case "slt":
                    found = int(sx < sy)
                case "slte":
                    found = int(sx <= sy)
                case "sgt":
                    found = int(sx > sy)
                case "sgte":
                    found = int(sx >= sy)
                case "ite":
                    found = get(rest[1]) if x else get(rest[2])
                case _:
                    raise AssertionError(op)
        value[number] = found & ((1 << w) - 1)
    return outputs


def program(rng: Random, width: int, steps: int) -> str:
    """A random file with inputs a, b and c and the output d, all of one width."""
    lines = ["1 sort bitvec 1", f"2 sort bitvec {width}", f"3 sort bitvec {2 * width}"]
    lines += ["4 input 2 a", "5 input 2 b", "6 input 2 c"]
    words, number = [4, 5, 6], 7
    truths: list[int] = []

    def add(line: str) -> int:
        nonlocal number
        lines.append(f"{number} {line}")
        number += 1
        return number - 1

    for _ in range(steps):
        x, y = rng.choice(words), rng.choice(words)
        sign = rng.choice(("", "", "-"))
        kind = rng.random()
        if kind < 0.45:
            words.append(add(f"{rng.choice(_TWO)} 2 {x} {sign}{y}"))
        elif kind < 0.55:
            words.append(add(f"{rng.choice(_ONE)} 2 {x}"))
        elif kind < 0.7 or not truths:
            truths.append(add(f"{rng.choice(_TRUTHS)} 1 {x} {y}"))
        elif kind < 0.85:
            words.append(add(f"ite 2 {sign}{rng.choice(truths)} {x} {y}"))
        elif kind < 0.93:
            wide = add(f"{rng.choice(('uext', 'sext'))} 3 {x} {width}")
            other = add(f"concat 3 {x} {y}")
            wide = add(f"{rng.choice(('add', 'mul', 'sub'))} 3 {wide} {other}")
            low = rng.randrange(width + 1)
            words.append(add(f"slice 2 {wide} {low + width - 1} {low}"))
        else:
            words.append(add(f"constd 2 {rng.randrange(1 << width)}"))
    lines.append(f"{number} output {words[-1]} d")
    return "\n".join(lines) + "\n"


def mutated(rng: Random, text: str) -> str:
    """The file with one operation, operand or constant changed."""
    lines = text.splitlines()
    while True:
        place = rng.randrange(6, len(lines) - 1)
        words = lines[place].split()
        if words[1] in _TWO:
            words[1] = rng.choice(_TWO)
        elif words[1] in _TRUTHS:
            words[1] = rng.choice(_TRUTHS)
        elif words[1] in _ONE:
            words[1] = rng.choice(_ONE)
        elif words[1] == "ite":
            words[3] = str(-int(words[3]))
        elif words[1] in ("uext", "sext"):
            words[1] = {"uext": "sext", "sext": "uext"}[words[1]]
        else:
            continue
        if words != lines[place].split():
            return "\n".join([*lines[:place], " ".join(words), *lines[place + 1 :]]) + "\n"
