"""The accuracy of algorithms that multiply binary32 matrices on a unit: ``tcsmt.accuracy``.

>>> from tcsmt import accuracy
>>> "ootomo-halfhalf" in accuracy.recipes()
True
"""

from tcsmt.face.api.bound_table import BoundTable, table
from tcsmt.face.api.error_bound import AccuracyBound, bound
from tcsmt.face.api.error_comparison import AccuracyComparison, compare
from tcsmt.face.api.error_steps import explain
from tcsmt.face.api.exact import AccuracyExactness, exact
from tcsmt.face.api.findings import AlgorithmFindings, findings
from tcsmt.face.api.kernel_bound import KernelBound
from tcsmt.face.api.multiply import multiply
from tcsmt.face.api.recipes import Recipes, recipes
from tcsmt.face.api.reduced import ReducedFacts, reduced
from tcsmt.face.api.result_flaws import AccuracyFlaw, find
from tcsmt.face.api.slices import ExactSlices, slices
from tcsmt.face.api.splits import SplitAnalysis, split
from tcsmt.face.api.sweep import Sweep, sweep
from tcsmt.face.api.variants import ParameterVariants, variants

__all__ = [
    "AccuracyBound",
    "AccuracyComparison",
    "AccuracyExactness",
    "AccuracyFlaw",
    "AlgorithmFindings",
    "BoundTable",
    "ExactSlices",
    "KernelBound",
    "ParameterVariants",
    "Recipes",
    "ReducedFacts",
    "SplitAnalysis",
    "Sweep",
    "bound",
    "compare",
    "exact",
    "explain",
    "find",
    "findings",
    "multiply",
    "recipes",
    "reduced",
    "slices",
    "split",
    "sweep",
    "table",
    "variants",
]
