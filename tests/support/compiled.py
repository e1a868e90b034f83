"""Compiled kernels: their texts, random data, and what a thread-by-thread oracle makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.interop.compiled.reading import ElementRead, KernelRun, run_kernel
from tcsmt.interop.triton.execution import BlockNumbers
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import float_format, format_named
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices
from tcsmt.programs.steps.program import read
from tcsmt.programs.written.grammar import program_of
from tests.oracles.ptx import Block

TEXTS = Path(__file__).parents[1] / "data" / "ptx"
_ARCHITECTURES = {"sm_80": "ampere", "sm_90a": "hopper"}
_TYPES = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "e5m2": np.uint8, "e4m3": np.uint8}

#: A kernel of one warp, around the lines that a test is about; p: the buffers of A and D.
_FRAME = """.version 8.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry small(.param .u64 small_param_0, .param .u64 small_param_1, .param .u32 small_param_2)
.reqntid {threads}
{{
.reg .pred %p<9>;
.reg .b16 %rs<9>;
.reg .b32 %r<30>;
.reg .b64 %rd<9>;
ld.param.b64 %rd1, [small_param_0];
ld.param.b64 %rd2, [small_param_1];
ld.param.b32 %r1, [small_param_2];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
shl.b32 %r3, %r2, 2;
mov.b32 %r4, smem;
add.s32 %r5, %r4, %r3;
{lines}
ret;
}}
"""


def small_kernel(lines: str, threads: int = 32) -> str:
    """Return a kernel of a few lines: %rd4 and %rd5 are the thread's places in A and D, %r5 in shared memory,
    %r1 the third argument, %r2 the thread.
    """
    return _FRAME.format(lines=lines, threads=threads)


def run_small(lines: str, argument: int = 7, threads: int = 32) -> KernelRun:
    """Run such a kernel."""
    return run_kernel(small_kernel(lines, threads), ["A", "D", str(argument)])


def random_words(fmt: str, count: int, rng: np.random.Generator, *, any_word: bool) -> np.ndarray[Any, Any]:
    """Return words of a format, near 1; any_word: one in forty is any word at all."""
    kind = _TYPES[fmt]
    number = format_named(fmt)
    exponents = float_format(number).bias + rng.integers(-3, 4, count)
    bits = float_format(number).fraction_bits
    words = (
        exponents << bits | rng.integers(0, 1 << bits, count) | rng.integers(0, 2, count) << number.width - 1
    )
    if any_word:
        some = rng.integers(0, count, count // 40)
        words[some] = rng.integers(0, 1 << number.width, len(some))
    return words.astype(kind)


def words_of(
    found: ElementRead, buffers: Mapping[str, np.ndarray[Any, Any]], choices: Mapping[str, str | int]
) -> int:
    """Return the word of an element, by the array reading of its program."""
    text = found.text
    formats = {name: format_named(fmt) for name, fmt in text.formats.items() if name != "d"}
    formats |= {name: format_named(fmt) for name, (fmt, _) in text.inputs.items()}
    k = text.along["A"].count
    chosen = {name: choices.get(name, choice) for name, choice in text.choices.items()}
    program = program_of(
        "\n".join(text.lines), k, formats, lambda name: resolve(text.units[name]).row.model, chosen
    )
    given = {"c": np.zeros((1, 1), np.uint32)}
    for name, one in text.along.items():
        places = (one.first + one.stride * np.arange(k)) // buffers[name].itemsize
        given[name] = buffers[name][places].reshape((1, k) if name == "A" else (k, 1))
    for name, (_, at) in text.inputs.items():
        given[name] = buffers[name][at // buffers[name].itemsize].reshape(1, 1)
    rules = ArrayRules((1, 1), of_matrices, NanWords.named("ones:f16:bf16:f32"))
    return int(np.ravel(read(program, rules, given))[0])


def differences(
    name: str, arguments: Sequence[str], formats: Mapping[str, tuple[str, int]], elements: Sequence[int],
    *, size: int, seed: int = 0, any_word: bool = False, choices: Mapping[str, str | int] | None = None,
    block: tuple[int, int, int] = (0, 0, 0),
) -> list[str]:  # fmt: skip
    """Return the elements whose programs and the oracle disagree, each as a text. size: of an element."""
    text = (TEXTS / f"{name}.ptx").read_text()
    rng = np.random.default_rng(seed)
    buffers = {key: random_words(fmt, count, rng, any_word=any_word) for key, (fmt, count) in formats.items()}
    head = text[text.index(".entry") :].partition("{")[0]
    memory: dict[int, bytearray] = {}
    parameters = []
    result = 0
    for number in range(head.count(".param")):
        argument = arguments[number] if number < len(arguments) else "unused"
        if argument.lstrip("-").isdecimal():
            parameters.append(int(argument))
            continue
        address = (number + 1) << 32
        parameters.append(address)
        data = buffers.get(argument)
        memory[address] = bytearray(1 << 15) if data is None else bytearray(data.tobytes())
        result = address if argument == "D" else result
    found = re.search(r"\.target (\w+)", text)
    assert found is not None
    oracle = Block(
        text, parameters, lambda unit: resolve(unit).row.model, _ARCHITECTURES[found[1]], memory,
        block=block, grid=tuple(n + 1 for n in block),  # type: ignore[arg-type]
    )  # fmt: skip
    oracle.run()
    run = run_kernel(text, arguments, block=block)
    wrong = []
    for element in elements:
        word = words_of(run.read(element), buffers, choices or {})
        expected = int.from_bytes(memory[result][element * size : (element + 1) * size], "little")
        if word != expected:
            wrong.append(f"{name}, element {element}: {word:#x}, and not {expected:#x}")
    if not choices and not run.read(elements[0]).text.freedoms:  # the block's numbers, by the other way
        held = {n: buffers[key].view(np.uint8) for n, key in run.names.items() if key in buffers}
        ((offsets, values),) = BlockNumbers(run, held).stored().values()
        differ = np.flatnonzero(values != np.frombuffer(memory[result], np.uint8)[offsets])
        wrong += [f"{name}: {len(differ)} of the {len(offsets)} bytes of the block"] * bool(len(differ))
    return wrong
