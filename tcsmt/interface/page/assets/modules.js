// Units by name, and the scripts that hold their modules: loaded when they are needed, as a page that is
// opened as a file can load scripts alone.

const waiting = new Map();
let INDEX = null;

/** A script's call with its data settles what waits for it. */
const settle = (key, value) => waiting.get(key)?.resolve(value);
const moduleText = (name, text) => settle(`units/${name}.js`, text);
const knownPairs = (pairs) => settle("pairs.js", pairs);
const workerText = (text) => settle("search-worker.js", text);

/** What a script of the page calls its function with. Rejects where the script is not there. */
function loaded(file) {
  const entry = waiting.get(file);
  if (entry) return entry.promise;
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  waiting.set(file, made);
  const script = document.createElement("script");
  script.src = file;
  script.onload = () => made.reject(new Error(`${file} does not hold what it should`));
  script.onerror = () => {
    waiting.delete(file);
    made.reject(new Error(`${file} cannot be loaded`));
  };
  document.head.append(script);
  return made.promise;
}

/** The list of units, each an object, by name. */
function readIndex(index) {
  const units = index.units.map(([name, module, k, types, evidence, status, source, note]) => {
    const architecture = name.split("/")[0];
    const entry = {
      name,
      module,
      k,
      types: index.types[types],
      evidence,
      status,
      source: index.sources[source],
      note,
      architecture,
    };
    entry.found = [name, entry.types, `k=${k}`, evidence, status, index.names[architecture]]
      .join(" ")
      .toLowerCase();
    return entry;
  });
  return { ...index, units: new Map(units.map((unit) => [unit.name, unit])) };
}

/** The bytes of a module. */
async function moduleBytes(name) {
  const text = await loaded(`units/${name}.js`);
  const deflated = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/**
 * So many units are kept: an engine reserves gigabytes of addresses for the memory of each, and has room for
 * about 100.
 */
const KEPT = 8;
const units = new Map();

/** The unit of an entry of the index; entries of one function share it. */
function unitOf(entry) {
  const { module } = entry;
  const unit = units.get(module) ?? moduleBytes(module).then((bytes) => Unit.load(bytes));
  unit.catch(() => units.delete(module)); // what cannot be loaded now may be later
  units.delete(module); // the one that was used last stands last
  units.set(module, unit);
  if (units.size > KEPT) units.delete(units.keys().next().value);
  return unit;
}
