"""Findings about algorithms as plain data, for commands and for the list of findings."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tcsmt.analysis.search.bound import Bound, Extreme
from tcsmt.analysis.search.compare import AlgorithmPair, BothErrors, ErrorComparison
from tcsmt.analysis.search.result_flaws import Case, FlawFinding
from tcsmt.analysis.search.traced_steps import first_divergence, trace_steps
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.steps.split import F32
from tcsmt.prove.statements.explain import signed_text
from tcsmt.prove.statements.finding import shown
from tcsmt.prove.statements.verdict import Distinguished, answer_json


def comparison_json(result: ErrorComparison) -> dict[str, Any]:
    """Two algorithms, the verdict, and its witness."""
    pair, verdict, judgement = result.pair, result.verdict, result.judgement
    data: dict[str, Any] = {"algorithms": list(pair.names), "k": pair.k, "domain": str(pair.domain)}
    data |= answer_json(verdict, "worse", "never worse")
    if isinstance(verdict, Distinguished) and judgement is not None:
        data |= judged_json(pair, verdict.values, judgement)
        parts = first_divergence(*(trace_steps(a, verdict.values) for a in pair.algorithms))
        data["first_difference"] = parts and parts.name
    return data


def judged_json(pair: AlgorithmPair, values: Mapping[str, int], judgement: BothErrors) -> dict[str, Any]:
    """One input, both results on it, and by how much the first one's error is larger."""
    wide = pair.wide
    return {
        "inputs": inputs_json(wide, values),
        "exact": signed_text(judgement.exact),
        "results": [
            {"algorithm": name, **shown(wide, word), "error": error_text(error)}
            for name, word, error in zip(pair.names, judgement.words, judgement.errors, strict=True)
        ],
        "excess": {
            "ulp": _float(judgement.excess),
            f"2^-{wide.precision} Σ|ab|": _float(judgement.relative),
        },
    }


def flaw_json(result: FlawFinding) -> dict[str, Any]:
    """An algorithm, the verdict on a flaw of it, the short witness and the worst."""
    flaw, verdict = result.flaw, result.verdict
    data: dict[str, Any] = {"algorithm": flaw.name, "k": flaw.k, "domain": str(flaw.domain)}
    data |= answer_json(verdict, flaw.title.lower(), flaw.absent.lower())
    if result.short is not None and result.worst is not None:
        data |= {"short": case_json(flaw.wide, result.short), "worst": case_json(flaw.wide, result.worst)}
    return data


def case_json(wide: Format, case: Case) -> dict[str, Any]:
    """One input that shows a flaw, the result on it, and what it is once a word has moved."""
    data: dict[str, Any] = {
        "inputs": inputs_json(wide, case.values),
        "exact": signed_text(case.exact),
        "result": shown(wide, case.result),
    }
    if case.moved:
        data |= {
            "moved": case.moved,
            "to": shown(wide, case.word),
            "exact_after": signed_text(case.exact_after),
            "result_after": shown(wide, case.after),
        }
    return data | {"size": float(case.size), "ulps": float(case.ulps)}


def bound_json(result: Bound, wide: Format = F32) -> dict[str, Any]:
    """Return the largest errors found and the bound proved, relative to |c| + Σ|a·b|; an input of 0 is left
    out.
    """
    data: dict[str, Any] = {"in": f"2^-{wide.precision}"}
    data |= {"relative": _extreme(result.relative, wide), "ulps": _extreme(result.ulps, wide)}
    if result.of_largest is not None:
        data["proved_of_largest"] = _float(result.of_largest)
    data |= {"proved": _float(result.proved), "proved_ulps": _float(result.in_ulps)}
    data["shares"] = {name: float(loss) for name, loss in result.shares.items()}
    if result.proof is not None:
        data["proof"] = result.proof.as_json()
    return data | {"open": result.open, "seconds": round(result.seconds, 2)}


def _extreme(extreme: Extreme | None, wide: Format) -> dict[str, Any] | None:
    if extreme is None:
        return None
    return {
        "inputs": inputs_json(wide, {name: word for name, word in extreme.values.items() if word}),
        "result": shown(wide, extreme.result),
        "exact": signed_text(extreme.exact),
        "error": error_text(extreme.error),
        "relative": _float(extreme.relative),
        "ulps": _float(extreme.ulps),
    }


def error_text(error: Fraction | None) -> str:
    """An error, exactly; a result that is not finite has an infinite one (None)."""
    return "infinite" if error is None else signed_text(error)


def inputs_json(wide: Format, values: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Words by name, each with its value."""
    return {name: shown(wide, word) for name, word in values.items()}


def _float(number: Fraction | None) -> float | None:
    return None if number is None else float(number)
