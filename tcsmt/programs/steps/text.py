"""The text of a program, which reads back as the same program (:mod:`tcsmt.programs.written.grammar`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.program import Indices, ProductRun, ProgramStep, UnitProgram


def text_of(program: UnitProgram, unit_name: Callable[[Model], str]) -> str:
    """Return the program as lines ``NAME = STEP(...)``; the result is ``d``. unit_name: of a unit."""
    names: list[str] = []
    lines: list[str] = []
    split: set[str] = set()
    last = program.steps.index(program.result)
    for number, step in enumerate(program.steps):
        taken = ["+0" if at is None else names[at] for at in step.takes]
        match step.kind:
            case "input":
                names.append(step.how["name"])
            case "note":
                names.append(taken[0])
            case "constant":
                names.append(f"{step.how['fmt'].hex(step.how['word'])}:{step.how['fmt'].name}")
            case _:
                words = _words(step)
                name = "d" if number == last else f"v{len(lines)}"
                if words:
                    name = taken[0] if taken[0] not in split else f"{name}w"
                    split.add(name)
                names.append(name)
                left = ", ".join(f"{name}{n}" for n in range(words)) or name
                along = "t" if step.kind == "chain" and _axes(program, step) == "t" else "K"
                lines.append(f"{left} = {_call(step, taken, unit_name, along)}")
    if not lines or not lines[-1].startswith("d = "):
        lines.append(f"d = {names[program.output]}")
    return "".join(f"{line}\n" for line in lines)


def _words(step: ProgramStep) -> int:
    """Return how many words of each number a step gives; 0 of one that gives numbers."""
    match step.kind:
        case "split":
            return int(step.how["split"].words)
        case "digits":
            return int(step.how["slicing"].count)
    return 0


def _axes(program: UnitProgram, step: ProgramStep) -> str:
    """Return the axes of a chain's left operand."""
    at = step.takes[1] if len(step.takes) > 1 else None
    return "" if at is None else program.steps[at].axes


def _call(step: ProgramStep, taken: Sequence[str], unit_name: Callable[[Model], str], along: str) -> str:
    how = step.how
    match step.kind:
        case "chain" | "chain_each":
            scaled = f" scaled {'·'.join(taken[3:])}" if taken[3:] else ""
            products = "; ".join(_run(run, taken[1:3], scaled, along) for run in how["runs"])
            return f"chain({unit_name(how['unit'])}, {products}, {taken[0]})"
        case "padding":
            return f"chain({unit_name(how['unit'])}, padding, {taken[0]})"
        case "pick":
            return f"{taken[0]}[{how['at']}]"
        case "compare":
            return f"compare({taken[0]}, {how['relation']}, {taken[1]})"
        case "function":
            return f"nearest({how['name']}, {taken[0]})"
        case "select" | "negate" | "absolute" | "exponent":
            return f"{step.kind}({', '.join(taken)})"
        case "spread":
            return f"spread({taken[0]}, K)"
        case "power_of_two":
            shift = [f"shift={how['shift']}"] if how["shift"] else []
            return f"power_of_two({', '.join([*taken, *shift, *(['up'] if how['up'] else [])])})"
        case "block_maximum":
            return f"maximum({taken[0]}, over blocks(K, {how['every']}), nan={how['nan']})"
        case "maximum":
            return f"maximum({', '.join(taken)}, nan={how['nan']})"
        case "residue":
            taken = [f"{taken[0]}0"]
        case "exact_sum":
            parts = [f"{weight}·{x}" for weight, x in zip(how["weights"], taken, strict=True)]
            return f"exact_sum({', '.join(parts)}, modulus={how['modulus']})"
        case "sum":
            taken = [taken[0], f"tree = {how['tree']}"]
    options = []
    if step.kind == "digits":
        cut = how["slicing"]
        options += [step.format.name, str(cut.count), cut.rounding.name, f"bits={cut.bits}"]
    elif step.kind == "split":
        split = how["split"]
        options += [split.format.name, str(split.words), split.rounding.name]
        options += [f"residual={split.residual.name}", *([f"scale={split.scale}"] if split.scale else [])]
    else:
        options.append(step.format.name)
    if "rounding" in how and not how["rounding"].ties_to_even:
        options.append(how["rounding"].name)
    options += ["saturate"] if how.get("saturate") else []
    named = ("modulus", "base", "place", "shift", "bits")
    options += [f"{name}={how[name]}" for name in named if how.get(name)]
    kind = "convert" if step.kind == "convert_randomly" else step.kind
    if step.kind == "convert_randomly":
        taken, options = taken[:1], [*options, f"random={taken[1]}"]
    return f"{kind}({', '.join([*taken, *options])})"


def _run(run: ProductRun, operands: Sequence[str], scaled: str, along: str) -> str:
    left, right = (
        name if run.words is None else f"{name}{number}"
        for name, number in zip(operands, run.words or (0, 0), strict=True)
    )
    return f"{left}·{right}{scaled} over {_place(run.indices, along)}"


def _place(indices: Indices, along: str) -> str:
    """``K[4:8]``, or every index. along: what the indices are of."""
    first, last = int(indices[0]), int(indices[-1])
    if np.array_equal(indices, np.arange(first, last + 1)):
        return f"{along}[{first}:{last + 1}]"
    return f"{along}[{' '.join(map(str, indices.tolist()))}]"
