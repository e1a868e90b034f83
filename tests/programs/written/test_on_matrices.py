"""Matrices by programs in files, against NumPy and against the kernel of the same steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.models import Operands
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.written.on_matrices import is_program_file
from tcsmt.programs.written.programs import WrittenProgram, lines_of
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast
from tests.support.command_line import done, refused

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
TEXT = f"""
a_format = "f16"
b_format = "f16"
nan = "quiet"
program = '''
for P in split(K, 2):
    s[P] = chain({UNIT}, A·B over P)
d = any_of("last", add(sum(s, order), c, f32), convert(sum(s, order), f16))
'''
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "halves.toml"
    path.write_text(TEXT, "utf-8")
    return str(path)


def test_products_are_those_of_the_steps(program: str) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((7, 18)).astype(np.float16), rng.standard_normal((18, 5)).astype(np.float16)
    c = rng.standard_normal((7, 5)).astype(np.float32)
    parts = (tcsmt.gemm(a[:, part], b[part], unit=UNIT) for part in (slice(9), slice(9, 18)))
    total = sum(parts, np.float32(0))
    d = tcsmt.accuracy.multiply(a, b, c, algorithm=f"{program},last=0")
    assert d.dtype == np.float32 and (d == total + c).all()
    half = tcsmt.accuracy.multiply(a, b, algorithm=f"{program},last=1")
    assert half.dtype == np.float16 and (half == total.astype(np.float16)).all()


@pytest.mark.parametrize(
    "order", [[0, 4, 1, 5, 2, 6, 3, 7], [0, 4, 2, 6, 1, 5, 3, 7], [7, 1, 2, 3, 4, 5, 6, 0]]
)
def test_products_in_another_order_are_those_of_permuted_operands(tmp_path: Path, order: list[int]) -> None:
    """The first and the last index of an order do not tell it from K itself."""
    path = tmp_path / "order.toml"
    places = " ".join(map(str, order))
    chain = f"d = chain({UNIT}, A·B over permuted(K, {places}), c)"
    path.write_text(f"{TEXT.split('for P', maxsplit=1)[0]}{chain}\n'''\n", "utf-8")
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((30, 16)).astype(np.float16), rng.standard_normal((16, 30)).astype(np.float16)
    taken = np.concatenate([order, np.add(order, 8)])
    want = tcsmt.gemm(a[:, taken], b[taken], unit=UNIT)
    assert (want != tcsmt.gemm(a, b, unit=UNIT)).any()
    d = tcsmt.accuracy.multiply(a, b, algorithm=str(path))
    assert d.tobytes() == want.tobytes()


def test_what_is_no_program_needs_a_unit(program: str, tmp_path: Path) -> None:
    a = np.ones((2, 4), np.float16)
    assert is_program_file(program) and not is_program_file("markidis")
    with pytest.raises(tcsmt.TcsmtError, match="unit is missing"):
        tcsmt.accuracy.multiply(a, a.T, algorithm="markidis")
    with pytest.raises(tcsmt.TcsmtError, match="C has shape"):
        tcsmt.accuracy.multiply(a, a.T, a, algorithm=f"{program},last=0")
    with pytest.raises(tcsmt.TcsmtError, match="the number of columns of A"):
        tcsmt.accuracy.multiply(a, a, algorithm=f"{program},last=0")
    with pytest.raises(tcsmt.TcsmtError, match=r"absent\.toml"):
        tcsmt.accuracy.multiply(a, a.T, algorithm=str(tmp_path / "absent.toml"))


def test_the_command(program: str, tmp_path: Path) -> None:
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.ones((4, 4), np.float16))
    paths = ["--a", tmp_path / "a.npy", "--b", tmp_path / "b.npy", "--output", tmp_path / "d.npy"]
    text = done("accuracy", "multiply", f"{program},last=0", *paths)
    assert "4 x 4 float32" in text and (np.load(tmp_path / "d.npy") == 4).all()
    assert "choose one of last=0, last=1" in refused("accuracy", "multiply", program, *paths)


def written(path: Path, text: str, formats: str = "f16", tile: int = 0, **inputs: str) -> str:
    given = "".join(f'{name} = "{value}"\n' for name, value in inputs.items())
    path.write_text(
        f'a_format = "{formats}"\nb_format = "{formats}"\nnan = "quiet"\ntile = {tile}\n'
        f"program = '''{text}'''\n[inputs]\n{given}",
        "utf-8",
    )
    return str(path)


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_scales_of_blocks_multiply_partial_sums(tmp_path: Path) -> None:
    """acc += dot·sa·sb, in binary32, with and without a contraction."""
    text = f"""
acc = +0:f32
for P in blocks(K, 16):
    q = multiply(chain({UNIT}, A·B over P), sa[P], f32)
    acc = any_of("contraction", multiply_add(q, sb[P], acc, f32),
                                add(multiply(q, sb[P], f32), acc, f32))
d = acc
"""
    file = written(tmp_path / "scales.toml", text, sa="f32 A/16", sb="f32 B/16")
    a, b = numbers(1, 5, 40).astype(np.float16), numbers(2, 40, 3).astype(np.float16)
    scales = {"sa": np.abs(numbers(3, 5, 3)), "sb": np.abs(numbers(4, 3, 3))}
    fused, apart = np.zeros((5, 3)), np.zeros((5, 3), np.float32)
    for block in range(3):
        part = slice(16 * block, 16 * block + 16)
        dot = tcsmt.gemm(a[:, part], b[part], unit=UNIT)
        q = dot * scales["sa"][:, block, None]
        exact = q.astype(np.longdouble) * scales["sb"][block].astype(np.longdouble)  # 48 bits of 64
        fused = (exact + fused).astype(np.float32)
        apart = q * scales["sb"][block] + apart
    for choice, wanted in ((0, fused), (1, apart)):
        name = f"{file},contraction={choice}"
        found = tcsmt.accuracy.multiply(a, b, algorithm=name, inputs=scales)
        assert (found == wanted).all(), choice
    with pytest.raises(tcsmt.TcsmtError, match=r"sa has shape \(5, 2\): with axes A/16 it is \(5, 3\)"):
        tcsmt.accuracy.multiply(a, b, algorithm=name, inputs={**scales, "sa": scales["sa"][:, :2]})
    with pytest.raises(tcsmt.TcsmtError, match=r"input sb \(f32 B/16\) of the program is missing"):
        tcsmt.accuracy.multiply(a, b, algorithm=name, inputs={"sa": scales["sa"]})
    with pytest.raises(tcsmt.TcsmtError, match="did you mean sb"):
        tcsmt.accuracy.multiply(a, b, algorithm=name, inputs={**scales, "sbb": 1})


def test_zero_points(tmp_path: Path) -> None:
    """The integers are those of (A - za)·(B - zb), and the scales come last."""
    text = """
s  = chain(ampere/mma.m16n8k32.s32.s8.s8.s32, A·B over K, 0)
ra = sum(convert(A, s32), order, s32, wrap)
rb = sum(convert(B, s32), order, s32, wrap)
i  = add(s, add(-multiply(zb, ra, s32), -multiply(za, rb, s32), s32), s32)
j  = add(i, multiply(K:s32, multiply(za, zb, s32), s32), s32)
d  = multiply(convert(j, f32, RNE), multiply(sa, sb, f32, RNE), f32, RNE)
"""
    axes = {"za": "s32 a", "zb": "s32", "sa": "f32 a", "sb": "f32 b"}
    file = written(tmp_path / "zero.toml", text, "s8", **axes)
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((6, 70), (70, 4)))
    za, zb = rng.integers(-9, 9, 6).astype(np.int32), np.int32(5)
    sa, sb = np.abs(numbers(6, 6)), np.abs(numbers(7, 4))
    exact = (a.astype(np.int64) - za[:, None]) @ (b.astype(np.int64) - zb)
    wanted = exact.astype(np.float32) * (sa[:, None] * sb)
    given = {"za": za, "zb": zb, "sa": sa, "sb": sb}
    assert (tcsmt.accuracy.multiply(a, b, algorithm=file, inputs=given) == wanted).all()


def test_bias_and_activation(tmp_path: Path) -> None:
    text = f"""
t = add(chain({UNIT}, A·B over K), bias, f32)
d = convert(maximum(t, +0:f32, nan=propagated), bf16)
"""
    file = written(tmp_path / "bias.toml", text, bias="f32 b")
    a, b, bias = numbers(1, 4, 12).astype(np.float16), numbers(2, 12, 5).astype(np.float16), numbers(3, 5)
    a[2, 1] = np.nan
    found = tcsmt.accuracy.multiply(a, b, algorithm=file, inputs={"bias": bias})
    total = tcsmt.gemm(a, b, unit=UNIT) + bias
    wanted = np.maximum(total, np.float32(0)).astype(found.dtype)
    assert np.isnan(found[2].astype(float)).all()
    assert (np.delete(found, 2, 0) == np.delete(wanted, 2, 0)).all() and (found == 0).any()


def exp2(x: Any) -> Any:
    """By binary64, which none of these inputs brings too close to the middle of two numbers of binary32."""
    return np.exp2(np.asarray(x, np.float64)).astype(np.float32)


def test_a_softmax_row(tmp_path: Path) -> None:
    """Each row's numbers over their sum, which is added by halves; a choice says what approximations are."""
    text = """
m = maximum(A, over K, nan=ignored)
e = approximate(ex2.approx.f32, multiply(add(A, -m, f32), 0x3fb8aa3b:f32, f32), within=2 ulp)
s = sum(e, tree = order of 2, then halves, f32)
d = approximate(div.full.f32, e, s, within=2 ulp)
"""
    file = written(tmp_path / "softmax.toml", text, "f32")
    x = numbers(9, 7, 8)
    with pytest.raises(tcsmt.TcsmtError, match=r"words of ex2\.approx\.f32: ex2\.approx\.f32=nearest"):
        tcsmt.accuracy.multiply(x, x.T, algorithm=file)
    name = f"{file},ex2.approx.f32=nearest,div.full.f32=nearest"
    found = tcsmt.accuracy.multiply(x, x.T, algorithm=name)
    log2e = np.array(0x3FB8AA3B, np.uint32).view(np.float32)
    e = exp2((x - x.max(axis=1, keepdims=True)) * log2e)
    pairs = e[:, ::2] + e[:, 1::2]
    total = (pairs[:, 0] + pairs[:, 2]) + (pairs[:, 1] + pairs[:, 3])
    assert (found == e / total[:, None]).all()
    with pytest.raises(tcsmt.TcsmtError, match="a word for each of A: a unit gives one"):
        tcsmt.unit(f"{name}@8")


def test_a_block_of_attention(tmp_path: Path) -> None:
    text = f"""
s  = chain({UNIT}, A·keys over K, +0)
m2 = maximum(m, maximum(s, over t, nan=ignored), nan=ignored)
r  = approximate(ex2.approx.f32, add(m, -m2, f32), within=2 ulp)
p  = approximate(ex2.approx.f32, add(s, -m2, f32), within=2 ulp)
x  = convert(p, f16)
d  = chain({UNIT}, x·V over t, multiply(o, r, f32))
"""
    axes = {"keys": "f16 tK", "V": "f16 tB", "m": "f32 a", "o": "f32"}
    file = written(tmp_path / "attention.toml", text, tile=6, **axes)
    q, keys, v = (
        numbers(seed, *size).astype(np.float16) for seed, size in ((1, (5, 8)), (2, (8, 6)), (3, (6, 4)))
    )
    m, o = numbers(4, 5), numbers(5, 5, 4)
    given = {"keys": keys, "V": v, "m": m, "o": o}
    name = f"{file},ex2.approx.f32=nearest"
    found = tcsmt.accuracy.multiply(q, np.zeros((8, 4), np.float16), algorithm=name, inputs=given)
    s = tcsmt.gemm(q, keys, unit=UNIT)
    top = np.maximum(m, s.max(axis=1))
    p = exp2(s - top[:, None]).astype(np.float16)
    start = o * exp2(m - top)[:, None]
    assert (found == tcsmt.gemm(p, v, start, unit=UNIT)).all()


def test_an_instruction_of_padding_alone(tmp_path: Path) -> None:
    """It multiplies zeros: a c of -0, and one with more bits than the unit keeps, become what zeros leave."""
    unit = "hopper/mma.m16n8k16.f32.f16.f16.f32"
    file = written(tmp_path / "padding.toml", f"d = chain({unit}, padding, c)")
    a, b = numbers(1, 3, 4).astype(np.float16), numbers(2, 4, 2).astype(np.float16)
    c = np.array([[-0.0, 0.0], [1 + 2.0**-23, -(2.0**-149)], [np.nan, -np.inf]], np.float32)
    found = tcsmt.accuracy.multiply(a, b, c, algorithm=file)
    zeros = np.zeros((3, 16), np.float16), np.zeros((16, 2), np.float16)
    wanted = tcsmt.gemm(*zeros, c, unit=unit)
    assert (found.view(np.uint32) == wanted.view(np.uint32)).all()
    assert found.view(np.uint32)[0, 0] == 0  # not -0
    model = checked_cast(tcsmt.unit(f"{file}@4").model, WrittenProgram)
    row = [*a[0].view(np.uint16).tolist(), *b[:, 0].view(np.uint16).tolist()]
    for word, own in zip(c.reshape(-1).view(np.uint32), wanted.reshape(-1).view(np.uint32), strict=True):
        lanes = ([var(f"{side}{n}", 16) for n in range(4)] for side in "ab")
        terms = Operands(next(lanes), next(lanes), var("c", 32))
        names = [*(f"a{n}" for n in range(4)), *(f"b{n}" for n in range(4))]
        values = {**dict(zip(names, row, strict=True)), "c": int(word)}
        assert list(evaluate([model.apply(terms).output], values)) == [own]
    lines = lines_of(model.program)
    assert lines == [f"d = chain({unit}, padding, c)"]
    scaled = "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
    file = written(tmp_path / "scaled.toml", f"d = chain({scaled}, padding, c)")
    found = tcsmt.accuracy.multiply(a, b, c, algorithm=file)
    assert found.view(np.uint32)[1, 0] == c.view(np.uint32)[1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ozaki1-int8,slices=3", "ozaki2-int8,moduli=3,bits=7"])
def test_an_emulation_in_a_file_is_the_named_one(name: str, tmp_path: Path) -> None:
    """Its text multiplies as it does, and has its bound; comparisons as terms refuse a step by its name."""
    emulation, _ = emulation_named(name, "ampere")
    path, k = tmp_path / "emulation.toml", 5
    text = "\n".join(lines_of(emulation.program(k)))
    path.write_text(
        f"a_format = 'f64'\nb_format = 'f64'\nc_format = 'f64'\nprogram = \"\"\"\n{text}\n\"\"\"\n", "utf-8"
    )
    a, b, c = (
        numbers(seed, *shape).astype(np.float64) for seed, shape in enumerate(((3, k), (k, 4), (3, 4)))
    )
    a[0] *= 2.0**-1060
    a[2, 1], b[0, 3] = np.inf, np.nan
    found = tcsmt.accuracy.multiply(a, b, c, algorithm=str(path))
    wanted = tcsmt.accuracy.multiply(a, b, c, algorithm=name, unit="ampere")
    assert found.dtype == np.float64 and found.tobytes() == wanted.tobytes()
    assert np.isfinite(found[:2, :3]).all() and np.isnan(found[2]).all() and np.isnan(found[:, 3]).all()
    domain = Domain(exponents=(0, 0))
    own = tcsmt.accuracy.bound(f"{path}@{k}", domain=domain, search=0.1)
    named = tcsmt.accuracy.bound(name, "ampere", k=k, domain=domain, search=0.1)
    assert own.proved_error is not None and own.proved_error * 2.0**-53 == named.proved_error
    if "ozaki2" in name:
        with pytest.raises(TcsmtError, match="residue: CalledTermRules has no rule for it"):
            tcsmt.compare(f"{path}@{k}", f"{path}@{k}")


def test_inputs_are_given_by_name_to_the_commands(tmp_path: Path) -> None:
    """A bias, to the product and to its tolerance; what is no NAME=FILE is refused."""
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((3, 8)).astype(np.float16), rng.standard_normal((8, 4)).astype(np.float16)
    bias = rng.standard_normal(4).astype(np.float32)
    for name, array in {"a": a, "b": b, "bias": bias}.items():
        np.save(tmp_path / f"{name}.npy", array)
    path = tmp_path / "biased.toml"
    text = f"{TEXT.split('for P', maxsplit=1)[0]}d = add(chain({UNIT}, A·B over K, +0), bias, f32)\n'''\n"
    path.write_text(f'{text}[inputs]\nbias = "f32 b"\n', "utf-8")
    files = ["--a", str(tmp_path / "a.npy"), "--b", str(tmp_path / "b.npy")]
    given, result = ["--input", f"bias={tmp_path / 'bias.npy'}"], str(tmp_path / "d.npy")
    done("accuracy", "multiply", str(path), *files, *given, "--output", result)
    assert (np.load(result) == tcsmt.gemm(a, b, unit=UNIT) + bias).all()
    assert "within" in done("kernel", "tolerance", str(path), *files, *given, "--d", result)
    for wrong in (["--input", "bias"], [*given, *given], []):
        assert "bias" in refused("accuracy", "multiply", str(path), *files, *wrong, "--output", result)
