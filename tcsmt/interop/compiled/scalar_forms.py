"""The arithmetic of PTX on single numbers: what each instruction means, named with all of its modifiers.

Source: the PTX ISA, sections "Floating-Point Instructions", "Half Precision Floating-Point Instructions" and
"Data Movement and Conversion Instructions: cvt". Without ``.rn`` an addition or a multiplication is rounded
to nearest even, too, but ptxas may join it with another one to a multiply-add: such forms are marked. Of an
approximation the ISA gives a bound alone ("ex2", "div", "rcp"): its words are a freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ScalarForm:
    """One form. step: of the language of programs, with formats and rounding; takes, gives: formats. lanes:
    numbers in a register (``f16x2``: 2), each computed alone. joins: whether ptxas may join it with another.
    swapped: the first operand gives the upper half of the result, the second the lower one. approximate: the
    name of what no document defines the words of.
    """

    step: str
    takes: tuple[str, ...]
    gives: str
    lanes: int = 1
    joins: bool = False
    swapped: bool = False
    approximate: str = ""


def _approximated(name: str, count: int, ulps: int) -> ScalarForm:
    step = f"approximate({name}, {', '.join(f'{{{n}}}' for n in range(count))}, within={ulps} ulp)"
    return ScalarForm(step, ("f32",) * count, "f32", approximate=name)


def _converted(source: str, target: str, rounding: str = "", **more: bool | int) -> ScalarForm:
    option = f", {rounding}" if rounding else ""
    return ScalarForm(f"convert({{0}}, {target}{option})", (source,), target, **more)  # type: ignore[arg-type]


def _forms() -> dict[str, ScalarForm]:
    f32 = "f32"
    found = {
        "add.f32": ScalarForm("add({0}, {1}, f32)", (f32, f32), f32, joins=True),
        "add.rn.f32": ScalarForm("add({0}, {1}, f32)", (f32, f32), f32),
        "sub.f32": ScalarForm("add({0}, -{1}, f32)", (f32, f32), f32, joins=True),
        "sub.rn.f32": ScalarForm("add({0}, -{1}, f32)", (f32, f32), f32),
        "mul.f32": ScalarForm("multiply({0}, {1}, f32)", (f32, f32), f32, joins=True),
        "mul.rn.f32": ScalarForm("multiply({0}, {1}, f32)", (f32, f32), f32),
        "fma.rn.f32": ScalarForm("multiply_add({0}, {1}, {2}, f32)", (f32, f32, f32), f32),
        "max.f32": ScalarForm("maximum({0}, {1}, nan=ignored)", (f32, f32), f32),
        "max.NaN.f32": ScalarForm("maximum({0}, {1}, nan=propagated)", (f32, f32), f32),
        "ex2.approx.f32": _approximated("ex2.approx", 1, 2),
        "rcp.approx.f32": _approximated("rcp.approx", 1, 1),
        "div.full.f32": _approximated("div.full", 2, 2),
        "cvt.f32.f16": _converted("f16", f32),
        "cvt.f32.bf16": _converted("bf16", f32),
        "cvt.rna.tf32.f32": _converted(f32, "tf32", "RNA"),
        "cvt.rn.f16x2.e4m3x2": _converted("e4m3", "f16", lanes=2),
        "cvt.rn.f16x2.e5m2x2": _converted("e5m2", "f16", lanes=2),
    }
    for name in ("add.f32", "add.rn.f32", "sub.f32", "sub.rn.f32", "mul.f32", "mul.rn.f32", "fma.rn.f32"):
        found[f"{name}x2"] = replace(found[name], lanes=2)
    for narrow in ("f16", "bf16"):
        found[f"cvt.rn.{narrow}.f32"] = _converted(f32, narrow)
        found[f"cvt.rn.{narrow}x2.f32"] = _converted(f32, narrow, lanes=2, swapped=True)
    return found


#: Every form that is read, by its name with all modifiers.
SCALAR_FORMS = _forms()
