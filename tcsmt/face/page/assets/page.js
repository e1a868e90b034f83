// The page itself: what is chosen and typed, what is computed from it, and the address that holds all of it.

const by = (id) => document.getElementById(id);
const choices = {}, operands = new Map();

/** What the address holds. texts: of every input that was ever typed, also of units that are not shown now. */
const state = { a: "", b: "", texts: new Map(), result: undefined, observations: [], allLanes: false, allStages: false };
/** Units that are loaded, and words of the rows: A's in order, and by name of what B alone has. */
let A = null, B = null, words = new Map(), problems = new Map(), known = null, messages = [], turn = 0, linked = [], tooWide = [];

/** The list of units calls this. */
function unitIndex(index) {
  INDEX = readIndex(index);
  by("version").textContent = `tcsmt ${INDEX.tcsmt}`;
  for (const side of ["a", "b"]) {
    choices[side] = new UnitChoice(`unit-${side}`, side === "b", (name) => choose(side, name));
    by(`choose-${side}`).append(choices[side].element);
  }
  for (const form of Object.keys(COPIES)) by("copy-as").append(new Option(form));
  listen();
  follow(location.hash || INDEX.first);
}

function listen() {
  window.addEventListener("hashchange", () => follow(location.hash));
  by("skip").onclick = (event) => {
    event.preventDefault();
    by("operands").querySelector("input")?.focus();
  };
  by("all-lanes").onclick = () => {
    state.allLanes = !state.allLanes;
    compute();
  };
  by("clear").onclick = () => enter(new Map([...words.keys()].map((name) => [name, neutralWord(name, formatOf(name))])));
  by("all-stages").onclick = () => {
    state.allStages = !state.allStages;
    compute();
  };
  by("find").onclick = find;
  by("stop").onclick = () => {
    stopWorker();
    by("search").textContent = `Stopped. ${by("search").dataset.so_far ?? ""}`;
    searching(false);
  };
  by("observe").onclick = observe;
  by("observed").onkeydown = (event) => {
    if (event.key === "Enter") observe();
  };
  by("copy-as").onchange = showCopy;
  by("copy").onclick = () => copyText(by("copy-text").textContent);
  by("copy-link").onclick = () => copyText(location.href);
}

// --- what is chosen ------------------------------------------------------------------------------

/** Take everything from a link's fragment; what makes no sense in it is said. */
async function follow(fragment) {
  const { state: link, problems: wrong } = readLink(fragment);
  messages = wrong.map((text) => `The link: ${text}.`);
  stopWorker();
  searching(false);
  by("search").textContent = "";
  state.texts = new Map();
  state.result = link.result;
  linked = link.words;
  const names = { a: link.a, b: link.b };
  for (const side of ["a", "b"]) {
    if (names[side] && !INDEX.units.has(names[side])) messages.push(missing(names[side], link));
  }
  if (!names.a) {
    messages.push("The link names no unit.");
    names.a = readLink(INDEX.first).state.a;
  }
  await load(names.a, names.b);
  if (A) {
    const limit = Math.min(link.words.length, A.names.length);
    if (link.words.length > A.names.length) messages.push(`The link has ${link.words.length} words, and ${state.a} takes ${A.names.length}: the rest are not shown.`);
    for (let index = 0; index < limit; index++) setWord(A.names[index], A.formats[index], link.words[index]);
    for (const [name, word] of link.extra) {
      if (formatOf(name)) setWord(name, formatOf(name), word);
      else messages.push(`The link has a word for ${clipped(name)}, which is not an input of these units.`);
    }
    state.observations = link.observations.filter(({ words: row }) => row.length <= A.names.length).map(({ words: row, result }) => ({ words: A.names.map((name, index) => row[index] ?? neutralWord(name, A.formats[index])), result }));
    const dropped = link.observations.length - state.observations.length;
    if (dropped) messages.push(`${dropped} of the link's observed rows have more words than ${state.a} takes.`);
  }
  tellTooWide();
  compute(false);
  if (state.observations.length) compareAll();
}

/** What is said of a unit that this page does not have; the words of its link are shown, so that nothing is lost. */
function missing(name, link) {
  const near = [...INDEX.units.keys()].find((other) => other.split("/").at(-1) === name.split("/").at(-1));
  const hint = near ? ` There is ${near}.` : "";
  const kept = packedWords(link.words) ? ` The words of the link are ${packedWords(link.words)}; they are entered into the unit that you choose.` : "";
  return `This page does not have the unit ${clipped(name)}.${hint}${kept} A page with it: tcsmt page DIR ${shellWord(name)}`;
}

/** A word of a link: one that is too wide is left out, and said. */
function setWord(name, format, word) {
  if (word >> BigInt(format.width)) tooWide.push(`${name} = 0x${word.toString(16)}`);
  else state.texts.set(name, editText(format, word));
}

function tellTooWide() {
  if (tooWide.length) messages.push(`The link has words with more bits than their inputs: ${tooWide.slice(0, 3).join(", ")}${tooWide.length > 3 ? ` and ${tooWide.length - 3} more` : ""}. These inputs are left at zero.`);
  tooWide = [];
}

async function choose(side, name) {
  messages = [];
  const observed = state.observations.length && side === "a" && A;
  const names = { a: state.a, b: state.b, [side]: name };
  const old = A;
  await load(names.a, names.b);
  if (!old && A && linked.length && linked.length <= A.names.length) {
    linked.forEach((word, index) => setWord(A.names[index], A.formats[index], word));
    tellTooWide();
  }
  if (observed && A.names.join() !== old.names.join()) {
    messages.push(`The ${state.observations.length} observed rows were of another unit's inputs and are no longer shown; Back brings them again.`);
    state.observations = [];
    by("observations").replaceChildren();
    by("candidates").replaceChildren();
  }
  push();
  compute();
}

/** Load the units of these names and show their operands. */
async function load(a, b) {
  const mine = ++turn;
  const entryOf = (name) => INDEX.units.get(name);
  let made = [null, null];
  try {
    made = await Promise.all([a, b].map((name) => (entryOf(name) ? unitOf(entryOf(name)) : null)));
  } catch (error) {
    messages.push(`${error.message}. Is the folder of the page complete?`);
  }
  if (mine !== turn) return;
  [A, B] = made;
  state.a = A ? a : "";
  state.b = B ? b : "";
  choices.a.show(state.a);
  choices.b.show(state.b);
  for (const side of ["a", "b"]) showAbout(side, entryOf(state[side]));
  makeOperands();
  known = null;
  by("known").hidden = true;
  by("find-section").hidden = !(A && B);
  if (A && B) showKnown(mine);
}

function showAbout(side, entry) {
  const place = by(`about-${side}`);
  place.replaceChildren();
  if (!entry) return;
  const status = entry.status === "accepted" ? "" : `, ${entry.status}`;
  place.append(`${entry.types}, K = ${entry.k}; evidence: ${entry.evidence}${status}. ${entry.source}${entry.note ? `. ${entry.note}` : ""}`);
}

async function showKnown(mine) {
  const [left, right] = [INDEX.units.get(state.a), INDEX.units.get(state.b)];
  let pairs = null;
  try {
    pairs = INDEX.pairs ? await loaded("pairs.js") : null;
  } catch (error) {
    messages.push(`What is known of pairs cannot be shown: ${error.message}.`);
  }
  if (mine !== turn) return;
  known = knownOf(pairs, left, right);
  const place = by("known");
  place.hidden = false;
  place.className = `known ${known.verdict}`;
  place.replaceChildren(element("span", {}, known.text));
  if (known.witness) place.append(" ", element("button", { type: "button", onclick: () => enter(new Map(Object.entries(known.witness).map(([name, word]) => [name, BigInt(word)])), true) }, "Show this input"));
  if (known.file) place.append(element("p", { class: "command" }, "Certificate: ", element("code", {}, known.title), element("br"), element("code", {}, `tcsmt certificate check results/certificates/statements/${known.file}`)));
}

// --- operands ------------------------------------------------------------------------------------

const formatOf = (name) => {
  for (const unit of [A, B]) {
    const index = unit ? unit.names.indexOf(name) : -1;
    if (index >= 0) return unit.formats[index];
  }
  return undefined;
};

function makeOperands() {
  operands.clear();
  const place = by("operands");
  place.replaceChildren();
  if (!A) return;
  const names = [...A.names, ...(B ? B.names.filter((name) => !A.names.includes(name)) : [])];
  const made = (name) => {
    if (!names.includes(name)) return null;
    const operand = new Operand(name, formatOf(name), { changed: typed, pasted });
    if (!A.names.includes(name)) operand.element.append(element("span", { class: "about" }, "B alone has this input"));
    operands.set(name, operand);
    return operand.element;
  };
  const k = Math.max(A.about.k, B?.about.k ?? 0);
  for (let lane = 0; lane < k; lane++) place.append(element("div", { class: "lane", "data-lane": String(lane) }, made(`a${lane}`), made(`b${lane}`)));
  const scales = names.filter((name) => name.startsWith("sa")).length;
  for (let block = 0; block < scales; block++) place.append(element("div", { class: "lane scale" }, made(`sa${block}`), made(`sb${block}`)));
  place.append(element("div", { class: "lane single" }, made("c")));
}

function typed(name, text) {
  state.texts.set(name, text);
  compute();
}

/** Several numbers that are pasted into a field are a row. */
function pasted(name, event) {
  const text = event.clipboardData.getData("text");
  if (!/[\s,;=]/.test(text.trim())) return;
  event.preventDefault();
  messages = [];
  try {
    const names = [...operands.keys()].sort((x, y) => order(x) - order(y));
    enter(readRow(text, names, names.map(formatOf), names.indexOf(name)), true);
  } catch (error) {
    messages.push(`The pasted text is not a row: ${error.message}. It was: ${clipped(text)}`);
    showMessages();
  }
}

const order = (name) => {
  const index = A.names.indexOf(name);
  return index < 0 ? A.names.length + B.names.indexOf(name) : index;
};

/** Put words into the inputs. whole: inputs that are not named become neutral. */
function enter(row, whole = false) {
  push();
  for (const name of operands.keys()) {
    const word = row.get(name) ?? (whole && row.size > 1 && [...row.keys()].some((key) => key === "c" || /^b/.test(key)) ? neutralWord(name, formatOf(name)) : undefined);
    if (word !== undefined) state.texts.set(name, editText(formatOf(name), word));
  }
  document.activeElement?.blur?.();
  compute();
}

/** Each input's word, or what is wrong with its text. */
function readOperands() {
  words = new Map();
  problems = new Map();
  for (const [name, operand] of operands) {
    const text = state.texts.get(name) ?? editText(operand.format, neutralWord(name, operand.format));
    let word = neutralWord(name, operand.format), note = "", problem = "";
    if (text.trim()) {
      try {
        ({ word, note } = readWord(operand.format, text));
      } catch (error) {
        problem = error.message;
        problems.set(name, problem);
      }
    }
    words.set(name, word);
    operand.show(text, word, note, problem);
  }
}

function showLanes() {
  const lanes = [...by("operands").querySelectorAll("[data-lane]")];
  const isUsed = (lane) => ["a", "b"].some((side) => words.get(side + lane) || problems.has(side + lane));
  const used = lanes.map((row) => isUsed(row.dataset.lane));
  const shown = Math.max(2, used.lastIndexOf(true) + 2);
  let hidden = 0;
  lanes.forEach((row, lane) => {
    const hide = !state.allLanes && !used[lane] && lane >= 2 && lane !== used.lastIndexOf(true) + 1 && !row.contains(document.activeElement);
    row.hidden = hide || (!state.allLanes && lane >= shown && !row.contains(document.activeElement));
    hidden += row.hidden;
  });
  const button = by("all-lanes");
  button.hidden = !hidden && !state.allLanes;
  button.setAttribute("aria-pressed", String(state.allLanes));
  button.textContent = state.allLanes ? "Hide lanes that are zero" : `Show ${hidden} more lanes, which are zero`;
}

// --- what is computed ----------------------------------------------------------------------------

/** The words for a unit, or why it cannot take them. */
function rowFor(unit) {
  for (const [name, word] of words) {
    if (unit.names.includes(name)) {
      const own = unit.formats[unit.names.indexOf(name)];
      if (own.name !== formatOf(name).name) throw new RangeError(`it takes ${name} as ${own.name}, and A as ${formatOf(name).name}: they cannot take the same words`);
    } else if (word !== neutralWord(name, formatOf(name))) throw new RangeError(`it has no input ${name}, which is ${describe(formatOf(name), word)}`);
  }
  return unit.names.map((name) => words.get(name));
}

/** Everything from the texts on. link: whether the address is written, too. */
function compute(link = true) {
  showMessages();
  document.body.dataset.ready = "true";
  if (!A) {
    for (const id of ["results", "pictures", "stages"]) by(id).replaceChildren();
    by("verdict").textContent = "";
    by("copy-text").textContent = "";
    return;
  }
  readOperands();
  showLanes();
  const sides = [A, B].map((unit, side) => {
    if (!unit) return null;
    try {
      const row = rowFor(unit), stages = stagesOf(unit, row);
      return { unit, row, stages, panels: panelsOf(unit, stages), name: side ? state.b : state.a, sum: exactSum(unit, row), last: wordAt(unit, unit.about.result.word) };
    } catch (error) {
      return { unit, name: side ? state.b : state.a, problem: error.message };
    }
  });
  const both = sides[1] && !sides[0].problem && !sides[1].problem;
  const pair = both ? firstDifference(sides[0].stages, sides[1].stages) : null;
  showResults(sides, both, pair);
  showPictures(sides, pair);
  showStages(sides, both, pair);
  if (link) writeAddress();
  showCopy();
  document.title = [state.a, state.b].filter(Boolean).join(" against ") + ": tcsmt";
}

function showMessages() {
  by("messages").replaceChildren(...messages.map((text) => element("p", { class: "message" }, text)));
}

function valueText(format, value) {
  if (typeof value === "string") return value;
  const exactText = isInteger(format) ? decimalText(value) : shortText(value);
  const decimal = Number(toNumber(value).toPrecision(9));
  return isInteger(format) || exactText === String(decimal) || isZero(value) ? exactText : `${exactText} = ${decimal}`;
}

function showResults(sides, both, pair) {
  const cards = sides.flatMap((side, number) => {
    if (!side) return [];
    const title = element("h3", {}, element("span", { class: "badge" }, number ? "B" : "A"), " ", side.name);
    const kind = `card ${number ? "b" : "a"}`;
    if (side.problem) return [element("div", { class: kind }, title, element("p", { class: "problem" }, `No result: ${side.problem}.`))];
    const { format } = side.unit.about.result, value = valueOf(format, side.last);
    const error = errorText(format, value, side.sum);
    return [element("div", { class: kind }, title,
      element("p", { class: "word", "data-word": hexWord(format, side.last) }, hexWord(format, side.last)), bitStrip(format, side.last),
      element("p", { class: "value" }, typeof value !== "string" && isZero(value) ? describe(format, side.last) : valueText(format, value)),
      error ? element("p", { class: "error" }, element("span", { class: "term" }, "error "), error) : null)];
  });
  const sum = sides.find((side) => side && !side.problem)?.sum;
  const texts = [...problems].map(([name, text]) => `${name}: ${text}`);
  if (sum) {
    const { format } = A.about.result;
    cards.push(element("div", { class: "card sum" }, element("h3", {}, "Exact sum"), element("p", { class: "value" }, valueText(format, sum)), element("p", { class: "hint" }, "what no unit rounds, cuts or adds in an order")));
  }
  by("results").replaceChildren(...cards);
  const verdict = by("verdict");
  verdict.className = "";
  if (texts.length) verdict.textContent = `Not read, and taken as zero: ${texts.join("; ")}`;
  else if (!both) verdict.textContent = "";
  else {
    const same = sides[0].last === sides[1].last && sides[0].unit.about.result.format.name === sides[1].unit.about.result.format.name;
    verdict.className = same ? "same" : "differ";
    const where = pair ? ` They first differ at “${pair[0].name || pair[0].label || pair[0].kind}”: ${pair[0].text} | ${pair[1].text}` : "";
    verdict.textContent = same ? `The same word on this input.${where ? ` On the way to it,${where.replace(" They", " they")}` : ""}` : `Different words.${where}`;
  }
}

function showPictures(sides, pair) {
  const shown = sides.filter((side) => side && !side.problem);
  by("pictures").replaceChildren();
  by("pictures-section").hidden = !shown.some((side) => side.panels.length);
  const fates = new Set();
  const count = Math.max(0, ...shown.map((side) => side.panels.length));
  for (let place = 0; place < count; place++) {
    const grids = shown.map((side) => side.panels[place]?.grid).filter(Boolean);
    const columns = grids.length ? columnsOf(grids) : [];
    for (const side of shown) {
      const panel = side.panels[place];
      if (!panel) continue;
      const label = side.unit === B && shown.length > 1 && side === shown[1] ? "B" : "A";
      const figure = element("figure", { class: label.toLowerCase() }, element("figcaption", {}, element("span", { class: "badge" }, label), ` ${side.name}${panel.title ? `, ${panel.title}` : ""}`));
      if (panel.grid) {
        for (const row of panel.grid.rows) for (const { fate } of row.cells) fates.add(fate);
        figure.append(element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `picture of ${side.name}` }, drawnGrid(panel.grid, columns, panel.title, pair?.[side === sides[0] ? 0 : 1])));
      }
      figure.append(...panel.notes.map((text) => element("p", { class: "note" }, text)));
      by("pictures").append(figure);
    }
  }
  by("legend").replaceChildren(...Object.entries(FATES).filter(([fate]) => fates.has(fate)).map(([fate, text]) => element("span", { class: `fate ${fate}` }, text)));
}

function showStages(sides, both, pair) {
  const table = by("stages");
  table.replaceChildren();
  const rows = both ? pairedStages(sides[0].stages, sides[1].stages) : sides[0].problem ? [] : sides[0].stages.map((stage) => [stage, null]);
  if (!rows.length) return;
  const heads = both ? ["stage", "A", "B"] : ["stage", "A"];
  table.append(element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))));
  const body = element("tbody");
  const sameBlocks = !both || blocksOf(sides[0].stages) === blocksOf(sides[1].stages);
  let block, folded = 0;
  for (const [left, right] of rows) {
    const stage = left ?? right, isFirst = Boolean(pair) && left === pair[0] && right === pair[1];
    const differs = left && right && stagesDiffer(left, right);
    const zero = [left, right].every((one) => !one || (isZero(one.value) && one.type !== "word"));
    if (zero && !differs && !isFirst) {
      folded += 1;
      if (!state.allStages) continue;
    }
    const own = sameBlocks ? stage : left; // where blocks differ, the order is A's
    if (own && own.block !== block) {
      block = own.block;
      const title = typeof block === "number" ? `block ${block}` : block ?? "";
      if (title) body.append(element("tr", { class: "block" }, element("th", { scope: "rowgroup", colspan: String(heads.length) }, title)));
    }
    const cells = (both ? [left, right] : [left]).map((one) => element("td", {}, one ? one.text : "–"));
    const elsewhere = right && !sameBlocks && right.block !== null ? ` (B: ${typeof right.block === "number" ? `block ${right.block}` : right.block})` : "";
    const name = (stage.label || stage.kind) + elsewhere;
    const mark = isFirst ? element("span", { class: "flag" }, "first difference") : null;
    body.append(element("tr", { class: isFirst ? "first" : differs ? "differs" : "" }, element("th", { scope: "row" }, name, mark ? " " : null, mark), ...cells));
  }
  table.append(body);
  by("folded").textContent = folded ? (state.allStages ? "" : `${folded} stage${folded > 1 ? "s" : ""} that ${folded > 1 ? "are" : "is"} zero ${both ? "in both " : ""}${folded > 1 ? "are" : "is"} folded away`) : "";
  by("all-stages").hidden = !folded;
  by("all-stages").setAttribute("aria-pressed", String(state.allStages));
  by("all-stages").textContent = state.allStages ? "Fold stages that are zero" : "Show stages that are zero";
}

// --- the address, and copies ---------------------------------------------------------------------

function address() {
  const extra = new Map();
  for (const [name, word] of words) if (!A.names.includes(name) && word !== neutralWord(name, formatOf(name))) extra.set(name, word);
  return writeLink({ a: state.a, b: state.b, words: A.names.map((name) => words.get(name)), extra, result: state.result, observations: state.observations });
}

function writeAddress() {
  const hash = address();
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

/** So that Back returns to what was there before a row was replaced. */
function push() {
  if (A && words.size) history.pushState(null, "", location.hash || address());
}

function showCopy() {
  const listed = A.about.inputs.map(({ name, count, format }) => {
    const short = { scale_a: "sa", scale_b: "sb" }[name] ?? name;
    const single = name === "c";
    return { name, format, single, words: single ? [words.get("c")] : Array.from({ length: count }, (_, lane) => words.get(short + lane)) };
  });
  const row = A.names.map((name) => words.get(name));
  by("copy-text").textContent = COPIES[by("copy-as").value]({
    unit: state.a, other: state.b, names: A.names, formats: A.formats, words: row, operands: listed,
    result: A.result(row), resultFormat: A.about.result.format,
  });
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    by("copied").textContent = "Copied.";
  } catch {
    const range = document.createRange();
    by("copy-text").textContent = text;
    range.selectNodeContents(by("copy-text"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    by("copied").textContent = "Selected: copy it with the keyboard.";
  }
}

// --- questions -----------------------------------------------------------------------------------

function searching(busy) {
  by("find").disabled = busy;
  by("stop").hidden = !busy;
}

async function find() {
  const entries = [state.a, state.b].map((name) => INDEX.units.get(name));
  const place = by("search");
  try {
    rowFormats();
  } catch (error) {
    place.textContent = `No search: ${error.message}.`;
    return;
  }
  searching(true);
  place.textContent = "Starting";
  const heard = (message) => {
    if (message.failed) place.textContent = `The search failed: ${message.failed}.`;
    else if (message.found) {
      const names = A.names;
      enter(new Map(names.map((name, index) => [name, message.found[index]])), true);
      place.textContent = `Found after ${rate(message.count, message.ms)}, then shortened. It is entered above.`;
    } else if (message.none) {
      place.textContent = known?.verdict === "equal"
        ? `None found in ${rate(message.count, message.ms)}; see what is known of the pair, above.`
        : `None found in ${rate(message.count, message.ms)}. That is no proof: tcsmt compare ${shellWord(state.a)} ${shellWord(state.b)} asks a solver.`;
    } else {
      place.dataset.so_far = `None found in ${rate(message.count, message.ms)}.`;
      place.textContent = `Searching: none found in ${rate(message.count, message.ms)} (${counted(Math.round((1000 * message.count) / message.ms))} a second)`;
      return;
    }
    stopWorker();
    searching(false);
  };
  try {
    await ask("difference", entries, {}, heard);
  } catch (error) {
    heard({ failed: error.message });
  }
}

/** Whether A and B take the same words and give words of one format. Throws with the reason. */
function rowFormats() {
  for (const [index, name] of A.names.entries()) {
    const other = B.names.indexOf(name);
    if (other < 0 && !/^[ab]\d/.test(name)) throw new RangeError(`B has no input ${name}`);
    if (other >= 0 && B.formats[other].name !== A.formats[index].name) throw new RangeError(`A takes ${name} as ${A.formats[index].name}, and B as ${B.formats[other].name}`);
  }
  if (A.about.k > B.about.k) throw new RangeError(`A has more lanes than B: exchange them, and B's further lanes are zero`);
  if (A.about.result.format.name !== B.about.result.format.name) throw new RangeError("their results have different formats");
}

function observe() {
  const place = by("telling"), { format } = A.about.result;
  let word;
  try {
    ({ word } = readWord(format, by("observed").value));
  } catch (error) {
    place.textContent = error.message;
    return;
  }
  const row = A.names.map((name) => words.get(name));
  push();
  state.observations = state.observations.filter((other) => packedWords(other.words) !== packedWords(row));
  state.observations.push({ words: row, result: word });
  by("observed").value = "";
  writeAddress();
  compareAll();
}

/** All units on all observed rows, and which are left. */
async function compareAll() {
  const entry = INDEX.units.get(state.a), place = by("telling"), { format } = A.about.result, unit = A;
  showObservations(format);
  by("candidates").replaceChildren();
  if (!state.observations.length) return;
  place.textContent = "Loading units of these formats";
  const rows = state.observations.map(({ words: row }) => row);
  try {
    const answers = await answersOf(comparable(entry, unit.names, unit.formats, rows), unit.names, rows);
    if (unit !== A) return;
    const fits = answers.filter(({ words: given }) => given.every((word, index) => word === state.observations[index].result));
    place.textContent = "";
    showCandidates(answers, fits, format);
  } catch (error) {
    place.textContent = `The units cannot be compared: ${error.message}.`;
  }
}

function showObservations(format) {
  by("observations").replaceChildren(element("ul", {}, ...state.observations.map((one, index) => element("li", {},
    element("button", { type: "button", class: "link", onclick: () => enter(new Map(A.names.map((name, place) => [name, one.words[place]])), true) }, `input ${index + 1}`),
    " gave ", element("code", {}, hexWord(format, one.result)), ` (${describe(format, one.result)}) `,
    element("button", { type: "button", class: "link", "aria-label": `forget input ${index + 1}`, onclick: () => { state.observations.splice(index, 1); writeAddress(); compareAll(); } }, "forget"),
  ))));
}

function showCandidates(answers, fits, format) {
  const count = (list) => list.reduce((sum, one) => sum + one.entries.length, 0);
  const listed = (one) => element("li", {}, ...one.entries.flatMap((entry, index) => [index ? ", " : "", element("code", {}, entry.name)]));
  const place = by("candidates");
  const head = `${fits.length} function${fits.length === 1 ? "" : "s"} (${count(fits)} unit${count(fits) === 1 ? "" : "s"}) of ${answers.length} with these formats and enough lanes give${fits.length === 1 ? "s" : ""} ${state.observations.length > 1 ? "these words" : "this word"}.`;
  place.append(element("h3", {}, head), element("ul", {}, ...fits.map(listed)));
  if (fits.length > 1) place.append(element("p", { class: "tools" }, element("button", { type: "button", onclick: () => nextQuestion(fits) }, "Which input splits them best?"), " ", element("span", { id: "next", role: "status" })));
  if (!fits.length) place.append(element("p", {}, "No unit of the catalogue: it may be another function, or the word was read from another row."));
  const others = answers.filter((one) => !fits.includes(one));
  if (others.length) {
    const last = state.observations.length - 1;
    place.append(element("details", {}, element("summary", {}, `${count(others)} units that are excluded`), element("ul", {}, ...others.map((one) => {
      const item = listed(one);
      const where = one.words.findIndex((word, index) => word !== state.observations[index].result);
      item.append(`: ${hexWord(format, one.words[where])} on input ${where + 1}${where === last ? "" : ""}`);
      return item;
    }))));
  }
}

/** The row that splits the functions that are left best, in lanes that all of them have. */
async function nextQuestion(fits) {
  const place = by("next"), entries = fits.map((one) => one.entries[0]);
  const narrow = fits.reduce((least, one) => (one.unit.about.k < least.unit.about.k ? one : least)).unit;
  place.textContent = "Trying inputs";
  const heard = (message) => {
    if (message.failed) place.textContent = `It failed: ${message.failed}.`;
    else if (!message.question) {
      place.textContent = `Trying inputs: ${counted(message.count)} of ${counted(message.of)}`;
      return;
    } else if (message.classes < 2) place.textContent = "None of the inputs tried splits them. That is no proof that they are equal.";
    else {
      enter(new Map(narrow.names.map((name, index) => [name, message.question[index]])), true);
      place.textContent = `Entered above: they give ${message.classes} different words on it. Run it, and type what comes.`;
    }
    stopWorker();
  };
  try {
    await ask("question", entries, { names: narrow.names, formats: narrow.formats }, heard);
  } catch (error) {
    heard({ failed: error.message });
  }
}
