// What asks many rows or many units: the search for a difference, what is known of a pair, and which units
// give a word that hardware gave.

/** Without a difference a search ends after so long. */
let SEARCH_LIMIT = 60000;

let worker = null;

/** Start the worker on a task; heard: takes its messages. Only one runs. */
async function ask(task, entries, data, heard) {
  stopWorker();
  const [text, ...modules] = await Promise.all([
    loaded("search-worker.js"),
    ...entries.map((entry) => moduleBytes(entry.module)),
  ]);
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = ({ data: message }) => heard(message);
  worker.onerror = (event) => heard({ failed: event.message || "the worker cannot be started" });
  worker.postMessage({
    task,
    modules,
    seed: crypto.getRandomValues(new Uint32Array(1))[0],
    limit: SEARCH_LIMIT,
    ...data,
  });
}

function stopWorker() {
  worker?.terminate();
  worker = null;
}

const counted = (count) => count.toLocaleString("en");
const rate = (count, ms) => `${counted(count)} inputs in ${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`;

/**
 * What results say of two units: {verdict, text, witness?, file?}. "equal" is only ever said of what is
 * proved, and of two names of one graph.
 */
function knownOf(pairs, left, right) {
  if (left.module === right.module)
    return {
      verdict: "equal",
      text: "One function: the models of A and B are the same graph of terms, stage by stage.",
    };
  if (!pairs)
    return {
      verdict: "none",
      text: "This page was built without results, so it knows no verdict on the pair.",
    };
  const { digests } = pairs;
  const certificate = pairs.certificates.find(
    ({ models }) =>
      (models[0] === digests[left.name] && models[1] === digests[right.name]) ||
      (models[1] === digests[left.name] && models[0] === digests[right.name]),
  );
  const proof = certificate && { file: certificate.file, title: certificate.title };
  if (digests[left.name] && digests[left.name] === digests[right.name])
    return {
      verdict: "equal",
      text: "One function: both models compute their result by the same graph of terms.",
      ...proof,
    };
  if (certificate) return { verdict: "equal", text: `Proved equal on ${certificate.domain}.`, ...proof };
  for (const group of pairs.groups) {
    const place = (unit) =>
      group.classes.findIndex((members) => members.some((names) => names.includes(unit.name)));
    const [i, j] = [place(left), place(right)];
    if (i < 0 || j < 0) continue;
    if (i === j) {
      const members = group.classes[i];
      const record = group.proofs.find(
        (one) =>
          [one.left, one.right].every((name) => members.flat().includes(name)) &&
          [left, right].every(({ name }) =>
            members.some(
              (names) => names.includes(name) && (names.includes(one.left) || names.includes(one.right)),
            ),
          ),
      );
      if (!record)
        return {
          verdict: "equal",
          text: `Proved equal on ${pairs.domain}, through other units of their class in the atlas.`,
        };
      const confirmed = record.confirmed ? `, confirmed by ${record.confirmed}` : "";
      return { verdict: "equal", text: `Proved equal on ${record.domain} by ${record.solver}${confirmed}.` };
    }
    const found = group.pairs.find(([x, y]) => (x === i && y === j) || (x === j && y === i));
    if (!found)
      return {
        verdict: "none",
        text: "The results that this page was built with have no verdict on this pair.",
      };
    const [, , record] = found;
    if (record.verdict !== "distinguished")
      return { verdict: "none", text: `The verdict on this pair is ${record.verdict}.` };
    const cause = record.cause ? `; ${record.cause}` : "";
    return {
      verdict: "distinguished",
      text: `They differ: an input is known${cause}.`,
      witness: record.inputs,
    };
  }
  return { verdict: "none", text: "The results that this page was built with have no verdict on this pair." };
}

/**
 * The units of the catalogue that take the words of these rows: the same formats, and lanes for what is not
 * zero.
 */
function comparable(entry, names, formats, rows) {
  const used = names.filter((name, index) =>
    rows.some((words) => words[index] !== neutralWord(name, formats[index])),
  );
  const lanes = Math.max(
    0,
    ...used.filter((name) => /^[ab]\d/.test(name)).map((name) => Number(name.slice(1)) + 1),
  );
  const scaled = names.some((name) => /^s[ab]\d/.test(name));
  return [...INDEX.units.values()].filter(
    (unit) => unit.types === entry.types && (scaled ? unit.k === entry.k : unit.k >= lanes),
  );
}

/** Of each distinct function its entries, and its word on every row. */
async function answersOf(entries, names, rows) {
  const functions = new Map();
  for (const entry of entries) {
    if (!functions.has(entry.module)) functions.set(entry.module, []);
    functions.get(entry.module).push(entry);
  }
  const answers = [];
  for (const members of functions.values()) {
    const taker = new Taker(await unitOf(members[0]), names);
    answers.push({ entries: members, words: rows.map((row) => taker.of(row)) });
  }
  return answers;
}

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
      enter(new Map(names.map((name, index) => [name, message.found[index]])));
      place.textContent = `Found after ${rate(message.count, message.ms)}, then shortened. It is entered above.`;
    } else if (message.none) {
      place.textContent =
        known?.verdict === "equal"
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
    if (other >= 0 && B.formats[other].name !== A.formats[index].name)
      throw new RangeError(`A takes ${name} as ${A.formats[index].name}, and B as ${B.formats[other].name}`);
  }
  if (A.about.k > B.about.k)
    throw new RangeError(`A has more lanes than B: exchange them, and B's further lanes are zero`);
  if (A.about.result.format.name !== B.about.result.format.name)
    throw new RangeError("their results have different formats");
}

/** A word that is typed, or came with a link, before its row is added to those observed. */
function report() {
  try {
    state.result = readWord(A.about.result.format, by("observed").value).word;
  } catch {
    state.result = undefined;
  }
  compute();
}

function observe() {
  const place = by("telling"),
    { format } = A.about.result;
  let word;
  try {
    ({ word } = readWord(format, by("observed").value));
  } catch (error) {
    place.textContent = error.message;
    return;
  }
  const unread = A.names.find((name) => problems.has(name));
  if (unread) {
    place.textContent = `${unread}: ${problems.get(unread)}`;
    return;
  }
  const row = A.names.map((name) => words.get(name));
  push();
  state.observations = state.observations.filter((other) => packedWords(other.words) !== packedWords(row));
  state.observations.push({ words: row, result: word });
  by("observed").value = "";
  state.result = undefined;
  compute();
  compareAll();
}

/** All units on all observed rows, and which are left. */
async function compareAll() {
  const entry = INDEX.units.get(state.a),
    place = by("telling"),
    { format } = A.about.result,
    unit = A;
  showObservations(format);
  by("candidates").replaceChildren();
  if (!state.observations.length) return;
  place.textContent = "Loading units of these formats";
  const rows = state.observations.map(({ words: row }) => row);
  try {
    const answers = await answersOf(comparable(entry, unit.names, unit.formats, rows), unit.names, rows);
    if (unit !== A) return;
    const fits = answers.filter(({ words: given }) =>
      given.every((word, index) => word === state.observations[index].result),
    );
    place.textContent = "";
    showCandidates(answers, fits, format);
  } catch (error) {
    place.textContent = `The units cannot be compared: ${error.message}.`;
  }
}

function showObservations(format) {
  by("observations").replaceChildren(
    element(
      "ul",
      {},
      ...state.observations.map((one, index) =>
        element(
          "li",
          {},
          element(
            "button",
            {
              type: "button",
              class: "link",
              onclick: () => enter(new Map(A.names.map((name, place) => [name, one.words[place]]))),
            },
            `input ${index + 1}`,
          ),
          " gave ",
          element("code", {}, hexWord(format, one.result)),
          ` (${describe(format, one.result)}) `,
          element(
            "button",
            {
              type: "button",
              class: "link",
              "aria-label": `forget input ${index + 1}`,
              onclick: () => {
                state.observations.splice(index, 1);
                writeAddress();
                compareAll();
              },
            },
            "forget",
          ),
        ),
      ),
    ),
  );
}

function showCandidates(answers, fits, format) {
  const count = (list) => list.reduce((sum, one) => sum + one.entries.length, 0);
  const listed = (one) =>
    element(
      "li",
      {},
      ...one.entries.flatMap((entry, index) => [index ? ", " : "", element("code", {}, entry.name)]),
    );
  const place = by("candidates");
  const head = `${fits.length} function${fits.length === 1 ? "" : "s"} (${count(fits)} unit${count(fits) === 1 ? "" : "s"}) of ${answers.length} with these formats and enough lanes give${fits.length === 1 ? "s" : ""} ${state.observations.length > 1 ? "these words" : "this word"}.`;
  place.append(element("h3", {}, head), element("ul", {}, ...fits.map(listed)));
  if (fits.length > 1)
    place.append(
      element(
        "p",
        { class: "tools" },
        element(
          "button",
          { type: "button", onclick: () => nextQuestion(fits) },
          "Which input splits them best?",
        ),
        " ",
        element("span", { id: "next", role: "status" }),
      ),
    );
  if (!fits.length)
    place.append(
      element(
        "p",
        {},
        "No unit of the catalogue: it may be another function, or the word was read from another row.",
      ),
    );
  const others = answers.filter((one) => !fits.includes(one));
  if (others.length) {
    const last = state.observations.length - 1;
    place.append(
      element(
        "details",
        {},
        element("summary", {}, `${count(others)} units that are excluded`),
        element(
          "ul",
          {},
          ...others.map((one) => {
            const item = listed(one);
            const where = one.words.findIndex((word, index) => word !== state.observations[index].result);
            item.append(
              `: ${hexWord(format, one.words[where])} on input ${where + 1}${where === last ? "" : ""}`,
            );
            return item;
          }),
        ),
      ),
    );
  }
}

/** The row that splits the functions that are left best, in lanes that all of them have. */
async function nextQuestion(fits) {
  const place = by("next"),
    entries = fits.map((one) => one.entries[0]);
  const narrow = await unitOf(entries.reduce((least, entry) => (entry.k < least.k ? entry : least)));
  place.textContent = "Trying inputs";
  const heard = (message) => {
    if (message.failed) place.textContent = `It failed: ${message.failed}.`;
    else if (!message.question) {
      place.textContent = `Trying inputs: ${counted(message.count)} of ${counted(message.of)}`;
      return;
    } else if (message.classes < 2)
      place.textContent = "None of the inputs tried splits them. That is no proof that they are equal.";
    else {
      enter(new Map(narrow.names.map((name, index) => [name, message.question[index]])));
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
