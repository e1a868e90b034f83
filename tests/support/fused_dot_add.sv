// A fused dot-product-add in plain SystemVerilog, written for the tests: d = c + sum of a[i] * b[i].
//
// Products and c are aligned to the largest exponent with GRID bits below it; what lies below is cut, the
// sum is exact, and the result is cut to the format (rounding toward zero). A zero term has the exponent
// ZERO_EXPONENT. Every zero result is +0, and every NaN is the word of ones without the sign. PIPELINE puts a register after the inputs, after the
// alignment and after the sum. MUTANT is an error: 1 keeps one bit less, 2 looks at the exponents of all
// terms but the last one, 3 gives a sum of zeros the sign of c, 4 lets the sum wrap.
module fused_dot_add #(
    parameter int K = 2,
    parameter int EXPONENT = 5,
    parameter int FRACTION = 2,
    parameter int C_EXPONENT = 5,
    parameter int C_FRACTION = 10,
    parameter int GRID = 10,
    parameter int ZERO_EXPONENT = -32,
    parameter bit PIPELINE = 0,
    parameter int MUTANT = 0
) (
    input logic clk,
    input logic [K-1:0][EXPONENT+FRACTION:0] a,
    input logic [K-1:0][EXPONENT+FRACTION:0] b,
    input logic [C_EXPONENT+C_FRACTION:0] c,
    output logic [C_EXPONENT+C_FRACTION:0] d,
    output logic is_nan
);
  localparam int BIAS = 2 ** (EXPONENT - 1) - 1;
  localparam int C_BIAS = 2 ** (C_EXPONENT - 1) - 1;
  localparam int RANGE = (C_EXPONENT > EXPONENT ? C_EXPONENT : EXPONENT) + 3;
  localparam logic signed [RANGE-1:0] NOWHERE = RANGE'(ZERO_EXPONENT);
  localparam int PRODUCT = 2 * (FRACTION + 1);
  localparam int SUM = GRID + 3 + $clog2(K + 1) + (MUTANT == 4 ? -2 : 0);
  localparam int CUT = GRID + (MUTANT == 1 ? -1 : 0);
  typedef logic signed [RANGE-1:0] exponent_t;
  typedef logic signed [SUM-1:0] sum_t;

  logic [K-1:0][EXPONENT+FRACTION:0] a_in, b_in;
  logic [C_EXPONENT+C_FRACTION:0] c_in;

  // one term for each product, and c as the last one
  logic sign[K+1], infinite[K+1], nan[K+1];
  logic zero[K+1];
  exponent_t exponent[K+1], entering[K+1];
  logic [GRID+1:0] magnitude[K+1];

  for (genvar i = 0; i < K; i++) begin : products
    logic [EXPONENT-1:0] x_field, y_field;
    logic [FRACTION-1:0] x_fraction, y_fraction;
    logic [PRODUCT-1:0] product;
    logic x_special, y_special, x_zero, y_zero;
    assign {x_field, x_fraction} = a_in[i][EXPONENT+FRACTION-1:0];
    assign {y_field, y_fraction} = b_in[i][EXPONENT+FRACTION-1:0];
    assign x_special = &x_field;
    assign y_special = &y_field;
    assign x_zero = a_in[i][EXPONENT+FRACTION-1:0] == '0;
    assign y_zero = b_in[i][EXPONENT+FRACTION-1:0] == '0;
    assign product = PRODUCT'({|x_field, x_fraction}) * PRODUCT'({|y_field, y_fraction});
    assign sign[i] = a_in[i][EXPONENT+FRACTION] ^ b_in[i][EXPONENT+FRACTION];
    assign exponent[i] = exponent_t'(x_field) + exponent_t'(x_field == 0) + exponent_t'(y_field)
        + exponent_t'(y_field == 0) - exponent_t'(2 * BIAS);
    assign magnitude[i] = (GRID + 2)'(product) << (GRID - 2 * FRACTION);
    assign zero[i] = x_zero | y_zero;
    assign nan[i] = (x_special & (|x_fraction | y_zero)) | (y_special & (|y_fraction | x_zero));
    assign infinite[i] = (x_special | y_special) & ~nan[i];
  end

  logic [C_EXPONENT-1:0] c_field;
  logic [C_FRACTION-1:0] c_fraction;
  assign {c_field, c_fraction} = c_in[C_EXPONENT+C_FRACTION-1:0];
  assign sign[K] = c_in[C_EXPONENT+C_FRACTION];
  assign exponent[K] = exponent_t'(c_field) + exponent_t'(c_field == 0) - exponent_t'(C_BIAS);
  assign magnitude[K] = (GRID + 2)'({|c_field, c_fraction}) << (GRID - C_FRACTION);
  assign zero[K] = c_in[C_EXPONENT+C_FRACTION-1:0] == '0;
  assign nan[K] = &c_field & |c_fraction;
  assign infinite[K] = &c_field & ~|c_fraction;

  // the largest exponent, and each term at its place
  exponent_t top, top_now;
  sum_t aligned[K+1], aligned_now[K+1];
  logic plus, minus, any_nan, any_nan_now, infinite_now, minus_now, c_sign, c_sign_now;
  always_comb begin
    for (int i = 0; i <= K; i++) entering[i] = zero[i] ? NOWHERE : exponent[i];
    top = entering[0];
    for (int i = 1; i <= (MUTANT == 2 ? K - 1 : K); i++) if (entering[i] > top) top = entering[i];
    plus = 0;
    minus = 0;
    any_nan = 0;
    for (int i = 0; i <= K; i++) begin
      automatic logic [GRID+1:0] shifted = magnitude[i] >> $unsigned(top - exponent[i]);
      shifted = (shifted >> (GRID - CUT)) << (GRID - CUT);
      aligned[i] = sign[i] ? -sum_t'(shifted) : sum_t'(shifted);
      plus |= infinite[i] & ~sign[i];
      minus |= infinite[i] & sign[i];
      any_nan |= nan[i];
    end
    any_nan |= plus & minus;
    c_sign = sign[K];
  end

  sum_t total, total_now;
  exponent_t top_then;
  logic any_nan_then, infinite_then, minus_then, c_sign_then;
  always_comb begin
    total = '0;
    for (int i = 0; i <= K; i++) total += aligned_now[i];
  end

  // the leading bit, and the fraction below it
  logic negative;
  logic [SUM-1:0] size;
  logic [SUM+C_FRACTION-1:0] placed;
  logic signed [RANGE+6:0] field;
  logic [6:0] leading;
  always_comb begin
    negative = total_now[SUM-1];
    size = negative ? -total_now : total_now;
    leading = 0;
    for (int i = 0; i < SUM; i++) if (size[i]) leading = 7'(i);
    field = (RANGE + 7)'(top_then) + (RANGE + 7)'($signed({1'b0, leading})) - GRID + C_BIAS;
    // a subnormal result stays where the exponent can fall no further
    placed = {size, {C_FRACTION{1'b0}}} >> (field > 0 ? leading : leading + $unsigned(7'(1 - field)));
    is_nan = any_nan_then;
    if (any_nan_then) d = {1'b0, {(C_EXPONENT + C_FRACTION) {1'b1}}};
    else if (infinite_then) d = {minus_then, {C_EXPONENT{1'b1}}, {C_FRACTION{1'b0}}};
    else if (size == 0) d = {MUTANT == 3 ? c_sign_then : 1'b0, {(C_EXPONENT + C_FRACTION) {1'b0}}};
    else if (field >= 2 ** C_EXPONENT - 1) d = {negative, {C_EXPONENT{1'b1}}, {C_FRACTION{1'b0}}};
    else begin
      d = {negative, field > 0 ? C_EXPONENT'(field) : C_EXPONENT'(0), placed[C_FRACTION-1:0]};
      if (d[C_EXPONENT+C_FRACTION-1:0] == 0) d = '0;
    end
  end

  if (PIPELINE) begin : registers
    always_ff @(posedge clk) begin
      a_in <= a;
      b_in <= b;
      c_in <= c;
      top_now <= top;
      aligned_now <= aligned;
      any_nan_now <= any_nan;
      infinite_now <= plus | minus;
      minus_now <= minus;
      c_sign_now <= c_sign;
      total_now <= total;
      top_then <= top_now;
      any_nan_then <= any_nan_now;
      infinite_then <= infinite_now;
      minus_then <= minus_now;
      c_sign_then <= c_sign_now;
    end
  end else begin : wires
    assign a_in = a;
    assign b_in = b;
    assign c_in = c;
    assign top_now = top;
    assign aligned_now = aligned;
    assign any_nan_now = any_nan;
    assign infinite_now = plus | minus;
    assign minus_now = minus;
    assign c_sign_now = c_sign;
    assign total_now = total;
    assign top_then = top_now;
    assign any_nan_then = any_nan_now;
    assign infinite_then = infinite_now;
    assign minus_then = minus_now;
    assign c_sign_then = c_sign_now;
  end
endmodule
