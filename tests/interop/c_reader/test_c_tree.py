"""The syntax tree that clang prints: functions, what they call, and where they are."""

from __future__ import annotations

import json
import subprocess

import pytest

from tcsmt.interop.c_reader.c_source import available
from tcsmt.interop.c_reader.c_tree import read_tree
from tcsmt.support.errors import TcsmtError

TEXT = """typedef unsigned word;
#define TWICE(x) ((x) +\\
  (x))
union u { float f; word w; };
static word g(word x) {
  return TWICE(x);
}
word h(void);
static word unused(void) { return 1; }
word f(word a) { return g(a) + h(); }
"""


@pytest.mark.skipif(not available(), reason="clang is not installed")
def test_functions_and_their_places() -> None:
    command = ["clang", "-fsyntax-only", "-Xclang", "-ast-dump=json", "-x", "c", "-"]
    done = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=True)
    tree = read_tree(done.stdout)
    assert sorted(tree.functions) == ["f", "g", "unused"]
    assert [one.name for one in tree.called_from("f")] == ["f", "g"]
    assert tree.types["word"] == "unsigned int"
    assert len(tree.unions) == 2
    places = {node.kind: node.place for node in tree.functions["f"].walk()}
    assert places["ReturnStmt"] == "<stdin>:10"
    inner = {node.kind: node.place for node in tree.functions["g"].walk()}
    assert inner["ReturnStmt"] == "<stdin>:6"


def test_trees_nested_too_deeply_are_refused() -> None:
    text = '{"kind": "ParenExpr", "inner": [' * 90_000 + "]}" * 90_000
    with pytest.raises((TcsmtError, json.JSONDecodeError)) as refused:
        read_tree(text)
    assert isinstance(refused.value, TcsmtError)
