"""ACL2's verified LRAT checker on our refutations: it accepts them, and nothing that is not one."""

from __future__ import annotations

import pytest
from verified_checker import Unusable, books, lemmas_of, verified

from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.long,  # the books are compiled first: ten seconds
    pytest.mark.skipif(books() is None, reason="ACL2 and its certified books are not installed"),
]


def damaged() -> dict[str, tuple[str, str]]:
    """Small lemmas of the committed certificates, and each of them damaged in several ways."""
    found: dict[str, tuple[str, str]] = {}
    several = [one for one in lemmas_of(ROOT / "results" / "certificates") if one[1][1].count("\n") > 20]
    for name, (cnf, lrat) in several[:3]:
        head, *lines = [line for line in cnf.splitlines(keepends=True) if line[0] != "c"]
        steps = lrat.splitlines(keepends=True)
        hints = steps[-1].split()
        found |= {
            f"good-{name}": (cnf, lrat),
            f"goal-{name}": ("".join([head, *lines[:-1], lines[0]]), lrat),
            f"step-{name}": (cnf, "".join([*steps[:-2], steps[-1]])),
            f"hint-{name}": (cnf, "".join([*steps[:-1], " ".join([*hints[:-2], "0\n"])])),
            f"end-{name}": (cnf, "".join(steps[:-1])),
        }
    return found


def test_it_accepts_what_is_right_alone() -> None:
    said = verified(damaged(), 120.0)
    assert len(said) == 15
    assert said == {name: name.startswith("good-") for name in said}


def test_no_time() -> None:
    with pytest.raises(Unusable, match=r"no end after 0\.01 s"):
        verified({}, 0.01)
