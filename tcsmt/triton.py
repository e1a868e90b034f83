"""Triton kernels without a GPU: which bits they give, and which configurations give the same; an extra.

>>> import tcsmt.triton
>>> with tcsmt.triton.emulate("h100"):  # doctest: +SKIP
...     my_kernel[grid](a, b, c)
"""

from __future__ import annotations

from tcsmt.support.floats import IeeeFloats

with IeeeFloats():  # as in tcsmt's __getattr__
    from tcsmt.interface.api.kernel_configs import ConfigPair, KernelConfigs, configs
    from tcsmt.interface.api.kernel_launches import CapturedLaunch, capture, emulate
    from tcsmt.interface.api.kernel_witness import ConfigWitness

__all__ = ["CapturedLaunch", "ConfigPair", "ConfigWitness", "KernelConfigs", "capture", "configs", "emulate"]
