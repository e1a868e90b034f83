/* A model of an FP8 (E4M3) dot product of four products and c, as people write one: a branch for NaN, signed words. */
#include <stdint.h>
#include <string.h>
static float decode(uint8_t x) {
  int e = (x >> 3) & 15, m = x & 7;
  uint32_t bits;
  if (e == 0 && m == 0) bits = 0;
  else if (e == 0) { int s = 0; while (!(m & 8)) { m <<= 1; s++; } bits = ((uint32_t)(121 - s) << 23) | ((uint32_t)(m & 7) << 20); }
  else bits = ((uint32_t)(e + 120) << 23) | ((uint32_t)m << 20);
  bits |= (uint32_t)(x >> 7) << 31;
  float f; memcpy(&f, &bits, 4); return f;
}
static uint32_t product(uint8_t x, uint8_t y) {
  uint32_t u, v; float f = decode(x), g = decode(y); memcpy(&u, &f, 4); memcpy(&v, &g, 4);
  uint32_t sign = (u ^ v) & 0x80000000u;
  if (!(u & 0x7fffffff) || !(v & 0x7fffffff)) return sign;
  int e = (int)(u >> 23 & 255) + (int)(v >> 23 & 255) - 127;
  uint32_t m = ((u & 0x7fffff) | 0x800000) >> 20, n = ((v & 0x7fffff) | 0x800000) >> 20, p = m * n;
  while (p < 128) p <<= 1;
  if (m * n >= 128) e++;
  return sign | (uint32_t)e << 23 | (p & 127) << 16;
}
float dot(const uint8_t a[4], const uint8_t b[4], float c) {
  uint32_t p[4]; int nan = 0;
  for (int i = 0; i < 4; i++) {
    if ((a[i] & 127) == 127 || (b[i] & 127) == 127) nan = 1;
    p[i] = product(a[i], b[i]);
  }
  uint32_t cb; memcpy(&cb, &c, 4);
  if (nan || (cb & 0x7fffffff) > 0x7f800000) { uint32_t q = 0x7fffffff; float r; memcpy(&r, &q, 4); return r; }
  int top = -133;
  int64_t w[5]; int ex[5];
  for (int i = 0; i < 5; i++) {
    uint32_t v; if (i < 4) v = p[i]; else v = cb;
    int e = (v >> 23) & 255; int64_t m = v & 0x7fffff;
    if (e) m |= 0x800000; else e = 1;
    ex[i] = e - 127; w[i] = v >> 31 ? -m : m;
    if (m && ex[i] > top) top = ex[i];
  }
  int64_t sum = 0;
  for (int i = 0; i < 5; i++) {
    int shift = top - ex[i] + 10;
    int64_t t = w[i] < 0 ? -w[i] : w[i];
    t = shift > 40 ? 0 : t >> shift;
    sum += w[i] < 0 ? -t : t;
  }
  uint32_t sign = 0; if (sum < 0) { sign = 1; sum = -sum; }
  if (!sum) return 0;
  int e = top + 127 + 10;
  while (sum >= (1 << 24)) { sum >>= 1; e++; }
  while (sum < (1 << 23) && e > 1) { sum <<= 1; e--; }
  uint32_t r = sign << 31 | (sum >= (1 << 23) ? (uint32_t)e << 23 : 0) | ((uint32_t)sum & 0x7fffff);
  float f; memcpy(&f, &r, 4); return f;
}
