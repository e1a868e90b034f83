"""The catalogue as a whole: every instruction that is published, and names that agree with models."""

from __future__ import annotations

import re

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models import IntegerDotAdd


def test_names_and_models_agree() -> None:
    """Types, k and scales are as the instruction's name says."""
    amd = {"xf32": "tf32", "fp8": "e4m3fnuz", "bf8": "e5m2fnuz"}
    for row in rows():
        model, name = row.model, row.instruction.partition("@")[0]
        if isinstance(model, IntegerDotAdd):
            continue  # their names are tested with their architectures
        if name.startswith("v_dot2_f32_f16"):
            assert (model.d_format.name, model.c_format.name) == ("f32", "f32") and model.k == 2, name
            assert (model.a_format.name, model.b_format.name) == ("f16", "f16"), name
        elif "_f8f6f4." in name:
            shape, a, b = name.split(".")
            assert f"x{model.k}_" in shape and (model.a_format.name, model.b_format.name) == (a, b), name
            assert model.scales == (model.k // 32 if "_scale_" in name else 0), name
        elif row.architecture.startswith("cdna"):
            # OCP's FP8 on CDNA4, the other ones before
            types = {key: fmt.removesuffix("fnuz") for key, fmt in amd.items()}
            types = types if row.architecture == "cdna4" else amd
            found = re.fullmatch(
                r"v_mfma_(f\d\d)_\d+x\d+x(\d+)(?:_\d+b)?_?(bf16|x?f\d\d|[fb]p?[f8]?8)(?:_([fb]p?[f8]?8))?(_1k)?",
                name,
            )
            assert found, name
            d, k, a, b, _ = found.groups()
            assert (model.d_format.name, model.k) == (d, int(k)), name
            assert model.a_format.name == types.get(a, a), name
            assert model.b_format.name == types.get(b or a, b or a), name
        elif name.startswith("mvmul"):
            registers = {"f32": "e8m23fn", "tf32": "e8m10fn", "bf16": "e8m7fn", "f16": "e5m10fn"}
            _, d, source, _ = name.split(".")
            assert (model.d_format.name, model.c_format.name) == (registers[d], registers[d]), name
            assert (model.a_format.name, model.b_format.name) == (registers[source],) * 2, name
            assert model.k == 16
        elif row.architecture.startswith("rdna"):
            found = re.fullmatch(
                r"v_(dot2|dot4|wmma)_(b?f\d\d)(?:_\d+x\d+x16)?_(bf16|f16|[fb][pf]8)(_[fb][pf]8)?(_w\d\d)?",
                name,
            )
            assert found, name
            kind, d, a, b, _ = found.groups()
            fp8 = {"fp8": "e4m3", "bf8": "e5m2"}
            lengths = {"dot2": 2, "dot4": 4, "wmma": 16}
            assert (model.d_format.name, model.c_format.name, model.k) == (d, d, lengths[kind]), name
            b = (b or a).removeprefix("_")
            assert (model.a_format.name, model.b_format.name) == (fp8.get(a, a), fp8.get(b, b)), name
        elif row.architecture == "riscv":
            assert (
                name == f"rvbna.n{model.k}.{model.d_format.name}.{model.a_format.name}.{model.b_format.name}"
            )
        elif row.architecture in ("x86", "arm"):
            parts = [part for part in name.split(".") if part in FORMATS]
            names = [f.name for f in (model.d_format, model.a_format, model.b_format)]
            assert parts in ([], names), name
            factor = "bf16" if "bf" in name else "f16"
            assert parts or set(names) == {"f32", factor}, name
        else:
            parts = [t for t in name.split(".") if not re.match("mma|wgmma|tcgen05|m|kind|block", t)]
            formats = [model.d_format, model.a_format, model.b_format, model.c_format]
            expected = [f.name for f in formats[: 4 if name.startswith("mma") else 3]]
            scale = [] if model.scale_format is None else [model.scale_format.name]
            assert parts == expected + scale, name
            assert re.search(rf"k{model.k}\b", name), name
            block = re.search(r"block(\d+)", name)
            assert model.scales == (model.k // int(block[1]) if block else 0), name
