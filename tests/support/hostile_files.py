"""Files that a stranger could send to use up memory or time, or for a traceback, and commands that read them.

``python -m tests.support.hostile_files FOLDER NAME...`` runs the commands and prints how each ends.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["MAKERS", "main"]

#: By name: makes a file or a folder in a folder, and says which command reads it.
MAKERS: dict[str, Callable[[Path], list[object]]] = {}

#: What files hold, by what is wrong with them.
Files = dict[str, str | bytes]

DEEP = "[" * 100_000
LONG = "9" * 5000
UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
MODEL = """kind = "ieee-dot-add"
a_format = "f16"
b_format = "f16"
c_format = "f16"
d_format = "f16"
sum_format = "f16"
method = "sequential"
k = 1
"""


def _case(maker: Callable[[Path], list[object]]) -> Callable[[Path], list[object]]:
    MAKERS[maker.__name__] = maker
    return maker


def _cases(contents: Mapping[str, str | bytes], name: str, *command: object) -> None:
    """Files of these contents, each read by one command; FILE stands for its path."""

    def maker(content: str | bytes, file: str) -> Callable[[Path], list[object]]:
        def make(folder: Path) -> list[object]:
            path = folder / file
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            return [path if part == "FILE" else part for part in command]

        return make

    for label, content in contents.items():
        MAKERS[f"{name}: {label}"] = maker(content, name)


def _bomb(line: bytes, count: int) -> bytes:
    """A small file that unpacks to so many lines."""
    packer = lzma.LZMACompressor(preset=0)
    chunk = line * ((1 << 20) // len(line))
    parts = [packer.compress(chunk) for _ in range(count * len(line) // len(chunk))]
    return b"".join([*parts, packer.flush()])


# --- certificates


def _certificate(folder: Path, change: dict[str, Any], **more: Any) -> list[object]:
    """A certificate of plain words x and y with other parts."""
    terms = [["var", 8, "x", []], ["var", 8, "y", []], ["eq", 1, None, [0, 1]]]
    statement = {"title": "t", "inputs": {"x": 8, "y": 8}, "calls": [], "terms": terms, "goal": 2} | change
    record = {"certificate": 1, "tcsmt": "0", "statement": statement, "lemmas": [], "terms": []}
    record |= {"proof": [{"using": [], "free": []}]} | more
    for name in ("statements", "lemmas", "models"):
        (folder / name).mkdir()
    (folder / "statements" / "s.json").write_text(json.dumps(record))
    return ["certificate", "check", folder]


@_case
def products_of_wide_words(folder: Path) -> list[object]:
    width = 4096
    names = [["var", width, name, []] for name in "xyz"]
    products = [["mul", width, None, pair] for pair in ([0, 1], [3, 2], [1, 2], [0, 5])]
    terms = [*names, *products, ["eq", 1, None, [4, 6]], ["not", 1, None, [7]]]
    return _certificate(folder, {"inputs": dict.fromkeys("xyz", width), "terms": terms, "goal": 8})


@_case
def a_goal_that_is_a_word(folder: Path) -> list[object]:
    return _certificate(folder, {"goal": 0})


@_case
def words_without_end(folder: Path) -> list[object]:
    terms = [["const", 8192, "f" * 2048, []], *(["add", 8192, None, [n, n]] for n in range(100_000))]
    return _certificate(folder, {"terms": terms})


@_case
def a_word_of_a_million_bits(folder: Path) -> list[object]:
    return _certificate(folder, {"terms": [["const", 1 << 20, "1", []]]})


@_case
def an_entry_that_is_nested(folder: Path) -> list[object]:
    entry: Any = []
    for _ in range(900):
        entry = [entry]
    return _certificate(folder, {"terms": [entry]})


@_case
def a_proof_in_itself(folder: Path) -> list[object]:
    proof: Any = [{"using": [], "free": []}]
    for _ in range(300):
        proof = [{"fact": 2, "proof": proof}, {"using": [], "free": []}]
    terms = [["var", 8, "x", []], ["var", 8, "y", []], ["eq", 1, None, [0, 1]]]
    return _certificate(folder, {}, terms=terms, proof=proof)


@_case
def steps_about_nothing(folder: Path) -> list[object]:
    steps = [{"fact": 2, "proof": [{"using": [], "free": []}]}] * 100_000
    terms = [["var", 8, f"x{n}", []] for n in range(2)]
    terms += [["add" if n % 3 else "xor", 8, None, [n, n + 1]] for n in range(40_000)]
    terms.append(["eq", 1, None, [len(terms) - 1, 0]])
    change = {"inputs": {"x0": 8, "x1": 8}, "terms": terms, "goal": len(terms) - 1}
    equal = [["var", 8, "x0", []], ["var", 8, "x1", []], ["eq", 1, None, [0, 1]]]
    return _certificate(folder, change, terms=equal, proof=steps)


def _with_model(folder: Path, text: str) -> list[object]:
    name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.toml"
    call = {"model": name, "terms": [["var", 16, "x", []]], "a": [0], "b": [0], "c": 0}
    command = _certificate(folder, {"calls": [call]})
    (folder / "models" / name).write_text(text)
    return command


@_case
def a_certificate_with_a_model_in_brackets(folder: Path) -> list[object]:
    return _with_model(folder, f"kind = {DEEP}")


@_case
def a_certificate_with_a_model_of_a_long_number(folder: Path) -> list[object]:
    return _with_model(folder, MODEL.replace("k = 1", f"k = {LONG}"))


@_case
def a_refutation_that_unpacks_to_anything(folder: Path) -> list[object]:
    from tcsmt.language.terms import var
    from tcsmt.prove.certificates.lemma_files import lemma_of
    from tcsmt.prove.certificates.parts import path_of

    terms = [
        ["var", 8, "x", []],
        ["var", 8, "y", []],
        ["ult", 1, None, [0, 1]],
        ["ult", 1, None, [1, 0]],
        ["and", 1, None, [2, 3]],
    ]
    command = _certificate(folder, {"terms": terms, "goal": 4})
    x, y = var("x", 8), var("y", 8)
    lemma = lemma_of(x.ult(y) & y.ult(x))
    for suffix, text in (("smt2", lemma.smt2), ("cnf", lemma.cnf)):
        path_of(folder, lemma.name, suffix).write_bytes(lzma.compress(text.encode()))
    path_of(folder, lemma.name, "lrat").write_bytes(_bomb(b"9 d 1 0\n", 1 << 26))
    return command


_STATEMENTS: Files = {
    "brackets": DEEP,
    "no JSON": "{",
    "a list": "[]",
    "a long number": f'{{"certificate": {LONG}}}',
    "not UTF-8": b"\xff\xfe",
    "a key twice": '{"statement": {}, "statement": {}}',
    "NaN": '{"statement": NaN}',
    "no version": '{"statement": {}}',
    "nothing": "",
}


def _statement(content: str | bytes) -> Callable[[Path], list[object]]:
    def make(folder: Path) -> list[object]:
        command = _certificate(folder, {})
        (folder / "statements" / "s.json").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
        return command

    return make


MAKERS |= {f"a statement: {label}": _statement(content) for label, content in _STATEMENTS.items()}


# --- TOML

_TOML: Files = {
    "brackets": f"kind = {DEEP}",
    "tables in tables": "[" + ".".join(["a"] * 20_000) + "]\n",
    "a long number": MODEL.replace("k = 1", f"k = {LONG}"),
    "a long hexadecimal number": MODEL.replace("k = 1", f"k = 0x{'f' * 100_000}"),
    "many products": MODEL.replace("k = 1", "k = 1000000000"),
    "a wide format": MODEL.replace("f16", "w")
    + "[format.w]\nexponent_bits = 100000\nfraction_bits = 100000\n",
    "a key twice": f"{MODEL}k = 2\n",
    "not UTF-8": b"\xff\xfe\x00",
    "nothing": "",
    "zeros": b"\0" * 1000,
    "lines like a key's": MODEL.replace("k = 1", 'k = """\n' + "kind = 1\n" * 20_000 + '"""'),
}
_cases(_TOML, "model.toml", "describe", "FILE")
_cases(_TOML, "recipe.toml", "accuracy", "bound", "FILE", "--unit", "volta")

# --- rows

_NUMBERS = ("1e999999999", "0x1p999999999", "1e-999999999", "0x" + "f" * 100_000, LONG, "1/0", "nan nan")
_ROW = '{"a": [1, 1, 1, 1], "b": [1, 1, 1, 1], "c": %s}'
_JSON: Files = {
    "brackets": DEEP,
    "a key twice": '[{"a": [1, 1, 1, 1], "a": [2, 2, 2, 2], "b": [1, 1, 1, 1], "c": 0}]',
    "an object": "{}",
    "not UTF-8": b"\xff\xfe",
    "nothing": "",
    "a number": "7",
    **{f"c = {text:.12}": f"[{_ROW % json.dumps(text)}]" for text in _NUMBERS},
    **{f"the number {text:.12}": f"[{_ROW % text}]" for text in ("1e999999999", LONG, "-1e-999999999")},
}
_cases(_JSON, "rows.json", "run", UNIT, "--input", "FILE")
_cases({"brackets": DEEP, "a long number": _ROW % LONG}, "rows.jsonl", "run", UNIT, "--input", "FILE")
_HEAD = "a0,a1,a2,a3,b0,b1,b2,b3,c\n"
_CSV: Files = {
    "a column twice": "a0,a0,a1,a2,a3,b0,b1,b2,b3,c\n1,2,1,1,1,1,1,1,1,0\n",
    "a field": _HEAD + "1" * 200_000,
    "zeros": b"\0" * 1000,
    "nothing": "",
    "a quotation": _HEAD + '"' + "1," * 100_000,
    **{f"c = {text:.12}": f"{_HEAD}1,1,1,1,1,1,1,1,{text}\n" for text in _NUMBERS},
}
_cases(_CSV, "rows.csv", "run", UNIT, "--input", "FILE")
_cases(
    {"a long word": "f" * 100_000, "no word": "xyz", "zeros": b"\0" * 99},
    "rows.hex",
    "run",
    UNIT,
    "--input",
    "FILE",
)
_cases({"a long word": "f" * 100_000, "no word": "xyz"}, "rows.mem", "run", UNIT, "--input", "FILE")


@_case
def rows_that_unpack_to_anything(folder: Path) -> list[object]:
    (folder / "rows.csv.xz").write_bytes(_bomb(b"1,1,1,1,1,1,1,1\n", 1 << 25))
    return ["run", UNIT, "--input", folder / "rows.csv.xz"]


@_case
def an_xz_file_that_ends_early(folder: Path) -> list[object]:
    (folder / "rows.csv.xz").write_bytes(lzma.compress(b"a0\n" * 1000)[:-20])
    return ["run", UNIT, "--input", folder / "rows.csv.xz"]


# --- arrays


def _npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def _head(shape: str, dtype: str = "'<f4'") -> str:
    return f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}\n"


_ARRAYS = {
    "parentheses": _npy("(" * 9000),
    "a huge shape": _npy(_head("(1<<60,)")),
    "a large shape": _npy(_head(f"({10**15},)"), b"\0" * 64),
    "a shape below 0": _npy(_head("(-4,)"), b"\0" * 64),
    "objects": _npy(_head("(1,)", "'|O'"), b"cos\nsystem\n(S'true'\ntR."),
    "many fields": _npy(_head("(1,)", str([("a", "<f4")] * 200))),
    "a descr that is no type": _npy(_head("(1,)", "7")),
    "a text": b"1 2 3",
    "nothing": b"",
    "half a head": b"\x93NUMPY\x01",
}
_cases(_ARRAYS, "a.npy", "gemm", UNIT, "--a", "FILE", "--b", "FILE", "--output", "d.npy")


def _safetensors(table: str, data: bytes = b"") -> bytes:
    return len(table).to_bytes(8, "little") + table.encode() + data


def _tensor(**changes: object) -> str:
    return json.dumps({"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} | changes)


_TENSORS = {
    "a name twice": _safetensors(f'{{"x": {_tensor()}, "x": {_tensor()}}}', b"\0" * 16),
    "brackets": _safetensors(DEEP),
    "a long table": (1 << 62).to_bytes(8, "little") + b"{}",
    "a huge shape": _safetensors(f'{{"x": {_tensor(shape=[1 << 62, 1 << 62])}}}', b"\0" * 16),
    "a shape below 0": _safetensors(f'{{"x": {_tensor(shape=[-2, -2])}}}', b"\0" * 16),
    "a shape of text": _safetensors(f'{{"x": {_tensor(shape="abc")}}}', b"\0" * 16),
    "data beyond the end": _safetensors(f'{{"x": {_tensor(data_offsets=[1 << 40, (1 << 40) + 16])}}}'),
    "a list": _safetensors(f'{{"x": [{_tensor()}]}}'),
    "no table": _safetensors("[]"),
    "nothing": b"",
    "a dtype that is a list": _safetensors(f'{{"x": {_tensor(dtype=["F32"])}}}', b"\0" * 16),
}
_cases(_TENSORS, "a.safetensors", "gemm", UNIT, "--a", "FILE", "--b", "FILE", "--output", "d.npy")


def _archive(members: dict[str, bytes], twice: str = "") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        if twice:
            with warnings.catch_warnings(action="ignore"):
                archive.writestr(twice, members[twice])
    return content.getvalue()


def _array(array: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


@_case
def arrays_that_unpack_to_anything(folder: Path) -> list[object]:
    count = 3 << 27
    path = folder / "rows.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as member:
        member.write(_npy(_head(f"({count},)")))
        for _ in range(count >> 18):
            member.write(bytes(1 << 20))
    return ["run", UNIT, "--input", folder / "rows.npz"]


_FOUR = {name: _array(np.zeros((1, 4), np.float16)) for name in ("a.npy", "b.npy")}
_NPZ = {
    "an array twice": _archive(_FOUR | {"c.npy": _array(np.zeros(1, np.float32))}, "a.npy"),
    "a large shape": _archive({"a.npy": _ARRAYS["a large shape"]}),
    "objects": _archive({"a.npy": _ARRAYS["objects"]}),
    "parentheses": _archive({"a.npy": _ARRAYS["parentheses"]}),
    "a text": b"PK\x03\x04 no archive",
    "nothing": b"",
    "a text in it": _archive({"a.npy": b"abc"}),
}
_cases(_NPZ, "rows.npz", "run", UNIT, "--input", "FILE")

# --- designs, stores, transcripts

_BTOR2: Files = {
    "a wide word": "1 sort bitvec 1000000000\n2 input 1 a\n3 output 2 d\n",
    "a long constant": f"1 sort bitvec 64\n2 constd 1 {LONG}\n3 output 2 d\n",
    "a cycle": "1 sort bitvec 8\n2 not 1 2\n",
    "an array": "1 sort bitvec 60\n2 sort array 1 1\n3 state 2\n",
    "no number": "x sort bitvec 1\n",
    "nothing": "",
    "a shift by far": "1 sort bitvec 8\n2 input 1 a\n3 uext 1 2 99999999999\n4 output 3 d\n",
    "zeros": b"\0" * 99,
}
_cases(
    _BTOR2,
    "d.btor2",
    "design",
    "FILE",
    "--format",
    "a=u8",
    "--format",
    "b=u8",
    "--format",
    "c=u8",
    "--format",
    "d=u8",
)
_STORES: Files = {
    "brackets": DEEP,
    "a list": "[]",
    "a long number": f'{{"verdicts": {LONG}}}',
    "not UTF-8": b"\xff",
}
_cases(_STORES, "store.json", "atlas", "volta", "--store", "FILE")
_cases(_STORES, "data.json", "validate", "FILE")
_cases(_STORES, "asked.jsonl", "identify", "--box", "volta", "--transcript", "FILE")


def main() -> None:
    """Run the commands and print, for each, its name, how it ends and what it says, as lines of JSON."""
    from click.testing import CliRunner

    from tcsmt.interface.cli import main as command_line

    folder = Path(sys.argv[1])
    for number, name in enumerate(sys.argv[2:]):
        here = folder / str(number)
        here.mkdir(parents=True)
        command = MAKERS[name](here)
        result = CliRunner().invoke(command_line, [str(part) for part in command])
        error = "" if isinstance(result.exception, SystemExit) else repr(result.exception)
        print(
            json.dumps(
                [
                    name,
                    result.exit_code,
                    result.output[-600:]
                    if result.output.count("Error: ") != 1
                    else result.output[result.output.index("Error: ") :][:600],
                    error,
                ]
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
