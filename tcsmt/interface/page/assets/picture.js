// The picture of `tcsmt explain`: the terms of each fused sum on its common grid, bit by bit, and what is
// lost.

/** Bits of an unnormalised product above its binary point. */
const INTEGER_BITS = 2;
/** Shorter runs of columns are drawn rather than left out. */
const SHORTEST_GAP = 5;
const MOST_COLUMNS = 96;

/** What becomes of a bit, for the legend. */
const FATES = {
  kept: "kept",
  changed: "changed when its term was aligned",
  cut: "cut off by alignment",
  sum: "in the sum",
  carry: "in the sum's carry bits",
  leading: "the sum's leading bit",
  rounded: "in the result's significand",
  dropped: "dropped by the final rounding",
};

/** The digits of a magnitude from its first weight down to its last. */
function bitsOf(value, high, low) {
  const digits =
    value.exponent - low >= 0
      ? magnitude(value.numerator) << BigInt(value.exponent - low)
      : magnitude(value.numerator) >> BigInt(low - value.exponent);
  return Array.from({ length: Math.max(0, high - low + 1) }, (_, place) => ({
    weight: high - place,
    bit: Number((digits >> BigInt(high - low - place)) & 1n),
  }));
}

/** The panels of a unit on a row, after `stagesOf`: {title, grid?, notes}. */
function panelsOf(unit, stages) {
  const { values } = unit.about;
  const stageOf = new Map(stages.map((stage) => [unit.about.stages[stage.index].value, stage]));
  const isSum = (stage) =>
    stage.type === "fixed" && (entryOf(stage).addends.length > 0 || entryOf(stage).source === undefined);
  const entryOf = (stage) => values[unit.about.stages[stage.index].value];
  const blocks = [[]];
  for (const stage of stages) {
    blocks[blocks.length - 1].push(stage);
    if (stage.kind === "result" || (stage.type === "word" && !isInteger(stage.format))) blocks.push([]);
  }
  const summed = blocks.filter((block) => block.some(isSum));
  return summed.map((block, number) =>
    panelOf(unit, block, block.filter(isSum), stageOf, entryOf, summed[number - 1]),
  );
}

function panelOf(unit, block, sums, stageOf, entryOf, previous) {
  const { values } = unit.about,
    result = block[block.length - 1];
  const [first] = sums,
    entry = entryOf(first);
  const titleOf = ({ block: place }) => (typeof place === "number" ? `block ${place}` : (place ?? ""));
  const title = titleOf(first);
  const origin = (place) => {
    let source = values[place].source;
    while (source !== undefined && values[source].source !== undefined) source = values[source].source;
    return source ?? place;
  };
  const label = (place) => {
    const names = (values[place].inputs ?? [])
      .map((index) => unit.names[index])
      .filter((name) => !/^s[ab]\d/.test(name));
    if (names.length && names.length <= 2) return names.join("·");
    return (
      stageOf.get(place)?.label ||
      (previous && titleOf(previous[0]) ? `c ← ${titleOf(previous[0])}` : "partial sum")
    );
  };
  const terms = entry.addends.map((place) => ({ place, from: origin(place) }));
  const special = terms.filter(({ from }) => typeof unit.held(from).value === "string");
  if (special.length) {
    const names = special.map(({ from }) => `${label(from)} is ${unit.held(from).value}`).join(", ");
    return { title, notes: [`${names}: the rules for NaN and infinity decide, and no bits are aligned.`] };
  }
  if (terms.every(({ from }) => isZero(unit.held(from).value)) && sums.every(({ value }) => isZero(value))) {
    return { title, notes: [`Every term is zero; the result is ${result.text}.`] };
  }
  const top = exponentAt(unit, entry),
    last = top - entry.fraction_bits;
  const rows = [];
  let aligned = ZERO,
    whole = ZERO;
  for (const { place, from } of terms) {
    const value = unit.held(from).value,
      kept = unit.held(place).value;
    whole = plus(whole, value);
    if (isZero(value)) continue;
    const low =
      values[from].type === "number"
        ? exponentAt(unit, values[from]) - values[from].fraction_bits
        : value.exponent;
    const high =
      values[from].type === "number"
        ? low + unit.about.words[values[from].significand][1] - 1
        : leading(value);
    const keptBits = new Map(
      isZero(kept)
        ? []
        : bitsOf(kept, Math.max(leading(kept), high), last).map(({ weight, bit }) => [weight, bit]),
    );
    const cells = [];
    for (const { weight, bit } of bitsOf(
      value,
      Math.max(high, isZero(kept) ? high : leading(kept)),
      Math.min(low, last),
    )) {
      const own = weight >= low && weight <= high,
        now = keptBits.get(weight) ?? 0;
      if (own && weight < last) cells.push({ weight, bit, fate: "cut" });
      else if (weight >= last && (own || now))
        cells.push({ weight, bit: now, fate: now === bit ? "kept" : "changed" });
    }
    aligned = plus(aligned, kept);
    rows.push({
      label: label(from),
      negative: value.numerator < 0n,
      cells,
      text: shortText(value),
      stage: stageOf.get(place) ?? stageOf.get(from),
      term: true,
    });
  }
  const notes = [];
  const lost = minus(aligned, whole);
  if (!isZero(lost))
    notes.push(`Alignment changes the sum by ${shortText(lost)}: bits below 2^${last} are cut.`);
  let sum = null;
  for (const stage of sums) {
    const value = stage.value,
      high = Math.max(isZero(value) ? top : leading(value), top + INTEGER_BITS - 1);
    const cells = bitsOf(value, high, Math.min(last, value.numerator ? value.exponent : last)).map(
      ({ weight, bit }) => ({
        weight,
        bit,
        fate:
          !isZero(value) && weight === leading(value)
            ? "leading"
            : weight > top + INTEGER_BITS - 1
              ? "carry"
              : "sum",
      }),
    );
    rows.push({
      label: sum === null ? "sum" : stage.label,
      negative: value.numerator < 0n,
      cells,
      text: shortText(value),
      stage,
    });
    if (sum === null && entry.addends.length && !sameValue(value, aligned))
      notes.push(
        `The sum ${shortText(aligned)} does not fit the accumulator and becomes ${shortText(value)}.`,
      );
    sum = value;
  }
  if (result.type === "word" && !isInteger(result.format))
    rows.push(roundedRow(unit, result, sum, last, notes));
  return { title, grid: { top, last, rows }, notes };
}

/** The result's significand, and what the final rounding drops of the sum. */
function roundedRow(unit, result, value, last, notes) {
  const { format } = result,
    row = {
      label: "result",
      negative: value.numerator < 0n,
      cells: [],
      text: describe(format, result.word),
      stage: result,
    };
  if (typeof result.value === "string") {
    notes.push(`The result is ${result.value}.`);
    return row;
  }
  row.negative = Boolean(fieldsOf(format, result.word).sign);
  row.text = isZero(result.value) ? describe(format, result.word) : shortText(result.value);
  if (isZero(value)) return row;
  const wanted =
    unit.about.result.format.name === format.name
      ? (unit.about.parameters.round_fraction_bits ?? format.fraction_bits)
      : format.fraction_bits;
  const floor = Math.max(leading(value), smallestExponent(format));
  let place = floor - wanted;
  if (!isZero(result.value) && result.value.exponent < place) place = floor - format.fraction_bits;
  const high = Math.max(leading(value), isZero(result.value) ? place : leading(result.value));
  row.cells = bitsOf(result.value, high, Math.max(place, last)).map((cell) => ({ ...cell, fate: "rounded" }));
  const lowest = Math.min(last, value.exponent);
  row.cells.push(
    ...bitsOf(
      {
        numerator: magnitude(value.numerator) & ones(Math.max(0, place - value.exponent)),
        exponent: value.exponent,
      },
      place - 1,
      lowest,
    ).map((cell) => ({ ...cell, fate: "dropped" })),
  );
  const change = minus(result.value, value);
  if (!isZero(change))
    notes.push(`The final rounding to ${format.name} changes the sum by ${shortText(change)}.`);
  return row;
}

/** The columns of grids beside each other: weights, and {high, low} where a run is left out. */
function columnsOf(grids) {
  const cells = grids.flatMap(({ rows }) => rows.flatMap((row) => row.cells));
  const set = new Set(cells.filter(({ bit }) => bit).map(({ weight }) => weight));
  const ends = new Set(grids.flatMap(({ top, last }) => [top + 1, top, top - 1, last]));
  const frame = new Set(
    grids.flatMap(({ top, last }) => Array.from({ length: top + INTEGER_BITS - last }, (_, i) => last + i)),
  );
  const all = [...set, ...ends],
    high = Math.max(...all),
    low = Math.min(...all);
  const weights = Array.from({ length: high - low + 1 }, (_, i) => high - i);
  let columns = [];
  for (const needed of [
    new Set([...frame, ...cells.map(({ weight }) => weight)]),
    new Set([...frame, ...set]),
    new Set([...set, ...ends]),
  ]) {
    columns = [];
    for (let i = 0; i < weights.length;) {
      let end = i;
      while (end < weights.length && needed.has(weights[end]) === needed.has(weights[i])) end++;
      const run = weights.slice(i, end);
      if (!needed.has(weights[i]) && run.length >= SHORTEST_GAP)
        columns.push({ high: run[0], low: run[run.length - 1] });
      else columns.push(...run);
      i = end;
    }
    if (columns.length <= MOST_COLUMNS) return columns;
  }
  const rest = columns[MOST_COLUMNS - 1];
  return [...columns.slice(0, MOST_COLUMNS - 1), { high: typeof rest === "number" ? rest : rest.high, low }];
}

const CELL = 12,
  GAP = 26,
  LINE = 20,
  CHARACTER = 7.3;

function svg(name, attributes = {}, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** One grid as SVG. differing: the stage at which two units first differ, on this side. */
function drawnGrid(grid, columns, title, differing) {
  const labelWidth = Math.max(...grid.rows.map(({ label }) => label.length), 6) * CHARACTER + 34;
  const at = new Map(),
    gaps = [];
  let x = labelWidth;
  for (const column of columns) {
    if (typeof column === "number") at.set(column, x);
    else gaps.push({ ...column, x });
    x += typeof column === "number" ? CELL : GAP;
  }
  const end = x,
    noteWidth = Math.max(...grid.rows.map(({ text }) => text.length)) * CHARACTER;
  const head = 34,
    height = head + grid.rows.length * LINE + 14,
    width = Math.ceil(end + 14 + noteWidth);
  const image = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "grid" });
  image.append(svg("title", {}, `${title || "The sum"}, bit by bit`));
  const edge = (weight) => {
    const right = columns.findLastIndex(
      (column) => (typeof column === "number" ? column : column.low) > weight,
    );
    if (right < 0) return labelWidth;
    const column = columns[right];
    return typeof column === "number"
      ? at.get(column) + CELL
      : gaps.find(({ high }) => high === column.high).x + GAP;
  };
  const zone = (name, from, to) =>
    to > from &&
    image.append(svg("rect", { class: name, x: from, y: 30, width: to - from, height: height - 34 }));
  zone("carry-zone", labelWidth, edge(grid.top + INTEGER_BITS - 1));
  zone("window", edge(grid.top + INTEGER_BITS - 1), edge(grid.last - 1));
  zone("cut-zone", edge(grid.last - 1), end);
  const caption = `${grid.top - grid.last} fraction bits`;
  image.append(svg("text", { class: "small", x: edge(grid.top - 1) + 2, y: 11 }, caption));
  const cutAt = edge(grid.last - 1);
  if (end > cutAt && cutAt > edge(grid.top - 1) + caption.length * 6.2)
    image.append(svg("text", { class: "small", x: cutAt + 2, y: 11 }, "cut off"));
  for (const [weight, start] of at) {
    if ((grid.top - weight) % 4) continue;
    const power = svg("text", { class: "small middle", x: start + CELL / 2, y: 26 }, "2");
    power.append(svg("tspan", { dy: -4, class: "power" }, String(weight)));
    image.append(power);
  }
  grid.rows.forEach((row, number) => {
    const y = head + number * LINE + 15;
    const line = svg("g", differing && row.stage === differing ? { class: "first" } : {});
    if (differing && row.stage === differing)
      line.append(svg("rect", { class: "mark", x: 0, y: y - 15, width, height: LINE }));
    if (!row.term && (number === 0 || grid.rows[number - 1].term) && number)
      line.append(svg("path", { class: "rule", d: `M0 ${y - 15.5}H${end}` }));
    line.append(
      svg("text", { x: 0, y }, row.label),
      svg("text", { x: labelWidth - 16, y }, row.negative ? "−" : "+"),
    );
    for (const { weight, bit, fate } of row.cells) {
      if (!at.has(weight)) continue;
      const cell = svg("g");
      cell.append(svg("title", {}, `${row.label}: bit ${bit} of weight 2^${weight}, ${FATES[fate]}`));
      if (fate === "cut" || fate === "dropped")
        cell.append(
          svg("rect", { class: "hatched", x: at.get(weight), y: y - 13, width: CELL, height: 17 }),
          svg("path", { class: "hatch", d: `M${at.get(weight) + 1} ${y + 3}l10 -15` }),
        );
      if (fate === "leading")
        cell.append(
          svg("rect", {
            class: "box",
            x: at.get(weight) + 0.5,
            y: y - 13.5,
            width: CELL - 1,
            height: 17,
            rx: 3,
          }),
        );
      cell.append(
        svg(
          "text",
          { class: `bit ${fate}${bit ? "" : " zero"}`, x: at.get(weight) + CELL / 2, y },
          String(bit),
        ),
      );
      line.append(cell);
    }
    for (const gap of gaps)
      if (row.cells.some(({ weight }) => weight <= gap.high && weight >= gap.low))
        line.append(svg("text", { class: "middle faint", x: gap.x + GAP / 2, y }, "⋯"));
    line.append(svg("text", { class: "faint", x: end + 10, y }, row.text));
    image.append(line);
  });
  for (const place of [edge(grid.top + INTEGER_BITS - 1), edge(grid.last - 1)])
    image.append(svg("path", { class: "rule", d: `M${place} 30V${height - 4}` }));
  image.append(svg("path", { class: "rule point", d: `M${edge(grid.top - 1)} 30V${height - 4}` }));
  return image;
}
