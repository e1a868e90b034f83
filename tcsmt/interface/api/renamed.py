"""Parameters of calls by their earlier names, which are taken until 1.0."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tcsmt.support.errors import TcsmtError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def renamed(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Take parameters by their earlier names, too, with a warning. names: those of now, by the earlier ones.

    The call raises :class:`.TcsmtError` where one parameter is given by both names.
    """

    def decorate(call: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(call)
        def taking(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for old in names.keys() & kwargs.keys():
                new = names[old]
                if new in kwargs:
                    raise TcsmtError(f"{old} is {new} now: give it once")
                warnings.warn(
                    f"{call.__name__}: {old} is {new} now; tcsmt 1.0 will not take {old}",
                    DeprecationWarning,
                    stacklevel=2,
                )
                kwargs[new] = kwargs.pop(old)
            return call(*args, **kwargs)

        return taking

    return decorate
