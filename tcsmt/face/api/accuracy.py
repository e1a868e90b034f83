"""The accuracy of algorithms that multiply binary32 matrices on a unit: ``tcsmt.accuracy``.

>>> from tcsmt import accuracy
>>> "ootomo-halfhalf" in accuracy.recipes()
True
"""

from tcsmt.face.api.bound_table import AlgorithmFindings, BoundTable, findings, table
from tcsmt.face.api.error_bound import AccuracyBound, bound
from tcsmt.face.api.error_comparison import AccuracyComparison, compare, explain
from tcsmt.face.api.exact import AccuracyExactness, ExactSlices, exact, slices
from tcsmt.face.api.kernel_bound import KernelBound
from tcsmt.face.api.recipes import Recipes, multiply, recipes
from tcsmt.face.api.reduced import ReducedFacts, reduced
from tcsmt.face.api.reproduce import ParameterVariants, variants
from tcsmt.face.api.result_flaws import AccuracyFlaw, find
from tcsmt.face.api.splits import SplitAnalysis, split
from tcsmt.face.api.sweep import Sweep, sweep

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
