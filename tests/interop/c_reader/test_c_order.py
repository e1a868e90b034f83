"""Orders of evaluation that C leaves open: refused where they can matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.interop.c_reader.c_source import available
from tcsmt.support.errors import TcsmtError
from tests.support.c_functions import HELPERS, read, same_as_compiled

pytestmark = pytest.mark.skipif(not available(), reason="clang is not installed")

G = (
    HELPERS
    + """
static const int8_t table[4] = {1, 2, 3, 4};
static void part(uint32_t x, struct pair *p) { p->x = x & 1; p->y = x >> 1; }
static uint32_t steps(uint32_t x) { struct pair p; part(x, &p); return p.y; }
static float real(uint32_t x) { float f; memcpy(&f, &x, 4); return f; }
static uint32_t word(float f) { uint32_t x; memcpy(&x, &f, 4); return x; }
static void led(uint32_t **p, uint32_t *to) { *p = to; }
static uint32_t moved(uint32_t *p, uint32_t *q) { p = q; return ++*p; }
static uint32_t through(uint32_t *p) { uint32_t *q = p; return ++*q; }
uint32_t f(uint32_t a, uint32_t b, uint32_t c) { %s }
"""
)


@pytest.mark.parametrize(
    "body",
    [
        # what gcc and clang make two functions of
        "uint32_t t = a, s = t + (t = b * c, t); return s;",
        "return a++ + a;",
        "a = a++; return a;",
        "a = (a = 5) + 1; return a;",
        "uint32_t y = (y = 5) + 1; return y;",
        "uint32_t t[4] = {0}; t[a++ & 3] = a; return t[1];",
        "return pure(a++) + a;",
        "return next(&a) + a;",
        "return next(&a) - next(&a);",
        "return pure(next(&a) - next(&a));",
        "uint32_t t[2] = {next(&a), next(&a)}; return t[0];",
        "struct pair p = {next(&a), next(&a)}; return p.x;",
        "a += next(&a); return a;",
        "uint32_t *p = &a; return *p + a++;",
        "uint32_t t[4] = {0}; t[a & 3] = t[b & 3] = c; return t[0];",
        "struct pair p; return (p.as.f = 0, p.as.u) + (p.as.u = 2);",
        "return next(&b) + moved(&a, &b);",
        "return a + moved(&b, &a);",
        "return a + through(&a);",
        "uint32_t *p; return (led(&p, &b), 1) + next(p);",
        "uint32_t t[2] = {a, b}; return next(t) + next(t + 1);",
        "return next(&b) ? 1 : (a = a++);",
        "return ({ uint32_t z = a++ + a; z; });",
        "return (memset(&a, 0, 4) == &a) + a;",
    ],
)
def test_an_order_that_c_leaves_open(tmp_path: Path, body: str) -> None:
    with pytest.raises(TcsmtError, match=r"f\.c:\d+: .*order of evaluation"):
        read(G % body, tmp_path, function="f")


@pytest.mark.parametrize(
    "body",
    [
        "uint32_t t = b * c; return t + t;",
        "a = a + 1; return a;",
        "a = next(&a); return a;",
        "return pure(a) + pure(b);",
        "return got(&a) + got(&b);",
        "return steps(a) + steps(b);",
        "return word(real(a)) + word(real(b)) + table[a & 3];",
        "struct pair x, y; part(a, &x), part(b, &y); return x.y + y.x;",
        "uint32_t x = 1, y = 2; return next(&x) + next(&y);",
        "struct pair p, *q = &p; q->x = q->y = a; return p.x;",
        "uint32_t t[4]; t[0] = t[1] = a; return t[0];",
        "return a && (a = 3, a);",
        "a = (a = 5, a); return a;",
        "return a ? b++ : b--;",
        "uint32_t t[2] = {a, b}, *p = t; *p++ = c; return *p;",
        "uint32_t i = a & 1, t[2] = {b, c}; t[i] = pure(t[i]); return t[0];",
        "return sizeof(a++) + a;",
    ],
)
@pytest.mark.slow_cases(
    "return word(real(a)) + word(real(b)) + table[a & 3];",
    "uint32_t i = a & 1, t[2] = {b, c}; t[i] = pure(t[i]); return t[0];",
    "uint32_t t[2] = {a, b}, *p = t; *p++ = c; return *p;",
)
def test_an_order_that_does_not_matter(tmp_path: Path, body: str) -> None:
    same_as_compiled(G % body, tmp_path)
