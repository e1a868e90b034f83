"""Algorithms that multiply binary32 matrices on a matrix unit, written once over the datapath's terms."""

from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.recipes.named import RECIPES, algorithm_named, recipe_named
from tcsmt.programs.recipes.recipe import Recipe
from tcsmt.programs.steps.split import Split

__all__ = ["RECIPES", "Algorithm", "Recipe", "Split", "Sum", "algorithm_named", "recipe_named"]
