"""The command line; a module of commands is imported when one of them is used."""

from __future__ import annotations

import click

from tcsmt.interface.api.terminal import __version__
from tcsmt.interface.cli.lazy import Lazy

#: The commands in the groups that ``--help`` shows, each with what it says there.
_GROUPS = {
    "Ask": {
        "find": "Find a property of a unit, with a witness or a proof.",
        "properties": "List what can be asked of a unit.",
        "compare": "Are two units the same function?",
        "atlas": "Compare all units of the catalogue, pair by pair.",
        "claims": "Judge published statements by data and proofs.",
        "certificate": "Check and read certificates of proofs.",
    },
    "Simulate": {
        "run": "Simulate a unit on the rows of a file.",
        "gemm": "Multiply matrices as a kernel on the unit would.",
        "quantise": "Round a matrix to narrow numbers with scales, as libraries do.",
        "quantise compare": "Are two quantisers the same function?",
        "quantise identify": "Which quantisers give these numbers and scales?",
        "kernel": "Explain results of matrix products.",
        "explain": "Draw one dot-add bit by bit.",
        "page": "Write a page that computes units in a browser.",
    },
    "Hardware": {
        "check": "Is an implementation the unit?",
        "vectors": "Write test vectors with the expected results.",
        "validate": "Replay measured data against the models.",
        "probe": "Write a program that tests a GPU.",
        "identify": "Identify a black box from its answers.",
        "audit": "Find out what test vectors leave undecided.",
    },
    "Accuracy": {
        "accuracy": "Errors of algorithms on a unit: bounds, sweeps, flaws.",
        "reproduce": "Run a paper's experiments again.",
    },
    "Data": {
        "models": "List the catalogue.",
        "design": "Read a hardware design (SystemVerilog, BTOR2) as a unit.",
        "describe": "Describe a unit by the parameters of every convention.",
        "export": "Write a unit as SystemVerilog, C, BTOR2 or SMT-LIB.",
    },
}

#: Where they are; groups of commands are in modules of their own names.
_MODULES = {
    "ask": "find properties compare atlas claims",
    "simulate": "run gemm quantise explain page",
    "quantisers": "quantise_compare quantise_identify",
    "hardware": "check vectors validate probe",
    "identification": "identify audit",
    "data": "models design describe export reproduce",
}


@click.group(
    cls=Lazy,
    package=__name__,
    groups=_GROUPS,
    modules=_MODULES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="tcsmt")
def main() -> None:
    """Find out what matrix units compute, bit for bit: inputs on which they differ, or proofs that there
    are none.

    A unit is given as an architecture or a GPU (for its most used instruction), as ARCH/INSTRUCTION (the
    instruction may be written as in PTX), or as a model file. Results go to standard output, everything
    else to standard error.

    \b
    Examples:
      tcsmt find --property carry-bits --arch volta
      tcsmt compare a100 h100
      tcsmt explain h100 --vector "a0=1.5 b0=0x3e00 c=-0x1p-4"
    """
