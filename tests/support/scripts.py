"""Scripts answered by the solvers' own Python interfaces, in this process."""

from __future__ import annotations

import bitwuzla
import cvc5
import z3


def ask_z3(text: str) -> str:
    """Z3's answer to a script."""
    solver = z3.Solver()
    solver.from_string(text)
    return str(solver.check())


def ask_cvc5(text: str) -> str:
    """cvc5's answer to a script."""
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(command.invoke(solver, symbols))
    return next(answer.strip() for answer in answers if "sat" in answer)


def ask_bitwuzla(text: str) -> str:
    """Bitwuzla's answer to a script."""
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(text, True, False)
    return str(parser.bitwuzla().check_sat()).rpartition(".")[2].lower()


def ask_bitwuzla_btor2(text: str) -> str:
    """Bitwuzla's answer to the constraints of a BTOR2 file."""
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options(), "btor2")
    parser.parse(text, True, False)
    return str(parser.bitwuzla().check_sat()).rpartition(".")[2].lower()


SOLVERS = {"z3": ask_z3, "cvc5": ask_cvc5, "bitwuzla": ask_bitwuzla}
