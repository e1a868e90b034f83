// The stages of units on one row: their texts, which of two units' stages belong together, and the exact sum.

/** A word that a module computed, by its place in `about.words`. */
function wordAt(unit, index) {
  const [place, width] = unit.about.words[index];
  let word = 0n;
  for (let limb = Math.ceil(width / 64) - 1; limb >= 0; limb--)
    word = (word << 64n) | unit.memory[place + limb];
  return word;
}

const exponentAt = (unit, entry) => Number(wordAt(unit, entry.exponent)) + entry.low;

/** A number as its stage has it, which need not be normalised: 0.75·2^3. */
function numberText(unit, entry, minusSign) {
  const sign = minusSign ? "-" : "";
  if (wordAt(unit, entry.nan)) return "nan";
  if (wordAt(unit, entry.infinite)) return `${sign}inf`;
  if (wordAt(unit, entry.zero)) return `${sign}0`;
  const { numerator, exponent } = exact(wordAt(unit, entry.significand), -entry.fraction_bits);
  const significand =
    exponent < 0 ? decimalText({ numerator, exponent }) : (numerator << BigInt(exponent)).toString();
  return `${sign}${significand}·2^${exponentAt(unit, entry)}`;
}

/** Every stage of a unit on a row of words, with its text and the key by which `compare` pairs it. */
function stagesOf(unit, words) {
  return unit.stages(words).map((stage, index) => {
    const { value: place, term } = unit.about.stages[index],
      entry = unit.about.values[place];
    let text;
    if (stage.type === "exponent") text = `2^${stage.value.exponent}`;
    else if (stage.type === "fixed")
      text = `${powerText(stage.value)}  (unit 2^${exponentAt(unit, entry) - entry.fraction_bits})`;
    else if (stage.type === "sign_magnitude") text = powerText(stage.value);
    else if (stage.type === "number") text = numberText(unit, entry, stage.minus);
    else text = `${hexWord(stage.format, stage.word)}  ${describe(stage.format, stage.word)}`;
    return { ...stage, index, place: JSON.stringify([stage.block, stage.kind, stage.lane]), term, text };
  });
}

/**
 * Whether two stages hold different values, however they are written; of words of one format, whether those
 * do.
 */
function stagesDiffer(x, y) {
  if (x.word !== undefined && y.word !== undefined && x.format.name === y.format.name)
    return x.word !== y.word;
  return !sameValue(x.value, y.value);
}

const blocksOf = (stages) => [...new Set(stages.map((stage) => String(stage.block)))].sort().join();

/** The stages of two units in the order of both, paired as `compare` pairs them: [[left, right], ...]. */
function pairedStages(left, right) {
  const byPlace = blocksOf(left) === blocksOf(right);
  const key = (stage, stages) => {
    if (stage === stages[stages.length - 1]) return "result";
    return byPlace ? stage.place : (stage.term ?? stage); // without a partner
  };
  const partners = new Map(right.map((stage) => [key(stage, right), stage]));
  const wanted = new Set(left.map((stage) => partners.get(key(stage, left))).filter(Boolean));
  const rows = [];
  let next = 0;
  for (const stage of left) {
    const partner = partners.get(key(stage, left));
    // what the right unit alone has up to the partner, or to another stage's partner that comes later
    for (
      ;
      partner &&
      next < right.length &&
      right[next] !== partner &&
      (right[next].taken || !wanted.has(right[next]));
      next++
    ) {
      if (!right[next].taken) rows.push([null, right[next]]);
    }
    if (partner) partner.taken = true;
    rows.push([stage, partner ?? null]);
  }
  return rows;
}

/** The first stages that correspond and hold different values, by the same rules as `tcsmt compare`. */
function firstDifference(left, right) {
  const first = (key, from, to) => {
    const there = new Map(to.map((stage) => [key(stage), stage]));
    for (const stage of from) {
      const other = there.get(key(stage));
      if (other && stagesDiffer(stage, other)) return [stage, other];
    }
    return null;
  };
  return (
    (blocksOf(left) === blocksOf(right) && first((stage) => stage.place, left, right)) ||
    first((stage) => stage.term ?? stage, left, right) ||
    first(() => "result", left.slice(-1), right.slice(-1))
  );
}

/** The weight of the last place of the larger of two values in a format. */
function lastPlace(format, x, y) {
  const [wide] = [x, y].filter((value) => value.numerator).sort((p, q) => leading(q) - leading(p));
  return (
    Math.max(wide ? leading(wide) : smallestExponent(format), smallestExponent(format)) - format.fraction_bits
  );
}

/** How far a result is from the exact sum: a sentence. */
function errorText(format, result, sum) {
  if (sum === null || typeof result === "string") return "";
  const error = minus(result, sum);
  if (!error.numerator) return "none: the result is the exact sum";
  if (isInteger(format)) return decimalText(error);
  const place = lastPlace(format, result, sum);
  const count = toNumber(exact(error.numerator, error.exponent - place));
  return `${shortText(error)} = ${count > 0 ? "+" : ""}${Number(count.toPrecision(4))} ulp (1 ulp = 2^${place})`;
}
