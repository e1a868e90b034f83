"""tcsmt: what matrix units compute, bit for bit; inputs that tell them apart, or proofs that none do.

>>> import tcsmt
>>> unit = tcsmt.unit("h100")                    # simulate one
>>> print(tcsmt.compare("volta", "ampere"))      # doctest: +SKIP
>>> print(tcsmt.find("carry-bits", "volta"))     # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcsmt.api import accuracy
    from tcsmt.api.audit import Audited, audit
    from tcsmt.api.certificates import check_certificate
    from tcsmt.api.chained import chained_atlas
    from tcsmt.api.check import Check, check
    from tcsmt.api.compare import Comparison, compare
    from tcsmt.api.designs import design
    from tcsmt.api.export import Exported, export
    from tcsmt.api.find import find, properties
    from tcsmt.api.formats import FormatValues, describe_format
    from tcsmt.api.identify import Identified, identify
    from tcsmt.api.kernel_diff import KernelDiff, kernel_diff
    from tcsmt.api.kernel_identify import KernelIdentified, kernel_identify
    from tcsmt.api.kernel_invariant import KernelInvariant, kernel_invariant
    from tcsmt.api.kernel_tree import KernelTree, kernel_tree
    from tcsmt.api.kernels import epilogue, gemm, reduction
    from tcsmt.api.pictures import Explanation, explain
    from tcsmt.api.probe import Probe, ProbeAnswers, probe
    from tcsmt.api.units import Unit, read_model, unit, units
    from tcsmt.api.validate import Validation, validate
    from tcsmt.api.vectors import TestVectors, vectors
    from tcsmt.ask.investigation import Report
    from tcsmt.kernels.epilogue import Epilogue
    from tcsmt.kernels.reduction import CHAINED, Reduction, promoted, split_k
    from tcsmt.statements.domain import Domain
    from tcsmt.support.errors import TcsmtError

__version__ = "0.1.0"
#: Where each public name is; a module is imported when one of its names is used.
_HOMES = {
    "accuracy": "tcsmt.api",
    **dict.fromkeys(("Audited", "audit"), "tcsmt.api.audit"),
    "check_certificate": "tcsmt.api.certificates",
    "chained_atlas": "tcsmt.api.chained",
    **dict.fromkeys(("Check", "check"), "tcsmt.api.check"),
    **dict.fromkeys(("Comparison", "compare"), "tcsmt.api.compare"),
    "design": "tcsmt.api.designs",
    **dict.fromkeys(("Exported", "export"), "tcsmt.api.export"),
    **dict.fromkeys(("find", "properties"), "tcsmt.api.find"),
    **dict.fromkeys(("FormatValues", "describe_format"), "tcsmt.api.formats"),
    **dict.fromkeys(("Identified", "identify"), "tcsmt.api.identify"),
    **dict.fromkeys(("Explanation", "explain"), "tcsmt.api.pictures"),
    **dict.fromkeys(("KernelDiff", "kernel_diff"), "tcsmt.api.kernel_diff"),
    **dict.fromkeys(("KernelIdentified", "kernel_identify"), "tcsmt.api.kernel_identify"),
    **dict.fromkeys(("KernelInvariant", "kernel_invariant"), "tcsmt.api.kernel_invariant"),
    **dict.fromkeys(("KernelTree", "kernel_tree"), "tcsmt.api.kernel_tree"),
    **dict.fromkeys(("epilogue", "gemm", "reduction"), "tcsmt.api.kernels"),
    **dict.fromkeys(("Probe", "ProbeAnswers", "probe"), "tcsmt.api.probe"),
    **dict.fromkeys(("Unit", "read_model", "unit", "units"), "tcsmt.api.units"),
    **dict.fromkeys(("Validation", "validate"), "tcsmt.api.validate"),
    **dict.fromkeys(("TestVectors", "vectors"), "tcsmt.api.vectors"),
    "Report": "tcsmt.ask.investigation",
    **dict.fromkeys(("CHAINED", "Reduction", "promoted", "split_k"), "tcsmt.kernels.reduction"),
    "Epilogue": "tcsmt.kernels.epilogue",
    "Domain": "tcsmt.statements.domain",
    "TcsmtError": "tcsmt.support.errors",
}
__all__ = [
    "CHAINED",
    "Audited",
    "Check",
    "Comparison",
    "Domain",
    "Epilogue",
    "Explanation",
    "Exported",
    "FormatValues",
    "Identified",
    "KernelDiff",
    "KernelIdentified",
    "KernelInvariant",
    "KernelTree",
    "Probe",
    "ProbeAnswers",
    "Reduction",
    "Report",
    "TcsmtError",
    "TestVectors",
    "Unit",
    "Validation",
    "accuracy",
    "audit",
    "chained_atlas",
    "check",
    "check_certificate",
    "compare",
    "describe_format",
    "design",
    "epilogue",
    "explain",
    "export",
    "find",
    "gemm",
    "identify",
    "kernel_diff",
    "kernel_identify",
    "kernel_invariant",
    "kernel_tree",
    "probe",
    "promoted",
    "properties",
    "read_model",
    "reduction",
    "split_k",
    "unit",
    "units",
    "validate",
    "vectors",
]


def __getattr__(name: str) -> object:
    """Import what is asked for, so that ``import tcsmt`` takes milliseconds."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tcsmt' has no attribute {name!r}")
    home = _HOMES[name]
    found = import_module(f"{home}.{name}") if home == "tcsmt.api" else getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
