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
    from tcsmt.interface.api.kits import Kit, KitCheck, check_kit, export_kit
    from tcsmt.interface.api.links import Links, PageLink, links
    from tcsmt.interface.api.page import Page, page
    from tcsmt.interface.api.pictures import Explanation, explain
    from tcsmt.interface.api.probe import Probe, ProbeAnswers, probe
    from tcsmt.interface.api.quantise import QuantisedMatrix, quantise
    from tcsmt.interface.api.quantise_compare import QuantiserComparison, compare_quantisers
    from tcsmt.interface.api.quantise_identify import IdentifiedQuantiser, identify_quantiser
    from tcsmt.interface.api.quantisers import QuantiserList, QuantiserRow, quantiser, quantisers
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
_NAMES = {
    "tcsmt": "testing torch triton",
    "tcsmt.interface.api": "accuracy",
    "tcsmt.interface.api.atlas": "AtlasReport ChainedAtlasReport atlas chained_atlas",
    "tcsmt.interface.api.audit": "AuditResult audit",
    "tcsmt.interface.api.catalogue": "units",
    "tcsmt.interface.api.certificate_export": "export_certificate",
    "tcsmt.interface.api.certificates": "check_certificate",
    "tcsmt.interface.api.certified_books": "SpecifiedUnit check_with_acl2 specified_with_acl2",
    "tcsmt.interface.api.check": "Check StoppedCheck check",
    "tcsmt.interface.api.claims": "ClaimsReport claims",
    "tcsmt.interface.api.compare": "Comparison compare",
    "tcsmt.interface.api.designs": "design",
    "tcsmt.interface.api.export": "Exported export",
    "tcsmt.interface.api.find": "find properties",
    "tcsmt.interface.api.formats": "FormatValues describe_format",
    "tcsmt.interface.api.identify": (
        "Identified IdentifiedData IdentifyPlan IdentifyProbe identify identify_data identify_plan "
        "identify_probe"
    ),
    "tcsmt.interface.api.kernel_diff": "KernelDiff kernel_diff",
    "tcsmt.interface.api.kernel_identify": "KernelIdentified kernel_identify",
    "tcsmt.interface.api.kernel_invariant": "KernelInvariant kernel_invariant",
    "tcsmt.interface.api.kernel_read": "CompiledKernel kernel_read",
    "tcsmt.interface.api.kernel_tree": "KernelTree kernel_tree",
    "tcsmt.interface.api.kernels": "epilogue gemm reduction",
    "tcsmt.interface.api.kits": "Kit KitCheck check_kit export_kit",
    "tcsmt.interface.api.links": "PageLink Links links",
    "tcsmt.interface.api.page": "Page page",
    "tcsmt.interface.api.pictures": "Explanation explain",
    "tcsmt.interface.api.probe": "Probe ProbeAnswers probe",
    "tcsmt.interface.api.quantise": "QuantisedMatrix quantise",
    "tcsmt.interface.api.quantise_compare": "QuantiserComparison compare_quantisers",
    "tcsmt.interface.api.quantise_identify": "IdentifiedQuantiser identify_quantiser",
    "tcsmt.interface.api.quantisers": "QuantiserList QuantiserRow quantiser quantisers",
    "tcsmt.interface.api.reproduce": "Reproduction reproduce",
    "tcsmt.interface.api.run": "SimulatedRows run",
    "tcsmt.interface.api.tolerance": "Closeness Tolerance tolerance",
    "tcsmt.interface.api.units": "Unit read_model unit",
    "tcsmt.interface.api.validate": "Validation validate",
    "tcsmt.interface.api.vectors": "TestVectors vectors",
    "tcsmt.programs.kernels.epilogue": "Epilogue",
    "tcsmt.programs.kernels.reduction": "CHAINED Reduction promoted split_k",
    "tcsmt.prove.engine.options": "SolvingOptions",
    "tcsmt.prove.statements.domain": "Domain",
    "tcsmt.support.errors": "TcsmtError",
    "tcsmt.surveys.properties.investigation": "Report",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = [
    "CHAINED", "AtlasReport", "AuditResult", "ChainedAtlasReport", "Check", "ClaimsReport", "Closeness",
    "Comparison", "CompiledKernel", "Domain", "Epilogue", "Explanation", "Exported", "FormatValues",
    "Identified", "IdentifiedData", "IdentifiedQuantiser", "IdentifyPlan", "IdentifyProbe", "KernelDiff",
    "KernelIdentified", "KernelInvariant", "KernelTree", "Kit", "KitCheck", "Links", "Page", "PageLink",
    "Probe", "ProbeAnswers", "QuantisedMatrix", "QuantiserComparison", "QuantiserList", "QuantiserRow",
    "Reduction", "Report", "Reproduction", "SimulatedRows", "SolvingOptions", "SpecifiedUnit",
    "StoppedCheck", "TcsmtError", "TestVectors", "Tolerance", "Unit", "Validation", "accuracy", "atlas",
    "audit", "chained_atlas", "check", "check_certificate", "check_kit", "check_with_acl2", "claims",
    "compare", "compare_quantisers", "describe_format", "design", "epilogue", "explain", "export",
    "export_certificate", "export_kit", "find", "gemm", "identify", "identify_data", "identify_plan",
    "identify_probe", "identify_quantiser", "kernel_diff", "kernel_identify", "kernel_invariant",
    "kernel_read", "kernel_tree", "links", "page", "probe", "promoted", "properties", "quantise",
    "quantiser", "quantisers", "read_model", "reduction", "reproduce", "run", "specified_with_acl2",
    "split_k", "testing", "tolerance", "unit", "units", "validate", "vectors",
]  # fmt: skip


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
