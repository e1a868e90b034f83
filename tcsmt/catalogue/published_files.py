"""How the units were called whose answers are text files in north-numerical-computing/MATLAB-tensor-core."""

from __future__ import annotations

__all__ = ["CALLED", "CALLED_WITHOUT_C", "FORMAT_NAMES"]

#: How the instruction was called, by input format.
CALLED = {
    "f16": "wmma m16n16k16",
    "bf16": "wmma m16n16k16",
    "tf32": "wmma m16n16k8",
    "e4m3": "mma.sync m16n8k32",
    "e5m2": "mma.sync m16n8k32",
}
#: The same by GPU, input and output format, where the answers were made without the c file.
CALLED_WITHOUT_C = {
    (gpu, fmt, "f32"): "wgmma m64nNk32" for gpu in ("h100", "h200") for fmt in ("e4m3", "e5m2")
}
#: Format names in the files' names that are no aliases of ours.
FORMAT_NAMES = {"tensorfloat32": "tf32", "fp8-e4m3": "e4m3", "fp8-e5m2": "e5m2"}
