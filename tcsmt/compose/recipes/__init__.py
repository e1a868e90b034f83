"""Algorithms that multiply binary32 matrices on a matrix unit, written once over the datapath's terms."""

from tcsmt.compose.programs.split import Split
from tcsmt.compose.recipes.algorithm import Algorithm, Sum
from tcsmt.compose.recipes.named import RECIPES, Recipe, algorithm_named, recipe_named

__all__ = ["RECIPES", "Algorithm", "Recipe", "Split", "Sum", "algorithm_named", "recipe_named"]
