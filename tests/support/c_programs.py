"""Random functions of integers in C, in which nothing is undefined."""

from __future__ import annotations

from random import Random

__all__ = ["program"]

_TYPES = ("uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint32_t")
_HEAD = """#include <stdint.h>
#include <string.h>
static uint32_t h(uint32_t x, uint32_t *t) {
  if (x & 1) { t[1] += x; return x >> 1; }
  t[x & 3] ^= 7;
  return t[2];
}
uint32_t f(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t x = a, y = 1, z = c ^ b, t[4] = {1, a, 3};
"""


def program(seed: int) -> str:
    """A function ``f`` of a, b and c: loops, branches, switches, bytes of an array, a call."""
    random = Random(seed)
    body = "\n  ".join(_statements(random, ["a", "b", "c", "x", "y", "z"], 2) for _ in range(3))
    return f"{_HEAD}  {body}\n  return x ^ (y + z * 3) ^ t[0] ^ t[1] ^ t[2] ^ t[3];\n}}\n"


def _expression(random: Random, names: list[str], depth: int) -> str:
    def inner() -> str:
        return _expression(random, names, depth - 1)

    if not depth or random.random() < 0.2:
        return random.choice([*names, f"{random.getrandbits(random.choice((1, 4, 8, 16, 31)))}u"])
    narrow = f"(int{random.choice((8, 16, 32))}_t)({{}})"
    match random.randrange(11):
        case 0 | 1 | 2 | 3:
            one = f"({random.choice(_TYPES)})({inner()})"
            return f"(uint32_t)({one} {random.choice('+-^&|')} (uint32_t)({inner()}))"
        case 4:
            return f"((uint32_t)({inner()}) * (uint32_t)({inner()}))"
        case 5:
            return f"((uint32_t)({inner()}) {random.choice(('<<', '>>'))} ({inner()} & 31))"
        case 6:
            return f"(uint32_t)((int32_t)({inner()}) >> ({inner()} & 31))"
        case 7:
            compared = random.choice(("<", ">", "==", "<=", "!="))
            return f"({inner()} {compared} {inner()} ? {inner()} : {inner()})"
        case 8:
            return (
                f"(uint32_t)({narrow.format(inner())} {random.choice('/%')} {random.choice((1, 2, 8, 64))})"
            )
        case 9:
            return (
                f"(uint32_t)({narrow.format(inner())} < (int16_t)({inner()}) || ({inner()}) && !({inner()}))"
            )
    return f"t[{inner()} & 3]"


def _statements(random: Random, names: list[str], depth: int) -> str:
    def e() -> str:
        return _expression(random, names, 2)

    def block(*more: str) -> str:
        return _statements(random, [*names, *more], depth - 1)

    found = []
    for _ in range(random.randrange(1, 4)):
        match random.randrange(8 if depth else 5):
            case 0 | 1 | 2:
                found.append(f"{random.choice('xyz')} {random.choice(('=', '+=', '^=', '-='))} {e()};")
            case 3:
                found.append(f"t[{e()} & 3] = {e()};")
            case 4:
                copied = f"memcpy(&x, (uint8_t *)t + {random.randrange(13)}, 4);"
                filled = f"memset((uint8_t *)t + {random.randrange(8)}, 90, {random.randrange(1, 8)});"
                others = [f"((uint8_t *)t)[{e()} & 15] = {e()};", f"if ({e()}) return {e()};"]
                found.append(random.choice([copied, filled, *others, f"y = h({e()}, t);"]))
            case 5:
                found.append(f"if ({e()}) {{ {block()} }} else {{ {block()} }}")
            case 6:
                i, end = f"i{depth}", random.choice(("continue", "break"))
                head = f"for (uint32_t {i} = 0; {i} < {random.randrange(1, 5)}; {i}++)"
                found.append(f"{head} {{ if ({e()}) {end}; {block(i)} }}")
            case 7:
                cases = f"case 0: {block()} break; case 1: {block()} case 2: {block()} break;"
                found.append(f"switch (({e()}) & 3) {{ {cases} default: {block()} }}")
    return " ".join(found)
