"""Warnings for earlier names, which tcsmt takes until 1.0."""

import warnings


def warn_of_name(owner: str, old: str, new: str) -> None:
    """Warn the caller's caller that a public name of a module or class is another one now."""
    message = f"{owner}.{old} is {owner}.{new} now; tcsmt 1.0 will not have {old}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
