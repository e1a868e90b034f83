"""Commands about the catalogue of quantisers: quantise compare, quantise identify."""

from __future__ import annotations

from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.parameters import ARRAY
from tcsmt.interface.cli.printing import answer


@declared(
    "quantise_compare.compare_quantisers", left="LEFT", right="RIGHT", numbers="FORMAT",
    options="solver timeout steps memory confirm",
)  # fmt: skip
def compare(call: DeclaredCall, as_json: bool) -> None:
    """Are the quantisers LEFT and RIGHT the same function? A proof, or a shortest block on which they differ.

    LEFT and RIGHT are LIBRARY/NAME, or LIBRARY/NAME:FORMAT; `tcsmt describe quantisers` lists them. Small
    integers are tried first, then numbers next to the ends of significands, then solvers are asked.

    Exit code: 0 equal, 1 different, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt quantise compare torchao/to_mx.floor te/mxfp8
      tcsmt quantise compare te/mxfp8 cublas/block_scales.ue8m0 --finite
    """
    answer(call(), as_json=as_json)


@declared(
    "quantise_identify.identify_quantiser", x=("--x", ARRAY), codes=("--codes", ARRAY),
    scales=("--scales", ARRAY), format="FORMAT", side="", factor="NUMBER",
)  # fmt: skip
def identify(call: DeclaredCall, as_json: bool) -> None:
    """Which quantisers of the catalogue give these elements and scales, bit for bit?

    Files are .npy, or a tensor .safetensors:NAME or .pt:NAME. The shape of the scales says the blocks.

    Exit code: 0 found, 1 none gives them, 2 usage error.

    \b
    Examples:
      tcsmt quantise identify --x A.npy --codes qA.npy --scales sA.npy
      tcsmt quantise identify --x A.npy --codes qA.npy --scales sA.npy --format e2m1 --nearest --json
    """
    answer(call(), as_json=as_json)
