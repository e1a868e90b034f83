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
READERS = ("tcsmt.programs.names", "tcsmt.interop.implementations.sides", "tcsmt.interop.compiled.names")

if TYPE_CHECKING:
    from tcsmt import testing
    from tcsmt import torch as torch
    from tcsmt import triton as triton
    from tcsmt.interface.api import accuracy
    from tcsmt.interface.api.atlas import AtlasReport, ChainedAtlasReport, atlas, chained_atlas
    from tcsmt.interface.api.audit import AuditResult, audit
    from tcsmt.interface.api.catalogue import units
    from tcsmt.interface.api.certificate_export import export_certificate
    from tcsmt.interface.api.certificates import check_certificate
    from tcsmt.interface.api.certified_books import SpecifiedUnit, check_with_acl2, specified_with_acl2
    from tcsmt.interface.api.check import Check, StoppedCheck, check
    from tcsmt.interface.api.claims import ClaimsReport, claims
    from tcsmt.interface.api.compare import Comparison, compare
    from tcsmt.interface.api.designs import design
    from tcsmt.interface.api.export import Exported, export
    from tcsmt.interface.api.find import find, properties
    from tcsmt.interface.api.formats import FormatValues, describe_format
    from tcsmt.interface.api.identify import (
        Identified,
        IdentifiedData,
        IdentifyPlan,
        IdentifyProbe,
        identify,
        identify_data,
        identify_plan,
        identify_probe,
    )
    from tcsmt.interface.api.kernel_diff import KernelDiff, kernel_diff
    from tcsmt.interface.api.kernel_identify import KernelIdentified, kernel_identify
    from tcsmt.interface.api.kernel_invariant import KernelInvariant, kernel_invariant
    from tcsmt.interface.api.kernel_read import CompiledKernel, kernel_read
    from tcsmt.interface.api.kernel_tree import KernelTree, kernel_tree
    from tcsmt.interface.api.kernels import epilogue, gemm, reduction
    from tcsmt.interface.api.links import Links, PageLink, links
    from tcsmt.interface.api.page import Page, page
    from tcsmt.interface.api.pictures import Explanation, explain
    from tcsmt.interface.api.probe import Probe, ProbeAnswers, probe
    from tcsmt.interface.api.quantise import QuantisedMatrix, quantise
    from tcsmt.interface.api.reproduce import Reproduction, reproduce
    from tcsmt.interface.api.run import SimulatedRows, run
    from tcsmt.interface.api.tolerance import Closeness, Tolerance, tolerance
    from tcsmt.interface.api.units import Unit, read_model, unit
    from tcsmt.interface.api.validate import Validation, validate
    from tcsmt.interface.api.vectors import TestVectors, vectors
    from tcsmt.programs.kernels.epilogue import Epilogue
    from tcsmt.programs.kernels.reduction import CHAINED, Reduction, promoted, split_k
    from tcsmt.prove.engine.options import SolvingOptions
    from tcsmt.prove.statements.domain import Domain
    from tcsmt.support.errors import TcsmtError
    from tcsmt.surveys.properties.investigation import Report

#: Where each public name is; a module is imported when one of its names is used. ``torch`` and
#: ``triton`` are not in ``__all__``, as ``from tcsmt import *`` must work without them.
_HOMES = {
    "accuracy": "tcsmt.interface.api",
    "testing": "tcsmt",
    **dict.fromkeys(
        ("AtlasReport", "ChainedAtlasReport", "atlas", "chained_atlas"), "tcsmt.interface.api.atlas"
    ),
    **dict.fromkeys(("AuditResult", "audit"), "tcsmt.interface.api.audit"),
    "units": "tcsmt.interface.api.catalogue",
    "check_certificate": "tcsmt.interface.api.certificates",
    **dict.fromkeys(
        ("SpecifiedUnit", "check_with_acl2", "specified_with_acl2"), "tcsmt.interface.api.certified_books"
    ),
    "export_certificate": "tcsmt.interface.api.certificate_export",
    **dict.fromkeys(("Check", "StoppedCheck", "check"), "tcsmt.interface.api.check"),
    **dict.fromkeys(("ClaimsReport", "claims"), "tcsmt.interface.api.claims"),
    **dict.fromkeys(("Comparison", "compare"), "tcsmt.interface.api.compare"),
    "design": "tcsmt.interface.api.designs",
    **dict.fromkeys(("Exported", "export"), "tcsmt.interface.api.export"),
    **dict.fromkeys(("find", "properties"), "tcsmt.interface.api.find"),
    **dict.fromkeys(("FormatValues", "describe_format"), "tcsmt.interface.api.formats"),
    **dict.fromkeys(
        ("Identified", "IdentifiedData", "IdentifyPlan", "IdentifyProbe"), "tcsmt.interface.api.identify"
    ),
    **dict.fromkeys(
        ("identify", "identify_data", "identify_plan", "identify_probe"), "tcsmt.interface.api.identify"
    ),
    **dict.fromkeys(("PageLink", "Links", "links"), "tcsmt.interface.api.links"),
    **dict.fromkeys(("Explanation", "explain"), "tcsmt.interface.api.pictures"),
    **dict.fromkeys(("Page", "page"), "tcsmt.interface.api.page"),
    **dict.fromkeys(("KernelDiff", "kernel_diff"), "tcsmt.interface.api.kernel_diff"),
    **dict.fromkeys(("KernelIdentified", "kernel_identify"), "tcsmt.interface.api.kernel_identify"),
    **dict.fromkeys(("KernelInvariant", "kernel_invariant"), "tcsmt.interface.api.kernel_invariant"),
    **dict.fromkeys(("CompiledKernel", "kernel_read"), "tcsmt.interface.api.kernel_read"),
    **dict.fromkeys(("KernelTree", "kernel_tree"), "tcsmt.interface.api.kernel_tree"),
    **dict.fromkeys(("epilogue", "gemm", "reduction"), "tcsmt.interface.api.kernels"),
    **dict.fromkeys(("Probe", "ProbeAnswers", "probe"), "tcsmt.interface.api.probe"),
    **dict.fromkeys(("QuantisedMatrix", "quantise"), "tcsmt.interface.api.quantise"),
    **dict.fromkeys(("Reproduction", "reproduce"), "tcsmt.interface.api.reproduce"),
    **dict.fromkeys(("SimulatedRows", "run"), "tcsmt.interface.api.run"),
    **dict.fromkeys(("Closeness", "Tolerance", "tolerance"), "tcsmt.interface.api.tolerance"),
    **dict.fromkeys(("Unit", "read_model", "unit"), "tcsmt.interface.api.units"),
    **dict.fromkeys(("Validation", "validate"), "tcsmt.interface.api.validate"),
    **dict.fromkeys(("TestVectors", "vectors"), "tcsmt.interface.api.vectors"),
    **dict.fromkeys(("torch", "triton"), "tcsmt"),
    "Report": "tcsmt.surveys.properties.investigation",
    **dict.fromkeys(("CHAINED", "Reduction", "promoted", "split_k"), "tcsmt.programs.kernels.reduction"),
    "Epilogue": "tcsmt.programs.kernels.epilogue",
    "SolvingOptions": "tcsmt.prove.engine.options",
    "Domain": "tcsmt.prove.statements.domain",
    "TcsmtError": "tcsmt.support.errors",
}
__all__ = [
    "CHAINED",
    "AtlasReport",
    "AuditResult",
    "ChainedAtlasReport",
    "Check",
    "ClaimsReport",
    "Closeness",
    "Comparison",
    "CompiledKernel",
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
    "kernel_read",
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
    """Import a name when it is used, so that ``import tcsmt`` takes milliseconds."""
    if name == "Audited":
        renaming = import_module("tcsmt.support.renaming")  # for few: not at every start
        renaming.warn_of_name("tcsmt", "Audited", "AuditResult")
        return __getattr__("AuditResult")
    if name not in _HOMES:
        raise AttributeError(f"module 'tcsmt' has no attribute {name!r}")
    home = _HOMES[name]
    module = home in ("tcsmt", "tcsmt.interface.api")  # a name of which the module itself is what is meant
    with import_module("tcsmt.support.floats").IeeeFloats():  # modules compute constants
        found = import_module(f"{home}.{name}") if module else getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
