"""Kernels of PTX, run thread by thread: an oracle for what is read of them.

Written from the PTX ISA and from nothing of the package but a unit's parameters, which are read as data: the
text is parsed here, fragments are those of :mod:`.fragments`, and an instruction's arithmetic is that of
:mod:`.exact`. A thread is run until it meets an instruction of its warp or block; warps go from the last to
the first, so what no barrier orders comes in another order than in lockstep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles import exact, fragments

_MASK = (1 << 64) - 1


@dataclass
class Thread:
    """One thread: its registers as integers, and how far it has come."""

    number: int
    registers: dict[str, int] = field(default_factory=dict)
    at: int = 0
    open: list[tuple[int, int, int, int]] = field(default_factory=list)
    groups: list[list[tuple[int, int, int, int]]] = field(default_factory=list)


@dataclass
class Block:
    """A block of threads. memory: bytes by their address. model: a unit's parameters, of its name."""

    text: str
    parameters: Sequence[int]
    model: Callable[[str], Any]
    architecture: str
    memory: dict[int, bytearray]
    block: tuple[int, int, int] = (0, 0, 0)
    grid: tuple[int, int, int] = (1, 1, 1)
    shared: bytearray = field(default_factory=lambda: bytearray(1 << 18))

    def run(self) -> None:
        """Run all threads to their end."""
        self.lines, self.labels = _instructions(self.text)
        count = int(re.search(r"\.reqntid (\d+)", self.text)[1])  # type: ignore[index]
        self.names = re.findall(r"\.param [^,)\n]*?(\w+)\s*[,\n)]", self.text.partition("{")[0])
        declared = re.findall(r"\.reg\s+\.[a-z](\d+)\s+(%\w+)<", self.text)
        self.widths = {name: int(width) for width, name in declared}
        threads = [Thread(n) for n in range(count)]
        while any(thread.at < len(self.lines) for thread in threads):
            for first in reversed(range(0, count, 32)):
                self._warp(threads[first : first + 32])
            block = {self._next(thread) for thread in threads}
            if all(name.startswith("bar.sync") for name in block):
                for thread in threads:
                    thread.at += 1
            elif block == {""}:
                return
            elif all(name.startswith("wgmma.mma") for name in block):
                self._warpgroup(threads)

    def _next(self, thread: Thread) -> str:
        return self.lines[thread.at][1] if thread.at < len(self.lines) else ""

    def _warp(self, warp: Sequence[Thread]) -> None:
        while True:
            for thread in warp:
                while thread.at < len(self.lines) and not _COLLECTIVE.match(self._next(thread)):
                    self._one(thread)
            at = {thread.at for thread in warp}
            assert len(at) == 1, "threads of a warp meet in different instructions"
            name = self._next(warp[0])
            if not name or name.startswith(("bar.sync", "wgmma.mma")):
                return
            operands = self.lines[at.pop()][2]
            if name.startswith("mma"):
                self._multiply(name, operands, warp)
            elif name.startswith("ldmatrix"):
                self._matrices(name, operands, warp)
            elif name.startswith("stmatrix"):
                self._store_matrices(operands, warp)
            elif name.startswith("shfl"):
                found = [warp[self._value(t, operands[2]) & 31].registers[operands[1]] for t in warp]
                for thread, word in zip(warp, found, strict=True):
                    thread.registers[operands[0]] = word
            for thread in warp:
                thread.at += 1

    def _value(self, thread: Thread, text: str) -> int:
        """The bits of an operand, as 64-bit two's complement."""
        if text in thread.registers:
            return thread.registers[text]
        special = re.fullmatch(r"%(tid|ctaid|nctaid|ntid)\.([xyz])", text)
        if special:
            axis = "xyz".index(special[2])
            mine = {
                "tid": (thread.number, 0, 0),
                "ctaid": self.block,
                "nctaid": self.grid,
                "ntid": (128, 1, 1),
            }
            return mine[special[1]][axis]
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
            return int(text[2:], 16)
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
            return int(text.rstrip("U"), 0) & _MASK
        if text == "global_smem":
            return 4096
        raise AssertionError(f"thread {thread.number}: {text} has no value")

    def _address(self, thread: Thread, text: str) -> int:
        base, *offsets = re.split(r"\s*\+\s*", text.strip("[] "))
        total = self._value(thread, base.strip()) + sum(int(offset, 0) for offset in offsets)
        return (total + (1 << 63) & _MASK) - (1 << 63)

    def _read(self, address: int, size: int, space: str) -> int:
        if space == "shared":
            return int.from_bytes(self.shared[address : address + size], "little")
        base = max(start for start in self.memory if start <= address)
        data = self.memory[base][address - base : address - base + size]
        assert len(data) == size, "a buffer is left"
        return int.from_bytes(data, "little")

    def _write(self, address: int, size: int, word: int, space: str) -> None:
        data = (word & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if space == "shared":
            self.shared[address : address + size] = data
            return
        base = max(start for start in self.memory if start <= address)
        assert address - base + size <= len(self.memory[base]), "a buffer is left"
        self.memory[base][address - base : address - base + size] = data

    def _one(self, thread: Thread) -> None:
        guard, name, operands = self.lines[thread.at]
        thread.at += 1
        if guard and bool(self._value(thread, guard.strip("@!"))) == guard.startswith("@!"):
            return
        parts = name.split(".")
        match parts[0]:
            case "bra":
                thread.at = self.labels[operands[0]]
            case "ret":
                thread.at = len(self.lines)
            case "ld" if parts[1] == "param":
                place = self.names.index(operands[1].strip("[]"))
                thread.registers[operands[0]] = self.parameters[place]
            case "ld" | "st":
                self._transfer(thread, parts, operands)
            case "atom":
                address = self._address(thread, operands[1])
                before = self._read(address, 4, "global")
                word = floating(name, [before, self._value(thread, operands[2])])
                self._write(address, 4, word, "global")
            case "cp":
                self._copied(thread, name, operands)
            case "mov":
                self._moved(thread, parts, operands)
            case "fence" | "wgmma":
                pass
            case _:
                word = self._computed(name, [self._value(thread, text) for text in operands[1:]], operands)
                if re.match(r"cvt\.s\d+\.[su]\d+$", name):  # a signed result fills a wider register
                    width = self.widths[operands[0].rstrip("0123456789")]
                    word = _signed(word, int(parts[1][1:])) & ((1 << width) - 1)
                thread.registers[operands[0]] = word

    def _transfer(self, thread: Thread, parts: Sequence[str], operands: Sequence[str]) -> None:
        load = parts[0] == "ld"
        size = int(parts[-1][1:]) // 8
        registers, place = (operands[0], operands[1]) if load else (operands[1], operands[0])
        address = self._address(thread, place)
        for register in registers.strip("{} ").split(","):
            if load:
                thread.registers[register.strip()] = self._read(address, size, parts[1])
            else:
                self._write(address, size, self._value(thread, register.strip()), parts[1])
            address += size

    def _copied(self, thread: Thread, name: str, operands: Sequence[str]) -> None:
        if name.endswith("commit_group"):
            thread.groups.append(thread.open)
            thread.open = []
        elif name.endswith("wait_group"):
            keep = int(operands[0])
            while len(thread.groups) > keep:
                for target, source, size, there in thread.groups.pop(0):
                    word = self._read(source, there, "global") if there else 0
                    self._write(target, size, word, "shared")
        else:
            size = int(operands[2], 0)
            there = self._value(thread, operands[3]) if len(operands) > 3 else size
            copy = self._address(thread, operands[0]), self._address(thread, operands[1]), size, there
            thread.open.append(copy)

    def _moved(self, thread: Thread, parts: Sequence[str], operands: Sequence[str]) -> None:
        width = int(parts[-1][1:]) if parts[-1] != "pred" else 1
        if operands[0].startswith("{"):
            names = [name.strip() for name in operands[0].strip("{} ").split(",")]
            word, each = self._value(thread, operands[1]), width // len(names)
            for number, register in enumerate(names):
                thread.registers[register] = word >> (number * each) & ((1 << each) - 1)
        elif operands[1].startswith("{"):
            names = [name.strip() for name in operands[1].strip("{} ").split(",")]
            each = width // len(names)
            words = [self._value(thread, register) & ((1 << each) - 1) for register in names]
            thread.registers[operands[0]] = sum(word << (n * each) for n, word in enumerate(words))
        else:
            thread.registers[operands[0]] = self._value(thread, operands[1]) & ((1 << width) - 1)

    def _computed(self, name: str, x: list[int], operands: Sequence[str]) -> int:
        parts = name.split(".")
        if parts[0] == "selp":
            return x[0] if x[2] else x[1]
        if name.startswith("setp.num"):
            return int(all(w & 0x7FFFFFFF <= 0x7F800000 for w in x))
        if re.search(r"\.(tf32|[bf]*f16x?2?|f32|f32x2|e4m3x2|e5m2x2)(\.|$)", name):
            return floating(name, x)
        return integer(parts, x)

    def _multiply(self, name: str, operands: Sequence[str], warp: Sequence[Thread]) -> None:
        """mma.sync: each operand a list of registers; places of the elements by the ISA's tables."""
        short = re.sub(r"^mma\.sync\.aligned\.(\w+)\.row\.col", r"mma.\1", name)
        model = self.model(f"{self.architecture}/{short}")
        places = fragments.places(self.architecture, short, model)
        lists = {
            key: [register.strip() for register in text.strip("{} ").split(",")]
            for key, text in zip("DABC", operands, strict=True)
        }
        matrices: dict[str, dict[tuple[int, int], int]] = {}
        widths = {
            "A": model.a_format.width,
            "B": model.b_format.width,
            "C": model.c_format.width,
            "D": model.d_format.width,
        }
        for key in "ABC":
            width, found = widths[key], {}
            for (lane, element), (_, row, column) in places[key].items():
                register, place = divmod(element * width, 32)
                word = self._value(warp[lane], lists[key][register])
                found[row, column] = word >> place & ((1 << width) - 1)
            matrices[key] = found
        cells = sorted({(row, column) for _, row, column in places["D"].values()})
        result = _products(
            model,
            [[matrices["A"][row, k] for k in range(model.k)] for row, _ in cells],
            [[matrices["B"][column, k] for k in range(model.k)] for _, column in cells],
            [matrices["C"][cell] for cell in cells],
        )
        words = dict(zip(cells, result, strict=True))
        written: dict[tuple[int, str], int] = {}
        for (lane, element), (_, row, column) in places["D"].items():
            register, place = divmod(element * widths["D"], 32)
            key2 = lane, lists["D"][register]
            written[key2] = written.get(key2, 0) | words[row, column] << place
        for (lane, register_name), word in written.items():
            warp[lane].registers[register_name] = word

    def _matrices(self, name: str, operands: Sequence[str], warp: Sequence[Thread]) -> None:
        """ldmatrix: row i of matrix m begins at the address of lane 8 m + i."""
        registers = [register.strip() for register in operands[0].strip("{} ").split(",")]
        addresses = [self._address(thread, operands[1]) for thread in warp]
        for number, register in enumerate(registers):
            matrix = [
                [self._read(addresses[8 * number + row] + 2 * column, 2, "shared") for column in range(8)]
                for row in range(8)
            ]
            for lane, thread in enumerate(warp):
                pair = [
                    matrix[2 * (lane % 4) + n][lane // 4]
                    if ".trans" in name
                    else matrix[lane // 4][2 * (lane % 4) + n]
                    for n in range(2)
                ]
                thread.registers[register] = pair[0] | pair[1] << 16

    def _store_matrices(self, operands: Sequence[str], warp: Sequence[Thread]) -> None:
        """stmatrix: the other way round."""
        registers = [register.strip() for register in operands[1].strip("{} ").split(",")]
        addresses = [self._address(thread, operands[0]) for thread in warp]
        for number, register in enumerate(registers):
            for lane, thread in enumerate(warp):
                word = self._value(thread, register)
                for n in range(2):
                    address = addresses[8 * number + lane // 4] + 2 * (2 * (lane % 4) + n)
                    self._write(address, 2, word >> (16 * n), "shared")

    def _warpgroup(self, threads: Sequence[Thread]) -> None:
        """wgmma.mma_async: each warpgroup multiplies the matrices of its descriptors, at once."""
        for first in range(0, len(threads), 128):
            group = threads[first : first + 128]
            (at,) = {thread.at for thread in group}
            _, name, operands = self.lines[at]
            self._warpgroup_product(name, operands, group)
            for thread in group:
                thread.at += 1

    def _warpgroup_product(self, name: str, operands: Sequence[str], group: Sequence[Thread]) -> None:
        found = re.fullmatch(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)(k\d+)\.(.+)", name)
        assert found is not None
        n = int(found[1])
        model = self.model(f"{self.architecture}/wgmma.m64nN{found[2]}.{found[3]}")
        registers = [register.strip() for register in operands[0].strip("{} ").split(",")]
        keeps = self._value(group[0], operands[3]) & 1
        majors = [text == "1" for text in operands[6:8]] or [False, False]
        matrices = []
        for text, rows, width, other in zip(
            operands[1:3], (64, n), (model.a_format.width, model.b_format.width), majors, strict=True
        ):
            descriptor = self._value(group[0], text)
            size = width // 8
            matrices.append([
                [
                    self._read(matrix_place(descriptor, row, k, size, rows_inside=other), size, "shared")
                    for k in range(model.k)
                ]
                for row in range(rows)
            ])  # fmt: skip
        assert model.d_format.width == 32
        # PTX ISA, "D fragment layout": 16 rows a warp, two neighbours in a row, then the row below by 8
        cells = [
            (16 * (t // 32) + t % 32 // 4 + 8 * (r // 2 % 2), 8 * (r // 4) + 2 * (t % 4) + r % 2)
            for t in range(128)
            for r in range(len(registers))
        ]
        before = [self._value(t, r) if keeps else 0 for t in group for r in registers]
        words = _products(
            model,
            [matrices[0][row] for row, _ in cells],
            [matrices[1][column] for _, column in cells],
            before,
        )
        for place, (thread, register) in enumerate((t, r) for t in group for r in registers):
            thread.registers[register] = words[place]


def matrix_place(descriptor: int, row: int, k: int, size: int, *, rows_inside: bool) -> int:
    """The address of an element of a matrix that a wgmma descriptor describes."""

    def field(first: int, last: int) -> int:
        return descriptor >> first & ((1 << (last - first + 1)) - 1)

    start, leading, stride = 16 * field(0, 13), 16 * field(16, 29), 16 * field(32, 45)
    pattern = [None, 128, 64, 32][field(62, 63)]
    if pattern is None:
        line, byte = (k % 8, row % 8 * size) if rows_inside else (row % 8, k * size % 16)
        groups = (row // 8, k // 8) if rows_inside else (row // 8, k * size // 16)
        return start + groups[0] * stride + groups[1] * leading + line * 16 + byte
    if rows_inside:
        in_line = pattern // size
        block, byte = divmod(row, in_line)
        address = start + block * leading + k // 8 * stride + k % 8 * pattern + byte * size
    else:
        address = start + row // 8 * stride + row % 8 * pattern + k * size
    chunk, line = address >> 4 & 7, address >> 7 & 7
    mixed = chunk ^ {128: line, 64: line & 3, 32: line & 1}[pattern]
    return address & ~0x70 | mixed << 4


_COLLECTIVE = re.compile(r"bar\.|mma\.|ldmatrix|stmatrix|shfl|wgmma\.mma")


def _instructions(text: str) -> tuple[list[tuple[str, str, list[str]]], dict[str, int]]:
    """The instructions, each with its guard, name and operands; labels by what follows them."""
    body = text.partition("\n{")[2]
    body = re.sub(r"//[^\n]*", "", body)
    body = re.sub(r"\.(loc|file|reg|pragma|section)\b[^\n]*", "", body)
    body = body.partition("$L__func_end")[0]
    lines: list[tuple[str, str, list[str]]] = []
    labels: dict[str, int] = {}
    for piece in re.split(
        r"[;\n]",
        re.sub(
            r"\{([^{}]*)\}", lambda m: "{" + m[1].replace("\n", " ") + "}" if ";" not in m[1] else m[1], body
        ),
    ):
        piece = piece.strip().strip("{}").strip() if not re.search(r"\{.*\}", piece) else piece.strip()
        if not piece:
            continue
        if piece.endswith(":"):
            labels[piece[:-1]] = len(lines)
            continue
        found = re.match(r"(@!?%\w+)?\s*([a-z][\w.:]*)\s*(.*)", piece, re.DOTALL)
        assert found is not None, piece
        operands = [part.strip() for part in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", found[3])]
        lines.append((found[1] or "", found[2], operands))
    return lines, labels


def _signed(word: int, width: int) -> int:
    word &= (1 << width) - 1
    return word - (1 << width) if word >> (width - 1) else word


def integer(parts: Sequence[str], x: list[int]) -> int:
    """An integer instruction in Python's integers, which have no width; the result is cut."""
    op, kind = parts[0], parts[-1]
    width = int(re.sub(r"\D", "", kind) or 1)
    if kind == "pred":
        width = 1
    signed = kind[0] == "s"
    words = [_signed(w, width) if signed else w & ((1 << width) - 1) for w in x]
    mask = (1 << width) - 1
    match op:
        case "add" | "sub" | "and" | "or" | "xor":
            a, b = words
            return {"add": a + b, "sub": a - b, "and": a & b, "or": a | b, "xor": a ^ b}[op] & mask
        case "neg" | "not" | "abs":
            return {"neg": -words[0], "not": ~words[0], "abs": abs(words[0])}[op] & mask
        case "bfi":
            first, count = x[2] & 255, x[3] & 255
            for place in range(first, min(first + count, 32)):
                bit = words[0] >> (place - first) & 1
                words[1] = words[1] & ~(1 << place) | bit << place
            return words[1]
        case "lop3":
            places = [(x[0] >> n & 1) << 2 | (x[1] >> n & 1) << 1 | x[2] >> n & 1 for n in range(32)]
            return sum((x[3] >> place & 1) << n for n, place in enumerate(places))
        case "mul" | "mad":
            product = words[0] * words[1]
            wide = 2 * width if "wide" in parts else width
            if "hi" in parts:
                product >>= width
            if op == "mad":
                product += x[2]
            return product & ((1 << wide) - 1)
        case "shl":
            return words[0] << x[1] & mask if x[1] < width else 0
        case "shr":
            return words[0] >> min(x[1], width) & mask
        case "div" | "rem":
            quotient = abs(words[0]) // abs(words[1]) * (1 if (words[0] < 0) == (words[1] < 0) else -1)
            return (quotient if op == "div" else words[0] - quotient * words[1]) & mask
        case "min" | "max":
            return (min if op == "min" else max)(words) & mask
        case "setp":
            a, b = words
            compared = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
            unsigned = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
            return int(compared[unsigned.get(parts[1], parts[1])])
        case "bfe":
            word, first, count = words[0] & mask, x[1] & 255, x[2] & 255
            if count == 0:
                return 0
            bits = [
                word >> min(first + n, width - 1) & 1
                if signed
                else (word >> (first + n) & 1 if first + n < width else 0)
                for n in range(min(count, width))
            ]
            found = sum(bit << n for n, bit in enumerate(bits))
            return (found | (-1 << len(bits)) if signed and bits[-1] else found) & mask
        case "prmt":
            data = (x[0] & 0xFFFFFFFF | (x[1] & 0xFFFFFFFF) << 32).to_bytes(8, "little")
            chosen = [x[2] >> (4 * n) & 15 for n in range(4)]
            picked = [(255 if data[c & 7] > 127 else 0) if c > 7 else data[c] for c in chosen]
            return int.from_bytes(bytes(picked), "little")
        case "cvt":
            source = int(re.sub(r"\D", "", parts[-1]))
            target = int(re.sub(r"\D", "", parts[-2]))
            word = _signed(x[0], source) if parts[-1][0] == "s" else x[0] & ((1 << source) - 1)
            return word & ((1 << target) - 1)
    raise AssertionError(".".join(parts))


def _f32(word: int) -> Any:
    return np.array([word & 0xFFFFFFFF], np.uint32).view(np.float32)[0]


def _word32(x: Any) -> int:
    return 0x7FFFFFFF if np.isnan(x) else int(np.array([x], np.float32).view(np.uint32)[0])


def _narrowed(word: int, kind: str) -> int:
    """binary32 to half or bfloat16, to nearest even."""
    x = _f32(word)
    if np.isnan(x):
        return 0x7FFF
    if kind == "f16":
        with np.errstate(over="ignore"):
            return int(np.array([x], np.float32).astype(np.float16).view(np.uint16)[0])
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16 & 0xFFFF


def _fp8_as_half(byte: int, kind: str) -> int:
    exponent, fraction = (4, 3) if kind == "e4m3" else (5, 2)
    bias = (1 << (exponent - 1)) - 1
    sign, field, low = byte >> 7, byte >> fraction & ((1 << exponent) - 1), byte & ((1 << fraction) - 1)
    if kind == "e4m3" and byte & 127 == 127:
        return 0x7FFF
    if kind == "e5m2" and field == 31:
        return 0x7FFF if low else sign << 15 | 0x7C00
    number = (low + ((1 << fraction) if field else 0)) * 2.0 ** (max(field, 1) - bias - fraction)
    return int(np.float16(-number if sign else number).view(np.uint16)) | sign << 15


def floating(name: str, x: list[int]) -> int:
    parts = name.split(".")
    if parts[-1] == "f32x2":
        halves = [floating(name[:-2], [word >> place & 0xFFFFFFFF for word in x]) for place in (0, 32)]
        return halves[0] | halves[1] << 32
    with np.errstate(all="ignore"):
        match parts[0]:
            case "add" | "atom":
                return _word32(_f32(x[0]) + _f32(x[1]))
            case "sub":
                return _word32(_f32(x[0]) - _f32(x[1]))
            case "mul":
                return _word32(_f32(x[0]) * _f32(x[1]))
            case "fma":
                return _fused(*(_f32(word) for word in x))
            case "max":
                a, b = _f32(x[0]), _f32(x[1])
                if np.isnan(a) or np.isnan(b):
                    return _word32(b if np.isnan(a) else a)
                if a == b == 0:
                    return x[0] & x[1] & 0x80000000
                return _word32(max(a, b))
            case "cvt":
                return _converted(parts, x)
    raise AssertionError(name)


def _fused(x: Any, y: Any, z: Any) -> int:
    """x·y + z, rounded once: the nearest of three neighbours, the even one of two."""
    near = np.float32(np.float64(x) * np.float64(y) + np.float64(z))
    if not np.isfinite(near) or not near:
        return _word32(near)
    exact_sum = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    down, up = (np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf))
    candidates = [n for n in (near, down, up) if np.isfinite(n)]
    return min((abs(Fraction(float(n)) - exact_sum), _word32(n) & 1, _word32(n)) for n in candidates)[2]


def _converted(parts: Sequence[str], x: list[int]) -> int:
    target, source = parts[-2:]
    if target in ("f16x2", "bf16x2") and source == "f32":
        low, high = (_narrowed(word, target[:-2]) for word in (x[1], x[0]))
        return low | high << 16
    if source == "f32" and target in ("f16", "bf16"):
        return _narrowed(x[0], target)
    if target == "f16x2":
        kind = source[:4]
        return _fp8_as_half(x[0] & 255, kind) | _fp8_as_half(x[0] >> 8 & 255, kind) << 16
    if target == "tf32":
        word = x[0] & 0xFFFFFFFF
        if word & 0x7FFFFFFF > 0x7F800000:
            return 0x7FFFFFFF
        return word + 0x1000 & 0xFFFFE000 if word & 0x7F800000 != 0x7F800000 else word
    if source == "f16":
        return _word32(np.float32(np.array([x[0] & 0xFFFF], np.uint16).view(np.float16)[0]))
    if source == "bf16":
        return _word32(_f32((x[0] & 0xFFFF) << 16))
    raise AssertionError(".".join(parts))


def _products(model: Any, a: list[list[int]], b: list[list[int]], c: list[int]) -> list[int]:
    """The words of dot products by a unit, by :mod:`.exact`."""
    kinds = [np.uint64] * 3
    columns = {f"a{k}": np.array([row[k] for row in a], kinds[0]) for k in range(len(a[0]))}
    columns |= {f"b{k}": np.array([row[k] for row in b], kinds[1]) for k in range(len(b[0]))}
    columns["c"] = np.array(c, kinds[2])
    return [int(word) for word in exact.results(model, columns)]
