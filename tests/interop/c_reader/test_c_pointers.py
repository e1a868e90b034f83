"""What C leaves undefined and LLVM's code does not show: refused, or proved not to happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.interop.c_reader.c_source import available
from tcsmt.support.errors import TcsmtError
from tests.support.c_functions import HELPERS, read, same_as_compiled

pytestmark = pytest.mark.skipif(not available(), reason="clang is not installed")

G = HELPERS + "uint32_t f(uint32_t a, uint32_t b, uint32_t c) { %s }"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("float x = 1; return *(uint32_t *)&x;", "float * is made uint32_t *: an object is read as"),
        ("uint8_t t[4] = {1}; return *(uint32_t *)t;", "uint8_t * is made uint32_t *: an object is read as"),
        ("void *p = &a; uint64_t *q = p; return *q;", "void * is made uint64_t *"),
        ("const int x = 3; *(int *)&x = 4; return x;", "const int * is made int *: what is const"),
        ("struct pair p; float *q = &p.as.f; *q = 0; return p.as.u;", "the address of a member of a union"),
        ("uint32_t *p = &a; uint16_t *q; memcpy(&q, &p, 8); *q = 2; return a;", "the bytes of a pointer"),
        ("uint32_t *p = &a; unsigned char *q = (unsigned char *)&p; return q[0];", "the bytes of a pointer"),
        ("union { uint32_t *w; uint16_t *h; } x; x.w = &a; *x.h = 2; return a;", "a union with a pointer"),
        ("struct { uint32_t *w; } x = {&a}; uint16_t *q; memcpy(&q, &x, 8); *q = 2; return a;",
         "the bytes of a pointer"),
        ("union { struct { uint32_t *w; } x; uint16_t *h; } y; y.x.w = &a; *y.h = 2; return a;",
         "a union with a pointer"),
        ("uint32_t *restrict p = &a; return *p;", "restrict on the variable p"),
        ("return (int)a << 1;", "a signed number shifted left"),
        ("return (uint8_t)a << 24;", "a signed number shifted left"),
        ("return 2147483647 + 1;", "error: overflow in expression"),
        ("_Bool x; memcpy(&x, &a, 1); return x;", "a truth value that is neither 0 nor 1 at a = "),
        ("for (int i = 0; i < 3; i++) { uint32_t x; if (!i) x = a; c += x; } return c;", "x is read"),
        ("uint32_t *p; { uint32_t x = a; p = &x; } *p = 5; return *p;", "x is used after the end"),
        ("uint32_t *p = dead(a); *p = 5; return *p;", "x is used after the end"),
        ("for (int i = 0; i < 2; i++) { if (i) goto l; uint32_t y; y = a; l: c += y; } return c;",
         "a jump past the declaration of y"),
        ("uint8_t t[8] = {1}; memcpy(t + 1, t, 4); return t[2];", "memcpy of bytes that overlap"),
        ("both(&a, &a); return a;", "of both is restrict, but does not lead alone"),
        ("union { uint16_t h; uint32_t w; } x; x.w = a; x.h = 1; return x.w;", "a union whose members have"),
        ("uint32_t t[3] = {1, 2, 3}, *p = t + 5; return a;", "an address beyond the end of t"),
        ("memcpy((void *)0, &a, 0); return a;", "the null pointer is used"),
        ("uint32_t t[2][2] = {{0}}; return t[0][a & 3];", "beyond the array or member of t"),
        ("uint32_t t[2][2] = {{0}}, *p = t[0]; return p[3];", "beyond the array or member of t"),
        ("struct pair p = {a, b}, *q = &p; return (&q->x)[a & 1];", "beyond the array or member of p"),
    ],
)  # fmt: skip
def test_code_that_c_leaves_undefined_is_refused(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(TcsmtError) as refused:
        read(G % body, tmp_path, function="f")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        "float x; memcpy(&x, &a, 4); struct pair p; p.as.f = x; return p.as.u;",
        "uint8_t *p = (uint8_t *)&a; p[1] ^= 7; return a;",
        "struct pair p = {a, b}; uint8_t t[sizeof p]; memcpy(t, &p, sizeof p); memcpy(&p, t, 4); return p.x;",
        "struct { uint32_t x, y[2]; } p = {a, {b, c}}, q; memcpy(&q, &p, sizeof q); return q.y[1];",
        "int *p = (int *)&a; return *p == 3;",
        "return (int)(a & 255) << (b & 15);",
        "_Bool x = a; return x ? b : c;",
        "for (int i = 0; i < 3; i++) { uint32_t x = i; if (!i) x = a; c += x; } return c;",
        "if (a) goto end; b = c; end: return b;",
        "uint8_t t[8]; memcpy(t, &a, 4); memmove(t + 1, t, 4); memcpy(&b, t + 1, 4); return b;",
        "both(&a, &b); return a + b;",
        "uint32_t t[3] = {a, b, c}, *p = t + 3; return *--p;",
        "uint32_t t[2][2] = {{a, b}, {c, 1}}, *p = t[1]; return p[a & 1] + t[b & 1][c & 1];",
    ],
)
@pytest.mark.slow_cases(
    "_Bool x = a; return x ? b : c;",
    "return (int)(a & 255) << (b & 15);",
    "uint32_t t[2][2] = {{a, b}, {c, 1}}, *p = t[1]; return p[a & 1] + t[b & 1][c & 1];",
)
def test_code_that_c_defines_is_as_compiled(tmp_path: Path, body: str) -> None:
    same_as_compiled(G % body, tmp_path)


F = "uint32_t f(uint32_t a, uint32_t b, uint32_t c) "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (F + "{ const uint32_t *p; { p = (const uint32_t[]){a, a}; } return *p; }", "to a compound literal"),
        (F + "{ uint32_t *p; { p = &(uint32_t){a}; } return *p; }", "to a compound literal"),
        (F + "{ uint32_t *p; { p = &(struct pair){a, b}.x; } return *p; }", "to a compound literal"),
        ("struct s { uint32_t x[4]; }; static struct s g(uint32_t v) { struct s t = {{v}}; return t; }\n" + F
         + "{ const uint32_t *p = g(a).x; return p[0]; }", "a pointer into the result of a function"),
        ("struct s { uint32_t *restrict p; };\n" + F + "{ struct s x = {&a}; return *x.p; }",
         "restrict on the member p"),
        ("typedef uint32_t *restrict alone;\n" + F + "{ alone p = &a; return *p; }",
         "restrict on the variable"),
        ("static uint32_t g(uint32_t *restrict *p) { return **p; }\n" + F
         + "{ uint32_t *q = &a; return g(&q); }", "is made uint32_t *restrict *"),
        ("static uint32_t g(uint32_t *restrict p, uint32_t **q) { *p = 1; **q = 2; return *p; }\n" + F
         + "{ uint32_t *q = &a; return g(&a, &q); }", "p is restrict, but q leads to a pointer"),
        ("struct s { uint32_t *q; }; static uint32_t g(uint32_t *restrict p, struct s q) { *p = 1; *q.q = 2;"
         " return *p; }\n" + F + "{ struct s q = {&a}; return g(&a, q); }", "p is restrict, but q leads to"),
        ("static uint32_t g(x) uint64_t x; { return x >> 32; }\n" + F + "{ return g((int)a); }",
         "called without a prototype"),
        ("static uint32_t g(x) uint64_t x; { return x >> 32; }\n" + F
         + "{ uint32_t (*h)() = g; return h((int)a); }", "called without a prototype"),
        ("extern uint32_t g(uint32_t) __asm__(\"h\"); uint32_t h(uint32_t x) { return x; }\n" + F
         + "{ return g(a); }", "g has an asm label"),
        ("static uint32_t g(uint32_t) __asm__(\"k\"); static uint32_t g(uint32_t x) { return x; }\n" + F
         + "{ return a; }", "g: an asm label"),
        (F + "{ uint32_t n = a; return n + (uint32_t)sizeof(char[n++]); }", "whose size is not constant"),
        (F + "{ uint32_t t[(a & 3) + 1]; t[0] = a; return t[0]; }", "whose size is not constant"),
        ("union u { struct { uint64_t x : 40; } s; uint64_t w; };\n" + F
         + "{ union u u; u.w = a; return (uint32_t)(u.s.x << 8 >> 40); }", "the bit-field x, whose type is"),
        (F + "{ char x = (char)a; return (uint32_t)(x >> 1); }", "the number in a plain char"),
        ("typedef const char letter;\n" + F + "{ letter x = (letter)a; return x < 0; }", "a plain char"),
        (F + "{ char t[4]; memcpy(t, &a, 4); return (uint32_t)t[b & 3]; }", "the number in a plain char"),
        (F + "{ char x = (char)a; return (uint32_t)(float)x; }", "the number in a plain char"),
        ("static uint32_t g(const uint32_t p[static 1]) { return p == 0; }\n" + F + "{ return g(0); }",
         "a parameter with [static N]"),
        ("static uint32_t g(const uint32_t *p __attribute__((nonnull))) { return p == 0; }\n" + F
         + "{ return g(0); }", "not null"),
    ],
)  # fmt: skip
def test_files_that_c_leaves_open_are_refused(tmp_path: Path, text: str, said: str) -> None:
    """By line and name, where gcc and clang, or their levels of optimisation, need not agree."""
    with pytest.raises(TcsmtError) as refused:
        read(HELPERS + text, tmp_path, function="f")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        F + "{ return ((const uint32_t[]){a, b, 5})[c & 1]; }",
        F + "{ char t[4], u[4]; memcpy(t, &a, 4); for (int i = 0; i < 4; i++) u[i] = t[3 - i]; "
        "memcpy(&b, u, 4); return b; }",
        F + "{ signed char x = (signed char)(a & 127); unsigned char y = (unsigned char)b; return x + y; }",
        F + "{ struct pair p = (struct pair){a, b}; return p.x + (struct pair){b, c}.y; }",
        "static uint32_t g() { return 3; }\n" + F + "{ return a + g(); }",
        "static void g(uint32_t *restrict p, const uint32_t *restrict q) { *p += *q; }\n" + F
        + "{ g(&a, &b); return a; }",
        "static uint32_t g(const uint32_t p[2]) { return p[0] + p[1]; }\n" + F
        + "{ uint32_t t[2] = {a, b}; return g(t) + sizeof t; }",
    ],
)  # fmt: skip
@pytest.mark.slow_cases(
    "uint32_t f(uint32_t a, uint32_t b, uint32_t c) { return ((const uint32_t[]){a, b, 5})[c & 1]; }"
)
def test_files_that_c_defines_are_as_compiled(tmp_path: Path, text: str) -> None:
    same_as_compiled(HELPERS + text, tmp_path)
