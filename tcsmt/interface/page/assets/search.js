// A directed search for inputs, as in the comparison of two models: random words almost never reach a
// boundary of the arithmetic. These rows do: few lanes or all alike, exponents that meet or lie at the ends
// of a format, significands that are all ones, one bit, or short; ties; products that cancel.

/** Random numbers that a seed determines (xorshift). */
class Random {
  constructor(seed) {
    this.state = Math.imul(seed, 2654435761) >>> 0 || 1;
  }

  bits() {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (this.state = x >>> 0);
  }

  /** An integer from 0, below `count`. */
  below(count) {
    return Math.floor((this.bits() / 4294967296) * count);
  }

  chance(probability) {
    return this.bits() < probability * 4294967296;
  }

  of(choices) {
    return choices[this.below(choices.length)];
  }

  /** An integer of so many random bits. */
  word(bits) {
    return BigInt.asUintN(bits, (BigInt(this.bits()) << 32n) | BigInt(this.bits()));
  }
}

/** Rows for units that take these inputs. */
class Rows {
  constructor(names, formats, random) {
    this.names = names;
    this.formats = formats;
    this.random = random;
    this.k = names.filter((name) => /^a\d+$/.test(name)).length;
    this.blocks = names.filter((name) => /^sa\d+$/.test(name)).length;
    this.places = names.map((name) => {
      const [, operand, lane] = /^(\D+)(\d*)$/.exec(name);
      return { operand, lane: Number(lane || 0) };
    });
    this.middles = new Map();
  }

  /**
   * The next row of words: of 32, in one an input is any word, so that some are NaNs and infinities; in three c is
   * about what the products cancel; in two a product cancels another one.
   */
  next() {
    const row = this.blocks > 1 && this.random.chance(0.3) ? this.cancelling() : this.directed();
    const kind = this.random.below(32);
    if (kind === 0) this.putSpecial(row);
    else if (kind < 4) this.cancelWithC(row);
    else if (kind < 6) this.cancelProduct(row);
    return row;
  }

  putSpecial(row) {
    const { random } = this;
    const place = random.below(row.length);
    const format = this.formats[place];
    const infinity = specialWord(format, "inf");
    row[place] =
      infinity !== undefined && random.chance(0.5)
        ? infinity | (this.fraction(format.fraction_bits) << BigInt(format.ignored_low_bits))
        : random.word(format.width);
  }

  /** c becomes the nearest to the negated sum of the products, or a neighbour of it. */
  cancelWithC(row) {
    const place = this.names.indexOf("c");
    const format = this.formats[place];
    row[place] = 0n;
    const sum = exactSum({ names: this.names, formats: this.formats, about: { k: this.k } }, row);
    if (sum === null || isZero(sum)) return;
    const shifted = (power) => 1n << BigInt(Math.max(power, 0));
    const over = magnitude(sum.numerator) * shifted(sum.exponent);
    try {
      const { word } = nearestWord(format, sum.numerator > 0n, over, shifted(-sum.exponent));
      const step =
        BigInt(this.random.below(3) - 1) << BigInt(isInteger(format) ? 0 : format.ignored_low_bits);
      row[place] = BigInt.asUintN(format.width, word + step);
    } catch {
      // the format ends before
    }
  }

  /** The product of one lane becomes that of the lane before, with the other sign. */
  cancelProduct(row) {
    const lane = 1 + this.random.below(this.k - 1);
    const [a, b, before, factor] = [`a${lane}`, `b${lane}`, `a${lane - 1}`, `b${lane - 1}`].map((name) =>
      this.names.indexOf(name),
    );
    if (before < 0 || a < 0 || isInteger(this.formats[b]) || !this.formats[b].signed) return;
    row[a] = row[before];
    row[b] = row[factor] ^ (1n << BigInt(this.formats[b].width - 1));
  }

  directed() {
    const { random, k } = this;
    const kept = Math.min(random.of([1, 2, 3, 4, k, k]), k),
      shift = random.chance(0.5) ? random.below(k) : 0;
    const centre = random.chance(0.5) ? 0.5 : random.bits() / 4294967296;
    const spread = random.of([0, 1, 3, 8, 30, 300]),
      unsigned = random.chance(0.4),
      alike = random.chance(0.3);
    const first = {};
    return this.places.map(({ operand, lane }, index) => {
      const format = this.formats[index];
      if ((operand === "a" || operand === "b") && (lane - shift + k) % k >= kept) return 0n;
      if (operand === "c" && random.chance(0.25)) return 0n;
      if (alike && operand in first) return first[operand];
      const word = isInteger(format)
        ? this.integer(format, unsigned)
        : this.float(format, centre, spread, unsigned);
      if (operand === "a" || operand === "b") first[operand] ??= word;
      return word;
    });
  }

  float(format, centre, spread, unsigned) {
    const { random } = this,
      top = largestField(format);
    const middle = centre === 0.5 ? format.bias : Math.round(centre * top);
    const field = Math.min(Math.max(middle + random.below(2 * spread + 1) - spread, 0), top);
    const sign = format.signed && !unsigned && random.chance(0.5);
    return floatWord(format, sign, field, this.fraction(format.fraction_bits));
  }

  fraction(bits) {
    if (!bits) return 0n;
    const { random } = this,
      place = BigInt(random.below(bits));
    switch (random.below(6)) {
      case 0:
        return 0n;
      case 1:
        return ones(bits);
      case 2:
        return 1n << place;
      case 3:
        return ones(bits) ^ (1n << place);
      case 4:
        return random.word(bits);
      default:
        return (random.word(bits) >> place) << place;
    }
  }

  integer(format, unsigned) {
    const { random } = this,
      bits = format.bits;
    const low = format.signed ? 1n << BigInt(bits - 1) : 0n,
      high = ones(bits - (format.signed ? 1 : 0));
    const power = 1n << BigInt(random.below(bits - (format.signed ? 1 : 0)));
    const word = random.of([
      low,
      high,
      low + 1n,
      high - 1n,
      power,
      power - 1n,
      random.word(bits),
      random.word(bits) & (power - 1n),
    ]);
    return BigInt.asUintN(bits, format.signed && !unsigned && random.chance(0.3) ? -word : word);
  }

  /** Block scales: one block has two products that cancel, or one; the scales of the others are far below. */
  cancelling() {
    const { random, k, blocks } = this,
      size = k / blocks,
      own = random.below(blocks);
    const start = own * size,
      first = start + random.below(size);
    const second = start + ((first - start + 1 + random.below(Math.max(size - 1, 1))) % size);
    const factor = { a: 1n + random.word(16), b: 1n + random.word(16) };
    const share = random.of([0.05, 0.25, 1]),
      alone = random.chance(0.5),
      where = random.below(3),
      centre = random.bits() / 4294967296;
    return this.places.map(({ operand, lane }, index) => {
      const format = this.formats[index];
      if (operand === "c") return random.chance(0.5) ? 0n : random.word(format.width);
      if (operand === "sa" || operand === "sb") {
        const large = largestField(format);
        const top = [
          large - random.below(3),
          Math.round(centre * large),
          format.bias - 74 + random.below(12) - 4,
        ][where];
        const field = lane === own ? top : top - 8 - random.below(16);
        return floatWord(
          format,
          false,
          Math.min(Math.max(field, 0), large),
          random.word(format.fraction_bits),
        );
      }
      const word = BigInt.asUintN(format.width, factor[operand]);
      if (lane === first) return alone ? 0n : word;
      if (lane === second) return operand === "b" ? word ^ (1n << BigInt(format.width - 1)) : word;
      return Math.floor(lane / size) === own || random.chance(1 - share) ? 0n : random.word(format.width);
    });
  }

  /**
   * Rows on which two sums differ that keep other bits: a tie of c's format and a smaller product beside it,
   * with c zero, and with c a power of two.
   */
  *ties() {
    const at = (name) => this.names.indexOf(name),
      named = ["a0", "b0", "a1", "b1", "c"].map(at);
    const formats = named.map((index) => this.formats[index]);
    if (
      formats.some((format) => !format || isInteger(format)) ||
      formats.slice(0, 4).some((format) => !format.signed)
    )
      return;
    const [a0, b0, a1, b1, c] = formats;
    const scales = this.names.map((name, index) => neutralWord(name, this.formats[index]));
    const row = (words, negative) => {
      const full = [...scales];
      words.forEach((word, index) => {
        full[named[index]] = word;
      });
      if (negative) full[named[2]] |= 1n << BigInt(a1.width - 1);
      return full;
    };
    const least = smallestPower(c),
      small = smallestPower(a1) + smallestPower(b1);
    const half = productOf(a0, b0, least - 1);
    for (let power = small; half && power < least - 1; power++) {
      const added = productOf(a1, b1, power);
      for (const negative of added ? [false, true] : []) yield row([...half, ...added, 0n], negative);
    }
    const below = c.fraction_bits + 2;
    const low = Math.max(smallestExponent(c) + 2, smallestPower(a0) + smallestPower(b0) + below);
    const high = Math.min(
      largestField(c) - c.bias,
      largestField(a0) - a0.bias + largestField(b0) - b0.bias + below,
    );
    const step = Math.max(1, Math.ceil((high - low + 1) / 8));
    for (let exponent = low; exponent <= high; exponent += step) {
      const place = exponent - below;
      for (const [thrice, power, down] of [
        [false, place, true],
        [true, place, true],
        [false, place + 1, false],
        [true, place + 1, false],
      ]) {
        const tie = thrice ? productOf(a0, b0, power + 1) : productOf(a0, b0, power);
        if (!tie || (thrice && !a0.fraction_bits)) continue;
        if (thrice) tie[0] |= 1n << BigInt(a0.fraction_bits - 1 + a0.ignored_low_bits);
        if (down) tie[0] |= 1n << BigInt(a0.width - 1);
        for (let added = Math.max(place - 40, small); added < place; added++) {
          const other = productOf(a1, b1, added);
          for (const negative of other ? [false, true] : [])
            yield row([...tie, ...other, powerWord(c, exponent)], negative);
        }
      }
    }
  }
}

function floatWord(format, sign, field, fraction) {
  const stored =
    ((BigInt(field) << BigInt(format.fraction_bits)) | fraction) << BigInt(format.ignored_low_bits);
  return sign ? stored | (1n << BigInt(format.width - 1)) : stored;
}

/** The exponent of the smallest positive number. */
const smallestPower = (format) => smallestExponent(format) - format.fraction_bits;

function powerWord(format, exponent) {
  if (exponent < smallestExponent(format))
    return floatWord(format, false, 0, 1n << BigInt(exponent - smallestPower(format)));
  return floatWord(format, false, exponent + format.bias, 0n);
}

/**
 * Powers of two whose product is 2^power, about as large, as words; null where the formats have none such.
 */
function productOf(a, b, power) {
  const clip = (format, exponent) =>
    Math.min(Math.max(exponent, smallestPower(format)), largestField(format) - format.bias);
  const first = clip(a, power - clip(b, power - Math.floor(power / 2)));
  const second = power - first;
  return second === clip(b, second) ? [powerWord(a, first), powerWord(b, second)] : null;
}

/** What makes an input long: non-zero lanes, significand bits, exponents far from 0, signs. */
function wordCost(format, word) {
  if (isInteger(format)) {
    const value = format.signed ? BigInt.asIntN(format.bits, word) : word;
    return [value ? 1 : 0, bitLength(magnitude(value)), 0, value < 0n ? 1 : 0];
  }
  const { sign, field, fraction } = fieldsOf(format, word);
  const unread =
    word &
    (ones(format.ignored_low_bits) |
      (ones(format.ignored_high_bits) << BigInt(format.width - format.ignored_high_bits)));
  const signs = sign + bitLength(unread);
  if (!field && !fraction && format.signed) return [0, 0, 0, signs];
  let bits = 0;
  if (fraction) {
    bits = format.fraction_bits;
    for (let rest = fraction; !(rest & 1n); rest >>= 1n) bits -= 1;
  }
  return [format.signed ? 1 : 0, bits, Math.abs(field - format.bias) * (format.signed ? 1 : 3), signs];
}

const isLess = (x, y) => {
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return x[i] < y[i];
  return false;
};

function* simplerWords(format, word) {
  if (isInteger(format)) {
    const value = format.signed ? BigInt.asIntN(format.bits, word) : word;
    for (const simpler of [value < 0n ? -value : 1n, 1n, value / 2n, value / 16n])
      yield BigInt.asUintN(format.bits, simpler);
    for (let bit = 0n; bit < BigInt(format.bits); bit++) if ((word >> bit) & 1n) yield word ^ (1n << bit);
    return;
  }
  const { sign, fraction } = fieldsOf(format, word),
    low = BigInt(format.ignored_low_bits);
  if (sign) yield word ^ (1n << BigInt(format.width - 1));
  yield ((word & ones(format.width - format.ignored_high_bits)) >> low) << low;
  for (let bit = 0n; bit < BigInt(format.fraction_bits); bit++) {
    if ((fraction >> bit) & 1n) {
      yield word ^ (1n << (bit + low));
      yield word & ~(((2n << bit) - 1n) << low);
    }
  }
  if (fraction) yield word & ~(ones(format.fraction_bits) << low);
  for (const step of [-16, -8, -4, -2, -1, 1, 2, 4, 8, 16]) {
    const moved = scaledWord(format, word, step);
    if (moved !== null) yield moved;
  }
}

/** The word times 2^step, zero as it is; null where the result is not a normal number. */
function scaledWord(format, word, step) {
  if (isInteger(format)) return null;
  const { field, fraction } = fieldsOf(format, word),
    least = hasSubnormals(format) ? 1 : 0;
  if (!field && !fraction && least) return word;
  if (
    field < least ||
    field + step < least ||
    field + step > largestField(format) ||
    typeof valueOf(format, word) === "string"
  )
    return null;
  const moved = word + (BigInt(step) << BigInt(format.fraction_bits + format.ignored_low_bits));
  return typeof valueOf(format, moved) === "string" ? null : moved;
}

/** Changes of a row that may make it simpler: lists of [index, word]. */
function* simplerRows(names, formats, words) {
  const lanes = names.flatMap((name, index) =>
    /^a\d+$/.test(name) ? [[index, names.indexOf("b" + name.slice(1))]] : [],
  );
  const scales = names.flatMap((name, index) => (/^s[ab]\d+$/.test(name) ? [index] : []));
  const unitScale = (index) => [index, neutralWord(names[index], formats[index])];
  if (scales.length) yield scales.map(unitScale);
  for (const index of scales) yield [unitScale(index)];
  for (const pair of lanes) yield pair.map((index) => [index, 0n]);
  for (const index of names.keys()) if (!scales.includes(index)) yield [[index, 0n]];
  for (const kept of lanes) {
    if (!kept.some((index) => words[index])) continue;
    for (const pair of lanes)
      if (pair !== kept && pair.some((index) => words[index]))
        yield pair.map((index, side) => [index, words[kept[side]]]);
  }
  for (const [index, word] of words.entries()) {
    if (word || scales.includes(index))
      for (const simpler of simplerWords(formats[index], word)) yield [[index, simpler]];
  }
  const rescaled = (steps) => {
    const changes = steps.map(([index, step]) => [index, scaledWord(formats[index], words[index], step)]);
    return changes.some(([, word]) => word === null) ? null : changes;
  };
  const moves = lanes.flatMap(([a, b]) =>
    [-4, -1, 1, 4].map((step) => [
      [a, step],
      [b, -step],
    ]),
  );
  const sides = ["a", "b", ...scales.map((index) => names[index])];
  for (const step of [-64, -16, -4, -2, -1, 1, 2, 4, 16, 64]) {
    for (const side of sides)
      moves.push(
        [...names.keys()]
          .filter(
            (index) =>
              names[index] === "c" || names[index] === side || names[index].replace(/\d+$/, "") === side,
          )
          .map((index) => [index, step]),
      );
  }
  for (const move of moves) {
    const changes = rescaled(move);
    if (changes) yield changes;
  }
}

/** A row that no single simplification makes shorter while `holds` is true of it. */
function shortened(names, formats, words, holds) {
  let best = [...words];
  for (let round = 0; round < 40; round++) {
    const tries = [];
    for (const changes of simplerRows(names, formats, best)) {
      const gain = [0, 0, 0, 0];
      for (const [index, word] of changes) {
        const was = wordCost(formats[index], best[index]);
        wordCost(formats[index], word).forEach((part, i) => {
          gain[i] += part - was[i];
        });
      }
      if (isLess(gain, [0, 0, 0, 0])) tries.push({ gain, changes });
    }
    tries.sort((x, y) => (isLess(x.gain, y.gain) ? -1 : isLess(y.gain, x.gain) ? 1 : 0));
    const applied = (changes) => {
      const row = [...best];
      for (const [index, word] of changes) row[index] = word;
      return row;
    };
    const better = tries.find(({ changes }) => holds(applied(changes)));
    if (!better) break;
    best = applied(better.changes);
  }
  return best;
}

/** A unit that takes rows of another one's inputs: lanes that the row has not are neutral. */
class Taker {
  constructor(unit, names) {
    this.unit = unit;
    this.places = unit.names.map((name) => names.indexOf(name));
    this.neutral = unit.names.map((name, index) => neutralWord(name, unit.formats[index]));
    this.result = unit.about.words[unit.about.result.word][0];
  }

  /** The word of d. */
  of(row) {
    const { memory, exports } = this.unit;
    for (let index = 0; index < this.places.length; index++)
      memory[index] = this.places[index] < 0 ? this.neutral[index] : row[this.places[index]];
    exports.result();
    return memory[this.result];
  }
}

/** Between two reports of a search, and for other starts once something is found. */
const REPORT_MS = 200;
/** Rows that are shortened: one start in fifty ends with many lanes, as no single simplification helps. */
const STARTS = 4;

/**
 * A row on which two units give different words, the shortest of some that were shortened: {found, count, ms};
 * {none, count, ms} where there was none until the limit in milliseconds. count and ms are those of the first.
 * reported: called with {count, ms} on the way.
 */
function searched([left, right], random, limit, reported = () => {}) {
  const { names, formats } = left,
    rows = new Rows(names, formats, random);
  const takers = [new Taker(left, names), new Taker(right, names)];
  const differs = (row) => takers[0].of(row) !== takers[1].of(row);
  const ties = rows.ties(),
    start = performance.now();
  const cost = (row) => {
    const costs = row.map((word, index) => wordCost(formats[index], word));
    return costs.reduce((sum, parts) => sum.map((part, i) => part + parts[i]));
  };
  let count = 0,
    last = start,
    starts = 0,
    best = null;
  for (;;) {
    for (let burst = 0; burst < 64 && starts < STARTS; burst++) {
      const row = (count & 1 ? ties.next().value : undefined) ?? rows.next();
      count += 1;
      if (!differs(row)) continue;
      starts += 1;
      const ms = performance.now() - start;
      const found = shortened(names, formats, row, differs);
      if (!best) best = { found, count, ms };
      else if (isLess(cost(found), cost(best.found))) best = { ...best, found };
    }
    const now = performance.now();
    if (best && (starts === STARTS || now - start - best.ms > REPORT_MS)) return best;
    if (now - start > limit) return { none: true, count, ms: now - start };
    if (now - last > REPORT_MS) {
      last = now;
      reported({ count, ms: now - start });
    }
  }
}
