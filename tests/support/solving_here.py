"""Questions about tiny models, solved in this process: a child for each costs more than its answer."""

from __future__ import annotations

import itertools
import re
import time

import bitwuzla

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer, digest

#: Definite answers by script: tests put the same ones again, for each lemma that they leave out.
_KNOWN: dict[str, Answer] = {}


def solve(text: str, settings: SolvingOptions) -> Answer:
    """What :func:`.solve` does, by Bitwuzla; the limit is one of steps, or of processor time, which a busy
    machine leaves alone.
    """
    script = digest(text)
    if script in _KNOWN:
        return _KNOWN[script]
    answer = _solved(text, settings)
    if answer.answer != "unknown":
        _KNOWN[script] = answer
    return answer


def _solved(text: str, settings: SolvingOptions) -> Answer:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(text.partition("(check-sat)")[0], True, False)
    solver = parser.bitwuzla()
    start = time.thread_time()
    asked, steps = itertools.count(1), settings.steps
    solver.configure_terminator(
        lambda: time.thread_time() - start > settings.timeout if steps is None else next(asked) > steps
    )
    answer = str(solver.check_sat()).lower()
    seconds = time.thread_time() - start
    values = {}
    if answer == "sat":
        for name in re.findall(r"^\(declare-const (\|[^|]*\||\S+)", text, re.MULTILINE):
            value = solver.get_value(parser.parse_term(name))
            boolean = value.sort().is_bool()
            values[name.strip("|")] = int(value.value()) if boolean else int(value.value(2), 2)
    reason = "timeout" if answer == "unknown" else ""
    return Answer(answer, "bitwuzla", "in process", seconds, values, reason, digest(text))
