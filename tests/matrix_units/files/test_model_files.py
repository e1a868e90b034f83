"""Models of one's own: files that are written, read, refused and used."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, Specials, float_format
from tcsmt.matrix_units.catalogue import Row, row_named, rows, sequences_of
from tcsmt.matrix_units.files.model_files import (
    is_model_file,
    model_toml,
    read_model,
)
from tcsmt.matrix_units.models import FusedDotAdd, InstructionSequence, IntegerDotAdd, Model
from tcsmt.matrix_units.models.file_texts import has_file, meanings, parameters_toml
from tcsmt.matrix_units.resolve import resolve
from tcsmt.simulate.rows import simulate
from tcsmt.support.errors import TcsmtError
from tests.support.paths import DATA

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
HEAD = f'name = "mine"\nbase = "{VOLTA}"\n'


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def tcsmt(*arguments: object, code: int = 0) -> str:
    """Standard output, or the error where the code is 2."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.stderr
    return result.stderr if code == 2 else result.stdout


# --- written and read --------------------------------------------------------------------------


@pytest.mark.slow
def test_every_row_reads_back(tmp_path: Path) -> None:
    for row in rows():
        path = written(tmp_path, model_toml(row))
        assert read_model(path).model == row.model, row.name


def test_sequences_read_back(tmp_path: Path) -> None:
    for row in sequences_of("wormhole"):
        assert read_model(written(tmp_path, model_toml(row))).model == row.model, row.name
    # formats of one's own belong to all instructions
    half = row_named("volta/mma.m8n8k4.f32.f16.f16.f16").model
    own = dict.fromkeys(("a_format", "b_format", "c_format", "d_format"), OWN["mine"])
    model = InstructionSequence(instructions=(half.replace(**own),) * 2)
    assert read_model(written(tmp_path, parameters_toml(model))).model == model
    assert has_file(model)
    assert not has_file(InstructionSequence(instructions=(model,)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"missing parameters of instruction-sequence: instructions$"),
        ("instructions = []", r":2: instructions = \(\): must be one model or more"),
        ("instructions = [3]", r":2: instructions = \[3\]: must be tables, \[\[instructions\]\]"),
        ("k = 4", r":2: unknown parameter of instruction-sequence 'k'"),
        ("[[instructions]]\nk = 4", "kind is not given; kinds: fused-dot-add, "),
        ("[[instructions]]\nkind = 'circuit'\nbase = 'volta'", r":4: base is not allowed here"),
        ("[[instructions]]\nname = 'x'\nkind = 'circuit'", r":3: name is not allowed here"),
        ("[[instructions]]\nkind = 'grouped'", r":3: .*unknown kind of model 'grouped'"),
        (
            "[[instructions]]\nkind = 'integer-dot-add'\nbits = 5",
            r":4: unknown parameter of integer-.* 'bits'",
        ),
        (
            "[[instructions]]\nkind = 'integer-dot-add'\nk = 4",
            "missing parameters of integer-dot-add: a_format",
        ),
    ],
)
def test_malformed_sequences_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"kind = 'instruction-sequence'\n{text}\n")
    with pytest.raises(TcsmtError, match=message):
        read_model(path)


def test_words_and_orders_read_back(tmp_path: Path) -> None:
    row = row_named(f"{VOLTA}@fasi")
    model = row.model.replace(order=(2, 0, 3, 1), nan=0xFFC00001, product_format="f32")
    text = model_toml(replace(row, model=model))
    assert "\norder = [2, 0, 3, 1]\n" in text
    assert "\nnan = 0xffc00001\n" in text
    assert read_model(written(tmp_path, text)).model == model


OWN = {
    "mine": Format(name="mine", exponent_bits=5, fraction_bits=10, bias=16),
    "half": Format(name="half", exponent_bits=5, fraction_bits=10, bias=16),
    "e3m4": Format(name="e3m4", exponent_bits=3, fraction_bits=4, bias=3, specials=Specials.NAN_ONLY),
    "odd-one": Format(
        name="odd-one", exponent_bits=4, fraction_bits=3, bias=-2, specials=Specials.NONE, signed=False,
        ignored_low_bits=2, ignored_high_bits=1,
    ),
    "s12": IntegerFormat(name="s12", bits=12),
    "q8": IntegerFormat(name="q8", bits=16, fraction_bits=8),
    "u3": IntegerFormat(name="u3", bits=3, signed=False),
}  # fmt: skip


@pytest.mark.parametrize("name", ["mine", "e3m4", "odd-one"])
def test_a_format_of_ones_own_reads_back(name: str, tmp_path: Path) -> None:
    row = row_named(VOLTA)
    text = model_toml(replace(row, model=row.model.replace(a_format=OWN[name], b_format=OWN["e3m4"])))
    assert f"\n[format.{name}]\n" in text
    model = read_model(written(tmp_path, text)).model
    assert (model.a_format, model.b_format) == (OWN[name], OWN["e3m4"])


@pytest.mark.parametrize("name", ["s12", "q8", "u3"])
def test_integers_of_ones_own_read_back(name: str, tmp_path: Path) -> None:
    d = IntegerFormat(name="wide", bits=64, fraction_bits=16)
    model = IntegerDotAdd(a_format=OWN[name], b_format=OWN[name], c_format=d, d_format=d, k=2)
    text = model_toml(replace(row_named(VOLTA), model=model))
    assert read_model(written(tmp_path, text)).model == model


def test_formats_that_a_file_cannot_hold() -> None:
    row = row_named(VOLTA)
    other = replace(float_format(OWN["mine"]), bias=3)
    changes: tuple[tuple[dict[str, AnyFormat], str], ...] = (
        ({"a_format": replace(OWN["mine"], name="f16")}, "f16 is the name of another format"),
        ({"a_format": OWN["mine"], "b_format": other}, "two formats of that name"),
        ({"a_format": OWN["half"]}, "half is the name of another format"),
    )
    for change, message in changes:
        with pytest.raises(TcsmtError, match=message):
            model_toml(replace(row, model=row.model.replace(**change)))


TABLE = "exponent_bits = 3\nfraction_bits = 4\nbias = 3\n"


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (4, "[format.mine]\nbitz = 3\n", "a table has either exponent_bits"),
        (6, "[format.mine]\nbits = 3\nexponent_bits = 3\n", "mine has both"),
        (4, "[format.mine]\nexponent_bits = 3\n", "mine lacks fraction_bits"),
        (4, f"[format.e4m3]\n{TABLE}", "e4m3 is the name of another format"),
        (4, f"[format.'3']\n{TABLE}", "'3' is not a format's name"),
        (6, f"[format.mine]\n{TABLE}".replace("= 4", "= 65"), "fraction_bits = 65: must be an integer from"),
        (5, f"[format.mine]\n{TABLE}".replace("= 3\nf", "= true\nf"), "exponent_bits = True: must be an"),
        (8, f'[format.mine]\n{TABLE}specials = "some"\n', "specials = 'some': must be one of ieee, "),
        (8, f"[format.mine]\n{TABLE}signed = 1\n", "signed = 1: must be true or false"),
        (8, f"[format.mine]\n{TABLE}sign = 1\n", "unknown value of a format 'sign': did you mean signed"),
        (5, "[format.mine]\nbits = 65\n", "bits = 65: must be an integer from 1 to 64"),
        (4, "[format.mine]\nexponent_bits = 15\nfraction_bits = 60\n", "mine has 76 bits: at most 64"),
        (4, "[format.mine]\nexponent_bits = 3\nfraction_bits = 0\n", "specials = 'ieee': such a format has"),
        (4, "[format]\nmine = 3\n", "format.mine = 3: must be a table"),
        (3, "format = 3\n", "format = 3: must be tables"),
        (3, f'a_format = "mime"\n[format.mine]\n{TABLE}', "unknown format 'mime': did you mean mine"),
        (3, 'a_format = "s8"\n', "a_format = s8: must be a floating-point format or its name"),
    ],
)  # fmt: skip
def test_a_wrong_format_is_named_with_its_line(line: int, text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + ("" if line == 3 else "k = 4\n") + text)
    with pytest.raises(TcsmtError, match=f"^{re.escape(str(path))}:{line}: .*{message}"):
        read_model(path)


@pytest.mark.parametrize("kind", {type(row.model): None for row in rows()}, ids=lambda kind: kind.kind)
def test_every_parameter_is_explained(kind: type[FusedDotAdd]) -> None:
    """By an entry of its own, or in another's."""
    explained = meanings(kind)
    words = set(re.findall(r"\w+", " ".join(explained.values())))
    assert not {one.name for one in fields(kind.table())} - explained.keys() - words


def test_printed_model_files_explain_every_parameter() -> None:
    text = tcsmt("models", "--toml", VOLTA)
    assert text == model_toml(row_named(VOLTA))
    assert text.startswith(f"# {VOLTA}\n# source: MMA-Sim")
    assert text.index('kind = "fused-dot-add"') < text.index("a_format")
    assert "\n# products in one fused sum (block FMA size N_FMA); divides k.\nn_fma = 4\n" in text
    assert '\ncarry_bits = "none"\n' in text
    assert max(map(len, text.splitlines()[2:])) <= 100


def test_model_files_name_their_source_and_note(tmp_path: Path) -> None:
    plain = read_model(written(tmp_path, model_toml(row_named(VOLTA)), "plain.toml"))
    assert (plain.name, plain.evidence, plain.source, plain.note) == (
        "custom/plain", "conjectured", str(tmp_path / "plain.toml"), "",
    )  # fmt: skip
    text = f'{HEAD}fraction_bits = 24\nsource = "a paper"\n'
    row = read_model(written(tmp_path, text))
    assert (row.name, row.source) == ("custom/mine", "a paper")
    assert row.note == f"{VOLTA}, changed: fraction_bits"
    assert read_model(written(tmp_path, f'{text}note = "wider"\n')).note == "wider"


def test_model_files_change_what_they_give_and_nothing_else(tmp_path: Path) -> None:
    volta = row_named(VOLTA).model
    assert read_model(written(tmp_path, HEAD)).model == volta
    text = f'{HEAD}kind = "fused-dot-add"\nrounding = "rne"\ncarry_bits = 2\n'
    assert read_model(written(tmp_path, text)).model == volta.replace(rounding="RNE", carry_bits=2)
    text = f'{HEAD}zero_exponent = "none"\nb_format = "bf16"\n'
    assert read_model(written(tmp_path, text)).model == volta.replace(zero_exponent=None, b_format="bf16")


def test_other_ways_to_write_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode() + b'"k"=4\r\n\tn_fma = 0x2 # two')
    model = read_model(path).model
    assert isinstance(model, FusedDotAdd)
    assert (model.k, model.parameters.n_fma) == (4, 2)


@pytest.mark.parametrize(("number", "extra", "rounding"), [(1, 0, "RNE"), (2, 1, "RTP")])
def test_the_papers_custom_models_have_their_stated_parameters(
    number: int, extra: int, rounding: str
) -> None:
    """Section V-A: n_eab 0 and nearest even, n_eab 1 and up; N_FMA = 8, FP16 to FP32."""
    model = read_model(DATA / f"khattak-custom-{number}.toml").model
    assert isinstance(model, FusedDotAdd)
    assert (model.extra_alignment_bits, model.parameters.n_fma, model.parameters.rounding.name) == (
        extra,
        8,
        rounding,
    )
    assert (model.a_format.name, model.d_format.name) == ("f16", "f32")


# --- refused -----------------------------------------------------------------------------------

WHOLE = model_toml(row_named(VOLTA))
FASI = model_toml(row_named(f"{VOLTA}@fasi"))


def without(text: str, *keys: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.split(" = ")[0] not in keys)


OF = "unknown parameter of fused-dot-add"
MISSING = "missing parameters of fused-dot-add"
ORDER = 'order = "none"'
EVERY = f"{HEAD}normalisation = 'every'\n"
#: The text of a file, the line of the error (None: of the whole file), and how it goes on.
BAD: dict[str, tuple[str, int | None, str]] = {
    "unknown key": (f"{HEAD}fraction_bit = 3", 3, f"{OF} 'fraction_bit': did you mean fraction_bits?"),
    "a key of another kind": (f"{HEAD}\nmethod = 'fma'", 4, f"{OF} 'method': "),
    "unknown table": (f"{HEAD}[models]\nk = 4", 3, f"{OF} 'models': "),
    "misspelt about": (f"{HEAD}nme = 'x'", 3, f"{OF} 'nme': did you mean name"),
    "quoted key": (f"{HEAD}'no key' = 3", 3, f"{OF} 'no key': "),
    "not in a text": (f'{HEAD}note = """\nkk = 3\n"""\nkk = 3', 3, "note = "),
    "not in an array": (f"{HEAD}method = [\n1,\n]\nk = 'x'", 3, f"{OF} 'method'"),
    "twice": (f"{HEAD}k = 4\n\nk = 8\n", 5, "not TOML: k is given twice: 'k = 8'"),
    "syntax": (f"{HEAD}k = = 4\n", 3, "not TOML: Invalid value: 'k = = 4'"),
    "half a line": (f"{HEAD}k =", 3, "not TOML: Invalid value: 'k ='"),
    "open text": (f'{HEAD}note = """x\n\n', 4, "not TOML: "),
    "integer": (f"{HEAD}k = 4.0", 3, "k = 4.0: must be an integer"),
    "text for a number": (f"{HEAD}k = '4'", 3, "k = '4': must be an integer"),
    "no number": (f"{HEAD}fraction_bits = true", 3, "fraction_bits = true: must be an integer"),
    "no number, or none": (f"{HEAD}carry_bits = false", 3, 'carry_bits = false: must be an integer or "'),
    "boolean": (f"{HEAD}flush_inputs = 1", 3, "flush_inputs = 1: must be True or False"),
    "none": (f"{HEAD}k = 'none'", 3, "k = 'none': must be an integer"),
    "array": (FASI.replace(ORDER, 'order = [0, "a", 2, 3]'), None, "order = [0, 'a', 2, 3]: must be "),
    "permutation": (FASI.replace(ORDER, "order = [0, 1, 2, 2]"), None, "order = (0, 1, 2, 2): must be "),
    "format": (f"{HEAD}a_format = 'fp17'", 3, "a_format: unknown format 'fp17': "),
    "rounding": (f"{HEAD}rounding = 'RNE'\nc_rounding = 'RNX'", 4, "c_rounding: unknown rounding mode 'RNX"),
    "choice": (f"{HEAD}products = 'normalized'", 3, "unknown products 'normalized': did you mean normalised"),
    "range": (f"{HEAD}note = 'x'\nk = 2000", 4, "k = 2000: must be from 1 to 1024"),
    "contradiction": (f"{HEAD}n_fma = 3", 3, "n_fma = 3: must be a divisor of k = 4"),
    "contradiction with the base": (f"{HEAD}k = 6", 3, "k: n_fma = 4: must be a divisor of k = 6"),
    "two that contradict": (f"{EVERY}carry_bits = 3", 4, "carry_bits = 3: must be None when norm"),
    "kind": (WHOLE.replace("fused-dot-add", "fused-dot"), 9, "unknown kind of model 'fused-dot': did you "),
    "kind is no text": ("kind = 3", 1, "kind = 3: must be one line of text"),
    "kind of the base": (f"{HEAD}kind = 'ieee-dot-add'", 3, "kind = 'ieee-dot-add': must be fused-dot-"),
    "base": ("base = 'hoper'", 1, "base: unknown architecture 'hoper': did you mean hopper?"),
    "instruction": ("\nbase = 'volta/mma.m9'", 2, "base: unknown instruction of volta 'mma.m9': "),
    "name": ('base = "volta"\nname = "a\\nb"', 2, "name = 'a\\nb': must be one line of text"),
    "empty": ("", None, "neither kind nor base is given; kinds: "),
    "missing": (
        without(WHOLE, "n_fma", "zero_exponent"), None,
        f"{MISSING}: n_fma, zero_exponent (such as -131 ({VOLTA}), "
        "-132 (turing/mma.m16n8k8.f32.f16.f16.f32), "
        '-133 (hopper/mma.m16n8k16.f32.f16.f16.f32), -512 (rdna3/v_dot2_f32_f16))',
    ),
    "ambiguous format": (
        f"{HEAD}a_format = 'fp8'", 3,
        "a_format: ambiguous format 'fp8': it could mean e4m3 (OCP, bias 7) or e4m3fnuz (bias 8, no neg",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_their_line(case: str, tmp_path: Path) -> None:
    text, line, message = BAD[case]
    path = written(tmp_path, text)
    with pytest.raises(TcsmtError) as caught:
        read_model(path)
    where = re.escape(str(path)) + (f":{line}" if line else r"(:\d+)?")
    assert re.match(f"{where}: {re.escape(message)}", str(caught.value)), caught.value
    assert "\n" not in str(caught.value)
    assert str(caught.value) in tcsmt("describe", path, code=2)


def test_the_line_is_of_the_key_itself(tmp_path: Path) -> None:
    """Not of a line in an array or a text that looks like it."""
    text = FASI.replace(ORDER, "order = [0,\n1, 2,\n3]") + "kk = 3\n"
    with pytest.raises(TcsmtError, match=rf":{text.count(chr(10))}: unknown parameter of ieee-dot-add 'kk'"):
        read_model(written(tmp_path, text))
    text = f'{HEAD}[x]\ntext = """\nkk = 3\n"""\n'
    with pytest.raises(TcsmtError, match=f":3: {OF} 'x'"):
        read_model(written(tmp_path, text))


def test_no_file(tmp_path: Path) -> None:
    assert f"cannot read {tmp_path}/no.toml: No such file" in tcsmt("describe", tmp_path / "no.toml", code=2)
    assert "Is a directory" in tcsmt("run", written_folder(tmp_path), "--input", "x.json", code=2)
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "\xe9"')
    assert f"{path}: not UTF-8 text" in tcsmt("describe", path, code=2)
    assert ": not TOML: nested too deeply" in tcsmt(
        "describe", written(tmp_path, "k = " + "[" * 9999), code=2
    )


def written_folder(folder: Path) -> Path:
    path = folder / "folder.toml"
    path.mkdir()
    return path


# --- used --------------------------------------------------------------------------------------


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Volta's unit with one fraction bit more."""
    return written(tmp_path, f"{HEAD}fraction_bits = 24\n", "wide.toml")


def test_which_arguments_are_files(tmp_path: Path) -> None:
    plain = written(tmp_path, HEAD, "model")
    assert [is_model_file(name) for name in ("x.toml", "X.TOML", str(plain), "volta", VOLTA, "")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert not is_model_file(str(tmp_path))
    assert resolve(str(plain)).row.name == "custom/mine"
    assert resolve(VOLTA).row == row_named(VOLTA)


@pytest.mark.slow
def test_find(wide: Path) -> None:
    text = tcsmt("find", "--property", "carry-bits", "--model", wide)
    assert f"unit: custom/mine, evidence: conjectured ({wide})" in text
    assert "answer: 3 carry bits are enough and 2 are not" in text
    report = json.loads(tcsmt("find", "--property", "product-normalization", "--model", wide, "--json"))
    assert (report["architecture"], report["instruction"]) == ("custom", "mine")
    assert report["findings"][0]["supported"] == ["unnormalised products"]
    same = tcsmt("find", "--property", "carry-bits", "--model", VOLTA)
    assert f"unit: {VOLTA}, evidence: measured" in same


def test_find_objects(tmp_path: Path, wide: Path) -> None:
    path = written(tmp_path, FASI)
    message = "carry-bits does not apply to custom/mine: properties ask about units of one fused sum"
    assert message in tcsmt("find", "--property", "carry-bits", "--model", path, code=2)
    assert "tf32-truncation does not apply" in tcsmt(
        "find", "--property", "tf32-truncation", "--model", wide, code=2
    )


@pytest.mark.parametrize(
    "options", [(), ("--arch", "volta", "--model", VOLTA), ("--model", VOLTA, "--instruction", "x")]
)
def test_find_takes_one_of_them(options: tuple[str, ...]) -> None:
    message = "give either --arch (and --instruction), or --model"
    assert message in tcsmt("find", "--property", "carry-bits", *options, code=2)


def test_run(wide: Path, tmp_path: Path) -> None:
    """A sum whose 24th bit decides; what was written names its model, and is a data set."""
    path, out = tmp_path / "rows.json", tmp_path / "out.json"
    row = {"a": [1, 1, 1, 0], "b": ["0x1p-14", "0x1p-14", 1, 0], "c": 0}
    path.write_text(json.dumps([{**row, "a": ["0x1p-10", "0x1p-10", 1, 0]}]))
    assert "0: 0x3f800001 " in tcsmt("run", wide, "--input", path)
    assert tcsmt("run", wide, "--input", path, "--output", out) == ""
    assert "0: 0x3f800000 " in tcsmt("run", VOLTA, "--input", path)
    assert "1 data set, 1 row, 0 mismatches" in tcsmt("validate", out)
    assert "1 data set, 1 row, 1 mismatch" in tcsmt("validate", out, "--against", VOLTA, code=1)


def test_describe(wide: Path) -> None:
    text = tcsmt("describe", wide)
    assert text.startswith("custom/mine\n")
    assert "alignment fraction bits F: 24 " in text
    assert f"note: {VOLTA}, changed: fraction_bits" in text
    assert "other instructions" not in text
    assert json.loads(tcsmt("describe", wide, "--json"))["model"]["fraction_bits"] == 24
    assert tcsmt("describe", VOLTA) == tcsmt("describe", "volta", VOLTA[6:])


def test_models_toml(wide: Path) -> None:
    text = tcsmt("models", "--toml", wide)
    assert "\nfraction_bits = 24\n" in text
    assert read_model(written(wide.parent, text)).model == read_model(wide).model
    for other in ("--json", "--arch=volta"):
        assert "--toml UNIT takes no other option" in tcsmt("models", "--toml", "volta", other, code=2)


@pytest.mark.parametrize("kind", {type(row.model): None for row in rows()}, ids=lambda kind: kind.__name__)
def test_meanings_of_parameters_are_plain_text(kind: type[Model]) -> None:
    """Without the documentation's markup."""
    for name, meaning in meanings(kind).items():
        assert meaning and "`" not in meaning and not re.search(r":\w+:", meaning), name


def test_from_python(wide: Path) -> None:
    row: Row = read_model(wide)
    a = np.array([[2.0**-10, 2.0**-10, 1, 0]], np.float16)
    b = np.array([[2.0**-14, 2.0**-14, 1, 0]], np.float16)
    assert simulate(row.model, a, b)[0] == np.float32(1 + 2**-23)


# --- validate goes on --------------------------------------------------------------------------


def data_set(folder: Path, name: str, model: str, lanes: int) -> None:
    row = row_named(model)
    zeros = ["0" * (fmt.width // 4) for fmt in (row.model.a_format, row.model.c_format)]
    vector = [zeros[0]] * lanes
    case = {"a": vector, "b": vector, "c": zeros[1], "d": "0" * (row.model.d_format.width // 4)}
    (folder / f"{name}.json").write_text(json.dumps({"model": row.name, "rows": [case]}))


def test_data_that_do_not_fit_are_skipped(tmp_path: Path, wide: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    data_set(folder, "a", "volta/mma.m8n8k4.f16.f16.f16.f16", 4)
    data_set(folder, "b", VOLTA, 4)
    data_set(folder, "c", "ampere/mma.m16n8k16.f32.f16.f16.f32", 6)
    text = tcsmt("validate", folder, "--against", wide)
    assert re.search(
        r"^a +skipped: has formats f16, f16, f16 to f16, but the model takes f16, f16, f32 to f32$",
        text,
        re.M,
    )
    assert re.search(r"^c +skipped: has 6 lanes, which is not a multiple of the model's k = 4$", text, re.M)
    assert text.endswith("1 data set, 1 row, 0 mismatches; 2 skipped\n")
    data = json.loads(tcsmt("validate", folder, "--against", wide, "--json"))
    assert [one["dataset"] for one in data["datasets"]] == ["b"]
    assert {one["dataset"]: one["reason"].split()[0] for one in data["skipped"]} == {"a": "has", "c": "has"}
    (folder / "b.json").unlink()
    assert "nothing to compare: a has formats f16, " in tcsmt("validate", folder, "--against", wide, code=2)


def test_an_error_of_ours_keeps_its_text(tmp_path: Path) -> None:
    """Also where a property module raises it."""
    written(
        tmp_path, 'from tcsmt.matrix_units.catalogue import row_named\n\nrow_named("hoper")\n', "early.py"
    )
    late = (
        '"""T."""\nfrom tcsmt.matrix_units.catalogue import row_named\n\n'
        'def investigate(ask):\n    row_named("hoper")\n'
    )
    written(tmp_path, late, "late.py")
    for name, place in (("early", f"{tmp_path}/early.py: line 3: "), ("late", "Error: ")):
        error = tcsmt("find", "--property", name, "--arch", "volta", "--folder", tmp_path, code=2)
        assert f"{place}unknown architecture 'hoper': did you mean hopper?" in error


def test_nan_words_of_kernels_read_back(tmp_path: Path) -> None:
    """A file gives the rule, or has its base's; without either none is known."""
    path = tmp_path / "own.toml"
    for text, rule in (
        (model_toml(row_named("h100")), "ones:f16:bf16:f32"),
        ('base = "volta"\ncarry_bits = 4\n', "ones:f16:bf16:f32"),
        ('base = "volta"\nnans_outside = "quiet:f32"\n', "quiet:f32"),
        (model_toml(row_named("mi300x")), "unknown"),
    ):
        path.write_text(text)
        assert str(read_model(path).nans_outside) == rule
    path.write_text('base = "volta"\nnans_outside = "loud"\n')
    with pytest.raises(TcsmtError, match=r"own.toml:2: .*unknown rule for NaN words 'loud'"):
        read_model(path)
