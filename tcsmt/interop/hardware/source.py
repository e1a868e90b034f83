"""A program in CUDA C++, HIP or C that gives vectors to a matrix unit and prints what it answers."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tcsmt.interop.hardware.cpu import cpu_instruction
from tcsmt.interop.hardware.instructions import (
    TARGETS,
    HardwareInstruction,
    RegisterOperand,
    instruction_of,
    language_of,
    template,
)
from tcsmt.interop.hardware.vectors import Vector, members
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.word_files import word_bytes
from tcsmt.support.errors import InternalError, TcsmtError
from tcsmt.support.escaping import c_string, comment
from tcsmt.support.text import counted, one_line
from tcsmt.support.version import __version__

_COMPILERS = {
    # not -arch=sm_90a, for which nvcc 13.0 also compiles for plain sm_90, without wgmma
    "cuda": ("nvcc", "-std=c++17 -gencode arch=compute_{number},code=sm_{number}", "probe.cu"),
    "hip": ("hipcc", "-std=c++17 --offload-arch={target}", "probe.hip"),
    # no options for the instruction: nothing else in the program may need what the CPU lacks
    "c": ("cc", "-std=c11 -O1", "probe.c"),
}
_DIFFERENCES = {
    "cuda": {
        "api": "cuda",
        "include": "",
        "host_include": "#include <cuda_runtime.h>",
        "prop_suffix": "",
        "release_file": "/proc/driver/nvidia/version",
        "layout_source": "PTX ISA, matrix fragments",
    },
    "hip": {
        "api": "hip",
        "include": "#include <hip/hip_runtime.h>\n",
        "host_include": "",
        "prop_suffix": "_t",
        "release_file": "/sys/module/amdgpu/version",
        "layout_source": "CDNA3 ISA, 7.1.4",
    },
}
#: Toolkits that know a target or an instruction, where not all do.
_TOOLKITS = {
    "sm_70": "   (CUDA 12.9 or older: newer ones have dropped Volta)",
    "mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue8m0": "   (nvcc 13.5 takes this instruction, 13.0 does not)",
}


def build_command(row: Row, source: str = "", output: str = "probe", compiler: str = "") -> list[str]:
    """Return the command that compiles a row's program."""
    name, options, file = _COMPILERS[language_of(row)]
    target = TARGETS[row.architecture]
    chosen = options.format(target=target, number=target.removeprefix("sm_")).split()
    if target == "aarch64":  # an emulator needs no libraries of another machine then
        chosen.append("-static")
    return [compiler or name, *chosen, "-o", output, source or file]


def program(row: Row, vectors: Sequence[Vector], language: str, made_by: str = "") -> str:
    """Return the source. Raises :class:`.TcsmtError` for the wrong language or no instruction."""
    own_language = language_of(row)
    if language != own_language:
        raise TcsmtError(
            f"{row.name} needs a program in {own_language}: use --emit {own_language}, not {language}"
        )
    made_by = made_by or f"tcsmt probe {row.name} --emit {language}"
    values = _values(row, vectors, made_by) | (
        _cpu_values(row) if language == "c" else _gpu_values(row, language)
    )
    values["rows"] = template("rows").substitute(values)
    return template("cpu" if language == "c" else "program").substitute(values)


def _values(row: Row, vectors: Sequence[Vector], made_by: str) -> dict[str, object]:
    """Return what every program says."""
    model, name = row.model, row.name.partition("@")[0]
    return {
        "title": comment(f"Probe of {name}: {counted(len(vectors), 'vector')}"),
        "made_by": f"tcsmt {__version__}: {comment(made_by)}",
        "build": " ".join(build_command(row)) + _toolkits(row),
        "k": model.k,
        "vectors": len(vectors),
        "a_width": model.a_format.width,
        "b_width": model.b_format.width,
        "c_width": model.c_format.width,
        "d_width": model.d_format.width,
        **{f"{side}_bytes": size for side, size in word_bytes(model).items()},
        "table": "".join(_table_line(number, row, vector) for number, vector in enumerate(vectors)),
        "about": "".join(f"{_about(row, vector)},\n" for vector in vectors),
        **_predictions(vectors),
        "model_text": c_string(json.dumps(name)),
        "program_text": c_string(json.dumps(f"tcsmt {__version__}: {made_by}")),
    }


def _predictions(vectors: Sequence[Vector]) -> dict[str, str]:
    """Return the hypotheses, and each prediction: of which vector, by which hypothesis, and the word."""
    names = list(dict.fromkeys(name for vector in vectors for name in vector.predictions))
    lines = [
        f"{{{number}, {names.index(name)}, {word:#x}}},\n"
        for number, vector in enumerate(vectors)
        for name, word in vector.predictions.items()
    ]
    return {
        "hypotheses": "".join(f"{c_string(one_line(name))},\n" for name in names),
        "hypothesis_count": str(len(names)),
        "predictions": "".join(lines),
    }


def _cpu_values(row: Row) -> dict[str, object]:
    instruction = cpu_instruction(row)
    return {
        "instruction": instruction.mnemonic,
        "feature": instruction.feature,
        "elements": instruction.elements,
        "describing": instruction.describing,
        "multiply": instruction.source,
    }


def _gpu_values(row: Row, language: str) -> dict[str, object]:
    instruction = instruction_of(row)
    tile, scales = instruction.tile, row.model.scales
    target = TARGETS[row.architecture]
    return {
        **_DIFFERENCES[language],
        "instruction": instruction.mnemonic,
        "target": target,
        "register": "unsigned long long" if tile.register == 64 else "unsigned",
        "m": tile.m,
        "n": tile.n,
        "matrices": tile.matrices,
        "threads": tile.threads,
        "scales": scales,
        "scales_comment": f"; scale_a, scale_b: {scales}" if scales else "",
        "fragments": "\n".join(
            f"__constant__ Fragment {side} = {operand.text};" for side, operand in tile.operands.items()
        ),
        **{f"{side.lower()}_registers": tile.registers(o) for side, o in tile.operands.items()},
        "multiply": _MULTIPLY[instruction.kind](instruction, scales),
    }


def _toolkits(row: Row) -> str:
    of = (TARGETS[row.architecture], row.instruction)
    return "".join(text for part, text in _TOOLKITS.items() if any(name.endswith(part) for name in of))


def _about(row: Row, vector: Vector) -> str:
    return c_string(json.dumps(members(row.model, vector))[1:-1])


def _table_line(number: int, row: Row, vector: Vector) -> str:
    names = members(row.model, vector)
    words = ", ".join(f"{word:#x}" for word in vector.words)
    predictions = (f"//      {word}  {comment(name)}\n" for name, word in names["predictions"].items())
    return f"// {number}: {comment(vector.asks)}\n{''.join(predictions)}{{{words}}},\n"


# The statement that runs the instruction

_MULTIPLY_HEAD = (
    "__device__ void multiply(reg *d, const reg *a, const reg *b, const reg *c, unsigned sa, unsigned sb) {\n"
)


def _braces(first: int, count: int) -> str:
    return "{" + ", ".join(f"%{i}" for i in range(first, first + count)) + "}"


def _mma(instruction: HardwareInstruction, scales: int) -> str:
    """Write ``mma`` by the PTX ISA; block scales' selectors are zero: all threads give the same."""
    tile = instruction.tile
    counts = {side.lower(): tile.registers(operand) for side, operand in tile.operands.items()}
    kind = "l" if tile.register == 64 else "r"
    first, groups = 0, []
    for side in "dabc":
        groups.append(_braces(first, counts[side]))
        first += counts[side]
    inputs = [f'"{kind}"({side}[{i}])' for side in "abc" for i in range(counts[side])]
    if scales:
        groups += [f"{{%{first}}}, {{0, 0}}", f"{{%{first + 1}}}, {{0, 0}}"]
        inputs += ['"r"(sa)', '"r"(sb)']
    outputs = ", ".join(f'"={kind}"(d[{i}])' for i in range(counts["d"]))
    return (
        f"{_MULTIPLY_HEAD}"
        f'  asm volatile("{instruction.mnemonic} "\n'
        f'               "{", ".join(groups)};"\n'
        f"               : {outputs}\n"
        f"               : {', '.join(inputs)});\n"
        "}\n"
    )


def _without_scales(instruction: HardwareInstruction, scales: int) -> None:
    if scales:
        raise InternalError(f"no program for {instruction.mnemonic} with block scales")


def _wgmma(instruction: HardwareInstruction, scales: int) -> str:
    """Write ``wgmma.mma_async`` by the PTX ISA: A's and B's descriptors in shared memory, C in D's registers.

    A descriptor holds, in units of 16 bytes: the address, and from bits 16 and 32 on how far core
    matrices lie apart in k (128 bytes) and in rows (256 bytes).
    """
    _without_scales(instruction, scales)
    tile, options = instruction.tile, instruction.options
    count = tile.registers(tile.d)
    # scale-d is a predicate
    registers = ", ".join(f'"+r"(d[{i}])' for i in range(count))
    return f"""__device__ word descriptor(const void *shared) {{
  return (__cvta_generic_to_shared(shared) & 0x3ffff) >> 4 | (word)(128 >> 4) << 16 | (word)(256 >> 4) << 32;
}}

{_MULTIPLY_HEAD}  __shared__ __align__(128) uint4 shared_a[128], shared_b[16];
  shared_a[threadIdx.x] = make_uint4(a[0], a[1], a[2], a[3]);
  if (threadIdx.x < 16) shared_b[threadIdx.x] = make_uint4(b[0], b[1], b[2], b[3]);
  for (int i = 0; i < {count}; ++i) d[i] = c[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{{ .reg .pred p; setp.ne.b32 p, 1, 0;"
               " {instruction.mnemonic} {_braces(0, count)}, %{count}, %{count + 1}, p{options}; }}"
               : {registers}
               : "l"(descriptor(shared_a)), "l"(descriptor(shared_b)) : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : {registers} :: "memory");
}}
"""


def _mfma(instruction: HardwareInstruction, scales: int) -> str:
    """Call AMD's builtin, which takes vectors of a lane's elements; no broadcasts, no permuted lanes."""
    _without_scales(instruction, scales)
    tile = instruction.tile
    element = instruction.element

    def vector(name: str, of: str, operand: RegisterOperand) -> str:
        count = 1 << len(operand.fragment.elements)
        if of == "long" or count == 1:  # eight FP8 words are one 64-bit number
            return f"typedef {of} {name};\n"
        return f"typedef {of} {name} __attribute__((ext_vector_type({count})));\n"

    result = "double" if tile.register == 64 else "float"
    types = vector("factors", element, tile.a) + vector("sums", result, tile.d)
    return f"""{types}
{_MULTIPLY_HEAD}  factors va, vb;
  sums vc;
  __builtin_memcpy(&va, a, sizeof va);
  __builtin_memcpy(&vb, b, sizeof vb);
  __builtin_memcpy(&vc, c, sizeof vc);
  vc = {instruction.mnemonic}(va, vb, vc, 0, 0, 0);
  __builtin_memcpy(d, &vc, sizeof vc);
}}
"""


#: By how many scales a row has: what repeats them in all bytes of a word.
_SPREAD = {1: "0x01010101", 2: "0x00010001", 4: "1"}


def _tcgen05(instruction: HardwareInstruction, scales: int) -> str:
    """Write ``tcgen05.mma`` by the PTX ISA: A and B in shared memory; C, D and block scales in tensor memory.

    A descriptor of shared memory is that of ``wgmma``, with a version in bit 46. Block scales are four
    columns of words, each with a row's scales. All rows have the same ones, so that it does not matter which
    lane and column is whose.
    """
    parts = {
        "head": _MULTIPLY_HEAD,
        "c_registers": _braces(1, 8),
        "c": ", ".join(f'"r"(c[{i}])' for i in range(8)),
        "scales": template("tcgen05_scales").substitute(spread=_SPREAD[scales]) if scales else "",
        "mnemonic": instruction.mnemonic,
        "scale_operands": ", [%4], [%5]" if scales else "",
        "descriptor": instruction.options,
        "scale_inputs": ', "r"(base + 32), "r"(base + 48) ' if scales else "",
        "d_registers": _braces(0, 8),
        "d": ", ".join(f'"=r"(d[{i}])' for i in range(8)),
    }
    return template("tcgen05").substitute(parts)


_MULTIPLY = {"mma": _mma, "wgmma": _wgmma, "tcgen05": _tcgen05, "mfma": _mfma}
