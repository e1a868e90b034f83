"""LLVM IR run on terms: functions written by hand, with pointers that have no types (LLVM 15 and later)."""

from __future__ import annotations

from itertools import product

import pytest

from tcsmt.interop.c_reader.llvm_execution import Execution
from tcsmt.interop.c_reader.llvm_memory import Memory
from tcsmt.interop.c_reader.llvm_reader import read_llvm
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, any_of, var
from tcsmt.support.errors import TcsmtError

A, B = var("a", 4), var("b", 4)


def run(body: str) -> tuple[Term, Execution]:
    execution = Execution(read_llvm(f"define i4 @f(i4 %a, i4 %b) {{\n{body}\n}}"))
    result, _ = execution.run("f", [A, B], Memory())
    assert isinstance(result, Term)
    return result, execution


def values(result: Term, execution: Execution) -> dict[tuple[int, int], int | None]:
    """None where something has no meaning."""
    fault = any_of(one.happens for one in execution.faults)
    found = {}
    for a, b in product(range(16), repeat=2):
        value, wrong = evaluate([result, fault], {"a": a, "b": b})
        found[a, b] = None if wrong else value
    return found


def test_phis_read_what_was_before_any_of_them() -> None:
    """Fibonacci's numbers from a and b on, three of them: phis read what was before any of them."""
    body = """entry:
  br label %loop
loop:
  %x = phi i4 [ %a, %entry ], [ %y, %loop ]
  %y = phi i4 [ %b, %entry ], [ %sum, %loop ]
  %n = phi i4 [ 0, %entry ], [ %more, %loop ]
  %sum = add i4 %x, %y
  %more = add nuw i4 %n, 1
  %again = icmp ult i4 %more, 3
  br i1 %again, label %loop, label %end
end:
  ret i4 %sum"""
    expected = {(a, b): (2 * a + 3 * b) % 16 for a, b in product(range(16), repeat=2)}
    assert values(*run(body)) == expected


def test_loops_may_end_where_the_inputs_say() -> None:
    """Bits below the lowest one that is set; of 0 there is no such bit, and the loop shifts too far."""
    body = """entry:
  %place = alloca i4
  store i4 0, ptr %place
  br label %loop
loop:
  %n = load i4, ptr %place
  %shifted = lshr i4 %a, %n
  %low = trunc i4 %shifted to i1
  br i1 %low, label %end, label %next
next:
  %more = add i4 %n, 1
  store i4 %more, ptr %place
  %far = icmp eq i4 %more, 5
  br i1 %far, label %end, label %loop
end:
  %found = load i4, ptr %place
  ret i4 %found"""
    found = values(*run(body))
    assert all(found[a, b] == ((a & -a).bit_length() - 1 if a else None) for a, b in found)


def test_ways_that_meet() -> None:
    """a == 0 || b == 0 ? 1 : a == b ? unreachable : a - b, without a borrow."""
    body = """entry:
  %p = icmp eq i4 %a, 0
  br i1 %p, label %one, label %right
right:
  %q = icmp eq i4 %b, 0
  br i1 %q, label %one, label %else
else:
  %same = icmp eq i4 %a, %b
  br i1 %same, label %never, label %sub
never:
  unreachable
sub:
  %less = sub nuw i4 %a, %b
  br label %end
one:
  br label %end
end:
  %r = phi i4 [ %less, %sub ], [ 1, %one ]
  ret i4 %r"""
    for (a, b), found in values(*run(body)).items():
        assert found == (1 if not a or not b else None if a <= b else a - b)


def test_indices_and_switches_choose_by_the_inputs() -> None:
    body = """entry:
  %t = alloca [3 x i4]
  %p1 = getelementptr inbounds [3 x i4], ptr %t, i64 0, i64 1
  %p2 = getelementptr inbounds [3 x i4], ptr %t, i64 0, i64 2
  store i4 5, ptr %t
  store i4 6, ptr %p1
  store i4 7, ptr %p2
  %i = zext i4 %a to i64
  %p = getelementptr inbounds [3 x i4], ptr %t, i64 0, i64 %i
  switch i4 %b, label %end [
    i4 1, label %write
    i4 -1, label %write
  ]
write:
  store i4 9, ptr %p
  br label %end
end:
  %r = load i4, ptr %p1
  %s = load i4, ptr %p
  %d = add i4 %r, %s
  ret i4 %d"""
    for (a, b), found in values(*run(body)).items():
        table = [5, 6, 7]
        if a < 3 and b in (1, 15):
            table[a] = 9
        assert found == ((table[1] + table[a]) % 16 if a < 3 else None)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%r = fadd float 1.0, 2.0", "fadd is not supported"),
        ("%r = add i4 poison, %a", "a value that the compiler calls undefined"),
        ("%r = call i4 @g(i4 %a)", "g is not defined in this file"),
        ("%r = udiv i4 %a, %b", "a division by anything but a power of two"),
        ("%p = inttoptr i4 %a to ptr", "inttoptr is not supported"),
    ],
)
def test_refused(line: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        run(f"entry:\n  {line}\n  ret i4 %a")
