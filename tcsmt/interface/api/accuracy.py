"""The accuracy of algorithms that multiply binary32 matrices on a unit: ``tcsmt.accuracy``.

>>> from tcsmt import accuracy
>>> "ootomo-halfhalf" in accuracy.recipes()
True
"""

from tcsmt.interface.api.bound_table import AlgorithmFindings, BoundTable, findings, table
from tcsmt.interface.api.error_bound import AccuracyBound, bound
from tcsmt.interface.api.error_comparison import AccuracyComparison, AccuracyFlaw, compare, explain, find
from tcsmt.interface.api.exact import AccuracyExactness, ExactSlices, exact, slices
from tcsmt.interface.api.kernel_bound import KernelBound
from tcsmt.interface.api.recipes import Recipes, multiply, recipes
from tcsmt.interface.api.reduced import ReducedFacts, reduced
from tcsmt.interface.api.reproduce import ParameterVariants, variants
from tcsmt.interface.api.splits import SplitAnalysis, split
from tcsmt.interface.api.sweep import Sweep, sweep

__all__ = [
    "AccuracyBound", "AccuracyComparison", "AccuracyExactness", "AccuracyFlaw", "AlgorithmFindings",
    "BoundTable", "ExactSlices", "KernelBound", "ParameterVariants", "Recipes", "ReducedFacts",
    "SplitAnalysis", "Sweep", "bound", "compare", "exact", "explain", "find", "findings", "multiply",
    "recipes", "reduced", "slices", "split", "sweep", "table", "variants",
]  # fmt: skip
