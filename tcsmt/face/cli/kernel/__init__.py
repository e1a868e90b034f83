"""``tcsmt kernel``: one module for each command, imported when it is used."""

from __future__ import annotations

import click

from tcsmt.face.cli.lazy import Lazy

__all__ = ["kernel"]

_GROUPS = {
    "Kernels": {
        "invariant": "Which reductions give the same bits?",
        "tolerance": "How far can a product be from the exact one?",
        "tree": "In which order does a matrix product add up?",
    },
    "Recorded results": {
        "identify": "Which kernels give a product bit for bit?",
        "diff": "How two results differ, and at which step.",
    },
}


@click.group(cls=Lazy, package=__name__, groups=_GROUPS)
def kernel() -> None:
    """Ask about matrix products as kernels compute them: a unit, a reduction, an epilogue.

    \b
    Examples:
      tcsmt kernel identify --a A.npy --b B.npy --d D.npy
      tcsmt kernel invariant h100 --reductions chained,split-k:2
      tcsmt kernel tolerance h100+split-k:2 --a A.npy --b B.npy
      tcsmt kernel tree --python numpy:matmul --k 256
      tcsmt kernel diff --a A.npy --b B.npy --left D1.npy --right D2.npy
    """
