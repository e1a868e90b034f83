// Words of formats as people write and read them. A value is numerator · 2^exponent, as in unit.js: all of
// this is exact. The rules are those of `tcsmt explain --vector`.

/** Longer exact values have a hexadecimal significand. */
const LONGEST_DECIMAL = 22;
/** A larger exponent in a text is refused before it becomes an integer of that size. */
const LARGEST_EXPONENT = 5000;

const ones = (bits) => (1n << BigInt(bits)) - 1n;
const magnitude = (integer) => (integer < 0n ? -integer : integer);
const bitLength = (natural) => (natural ? natural.toString(2).length : 0);
const isZero = (value) => typeof value !== "string" && !value.numerator;
const isInteger = (format) => format.bits !== undefined;
const hexDigits = (format) => Math.ceil(format.width / 4);
const hexWord = (format, word) => "0x" + word.toString(16).padStart(hexDigits(format), "0");

/** The exponent of the leading bit of a value that is not 0. */
const leading = (value) => bitLength(magnitude(value.numerator)) - 1 + value.exponent;

function sameValue(x, y) {
  if (typeof x === "string" || typeof y === "string") return x === y;
  return x.numerator === y.numerator && x.exponent === y.exponent;
}

function plus(x, y) {
  const low = Math.min(x.exponent, y.exponent);
  const shifted = (value) => value.numerator << BigInt(value.exponent - low);
  return exact(shifted(x) + shifted(y), low);
}

const minus = (x, y) => plus(x, { numerator: -y.numerator, exponent: y.exponent });
const times = (x, y) => exact(x.numerator * y.numerator, x.exponent + y.exponent);
const ZERO = exact(0n, 0);

/** -1.25·2^-3 */
function powerText(value) {
  if (!value.numerator) return "0";
  const sign = value.numerator < 0n ? "-" : "";
  const significand = magnitude(value.numerator);
  const digits = bitLength(significand) - 1,
    power = leading(value);
  const tail = power ? `·2^${power}` : "";
  if (!digits) return sign + (power ? `2^${power}` : "1");
  const scaled = ((significand * 10n ** BigInt(digits)) >> BigInt(digits)).toString();
  return `${sign}${scaled[0]}.${scaled.slice(1)}${tail}`;
}

/** The exact value, with a hexadecimal significand where the decimal one is long. */
function shortText(value) {
  if (typeof value === "string") return value;
  const text = powerText(value);
  if (text.length <= LONGEST_DECIMAL) return text;
  const bits = bitLength(magnitude(value.numerator)) - 1;
  const digits = Math.ceil(bits / 4),
    power = leading(value);
  const fraction = (magnitude(value.numerator) & ones(bits)) << BigInt(4 * digits - bits);
  return `${value.numerator < 0n ? "-" : ""}0x1.${fraction.toString(16).padStart(digits, "0")}p${power < 0 ? "" : "+"}${power}`;
}

/** All decimal digits, for integers and fixed-point numbers. */
function decimalText(value) {
  if (value.exponent >= 0) return (value.numerator << BigInt(value.exponent)).toString();
  const places = BigInt(-value.exponent),
    whole = magnitude(value.numerator) >> places;
  const rest = ((magnitude(value.numerator) & ones(places)) * 10n ** places) >> places;
  return `${value.numerator < 0n ? "-" : ""}${whole}.${rest.toString().padStart(Number(places), "0")}`;
}

/** Sign, exponent field and fraction of a word of a floating-point format. */
function fieldsOf(format, word) {
  const stored = word >> BigInt(format.ignored_low_bits);
  return {
    sign: format.signed ? Number((word >> BigInt(format.width - 1)) & 1n) : 0,
    field: Number((stored >> BigInt(format.fraction_bits)) & ones(format.exponent_bits)),
    fraction: stored & ones(format.fraction_bits),
  };
}

/** A word's value as people write it: 1.25·2^-3, -0, inf, nan. */
function describe(format, word) {
  const value = valueOf(format, word);
  if (typeof value === "string") return value;
  if (isInteger(format)) return decimalText(value);
  return value.numerator ? powerText(value) : fieldsOf(format, word).sign ? "-0" : "0";
}

/** A text that reads back as the word: short digits, else a hexadecimal number; of other NaNs the word. */
function editText(format, word) {
  const value = valueOf(format, word);
  if (typeof value === "string")
    return word === specialWord(format, "nan") || value !== "nan" ? value : hexWord(format, word);
  if (
    !isInteger(format) &&
    word &
      (ones(format.ignored_low_bits) |
        (ones(format.ignored_high_bits) << BigInt(format.width - format.ignored_high_bits)))
  )
    return hexWord(format, word);
  if (isZero(value)) return describe(format, word);
  const text = decimalText(value);
  if (isInteger(format) || text.length <= 10)
    return !isInteger(format) &&
      text.length > 1 &&
      text.length === hexDigits(format) &&
      /^[0-9a-f]+$/.test(text)
      ? `+${text}`
      : text;
  const bits = bitLength(magnitude(value.numerator)) - 1,
    digits = Math.ceil(bits / 4);
  const fraction = ((magnitude(value.numerator) & ones(bits)) << BigInt(4 * digits - bits))
    .toString(16)
    .padStart(digits, "0");
  return `${value.numerator < 0n ? "-" : ""}0x1${digits ? "." + fraction : ""}p${leading(value)}`;
}

/** What the ends of a format are, as in its tables. */
const hasSubnormals = (format) => format.fraction_bits > 0;
const smallestExponent = (format) => (hasSubnormals(format) ? 1 : 0) - format.bias;
const hasNegativeZero = (format) =>
  !isInteger(format) && format.signed && format.specials !== "negative-zero-nan";

function largestField(format) {
  const top = 2 ** format.exponent_bits - 1;
  const whole = format.specials === "ieee" || !hasSubnormals(format);
  return whole && format.specials !== "none" ? top - 1 : top;
}

function largestFiniteWord(format) {
  if (isInteger(format)) return ones(format.bits - (format.signed ? 1 : 0));
  const word = (BigInt(largestField(format)) << BigInt(format.fraction_bits)) | ones(format.fraction_bits);
  const less = format.specials === "nan-only" && hasSubnormals(format) ? 1n : 0n;
  return (word - less) << BigInt(format.ignored_low_bits);
}

/** The word of infinity, or of the NaN that IEEE 754 prefers; undefined where the format has none. */
function specialWord(format, name) {
  if (isInteger(format)) return undefined;
  const low = BigInt(format.ignored_low_bits),
    places = BigInt(format.fraction_bits);
  const field = ones(format.exponent_bits) << places;
  if (name === "inf") return format.specials === "ieee" ? field << low : undefined;
  switch (format.specials) {
    case "ieee":
      return (field | (1n << (places - 1n))) << low;
    case "nan-only":
      return (field | ones(places)) << low;
    case "negative-zero-nan":
      return 1n << BigInt(format.width - 1);
    default:
      return undefined;
  }
}

/** What an input that is not named holds: 0, or 1 where it is a block scale. */
function neutralWord(name, format) {
  return /^s[ab]\d/.test(name) && !isInteger(format)
    ? BigInt(format.bias) << BigInt(format.fraction_bits + format.ignored_low_bits)
    : 0n;
}

/**
 * The nearest word of ±over/under, the even one of two, and whether it is exact. Throws where the format
 * ends.
 */
function nearestWord(format, negative, over, under) {
  const beyond = () =>
    new RangeError(
      `${format.name} has no such value: its largest is ${describe(format, largestFiniteWord(format))}`,
    );
  if (negative && !over && !hasNegativeZero(format)) throw new RangeError(`${format.name} has no -0`);
  if (isInteger(format)) {
    const scaled = over << BigInt(format.fraction_bits);
    let count = scaled / under;
    const twice = 2n * (scaled % under);
    if (twice > under || (twice === under && count & 1n)) count += 1n;
    const signed = negative ? -count : count;
    const low = format.signed ? -(1n << BigInt(format.bits - 1)) : 0n;
    if (signed < low || signed > largestFiniteWord(format)) throw beyond();
    return { word: BigInt.asUintN(format.bits, signed), isExact: scaled % under === 0n };
  }
  const minusSign = (word) => (negative ? word | (1n << BigInt(format.width - 1)) : word);
  if (!over) {
    if (!hasSubnormals(format)) throw new RangeError(`${format.name} has no zero`);
    return { word: negative ? minusSign(0n) : 0n, isExact: true };
  }
  let exponent = bitLength(over) - bitLength(under);
  const below = exponent < 0 ? over << BigInt(-exponent) < under : over < under << BigInt(exponent);
  if (below) exponent -= 1;
  exponent = Math.max(exponent, smallestExponent(format));
  const last = exponent - format.fraction_bits;
  const top = last < 0 ? over << BigInt(-last) : over,
    bottom = last > 0 ? under << BigInt(last) : under;
  let significand = top / bottom;
  const twice = 2n * (top % bottom);
  const isOdd = format.fraction_bits ? significand & 1n : BigInt(exponent + format.bias) & 1n; // of the word
  if (twice > bottom || (twice === bottom && isOdd)) significand += 1n;
  const places = BigInt(format.fraction_bits);
  if (significand >> (places + 1n)) {
    significand >>= 1n;
    exponent += 1;
  }
  if (!significand && !hasSubnormals(format)) throw new RangeError(`${format.name} has no such small value`);
  if (significand && negative && !format.signed)
    throw new RangeError(`${format.name} has no negative values`);
  const normal = significand >> places || !hasSubnormals(format);
  const field = BigInt(normal ? exponent + format.bias : 0);
  const word = ((field << places) | (significand & ones(places))) << BigInt(format.ignored_low_bits);
  if (word > largestFiniteWord(format)) throw beyond();
  if (!significand && negative && !hasNegativeZero(format)) return { word: 0n, isExact: false };
  return { word: minusSign(word), isExact: twice === 0n };
}

/** A longer text is no number: it would take seconds. */
const LONGEST = 4000;

/**
 * A decimal number, a ratio (1/3), a C99 hexadecimal number, or 1.5·2^-3, as a sign and a fraction; undefined
 * where it is none. The grammar is that of docs/reference/formats.md, as tcsmt's `to_word` reads it.
 */
function readNumber(text) {
  if (text.length > LONGEST) return undefined;
  const ratio = /^([+-]?)([0-9]+)\/([0-9]+)$/.exec(text);
  if (ratio) {
    const under = BigInt(ratio[3]);
    return under ? { negative: ratio[1] === "-", over: BigInt(ratio[2]), under } : undefined;
  }
  const written = /^([+-]?)(?:([0-9]+\.?[0-9]*)[·*])?2\^([+-]?[0-9]+)$/.exec(text);
  if (written) {
    const number = readNumber(`${written[1]}${written[2] ?? "1"}`),
      shift = Number(written[3]);
    if (Math.abs(shift) > LARGEST_EXPONENT) return undefined;
    return {
      ...number,
      over: number.over << BigInt(Math.max(shift, 0)),
      under: number.under << BigInt(Math.max(-shift, 0)),
    };
  }
  const parts = /^([+-]?)(?:0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?|(\d*)\.?(\d*)(?:e([+-]?\d+))?)$/.exec(
    text,
  );
  if (!parts) return undefined;
  const [, sign, hexWhole, hexRest, two, whole = "", rest = "", ten] = parts;
  const digits = hexWhole === undefined ? whole + rest : hexWhole + hexRest;
  if (hexWhole !== undefined && two === undefined && !text.includes(".")) return undefined; // a word has no sign
  const exponent = Number(two ?? ten ?? 0);
  if (!digits || Math.abs(exponent) > LARGEST_EXPONENT) return undefined;
  const base = hexWhole === undefined ? 10n : 2n;
  const power = BigInt(hexWhole === undefined ? exponent - rest.length : exponent - 4 * hexRest.length);
  const integer = BigInt((hexWhole === undefined ? "" : "0x") + digits);
  return {
    negative: sign === "-",
    over: power > 0n ? integer * base ** power : integer,
    under: power < 0n ? base ** -power : 1n,
  };
}

/**
 * The word that a text stands for: a hexadecimal word with all digits of the format (0x3c00), a decimal
 * number, a C99 hexadecimal number (0x1.8p-3), inf or nan. Returns the word, and a note where a number was
 * rounded. Throws a RangeError that says what is allowed.
 */
function readWord(format, text) {
  const content = text.trim().replaceAll("\u2212", "-"),
    lower = content.toLowerCase();
  const digits = hexDigits(format);
  const isBare = !isInteger(format) && digits > 1 && lower.length === digits && /^[0-9a-f]+$/.test(lower);
  if (isBare || /^0x[0-9a-f]+$/.test(lower)) {
    const given = lower.replace(/^0x/, "");
    if (given.length !== digits)
      throw new RangeError(
        `${content} has ${given.length} hexadecimal digits: a word of ${format.name} has ${digits}`,
      );
    const word = BigInt("0x" + given);
    if (word >> BigInt(format.width))
      throw new RangeError(`a word of ${format.name} has ${format.width} bits`);
    if (isBare && /^[0-9]+(e[0-9]+)?$/.test(lower)) {
      const number = readNumber(lower);
      const same = number && sameValue(valueOf(format, word), exact(number.over, 0)) && number.under === 1n;
      if (!same) throw new RangeError(`write +${content} for the number, 0x${content} for the word`);
    }
    return { word, note: "" };
  }
  const [, sign, name] = /^([+-]?)(inf|infinity|nan)$/.exec(lower) ?? [];
  if (name) {
    const word = specialWord(format, name === "nan" ? "nan" : "inf");
    if (word === undefined)
      throw new RangeError(`${format.name} has no ${name === "nan" ? "NaN" : "infinity"}`);
    return {
      word: sign === "-" && name !== "nan" ? word | (1n << BigInt(format.width - 1)) : word,
      note: "",
    };
  }
  const number = readNumber(lower);
  if (!number)
    throw new RangeError(
      `not a number: write 1.5, 0x1.8p-3, inf, nan, or a word of ${digits} hexadecimal digits`,
    );
  const { word, isExact } = nearestWord(format, number.negative, number.over, number.under);
  if (isExact) return { word, note: "" };
  const became = `${hexWord(format, word)} (${describe(format, word)})`;
  if (lower.includes("x")) throw new RangeError(`not exact in ${format.name}; the nearest is ${became}`);
  return { word, note: `rounded to the nearest ${format.name} value` };
}

/** The exact dot product plus c; null where an input is not finite. unit: its names, formats and about.k. */
function exactSum(unit, words) {
  const values = new Map(unit.names.map((name, index) => [name, valueOf(unit.formats[index], words[index])]));
  if ([...values.values()].some((value) => typeof value === "string")) return null;
  const k = unit.about.k,
    scales = unit.names.filter((name) => name.startsWith("sa")).length;
  let sum = values.get("c");
  for (let lane = 0; lane < k; lane++) {
    let product = times(values.get(`a${lane}`), values.get(`b${lane}`));
    if (scales) {
      const block = Math.floor((lane * scales) / k);
      product = times(product, times(values.get(`sa${block}`), values.get(`sb${block}`)));
    }
    sum = plus(sum, product);
  }
  return sum;
}
