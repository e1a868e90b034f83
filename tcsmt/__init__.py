"""tcsmt: what matrix units compute, bit for bit; inputs that tell them apart, or proofs that none do.

>>> import tcsmt
>>> unit = tcsmt.unit("h100")                    # simulate one
>>> print(tcsmt.compare("volta", "ampere"))      # doctest: +SKIP
>>> print(tcsmt.find("carry-bits", "volta"))     # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tcsmt.support.version import __version__ as __version__

#: What reads kernels' names, programs, designs and recorded answers; loaded when a text is first resolved.
READERS = ("tcsmt.compose.names", "tcsmt.outside.implementations.sides")

if TYPE_CHECKING:
    from tcsmt import testing
    from tcsmt import torch as torch
    from tcsmt.compose.kernels.epilogue import Epilogue
    from tcsmt.compose.kernels.reduction import CHAINED, Reduction, promoted, split_k
    from tcsmt.face.api import accuracy
    from tcsmt.face.api.atlas import AtlasReport, ChainedAtlasReport, atlas, chained_atlas
    from tcsmt.face.api.audit import Audited, audit
    from tcsmt.face.api.catalogue import units
    from tcsmt.face.api.certificate_export import export_certificate
    from tcsmt.face.api.certificates import check_certificate
    from tcsmt.face.api.certified_books import SpecifiedUnit, check_with_acl2, specified_with_acl2
    from tcsmt.face.api.check import Check, StoppedCheck, check
    from tcsmt.face.api.claims import ClaimsReport, claims
    from tcsmt.face.api.compare import Comparison, compare
    from tcsmt.face.api.designs import design
    from tcsmt.face.api.export import Exported, export
    from tcsmt.face.api.find import find
    from tcsmt.face.api.formats import FormatValues, describe_format
    from tcsmt.face.api.identify import Identified, IdentifiedData, identify, identify_data
    from tcsmt.face.api.identify_plan import IdentifyPlan, identify_plan
    from tcsmt.face.api.identify_probe import IdentifyProbe, identify_probe
    from tcsmt.face.api.kernel_diff import KernelDiff, kernel_diff
    from tcsmt.face.api.kernel_identify import KernelIdentified, kernel_identify
    from tcsmt.face.api.kernel_invariant import KernelInvariant, kernel_invariant
    from tcsmt.face.api.kernel_tree import KernelTree, kernel_tree
    from tcsmt.face.api.kernels import epilogue, gemm, reduction
    from tcsmt.face.api.links import Links, PageLink, links
    from tcsmt.face.api.page import Page, page
    from tcsmt.face.api.pictures import Explanation, explain
    from tcsmt.face.api.probe import Probe, ProbeAnswers, probe
    from tcsmt.face.api.properties import properties
    from tcsmt.face.api.quantise import QuantisedMatrix, quantise
    from tcsmt.face.api.reproduce import Reproduction, reproduce
    from tcsmt.face.api.run import SimulatedRows, run
    from tcsmt.face.api.tolerance import Closeness, Tolerance, tolerance
    from tcsmt.face.api.units import Unit, read_model, unit
    from tcsmt.face.api.validate import Validation, validate
    from tcsmt.face.api.vectors import TestVectors, vectors
    from tcsmt.prove.engine.options import SolvingOptions
    from tcsmt.prove.statements.domain import Domain
    from tcsmt.study.properties.investigation import Report
    from tcsmt.support.errors import TcsmtError

#: Where each public name is; a module is imported when one of its names is used. ``torch`` is not in
#: ``__all__``, as ``from tcsmt import *`` must work without PyTorch.
_HOMES = {
    "accuracy": "tcsmt.face.api",
    "testing": "tcsmt",
    **dict.fromkeys(("AtlasReport", "ChainedAtlasReport", "atlas", "chained_atlas"), "tcsmt.face.api.atlas"),
    **dict.fromkeys(("Audited", "audit"), "tcsmt.face.api.audit"),
    "units": "tcsmt.face.api.catalogue",
    "check_certificate": "tcsmt.face.api.certificates",
    **dict.fromkeys(
        ("SpecifiedUnit", "check_with_acl2", "specified_with_acl2"), "tcsmt.face.api.certified_books"
    ),
    "export_certificate": "tcsmt.face.api.certificate_export",
    **dict.fromkeys(("Check", "StoppedCheck", "check"), "tcsmt.face.api.check"),
    **dict.fromkeys(("ClaimsReport", "claims"), "tcsmt.face.api.claims"),
    **dict.fromkeys(("Comparison", "compare"), "tcsmt.face.api.compare"),
    "design": "tcsmt.face.api.designs",
    **dict.fromkeys(("Exported", "export"), "tcsmt.face.api.export"),
    "find": "tcsmt.face.api.find",
    **dict.fromkeys(("FormatValues", "describe_format"), "tcsmt.face.api.formats"),
    **dict.fromkeys(("Identified", "IdentifiedData", "identify", "identify_data"), "tcsmt.face.api.identify"),
    **dict.fromkeys(("IdentifyPlan", "identify_plan"), "tcsmt.face.api.identify_plan"),
    **dict.fromkeys(("IdentifyProbe", "identify_probe"), "tcsmt.face.api.identify_probe"),
    **dict.fromkeys(("PageLink", "Links", "links"), "tcsmt.face.api.links"),
    **dict.fromkeys(("Explanation", "explain"), "tcsmt.face.api.pictures"),
    **dict.fromkeys(("Page", "page"), "tcsmt.face.api.page"),
    **dict.fromkeys(("KernelDiff", "kernel_diff"), "tcsmt.face.api.kernel_diff"),
    **dict.fromkeys(("KernelIdentified", "kernel_identify"), "tcsmt.face.api.kernel_identify"),
    **dict.fromkeys(("KernelInvariant", "kernel_invariant"), "tcsmt.face.api.kernel_invariant"),
    **dict.fromkeys(("KernelTree", "kernel_tree"), "tcsmt.face.api.kernel_tree"),
    **dict.fromkeys(("epilogue", "gemm", "reduction"), "tcsmt.face.api.kernels"),
    **dict.fromkeys(("Probe", "ProbeAnswers", "probe"), "tcsmt.face.api.probe"),
    "properties": "tcsmt.face.api.properties",
    **dict.fromkeys(("QuantisedMatrix", "quantise"), "tcsmt.face.api.quantise"),
    **dict.fromkeys(("Reproduction", "reproduce"), "tcsmt.face.api.reproduce"),
    **dict.fromkeys(("SimulatedRows", "run"), "tcsmt.face.api.run"),
    **dict.fromkeys(("Closeness", "Tolerance", "tolerance"), "tcsmt.face.api.tolerance"),
    **dict.fromkeys(("Unit", "read_model", "unit"), "tcsmt.face.api.units"),
    **dict.fromkeys(("Validation", "validate"), "tcsmt.face.api.validate"),
    **dict.fromkeys(("TestVectors", "vectors"), "tcsmt.face.api.vectors"),
    "torch": "tcsmt",
    "Report": "tcsmt.study.properties.investigation",
    **dict.fromkeys(("CHAINED", "Reduction", "promoted", "split_k"), "tcsmt.compose.kernels.reduction"),
    "Epilogue": "tcsmt.compose.kernels.epilogue",
    "SolvingOptions": "tcsmt.prove.engine.options",
    "Domain": "tcsmt.prove.statements.domain",
    "TcsmtError": "tcsmt.support.errors",
}
__all__ = [
    "CHAINED",
    "AtlasReport",
    "Audited",
    "ChainedAtlasReport",
    "Check",
    "ClaimsReport",
    "Closeness",
    "Comparison",
    "Domain",
    "Epilogue",
    "Explanation",
    "Exported",
    "FormatValues",
    "Identified",
    "IdentifiedData",
    "IdentifyPlan",
    "IdentifyProbe",
    "KernelDiff",
    "KernelIdentified",
    "KernelInvariant",
    "KernelTree",
    "Links",
    "Page",
    "PageLink",
    "Probe",
    "ProbeAnswers",
    "QuantisedMatrix",
    "Reduction",
    "Report",
    "Reproduction",
    "SimulatedRows",
    "SolvingOptions",
    "SpecifiedUnit",
    "StoppedCheck",
    "TcsmtError",
    "TestVectors",
    "Tolerance",
    "Unit",
    "Validation",
    "accuracy",
    "atlas",
    "audit",
    "chained_atlas",
    "check",
    "check_certificate",
    "check_with_acl2",
    "claims",
    "compare",
    "describe_format",
    "design",
    "epilogue",
    "explain",
    "export",
    "export_certificate",
    "find",
    "gemm",
    "identify",
    "identify_data",
    "identify_plan",
    "identify_probe",
    "kernel_diff",
    "kernel_identify",
    "kernel_invariant",
    "kernel_tree",
    "links",
    "page",
    "probe",
    "promoted",
    "properties",
    "quantise",
    "read_model",
    "reduction",
    "reproduce",
    "run",
    "specified_with_acl2",
    "split_k",
    "testing",
    "tolerance",
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
    module = home in ("tcsmt", "tcsmt.face.api")  # a name of which the module itself is what is meant
    with import_module("tcsmt.support.floats").IeeeFloats():  # modules compute constants
        found = import_module(f"{home}.{name}") if module else getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
