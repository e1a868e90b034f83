/* An emulator of a fused dot product: four products and c, aligned to the largest exponent, truncated. */
#include <stdint.h>
#include <string.h>

typedef struct { int sign, exponent, zero, inf, nan; uint32_t significand; } number;

static number unpack_half(uint16_t h) {
  number x;
  memset(&x, 0, sizeof x);
  x.sign = h >> 15;
  int e = (h >> 10) & 31;
  uint32_t f = h & 0x3ff;
  if (e == 31) { x.inf = f == 0; x.nan = f != 0; return x; }
  x.significand = e ? f | 0x400 : f;
  x.exponent = (e ? e : 1) - 15;
  x.zero = x.significand == 0;
  return x;
}

uint32_t dot(const uint16_t a[4], const uint16_t b[4], uint32_t c) {
  int sign[5], exponent[5], top = -1000, nan = 0, plus = 0, minus = 0;
  uint64_t magnitude[5];  /* in units of 2^(exponent - 23) */
  for (int i = 0; i < 4; i++) {
    number x = unpack_half(a[i]), y = unpack_half(b[i]);
    sign[i] = x.sign ^ y.sign;
    if (x.nan || y.nan || (x.inf && y.zero) || (x.zero && y.inf)) nan = 1;
    else if (x.inf || y.inf) { if (sign[i]) minus = 1; else plus = 1; }
    exponent[i] = x.exponent + y.exponent;
    magnitude[i] = ((uint64_t)x.significand * y.significand) << 3;
    if (magnitude[i] == 0) exponent[i] = -131;
    if (exponent[i] > top) top = exponent[i];
  }
  sign[4] = c >> 31;
  int e = (c >> 23) & 255;
  uint32_t f = c & 0x7fffff;
  if (e == 255) { if (f) nan = 1; else if (sign[4]) minus = 1; else plus = 1; f = 0; e = 1; }
  magnitude[4] = e ? f | 0x800000 : f;
  exponent[4] = magnitude[4] ? (e ? e : 1) - 127 : -131;
  if (exponent[4] > top) top = exponent[4];
  if (nan || (plus && minus)) return 0x7fffffff;
  if (plus) return 0x7f800000;
  if (minus) return 0xff800000;
  int64_t sum = 0;
  for (int i = 0; i < 5; i++) {
    int shift = top - exponent[i];
    int64_t term = shift > 63 ? 0 : (int64_t)(magnitude[i] >> shift);
    sum += sign[i] ? -term : term;
  }
  if (sum == 0) return 0;
  uint32_t s = 0;
  if (sum < 0) { s = 0x80000000; sum = -sum; }
  int lead = 63 - __builtin_clzll((uint64_t)sum);   /* value = sum * 2^(top - 23) */
  int exp = lead + top - 23;
  if (exp > 127) return s | 0x7f800000;
  int drop = lead - 23;
  if (exp < -126) drop += -126 - exp;
  uint64_t kept = drop > 0 ? (drop > 63 ? 0 : (uint64_t)sum >> drop) : (uint64_t)sum << -drop;
  return s + (uint32_t)kept + ((uint32_t)(exp < -126 ? 0 : exp + 126) << 23);
}
