"""``tcsmt accuracy``: its commands are imported when they are used."""

from __future__ import annotations

import click

from tcsmt.interface.cli.lazy import Lazy

_GROUPS = {
    "Algorithms": {
        "algorithms": "List the algorithms, and how to change one.",
        "compare": "Is one algorithm ever less accurate than another?",
        "bound": "Show the largest error found, and the bound proved.",
        "multiply": "Multiply matrices by an algorithm.",
        "explain": "Draw algorithms on one dot product, step by step.",
    },
    "Units and splits": {
        "exact": "Prove up to which size integers are multiplied exactly.",
        "find": "Find flaws: wrong signs, results that are not monotone.",
        "split": "Show what splitting into words loses.",
        "variants": "Show what each parameter of a unit costs.",
    },
    "Many at a time": {
        "table": "Bounds, found and proved, as a table for papers.",
        "slices": "Prove the exact domain of every unit and slicing.",
        "sweep": "Errors of matrix products against K.",
        "reduced": "Facts about reduced formats, for all inputs.",
        "findings": "All comparisons and bounds in one file.",
    },
}

_MODULES = {
    "algorithms": "algorithms compare bound multiply explain exact find split variants",
    "surveys": "table slices sweep reduced findings",
}


@click.group(cls=Lazy, package=__name__, groups=_GROUPS, modules=_MODULES)
def accuracy() -> None:
    """Analyse the accuracy of algorithms that multiply binary32 matrices on a matrix unit.

    \b
    Examples:
      tcsmt accuracy compare markidis ootomo-halfhalf --unit volta
      tcsmt accuracy bound single-f16 --unit h100 --k 16
    """
