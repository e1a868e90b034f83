// The page itself: what is chosen and typed, what is computed from it, and the address that holds all of it.

const by = (id) => document.getElementById(id);
const choices = {},
  operands = new Map();

/**
 * What the address holds. texts: of every input that was ever typed, also of units that are not shown now.
 * apart: the inputs for which B has a word of its own.
 */
const state = {
  a: "",
  b: "",
  texts: new Map(),
  apart: new Set(),
  result: undefined,
  observations: [],
  allLanes: false,
  allStages: false,
};
/** Units that are loaded, the words and problems of inputs, and what is known of the pair. */
let A = null,
  B = null,
  words = new Map(),
  problems = new Map(),
  known = null,
  messages = [],
  turn = 0,
  linked = null,
  tooWide = [];

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
  by("clear").onclick = () =>
    enter(new Map([...words.keys()].map((name) => [name, neutralWord(name, formatOf(name))])));
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
  by("observed").oninput = report;
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
  by("telling").textContent = "";
  by("observations").replaceChildren();
  by("candidates").replaceChildren();
  state.texts = new Map();
  state.result = link.result;
  linked = link.words;
  state.apart = new Set(link.extra.keys());
  const names = { a: link.a, b: link.b };
  for (const side of ["a", "b"]) {
    if (names[side] && !INDEX.units.has(names[side])) messages.push(missing(names[side], link));
  }
  if (!names.a) {
    messages.push("The link names no unit.");
    names.a = readLink(INDEX.first).state.a;
  }
  if (!(await load(names.a, names.b))) return;
  if (A) {
    enterLink(link);
    state.observations = observedRows(link);
  }
  tellTooWide();
  compute(false);
  if (state.observations.length) compareAll();
}

/** The words of a link in the inputs: A's in order, and of B those that differ from A's of the same name. */
function enterLink({ words: row, extra, result }) {
  if (row) enterRow(row);
  B?.names.forEach((name, index) => {
    const place = A.names.indexOf(name);
    const word = extra.get(name) ?? (row && place >= 0 ? (row[place] ?? 0n) : undefined);
    if (keyOfB(name) !== name || extra.has(name)) {
      if (word !== undefined) setWord(keyOfB(name), B.formats[index], word);
    }
  });
  for (const name of extra.keys()) {
    if (!B?.names.includes(name))
      messages.push(`The link has a word for ${clipped(name)}, which is not an input of B.`);
  }
  by("observed").value = result === undefined ? "" : hexWord(A.about.result.format, result);
}

/** Words in the order of A's inputs; those that are left out at the end are 0. */
function enterRow(row) {
  if (row.length > A.names.length) {
    messages.push(
      `The link has ${row.length} words, and ${state.a} takes ${A.names.length}: the rest are not shown.`,
    );
  }
  A.names.forEach((name, index) => setWord(name, A.formats[index], row[index] ?? 0n));
}

function observedRows(link) {
  const fit = link.observations.filter(({ words: row }) => row.length <= A.names.length);
  const dropped = link.observations.length - fit.length;
  if (dropped) messages.push(`${dropped} of the link's observed rows have more words than ${state.a} takes.`);
  return fit.map(({ words: row, result }) => ({
    words: A.names.map((_, index) => row[index] ?? 0n),
    result,
  }));
}

/**
 * What is said of a unit that this page does not have; the words of its link are shown, so that nothing is
 * lost.
 */
function missing(name, link) {
  const near = [...INDEX.units.keys()].find((other) => other.split("/").at(-1) === name.split("/").at(-1));
  const hint = near ? ` There is ${near}.` : "";
  const packed = packedWords(link.words ?? []);
  const kept = packed
    ? ` The words of the link are ${packed}; they are entered into the unit that you choose.`
    : "";
  return `This page does not have the unit ${clipped(name)}.${hint}${kept} A page with it: tcsmt page DIR ${shellWord(name)}`;
}

/** A word of a link: one that is too wide is left out, and said. */
function setWord(name, format, word) {
  if (word >> BigInt(format.width)) tooWide.push(`${name} = 0x${word.toString(16)}`);
  else state.texts.set(name, editText(format, word));
}

function tellTooWide() {
  if (tooWide.length)
    messages.push(
      `The link has words with more bits than their inputs: ${tooWide.slice(0, 3).join(", ")}${tooWide.length > 3 ? ` and ${tooWide.length - 3} more` : ""}. These inputs are left at zero.`,
    );
  tooWide = [];
}

async function choose(side, name) {
  messages = [];
  const observed = state.observations.length && side === "a" && A;
  const names = { a: state.a, b: state.b, [side]: name };
  state.apart.clear();
  const old = A;
  if (!(await load(names.a, names.b))) return;
  if (!old && A && linked) {
    enterRow(linked);
    tellTooWide();
  }
  if (observed && A.names.join() !== old.names.join()) {
    messages.push(
      `The ${state.observations.length} observed rows were of another unit's inputs and are no longer shown; Back brings them again.`,
    );
    state.observations = [];
    by("observations").replaceChildren();
    by("candidates").replaceChildren();
  }
  push();
  compute();
}

/** Load the units of these names and show their operands; false where others were chosen in the meantime. */
async function load(a, b) {
  const mine = ++turn;
  const entryOf = (name) => INDEX.units.get(name);
  let made = [null, null];
  try {
    made = await Promise.all([a, b].map((name) => (entryOf(name) ? unitOf(entryOf(name)) : null)));
  } catch (error) {
    messages.push(`${error.message}. Is the folder of the page complete?`);
  }
  if (mine !== turn) return false;
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
  return true;
}

function showAbout(side, entry) {
  const place = by(`about-${side}`);
  place.replaceChildren();
  if (!entry) return;
  const status = entry.status === "accepted" ? "" : `, ${entry.status}`;
  place.append(
    `${entry.types}, K = ${entry.k}; evidence: ${entry.evidence}${status}. ${entry.source}${entry.note ? `. ${entry.note[0].toUpperCase()}${entry.note.slice(1)}` : ""}.`,
  );
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
  if (known.witness) {
    // inputs that are 0 are not in it
    const row = new Map(A.names.map((name) => [name, BigInt(known.witness[name] ?? 0)]));
    place.append(" ", element("button", { type: "button", onclick: () => enter(row) }, "Show this input"));
  }
  if (known.file)
    place.append(
      element(
        "p",
        { class: "command" },
        "Certificate: ",
        element("code", {}, known.title),
        element("br"),
        element("code", {}, `tcsmt certificate check results/certificates/statements/${known.file}`),
      ),
    );
}

// --- operands ------------------------------------------------------------------------------------

const formatOf = (name) => operands.get(name)?.format;

/**
 * The name of B's input here: A's of the same name, unless A takes it in another format, or a link keeps it
 * apart.
 */
function keyOfB(name) {
  const own = A.names.indexOf(name);
  const isApart =
    own >= 0 && (state.apart.has(name) || A.formats[own].name !== B.formats[B.names.indexOf(name)].name);
  return isApart ? `${name} of B` : name;
}

function makeOperands() {
  operands.clear();
  const place = by("operands");
  place.replaceChildren();
  if (!A) return;
  const formats = new Map(A.names.map((name, index) => [name, A.formats[index]]));
  B?.names.forEach((name, index) => formats.set(keyOfB(name), formats.get(keyOfB(name)) ?? B.formats[index]));
  const line = (kind, names) => {
    const own = names.filter((name) => formats.has(name));
    if (!own.length) return;
    const made = own.map((name) => {
      const operand = new Operand(name, formats.get(name), { changed: typed, pasted });
      if (!A.names.includes(name) && !name.endsWith("of B"))
        operand.element.append(element("span", { class: "about" }, "B alone has this input"));
      operands.set(name, operand);
      return operand.element;
    });
    place.append(element("div", { class: `lane ${kind}`, "data-names": own.join() }, ...made));
  };
  const lines = (kind, names) => {
    line(kind, names);
    line(
      kind,
      names.map((name) => `${name} of B`),
    );
  };
  const lanes = Math.max(A.about.k, B?.about.k ?? 0);
  for (let lane = 0; lane < lanes; lane++) lines("product", [`a${lane}`, `b${lane}`]);
  for (let block = 0; formats.has(`sa${block}`) || formats.has(`sa${block} of B`); block++)
    lines("scale", [`sa${block}`, `sb${block}`]);
  lines("single", ["c"]);
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
    const names = name.endsWith("of B")
      ? B.names.map(keyOfB)
      : [...A.names, ...(B ? B.names.filter((other) => !A.names.includes(other)) : [])];
    enter(readRow(text, names, names.map(formatOf), names.indexOf(name)));
  } catch (error) {
    messages.push(`The pasted text is not a row: ${error.message}. It was: ${clipped(text)}`);
    showMessages();
  }
}

/**
 * Put words into the inputs. A row that has words of several operands is all of the input: others become
 * neutral.
 */
function enter(row) {
  push();
  const isWhole = row.has("c") || new Set([...row.keys()].map((name) => name.replace(/\d.*$/, ""))).size > 1;
  if (isWhole && state.apart.size) {
    state.apart.clear();
    makeOperands();
  }
  for (const [name, { format, field }] of operands) {
    const word = row.get(name) ?? (isWhole ? neutralWord(name, format) : undefined);
    if (word === undefined) continue;
    const text = editText(format, word);
    state.texts.set(name, text);
    field.value = text;
  }
  compute();
}

/** Each input's word, or what is wrong with its text. */
function readOperands() {
  words = new Map();
  problems = new Map();
  for (const [name, operand] of operands) {
    const text = state.texts.get(name) ?? editText(operand.format, neutralWord(name, operand.format));
    let word = neutralWord(name, operand.format),
      note = "",
      problem = "";
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

/** Of lanes that are zero, the first two and the one after the last that is not. */
function showLanes() {
  const lanes = [...by("operands").querySelectorAll(".product")];
  const used = lanes.map(({ dataset }) =>
    dataset.names.split(",").some((name) => words.get(name) || problems.has(name)),
  );
  const last = used.lastIndexOf(true);
  let hidden = 0;
  lanes.forEach((line, place) => {
    line.hidden = !(
      state.allLanes ||
      used[place] ||
      place < 2 ||
      place === last + 1 ||
      line.contains(document.activeElement)
    );
    hidden += line.hidden;
  });
  const button = by("all-lanes");
  button.hidden = !hidden && !state.allLanes;
  button.setAttribute("aria-pressed", String(state.allLanes));
  button.textContent = state.allLanes
    ? "Hide lanes that are zero"
    : `Show ${hidden} more lane${hidden > 1 ? "s, which are" : ", which is"} zero`;
}

// --- what is computed ----------------------------------------------------------------------------

/** The words for A, or for B, which may be unable to take them; an input that is not a number has none. */
function rowFor(unit, isB) {
  const unread = unit.names.map((name) => (isB ? keyOfB(name) : name)).filter((name) => problems.has(name));
  if (unread.length) throw new RangeError(unread.map((name) => `${name}: ${problems.get(name)}`).join("; "));
  if (!isB) return unit.names.map((name) => words.get(name));
  const lost = A.names.find(
    (name) => !unit.names.includes(name) && words.get(name) !== neutralWord(name, formatOf(name)),
  );
  if (lost)
    throw new RangeError(`it has no input ${lost}, which is ${describe(formatOf(lost), words.get(lost))}`);
  return unit.names.map((name) => words.get(keyOfB(name)));
}

/**
 * Everything from the texts on, and when it was there first, for tests. link: whether the address is
 * written, too.
 */
function compute(link = true) {
  show(link);
  document.body.dataset.ready ||= String(performance.now());
}

function show(link) {
  showMessages();
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
      const row = rowFor(unit, side === 1),
        stages = stagesOf(unit, row);
      return {
        unit,
        row,
        stages,
        panels: panelsOf(unit, stages),
        name: side ? state.b : state.a,
        sum: exactSum(unit, row),
        last: wordAt(unit, unit.about.result.word),
      };
    } catch (error) {
      return { unit, name: side ? state.b : state.a, problem: error.message };
    }
  });
  const both = sides[1] && !sides[0].problem && !sides[1].problem;
  const pair = both ? firstDifference(sides[0].stages, sides[1].stages) : null;
  showResults(sides, both, pair);
  showPictures(sides, pair);
  showStages(sides, both, pair);
  if (link && !problems.size) writeAddress();
  showCopy();
  document.title = [state.a, state.b].filter(Boolean).join(" against ") + ": tcsmt";
}

function showMessages() {
  by("messages").replaceChildren(...messages.map((text) => element("p", { class: "message" }, text)));
}

// --- the address, and copies ---------------------------------------------------------------------

function address() {
  const extra = new Map();
  for (const name of B?.names ?? []) {
    const word = words.get(keyOfB(name));
    const usual = A.names.includes(name) ? words.get(name) : neutralWord(name, formatOf(name));
    if (word !== usual) extra.set(name, word);
  }
  return writeLink({
    a: state.a,
    b: state.b,
    words: A.names.map((name) => words.get(name)),
    extra,
    result: state.result,
    observations: state.observations,
  });
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
  if (problems.size) {
    by("copy-text").textContent = "";
    return;
  }
  const listed = A.about.inputs.map(({ name, count, format }) => {
    const short = { scale_a: "sa", scale_b: "sb" }[name] ?? name;
    const single = name === "c";
    return {
      name,
      format,
      single,
      words: single ? [words.get("c")] : Array.from({ length: count }, (_, lane) => words.get(short + lane)),
    };
  });
  const row = A.names.map((name) => words.get(name));
  by("copy-text").textContent = COPIES[by("copy-as").value]({
    unit: state.a,
    other: state.b,
    names: A.names,
    formats: A.formats,
    words: row,
    operands: listed,
    result: A.result(row),
    resultFormat: A.about.result.format,
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
