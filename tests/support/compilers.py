"""Compilers for emitted programs: nvcc (PATH or TCSMT_NVCC), NVRTC, hipcc (PATH or TCSMT_HIPCC)."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest


@cache
def nvcc_targets() -> tuple[str, frozenset[str]]:
    """nvcc's path and the architectures that it compiles for; an empty path where there is none."""
    path = shutil.which(os.environ.get("TCSMT_NVCC", "nvcc")) or ""
    if not path:
        return "", frozenset()
    listed = subprocess.run([path, "--list-gpu-arch"], capture_output=True, text=True, check=False).stdout
    return path, frozenset(line.replace("compute", "sm") for line in listed.split())


@cache
def nvrtc() -> ctypes.CDLL | None:
    """The runtime compiler: TCSMT_NVRTC, the wheel nvidia-cuda-nvrtc-cu12, or the system's."""
    wheels = [
        found for path in sys.path for found in Path(path).glob("nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*")
    ]
    for name in (os.environ.get("TCSMT_NVRTC"), *map(str, wheels), ctypes.util.find_library("nvrtc")):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    return None


def compile_cuda(source: str, target: str, folder: Path) -> None:
    """Compile for a target, the host's part too where nvcc does it; skip where no compiler knows it."""
    path, known = nvcc_targets()
    if target.rstrip("a") in known:
        file = folder / "probe.cu"
        file.write_text(source)
        number = target.removeprefix("sm_")
        options = ["-std=c++17", "-gencode", f"arch=compute_{number},code={target}"]
        ended = subprocess.run(
            [path, *options, "-o", str(folder / "probe"), str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        _judge(ended.returncode, ended.stderr)
        return
    library = nvrtc()
    if library is None:
        pytest.skip(
            f"no CUDA compiler for {target}: {path or 'nvcc is not installed'}, and no NVRTC (TCSMT_NVRTC)"
        )
    _nvrtc(library, source, target)


def _judge(failed: int, text: str) -> None:
    """Newer PTX than the compiler's is no error of ours: 13.0 refuses four ue8m0 scales, 13.5 takes them."""
    if failed and "Failed to preprocess host compiler properties" in text:
        pytest.skip("nvcc finds no host compiler: g++ is not installed")
    if failed and "Illegal modifier '.scale_vec::4X' for instruction 'mma' with type '.ue8m0'" in text:
        pytest.skip("this compiler does not know four ue8m0 scales (CUDA 13.0 does not, 13.5 does)")
    assert not failed, text


def _nvrtc(library: ctypes.CDLL, source: str, target: str) -> None:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"probe.cu", 0, None, None)
    options = (ctypes.c_char_p * 2)(f"-arch={target}".encode(), b"-std=c++17")
    failed = library.nvrtcCompileProgram(program, 2, options)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    text = log.value.decode()
    if "invalid value for --gpu-architecture" in text:
        pytest.skip(f"this NVRTC does not know {target}")
    _judge(failed, text)
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    assert size.value, "no machine code"


def compile_hip(source: str, target: str, folder: Path) -> None:
    """Compile for a target; skip where there is no hipcc."""
    path = shutil.which(os.environ.get("TCSMT_HIPCC", "hipcc"))
    if path is None:
        pytest.skip("hipcc is not installed, and TCSMT_HIPCC names none")
    file = folder / "probe.hip"
    file.write_text(source)
    ended = subprocess.run(
        [path, "-std=c++17", f"--offload-arch={target}", "-o", str(folder / "probe"), str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
