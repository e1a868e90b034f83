"""Questions about tiny models, solved in this process: a child for each costs more than its answer."""

from __future__ import annotations

import re
import time

import bitwuzla

from tcsmt.prove.solvers.answer import Answer, digest
from tcsmt.prove.solvers.run import Settings


def solve(text: str, settings: Settings) -> Answer:
    """What :func:`.solve` does, by Bitwuzla."""
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(settings.timeout * 1000)))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(text.partition("(check-sat)")[0], True, False)
    solver = parser.bitwuzla()
    start = time.perf_counter()
    answer = str(solver.check_sat()).lower()
    seconds = time.perf_counter() - start
    values = {}
    if answer == "sat":
        for name in re.findall(r"^\(declare-const (\|[^|]*\||\S+)", text, re.MULTILINE):
            value = solver.get_value(parser.parse_term(name))
            boolean = value.sort().is_bool()
            values[name.strip("|")] = int(value.value()) if boolean else int(value.value(2), 2)
    reason = "timeout" if answer == "unknown" else ""
    return Answer(answer, "bitwuzla", "in process", seconds, values, reason, digest(text))
