// a0*b0 + a1*b1 + c with one rounding, ties away from zero: the two terms with the largest exponents are added
// first, the third one after that, each sum in a window. Small formats with infinities; the result has at least
// twice the precision of the factors.
module three_terms #(
    parameter int EXPONENT = 2,
    parameter int FRACTION = 1,
    parameter int C_EXPONENT = 5,
    parameter int C_FRACTION = 4,
    parameter int MUTANT = 0,
    parameter int RARE = -1,  // inputs, from a0 on, of which a bit of the result is wrong
    parameter int WRONG = 0
) (
    input logic [EXPONENT+FRACTION:0] a0,
    input logic [EXPONENT+FRACTION:0] b0,
    input logic [EXPONENT+FRACTION:0] a1,
    input logic [EXPONENT+FRACTION:0] b1,
    input logic [C_EXPONENT+C_FRACTION:0] c,
    output logic [C_EXPONENT+C_FRACTION:0] d
);
  localparam int N = FRACTION + 1;  // precision of a factor
  localparam int P = C_FRACTION + 1;  // and of the result
  localparam int FIRST = 2 * P + 3;  // bits of the first window
  localparam int SECOND = 2 * P + N + 4;  // and of the second one
  localparam int BIAS = 2 ** (EXPONENT - 1) - 1;
  localparam int C_BIAS = 2 ** (C_EXPONENT - 1) - 1;
  typedef logic signed [C_EXPONENT+1:0] exponent_t;

  // operands
  logic [EXPONENT-1:0] field_a, field_b, field_c, field_d;
  logic [C_EXPONENT-1:0] field_e;
  logic [FRACTION-1:0] fraction_a, fraction_b, fraction_c, fraction_d;
  logic [C_FRACTION-1:0] fraction_e;
  logic sign_a, sign_b, sign_c, sign_d, operand_e_sign_q, product_x_sign_q, product_y_sign_q;
  assign {sign_a, field_a, fraction_a} = a0;
  assign {sign_b, field_b, fraction_b} = b0;
  assign {sign_c, field_c, fraction_c} = a1;
  assign {sign_d, field_d, fraction_d} = b1;
  assign {operand_e_sign_q, field_e, fraction_e} = c;
  assign product_x_sign_q = sign_a ^ sign_b;
  assign product_y_sign_q = sign_c ^ sign_d;
  logic [N-1:0] mantissa_a, mantissa_b, mantissa_c, mantissa_d;
  assign mantissa_a = {field_a != 0, fraction_a};
  assign mantissa_b = {field_b != 0, fraction_b};
  assign mantissa_c = {field_c != 0, fraction_c};
  assign mantissa_d = {field_d != 0, fraction_d};

  // terms: significands of P bits; exponents are those of the result's format, 2 - C_BIAS that of a zero product
  logic [2*N-1:0] product_x, product_y;
  assign product_x = mantissa_a * mantissa_b;
  assign product_y = mantissa_c * mantissa_d;
  logic [P-1:0] addend_x, addend_y, addend_z;
  assign addend_x = product_x << (P - 2 * N);
  assign addend_y = product_y << (P - 2 * N);
  assign addend_z = {field_e != 0, fraction_e};
  function automatic exponent_t scale(input logic [EXPONENT-1:0] one, two, input logic zero);
    exponent_t sum;
    sum = exponent_t'({1'b0, one}) + exponent_t'(one == 0) + exponent_t'({1'b0, two}) + exponent_t'(two == 0);
    scale = zero ? exponent_t'(2 - C_BIAS) : sum + exponent_t'(C_BIAS + 1 - 2 * BIAS);
  endfunction
  logic zero_x, zero_y;
  assign zero_x = {field_a, fraction_a} == 0 || {field_b, fraction_b} == 0;
  assign zero_y = {field_c, fraction_c} == 0 || {field_d, fraction_d} == 0;
  exponent_t exponent_addend_x, exponent_addend_y, exponent_addend_z;
  assign exponent_addend_x = scale(field_a, field_b, zero_x);
  assign exponent_addend_y = scale(field_c, field_d, zero_y);
  assign exponent_addend_z = exponent_t'({1'b0, field_e}) + exponent_t'(field_e == 0);

  // order of exponents
  typedef struct packed {
    logic sign;
    exponent_t exponent;
    logic [P-1:0] addend;
  } term_t;
  term_t x, y, z, largest, middle, least;
  assign x = {product_x_sign_q, exponent_addend_x, addend_x};
  assign y = {product_y_sign_q, exponent_addend_y, addend_y};
  assign z = {operand_e_sign_q, exponent_addend_z, addend_z};
  logic x_y, x_z, y_z;
  assign x_y = x.exponent >= y.exponent;
  assign x_z = x.exponent >= z.exponent;
  assign y_z = y.exponent >= z.exponent;
  always_comb
    case ({x_y, x_z, y_z})
      3'b000: {largest, middle, least} = {z, y, x};
      3'b001: {largest, middle, least} = {y, z, x};
      3'b011: {largest, middle, least} = {y, x, z};
      3'b100: {largest, middle, least} = {z, x, y};
      3'b110: {largest, middle, least} = MUTANT == 1 ? {x, y, z} : {x, z, y};
      default: {largest, middle, least} = {x, y, z};
    endcase
  logic sign_max, sign_int, sign_min;
  exponent_t exponent_max, exponent_int, exponent_min;
  logic [P-1:0] addend_max, addend_int, addend_min;
  assign {sign_max, exponent_max, addend_max} = largest;
  assign {sign_int, exponent_int, addend_int} = middle;
  assign {sign_min, exponent_min, addend_min} = least;

  // first addition
  exponent_t distance;
  logic [FIRST-1:0] addend_int_after_shift;
  logic [P-1:0] lost_int;
  logic sticky_before_add, effective_subtraction_first, sum_carry, sum_exact_zero, final_sign;
  logic [FIRST:0] sum_raw;
  logic [FIRST-1:0] sum;
  assign distance = exponent_max - exponent_int;
  assign {addend_int_after_shift, lost_int} =
      {addend_int, {FIRST{1'b0}}} >> (distance > exponent_t'(FIRST) ? FIRST : distance);
  assign sticky_before_add = lost_int != 0;
  assign effective_subtraction_first = sign_max ^ sign_int;
  assign sum_raw = {1'b0, addend_max, {(P+3){1'b0}}}
      + (effective_subtraction_first ? {1'b0, ~addend_int_after_shift} : {1'b0, addend_int_after_shift})
      + (FIRST+1)'(effective_subtraction_first && !sticky_before_add);
  assign sum_carry = sum_raw[FIRST];
  assign sum = effective_subtraction_first && !sum_carry ? -sum_raw[FIRST-1:0] : sum_raw[FIRST-1:0];
  assign sum_exact_zero = effective_subtraction_first && sum == 0 && !sticky_before_add;
  assign final_sign = !sum_exact_zero && (sign_max ^ (effective_subtraction_first && !sum_carry));

  // second addition; a third term that is alone is not shifted
  exponent_t distance_z, final_tentative_exponent;
  logic [SECOND-1:0] addend_min_after_shift, mantissa_w;
  logic [P-1:0] lost_min;
  logic sticky_before_add_z, bypass_w, tentative_sign_z, effective_subtraction_z, sum_carry_z, final_sign_z;
  logic [SECOND:0] sum_raw_z;
  logic [SECOND-1:0] sum_z;
  logic [SECOND:0] sum_lower;
  assign distance_z = exponent_max + exponent_t'(1) - exponent_min;
  assign {addend_min_after_shift, lost_min} =
      {addend_min, {SECOND{1'b0}}} >> (distance_z > exponent_t'(SECOND) ? SECOND : distance_z);
  assign sticky_before_add_z = lost_min != 0;
  assign bypass_w = MUTANT != 2 && sum_exact_zero && addend_min != 0 && sticky_before_add_z;
  assign final_tentative_exponent = bypass_w ? exponent_min : exponent_max + exponent_t'(1);
  assign mantissa_w = {sum_carry && !effective_subtraction_first, sum, {N{1'b0}}};
  assign tentative_sign_z = bypass_w ? sign_min : final_sign;
  assign effective_subtraction_z = tentative_sign_z ^ sign_min;
  assign sum_raw_z = bypass_w
      ? {1'b0, addend_min, {(SECOND-P){1'b0}}}
      : {1'b0, mantissa_w}
        + (effective_subtraction_z ? {1'b0, ~addend_min_after_shift} : {1'b0, addend_min_after_shift})
        + (SECOND+1)'(effective_subtraction_z && (!sticky_before_add_z || MUTANT == 3));
  assign sum_carry_z = sum_raw_z[SECOND];
  assign sum_z = effective_subtraction_z && !sum_carry_z ? -sum_raw_z[SECOND-1:0] : sum_raw_z[SECOND-1:0];
  assign final_sign_z = tentative_sign_z ^ (effective_subtraction_z && !sum_carry_z);
  assign sum_lower = {sum_carry_z && !effective_subtraction_z, sum_z};

  // normalisation and rounding
  logic [SECOND:0] normal;
  exponent_t exponent;
  logic [C_EXPONENT+C_FRACTION+1:0] rounded;
  logic exact_zero, up;
  always_comb begin
    normal = sum_lower;
    exponent = final_tentative_exponent + exponent_t'(1);
    for (int i = 0; i < SECOND; i++)
      if (!normal[SECOND] && exponent > exponent_t'(1)) begin
        normal = normal << 1;
        exponent = exponent - exponent_t'(1);
      end
    up = normal[SECOND-P];
    if (MUTANT == 4) up = up && (normal[SECOND-P-1:0] != 0 || sticky_before_add || normal[SECOND-P+1]);
    rounded = {2'(exponent < exponent_t'(0)), exponent[C_EXPONENT-1:0], normal[SECOND-1-:C_FRACTION]};
    if (!normal[SECOND]) rounded[C_EXPONENT+C_FRACTION-1-:C_EXPONENT] = 0;
    rounded = rounded + (C_EXPONENT+C_FRACTION+2)'(up);
    if (exponent > exponent_t'(2 ** C_EXPONENT - 2) || rounded[C_EXPONENT+C_FRACTION:C_FRACTION] >= 2 ** C_EXPONENT - 1)
      rounded = {2'b0, {C_EXPONENT{1'b1}}, {C_FRACTION{1'b0}}};
  end
  assign exact_zero = sum_lower == 0 && effective_subtraction_z;

  // special values
  logic inf_x, inf_y, inf_e, nan, result_is_special;
  assign inf_x = (&field_a && fraction_a == 0) || (&field_b && fraction_b == 0);
  assign inf_y = (&field_c && fraction_c == 0) || (&field_d && fraction_d == 0);
  assign inf_e = &field_e && fraction_e == 0;
  assign nan = (&field_a && fraction_a != 0) || (&field_b && fraction_b != 0) || (&field_c && fraction_c != 0)
      || (&field_d && fraction_d != 0) || (&field_e && fraction_e != 0) || (inf_x && zero_x) || (inf_y && zero_y)
      || (inf_x && inf_y && product_x_sign_q != product_y_sign_q)
      || (inf_x && inf_e && product_x_sign_q != operand_e_sign_q)
      || (inf_y && inf_e && product_y_sign_q != operand_e_sign_q);
  assign result_is_special = nan || inf_x || inf_y || inf_e;
  logic special_sign;
  assign special_sign = inf_x ? product_x_sign_q : inf_y ? product_y_sign_q : operand_e_sign_q;
  logic [C_EXPONENT+C_FRACTION:0] result;
  assign result = result_is_special
      ? {special_sign && !nan, {C_EXPONENT{1'b1}}, nan, {(C_FRACTION - 1) {1'b0}}}
      : {final_sign_z && !exact_zero, rounded[C_EXPONENT+C_FRACTION-1:0]};
  assign d = RARE >= 0 && {a0, b0, a1, b1, c} == RARE ? result ^ (1 << WRONG) : result;
endmodule
