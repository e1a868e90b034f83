// What asks many rows or many units: the search for a difference, what is known of a pair, and which units give a
// word that hardware gave.

/** Without a difference a search ends after so long. */
let SEARCH_LIMIT = 60000;

let worker = null;

/** Start the worker on a task; heard: takes its messages. Only one runs. */
async function ask(task, entries, data, heard) {
  stopWorker();
  const [text, ...modules] = await Promise.all([loaded("search-worker.js"), ...entries.map((entry) => moduleBytes(entry.module))]);
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = ({ data: message }) => heard(message);
  worker.onerror = (event) => heard({ failed: event.message || "the worker cannot be started" });
  worker.postMessage({ task, modules, seed: crypto.getRandomValues(new Uint32Array(1))[0], limit: SEARCH_LIMIT, ...data });
}

function stopWorker() {
  worker?.terminate();
  worker = null;
}

const counted = (count) => count.toLocaleString("en");
const rate = (count, ms) => `${counted(count)} inputs in ${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`;

/**
 * What results say of two units: {verdict, text, witness?, file?}. "equal" is only ever said of what is proved, and
 * of two names of one graph.
 */
function knownOf(pairs, left, right) {
  if (left.module === right.module) return { verdict: "equal", text: "One function: the models of A and B are the same graph of terms, stage by stage." };
  if (!pairs) return { verdict: "none", text: "This page was built without results, so it knows no verdict on the pair." };
  const { digests } = pairs;
  const certificate = pairs.certificates.find(({ models }) => (models[0] === digests[left.name] && models[1] === digests[right.name]) || (models[1] === digests[left.name] && models[0] === digests[right.name]));
  const proof = certificate && { file: certificate.file, title: certificate.title };
  if (digests[left.name] && digests[left.name] === digests[right.name]) return { verdict: "equal", text: "One function: both models compute their result by the same graph of terms.", ...proof };
  if (certificate) return { verdict: "equal", text: `Proved equal on ${certificate.domain}.`, ...proof };
  for (const group of pairs.groups) {
    const place = (unit) => group.classes.findIndex((members) => members.some((names) => names.includes(unit.name)));
    const [i, j] = [place(left), place(right)];
    if (i < 0 || j < 0) continue;
    if (i === j) {
      const members = group.classes[i];
      const record = group.proofs.find((one) => [one.left, one.right].every((name) => members.flat().includes(name)) && [left, right].every(({ name }) => members.some((names) => names.includes(name) && (names.includes(one.left) || names.includes(one.right)))));
      if (!record) return { verdict: "equal", text: `Proved equal on ${pairs.domain}, through other units of their class in the atlas.` };
      const confirmed = record.confirmed ? `, confirmed by ${record.confirmed}` : "";
      return { verdict: "equal", text: `Proved equal on ${record.domain} by ${record.solver}${confirmed}.` };
    }
    const found = group.pairs.find(([x, y]) => (x === i && y === j) || (x === j && y === i));
    if (!found) return { verdict: "none", text: "The results that this page was built with have no verdict on this pair." };
    const [, , record] = found;
    if (record.verdict !== "distinguished") return { verdict: "none", text: `The verdict on this pair is ${record.verdict}.` };
    const cause = record.cause ? `; ${record.cause}` : "";
    return { verdict: "distinguished", text: `They differ: an input is known${cause}.`, witness: record.inputs };
  }
  return { verdict: "none", text: "The results that this page was built with have no verdict on this pair." };
}

/** The units of the catalogue that take the words of these rows: the same formats, and lanes for what is not zero. */
function comparable(entry, names, formats, rows) {
  const used = names.filter((name, index) => rows.some((words) => words[index] !== neutralWord(name, formats[index])));
  const lanes = Math.max(0, ...used.filter((name) => /^[ab]\d/.test(name)).map((name) => Number(name.slice(1)) + 1));
  const scaled = names.some((name) => name[0] === "s");
  return [...INDEX.units.values()].filter((unit) => unit.types === entry.types && (scaled ? unit.k === entry.k : unit.k >= lanes));
}

/** Of each distinct function its entries, and its word on every row. */
async function answersOf(entries, names, rows) {
  const functions = new Map();
  for (const entry of entries) {
    if (!functions.has(entry.module)) functions.set(entry.module, { entries: [], module: entry.module });
    functions.get(entry.module).entries.push(entry);
  }
  return Promise.all([...functions.values()].map(async (one) => {
    const unit = await unitOf(one.entries[0]), taker = new Taker(unit, names);
    return { ...one, unit, words: rows.map((row) => taker.of(row)) };
  }));
}
