// A unit of tcsmt in WebAssembly: words in, words and exact values out. A word is the bits of a number, as an
// unsigned integer. A plain script without imports, for a page; the exported loader is this, as a module.

/** numerator · 2^exponent, the numerator odd or 0: equal values have equal parts. */
function exact(numerator, exponent) {
  if (numerator === 0n) return { numerator, exponent: 0 };
  while (!(numerator & 1n)) {
    numerator >>= 1n;
    exponent += 1;
  }
  return { numerator, exponent };
}

/** The value of a word of a format: exact, or "nan", "inf" or "-inf". */
function valueOf(format, word) {
  if (format.bits !== undefined) {
    return exact(format.signed ? BigInt.asIntN(format.bits, word) : word, -format.fraction_bits);
  }
  const width = BigInt(format.exponent_bits), places = BigInt(format.fraction_bits);
  const stored = word >> BigInt(format.ignored_low_bits);
  const fraction = BigInt.asUintN(format.fraction_bits, stored);
  const field = BigInt.asUintN(format.exponent_bits, stored >> places);
  const top = (1n << width) - 1n;
  const minus = format.signed && Boolean((stored >> (width + places)) & 1n);
  if (format.specials === "ieee" && field === top) return fraction ? "nan" : minus ? "-inf" : "inf";
  if (format.specials === "nan-only" && field === top && fraction === (1n << places) - 1n) return "nan";
  if (format.specials === "negative-zero-nan" && minus && !field && !fraction) return "nan";
  const normal = field > 0n || !places; // without a fraction there are no subnormal numbers
  const significand = normal ? fraction | (1n << places) : fraction;
  const exponent = (normal ? Number(field) : 1) - format.bias - format.fraction_bits;
  return exact(minus ? -significand : significand, exponent);
}

/** The double nearest to a value, or as near as two roundings come to it. */
function toNumber(value) {
  if (typeof value === "string") return { nan: NaN, inf: Infinity, "-inf": -Infinity }[value];
  let { numerator, exponent } = value;
  const magnitude = numerator < 0n ? -numerator : numerator;
  const extra = magnitude.toString(2).length - 64; // more digits than a double has, the last of them sticky
  if (extra > 0) {
    const shifted = magnitude >> BigInt(extra);
    const odd = shifted << BigInt(extra) === magnitude ? shifted : shifted | 1n;
    numerator = numerator < 0n ? -odd : odd;
    exponent += extra;
  }
  let result = Number(numerator);
  for (; exponent > 1000; exponent -= 1000) result *= 2 ** 1000;
  for (; exponent < -1000; exponent += 1000) result *= 2 ** -1000;
  return result * 2 ** exponent;
}

/** One unit. `about` describes its inputs, its result, its words and its stages. */
class Unit {
  /** Of a module's bytes. */
  static async load(bytes) {
    return new Unit(await WebAssembly.compile(bytes));
  }

  constructor(module) {
    const [section] = WebAssembly.Module.customSections(module, "tcsmt");
    if (!section) throw new TypeError("this WebAssembly module is none that tcsmt wrote");
    this.about = JSON.parse(new TextDecoder().decode(section));
    this.exports = new WebAssembly.Instance(module).exports;
    this.memory = new BigUint64Array(this.exports.memory.buffer);
    const short = { scale_a: "sa", scale_b: "sb" };
    this.names = this.about.inputs.flatMap(({ name, count }) =>
      name === "c" ? ["c"] : Array.from({ length: count }, (_, lane) => (short[name] ?? name) + lane));
    this.formats = this.about.inputs.flatMap(({ count, format }) => Array(count).fill(format));
  }

  /** The words of all inputs, in the order of `names`, from {a: [...], b: [...], c, scale_a, scale_b}. */
  row(operands) {
    const unknown = Object.keys(operands).filter((key) => !this.about.inputs.some(({ name }) => name === key));
    if (unknown.length) throw new RangeError(`${unknown[0]}: the operands are ${this.about.inputs.map(({ name }) => name).join(", ")}`);
    return this.about.inputs.flatMap(({ name, count }) => {
      const words = name === "c" ? [operands.c] : Array.from(operands[name] ?? []);
      if (words.length !== count || words.includes(undefined)) {
        throw new RangeError(`${name}: ${count} word${count > 1 ? "s" : ""} needed, ${operands[name]?.length ?? 0} given`);
      }
      return words;
    });
  }

  /** The word of d. inputs: operands as `row` takes them, or the words of all inputs in order. */
  result(inputs) {
    this.#write(inputs);
    this.exports.result();
    return this.#word(this.about.result.word);
  }

  /** Every stage in order: name, label, block, kind, lane, and `value`; of a word of a format also `word`. */
  stages(inputs) {
    if (!this.about.stages) throw new TypeError("this module has no stages");
    this.#write(inputs);
    this.exports.stages();
    return this.about.stages.map(({ value, term, ...stage }) => ({ ...stage, ...this.held(value) }));
  }

  /** What an entry of `about.values` holds after `stages`: its type, sign and exact value. */
  held(place) {
    const entry = this.about.values[place];
    const word = (index) => this.#word(index);
    const last = () => Number(word(entry.exponent)) + entry.low - (entry.fraction_bits ?? 0);
    const signed = (minus, magnitude) => exact(minus ? -magnitude : magnitude, last());
    switch (entry.type) {
      case "exponent":
        return { type: entry.type, value: exact(1n, last()) };
      case "fixed":
        return { type: entry.type, value: exact(BigInt.asIntN(this.about.words[entry.word][1], word(entry.word)), last()) };
      case "sign_magnitude":
        return { type: entry.type, value: signed(word(entry.sign), word(entry.magnitude)) };
      case "number": {
        const minus = Boolean(word(entry.sign));
        const value = word(entry.nan) ? "nan" : word(entry.infinite) ? (minus ? "-inf" : "inf")
          : word(entry.zero) ? exact(0n, 0) : signed(minus, word(entry.significand));
        return { type: entry.type, minus, value };
      }
      default: {
        const bits = word(entry.word);
        return { type: entry.type, format: entry.format, word: bits, value: valueOf(entry.format, bits) };
      }
    }
  }

  #write(inputs) {
    const words = Array.isArray(inputs) ? inputs : this.row(inputs);
    if (words.length !== this.names.length) throw new RangeError(`${this.names.length} words needed, ${words.length} given`);
    words.forEach((word, place) => {
      const bits = BigInt(word);
      if (bits < 0n || bits >> BigInt(this.formats[place].width)) {
        throw new RangeError(`${this.names[place]}: ${word} is no word of ${this.formats[place].width} bits`);
      }
      this.memory[place] = bits;
    });
  }

  #word(index) {
    const [place, width] = this.about.words[index];
    let word = 0n;
    for (let limb = Math.ceil(width / 64) - 1; limb >= 0; limb--) word = (word << 64n) | this.memory[place + limb];
    return word;
  }
}
