"""PyTorch programs as a matrix unit computes them; the extra ``torch``.

>>> import torch, tcsmt.torch
>>> with tcsmt.torch.emulate("h100", "bf16"):
...     d = torch.ones(2, 3) @ torch.full((3, 2), 1.001)
>>> d[0, 0]
tensor(3.)
"""

from __future__ import annotations

from tcsmt.support import extras

try:
    import torch as _torch  # noqa: F401  (whether it is there)
except ImportError as error:
    raise ImportError(f"tcsmt.torch needs PyTorch: {extras.install('torch')}") from error

from tcsmt.support.floats import IeeeFloats

with IeeeFloats():  # as in tcsmt's __getattr__
    from tcsmt.interface.torch.emulation import TorchEmulation, emulate
    from tcsmt.interface.torch.quantised import QuantisedTensor, quantise
    from tcsmt.interface.torch.report import EmulationReport
    from tcsmt.programs.quantisation.recipe import RECIPES, OperandRecipe

__all__ = [
    "RECIPES",
    "EmulationReport",
    "OperandRecipe",
    "QuantisedTensor",
    "TorchEmulation",
    "emulate",
    "quantise",
]
