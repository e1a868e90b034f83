#!/bin/sh
# What published results of an MI300 leave open: sh cdna3-deciding.sh, where there are an MI300A or
# MI300X and hipcc. It writes answers-TYPE.json here, which `tcsmt validate answers-*.json` reads.
set -e
folder=$(mktemp -d)
cat > "$folder/f16.hip" <<'END_OF_PROGRAM'
// Probe of cdna3/v_mfma_f32_32x32x8_f16: 6 vectors
// Made by: tcsmt 0.2.0: results/make/cdna3_deciding.py
// Build:   hipcc -std=c++17 --offload-arch=gfx942 -o probe probe.hip
// Run:     ./probe > answers.json; tcsmt validate answers.json
//          ./probe --rows answers rows of the standard input
//
// Every vector (a, b: 8 words, c: one) is given to __builtin_amdgcn_mfma_f32_32x32x8f16 twice:
// to all rows of A, all columns of B and all of C, so that each element of D is its result; then
// to one row and one column alone, among zeros. The program fails where these results differ.

#include <hip/hip_runtime.h>

typedef unsigned reg;
typedef unsigned long long word;

enum { M = 32, N = 32, K = 8, MATRICES = 1, THREADS = 64, SCALES = 0 };
enum { VECTORS = 6, WORDS = 2 * K + 1 + 2 * SCALES, RESULTS = MATRICES * M * N };

// Which elements a thread holds: what each bit of its number, and of the element's number, adds to
// matrix << 16 | row << 8 | column. B is given transposed. CDNA3 ISA, 7.1.4
struct Fragment { int thread_bits, element_bits, bits, padding, thread[8], element[8]; };
__constant__ Fragment A = {6, 2, 16, 0, {256, 512, 1024, 2048, 4096, 4}, {1, 2}};
__constant__ Fragment B = {6, 2, 16, 0, {256, 512, 1024, 2048, 4096, 4}, {1, 2}};
__constant__ Fragment C = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};
__constant__ Fragment D = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};

__device__ int place(const Fragment &f, int element) {
  int sum = 0;
  for (int bit = 0; bit < f.thread_bits; ++bit) sum += (threadIdx.x >> bit & 1) * f.thread[bit];
  for (int bit = 0; bit < f.element_bits; ++bit) sum += (element >> bit & 1) * f.element[bit];
  return sum;
}

// Fill a thread's registers with line[step * column] in one row and column (-1: in all), else with zeros.
__device__ void load(const Fragment &f, reg *registers, const word *line, int step, int row, int column) {
  if (threadIdx.x >> f.thread_bits) return;
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    if ((row >= 0 && row != (at >> 8 & 255)) || (column >= 0 && column != (at & 255))) continue;
    const word bits = line[step * (at & 255)] << f.padding;
    registers[element / each] |= (reg)bits << (element % each * f.bits);
  }
}

__device__ void store(const Fragment &f, const reg *registers, word *results) {
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    const word bits = (word)registers[element / each] >> (element % each * f.bits);
    results[((at >> 16) * M + (at >> 8 & 255)) * N + (at & 255)] = bits & ~0ull >> (64 - f.bits);
  }
}

// A row's block scales, one in each byte; every thread gives the same, as all rows have the same.
__device__ unsigned packed(const word *scales) {
  unsigned sum = 0;
  for (int i = 0; i < SCALES; ++i) sum |= (unsigned)scales[i] << (8 * i);
  return sum;
}

typedef _Float16 factors __attribute__((ext_vector_type(4)));
typedef float sums __attribute__((ext_vector_type(16)));

__device__ void multiply(reg *d, const reg *a, const reg *b, const reg *c, unsigned sa, unsigned sb) {
  factors va, vb;
  sums vc;
  __builtin_memcpy(&va, a, sizeof va);
  __builtin_memcpy(&vb, b, sizeof vb);
  __builtin_memcpy(&vc, c, sizeof vc);
  vc = __builtin_amdgcn_mfma_f32_32x32x8f16(va, vb, vc, 0, 0, 0);
  __builtin_memcpy(d, &vc, sizeof vc);
}

extern "C" __global__ void probe(const word *vectors, word *results, int alone) {
  const word *a = vectors + blockIdx.x * (word)WORDS, *b = a + K, *c = b + K, *scales = c + 1;
  const int row = alone ? (int)blockIdx.x % M : -1, column = alone ? (int)blockIdx.x % N : -1;
  reg ra[2] = {}, rb[2] = {}, rc[16] = {}, rd[16] = {};
  load(A, ra, a, 1, row, -1);
  load(B, rb, b, 1, column, -1);
  load(C, rc, c, 0, row, column);
  multiply(rd, ra, rb, rc, packed(scales), packed(scales + SCALES));
  store(D, rd, results + blockIdx.x * (word)RESULTS);
}

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static const word vectors[VECTORS + 1][WORDS] = {
// 0: not n_fma = 1; n_fma = 2; n_fma = 4; lane_groups = 4; lane_groups = 8; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 23; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNU; alignment = RTP; alignment = RTN; alignment = RTO; alignment = RA; product_limit = 2; product_limit = 4; product_limit = 8; product_limit = 16; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; c_reach = 1; c_reach = 2; c_reach = 3; c_reach = 4; c_reach = 5; c_reach = 6; c_reach = 7; c_reach = 8; c_reach = 9; c_reach = 10; c_reach = 11; c_reach = 12; c_reach = 13; c_reach = 14; c_reach = 15; c_reach = 16; c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24; c_reach = 25; c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15
//      0x4d0d0ef8  cdna3/v_mfma_f32_32x32x8_f16
//      0x4d0d0ef8  cdna3/v_mfma_f32_32x32x8_f16@paper
//      0x4d0d0f00  cdna3/v_mfma_f32_32x32x8_f16@chain
//      0x4d0d0f00  n_fma = 1
//      0x4d0d0f00  n_fma = 2
//      0x4d0d0f00  n_fma = 4
//      0x4d0d0ef4  lane_groups = 4
//      0x4d0d0eec  lane_groups = 8
//      0x00000000  fraction_bits = 1
//      0x4d000000  fraction_bits = 3
//      0x4d000000  fraction_bits = 6
//      0x4d0c8000  fraction_bits = 12
//      0x4d0d0400  fraction_bits = 16
//      0x4d0d0a00  fraction_bits = 17
//      0x4d0d0d00  fraction_bits = 18
//      0x4d0d0e00  fraction_bits = 19
//      0x4d0d0e80  fraction_bits = 20
//      0x4d0d0ec0  fraction_bits = 21
//      0x4d0d0ee0  fraction_bits = 22
//      0x4d0d0ef0  fraction_bits = 23
//      0x4d0d0efc  fraction_bits = 25
//      0x4d0d0efd  fraction_bits = 26
//      0x4d0d0efe  fraction_bits = 27
//      0x4d0d0efe  fraction_bits = 28
//      0x4d0d0efe  fraction_bits = 29
//      0x4d0d0efe  fraction_bits = 30
//      0x4d0d0efe  fraction_bits = 31
//      0x4d0d0efe  fraction_bits = 32
//      0x4d0d0efc  alignment = RNE
//      0x4d0d0efc  alignment = RNA
//      0x4d0d0efc  alignment = RNU
//      0x4d0d0f00  alignment = RTP
//      0x4d0d0eec  alignment = RTN
//      0x4d0d0ef0  alignment = RTO
//      0x4d0d0ef4  alignment = RA
//      0x7fc00000  product_limit = 2
//      0x7fc00000  product_limit = 4
//      0x7fc00000  product_limit = 8
//      0x7fc00000  product_limit = 16
//      0x4d0d0efc  realignment = RNE
//      0x4d0d0efc  realignment = RNA
//      0x4d0d0efc  realignment = RNZ
//      0x4d0d0efc  realignment = RNU
//      0x4d0d0efc  realignment = RND
//      0x4d0d0efc  realignment = RNO
//      0x4d0d0efc  realignment = RTZ
//      0x4d0d0efc  realignment = RTP
//      0x4d0d0efc  c_reach = 1
//      0x4d0d0efc  c_reach = 2
//      0x4d0d0efc  c_reach = 3
//      0x4d0d0efc  c_reach = 4
//      0x4d0d0efc  c_reach = 5
//      0x4d0d0efc  c_reach = 6
//      0x4d0d0efc  c_reach = 7
//      0x4d0d0efc  c_reach = 8
//      0x4d0d0efc  c_reach = 9
//      0x4d0d0efc  c_reach = 10
//      0x4d0d0efc  c_reach = 11
//      0x4d0d0efc  c_reach = 12
//      0x4d0d0efc  c_reach = 13
//      0x4d0d0efc  c_reach = 14
//      0x4d0d0efc  c_reach = 15
//      0x4d0d0efc  c_reach = 16
//      0x4d0d0efc  c_reach = 17
//      0x4d0d0efc  c_reach = 18
//      0x4d0d0efc  c_reach = 19
//      0x4d0d0efc  c_reach = 20
//      0x4d0d0efc  c_reach = 21
//      0x4d0d0efc  c_reach = 22
//      0x4d0d0efc  c_reach = 23
//      0x4d0d0efc  c_reach = 24
//      0x4d0d0efc  c_reach = 25
//      0x4d0d0efc  c_reach = 26
//      0x4d0d0efc  c_reach = 27
//      0x4d0d0efc  c_reach = 28
//      0x4d0d0efc  c_reach = 29
//      0x4d0d0efc  c_reach = 30
//      0x4d0d0efc  c_reach = 31
//      0x4d0d0efc  c_reach = 32
//      0x4d000000  normalised_fraction_bits = 1
//      0x4d000000  normalised_fraction_bits = 3
//      0x4d0d0000  normalised_fraction_bits = 7
//      0x4d0d0e00  normalised_fraction_bits = 15
{0xfbc0, 0xf800, 0xfbff, 0x8080, 0x64, 0x200, 0xf820, 0x2c8, 0x8000, 0xbfff, 0xf804, 0x7961, 0x19a, 0xfbbf, 0x7b40, 0xfbff, 0x80000008},
// 1: not lane_groups = 2; alignment = RNZ; alignment = RND; alignment = RNO; dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; rounding = RTZ; rounding = RTN
//      0x3f7a9667  cdna3/v_mfma_f32_32x32x8_f16
//      0x3f7a9667  cdna3/v_mfma_f32_32x32x8_f16@paper
//      0x3f7a9666  cdna3/v_mfma_f32_32x32x8_f16@chain
//      0x3f7a9666  lane_groups = 2
//      0x3f7a9666  alignment = RNZ
//      0x3f7a9666  alignment = RND
//      0x3f7a9666  alignment = RNO
//      0x3f7a9666  dot_fraction_bits = 24
//      0x3f7a9666  dot_fraction_bits = 25
//      0x3f7a9666  dot_fraction_bits = 26
//      0x3f7a9666  dot_fraction_bits = 27
//      0x3f7a9666  dot_fraction_bits = 28
//      0x3f7a9666  dot_fraction_bits = 29
//      0x3f7a9666  dot_fraction_bits = 30
//      0x3f7a9666  normalised_fraction_bits = 23
//      0x3f7a9666  normalised_fraction_bits = 24
//      0x3f7a9666  normalised_fraction_bits = 25
//      0x3f7a9666  normalised_fraction_bits = 26
//      0x3f7a9666  normalised_fraction_bits = 27
//      0x3f7a9666  normalised_fraction_bits = 28
//      0x3f7a9666  normalised_fraction_bits = 29
//      0x3f7a9666  rounding = RTZ
//      0x3f7a9666  rounding = RTN
{0x2efd, 0x98c2, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb231, 0x1f32, 0x693, 0x15b4, 0x0, 0x0, 0x0, 0x0, 0x3f800003},
// 2: not realignment = RA; normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA
//      0x3f800002  cdna3/v_mfma_f32_32x32x8_f16
//      0x3f800002  cdna3/v_mfma_f32_32x32x8_f16@paper
//      0x3f800002  cdna3/v_mfma_f32_32x32x8_f16@chain
//      0x3f800003  realignment = RA
//      0x3f800003  normalised_fraction_bits = 32
//      0x3f800003  normalised_fraction_bits = 33
//      0x3f800003  normalised_fraction_bits = 34
//      0x3f800003  normalised_fraction_bits = 35
//      0x3f800003  normalised_fraction_bits = 36
//      0x3f800003  normalised_fraction_bits = 37
//      0x3f800003  normalised_fraction_bits = 38
//      0x3f800003  normalised_fraction_bits = 39
//      0x3f800003  rounding = RNA
//      0x3f800003  rounding = RNU
//      0x3f800003  rounding = RNO
//      0x3f800003  rounding = RTP
//      0x3f800003  rounding = RTO
//      0x3f800003  rounding = RA
{0x8842, 0x0, 0x0, 0x86ef, 0x0, 0x0, 0x0, 0x0, 0x8e73, 0x84b9, 0x8fb5, 0x856a, 0x0, 0x0, 0x0, 0x0, 0x3f800002},
// 3: not rounding = RNZ; rounding = RND
//      0x4d5fdfe6  cdna3/v_mfma_f32_32x32x8_f16
//      0x4d5fdfe6  cdna3/v_mfma_f32_32x32x8_f16@paper
//      0x4d5fdfe5  cdna3/v_mfma_f32_32x32x8_f16@chain
//      0x4d5fdfe5  rounding = RNZ
//      0x4d5fdfe5  rounding = RND
{0xf800, 0xf800, 0xf800, 0xe5ff, 0xebff, 0xfa00, 0xa996, 0xfa00, 0xe7ff, 0x3ff, 0x90, 0x7bfe, 0xfbff, 0x1fff, 0x63bf, 0x3fd, 0xbcb78484},
// 4: not dot_fraction_bits = 31; normalised_fraction_bits = 30
//      0x3f7def6b  cdna3/v_mfma_f32_32x32x8_f16
//      0x3f7def6a  cdna3/v_mfma_f32_32x32x8_f16@paper
//      0x3f7def6a  cdna3/v_mfma_f32_32x32x8_f16@chain
//      0x3f7def6a  dot_fraction_bits = 31
//      0x3f7def6a  normalised_fraction_bits = 30
{0xaf64, 0x91fd, 0x898b, 0x1ec9, 0x0, 0x0, 0x0, 0x0, 0x2c83, 0x1461, 0x8945, 0x21de, 0x0, 0x0, 0x0, 0x0, 0x3f800000},
// 5: not realignment = RTO
//      0x40027760  cdna3/v_mfma_f32_32x32x8_f16
//      0x40027760  cdna3/v_mfma_f32_32x32x8_f16@paper
//      0x40027763  cdna3/v_mfma_f32_32x32x8_f16@chain
//      0x40027761  realignment = RTO
{0x2dc2, 0x7802, 0x1ff, 0x999, 0xffe, 0x2c5, 0x213, 0x80, 0x29e8, 0x3ff, 0x3ff, 0x2008, 0x2eb7, 0x37ff, 0x63fd, 0x80, 0x237fffff},
{0}};

// What each vector asks and what the hypotheses predict, as members of a JSON object.
static const char *const about[VECTORS + 1] = {
"\"asks\": \"not n_fma = 1; n_fma = 2; n_fma = 4; lane_groups = 4; lane_groups = 8; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 23; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNU; alignment = RTP; alignment = RTN; alignment = RTO; alignment = RA; product_limit = 2; product_limit = 4; product_limit = 8; product_limit = 16; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; c_reach = 1; c_reach = 2; c_reach = 3; c_reach = 4; c_reach = 5; c_reach = 6; c_reach = 7; c_reach = 8; c_reach = 9; c_reach = 10; c_reach = 11; c_reach = 12; c_reach = 13; c_reach = 14; c_reach = 15; c_reach = 16; c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24; c_reach = 25; c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_f16\": \"0x4d0d0ef8\", \"cdna3/v_mfma_f32_32x32x8_f16@paper\": \"0x4d0d0ef8\", \"cdna3/v_mfma_f32_32x32x8_f16@chain\": \"0x4d0d0f00\", \"n_fma = 1\": \"0x4d0d0f00\", \"n_fma = 2\": \"0x4d0d0f00\", \"n_fma = 4\": \"0x4d0d0f00\", \"lane_groups = 4\": \"0x4d0d0ef4\", \"lane_groups = 8\": \"0x4d0d0eec\", \"fraction_bits = 1\": \"0x00000000\", \"fraction_bits = 3\": \"0x4d000000\", \"fraction_bits = 6\": \"0x4d000000\", \"fraction_bits = 12\": \"0x4d0c8000\", \"fraction_bits = 16\": \"0x4d0d0400\", \"fraction_bits = 17\": \"0x4d0d0a00\", \"fraction_bits = 18\": \"0x4d0d0d00\", \"fraction_bits = 19\": \"0x4d0d0e00\", \"fraction_bits = 20\": \"0x4d0d0e80\", \"fraction_bits = 21\": \"0x4d0d0ec0\", \"fraction_bits = 22\": \"0x4d0d0ee0\", \"fraction_bits = 23\": \"0x4d0d0ef0\", \"fraction_bits = 25\": \"0x4d0d0efc\", \"fraction_bits = 26\": \"0x4d0d0efd\", \"fraction_bits = 27\": \"0x4d0d0efe\", \"fraction_bits = 28\": \"0x4d0d0efe\", \"fraction_bits = 29\": \"0x4d0d0efe\", \"fraction_bits = 30\": \"0x4d0d0efe\", \"fraction_bits = 31\": \"0x4d0d0efe\", \"fraction_bits = 32\": \"0x4d0d0efe\", \"alignment = RNE\": \"0x4d0d0efc\", \"alignment = RNA\": \"0x4d0d0efc\", \"alignment = RNU\": \"0x4d0d0efc\", \"alignment = RTP\": \"0x4d0d0f00\", \"alignment = RTN\": \"0x4d0d0eec\", \"alignment = RTO\": \"0x4d0d0ef0\", \"alignment = RA\": \"0x4d0d0ef4\", \"product_limit = 2\": \"0x7fc00000\", \"product_limit = 4\": \"0x7fc00000\", \"product_limit = 8\": \"0x7fc00000\", \"product_limit = 16\": \"0x7fc00000\", \"realignment = RNE\": \"0x4d0d0efc\", \"realignment = RNA\": \"0x4d0d0efc\", \"realignment = RNZ\": \"0x4d0d0efc\", \"realignment = RNU\": \"0x4d0d0efc\", \"realignment = RND\": \"0x4d0d0efc\", \"realignment = RNO\": \"0x4d0d0efc\", \"realignment = RTZ\": \"0x4d0d0efc\", \"realignment = RTP\": \"0x4d0d0efc\", \"c_reach = 1\": \"0x4d0d0efc\", \"c_reach = 2\": \"0x4d0d0efc\", \"c_reach = 3\": \"0x4d0d0efc\", \"c_reach = 4\": \"0x4d0d0efc\", \"c_reach = 5\": \"0x4d0d0efc\", \"c_reach = 6\": \"0x4d0d0efc\", \"c_reach = 7\": \"0x4d0d0efc\", \"c_reach = 8\": \"0x4d0d0efc\", \"c_reach = 9\": \"0x4d0d0efc\", \"c_reach = 10\": \"0x4d0d0efc\", \"c_reach = 11\": \"0x4d0d0efc\", \"c_reach = 12\": \"0x4d0d0efc\", \"c_reach = 13\": \"0x4d0d0efc\", \"c_reach = 14\": \"0x4d0d0efc\", \"c_reach = 15\": \"0x4d0d0efc\", \"c_reach = 16\": \"0x4d0d0efc\", \"c_reach = 17\": \"0x4d0d0efc\", \"c_reach = 18\": \"0x4d0d0efc\", \"c_reach = 19\": \"0x4d0d0efc\", \"c_reach = 20\": \"0x4d0d0efc\", \"c_reach = 21\": \"0x4d0d0efc\", \"c_reach = 22\": \"0x4d0d0efc\", \"c_reach = 23\": \"0x4d0d0efc\", \"c_reach = 24\": \"0x4d0d0efc\", \"c_reach = 25\": \"0x4d0d0efc\", \"c_reach = 26\": \"0x4d0d0efc\", \"c_reach = 27\": \"0x4d0d0efc\", \"c_reach = 28\": \"0x4d0d0efc\", \"c_reach = 29\": \"0x4d0d0efc\", \"c_reach = 30\": \"0x4d0d0efc\", \"c_reach = 31\": \"0x4d0d0efc\", \"c_reach = 32\": \"0x4d0d0efc\", \"normalised_fraction_bits = 1\": \"0x4d000000\", \"normalised_fraction_bits = 3\": \"0x4d000000\", \"normalised_fraction_bits = 7\": \"0x4d0d0000\", \"normalised_fraction_bits = 15\": \"0x4d0d0e00\"}",
"\"asks\": \"not lane_groups = 2; alignment = RNZ; alignment = RND; alignment = RNO; dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; rounding = RTZ; rounding = RTN\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_f16\": \"0x3f7a9667\", \"cdna3/v_mfma_f32_32x32x8_f16@paper\": \"0x3f7a9667\", \"cdna3/v_mfma_f32_32x32x8_f16@chain\": \"0x3f7a9666\", \"lane_groups = 2\": \"0x3f7a9666\", \"alignment = RNZ\": \"0x3f7a9666\", \"alignment = RND\": \"0x3f7a9666\", \"alignment = RNO\": \"0x3f7a9666\", \"dot_fraction_bits = 24\": \"0x3f7a9666\", \"dot_fraction_bits = 25\": \"0x3f7a9666\", \"dot_fraction_bits = 26\": \"0x3f7a9666\", \"dot_fraction_bits = 27\": \"0x3f7a9666\", \"dot_fraction_bits = 28\": \"0x3f7a9666\", \"dot_fraction_bits = 29\": \"0x3f7a9666\", \"dot_fraction_bits = 30\": \"0x3f7a9666\", \"normalised_fraction_bits = 23\": \"0x3f7a9666\", \"normalised_fraction_bits = 24\": \"0x3f7a9666\", \"normalised_fraction_bits = 25\": \"0x3f7a9666\", \"normalised_fraction_bits = 26\": \"0x3f7a9666\", \"normalised_fraction_bits = 27\": \"0x3f7a9666\", \"normalised_fraction_bits = 28\": \"0x3f7a9666\", \"normalised_fraction_bits = 29\": \"0x3f7a9666\", \"rounding = RTZ\": \"0x3f7a9666\", \"rounding = RTN\": \"0x3f7a9666\"}",
"\"asks\": \"not realignment = RA; normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_f16\": \"0x3f800002\", \"cdna3/v_mfma_f32_32x32x8_f16@paper\": \"0x3f800002\", \"cdna3/v_mfma_f32_32x32x8_f16@chain\": \"0x3f800002\", \"realignment = RA\": \"0x3f800003\", \"normalised_fraction_bits = 32\": \"0x3f800003\", \"normalised_fraction_bits = 33\": \"0x3f800003\", \"normalised_fraction_bits = 34\": \"0x3f800003\", \"normalised_fraction_bits = 35\": \"0x3f800003\", \"normalised_fraction_bits = 36\": \"0x3f800003\", \"normalised_fraction_bits = 37\": \"0x3f800003\", \"normalised_fraction_bits = 38\": \"0x3f800003\", \"normalised_fraction_bits = 39\": \"0x3f800003\", \"rounding = RNA\": \"0x3f800003\", \"rounding = RNU\": \"0x3f800003\", \"rounding = RNO\": \"0x3f800003\", \"rounding = RTP\": \"0x3f800003\", \"rounding = RTO\": \"0x3f800003\", \"rounding = RA\": \"0x3f800003\"}",
"\"asks\": \"not rounding = RNZ; rounding = RND\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_f16\": \"0x4d5fdfe6\", \"cdna3/v_mfma_f32_32x32x8_f16@paper\": \"0x4d5fdfe6\", \"cdna3/v_mfma_f32_32x32x8_f16@chain\": \"0x4d5fdfe5\", \"rounding = RNZ\": \"0x4d5fdfe5\", \"rounding = RND\": \"0x4d5fdfe5\"}",
"\"asks\": \"not dot_fraction_bits = 31; normalised_fraction_bits = 30\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_f16\": \"0x3f7def6b\", \"cdna3/v_mfma_f32_32x32x8_f16@paper\": \"0x3f7def6a\", \"cdna3/v_mfma_f32_32x32x8_f16@chain\": \"0x3f7def6a\", \"dot_fraction_bits = 31\": \"0x3f7def6a\", \"normalised_fraction_bits = 30\": \"0x3f7def6a\"}",
"\"asks\": \"not realignment = RTO\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_f16\": \"0x40027760\", \"cdna3/v_mfma_f32_32x32x8_f16@paper\": \"0x40027760\", \"cdna3/v_mfma_f32_32x32x8_f16@chain\": \"0x40027763\", \"realignment = RTO\": \"0x40027761\"}",
""};

static void check(hipError_t error, const char *what) {
  if (error == hipSuccess) return;
  fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  exit(1);
}

// The results of one launch for at most AT_ONCE vectors.
enum { AT_ONCE = 4096 };
static void run(int alone, const word *given, size_t count, std::vector<word> &results) {
  word *device;
  const size_t bytes = count * RESULTS * sizeof(word);
  check(hipMalloc((void **)&device, bytes), "allocate");
  check(hipMemset(device, 0, bytes), "clear");
  probe<<<(unsigned)count, THREADS>>>(given, device, alone);
  check(hipGetLastError(), "launch");
  check(hipDeviceSynchronize(), "run");
  check(hipMemcpy(results.data(), device, bytes, hipMemcpyDeviceToHost), "read results");
  check(hipFree(device), "free");
}

// The word of D for each vector; returns how many elements of D are another word than the first.
static int answer(const word *rows, size_t count, word *d) {
  std::vector<word> everywhere(AT_ONCE * (size_t)RESULTS), alone(AT_ONCE * (size_t)RESULTS);
  int unequal = 0;
  for (size_t first = 0; first < count; first += AT_ONCE) {
    const size_t now = count - first < AT_ONCE ? count - first : AT_ONCE, bytes = now * WORDS * sizeof(word);
    word *given;
    check(hipMalloc((void **)&given, bytes), "allocate");
    check(hipMemcpy(given, rows + first * WORDS, bytes, hipMemcpyHostToDevice), "write vectors");
    run(0, given, now, everywhere);
    run(1, given, now, alone);
    check(hipFree(given), "free");
    for (size_t v = 0; v < now; ++v) {
      d[first + v] = everywhere[v * RESULTS];
      for (int i = 0; i < RESULTS; ++i) {
        const int here = i % (M * N) == (int)(v % M * N + v % N);
        const size_t at = v * RESULTS + i;
        if (everywhere[at] == d[first + v] && !(here && alone[at] != d[first + v])) continue;
        if (!unequal++)
          fprintf(stderr, "vector %zu: element %d of D is 0x%llx (alone 0x%llx), the first 0x%llx\n", first + v, i,
                  everywhere[at], alone[at], d[first + v]);
      }
    }
  }
  return unequal;
}

// Words of w bits as a JSON list of count hexadecimal texts; count 0: one text.
static void put(const char *name, const word *words, int count, int w) {
  printf("\"%s\": %s", name, count ? "[" : "");
  for (int i = 0; i < (count ? count : 1); ++i) printf("%s\"0x%0*llx\"", i ? ", " : "", (w + 3) / 4, words[i]);
  printf("%s, ", count ? "]" : "");
}

// What the device says of itself, as a JSON text.
static void put_text(const char *name, const char *text) {
  printf(" \"%s\": \"", name);
  for (const char *at = text; *at; ++at)
    if (*at >= ' ' && *at < 127 && *at != '"' && *at != '\\') putchar(*at);
  printf("\",\n");
}

static void *memory(size_t bytes) {
  void *found = malloc(bytes ? bytes : 1);
  if (found) return found;
  fprintf(stderr, "no memory for %zu bytes\n", bytes);
  exit(1);
}

// What the hypotheses predict: number of the vector, of the hypothesis, and the word of D.
static const char *const hypotheses[] = {
"cdna3/v_mfma_f32_32x32x8_f16",
"cdna3/v_mfma_f32_32x32x8_f16@paper",
"cdna3/v_mfma_f32_32x32x8_f16@chain",
"n_fma = 1",
"n_fma = 2",
"n_fma = 4",
"lane_groups = 4",
"lane_groups = 8",
"fraction_bits = 1",
"fraction_bits = 3",
"fraction_bits = 6",
"fraction_bits = 12",
"fraction_bits = 16",
"fraction_bits = 17",
"fraction_bits = 18",
"fraction_bits = 19",
"fraction_bits = 20",
"fraction_bits = 21",
"fraction_bits = 22",
"fraction_bits = 23",
"fraction_bits = 25",
"fraction_bits = 26",
"fraction_bits = 27",
"fraction_bits = 28",
"fraction_bits = 29",
"fraction_bits = 30",
"fraction_bits = 31",
"fraction_bits = 32",
"alignment = RNE",
"alignment = RNA",
"alignment = RNU",
"alignment = RTP",
"alignment = RTN",
"alignment = RTO",
"alignment = RA",
"product_limit = 2",
"product_limit = 4",
"product_limit = 8",
"product_limit = 16",
"realignment = RNE",
"realignment = RNA",
"realignment = RNZ",
"realignment = RNU",
"realignment = RND",
"realignment = RNO",
"realignment = RTZ",
"realignment = RTP",
"c_reach = 1",
"c_reach = 2",
"c_reach = 3",
"c_reach = 4",
"c_reach = 5",
"c_reach = 6",
"c_reach = 7",
"c_reach = 8",
"c_reach = 9",
"c_reach = 10",
"c_reach = 11",
"c_reach = 12",
"c_reach = 13",
"c_reach = 14",
"c_reach = 15",
"c_reach = 16",
"c_reach = 17",
"c_reach = 18",
"c_reach = 19",
"c_reach = 20",
"c_reach = 21",
"c_reach = 22",
"c_reach = 23",
"c_reach = 24",
"c_reach = 25",
"c_reach = 26",
"c_reach = 27",
"c_reach = 28",
"c_reach = 29",
"c_reach = 30",
"c_reach = 31",
"c_reach = 32",
"normalised_fraction_bits = 1",
"normalised_fraction_bits = 3",
"normalised_fraction_bits = 7",
"normalised_fraction_bits = 15",
"lane_groups = 2",
"alignment = RNZ",
"alignment = RND",
"alignment = RNO",
"dot_fraction_bits = 24",
"dot_fraction_bits = 25",
"dot_fraction_bits = 26",
"dot_fraction_bits = 27",
"dot_fraction_bits = 28",
"dot_fraction_bits = 29",
"dot_fraction_bits = 30",
"normalised_fraction_bits = 23",
"normalised_fraction_bits = 24",
"normalised_fraction_bits = 25",
"normalised_fraction_bits = 26",
"normalised_fraction_bits = 27",
"normalised_fraction_bits = 28",
"normalised_fraction_bits = 29",
"rounding = RTZ",
"rounding = RTN",
"realignment = RA",
"normalised_fraction_bits = 32",
"normalised_fraction_bits = 33",
"normalised_fraction_bits = 34",
"normalised_fraction_bits = 35",
"normalised_fraction_bits = 36",
"normalised_fraction_bits = 37",
"normalised_fraction_bits = 38",
"normalised_fraction_bits = 39",
"rounding = RNA",
"rounding = RNU",
"rounding = RNO",
"rounding = RTP",
"rounding = RTO",
"rounding = RA",
"rounding = RNZ",
"rounding = RND",
"dot_fraction_bits = 31",
"normalised_fraction_bits = 30",
"realignment = RTO",
""};
static const struct { int vector, hypothesis; word d; } predictions[] = {
{0, 0, 0x4d0d0ef8},
{0, 1, 0x4d0d0ef8},
{0, 2, 0x4d0d0f00},
{0, 3, 0x4d0d0f00},
{0, 4, 0x4d0d0f00},
{0, 5, 0x4d0d0f00},
{0, 6, 0x4d0d0ef4},
{0, 7, 0x4d0d0eec},
{0, 8, 0x0},
{0, 9, 0x4d000000},
{0, 10, 0x4d000000},
{0, 11, 0x4d0c8000},
{0, 12, 0x4d0d0400},
{0, 13, 0x4d0d0a00},
{0, 14, 0x4d0d0d00},
{0, 15, 0x4d0d0e00},
{0, 16, 0x4d0d0e80},
{0, 17, 0x4d0d0ec0},
{0, 18, 0x4d0d0ee0},
{0, 19, 0x4d0d0ef0},
{0, 20, 0x4d0d0efc},
{0, 21, 0x4d0d0efd},
{0, 22, 0x4d0d0efe},
{0, 23, 0x4d0d0efe},
{0, 24, 0x4d0d0efe},
{0, 25, 0x4d0d0efe},
{0, 26, 0x4d0d0efe},
{0, 27, 0x4d0d0efe},
{0, 28, 0x4d0d0efc},
{0, 29, 0x4d0d0efc},
{0, 30, 0x4d0d0efc},
{0, 31, 0x4d0d0f00},
{0, 32, 0x4d0d0eec},
{0, 33, 0x4d0d0ef0},
{0, 34, 0x4d0d0ef4},
{0, 35, 0x7fc00000},
{0, 36, 0x7fc00000},
{0, 37, 0x7fc00000},
{0, 38, 0x7fc00000},
{0, 39, 0x4d0d0efc},
{0, 40, 0x4d0d0efc},
{0, 41, 0x4d0d0efc},
{0, 42, 0x4d0d0efc},
{0, 43, 0x4d0d0efc},
{0, 44, 0x4d0d0efc},
{0, 45, 0x4d0d0efc},
{0, 46, 0x4d0d0efc},
{0, 47, 0x4d0d0efc},
{0, 48, 0x4d0d0efc},
{0, 49, 0x4d0d0efc},
{0, 50, 0x4d0d0efc},
{0, 51, 0x4d0d0efc},
{0, 52, 0x4d0d0efc},
{0, 53, 0x4d0d0efc},
{0, 54, 0x4d0d0efc},
{0, 55, 0x4d0d0efc},
{0, 56, 0x4d0d0efc},
{0, 57, 0x4d0d0efc},
{0, 58, 0x4d0d0efc},
{0, 59, 0x4d0d0efc},
{0, 60, 0x4d0d0efc},
{0, 61, 0x4d0d0efc},
{0, 62, 0x4d0d0efc},
{0, 63, 0x4d0d0efc},
{0, 64, 0x4d0d0efc},
{0, 65, 0x4d0d0efc},
{0, 66, 0x4d0d0efc},
{0, 67, 0x4d0d0efc},
{0, 68, 0x4d0d0efc},
{0, 69, 0x4d0d0efc},
{0, 70, 0x4d0d0efc},
{0, 71, 0x4d0d0efc},
{0, 72, 0x4d0d0efc},
{0, 73, 0x4d0d0efc},
{0, 74, 0x4d0d0efc},
{0, 75, 0x4d0d0efc},
{0, 76, 0x4d0d0efc},
{0, 77, 0x4d0d0efc},
{0, 78, 0x4d0d0efc},
{0, 79, 0x4d000000},
{0, 80, 0x4d000000},
{0, 81, 0x4d0d0000},
{0, 82, 0x4d0d0e00},
{1, 0, 0x3f7a9667},
{1, 1, 0x3f7a9667},
{1, 2, 0x3f7a9666},
{1, 83, 0x3f7a9666},
{1, 84, 0x3f7a9666},
{1, 85, 0x3f7a9666},
{1, 86, 0x3f7a9666},
{1, 87, 0x3f7a9666},
{1, 88, 0x3f7a9666},
{1, 89, 0x3f7a9666},
{1, 90, 0x3f7a9666},
{1, 91, 0x3f7a9666},
{1, 92, 0x3f7a9666},
{1, 93, 0x3f7a9666},
{1, 94, 0x3f7a9666},
{1, 95, 0x3f7a9666},
{1, 96, 0x3f7a9666},
{1, 97, 0x3f7a9666},
{1, 98, 0x3f7a9666},
{1, 99, 0x3f7a9666},
{1, 100, 0x3f7a9666},
{1, 101, 0x3f7a9666},
{1, 102, 0x3f7a9666},
{2, 0, 0x3f800002},
{2, 1, 0x3f800002},
{2, 2, 0x3f800002},
{2, 103, 0x3f800003},
{2, 104, 0x3f800003},
{2, 105, 0x3f800003},
{2, 106, 0x3f800003},
{2, 107, 0x3f800003},
{2, 108, 0x3f800003},
{2, 109, 0x3f800003},
{2, 110, 0x3f800003},
{2, 111, 0x3f800003},
{2, 112, 0x3f800003},
{2, 113, 0x3f800003},
{2, 114, 0x3f800003},
{2, 115, 0x3f800003},
{2, 116, 0x3f800003},
{2, 117, 0x3f800003},
{3, 0, 0x4d5fdfe6},
{3, 1, 0x4d5fdfe6},
{3, 2, 0x4d5fdfe5},
{3, 118, 0x4d5fdfe5},
{3, 119, 0x4d5fdfe5},
{4, 0, 0x3f7def6b},
{4, 1, 0x3f7def6a},
{4, 2, 0x3f7def6a},
{4, 120, 0x3f7def6a},
{4, 121, 0x3f7def6a},
{5, 0, 0x40027760},
{5, 1, 0x40027760},
{5, 2, 0x40027763},
{5, 122, 0x40027761},
{-1, 0, 0}};

// On the standard error: how many answers each hypothesis predicts.
static void judge(const word *d) {
  for (int h = 0; h < 123; ++h) {
    int said = 0, right = 0;
    for (int i = 0; predictions[i].vector >= 0; ++i) {
      if (predictions[i].hypothesis != h) continue;
      ++said;
      right += predictions[i].d == d[predictions[i].vector];
    }
    fprintf(stderr, "%d of %d answers are those of: %s\n", right, said, hypotheses[h]);
  }
}

// The answers to this program's vectors, as the rows of a JSON object. Returns how many contradict.
static int put_rows(void) {
  word *d = (word *)memory(VECTORS * sizeof(word));
  const int unequal = answer(&vectors[0][0], VECTORS, d);
  printf(" \"program\": %s,\n \"unequal\": %d,\n \"rows\": [\n", "\"tcsmt 0.2.0: results/make/cdna3_deciding.py\"", unequal);
  for (int v = 0; v < VECTORS; ++v) {
    const word *a = vectors[v];
    printf("  {");
    put("a", a, K, 16);
    put("b", a + K, K, 16);
    put("c", a + 2 * K, 0, 32);
    if (SCALES) put("scale_a", a + 2 * K + 1, SCALES, 8), put("scale_b", a + 2 * K + 1 + SCALES, SCALES, 8);
    put("d", d + v, 0, 32);
    printf("%s}%s\n", about[v], v + 1 < VECTORS ? "," : "");
  }
  printf("]}\n");
  judge(d);
  free(d);
  return unequal;
}

// Bytes of each word of a row, in order.
static int bytes_of(int number) {
  return number < K ? 2 : number < 2 * K ? 2 : number == 2 * K ? 4 : 1;
}

// Standard input: a number of rows (four bytes), then the rows' words; standard output: the words of D; and so
// on until the input ends. All numbers have their lowest byte first. Returns how many answers contradict.
static int serve(void) {
  unsigned char head[4];
  int size = 0, unequal = 0;
  for (int i = 0; i < WORDS; ++i) size += bytes_of(i);
  while (!unequal && fread(head, 1, 4, stdin) == 4) {
    const size_t count = head[0] | head[1] << 8 | head[2] << 16 | (size_t)head[3] << 24;
    unsigned char *given = (unsigned char *)memory(count * size), *at = given;
    word *rows = (word *)memory(count * WORDS * sizeof(word)), *d = (word *)memory(count * sizeof(word));
    if (fread(given, size, count, stdin) != count) {
      fprintf(stderr, "the input ended within a row\n");
      exit(1);
    }
    for (size_t i = 0; i < count * WORDS; ++i) {
      rows[i] = 0;
      for (int byte = 0; byte < bytes_of((int)(i % WORDS)); ++byte) rows[i] |= (word)*at++ << 8 * byte;
    }
    unequal = answer(rows, count, d);
    for (size_t i = 0; i < count; ++i)
      for (int byte = 0; byte < 4; ++byte) putchar((int)(d[i] >> 8 * byte & 255));
    fflush(stdout);
    free(given), free(rows), free(d);
  }
  return unequal;
}

int main(int argc, char **argv) {
  int devices = 0, driver = 0, runtime = 0;
  hipDeviceProp_t gpu;
  char date[32], line[200] = "";
  const time_t now = time(nullptr);
  check(hipGetDeviceCount(&devices), "find a GPU");
  if (argc > 1 && !strcmp(argv[1], "--rows")) return serve() ? 2 : 0;
  check(hipGetDeviceProperties(&gpu, 0), "describe the GPU");
  check(hipDriverGetVersion(&driver), "ask for the driver's version");
  check(hipRuntimeGetVersion(&runtime), "ask for the runtime's version");
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  if (FILE *file = fopen("/sys/module/amdgpu/version", "r")) {
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
  }

  printf("{\"model\": %s,\n \"gpu\": \"%s\", \"driver\": \"%d\", \"runtime\": \"%d\", \"date\": \"%s\",\n",
         "\"cdna3/v_mfma_f32_32x32x8_f16\"", gpu.name, driver, runtime, date);
  put_text("kernel_driver", line);
  printf(" \"instruction\": \"__builtin_amdgcn_mfma_f32_32x32x8f16\", \"target\": \"gfx942\",\n");
  return put_rows() ? 2 : 0;
}
#endif
END_OF_PROGRAM
hipcc -std=c++17 --offload-arch=gfx942 -o "$folder/f16" "$folder/f16.hip"
"$folder/f16" > answers-f16.json || echo "f16: see above" >&2
cat > "$folder/bf16.hip" <<'END_OF_PROGRAM'
// Probe of cdna3/v_mfma_f32_32x32x8_bf16: 6 vectors
// Made by: tcsmt 0.2.0: results/make/cdna3_deciding.py
// Build:   hipcc -std=c++17 --offload-arch=gfx942 -o probe probe.hip
// Run:     ./probe > answers.json; tcsmt validate answers.json
//          ./probe --rows answers rows of the standard input
//
// Every vector (a, b: 8 words, c: one) is given to __builtin_amdgcn_mfma_f32_32x32x8bf16_1k twice:
// to all rows of A, all columns of B and all of C, so that each element of D is its result; then
// to one row and one column alone, among zeros. The program fails where these results differ.

#include <hip/hip_runtime.h>

typedef unsigned reg;
typedef unsigned long long word;

enum { M = 32, N = 32, K = 8, MATRICES = 1, THREADS = 64, SCALES = 0 };
enum { VECTORS = 6, WORDS = 2 * K + 1 + 2 * SCALES, RESULTS = MATRICES * M * N };

// Which elements a thread holds: what each bit of its number, and of the element's number, adds to
// matrix << 16 | row << 8 | column. B is given transposed. CDNA3 ISA, 7.1.4
struct Fragment { int thread_bits, element_bits, bits, padding, thread[8], element[8]; };
__constant__ Fragment A = {6, 2, 16, 0, {256, 512, 1024, 2048, 4096, 4}, {1, 2}};
__constant__ Fragment B = {6, 2, 16, 0, {256, 512, 1024, 2048, 4096, 4}, {1, 2}};
__constant__ Fragment C = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};
__constant__ Fragment D = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};

__device__ int place(const Fragment &f, int element) {
  int sum = 0;
  for (int bit = 0; bit < f.thread_bits; ++bit) sum += (threadIdx.x >> bit & 1) * f.thread[bit];
  for (int bit = 0; bit < f.element_bits; ++bit) sum += (element >> bit & 1) * f.element[bit];
  return sum;
}

// Fill a thread's registers with line[step * column] in one row and column (-1: in all), else with zeros.
__device__ void load(const Fragment &f, reg *registers, const word *line, int step, int row, int column) {
  if (threadIdx.x >> f.thread_bits) return;
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    if ((row >= 0 && row != (at >> 8 & 255)) || (column >= 0 && column != (at & 255))) continue;
    const word bits = line[step * (at & 255)] << f.padding;
    registers[element / each] |= (reg)bits << (element % each * f.bits);
  }
}

__device__ void store(const Fragment &f, const reg *registers, word *results) {
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    const word bits = (word)registers[element / each] >> (element % each * f.bits);
    results[((at >> 16) * M + (at >> 8 & 255)) * N + (at & 255)] = bits & ~0ull >> (64 - f.bits);
  }
}

// A row's block scales, one in each byte; every thread gives the same, as all rows have the same.
__device__ unsigned packed(const word *scales) {
  unsigned sum = 0;
  for (int i = 0; i < SCALES; ++i) sum |= (unsigned)scales[i] << (8 * i);
  return sum;
}

typedef short factors __attribute__((ext_vector_type(4)));
typedef float sums __attribute__((ext_vector_type(16)));

__device__ void multiply(reg *d, const reg *a, const reg *b, const reg *c, unsigned sa, unsigned sb) {
  factors va, vb;
  sums vc;
  __builtin_memcpy(&va, a, sizeof va);
  __builtin_memcpy(&vb, b, sizeof vb);
  __builtin_memcpy(&vc, c, sizeof vc);
  vc = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(va, vb, vc, 0, 0, 0);
  __builtin_memcpy(d, &vc, sizeof vc);
}

extern "C" __global__ void probe(const word *vectors, word *results, int alone) {
  const word *a = vectors + blockIdx.x * (word)WORDS, *b = a + K, *c = b + K, *scales = c + 1;
  const int row = alone ? (int)blockIdx.x % M : -1, column = alone ? (int)blockIdx.x % N : -1;
  reg ra[2] = {}, rb[2] = {}, rc[16] = {}, rd[16] = {};
  load(A, ra, a, 1, row, -1);
  load(B, rb, b, 1, column, -1);
  load(C, rc, c, 0, row, column);
  multiply(rd, ra, rb, rc, packed(scales), packed(scales + SCALES));
  store(D, rd, results + blockIdx.x * (word)RESULTS);
}

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static const word vectors[VECTORS + 1][WORDS] = {
// 0: not n_fma = 1; n_fma = 2; n_fma = 4; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNZ; alignment = RNU; alignment = RND; alignment = RNO; alignment = RTP; product_limit = 2; product_limit = 4; product_limit = 8; product_limit = 16; product_limit = 32; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; c_reach = 1; c_reach = 2; c_reach = 3; c_reach = 4; c_reach = 5; c_reach = 6; c_reach = 7; c_reach = 8; c_reach = 9; c_reach = 10; c_reach = 11; c_reach = 12; c_reach = 13; c_reach = 14; c_reach = 15; c_reach = 16; c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24; c_reach = 25; c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA
//      0x4fe2f3c0  cdna3/v_mfma_f32_32x32x8_bf16
//      0x4fe2f3c0  cdna3/v_mfma_f32_32x32x8_bf16@paper
//      0x4fe2f3c2  cdna3/v_mfma_f32_32x32x8_bf16@chain
//      0x4fe2f3c2  n_fma = 1
//      0x4fe2f3c2  n_fma = 2
//      0x4fe2f3c1  n_fma = 4
//      0x4fc00000  fraction_bits = 1
//      0x4fe00000  fraction_bits = 3
//      0x4fe40000  fraction_bits = 6
//      0x4fe2e800  fraction_bits = 12
//      0x4fe2f300  fraction_bits = 16
//      0x4fe2f340  fraction_bits = 17
//      0x4fe2f380  fraction_bits = 18
//      0x4fe2f3b0  fraction_bits = 19
//      0x4fe2f3b8  fraction_bits = 20
//      0x4fe2f3bc  fraction_bits = 21
//      0x4fe2f3be  fraction_bits = 22
//      0x4fe2f3c1  fraction_bits = 25
//      0x4fe2f3c1  fraction_bits = 26
//      0x4fe2f3c1  fraction_bits = 27
//      0x4fe2f3c1  fraction_bits = 28
//      0x4fe2f3c1  fraction_bits = 29
//      0x4fe2f3c1  fraction_bits = 30
//      0x4fe2f3c1  fraction_bits = 31
//      0x4fe2f3c1  fraction_bits = 32
//      0x4fe2f3c1  alignment = RNE
//      0x4fe2f3c1  alignment = RNA
//      0x4fe2f3c1  alignment = RNZ
//      0x4fe2f3c1  alignment = RNU
//      0x4fe2f3c1  alignment = RND
//      0x4fe2f3c1  alignment = RNO
//      0x4fe2f3c1  alignment = RTP
//      0x7fc00000  product_limit = 2
//      0x7fc00000  product_limit = 4
//      0x7fc00000  product_limit = 8
//      0x7fc00000  product_limit = 16
//      0x7f800000  product_limit = 32
//      0x4fe2f3c1  realignment = RNE
//      0x4fe2f3c1  realignment = RNA
//      0x4fe2f3c1  realignment = RNZ
//      0x4fe2f3c1  realignment = RNU
//      0x4fe2f3c1  realignment = RND
//      0x4fe2f3c1  realignment = RNO
//      0x4fe2f3c1  realignment = RTZ
//      0x4fe2f3c1  realignment = RTP
//      0x4fe2f3c1  c_reach = 1
//      0x4fe2f3c1  c_reach = 2
//      0x4fe2f3c1  c_reach = 3
//      0x4fe2f3c1  c_reach = 4
//      0x4fe2f3c1  c_reach = 5
//      0x4fe2f3c1  c_reach = 6
//      0x4fe2f3c1  c_reach = 7
//      0x4fe2f3c1  c_reach = 8
//      0x4fe2f3c1  c_reach = 9
//      0x4fe2f3c1  c_reach = 10
//      0x4fe2f3c1  c_reach = 11
//      0x4fe2f3c1  c_reach = 12
//      0x4fe2f3c1  c_reach = 13
//      0x4fe2f3c1  c_reach = 14
//      0x4fe2f3c1  c_reach = 15
//      0x4fe2f3c1  c_reach = 16
//      0x4fe2f3c1  c_reach = 17
//      0x4fe2f3c1  c_reach = 18
//      0x4fe2f3c1  c_reach = 19
//      0x4fe2f3c1  c_reach = 20
//      0x4fe2f3c1  c_reach = 21
//      0x4fe2f3c1  c_reach = 22
//      0x4fe2f3c1  c_reach = 23
//      0x4fe2f3c1  c_reach = 24
//      0x4fe2f3c1  c_reach = 25
//      0x4fe2f3c1  c_reach = 26
//      0x4fe2f3c1  c_reach = 27
//      0x4fe2f3c1  c_reach = 28
//      0x4fe2f3c1  c_reach = 29
//      0x4fe2f3c1  c_reach = 30
//      0x4fe2f3c1  c_reach = 31
//      0x4fe2f3c1  c_reach = 32
//      0x4fc00000  normalised_fraction_bits = 1
//      0x4fe00000  normalised_fraction_bits = 3
//      0x4fe20000  normalised_fraction_bits = 7
//      0x4fe2f300  normalised_fraction_bits = 15
//      0x4fe2f3c1  rounding = RNA
//      0x4fe2f3c1  rounding = RNU
//      0x4fe2f3c1  rounding = RNO
//      0x4fe2f3c1  rounding = RTP
//      0x4fe2f3c1  rounding = RTO
//      0x4fe2f3c1  rounding = RA
{0x447e, 0x37ef, 0x4580, 0xcb5f, 0xc2ff, 0x3f80, 0x4748, 0x4780, 0x4480, 0xc680, 0xc79c, 0xba20, 0x4b77, 0xba40, 0x483f, 0xc304, 0xbc7fbfff},
// 1: not lane_groups = 2; lane_groups = 4; lane_groups = 8; alignment = RTN; alignment = RA; dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; dot_fraction_bits = 31; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; normalised_fraction_bits = 30; rounding = RTZ; rounding = RTN
//      0x3f7fd679  cdna3/v_mfma_f32_32x32x8_bf16
//      0x3f7fd678  cdna3/v_mfma_f32_32x32x8_bf16@paper
//      0x3f7fd678  cdna3/v_mfma_f32_32x32x8_bf16@chain
//      0x3f7fd678  lane_groups = 2
//      0x3f7fd678  lane_groups = 4
//      0x3f7fd678  lane_groups = 8
//      0x3f7fd678  alignment = RTN
//      0x3f7fd678  alignment = RA
//      0x3f7fd678  dot_fraction_bits = 24
//      0x3f7fd678  dot_fraction_bits = 25
//      0x3f7fd678  dot_fraction_bits = 26
//      0x3f7fd678  dot_fraction_bits = 27
//      0x3f7fd678  dot_fraction_bits = 28
//      0x3f7fd678  dot_fraction_bits = 29
//      0x3f7fd678  dot_fraction_bits = 30
//      0x3f7fd678  dot_fraction_bits = 31
//      0x3f7fd678  normalised_fraction_bits = 23
//      0x3f7fd678  normalised_fraction_bits = 24
//      0x3f7fd678  normalised_fraction_bits = 25
//      0x3f7fd678  normalised_fraction_bits = 26
//      0x3f7fd678  normalised_fraction_bits = 27
//      0x3f7fd678  normalised_fraction_bits = 28
//      0x3f7fd678  normalised_fraction_bits = 29
//      0x3f7fd678  normalised_fraction_bits = 30
//      0x3f7fd678  rounding = RTZ
//      0x3f7fd678  rounding = RTN
{0x3c8b, 0xb786, 0x37a0, 0x380b, 0x0, 0x0, 0x0, 0x0, 0xbd19, 0x3864, 0xb7e2, 0x3848, 0x0, 0x0, 0x0, 0x0, 0x3f800001},
// 2: not product_limit = 64; product_limit = 120; product_limit = 121; product_limit = 122; product_limit = 123; product_limit = 124; product_limit = 125; product_limit = 126; product_limit = 127; product_limit = 129; product_limit = 130; product_limit = 131; product_limit = 132; product_limit = 133; product_limit = 134; product_limit = 135; product_limit = 136; product_limit = 256; product_limit = None
//      0xff800000  cdna3/v_mfma_f32_32x32x8_bf16
//      0xff800000  cdna3/v_mfma_f32_32x32x8_bf16@paper
//      0xfeff0000  cdna3/v_mfma_f32_32x32x8_bf16@chain
//      0x7fc00000  product_limit = 64
//      0x7fc00000  product_limit = 120
//      0x7fc00000  product_limit = 121
//      0x7fc00000  product_limit = 122
//      0x7fc00000  product_limit = 123
//      0x7fc00000  product_limit = 124
//      0x7fc00000  product_limit = 125
//      0x7fc00000  product_limit = 126
//      0x7fc00000  product_limit = 127
//      0xfeff0000  product_limit = 129
//      0xfeff0000  product_limit = 130
//      0xfeff0000  product_limit = 131
//      0xfeff0000  product_limit = 132
//      0xfeff0000  product_limit = 133
//      0xfeff0000  product_limit = 134
//      0xfeff0000  product_limit = 135
//      0xfeff0000  product_limit = 136
//      0xfeff0000  product_limit = 256
//      0xfeff0000  product_limit = None
{0x0, 0x7f7f, 0x3f80, 0x0, 0x3f80, 0x7f01, 0x0, 0x3fff, 0x7f, 0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x80c0, 0x0, 0xff40, 0x3f800000},
// 3: not realignment = RA; normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; normalised_fraction_bits = 62; normalised_fraction_bits = None; rounding = RNZ
//      0xbf800002  cdna3/v_mfma_f32_32x32x8_bf16
//      0xbf800002  cdna3/v_mfma_f32_32x32x8_bf16@paper
//      0xbf800001  cdna3/v_mfma_f32_32x32x8_bf16@chain
//      0xbf800001  realignment = RA
//      0xbf800001  normalised_fraction_bits = 32
//      0xbf800001  normalised_fraction_bits = 33
//      0xbf800001  normalised_fraction_bits = 34
//      0xbf800001  normalised_fraction_bits = 35
//      0xbf800001  normalised_fraction_bits = 36
//      0xbf800001  normalised_fraction_bits = 37
//      0xbf800001  normalised_fraction_bits = 38
//      0xbf800001  normalised_fraction_bits = 39
//      0xbf800001  normalised_fraction_bits = 62
//      0xbf800001  normalised_fraction_bits = None
//      0xbf800001  rounding = RNZ
{0x39ee, 0x0, 0x34ae, 0x0, 0x0, 0x0, 0x0, 0x0, 0x39cf, 0xb58f, 0x357d, 0x377f, 0x0, 0x0, 0x0, 0x0, 0xbf800003},
// 4: not fraction_bits = 23; alignment = RTO; rounding = RND
//      0x56840092  cdna3/v_mfma_f32_32x32x8_bf16
//      0x56840092  cdna3/v_mfma_f32_32x32x8_bf16@paper
//      0x56840092  cdna3/v_mfma_f32_32x32x8_bf16@chain
//      0x56840091  fraction_bits = 23
//      0x56840090  alignment = RTO
//      0x56840091  rounding = RND
{0x3def, 0xc488, 0x4394, 0x4933, 0x4b00, 0xbfa0, 0x457e, 0xc780, 0xb3ff, 0xc980, 0x4888, 0x325f, 0x4b04, 0x3714, 0xbe00, 0x3c80, 0x46800000},
// 5: not realignment = RTO
//      0xd67de3d1  cdna3/v_mfma_f32_32x32x8_bf16
//      0xd67de3d1  cdna3/v_mfma_f32_32x32x8_bf16@paper
//      0xd67de3d0  cdna3/v_mfma_f32_32x32x8_bf16@chain
//      0xd67de3d0  realignment = RTO
{0xb8fb, 0xd280, 0x3980, 0x3d1a, 0xbfa0, 0xb87f, 0xce00, 0xcd00, 0x5060, 0x4380, 0x5310, 0x5355, 0xbad0, 0xc900, 0xc47e, 0xbdff, 0x457fffff},
{0}};

// What each vector asks and what the hypotheses predict, as members of a JSON object.
static const char *const about[VECTORS + 1] = {
"\"asks\": \"not n_fma = 1; n_fma = 2; n_fma = 4; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNZ; alignment = RNU; alignment = RND; alignment = RNO; alignment = RTP; product_limit = 2; product_limit = 4; product_limit = 8; product_limit = 16; product_limit = 32; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; c_reach = 1; c_reach = 2; c_reach = 3; c_reach = 4; c_reach = 5; c_reach = 6; c_reach = 7; c_reach = 8; c_reach = 9; c_reach = 10; c_reach = 11; c_reach = 12; c_reach = 13; c_reach = 14; c_reach = 15; c_reach = 16; c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24; c_reach = 25; c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_bf16\": \"0x4fe2f3c0\", \"cdna3/v_mfma_f32_32x32x8_bf16@paper\": \"0x4fe2f3c0\", \"cdna3/v_mfma_f32_32x32x8_bf16@chain\": \"0x4fe2f3c2\", \"n_fma = 1\": \"0x4fe2f3c2\", \"n_fma = 2\": \"0x4fe2f3c2\", \"n_fma = 4\": \"0x4fe2f3c1\", \"fraction_bits = 1\": \"0x4fc00000\", \"fraction_bits = 3\": \"0x4fe00000\", \"fraction_bits = 6\": \"0x4fe40000\", \"fraction_bits = 12\": \"0x4fe2e800\", \"fraction_bits = 16\": \"0x4fe2f300\", \"fraction_bits = 17\": \"0x4fe2f340\", \"fraction_bits = 18\": \"0x4fe2f380\", \"fraction_bits = 19\": \"0x4fe2f3b0\", \"fraction_bits = 20\": \"0x4fe2f3b8\", \"fraction_bits = 21\": \"0x4fe2f3bc\", \"fraction_bits = 22\": \"0x4fe2f3be\", \"fraction_bits = 25\": \"0x4fe2f3c1\", \"fraction_bits = 26\": \"0x4fe2f3c1\", \"fraction_bits = 27\": \"0x4fe2f3c1\", \"fraction_bits = 28\": \"0x4fe2f3c1\", \"fraction_bits = 29\": \"0x4fe2f3c1\", \"fraction_bits = 30\": \"0x4fe2f3c1\", \"fraction_bits = 31\": \"0x4fe2f3c1\", \"fraction_bits = 32\": \"0x4fe2f3c1\", \"alignment = RNE\": \"0x4fe2f3c1\", \"alignment = RNA\": \"0x4fe2f3c1\", \"alignment = RNZ\": \"0x4fe2f3c1\", \"alignment = RNU\": \"0x4fe2f3c1\", \"alignment = RND\": \"0x4fe2f3c1\", \"alignment = RNO\": \"0x4fe2f3c1\", \"alignment = RTP\": \"0x4fe2f3c1\", \"product_limit = 2\": \"0x7fc00000\", \"product_limit = 4\": \"0x7fc00000\", \"product_limit = 8\": \"0x7fc00000\", \"product_limit = 16\": \"0x7fc00000\", \"product_limit = 32\": \"0x7f800000\", \"realignment = RNE\": \"0x4fe2f3c1\", \"realignment = RNA\": \"0x4fe2f3c1\", \"realignment = RNZ\": \"0x4fe2f3c1\", \"realignment = RNU\": \"0x4fe2f3c1\", \"realignment = RND\": \"0x4fe2f3c1\", \"realignment = RNO\": \"0x4fe2f3c1\", \"realignment = RTZ\": \"0x4fe2f3c1\", \"realignment = RTP\": \"0x4fe2f3c1\", \"c_reach = 1\": \"0x4fe2f3c1\", \"c_reach = 2\": \"0x4fe2f3c1\", \"c_reach = 3\": \"0x4fe2f3c1\", \"c_reach = 4\": \"0x4fe2f3c1\", \"c_reach = 5\": \"0x4fe2f3c1\", \"c_reach = 6\": \"0x4fe2f3c1\", \"c_reach = 7\": \"0x4fe2f3c1\", \"c_reach = 8\": \"0x4fe2f3c1\", \"c_reach = 9\": \"0x4fe2f3c1\", \"c_reach = 10\": \"0x4fe2f3c1\", \"c_reach = 11\": \"0x4fe2f3c1\", \"c_reach = 12\": \"0x4fe2f3c1\", \"c_reach = 13\": \"0x4fe2f3c1\", \"c_reach = 14\": \"0x4fe2f3c1\", \"c_reach = 15\": \"0x4fe2f3c1\", \"c_reach = 16\": \"0x4fe2f3c1\", \"c_reach = 17\": \"0x4fe2f3c1\", \"c_reach = 18\": \"0x4fe2f3c1\", \"c_reach = 19\": \"0x4fe2f3c1\", \"c_reach = 20\": \"0x4fe2f3c1\", \"c_reach = 21\": \"0x4fe2f3c1\", \"c_reach = 22\": \"0x4fe2f3c1\", \"c_reach = 23\": \"0x4fe2f3c1\", \"c_reach = 24\": \"0x4fe2f3c1\", \"c_reach = 25\": \"0x4fe2f3c1\", \"c_reach = 26\": \"0x4fe2f3c1\", \"c_reach = 27\": \"0x4fe2f3c1\", \"c_reach = 28\": \"0x4fe2f3c1\", \"c_reach = 29\": \"0x4fe2f3c1\", \"c_reach = 30\": \"0x4fe2f3c1\", \"c_reach = 31\": \"0x4fe2f3c1\", \"c_reach = 32\": \"0x4fe2f3c1\", \"normalised_fraction_bits = 1\": \"0x4fc00000\", \"normalised_fraction_bits = 3\": \"0x4fe00000\", \"normalised_fraction_bits = 7\": \"0x4fe20000\", \"normalised_fraction_bits = 15\": \"0x4fe2f300\", \"rounding = RNA\": \"0x4fe2f3c1\", \"rounding = RNU\": \"0x4fe2f3c1\", \"rounding = RNO\": \"0x4fe2f3c1\", \"rounding = RTP\": \"0x4fe2f3c1\", \"rounding = RTO\": \"0x4fe2f3c1\", \"rounding = RA\": \"0x4fe2f3c1\"}",
"\"asks\": \"not lane_groups = 2; lane_groups = 4; lane_groups = 8; alignment = RTN; alignment = RA; dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; dot_fraction_bits = 31; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; normalised_fraction_bits = 30; rounding = RTZ; rounding = RTN\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_bf16\": \"0x3f7fd679\", \"cdna3/v_mfma_f32_32x32x8_bf16@paper\": \"0x3f7fd678\", \"cdna3/v_mfma_f32_32x32x8_bf16@chain\": \"0x3f7fd678\", \"lane_groups = 2\": \"0x3f7fd678\", \"lane_groups = 4\": \"0x3f7fd678\", \"lane_groups = 8\": \"0x3f7fd678\", \"alignment = RTN\": \"0x3f7fd678\", \"alignment = RA\": \"0x3f7fd678\", \"dot_fraction_bits = 24\": \"0x3f7fd678\", \"dot_fraction_bits = 25\": \"0x3f7fd678\", \"dot_fraction_bits = 26\": \"0x3f7fd678\", \"dot_fraction_bits = 27\": \"0x3f7fd678\", \"dot_fraction_bits = 28\": \"0x3f7fd678\", \"dot_fraction_bits = 29\": \"0x3f7fd678\", \"dot_fraction_bits = 30\": \"0x3f7fd678\", \"dot_fraction_bits = 31\": \"0x3f7fd678\", \"normalised_fraction_bits = 23\": \"0x3f7fd678\", \"normalised_fraction_bits = 24\": \"0x3f7fd678\", \"normalised_fraction_bits = 25\": \"0x3f7fd678\", \"normalised_fraction_bits = 26\": \"0x3f7fd678\", \"normalised_fraction_bits = 27\": \"0x3f7fd678\", \"normalised_fraction_bits = 28\": \"0x3f7fd678\", \"normalised_fraction_bits = 29\": \"0x3f7fd678\", \"normalised_fraction_bits = 30\": \"0x3f7fd678\", \"rounding = RTZ\": \"0x3f7fd678\", \"rounding = RTN\": \"0x3f7fd678\"}",
"\"asks\": \"not product_limit = 64; product_limit = 120; product_limit = 121; product_limit = 122; product_limit = 123; product_limit = 124; product_limit = 125; product_limit = 126; product_limit = 127; product_limit = 129; product_limit = 130; product_limit = 131; product_limit = 132; product_limit = 133; product_limit = 134; product_limit = 135; product_limit = 136; product_limit = 256; product_limit = None\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_bf16\": \"0xff800000\", \"cdna3/v_mfma_f32_32x32x8_bf16@paper\": \"0xff800000\", \"cdna3/v_mfma_f32_32x32x8_bf16@chain\": \"0xfeff0000\", \"product_limit = 64\": \"0x7fc00000\", \"product_limit = 120\": \"0x7fc00000\", \"product_limit = 121\": \"0x7fc00000\", \"product_limit = 122\": \"0x7fc00000\", \"product_limit = 123\": \"0x7fc00000\", \"product_limit = 124\": \"0x7fc00000\", \"product_limit = 125\": \"0x7fc00000\", \"product_limit = 126\": \"0x7fc00000\", \"product_limit = 127\": \"0x7fc00000\", \"product_limit = 129\": \"0xfeff0000\", \"product_limit = 130\": \"0xfeff0000\", \"product_limit = 131\": \"0xfeff0000\", \"product_limit = 132\": \"0xfeff0000\", \"product_limit = 133\": \"0xfeff0000\", \"product_limit = 134\": \"0xfeff0000\", \"product_limit = 135\": \"0xfeff0000\", \"product_limit = 136\": \"0xfeff0000\", \"product_limit = 256\": \"0xfeff0000\", \"product_limit = None\": \"0xfeff0000\"}",
"\"asks\": \"not realignment = RA; normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; normalised_fraction_bits = 62; normalised_fraction_bits = None; rounding = RNZ\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_bf16\": \"0xbf800002\", \"cdna3/v_mfma_f32_32x32x8_bf16@paper\": \"0xbf800002\", \"cdna3/v_mfma_f32_32x32x8_bf16@chain\": \"0xbf800001\", \"realignment = RA\": \"0xbf800001\", \"normalised_fraction_bits = 32\": \"0xbf800001\", \"normalised_fraction_bits = 33\": \"0xbf800001\", \"normalised_fraction_bits = 34\": \"0xbf800001\", \"normalised_fraction_bits = 35\": \"0xbf800001\", \"normalised_fraction_bits = 36\": \"0xbf800001\", \"normalised_fraction_bits = 37\": \"0xbf800001\", \"normalised_fraction_bits = 38\": \"0xbf800001\", \"normalised_fraction_bits = 39\": \"0xbf800001\", \"normalised_fraction_bits = 62\": \"0xbf800001\", \"normalised_fraction_bits = None\": \"0xbf800001\", \"rounding = RNZ\": \"0xbf800001\"}",
"\"asks\": \"not fraction_bits = 23; alignment = RTO; rounding = RND\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_bf16\": \"0x56840092\", \"cdna3/v_mfma_f32_32x32x8_bf16@paper\": \"0x56840092\", \"cdna3/v_mfma_f32_32x32x8_bf16@chain\": \"0x56840092\", \"fraction_bits = 23\": \"0x56840091\", \"alignment = RTO\": \"0x56840090\", \"rounding = RND\": \"0x56840091\"}",
"\"asks\": \"not realignment = RTO\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x8_bf16\": \"0xd67de3d1\", \"cdna3/v_mfma_f32_32x32x8_bf16@paper\": \"0xd67de3d1\", \"cdna3/v_mfma_f32_32x32x8_bf16@chain\": \"0xd67de3d0\", \"realignment = RTO\": \"0xd67de3d0\"}",
""};

static void check(hipError_t error, const char *what) {
  if (error == hipSuccess) return;
  fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  exit(1);
}

// The results of one launch for at most AT_ONCE vectors.
enum { AT_ONCE = 4096 };
static void run(int alone, const word *given, size_t count, std::vector<word> &results) {
  word *device;
  const size_t bytes = count * RESULTS * sizeof(word);
  check(hipMalloc((void **)&device, bytes), "allocate");
  check(hipMemset(device, 0, bytes), "clear");
  probe<<<(unsigned)count, THREADS>>>(given, device, alone);
  check(hipGetLastError(), "launch");
  check(hipDeviceSynchronize(), "run");
  check(hipMemcpy(results.data(), device, bytes, hipMemcpyDeviceToHost), "read results");
  check(hipFree(device), "free");
}

// The word of D for each vector; returns how many elements of D are another word than the first.
static int answer(const word *rows, size_t count, word *d) {
  std::vector<word> everywhere(AT_ONCE * (size_t)RESULTS), alone(AT_ONCE * (size_t)RESULTS);
  int unequal = 0;
  for (size_t first = 0; first < count; first += AT_ONCE) {
    const size_t now = count - first < AT_ONCE ? count - first : AT_ONCE, bytes = now * WORDS * sizeof(word);
    word *given;
    check(hipMalloc((void **)&given, bytes), "allocate");
    check(hipMemcpy(given, rows + first * WORDS, bytes, hipMemcpyHostToDevice), "write vectors");
    run(0, given, now, everywhere);
    run(1, given, now, alone);
    check(hipFree(given), "free");
    for (size_t v = 0; v < now; ++v) {
      d[first + v] = everywhere[v * RESULTS];
      for (int i = 0; i < RESULTS; ++i) {
        const int here = i % (M * N) == (int)(v % M * N + v % N);
        const size_t at = v * RESULTS + i;
        if (everywhere[at] == d[first + v] && !(here && alone[at] != d[first + v])) continue;
        if (!unequal++)
          fprintf(stderr, "vector %zu: element %d of D is 0x%llx (alone 0x%llx), the first 0x%llx\n", first + v, i,
                  everywhere[at], alone[at], d[first + v]);
      }
    }
  }
  return unequal;
}

// Words of w bits as a JSON list of count hexadecimal texts; count 0: one text.
static void put(const char *name, const word *words, int count, int w) {
  printf("\"%s\": %s", name, count ? "[" : "");
  for (int i = 0; i < (count ? count : 1); ++i) printf("%s\"0x%0*llx\"", i ? ", " : "", (w + 3) / 4, words[i]);
  printf("%s, ", count ? "]" : "");
}

// What the device says of itself, as a JSON text.
static void put_text(const char *name, const char *text) {
  printf(" \"%s\": \"", name);
  for (const char *at = text; *at; ++at)
    if (*at >= ' ' && *at < 127 && *at != '"' && *at != '\\') putchar(*at);
  printf("\",\n");
}

static void *memory(size_t bytes) {
  void *found = malloc(bytes ? bytes : 1);
  if (found) return found;
  fprintf(stderr, "no memory for %zu bytes\n", bytes);
  exit(1);
}

// What the hypotheses predict: number of the vector, of the hypothesis, and the word of D.
static const char *const hypotheses[] = {
"cdna3/v_mfma_f32_32x32x8_bf16",
"cdna3/v_mfma_f32_32x32x8_bf16@paper",
"cdna3/v_mfma_f32_32x32x8_bf16@chain",
"n_fma = 1",
"n_fma = 2",
"n_fma = 4",
"fraction_bits = 1",
"fraction_bits = 3",
"fraction_bits = 6",
"fraction_bits = 12",
"fraction_bits = 16",
"fraction_bits = 17",
"fraction_bits = 18",
"fraction_bits = 19",
"fraction_bits = 20",
"fraction_bits = 21",
"fraction_bits = 22",
"fraction_bits = 25",
"fraction_bits = 26",
"fraction_bits = 27",
"fraction_bits = 28",
"fraction_bits = 29",
"fraction_bits = 30",
"fraction_bits = 31",
"fraction_bits = 32",
"alignment = RNE",
"alignment = RNA",
"alignment = RNZ",
"alignment = RNU",
"alignment = RND",
"alignment = RNO",
"alignment = RTP",
"product_limit = 2",
"product_limit = 4",
"product_limit = 8",
"product_limit = 16",
"product_limit = 32",
"realignment = RNE",
"realignment = RNA",
"realignment = RNZ",
"realignment = RNU",
"realignment = RND",
"realignment = RNO",
"realignment = RTZ",
"realignment = RTP",
"c_reach = 1",
"c_reach = 2",
"c_reach = 3",
"c_reach = 4",
"c_reach = 5",
"c_reach = 6",
"c_reach = 7",
"c_reach = 8",
"c_reach = 9",
"c_reach = 10",
"c_reach = 11",
"c_reach = 12",
"c_reach = 13",
"c_reach = 14",
"c_reach = 15",
"c_reach = 16",
"c_reach = 17",
"c_reach = 18",
"c_reach = 19",
"c_reach = 20",
"c_reach = 21",
"c_reach = 22",
"c_reach = 23",
"c_reach = 24",
"c_reach = 25",
"c_reach = 26",
"c_reach = 27",
"c_reach = 28",
"c_reach = 29",
"c_reach = 30",
"c_reach = 31",
"c_reach = 32",
"normalised_fraction_bits = 1",
"normalised_fraction_bits = 3",
"normalised_fraction_bits = 7",
"normalised_fraction_bits = 15",
"rounding = RNA",
"rounding = RNU",
"rounding = RNO",
"rounding = RTP",
"rounding = RTO",
"rounding = RA",
"lane_groups = 2",
"lane_groups = 4",
"lane_groups = 8",
"alignment = RTN",
"alignment = RA",
"dot_fraction_bits = 24",
"dot_fraction_bits = 25",
"dot_fraction_bits = 26",
"dot_fraction_bits = 27",
"dot_fraction_bits = 28",
"dot_fraction_bits = 29",
"dot_fraction_bits = 30",
"dot_fraction_bits = 31",
"normalised_fraction_bits = 23",
"normalised_fraction_bits = 24",
"normalised_fraction_bits = 25",
"normalised_fraction_bits = 26",
"normalised_fraction_bits = 27",
"normalised_fraction_bits = 28",
"normalised_fraction_bits = 29",
"normalised_fraction_bits = 30",
"rounding = RTZ",
"rounding = RTN",
"product_limit = 64",
"product_limit = 120",
"product_limit = 121",
"product_limit = 122",
"product_limit = 123",
"product_limit = 124",
"product_limit = 125",
"product_limit = 126",
"product_limit = 127",
"product_limit = 129",
"product_limit = 130",
"product_limit = 131",
"product_limit = 132",
"product_limit = 133",
"product_limit = 134",
"product_limit = 135",
"product_limit = 136",
"product_limit = 256",
"product_limit = None",
"realignment = RA",
"normalised_fraction_bits = 32",
"normalised_fraction_bits = 33",
"normalised_fraction_bits = 34",
"normalised_fraction_bits = 35",
"normalised_fraction_bits = 36",
"normalised_fraction_bits = 37",
"normalised_fraction_bits = 38",
"normalised_fraction_bits = 39",
"normalised_fraction_bits = 62",
"normalised_fraction_bits = None",
"rounding = RNZ",
"fraction_bits = 23",
"alignment = RTO",
"rounding = RND",
"realignment = RTO",
""};
static const struct { int vector, hypothesis; word d; } predictions[] = {
{0, 0, 0x4fe2f3c0},
{0, 1, 0x4fe2f3c0},
{0, 2, 0x4fe2f3c2},
{0, 3, 0x4fe2f3c2},
{0, 4, 0x4fe2f3c2},
{0, 5, 0x4fe2f3c1},
{0, 6, 0x4fc00000},
{0, 7, 0x4fe00000},
{0, 8, 0x4fe40000},
{0, 9, 0x4fe2e800},
{0, 10, 0x4fe2f300},
{0, 11, 0x4fe2f340},
{0, 12, 0x4fe2f380},
{0, 13, 0x4fe2f3b0},
{0, 14, 0x4fe2f3b8},
{0, 15, 0x4fe2f3bc},
{0, 16, 0x4fe2f3be},
{0, 17, 0x4fe2f3c1},
{0, 18, 0x4fe2f3c1},
{0, 19, 0x4fe2f3c1},
{0, 20, 0x4fe2f3c1},
{0, 21, 0x4fe2f3c1},
{0, 22, 0x4fe2f3c1},
{0, 23, 0x4fe2f3c1},
{0, 24, 0x4fe2f3c1},
{0, 25, 0x4fe2f3c1},
{0, 26, 0x4fe2f3c1},
{0, 27, 0x4fe2f3c1},
{0, 28, 0x4fe2f3c1},
{0, 29, 0x4fe2f3c1},
{0, 30, 0x4fe2f3c1},
{0, 31, 0x4fe2f3c1},
{0, 32, 0x7fc00000},
{0, 33, 0x7fc00000},
{0, 34, 0x7fc00000},
{0, 35, 0x7fc00000},
{0, 36, 0x7f800000},
{0, 37, 0x4fe2f3c1},
{0, 38, 0x4fe2f3c1},
{0, 39, 0x4fe2f3c1},
{0, 40, 0x4fe2f3c1},
{0, 41, 0x4fe2f3c1},
{0, 42, 0x4fe2f3c1},
{0, 43, 0x4fe2f3c1},
{0, 44, 0x4fe2f3c1},
{0, 45, 0x4fe2f3c1},
{0, 46, 0x4fe2f3c1},
{0, 47, 0x4fe2f3c1},
{0, 48, 0x4fe2f3c1},
{0, 49, 0x4fe2f3c1},
{0, 50, 0x4fe2f3c1},
{0, 51, 0x4fe2f3c1},
{0, 52, 0x4fe2f3c1},
{0, 53, 0x4fe2f3c1},
{0, 54, 0x4fe2f3c1},
{0, 55, 0x4fe2f3c1},
{0, 56, 0x4fe2f3c1},
{0, 57, 0x4fe2f3c1},
{0, 58, 0x4fe2f3c1},
{0, 59, 0x4fe2f3c1},
{0, 60, 0x4fe2f3c1},
{0, 61, 0x4fe2f3c1},
{0, 62, 0x4fe2f3c1},
{0, 63, 0x4fe2f3c1},
{0, 64, 0x4fe2f3c1},
{0, 65, 0x4fe2f3c1},
{0, 66, 0x4fe2f3c1},
{0, 67, 0x4fe2f3c1},
{0, 68, 0x4fe2f3c1},
{0, 69, 0x4fe2f3c1},
{0, 70, 0x4fe2f3c1},
{0, 71, 0x4fe2f3c1},
{0, 72, 0x4fe2f3c1},
{0, 73, 0x4fe2f3c1},
{0, 74, 0x4fe2f3c1},
{0, 75, 0x4fe2f3c1},
{0, 76, 0x4fe2f3c1},
{0, 77, 0x4fc00000},
{0, 78, 0x4fe00000},
{0, 79, 0x4fe20000},
{0, 80, 0x4fe2f300},
{0, 81, 0x4fe2f3c1},
{0, 82, 0x4fe2f3c1},
{0, 83, 0x4fe2f3c1},
{0, 84, 0x4fe2f3c1},
{0, 85, 0x4fe2f3c1},
{0, 86, 0x4fe2f3c1},
{1, 0, 0x3f7fd679},
{1, 1, 0x3f7fd678},
{1, 2, 0x3f7fd678},
{1, 87, 0x3f7fd678},
{1, 88, 0x3f7fd678},
{1, 89, 0x3f7fd678},
{1, 90, 0x3f7fd678},
{1, 91, 0x3f7fd678},
{1, 92, 0x3f7fd678},
{1, 93, 0x3f7fd678},
{1, 94, 0x3f7fd678},
{1, 95, 0x3f7fd678},
{1, 96, 0x3f7fd678},
{1, 97, 0x3f7fd678},
{1, 98, 0x3f7fd678},
{1, 99, 0x3f7fd678},
{1, 100, 0x3f7fd678},
{1, 101, 0x3f7fd678},
{1, 102, 0x3f7fd678},
{1, 103, 0x3f7fd678},
{1, 104, 0x3f7fd678},
{1, 105, 0x3f7fd678},
{1, 106, 0x3f7fd678},
{1, 107, 0x3f7fd678},
{1, 108, 0x3f7fd678},
{1, 109, 0x3f7fd678},
{2, 0, 0xff800000},
{2, 1, 0xff800000},
{2, 2, 0xfeff0000},
{2, 110, 0x7fc00000},
{2, 111, 0x7fc00000},
{2, 112, 0x7fc00000},
{2, 113, 0x7fc00000},
{2, 114, 0x7fc00000},
{2, 115, 0x7fc00000},
{2, 116, 0x7fc00000},
{2, 117, 0x7fc00000},
{2, 118, 0x7fc00000},
{2, 119, 0xfeff0000},
{2, 120, 0xfeff0000},
{2, 121, 0xfeff0000},
{2, 122, 0xfeff0000},
{2, 123, 0xfeff0000},
{2, 124, 0xfeff0000},
{2, 125, 0xfeff0000},
{2, 126, 0xfeff0000},
{2, 127, 0xfeff0000},
{2, 128, 0xfeff0000},
{3, 0, 0xbf800002},
{3, 1, 0xbf800002},
{3, 2, 0xbf800001},
{3, 129, 0xbf800001},
{3, 130, 0xbf800001},
{3, 131, 0xbf800001},
{3, 132, 0xbf800001},
{3, 133, 0xbf800001},
{3, 134, 0xbf800001},
{3, 135, 0xbf800001},
{3, 136, 0xbf800001},
{3, 137, 0xbf800001},
{3, 138, 0xbf800001},
{3, 139, 0xbf800001},
{3, 140, 0xbf800001},
{4, 0, 0x56840092},
{4, 1, 0x56840092},
{4, 2, 0x56840092},
{4, 141, 0x56840091},
{4, 142, 0x56840090},
{4, 143, 0x56840091},
{5, 0, 0xd67de3d1},
{5, 1, 0xd67de3d1},
{5, 2, 0xd67de3d0},
{5, 144, 0xd67de3d0},
{-1, 0, 0}};

// On the standard error: how many answers each hypothesis predicts.
static void judge(const word *d) {
  for (int h = 0; h < 145; ++h) {
    int said = 0, right = 0;
    for (int i = 0; predictions[i].vector >= 0; ++i) {
      if (predictions[i].hypothesis != h) continue;
      ++said;
      right += predictions[i].d == d[predictions[i].vector];
    }
    fprintf(stderr, "%d of %d answers are those of: %s\n", right, said, hypotheses[h]);
  }
}

// The answers to this program's vectors, as the rows of a JSON object. Returns how many contradict.
static int put_rows(void) {
  word *d = (word *)memory(VECTORS * sizeof(word));
  const int unequal = answer(&vectors[0][0], VECTORS, d);
  printf(" \"program\": %s,\n \"unequal\": %d,\n \"rows\": [\n", "\"tcsmt 0.2.0: results/make/cdna3_deciding.py\"", unequal);
  for (int v = 0; v < VECTORS; ++v) {
    const word *a = vectors[v];
    printf("  {");
    put("a", a, K, 16);
    put("b", a + K, K, 16);
    put("c", a + 2 * K, 0, 32);
    if (SCALES) put("scale_a", a + 2 * K + 1, SCALES, 8), put("scale_b", a + 2 * K + 1 + SCALES, SCALES, 8);
    put("d", d + v, 0, 32);
    printf("%s}%s\n", about[v], v + 1 < VECTORS ? "," : "");
  }
  printf("]}\n");
  judge(d);
  free(d);
  return unequal;
}

// Bytes of each word of a row, in order.
static int bytes_of(int number) {
  return number < K ? 2 : number < 2 * K ? 2 : number == 2 * K ? 4 : 1;
}

// Standard input: a number of rows (four bytes), then the rows' words; standard output: the words of D; and so
// on until the input ends. All numbers have their lowest byte first. Returns how many answers contradict.
static int serve(void) {
  unsigned char head[4];
  int size = 0, unequal = 0;
  for (int i = 0; i < WORDS; ++i) size += bytes_of(i);
  while (!unequal && fread(head, 1, 4, stdin) == 4) {
    const size_t count = head[0] | head[1] << 8 | head[2] << 16 | (size_t)head[3] << 24;
    unsigned char *given = (unsigned char *)memory(count * size), *at = given;
    word *rows = (word *)memory(count * WORDS * sizeof(word)), *d = (word *)memory(count * sizeof(word));
    if (fread(given, size, count, stdin) != count) {
      fprintf(stderr, "the input ended within a row\n");
      exit(1);
    }
    for (size_t i = 0; i < count * WORDS; ++i) {
      rows[i] = 0;
      for (int byte = 0; byte < bytes_of((int)(i % WORDS)); ++byte) rows[i] |= (word)*at++ << 8 * byte;
    }
    unequal = answer(rows, count, d);
    for (size_t i = 0; i < count; ++i)
      for (int byte = 0; byte < 4; ++byte) putchar((int)(d[i] >> 8 * byte & 255));
    fflush(stdout);
    free(given), free(rows), free(d);
  }
  return unequal;
}

int main(int argc, char **argv) {
  int devices = 0, driver = 0, runtime = 0;
  hipDeviceProp_t gpu;
  char date[32], line[200] = "";
  const time_t now = time(nullptr);
  check(hipGetDeviceCount(&devices), "find a GPU");
  if (argc > 1 && !strcmp(argv[1], "--rows")) return serve() ? 2 : 0;
  check(hipGetDeviceProperties(&gpu, 0), "describe the GPU");
  check(hipDriverGetVersion(&driver), "ask for the driver's version");
  check(hipRuntimeGetVersion(&runtime), "ask for the runtime's version");
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  if (FILE *file = fopen("/sys/module/amdgpu/version", "r")) {
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
  }

  printf("{\"model\": %s,\n \"gpu\": \"%s\", \"driver\": \"%d\", \"runtime\": \"%d\", \"date\": \"%s\",\n",
         "\"cdna3/v_mfma_f32_32x32x8_bf16\"", gpu.name, driver, runtime, date);
  put_text("kernel_driver", line);
  printf(" \"instruction\": \"__builtin_amdgcn_mfma_f32_32x32x8bf16_1k\", \"target\": \"gfx942\",\n");
  return put_rows() ? 2 : 0;
}
#endif
END_OF_PROGRAM
hipcc -std=c++17 --offload-arch=gfx942 -o "$folder/bf16" "$folder/bf16.hip"
"$folder/bf16" > answers-bf16.json || echo "bf16: see above" >&2
cat > "$folder/xf32.hip" <<'END_OF_PROGRAM'
// Probe of cdna3/v_mfma_f32_32x32x4_xf32: 8 vectors
// Made by: tcsmt 0.2.0: results/make/cdna3_deciding.py
// Build:   hipcc -std=c++17 --offload-arch=gfx942 -o probe probe.hip
// Run:     ./probe > answers.json; tcsmt validate answers.json
//          ./probe --rows answers rows of the standard input
//
// Every vector (a, b: 4 words, c: one) is given to __builtin_amdgcn_mfma_f32_32x32x4_xf32 twice:
// to all rows of A, all columns of B and all of C, so that each element of D is its result; then
// to one row and one column alone, among zeros. The program fails where these results differ.

#include <hip/hip_runtime.h>

typedef unsigned reg;
typedef unsigned long long word;

enum { M = 32, N = 32, K = 4, MATRICES = 1, THREADS = 64, SCALES = 0 };
enum { VECTORS = 8, WORDS = 2 * K + 1 + 2 * SCALES, RESULTS = MATRICES * M * N };

// Which elements a thread holds: what each bit of its number, and of the element's number, adds to
// matrix << 16 | row << 8 | column. B is given transposed. CDNA3 ISA, 7.1.4
struct Fragment { int thread_bits, element_bits, bits, padding, thread[8], element[8]; };
__constant__ Fragment A = {6, 1, 32, 0, {256, 512, 1024, 2048, 4096, 2}, {1}};
__constant__ Fragment B = {6, 1, 32, 0, {256, 512, 1024, 2048, 4096, 2}, {1}};
__constant__ Fragment C = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};
__constant__ Fragment D = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};

__device__ int place(const Fragment &f, int element) {
  int sum = 0;
  for (int bit = 0; bit < f.thread_bits; ++bit) sum += (threadIdx.x >> bit & 1) * f.thread[bit];
  for (int bit = 0; bit < f.element_bits; ++bit) sum += (element >> bit & 1) * f.element[bit];
  return sum;
}

// Fill a thread's registers with line[step * column] in one row and column (-1: in all), else with zeros.
__device__ void load(const Fragment &f, reg *registers, const word *line, int step, int row, int column) {
  if (threadIdx.x >> f.thread_bits) return;
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    if ((row >= 0 && row != (at >> 8 & 255)) || (column >= 0 && column != (at & 255))) continue;
    const word bits = line[step * (at & 255)] << f.padding;
    registers[element / each] |= (reg)bits << (element % each * f.bits);
  }
}

__device__ void store(const Fragment &f, const reg *registers, word *results) {
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    const word bits = (word)registers[element / each] >> (element % each * f.bits);
    results[((at >> 16) * M + (at >> 8 & 255)) * N + (at & 255)] = bits & ~0ull >> (64 - f.bits);
  }
}

// A row's block scales, one in each byte; every thread gives the same, as all rows have the same.
__device__ unsigned packed(const word *scales) {
  unsigned sum = 0;
  for (int i = 0; i < SCALES; ++i) sum |= (unsigned)scales[i] << (8 * i);
  return sum;
}

typedef float factors __attribute__((ext_vector_type(2)));
typedef float sums __attribute__((ext_vector_type(16)));

__device__ void multiply(reg *d, const reg *a, const reg *b, const reg *c, unsigned sa, unsigned sb) {
  factors va, vb;
  sums vc;
  __builtin_memcpy(&va, a, sizeof va);
  __builtin_memcpy(&vb, b, sizeof vb);
  __builtin_memcpy(&vc, c, sizeof vc);
  vc = __builtin_amdgcn_mfma_f32_32x32x4_xf32(va, vb, vc, 0, 0, 0);
  __builtin_memcpy(d, &vc, sizeof vc);
}

extern "C" __global__ void probe(const word *vectors, word *results, int alone) {
  const word *a = vectors + blockIdx.x * (word)WORDS, *b = a + K, *c = b + K, *scales = c + 1;
  const int row = alone ? (int)blockIdx.x % M : -1, column = alone ? (int)blockIdx.x % N : -1;
  reg ra[2] = {}, rb[2] = {}, rc[16] = {}, rd[16] = {};
  load(A, ra, a, 1, row, -1);
  load(B, rb, b, 1, column, -1);
  load(C, rc, c, 0, row, column);
  multiply(rd, ra, rb, rc, packed(scales), packed(scales + SCALES));
  store(D, rd, results + blockIdx.x * (word)RESULTS);
}

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static const word vectors[VECTORS + 1][WORDS] = {
// 0: not n_fma = 1; n_fma = 2; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNZ; alignment = RNU; alignment = RND; alignment = RNO; alignment = RTP; alignment = RTO; alignment = RA; product_limit = 2; product_limit = 4; product_limit = 8; product_limit = 16; product_limit = 32; product_limit = 64; product_limit = 120; product_limit = 121; product_limit = 122; product_limit = 123; product_limit = 124; product_limit = 125; product_limit = 126; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; c_reach = 1; c_reach = 2; c_reach = 3; c_reach = 4; c_reach = 5; c_reach = 6; c_reach = 7; c_reach = 8; c_reach = 9; c_reach = 10; c_reach = 11; c_reach = 12; c_reach = 13; c_reach = 14; c_reach = 15; c_reach = 16; c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24; c_reach = 25; c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA
//      0x7e5b0462  cdna3/v_mfma_f32_32x32x4_xf32
//      0x7e5b0462  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x7e5b0463  n_fma = 1
//      0x7e5b0463  n_fma = 2
//      0x7e000000  fraction_bits = 1
//      0x7e400000  fraction_bits = 3
//      0x7e580000  fraction_bits = 6
//      0x7e5af000  fraction_bits = 12
//      0x7e5b0380  fraction_bits = 16
//      0x7e5b0400  fraction_bits = 17
//      0x7e5b0420  fraction_bits = 18
//      0x7e5b0440  fraction_bits = 19
//      0x7e5b0450  fraction_bits = 20
//      0x7e5b045c  fraction_bits = 21
//      0x7e5b0460  fraction_bits = 22
//      0x7e5b0463  fraction_bits = 25
//      0x7e5b0463  fraction_bits = 26
//      0x7e5b0463  fraction_bits = 27
//      0x7e5b0463  fraction_bits = 28
//      0x7e5b0463  fraction_bits = 29
//      0x7e5b0463  fraction_bits = 30
//      0x7e5b0463  fraction_bits = 31
//      0x7e5b0463  fraction_bits = 32
//      0x7e5b0463  alignment = RNE
//      0x7e5b0463  alignment = RNA
//      0x7e5b0463  alignment = RNZ
//      0x7e5b0463  alignment = RNU
//      0x7e5b0463  alignment = RND
//      0x7e5b0463  alignment = RNO
//      0x7e5b0464  alignment = RTP
//      0x7e5b0464  alignment = RTO
//      0x7e5b0464  alignment = RA
//      0x7fc00000  product_limit = 2
//      0x7fc00000  product_limit = 4
//      0x7fc00000  product_limit = 8
//      0x7fc00000  product_limit = 16
//      0x7fc00000  product_limit = 32
//      0x7fc00000  product_limit = 64
//      0x7fc00000  product_limit = 120
//      0x7fc00000  product_limit = 121
//      0x7fc00000  product_limit = 122
//      0x7fc00000  product_limit = 123
//      0x7fc00000  product_limit = 124
//      0x7fc00000  product_limit = 125
//      0x7fc00000  product_limit = 126
//      0x7e5b0463  realignment = RNE
//      0x7e5b0463  realignment = RNA
//      0x7e5b0463  realignment = RNZ
//      0x7e5b0463  realignment = RNU
//      0x7e5b0463  realignment = RND
//      0x7e5b0463  realignment = RNO
//      0x7e5b0463  realignment = RTZ
//      0x7e5b0463  realignment = RTP
//      0x7e5b0463  c_reach = 1
//      0x7e5b0463  c_reach = 2
//      0x7e5b0463  c_reach = 3
//      0x7e5b0463  c_reach = 4
//      0x7e5b0463  c_reach = 5
//      0x7e5b0463  c_reach = 6
//      0x7e5b0463  c_reach = 7
//      0x7e5b0463  c_reach = 8
//      0x7e5b0463  c_reach = 9
//      0x7e5b0463  c_reach = 10
//      0x7e5b0463  c_reach = 11
//      0x7e5b0463  c_reach = 12
//      0x7e5b0463  c_reach = 13
//      0x7e5b0463  c_reach = 14
//      0x7e5b0463  c_reach = 15
//      0x7e5b0463  c_reach = 16
//      0x7e5b0463  c_reach = 17
//      0x7e5b0463  c_reach = 18
//      0x7e5b0463  c_reach = 19
//      0x7e5b0463  c_reach = 20
//      0x7e5b0463  c_reach = 21
//      0x7e5b0463  c_reach = 22
//      0x7e5b0463  c_reach = 23
//      0x7e5b0463  c_reach = 24
//      0x7e5b0463  c_reach = 25
//      0x7e5b0463  c_reach = 26
//      0x7e5b0463  c_reach = 27
//      0x7e5b0463  c_reach = 28
//      0x7e5b0463  c_reach = 29
//      0x7e5b0463  c_reach = 30
//      0x7e5b0463  c_reach = 31
//      0x7e5b0463  c_reach = 32
//      0x7e400000  normalised_fraction_bits = 1
//      0x7e500000  normalised_fraction_bits = 3
//      0x7e5b0000  normalised_fraction_bits = 7
//      0x7e5b0400  normalised_fraction_bits = 15
//      0x7e5b0463  rounding = RNA
//      0x7e5b0463  rounding = RNU
//      0x7e5b0463  rounding = RNO
//      0x7e5b0463  rounding = RTP
//      0x7e5b0463  rounding = RTO
//      0x7e5b0463  rounding = RA
{0xdf678000, 0xdfefe000, 0x5f6ca000, 0x5ade0000, 0x5e8e0000, 0xde7de000, 0x587fc000, 0x5be38000, 0xdb800080},
// 1: not lane_groups = 2; lane_groups = 4; fraction_bits = 23; alignment = RTN; dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; dot_fraction_bits = 31; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; normalised_fraction_bits = 30; rounding = RTZ; rounding = RTN
//      0x3f7dfe87  cdna3/v_mfma_f32_32x32x4_xf32
//      0x3f7dfe86  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x3f7dfe86  lane_groups = 2
//      0x3f7dfe86  lane_groups = 4
//      0x3f7dfe86  fraction_bits = 23
//      0x3f7dfe86  alignment = RTN
//      0x3f7dfe86  dot_fraction_bits = 24
//      0x3f7dfe86  dot_fraction_bits = 25
//      0x3f7dfe86  dot_fraction_bits = 26
//      0x3f7dfe86  dot_fraction_bits = 27
//      0x3f7dfe86  dot_fraction_bits = 28
//      0x3f7dfe86  dot_fraction_bits = 29
//      0x3f7dfe86  dot_fraction_bits = 30
//      0x3f7dfe86  dot_fraction_bits = 31
//      0x3f7dfe86  normalised_fraction_bits = 23
//      0x3f7dfe86  normalised_fraction_bits = 24
//      0x3f7dfe86  normalised_fraction_bits = 25
//      0x3f7dfe86  normalised_fraction_bits = 26
//      0x3f7dfe86  normalised_fraction_bits = 27
//      0x3f7dfe86  normalised_fraction_bits = 28
//      0x3f7dfe86  normalised_fraction_bits = 29
//      0x3f7dfe86  normalised_fraction_bits = 30
//      0x3f7dfe86  rounding = RTZ
//      0x3f7dfe86  rounding = RTN
{0x3de46000, 0xbb32a000, 0x3d7fa000, 0xb7d9e000, 0xbdc7e000, 0xbb918000, 0x3d474000, 0x37e12000, 0x3f800000},
// 2: not realignment = RA; normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; normalised_fraction_bits = 62; normalised_fraction_bits = None
//      0x2d0000aa  cdna3/v_mfma_f32_32x32x4_xf32
//      0x2d0000aa  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x2d0000ab  realignment = RA
//      0x2d0000ab  normalised_fraction_bits = 32
//      0x2d0000ab  normalised_fraction_bits = 33
//      0x2d0000ab  normalised_fraction_bits = 34
//      0x2d0000ab  normalised_fraction_bits = 35
//      0x2d0000ab  normalised_fraction_bits = 36
//      0x2d0000ab  normalised_fraction_bits = 37
//      0x2d0000ab  normalised_fraction_bits = 38
//      0x2d0000ab  normalised_fraction_bits = 39
//      0x2d0000ab  normalised_fraction_bits = 62
//      0x2d0000ab  normalised_fraction_bits = None
{0x31076000, 0x33fde000, 0x2e008000, 0x21800000, 0x33a08000, 0x2cc2e000, 0x237fe000, 0x28900000, 0x2d000000},
// 3: not product_limit = 129; product_limit = 130; product_limit = 131; product_limit = 132; product_limit = 133; product_limit = 134; product_limit = 135; product_limit = 136; product_limit = 256; product_limit = None
//      0x7fc00000  cdna3/v_mfma_f32_32x32x4_xf32
//      0x7fc00000  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x7f800000  product_limit = 129
//      0x7f800000  product_limit = 130
//      0x7f800000  product_limit = 131
//      0x7f800000  product_limit = 132
//      0x7f800000  product_limit = 133
//      0x7f800000  product_limit = 134
//      0x7f800000  product_limit = 135
//      0x7f800000  product_limit = 136
//      0x7f800000  product_limit = 256
//      0x7f800000  product_limit = None
{0x3fc00000, 0x7f002000, 0xff7fe000, 0xbfc00000, 0x0, 0x7f400000, 0x3fc00000, 0xff000000, 0x80800000},
// 4: not product_limit = 127; rounding = RNZ; rounding = RND
//      0x7f002000  cdna3/v_mfma_f32_32x32x4_xf32
//      0x7f002000  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x7f800000  product_limit = 127
//      0x7f001fff  rounding = RNZ
//      0x7f001fff  rounding = RND
{0xbfffe000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x0, 0x7f002000, 0xbfc00000},
// 5: not realignment = RTO
//      0x42e4d400  cdna3/v_mfma_f32_32x32x4_xf32
//      0x42e4d400  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x42e4d800  realignment = RTO
{0x45400000, 0x40bac000, 0x3f69c000, 0x43000000, 0xc2800000, 0x407fe000, 0xc17fe000, 0x44bfe000, 0x4369b196},
// 6: a NaN whose payload lies in the bits that XF32 ignores
//      0x7f800000  cdna3/v_mfma_f32_32x32x4_xf32
//      0x7f800000  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x7fc00000  TC-EFT 6df1d362
{0x7f800001, 0x0, 0x0, 0x0, 0x3f800000, 0x0, 0x0, 0x0, 0x0},
// 7: a NaN whose payload lies in the bits that XF32 ignores
//      0x7f800000  cdna3/v_mfma_f32_32x32x4_xf32
//      0x7f800000  cdna3/v_mfma_f32_32x32x4_xf32@paper
//      0x7fc00000  TC-EFT 6df1d362
{0xff8012d2, 0x86e64ed4, 0xaaa9b5b6, 0x664e919f, 0xb49792c3, 0x35c82ad4, 0x4779ad0f, 0x1da82283, 0x816ddbb3},
{0}};

// What each vector asks and what the hypotheses predict, as members of a JSON object.
static const char *const about[VECTORS + 1] = {
"\"asks\": \"not n_fma = 1; n_fma = 2; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNZ; alignment = RNU; alignment = RND; alignment = RNO; alignment = RTP; alignment = RTO; alignment = RA; product_limit = 2; product_limit = 4; product_limit = 8; product_limit = 16; product_limit = 32; product_limit = 64; product_limit = 120; product_limit = 121; product_limit = 122; product_limit = 123; product_limit = 124; product_limit = 125; product_limit = 126; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; c_reach = 1; c_reach = 2; c_reach = 3; c_reach = 4; c_reach = 5; c_reach = 6; c_reach = 7; c_reach = 8; c_reach = 9; c_reach = 10; c_reach = 11; c_reach = 12; c_reach = 13; c_reach = 14; c_reach = 15; c_reach = 16; c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24; c_reach = 25; c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x7e5b0462\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x7e5b0462\", \"n_fma = 1\": \"0x7e5b0463\", \"n_fma = 2\": \"0x7e5b0463\", \"fraction_bits = 1\": \"0x7e000000\", \"fraction_bits = 3\": \"0x7e400000\", \"fraction_bits = 6\": \"0x7e580000\", \"fraction_bits = 12\": \"0x7e5af000\", \"fraction_bits = 16\": \"0x7e5b0380\", \"fraction_bits = 17\": \"0x7e5b0400\", \"fraction_bits = 18\": \"0x7e5b0420\", \"fraction_bits = 19\": \"0x7e5b0440\", \"fraction_bits = 20\": \"0x7e5b0450\", \"fraction_bits = 21\": \"0x7e5b045c\", \"fraction_bits = 22\": \"0x7e5b0460\", \"fraction_bits = 25\": \"0x7e5b0463\", \"fraction_bits = 26\": \"0x7e5b0463\", \"fraction_bits = 27\": \"0x7e5b0463\", \"fraction_bits = 28\": \"0x7e5b0463\", \"fraction_bits = 29\": \"0x7e5b0463\", \"fraction_bits = 30\": \"0x7e5b0463\", \"fraction_bits = 31\": \"0x7e5b0463\", \"fraction_bits = 32\": \"0x7e5b0463\", \"alignment = RNE\": \"0x7e5b0463\", \"alignment = RNA\": \"0x7e5b0463\", \"alignment = RNZ\": \"0x7e5b0463\", \"alignment = RNU\": \"0x7e5b0463\", \"alignment = RND\": \"0x7e5b0463\", \"alignment = RNO\": \"0x7e5b0463\", \"alignment = RTP\": \"0x7e5b0464\", \"alignment = RTO\": \"0x7e5b0464\", \"alignment = RA\": \"0x7e5b0464\", \"product_limit = 2\": \"0x7fc00000\", \"product_limit = 4\": \"0x7fc00000\", \"product_limit = 8\": \"0x7fc00000\", \"product_limit = 16\": \"0x7fc00000\", \"product_limit = 32\": \"0x7fc00000\", \"product_limit = 64\": \"0x7fc00000\", \"product_limit = 120\": \"0x7fc00000\", \"product_limit = 121\": \"0x7fc00000\", \"product_limit = 122\": \"0x7fc00000\", \"product_limit = 123\": \"0x7fc00000\", \"product_limit = 124\": \"0x7fc00000\", \"product_limit = 125\": \"0x7fc00000\", \"product_limit = 126\": \"0x7fc00000\", \"realignment = RNE\": \"0x7e5b0463\", \"realignment = RNA\": \"0x7e5b0463\", \"realignment = RNZ\": \"0x7e5b0463\", \"realignment = RNU\": \"0x7e5b0463\", \"realignment = RND\": \"0x7e5b0463\", \"realignment = RNO\": \"0x7e5b0463\", \"realignment = RTZ\": \"0x7e5b0463\", \"realignment = RTP\": \"0x7e5b0463\", \"c_reach = 1\": \"0x7e5b0463\", \"c_reach = 2\": \"0x7e5b0463\", \"c_reach = 3\": \"0x7e5b0463\", \"c_reach = 4\": \"0x7e5b0463\", \"c_reach = 5\": \"0x7e5b0463\", \"c_reach = 6\": \"0x7e5b0463\", \"c_reach = 7\": \"0x7e5b0463\", \"c_reach = 8\": \"0x7e5b0463\", \"c_reach = 9\": \"0x7e5b0463\", \"c_reach = 10\": \"0x7e5b0463\", \"c_reach = 11\": \"0x7e5b0463\", \"c_reach = 12\": \"0x7e5b0463\", \"c_reach = 13\": \"0x7e5b0463\", \"c_reach = 14\": \"0x7e5b0463\", \"c_reach = 15\": \"0x7e5b0463\", \"c_reach = 16\": \"0x7e5b0463\", \"c_reach = 17\": \"0x7e5b0463\", \"c_reach = 18\": \"0x7e5b0463\", \"c_reach = 19\": \"0x7e5b0463\", \"c_reach = 20\": \"0x7e5b0463\", \"c_reach = 21\": \"0x7e5b0463\", \"c_reach = 22\": \"0x7e5b0463\", \"c_reach = 23\": \"0x7e5b0463\", \"c_reach = 24\": \"0x7e5b0463\", \"c_reach = 25\": \"0x7e5b0463\", \"c_reach = 26\": \"0x7e5b0463\", \"c_reach = 27\": \"0x7e5b0463\", \"c_reach = 28\": \"0x7e5b0463\", \"c_reach = 29\": \"0x7e5b0463\", \"c_reach = 30\": \"0x7e5b0463\", \"c_reach = 31\": \"0x7e5b0463\", \"c_reach = 32\": \"0x7e5b0463\", \"normalised_fraction_bits = 1\": \"0x7e400000\", \"normalised_fraction_bits = 3\": \"0x7e500000\", \"normalised_fraction_bits = 7\": \"0x7e5b0000\", \"normalised_fraction_bits = 15\": \"0x7e5b0400\", \"rounding = RNA\": \"0x7e5b0463\", \"rounding = RNU\": \"0x7e5b0463\", \"rounding = RNO\": \"0x7e5b0463\", \"rounding = RTP\": \"0x7e5b0463\", \"rounding = RTO\": \"0x7e5b0463\", \"rounding = RA\": \"0x7e5b0463\"}",
"\"asks\": \"not lane_groups = 2; lane_groups = 4; fraction_bits = 23; alignment = RTN; dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; dot_fraction_bits = 31; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; normalised_fraction_bits = 30; rounding = RTZ; rounding = RTN\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x3f7dfe87\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x3f7dfe86\", \"lane_groups = 2\": \"0x3f7dfe86\", \"lane_groups = 4\": \"0x3f7dfe86\", \"fraction_bits = 23\": \"0x3f7dfe86\", \"alignment = RTN\": \"0x3f7dfe86\", \"dot_fraction_bits = 24\": \"0x3f7dfe86\", \"dot_fraction_bits = 25\": \"0x3f7dfe86\", \"dot_fraction_bits = 26\": \"0x3f7dfe86\", \"dot_fraction_bits = 27\": \"0x3f7dfe86\", \"dot_fraction_bits = 28\": \"0x3f7dfe86\", \"dot_fraction_bits = 29\": \"0x3f7dfe86\", \"dot_fraction_bits = 30\": \"0x3f7dfe86\", \"dot_fraction_bits = 31\": \"0x3f7dfe86\", \"normalised_fraction_bits = 23\": \"0x3f7dfe86\", \"normalised_fraction_bits = 24\": \"0x3f7dfe86\", \"normalised_fraction_bits = 25\": \"0x3f7dfe86\", \"normalised_fraction_bits = 26\": \"0x3f7dfe86\", \"normalised_fraction_bits = 27\": \"0x3f7dfe86\", \"normalised_fraction_bits = 28\": \"0x3f7dfe86\", \"normalised_fraction_bits = 29\": \"0x3f7dfe86\", \"normalised_fraction_bits = 30\": \"0x3f7dfe86\", \"rounding = RTZ\": \"0x3f7dfe86\", \"rounding = RTN\": \"0x3f7dfe86\"}",
"\"asks\": \"not realignment = RA; normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; normalised_fraction_bits = 62; normalised_fraction_bits = None\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x2d0000aa\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x2d0000aa\", \"realignment = RA\": \"0x2d0000ab\", \"normalised_fraction_bits = 32\": \"0x2d0000ab\", \"normalised_fraction_bits = 33\": \"0x2d0000ab\", \"normalised_fraction_bits = 34\": \"0x2d0000ab\", \"normalised_fraction_bits = 35\": \"0x2d0000ab\", \"normalised_fraction_bits = 36\": \"0x2d0000ab\", \"normalised_fraction_bits = 37\": \"0x2d0000ab\", \"normalised_fraction_bits = 38\": \"0x2d0000ab\", \"normalised_fraction_bits = 39\": \"0x2d0000ab\", \"normalised_fraction_bits = 62\": \"0x2d0000ab\", \"normalised_fraction_bits = None\": \"0x2d0000ab\"}",
"\"asks\": \"not product_limit = 129; product_limit = 130; product_limit = 131; product_limit = 132; product_limit = 133; product_limit = 134; product_limit = 135; product_limit = 136; product_limit = 256; product_limit = None\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x7fc00000\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x7fc00000\", \"product_limit = 129\": \"0x7f800000\", \"product_limit = 130\": \"0x7f800000\", \"product_limit = 131\": \"0x7f800000\", \"product_limit = 132\": \"0x7f800000\", \"product_limit = 133\": \"0x7f800000\", \"product_limit = 134\": \"0x7f800000\", \"product_limit = 135\": \"0x7f800000\", \"product_limit = 136\": \"0x7f800000\", \"product_limit = 256\": \"0x7f800000\", \"product_limit = None\": \"0x7f800000\"}",
"\"asks\": \"not product_limit = 127; rounding = RNZ; rounding = RND\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x7f002000\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x7f002000\", \"product_limit = 127\": \"0x7f800000\", \"rounding = RNZ\": \"0x7f001fff\", \"rounding = RND\": \"0x7f001fff\"}",
"\"asks\": \"not realignment = RTO\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x42e4d400\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x42e4d400\", \"realignment = RTO\": \"0x42e4d800\"}",
"\"asks\": \"a NaN whose payload lies in the bits that XF32 ignores\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x7f800000\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x7f800000\", \"TC-EFT 6df1d362\": \"0x7fc00000\"}",
"\"asks\": \"a NaN whose payload lies in the bits that XF32 ignores\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x4_xf32\": \"0x7f800000\", \"cdna3/v_mfma_f32_32x32x4_xf32@paper\": \"0x7f800000\", \"TC-EFT 6df1d362\": \"0x7fc00000\"}",
""};

static void check(hipError_t error, const char *what) {
  if (error == hipSuccess) return;
  fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  exit(1);
}

// The results of one launch for at most AT_ONCE vectors.
enum { AT_ONCE = 4096 };
static void run(int alone, const word *given, size_t count, std::vector<word> &results) {
  word *device;
  const size_t bytes = count * RESULTS * sizeof(word);
  check(hipMalloc((void **)&device, bytes), "allocate");
  check(hipMemset(device, 0, bytes), "clear");
  probe<<<(unsigned)count, THREADS>>>(given, device, alone);
  check(hipGetLastError(), "launch");
  check(hipDeviceSynchronize(), "run");
  check(hipMemcpy(results.data(), device, bytes, hipMemcpyDeviceToHost), "read results");
  check(hipFree(device), "free");
}

// The word of D for each vector; returns how many elements of D are another word than the first.
static int answer(const word *rows, size_t count, word *d) {
  std::vector<word> everywhere(AT_ONCE * (size_t)RESULTS), alone(AT_ONCE * (size_t)RESULTS);
  int unequal = 0;
  for (size_t first = 0; first < count; first += AT_ONCE) {
    const size_t now = count - first < AT_ONCE ? count - first : AT_ONCE, bytes = now * WORDS * sizeof(word);
    word *given;
    check(hipMalloc((void **)&given, bytes), "allocate");
    check(hipMemcpy(given, rows + first * WORDS, bytes, hipMemcpyHostToDevice), "write vectors");
    run(0, given, now, everywhere);
    run(1, given, now, alone);
    check(hipFree(given), "free");
    for (size_t v = 0; v < now; ++v) {
      d[first + v] = everywhere[v * RESULTS];
      for (int i = 0; i < RESULTS; ++i) {
        const int here = i % (M * N) == (int)(v % M * N + v % N);
        const size_t at = v * RESULTS + i;
        if (everywhere[at] == d[first + v] && !(here && alone[at] != d[first + v])) continue;
        if (!unequal++)
          fprintf(stderr, "vector %zu: element %d of D is 0x%llx (alone 0x%llx), the first 0x%llx\n", first + v, i,
                  everywhere[at], alone[at], d[first + v]);
      }
    }
  }
  return unequal;
}

// Words of w bits as a JSON list of count hexadecimal texts; count 0: one text.
static void put(const char *name, const word *words, int count, int w) {
  printf("\"%s\": %s", name, count ? "[" : "");
  for (int i = 0; i < (count ? count : 1); ++i) printf("%s\"0x%0*llx\"", i ? ", " : "", (w + 3) / 4, words[i]);
  printf("%s, ", count ? "]" : "");
}

// What the device says of itself, as a JSON text.
static void put_text(const char *name, const char *text) {
  printf(" \"%s\": \"", name);
  for (const char *at = text; *at; ++at)
    if (*at >= ' ' && *at < 127 && *at != '"' && *at != '\\') putchar(*at);
  printf("\",\n");
}

static void *memory(size_t bytes) {
  void *found = malloc(bytes ? bytes : 1);
  if (found) return found;
  fprintf(stderr, "no memory for %zu bytes\n", bytes);
  exit(1);
}

// What the hypotheses predict: number of the vector, of the hypothesis, and the word of D.
static const char *const hypotheses[] = {
"cdna3/v_mfma_f32_32x32x4_xf32",
"cdna3/v_mfma_f32_32x32x4_xf32@paper",
"n_fma = 1",
"n_fma = 2",
"fraction_bits = 1",
"fraction_bits = 3",
"fraction_bits = 6",
"fraction_bits = 12",
"fraction_bits = 16",
"fraction_bits = 17",
"fraction_bits = 18",
"fraction_bits = 19",
"fraction_bits = 20",
"fraction_bits = 21",
"fraction_bits = 22",
"fraction_bits = 25",
"fraction_bits = 26",
"fraction_bits = 27",
"fraction_bits = 28",
"fraction_bits = 29",
"fraction_bits = 30",
"fraction_bits = 31",
"fraction_bits = 32",
"alignment = RNE",
"alignment = RNA",
"alignment = RNZ",
"alignment = RNU",
"alignment = RND",
"alignment = RNO",
"alignment = RTP",
"alignment = RTO",
"alignment = RA",
"product_limit = 2",
"product_limit = 4",
"product_limit = 8",
"product_limit = 16",
"product_limit = 32",
"product_limit = 64",
"product_limit = 120",
"product_limit = 121",
"product_limit = 122",
"product_limit = 123",
"product_limit = 124",
"product_limit = 125",
"product_limit = 126",
"realignment = RNE",
"realignment = RNA",
"realignment = RNZ",
"realignment = RNU",
"realignment = RND",
"realignment = RNO",
"realignment = RTZ",
"realignment = RTP",
"c_reach = 1",
"c_reach = 2",
"c_reach = 3",
"c_reach = 4",
"c_reach = 5",
"c_reach = 6",
"c_reach = 7",
"c_reach = 8",
"c_reach = 9",
"c_reach = 10",
"c_reach = 11",
"c_reach = 12",
"c_reach = 13",
"c_reach = 14",
"c_reach = 15",
"c_reach = 16",
"c_reach = 17",
"c_reach = 18",
"c_reach = 19",
"c_reach = 20",
"c_reach = 21",
"c_reach = 22",
"c_reach = 23",
"c_reach = 24",
"c_reach = 25",
"c_reach = 26",
"c_reach = 27",
"c_reach = 28",
"c_reach = 29",
"c_reach = 30",
"c_reach = 31",
"c_reach = 32",
"normalised_fraction_bits = 1",
"normalised_fraction_bits = 3",
"normalised_fraction_bits = 7",
"normalised_fraction_bits = 15",
"rounding = RNA",
"rounding = RNU",
"rounding = RNO",
"rounding = RTP",
"rounding = RTO",
"rounding = RA",
"lane_groups = 2",
"lane_groups = 4",
"fraction_bits = 23",
"alignment = RTN",
"dot_fraction_bits = 24",
"dot_fraction_bits = 25",
"dot_fraction_bits = 26",
"dot_fraction_bits = 27",
"dot_fraction_bits = 28",
"dot_fraction_bits = 29",
"dot_fraction_bits = 30",
"dot_fraction_bits = 31",
"normalised_fraction_bits = 23",
"normalised_fraction_bits = 24",
"normalised_fraction_bits = 25",
"normalised_fraction_bits = 26",
"normalised_fraction_bits = 27",
"normalised_fraction_bits = 28",
"normalised_fraction_bits = 29",
"normalised_fraction_bits = 30",
"rounding = RTZ",
"rounding = RTN",
"realignment = RA",
"normalised_fraction_bits = 32",
"normalised_fraction_bits = 33",
"normalised_fraction_bits = 34",
"normalised_fraction_bits = 35",
"normalised_fraction_bits = 36",
"normalised_fraction_bits = 37",
"normalised_fraction_bits = 38",
"normalised_fraction_bits = 39",
"normalised_fraction_bits = 62",
"normalised_fraction_bits = None",
"product_limit = 129",
"product_limit = 130",
"product_limit = 131",
"product_limit = 132",
"product_limit = 133",
"product_limit = 134",
"product_limit = 135",
"product_limit = 136",
"product_limit = 256",
"product_limit = None",
"product_limit = 127",
"rounding = RNZ",
"rounding = RND",
"realignment = RTO",
"TC-EFT 6df1d362",
""};
static const struct { int vector, hypothesis; word d; } predictions[] = {
{0, 0, 0x7e5b0462},
{0, 1, 0x7e5b0462},
{0, 2, 0x7e5b0463},
{0, 3, 0x7e5b0463},
{0, 4, 0x7e000000},
{0, 5, 0x7e400000},
{0, 6, 0x7e580000},
{0, 7, 0x7e5af000},
{0, 8, 0x7e5b0380},
{0, 9, 0x7e5b0400},
{0, 10, 0x7e5b0420},
{0, 11, 0x7e5b0440},
{0, 12, 0x7e5b0450},
{0, 13, 0x7e5b045c},
{0, 14, 0x7e5b0460},
{0, 15, 0x7e5b0463},
{0, 16, 0x7e5b0463},
{0, 17, 0x7e5b0463},
{0, 18, 0x7e5b0463},
{0, 19, 0x7e5b0463},
{0, 20, 0x7e5b0463},
{0, 21, 0x7e5b0463},
{0, 22, 0x7e5b0463},
{0, 23, 0x7e5b0463},
{0, 24, 0x7e5b0463},
{0, 25, 0x7e5b0463},
{0, 26, 0x7e5b0463},
{0, 27, 0x7e5b0463},
{0, 28, 0x7e5b0463},
{0, 29, 0x7e5b0464},
{0, 30, 0x7e5b0464},
{0, 31, 0x7e5b0464},
{0, 32, 0x7fc00000},
{0, 33, 0x7fc00000},
{0, 34, 0x7fc00000},
{0, 35, 0x7fc00000},
{0, 36, 0x7fc00000},
{0, 37, 0x7fc00000},
{0, 38, 0x7fc00000},
{0, 39, 0x7fc00000},
{0, 40, 0x7fc00000},
{0, 41, 0x7fc00000},
{0, 42, 0x7fc00000},
{0, 43, 0x7fc00000},
{0, 44, 0x7fc00000},
{0, 45, 0x7e5b0463},
{0, 46, 0x7e5b0463},
{0, 47, 0x7e5b0463},
{0, 48, 0x7e5b0463},
{0, 49, 0x7e5b0463},
{0, 50, 0x7e5b0463},
{0, 51, 0x7e5b0463},
{0, 52, 0x7e5b0463},
{0, 53, 0x7e5b0463},
{0, 54, 0x7e5b0463},
{0, 55, 0x7e5b0463},
{0, 56, 0x7e5b0463},
{0, 57, 0x7e5b0463},
{0, 58, 0x7e5b0463},
{0, 59, 0x7e5b0463},
{0, 60, 0x7e5b0463},
{0, 61, 0x7e5b0463},
{0, 62, 0x7e5b0463},
{0, 63, 0x7e5b0463},
{0, 64, 0x7e5b0463},
{0, 65, 0x7e5b0463},
{0, 66, 0x7e5b0463},
{0, 67, 0x7e5b0463},
{0, 68, 0x7e5b0463},
{0, 69, 0x7e5b0463},
{0, 70, 0x7e5b0463},
{0, 71, 0x7e5b0463},
{0, 72, 0x7e5b0463},
{0, 73, 0x7e5b0463},
{0, 74, 0x7e5b0463},
{0, 75, 0x7e5b0463},
{0, 76, 0x7e5b0463},
{0, 77, 0x7e5b0463},
{0, 78, 0x7e5b0463},
{0, 79, 0x7e5b0463},
{0, 80, 0x7e5b0463},
{0, 81, 0x7e5b0463},
{0, 82, 0x7e5b0463},
{0, 83, 0x7e5b0463},
{0, 84, 0x7e5b0463},
{0, 85, 0x7e400000},
{0, 86, 0x7e500000},
{0, 87, 0x7e5b0000},
{0, 88, 0x7e5b0400},
{0, 89, 0x7e5b0463},
{0, 90, 0x7e5b0463},
{0, 91, 0x7e5b0463},
{0, 92, 0x7e5b0463},
{0, 93, 0x7e5b0463},
{0, 94, 0x7e5b0463},
{1, 0, 0x3f7dfe87},
{1, 1, 0x3f7dfe86},
{1, 95, 0x3f7dfe86},
{1, 96, 0x3f7dfe86},
{1, 97, 0x3f7dfe86},
{1, 98, 0x3f7dfe86},
{1, 99, 0x3f7dfe86},
{1, 100, 0x3f7dfe86},
{1, 101, 0x3f7dfe86},
{1, 102, 0x3f7dfe86},
{1, 103, 0x3f7dfe86},
{1, 104, 0x3f7dfe86},
{1, 105, 0x3f7dfe86},
{1, 106, 0x3f7dfe86},
{1, 107, 0x3f7dfe86},
{1, 108, 0x3f7dfe86},
{1, 109, 0x3f7dfe86},
{1, 110, 0x3f7dfe86},
{1, 111, 0x3f7dfe86},
{1, 112, 0x3f7dfe86},
{1, 113, 0x3f7dfe86},
{1, 114, 0x3f7dfe86},
{1, 115, 0x3f7dfe86},
{1, 116, 0x3f7dfe86},
{2, 0, 0x2d0000aa},
{2, 1, 0x2d0000aa},
{2, 117, 0x2d0000ab},
{2, 118, 0x2d0000ab},
{2, 119, 0x2d0000ab},
{2, 120, 0x2d0000ab},
{2, 121, 0x2d0000ab},
{2, 122, 0x2d0000ab},
{2, 123, 0x2d0000ab},
{2, 124, 0x2d0000ab},
{2, 125, 0x2d0000ab},
{2, 126, 0x2d0000ab},
{2, 127, 0x2d0000ab},
{3, 0, 0x7fc00000},
{3, 1, 0x7fc00000},
{3, 128, 0x7f800000},
{3, 129, 0x7f800000},
{3, 130, 0x7f800000},
{3, 131, 0x7f800000},
{3, 132, 0x7f800000},
{3, 133, 0x7f800000},
{3, 134, 0x7f800000},
{3, 135, 0x7f800000},
{3, 136, 0x7f800000},
{3, 137, 0x7f800000},
{4, 0, 0x7f002000},
{4, 1, 0x7f002000},
{4, 138, 0x7f800000},
{4, 139, 0x7f001fff},
{4, 140, 0x7f001fff},
{5, 0, 0x42e4d400},
{5, 1, 0x42e4d400},
{5, 141, 0x42e4d800},
{6, 0, 0x7f800000},
{6, 1, 0x7f800000},
{6, 142, 0x7fc00000},
{7, 0, 0x7f800000},
{7, 1, 0x7f800000},
{7, 142, 0x7fc00000},
{-1, 0, 0}};

// On the standard error: how many answers each hypothesis predicts.
static void judge(const word *d) {
  for (int h = 0; h < 143; ++h) {
    int said = 0, right = 0;
    for (int i = 0; predictions[i].vector >= 0; ++i) {
      if (predictions[i].hypothesis != h) continue;
      ++said;
      right += predictions[i].d == d[predictions[i].vector];
    }
    fprintf(stderr, "%d of %d answers are those of: %s\n", right, said, hypotheses[h]);
  }
}

// The answers to this program's vectors, as the rows of a JSON object. Returns how many contradict.
static int put_rows(void) {
  word *d = (word *)memory(VECTORS * sizeof(word));
  const int unequal = answer(&vectors[0][0], VECTORS, d);
  printf(" \"program\": %s,\n \"unequal\": %d,\n \"rows\": [\n", "\"tcsmt 0.2.0: results/make/cdna3_deciding.py\"", unequal);
  for (int v = 0; v < VECTORS; ++v) {
    const word *a = vectors[v];
    printf("  {");
    put("a", a, K, 32);
    put("b", a + K, K, 32);
    put("c", a + 2 * K, 0, 32);
    if (SCALES) put("scale_a", a + 2 * K + 1, SCALES, 8), put("scale_b", a + 2 * K + 1 + SCALES, SCALES, 8);
    put("d", d + v, 0, 32);
    printf("%s}%s\n", about[v], v + 1 < VECTORS ? "," : "");
  }
  printf("]}\n");
  judge(d);
  free(d);
  return unequal;
}

// Bytes of each word of a row, in order.
static int bytes_of(int number) {
  return number < K ? 4 : number < 2 * K ? 4 : number == 2 * K ? 4 : 1;
}

// Standard input: a number of rows (four bytes), then the rows' words; standard output: the words of D; and so
// on until the input ends. All numbers have their lowest byte first. Returns how many answers contradict.
static int serve(void) {
  unsigned char head[4];
  int size = 0, unequal = 0;
  for (int i = 0; i < WORDS; ++i) size += bytes_of(i);
  while (!unequal && fread(head, 1, 4, stdin) == 4) {
    const size_t count = head[0] | head[1] << 8 | head[2] << 16 | (size_t)head[3] << 24;
    unsigned char *given = (unsigned char *)memory(count * size), *at = given;
    word *rows = (word *)memory(count * WORDS * sizeof(word)), *d = (word *)memory(count * sizeof(word));
    if (fread(given, size, count, stdin) != count) {
      fprintf(stderr, "the input ended within a row\n");
      exit(1);
    }
    for (size_t i = 0; i < count * WORDS; ++i) {
      rows[i] = 0;
      for (int byte = 0; byte < bytes_of((int)(i % WORDS)); ++byte) rows[i] |= (word)*at++ << 8 * byte;
    }
    unequal = answer(rows, count, d);
    for (size_t i = 0; i < count; ++i)
      for (int byte = 0; byte < 4; ++byte) putchar((int)(d[i] >> 8 * byte & 255));
    fflush(stdout);
    free(given), free(rows), free(d);
  }
  return unequal;
}

int main(int argc, char **argv) {
  int devices = 0, driver = 0, runtime = 0;
  hipDeviceProp_t gpu;
  char date[32], line[200] = "";
  const time_t now = time(nullptr);
  check(hipGetDeviceCount(&devices), "find a GPU");
  if (argc > 1 && !strcmp(argv[1], "--rows")) return serve() ? 2 : 0;
  check(hipGetDeviceProperties(&gpu, 0), "describe the GPU");
  check(hipDriverGetVersion(&driver), "ask for the driver's version");
  check(hipRuntimeGetVersion(&runtime), "ask for the runtime's version");
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  if (FILE *file = fopen("/sys/module/amdgpu/version", "r")) {
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
  }

  printf("{\"model\": %s,\n \"gpu\": \"%s\", \"driver\": \"%d\", \"runtime\": \"%d\", \"date\": \"%s\",\n",
         "\"cdna3/v_mfma_f32_32x32x4_xf32\"", gpu.name, driver, runtime, date);
  put_text("kernel_driver", line);
  printf(" \"instruction\": \"__builtin_amdgcn_mfma_f32_32x32x4_xf32\", \"target\": \"gfx942\",\n");
  return put_rows() ? 2 : 0;
}
#endif
END_OF_PROGRAM
hipcc -std=c++17 --offload-arch=gfx942 -o "$folder/xf32" "$folder/xf32.hip"
"$folder/xf32" > answers-xf32.json || echo "xf32: see above" >&2
cat > "$folder/bf8.hip" <<'END_OF_PROGRAM'
// Probe of cdna3/v_mfma_f32_32x32x16_bf8_bf8: 7 vectors
// Made by: tcsmt 0.2.0: results/make/cdna3_deciding.py
// Build:   hipcc -std=c++17 --offload-arch=gfx942 -o probe probe.hip
// Run:     ./probe > answers.json; tcsmt validate answers.json
//          ./probe --rows answers rows of the standard input
//
// Every vector (a, b: 16 words, c: one) is given to __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8 twice:
// to all rows of A, all columns of B and all of C, so that each element of D is its result; then
// to one row and one column alone, among zeros. The program fails where these results differ.

#include <hip/hip_runtime.h>

typedef unsigned reg;
typedef unsigned long long word;

enum { M = 32, N = 32, K = 16, MATRICES = 1, THREADS = 64, SCALES = 0 };
enum { VECTORS = 7, WORDS = 2 * K + 1 + 2 * SCALES, RESULTS = MATRICES * M * N };

// Which elements a thread holds: what each bit of its number, and of the element's number, adds to
// matrix << 16 | row << 8 | column. B is given transposed. CDNA3 ISA, 7.1.4
struct Fragment { int thread_bits, element_bits, bits, padding, thread[8], element[8]; };
__constant__ Fragment A = {6, 3, 8, 0, {256, 512, 1024, 2048, 4096, 8}, {1, 2, 4}};
__constant__ Fragment B = {6, 3, 8, 0, {256, 512, 1024, 2048, 4096, 8}, {1, 2, 4}};
__constant__ Fragment C = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};
__constant__ Fragment D = {6, 4, 32, 0, {1, 2, 4, 8, 16, 1024}, {256, 512, 2048, 4096}};

__device__ int place(const Fragment &f, int element) {
  int sum = 0;
  for (int bit = 0; bit < f.thread_bits; ++bit) sum += (threadIdx.x >> bit & 1) * f.thread[bit];
  for (int bit = 0; bit < f.element_bits; ++bit) sum += (element >> bit & 1) * f.element[bit];
  return sum;
}

// Fill a thread's registers with line[step * column] in one row and column (-1: in all), else with zeros.
__device__ void load(const Fragment &f, reg *registers, const word *line, int step, int row, int column) {
  if (threadIdx.x >> f.thread_bits) return;
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    if ((row >= 0 && row != (at >> 8 & 255)) || (column >= 0 && column != (at & 255))) continue;
    const word bits = line[step * (at & 255)] << f.padding;
    registers[element / each] |= (reg)bits << (element % each * f.bits);
  }
}

__device__ void store(const Fragment &f, const reg *registers, word *results) {
  const int each = 8 * (int)sizeof(reg) / f.bits;
  for (int element = 0; element < 1 << f.element_bits; ++element) {
    const int at = place(f, element);
    const word bits = (word)registers[element / each] >> (element % each * f.bits);
    results[((at >> 16) * M + (at >> 8 & 255)) * N + (at & 255)] = bits & ~0ull >> (64 - f.bits);
  }
}

// A row's block scales, one in each byte; every thread gives the same, as all rows have the same.
__device__ unsigned packed(const word *scales) {
  unsigned sum = 0;
  for (int i = 0; i < SCALES; ++i) sum |= (unsigned)scales[i] << (8 * i);
  return sum;
}

typedef long factors;
typedef float sums __attribute__((ext_vector_type(16)));

__device__ void multiply(reg *d, const reg *a, const reg *b, const reg *c, unsigned sa, unsigned sb) {
  factors va, vb;
  sums vc;
  __builtin_memcpy(&va, a, sizeof va);
  __builtin_memcpy(&vb, b, sizeof vb);
  __builtin_memcpy(&vc, c, sizeof vc);
  vc = __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(va, vb, vc, 0, 0, 0);
  __builtin_memcpy(d, &vc, sizeof vc);
}

extern "C" __global__ void probe(const word *vectors, word *results, int alone) {
  const word *a = vectors + blockIdx.x * (word)WORDS, *b = a + K, *c = b + K, *scales = c + 1;
  const int row = alone ? (int)blockIdx.x % M : -1, column = alone ? (int)blockIdx.x % N : -1;
  reg ra[2] = {}, rb[2] = {}, rc[16] = {}, rd[16] = {};
  load(A, ra, a, 1, row, -1);
  load(B, rb, b, 1, column, -1);
  load(C, rc, c, 0, row, column);
  multiply(rd, ra, rb, rc, packed(scales), packed(scales + SCALES));
  store(D, rd, results + blockIdx.x * (word)RESULTS);
}

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static const word vectors[VECTORS + 1][WORDS] = {
// 0: not n_fma = 2; n_fma = 4; n_fma = 8; lane_groups = 1; lane_groups = 4; lane_groups = 8; lane_groups = 16; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 23; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNZ; alignment = RNU; alignment = RND; alignment = RNO; alignment = RTP; alignment = RTN; alignment = RTO; alignment = RA; product_limit = 1; product_limit = 2; product_limit = 3; product_limit = 4; product_limit = 5; product_limit = 6; product_limit = 7; product_limit = 8; product_limit = 9; product_limit = 10; product_limit = 11; product_limit = 12; product_limit = 13; product_limit = 14; product_limit = 15; product_limit = 16; product_limit = 17; product_limit = 18; product_limit = 19; product_limit = 20; product_limit = 21; product_limit = 22; product_limit = 23; product_limit = 24; product_limit = 25; product_limit = 26; product_limit = 27; product_limit = 28; product_limit = 29; product_limit = 30; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; realignment = RA; c_reach = 1; c_reach = 3; c_reach = 6; c_reach = 12; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15
//      0x4eeffeef  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0x4eeffeef  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0x4eeffef0  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0x4eeffef0  n_fma = 2
//      0x4eeffef0  n_fma = 4
//      0x4eeffef0  n_fma = 8
//      0x4eeffef0  lane_groups = 1
//      0x4eeffeee  lane_groups = 4
//      0x4eeffeee  lane_groups = 8
//      0x4eeffeed  lane_groups = 16
//      0x4e800000  fraction_bits = 1
//      0x4ee00000  fraction_bits = 3
//      0x4eee0000  fraction_bits = 6
//      0x4eeff800  fraction_bits = 12
//      0x4eeffe00  fraction_bits = 16
//      0x4eeffe80  fraction_bits = 17
//      0x4eeffec0  fraction_bits = 18
//      0x4eeffed0  fraction_bits = 19
//      0x4eeffee0  fraction_bits = 20
//      0x4eeffeec  fraction_bits = 21
//      0x4eeffeee  fraction_bits = 22
//      0x4eeffeee  fraction_bits = 23
//      0x4eeffef0  fraction_bits = 25
//      0x4eeffef0  fraction_bits = 26
//      0x4eeffef0  fraction_bits = 27
//      0x4eeffef0  fraction_bits = 28
//      0x4eeffef0  fraction_bits = 29
//      0x4eeffef0  fraction_bits = 30
//      0x4eeffef0  fraction_bits = 31
//      0x4eeffef0  fraction_bits = 32
//      0x4eeffef0  alignment = RNE
//      0x4eeffef0  alignment = RNA
//      0x4eeffef0  alignment = RNZ
//      0x4eeffef0  alignment = RNU
//      0x4eeffef0  alignment = RND
//      0x4eeffef0  alignment = RNO
//      0x4eeffef1  alignment = RTP
//      0x4eeffeee  alignment = RTN
//      0x4eeffef0  alignment = RTO
//      0x4eeffef0  alignment = RA
//      0x7fc00000  product_limit = 1
//      0x7fc00000  product_limit = 2
//      0x7fc00000  product_limit = 3
//      0x7fc00000  product_limit = 4
//      0x7fc00000  product_limit = 5
//      0x7fc00000  product_limit = 6
//      0x7fc00000  product_limit = 7
//      0x7fc00000  product_limit = 8
//      0x7fc00000  product_limit = 9
//      0x7fc00000  product_limit = 10
//      0x7fc00000  product_limit = 11
//      0x7fc00000  product_limit = 12
//      0x7fc00000  product_limit = 13
//      0x7fc00000  product_limit = 14
//      0x7fc00000  product_limit = 15
//      0x7fc00000  product_limit = 16
//      0x7f800000  product_limit = 17
//      0x7f800000  product_limit = 18
//      0x7f800000  product_limit = 19
//      0x7f800000  product_limit = 20
//      0x7f800000  product_limit = 21
//      0x7f800000  product_limit = 22
//      0x7f800000  product_limit = 23
//      0x7f800000  product_limit = 24
//      0x7f800000  product_limit = 25
//      0x7f800000  product_limit = 26
//      0x7f800000  product_limit = 27
//      0x7f800000  product_limit = 28
//      0x7f800000  product_limit = 29
//      0x7f800000  product_limit = 30
//      0x4eeffef0  realignment = RNE
//      0x4eeffef0  realignment = RNA
//      0x4eeffef0  realignment = RNZ
//      0x4eeffef0  realignment = RNU
//      0x4eeffef0  realignment = RND
//      0x4eeffef0  realignment = RNO
//      0x4eeffef0  realignment = RTZ
//      0x4eeffef0  realignment = RTP
//      0x4eeffef0  realignment = RA
//      0x4eeffe70  c_reach = 1
//      0x4eeffe70  c_reach = 3
//      0x4eeffe70  c_reach = 6
//      0x4eeffe70  c_reach = 12
//      0x4ec00000  normalised_fraction_bits = 1
//      0x4ee00000  normalised_fraction_bits = 3
//      0x4eef0000  normalised_fraction_bits = 7
//      0x4eeffe00  normalised_fraction_bits = 15
{0x81, 0x77, 0xe4, 0xff, 0xfe, 0xed, 0x0, 0x82, 0xa6, 0x26, 0x0, 0xb1, 0x25, 0xfe, 0x86, 0x1, 0x7e, 0x41, 0x5c, 0x96, 0x0, 0x41, 0xfd, 0x87, 0x4e, 0x99, 0x3, 0x87, 0xfd, 0xfd, 0x7d, 0x1a, 0x467fdfff},
// 1: not dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; dot_fraction_bits = 31; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; normalised_fraction_bits = 30; rounding = RTZ; rounding = RTN
//      0x3f7ffff5  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0x3f7ffff4  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0x3f7ffff4  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0x3f7ffff4  dot_fraction_bits = 24
//      0x3f7ffff4  dot_fraction_bits = 25
//      0x3f7ffff4  dot_fraction_bits = 26
//      0x3f7ffff4  dot_fraction_bits = 27
//      0x3f7ffff4  dot_fraction_bits = 28
//      0x3f7ffff4  dot_fraction_bits = 29
//      0x3f7ffff4  dot_fraction_bits = 30
//      0x3f7ffff4  dot_fraction_bits = 31
//      0x3f7ffff4  normalised_fraction_bits = 23
//      0x3f7ffff4  normalised_fraction_bits = 24
//      0x3f7ffff4  normalised_fraction_bits = 25
//      0x3f7ffff4  normalised_fraction_bits = 26
//      0x3f7ffff4  normalised_fraction_bits = 27
//      0x3f7ffff4  normalised_fraction_bits = 28
//      0x3f7ffff4  normalised_fraction_bits = 29
//      0x3f7ffff4  normalised_fraction_bits = 30
//      0x3f7ffff4  rounding = RTZ
//      0x3f7ffff4  rounding = RTN
{0x97, 0x85, 0x6, 0x87, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x19, 0x8b, 0x85, 0x5, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x3f800003},
// 2: not normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; normalised_fraction_bits = 62; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA
//      0x3f800006  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0x3f800006  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0x3f800006  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0x3f800007  normalised_fraction_bits = 32
//      0x3f800007  normalised_fraction_bits = 33
//      0x3f800007  normalised_fraction_bits = 34
//      0x3f800007  normalised_fraction_bits = 35
//      0x3f800007  normalised_fraction_bits = 36
//      0x3f800007  normalised_fraction_bits = 37
//      0x3f800007  normalised_fraction_bits = 38
//      0x3f800007  normalised_fraction_bits = 39
//      0x3f800007  normalised_fraction_bits = 62
//      0x3f800007  rounding = RNA
//      0x3f800007  rounding = RNU
//      0x3f800007  rounding = RNO
//      0x3f800007  rounding = RTP
//      0x3f800007  rounding = RTO
//      0x3f800007  rounding = RA
{0x14, 0x85, 0x0, 0x6, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x17, 0x5, 0x6, 0x5, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x3f800003},
// 3: not c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; c_reach = 33; c_reach = 50; c_reach = None
//      0xaf400000  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0xaf400000  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0xaf400002  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0xaf400004  c_reach = 26
//      0xaf400004  c_reach = 27
//      0xaf400004  c_reach = 28
//      0xaf400004  c_reach = 29
//      0xaf400004  c_reach = 30
//      0xaf400004  c_reach = 31
//      0xaf400004  c_reach = 32
//      0xaf400004  c_reach = 33
//      0xaf400004  c_reach = 50
//      0xaf400004  c_reach = None
{0x0, 0x81, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x3, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xa3ffffff},
// 4: not c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24
//      0x3b98fffe  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0x3b98fffe  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0x3b990000  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0x3b990000  c_reach = 17
//      0x3b990000  c_reach = 18
//      0x3b990000  c_reach = 19
//      0x3b990000  c_reach = 20
//      0x3b990000  c_reach = 21
//      0x3b990000  c_reach = 22
//      0x3b990000  c_reach = 23
//      0x3b990000  c_reach = 24
{0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xbd, 0xac, 0x24, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xad, 0x3d, 0xab, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb03f0000},
// 5: not realignment = RTO; rounding = RNZ
//      0xc67d6666  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0xc67d6666  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0xc67d6665  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0xc67d6665  realignment = RTO
//      0xc67d6665  rounding = RNZ
{0x35, 0x5e, 0x60, 0x2b, 0xe0, 0x32, 0x57, 0x3f, 0x20, 0xdf, 0x54, 0xa4, 0x49, 0x38, 0x25, 0xb4, 0x28, 0xd8, 0xcd, 0x4d, 0xa8, 0xbe, 0xaa, 0xdd, 0x4d, 0x40, 0xcf, 0x60, 0xdb, 0x43, 0x56, 0xc9, 0xbd7fffff},
// 6: not product_limit = 31; rounding = RND
//      0xcf0ffc80  cdna3/v_mfma_f32_32x32x16_bf8_bf8
//      0xcf0ffc80  cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper
//      0xcf0ffc80  cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain
//      0xff800000  product_limit = 31
//      0xcf0ffc81  rounding = RND
{0xfd, 0xd5, 0x9d, 0x83, 0xc8, 0x83, 0xfd, 0xab, 0xaf, 0x4, 0x7e, 0xa1, 0x8c, 0x9e, 0x81, 0x9a, 0x81, 0x46, 0x9, 0x93, 0xff, 0xc1, 0x81, 0x32, 0x55, 0xff, 0xfe, 0x82, 0x83, 0xd2, 0x0, 0x42, 0x3f000000},
{0}};

// What each vector asks and what the hypotheses predict, as members of a JSON object.
static const char *const about[VECTORS + 1] = {
"\"asks\": \"not n_fma = 2; n_fma = 4; n_fma = 8; lane_groups = 1; lane_groups = 4; lane_groups = 8; lane_groups = 16; fraction_bits = 1; fraction_bits = 3; fraction_bits = 6; fraction_bits = 12; fraction_bits = 16; fraction_bits = 17; fraction_bits = 18; fraction_bits = 19; fraction_bits = 20; fraction_bits = 21; fraction_bits = 22; fraction_bits = 23; fraction_bits = 25; fraction_bits = 26; fraction_bits = 27; fraction_bits = 28; fraction_bits = 29; fraction_bits = 30; fraction_bits = 31; fraction_bits = 32; alignment = RNE; alignment = RNA; alignment = RNZ; alignment = RNU; alignment = RND; alignment = RNO; alignment = RTP; alignment = RTN; alignment = RTO; alignment = RA; product_limit = 1; product_limit = 2; product_limit = 3; product_limit = 4; product_limit = 5; product_limit = 6; product_limit = 7; product_limit = 8; product_limit = 9; product_limit = 10; product_limit = 11; product_limit = 12; product_limit = 13; product_limit = 14; product_limit = 15; product_limit = 16; product_limit = 17; product_limit = 18; product_limit = 19; product_limit = 20; product_limit = 21; product_limit = 22; product_limit = 23; product_limit = 24; product_limit = 25; product_limit = 26; product_limit = 27; product_limit = 28; product_limit = 29; product_limit = 30; realignment = RNE; realignment = RNA; realignment = RNZ; realignment = RNU; realignment = RND; realignment = RNO; realignment = RTZ; realignment = RTP; realignment = RA; c_reach = 1; c_reach = 3; c_reach = 6; c_reach = 12; normalised_fraction_bits = 1; normalised_fraction_bits = 3; normalised_fraction_bits = 7; normalised_fraction_bits = 15\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0x4eeffeef\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0x4eeffeef\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0x4eeffef0\", \"n_fma = 2\": \"0x4eeffef0\", \"n_fma = 4\": \"0x4eeffef0\", \"n_fma = 8\": \"0x4eeffef0\", \"lane_groups = 1\": \"0x4eeffef0\", \"lane_groups = 4\": \"0x4eeffeee\", \"lane_groups = 8\": \"0x4eeffeee\", \"lane_groups = 16\": \"0x4eeffeed\", \"fraction_bits = 1\": \"0x4e800000\", \"fraction_bits = 3\": \"0x4ee00000\", \"fraction_bits = 6\": \"0x4eee0000\", \"fraction_bits = 12\": \"0x4eeff800\", \"fraction_bits = 16\": \"0x4eeffe00\", \"fraction_bits = 17\": \"0x4eeffe80\", \"fraction_bits = 18\": \"0x4eeffec0\", \"fraction_bits = 19\": \"0x4eeffed0\", \"fraction_bits = 20\": \"0x4eeffee0\", \"fraction_bits = 21\": \"0x4eeffeec\", \"fraction_bits = 22\": \"0x4eeffeee\", \"fraction_bits = 23\": \"0x4eeffeee\", \"fraction_bits = 25\": \"0x4eeffef0\", \"fraction_bits = 26\": \"0x4eeffef0\", \"fraction_bits = 27\": \"0x4eeffef0\", \"fraction_bits = 28\": \"0x4eeffef0\", \"fraction_bits = 29\": \"0x4eeffef0\", \"fraction_bits = 30\": \"0x4eeffef0\", \"fraction_bits = 31\": \"0x4eeffef0\", \"fraction_bits = 32\": \"0x4eeffef0\", \"alignment = RNE\": \"0x4eeffef0\", \"alignment = RNA\": \"0x4eeffef0\", \"alignment = RNZ\": \"0x4eeffef0\", \"alignment = RNU\": \"0x4eeffef0\", \"alignment = RND\": \"0x4eeffef0\", \"alignment = RNO\": \"0x4eeffef0\", \"alignment = RTP\": \"0x4eeffef1\", \"alignment = RTN\": \"0x4eeffeee\", \"alignment = RTO\": \"0x4eeffef0\", \"alignment = RA\": \"0x4eeffef0\", \"product_limit = 1\": \"0x7fc00000\", \"product_limit = 2\": \"0x7fc00000\", \"product_limit = 3\": \"0x7fc00000\", \"product_limit = 4\": \"0x7fc00000\", \"product_limit = 5\": \"0x7fc00000\", \"product_limit = 6\": \"0x7fc00000\", \"product_limit = 7\": \"0x7fc00000\", \"product_limit = 8\": \"0x7fc00000\", \"product_limit = 9\": \"0x7fc00000\", \"product_limit = 10\": \"0x7fc00000\", \"product_limit = 11\": \"0x7fc00000\", \"product_limit = 12\": \"0x7fc00000\", \"product_limit = 13\": \"0x7fc00000\", \"product_limit = 14\": \"0x7fc00000\", \"product_limit = 15\": \"0x7fc00000\", \"product_limit = 16\": \"0x7fc00000\", \"product_limit = 17\": \"0x7f800000\", \"product_limit = 18\": \"0x7f800000\", \"product_limit = 19\": \"0x7f800000\", \"product_limit = 20\": \"0x7f800000\", \"product_limit = 21\": \"0x7f800000\", \"product_limit = 22\": \"0x7f800000\", \"product_limit = 23\": \"0x7f800000\", \"product_limit = 24\": \"0x7f800000\", \"product_limit = 25\": \"0x7f800000\", \"product_limit = 26\": \"0x7f800000\", \"product_limit = 27\": \"0x7f800000\", \"product_limit = 28\": \"0x7f800000\", \"product_limit = 29\": \"0x7f800000\", \"product_limit = 30\": \"0x7f800000\", \"realignment = RNE\": \"0x4eeffef0\", \"realignment = RNA\": \"0x4eeffef0\", \"realignment = RNZ\": \"0x4eeffef0\", \"realignment = RNU\": \"0x4eeffef0\", \"realignment = RND\": \"0x4eeffef0\", \"realignment = RNO\": \"0x4eeffef0\", \"realignment = RTZ\": \"0x4eeffef0\", \"realignment = RTP\": \"0x4eeffef0\", \"realignment = RA\": \"0x4eeffef0\", \"c_reach = 1\": \"0x4eeffe70\", \"c_reach = 3\": \"0x4eeffe70\", \"c_reach = 6\": \"0x4eeffe70\", \"c_reach = 12\": \"0x4eeffe70\", \"normalised_fraction_bits = 1\": \"0x4ec00000\", \"normalised_fraction_bits = 3\": \"0x4ee00000\", \"normalised_fraction_bits = 7\": \"0x4eef0000\", \"normalised_fraction_bits = 15\": \"0x4eeffe00\"}",
"\"asks\": \"not dot_fraction_bits = 24; dot_fraction_bits = 25; dot_fraction_bits = 26; dot_fraction_bits = 27; dot_fraction_bits = 28; dot_fraction_bits = 29; dot_fraction_bits = 30; dot_fraction_bits = 31; normalised_fraction_bits = 23; normalised_fraction_bits = 24; normalised_fraction_bits = 25; normalised_fraction_bits = 26; normalised_fraction_bits = 27; normalised_fraction_bits = 28; normalised_fraction_bits = 29; normalised_fraction_bits = 30; rounding = RTZ; rounding = RTN\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0x3f7ffff5\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0x3f7ffff4\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0x3f7ffff4\", \"dot_fraction_bits = 24\": \"0x3f7ffff4\", \"dot_fraction_bits = 25\": \"0x3f7ffff4\", \"dot_fraction_bits = 26\": \"0x3f7ffff4\", \"dot_fraction_bits = 27\": \"0x3f7ffff4\", \"dot_fraction_bits = 28\": \"0x3f7ffff4\", \"dot_fraction_bits = 29\": \"0x3f7ffff4\", \"dot_fraction_bits = 30\": \"0x3f7ffff4\", \"dot_fraction_bits = 31\": \"0x3f7ffff4\", \"normalised_fraction_bits = 23\": \"0x3f7ffff4\", \"normalised_fraction_bits = 24\": \"0x3f7ffff4\", \"normalised_fraction_bits = 25\": \"0x3f7ffff4\", \"normalised_fraction_bits = 26\": \"0x3f7ffff4\", \"normalised_fraction_bits = 27\": \"0x3f7ffff4\", \"normalised_fraction_bits = 28\": \"0x3f7ffff4\", \"normalised_fraction_bits = 29\": \"0x3f7ffff4\", \"normalised_fraction_bits = 30\": \"0x3f7ffff4\", \"rounding = RTZ\": \"0x3f7ffff4\", \"rounding = RTN\": \"0x3f7ffff4\"}",
"\"asks\": \"not normalised_fraction_bits = 32; normalised_fraction_bits = 33; normalised_fraction_bits = 34; normalised_fraction_bits = 35; normalised_fraction_bits = 36; normalised_fraction_bits = 37; normalised_fraction_bits = 38; normalised_fraction_bits = 39; normalised_fraction_bits = 62; rounding = RNA; rounding = RNU; rounding = RNO; rounding = RTP; rounding = RTO; rounding = RA\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0x3f800006\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0x3f800006\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0x3f800006\", \"normalised_fraction_bits = 32\": \"0x3f800007\", \"normalised_fraction_bits = 33\": \"0x3f800007\", \"normalised_fraction_bits = 34\": \"0x3f800007\", \"normalised_fraction_bits = 35\": \"0x3f800007\", \"normalised_fraction_bits = 36\": \"0x3f800007\", \"normalised_fraction_bits = 37\": \"0x3f800007\", \"normalised_fraction_bits = 38\": \"0x3f800007\", \"normalised_fraction_bits = 39\": \"0x3f800007\", \"normalised_fraction_bits = 62\": \"0x3f800007\", \"rounding = RNA\": \"0x3f800007\", \"rounding = RNU\": \"0x3f800007\", \"rounding = RNO\": \"0x3f800007\", \"rounding = RTP\": \"0x3f800007\", \"rounding = RTO\": \"0x3f800007\", \"rounding = RA\": \"0x3f800007\"}",
"\"asks\": \"not c_reach = 26; c_reach = 27; c_reach = 28; c_reach = 29; c_reach = 30; c_reach = 31; c_reach = 32; c_reach = 33; c_reach = 50; c_reach = None\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0xaf400000\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0xaf400000\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0xaf400002\", \"c_reach = 26\": \"0xaf400004\", \"c_reach = 27\": \"0xaf400004\", \"c_reach = 28\": \"0xaf400004\", \"c_reach = 29\": \"0xaf400004\", \"c_reach = 30\": \"0xaf400004\", \"c_reach = 31\": \"0xaf400004\", \"c_reach = 32\": \"0xaf400004\", \"c_reach = 33\": \"0xaf400004\", \"c_reach = 50\": \"0xaf400004\", \"c_reach = None\": \"0xaf400004\"}",
"\"asks\": \"not c_reach = 17; c_reach = 18; c_reach = 19; c_reach = 20; c_reach = 21; c_reach = 22; c_reach = 23; c_reach = 24\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0x3b98fffe\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0x3b98fffe\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0x3b990000\", \"c_reach = 17\": \"0x3b990000\", \"c_reach = 18\": \"0x3b990000\", \"c_reach = 19\": \"0x3b990000\", \"c_reach = 20\": \"0x3b990000\", \"c_reach = 21\": \"0x3b990000\", \"c_reach = 22\": \"0x3b990000\", \"c_reach = 23\": \"0x3b990000\", \"c_reach = 24\": \"0x3b990000\"}",
"\"asks\": \"not realignment = RTO; rounding = RNZ\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0xc67d6666\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0xc67d6666\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0xc67d6665\", \"realignment = RTO\": \"0xc67d6665\", \"rounding = RNZ\": \"0xc67d6665\"}",
"\"asks\": \"not product_limit = 31; rounding = RND\", \"predictions\": {\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\": \"0xcf0ffc80\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper\": \"0xcf0ffc80\", \"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain\": \"0xcf0ffc80\", \"product_limit = 31\": \"0xff800000\", \"rounding = RND\": \"0xcf0ffc81\"}",
""};

static void check(hipError_t error, const char *what) {
  if (error == hipSuccess) return;
  fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  exit(1);
}

// The results of one launch for at most AT_ONCE vectors.
enum { AT_ONCE = 4096 };
static void run(int alone, const word *given, size_t count, std::vector<word> &results) {
  word *device;
  const size_t bytes = count * RESULTS * sizeof(word);
  check(hipMalloc((void **)&device, bytes), "allocate");
  check(hipMemset(device, 0, bytes), "clear");
  probe<<<(unsigned)count, THREADS>>>(given, device, alone);
  check(hipGetLastError(), "launch");
  check(hipDeviceSynchronize(), "run");
  check(hipMemcpy(results.data(), device, bytes, hipMemcpyDeviceToHost), "read results");
  check(hipFree(device), "free");
}

// The word of D for each vector; returns how many elements of D are another word than the first.
static int answer(const word *rows, size_t count, word *d) {
  std::vector<word> everywhere(AT_ONCE * (size_t)RESULTS), alone(AT_ONCE * (size_t)RESULTS);
  int unequal = 0;
  for (size_t first = 0; first < count; first += AT_ONCE) {
    const size_t now = count - first < AT_ONCE ? count - first : AT_ONCE, bytes = now * WORDS * sizeof(word);
    word *given;
    check(hipMalloc((void **)&given, bytes), "allocate");
    check(hipMemcpy(given, rows + first * WORDS, bytes, hipMemcpyHostToDevice), "write vectors");
    run(0, given, now, everywhere);
    run(1, given, now, alone);
    check(hipFree(given), "free");
    for (size_t v = 0; v < now; ++v) {
      d[first + v] = everywhere[v * RESULTS];
      for (int i = 0; i < RESULTS; ++i) {
        const int here = i % (M * N) == (int)(v % M * N + v % N);
        const size_t at = v * RESULTS + i;
        if (everywhere[at] == d[first + v] && !(here && alone[at] != d[first + v])) continue;
        if (!unequal++)
          fprintf(stderr, "vector %zu: element %d of D is 0x%llx (alone 0x%llx), the first 0x%llx\n", first + v, i,
                  everywhere[at], alone[at], d[first + v]);
      }
    }
  }
  return unequal;
}

// Words of w bits as a JSON list of count hexadecimal texts; count 0: one text.
static void put(const char *name, const word *words, int count, int w) {
  printf("\"%s\": %s", name, count ? "[" : "");
  for (int i = 0; i < (count ? count : 1); ++i) printf("%s\"0x%0*llx\"", i ? ", " : "", (w + 3) / 4, words[i]);
  printf("%s, ", count ? "]" : "");
}

// What the device says of itself, as a JSON text.
static void put_text(const char *name, const char *text) {
  printf(" \"%s\": \"", name);
  for (const char *at = text; *at; ++at)
    if (*at >= ' ' && *at < 127 && *at != '"' && *at != '\\') putchar(*at);
  printf("\",\n");
}

static void *memory(size_t bytes) {
  void *found = malloc(bytes ? bytes : 1);
  if (found) return found;
  fprintf(stderr, "no memory for %zu bytes\n", bytes);
  exit(1);
}

// What the hypotheses predict: number of the vector, of the hypothesis, and the word of D.
static const char *const hypotheses[] = {
"cdna3/v_mfma_f32_32x32x16_bf8_bf8",
"cdna3/v_mfma_f32_32x32x16_bf8_bf8@paper",
"cdna3/v_mfma_f32_32x32x16_bf8_bf8@chain",
"n_fma = 2",
"n_fma = 4",
"n_fma = 8",
"lane_groups = 1",
"lane_groups = 4",
"lane_groups = 8",
"lane_groups = 16",
"fraction_bits = 1",
"fraction_bits = 3",
"fraction_bits = 6",
"fraction_bits = 12",
"fraction_bits = 16",
"fraction_bits = 17",
"fraction_bits = 18",
"fraction_bits = 19",
"fraction_bits = 20",
"fraction_bits = 21",
"fraction_bits = 22",
"fraction_bits = 23",
"fraction_bits = 25",
"fraction_bits = 26",
"fraction_bits = 27",
"fraction_bits = 28",
"fraction_bits = 29",
"fraction_bits = 30",
"fraction_bits = 31",
"fraction_bits = 32",
"alignment = RNE",
"alignment = RNA",
"alignment = RNZ",
"alignment = RNU",
"alignment = RND",
"alignment = RNO",
"alignment = RTP",
"alignment = RTN",
"alignment = RTO",
"alignment = RA",
"product_limit = 1",
"product_limit = 2",
"product_limit = 3",
"product_limit = 4",
"product_limit = 5",
"product_limit = 6",
"product_limit = 7",
"product_limit = 8",
"product_limit = 9",
"product_limit = 10",
"product_limit = 11",
"product_limit = 12",
"product_limit = 13",
"product_limit = 14",
"product_limit = 15",
"product_limit = 16",
"product_limit = 17",
"product_limit = 18",
"product_limit = 19",
"product_limit = 20",
"product_limit = 21",
"product_limit = 22",
"product_limit = 23",
"product_limit = 24",
"product_limit = 25",
"product_limit = 26",
"product_limit = 27",
"product_limit = 28",
"product_limit = 29",
"product_limit = 30",
"realignment = RNE",
"realignment = RNA",
"realignment = RNZ",
"realignment = RNU",
"realignment = RND",
"realignment = RNO",
"realignment = RTZ",
"realignment = RTP",
"realignment = RA",
"c_reach = 1",
"c_reach = 3",
"c_reach = 6",
"c_reach = 12",
"normalised_fraction_bits = 1",
"normalised_fraction_bits = 3",
"normalised_fraction_bits = 7",
"normalised_fraction_bits = 15",
"dot_fraction_bits = 24",
"dot_fraction_bits = 25",
"dot_fraction_bits = 26",
"dot_fraction_bits = 27",
"dot_fraction_bits = 28",
"dot_fraction_bits = 29",
"dot_fraction_bits = 30",
"dot_fraction_bits = 31",
"normalised_fraction_bits = 23",
"normalised_fraction_bits = 24",
"normalised_fraction_bits = 25",
"normalised_fraction_bits = 26",
"normalised_fraction_bits = 27",
"normalised_fraction_bits = 28",
"normalised_fraction_bits = 29",
"normalised_fraction_bits = 30",
"rounding = RTZ",
"rounding = RTN",
"normalised_fraction_bits = 32",
"normalised_fraction_bits = 33",
"normalised_fraction_bits = 34",
"normalised_fraction_bits = 35",
"normalised_fraction_bits = 36",
"normalised_fraction_bits = 37",
"normalised_fraction_bits = 38",
"normalised_fraction_bits = 39",
"normalised_fraction_bits = 62",
"rounding = RNA",
"rounding = RNU",
"rounding = RNO",
"rounding = RTP",
"rounding = RTO",
"rounding = RA",
"c_reach = 26",
"c_reach = 27",
"c_reach = 28",
"c_reach = 29",
"c_reach = 30",
"c_reach = 31",
"c_reach = 32",
"c_reach = 33",
"c_reach = 50",
"c_reach = None",
"c_reach = 17",
"c_reach = 18",
"c_reach = 19",
"c_reach = 20",
"c_reach = 21",
"c_reach = 22",
"c_reach = 23",
"c_reach = 24",
"realignment = RTO",
"rounding = RNZ",
"product_limit = 31",
"rounding = RND",
""};
static const struct { int vector, hypothesis; word d; } predictions[] = {
{0, 0, 0x4eeffeef},
{0, 1, 0x4eeffeef},
{0, 2, 0x4eeffef0},
{0, 3, 0x4eeffef0},
{0, 4, 0x4eeffef0},
{0, 5, 0x4eeffef0},
{0, 6, 0x4eeffef0},
{0, 7, 0x4eeffeee},
{0, 8, 0x4eeffeee},
{0, 9, 0x4eeffeed},
{0, 10, 0x4e800000},
{0, 11, 0x4ee00000},
{0, 12, 0x4eee0000},
{0, 13, 0x4eeff800},
{0, 14, 0x4eeffe00},
{0, 15, 0x4eeffe80},
{0, 16, 0x4eeffec0},
{0, 17, 0x4eeffed0},
{0, 18, 0x4eeffee0},
{0, 19, 0x4eeffeec},
{0, 20, 0x4eeffeee},
{0, 21, 0x4eeffeee},
{0, 22, 0x4eeffef0},
{0, 23, 0x4eeffef0},
{0, 24, 0x4eeffef0},
{0, 25, 0x4eeffef0},
{0, 26, 0x4eeffef0},
{0, 27, 0x4eeffef0},
{0, 28, 0x4eeffef0},
{0, 29, 0x4eeffef0},
{0, 30, 0x4eeffef0},
{0, 31, 0x4eeffef0},
{0, 32, 0x4eeffef0},
{0, 33, 0x4eeffef0},
{0, 34, 0x4eeffef0},
{0, 35, 0x4eeffef0},
{0, 36, 0x4eeffef1},
{0, 37, 0x4eeffeee},
{0, 38, 0x4eeffef0},
{0, 39, 0x4eeffef0},
{0, 40, 0x7fc00000},
{0, 41, 0x7fc00000},
{0, 42, 0x7fc00000},
{0, 43, 0x7fc00000},
{0, 44, 0x7fc00000},
{0, 45, 0x7fc00000},
{0, 46, 0x7fc00000},
{0, 47, 0x7fc00000},
{0, 48, 0x7fc00000},
{0, 49, 0x7fc00000},
{0, 50, 0x7fc00000},
{0, 51, 0x7fc00000},
{0, 52, 0x7fc00000},
{0, 53, 0x7fc00000},
{0, 54, 0x7fc00000},
{0, 55, 0x7fc00000},
{0, 56, 0x7f800000},
{0, 57, 0x7f800000},
{0, 58, 0x7f800000},
{0, 59, 0x7f800000},
{0, 60, 0x7f800000},
{0, 61, 0x7f800000},
{0, 62, 0x7f800000},
{0, 63, 0x7f800000},
{0, 64, 0x7f800000},
{0, 65, 0x7f800000},
{0, 66, 0x7f800000},
{0, 67, 0x7f800000},
{0, 68, 0x7f800000},
{0, 69, 0x7f800000},
{0, 70, 0x4eeffef0},
{0, 71, 0x4eeffef0},
{0, 72, 0x4eeffef0},
{0, 73, 0x4eeffef0},
{0, 74, 0x4eeffef0},
{0, 75, 0x4eeffef0},
{0, 76, 0x4eeffef0},
{0, 77, 0x4eeffef0},
{0, 78, 0x4eeffef0},
{0, 79, 0x4eeffe70},
{0, 80, 0x4eeffe70},
{0, 81, 0x4eeffe70},
{0, 82, 0x4eeffe70},
{0, 83, 0x4ec00000},
{0, 84, 0x4ee00000},
{0, 85, 0x4eef0000},
{0, 86, 0x4eeffe00},
{1, 0, 0x3f7ffff5},
{1, 1, 0x3f7ffff4},
{1, 2, 0x3f7ffff4},
{1, 87, 0x3f7ffff4},
{1, 88, 0x3f7ffff4},
{1, 89, 0x3f7ffff4},
{1, 90, 0x3f7ffff4},
{1, 91, 0x3f7ffff4},
{1, 92, 0x3f7ffff4},
{1, 93, 0x3f7ffff4},
{1, 94, 0x3f7ffff4},
{1, 95, 0x3f7ffff4},
{1, 96, 0x3f7ffff4},
{1, 97, 0x3f7ffff4},
{1, 98, 0x3f7ffff4},
{1, 99, 0x3f7ffff4},
{1, 100, 0x3f7ffff4},
{1, 101, 0x3f7ffff4},
{1, 102, 0x3f7ffff4},
{1, 103, 0x3f7ffff4},
{1, 104, 0x3f7ffff4},
{2, 0, 0x3f800006},
{2, 1, 0x3f800006},
{2, 2, 0x3f800006},
{2, 105, 0x3f800007},
{2, 106, 0x3f800007},
{2, 107, 0x3f800007},
{2, 108, 0x3f800007},
{2, 109, 0x3f800007},
{2, 110, 0x3f800007},
{2, 111, 0x3f800007},
{2, 112, 0x3f800007},
{2, 113, 0x3f800007},
{2, 114, 0x3f800007},
{2, 115, 0x3f800007},
{2, 116, 0x3f800007},
{2, 117, 0x3f800007},
{2, 118, 0x3f800007},
{2, 119, 0x3f800007},
{3, 0, 0xaf400000},
{3, 1, 0xaf400000},
{3, 2, 0xaf400002},
{3, 120, 0xaf400004},
{3, 121, 0xaf400004},
{3, 122, 0xaf400004},
{3, 123, 0xaf400004},
{3, 124, 0xaf400004},
{3, 125, 0xaf400004},
{3, 126, 0xaf400004},
{3, 127, 0xaf400004},
{3, 128, 0xaf400004},
{3, 129, 0xaf400004},
{4, 0, 0x3b98fffe},
{4, 1, 0x3b98fffe},
{4, 2, 0x3b990000},
{4, 130, 0x3b990000},
{4, 131, 0x3b990000},
{4, 132, 0x3b990000},
{4, 133, 0x3b990000},
{4, 134, 0x3b990000},
{4, 135, 0x3b990000},
{4, 136, 0x3b990000},
{4, 137, 0x3b990000},
{5, 0, 0xc67d6666},
{5, 1, 0xc67d6666},
{5, 2, 0xc67d6665},
{5, 138, 0xc67d6665},
{5, 139, 0xc67d6665},
{6, 0, 0xcf0ffc80},
{6, 1, 0xcf0ffc80},
{6, 2, 0xcf0ffc80},
{6, 140, 0xff800000},
{6, 141, 0xcf0ffc81},
{-1, 0, 0}};

// On the standard error: how many answers each hypothesis predicts.
static void judge(const word *d) {
  for (int h = 0; h < 142; ++h) {
    int said = 0, right = 0;
    for (int i = 0; predictions[i].vector >= 0; ++i) {
      if (predictions[i].hypothesis != h) continue;
      ++said;
      right += predictions[i].d == d[predictions[i].vector];
    }
    fprintf(stderr, "%d of %d answers are those of: %s\n", right, said, hypotheses[h]);
  }
}

// The answers to this program's vectors, as the rows of a JSON object. Returns how many contradict.
static int put_rows(void) {
  word *d = (word *)memory(VECTORS * sizeof(word));
  const int unequal = answer(&vectors[0][0], VECTORS, d);
  printf(" \"program\": %s,\n \"unequal\": %d,\n \"rows\": [\n", "\"tcsmt 0.2.0: results/make/cdna3_deciding.py\"", unequal);
  for (int v = 0; v < VECTORS; ++v) {
    const word *a = vectors[v];
    printf("  {");
    put("a", a, K, 8);
    put("b", a + K, K, 8);
    put("c", a + 2 * K, 0, 32);
    if (SCALES) put("scale_a", a + 2 * K + 1, SCALES, 8), put("scale_b", a + 2 * K + 1 + SCALES, SCALES, 8);
    put("d", d + v, 0, 32);
    printf("%s}%s\n", about[v], v + 1 < VECTORS ? "," : "");
  }
  printf("]}\n");
  judge(d);
  free(d);
  return unequal;
}

// Bytes of each word of a row, in order.
static int bytes_of(int number) {
  return number < K ? 1 : number < 2 * K ? 1 : number == 2 * K ? 4 : 1;
}

// Standard input: a number of rows (four bytes), then the rows' words; standard output: the words of D; and so
// on until the input ends. All numbers have their lowest byte first. Returns how many answers contradict.
static int serve(void) {
  unsigned char head[4];
  int size = 0, unequal = 0;
  for (int i = 0; i < WORDS; ++i) size += bytes_of(i);
  while (!unequal && fread(head, 1, 4, stdin) == 4) {
    const size_t count = head[0] | head[1] << 8 | head[2] << 16 | (size_t)head[3] << 24;
    unsigned char *given = (unsigned char *)memory(count * size), *at = given;
    word *rows = (word *)memory(count * WORDS * sizeof(word)), *d = (word *)memory(count * sizeof(word));
    if (fread(given, size, count, stdin) != count) {
      fprintf(stderr, "the input ended within a row\n");
      exit(1);
    }
    for (size_t i = 0; i < count * WORDS; ++i) {
      rows[i] = 0;
      for (int byte = 0; byte < bytes_of((int)(i % WORDS)); ++byte) rows[i] |= (word)*at++ << 8 * byte;
    }
    unequal = answer(rows, count, d);
    for (size_t i = 0; i < count; ++i)
      for (int byte = 0; byte < 4; ++byte) putchar((int)(d[i] >> 8 * byte & 255));
    fflush(stdout);
    free(given), free(rows), free(d);
  }
  return unequal;
}

int main(int argc, char **argv) {
  int devices = 0, driver = 0, runtime = 0;
  hipDeviceProp_t gpu;
  char date[32], line[200] = "";
  const time_t now = time(nullptr);
  check(hipGetDeviceCount(&devices), "find a GPU");
  if (argc > 1 && !strcmp(argv[1], "--rows")) return serve() ? 2 : 0;
  check(hipGetDeviceProperties(&gpu, 0), "describe the GPU");
  check(hipDriverGetVersion(&driver), "ask for the driver's version");
  check(hipRuntimeGetVersion(&runtime), "ask for the runtime's version");
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  if (FILE *file = fopen("/sys/module/amdgpu/version", "r")) {
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
  }

  printf("{\"model\": %s,\n \"gpu\": \"%s\", \"driver\": \"%d\", \"runtime\": \"%d\", \"date\": \"%s\",\n",
         "\"cdna3/v_mfma_f32_32x32x16_bf8_bf8\"", gpu.name, driver, runtime, date);
  put_text("kernel_driver", line);
  printf(" \"instruction\": \"__builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8\", \"target\": \"gfx942\",\n");
  return put_rows() ? 2 : 0;
}
#endif
END_OF_PROGRAM
hipcc -std=c++17 --offload-arch=gfx942 -o "$folder/bf8" "$folder/bf8.hip"
"$folder/bf8" > answers-bf8.json || echo "bf8: see above" >&2
