// What the worker does: it searches until it has something or is stopped, and says how far it is.

/** Rows that are tried for the next question to hardware. */
const CANDIDATES = 3000;

self.onmessage = async ({ data }) => {
  try {
    const units = await Promise.all(data.modules.map((bytes) => Unit.load(bytes)));
    const random = new Random(data.seed);
    if (data.task === "difference")
      self.postMessage(searched(units, random, data.limit, (progress) => self.postMessage(progress)));
    else nextQuestion(units, data.names, data.formats, random);
  } catch (error) {
    self.postMessage({ failed: String(error.message ?? error) });
  }
};

/**
 * The row that splits the units into the smallest classes: the fewest are left, on average, once its result
 * is known.
 */
function nextQuestion(units, names, formats, random) {
  const rows = new Rows(names, formats, random),
    takers = units.map((unit) => new Taker(unit, names));
  const ties = rows.ties();
  let best = null;
  for (let count = 0; count < CANDIDATES; count++) {
    const row = (count & 1 ? ties.next().value : undefined) ?? rows.next();
    const sizes = new Map();
    for (const taker of takers) {
      const word = taker.of(row);
      sizes.set(word, (sizes.get(word) ?? 0) + 1);
    }
    const left = [...sizes.values()].reduce((sum, size) => sum + size * size, 0) / units.length;
    const used = row.filter(Boolean).length;
    if (!best || left < best.left - 1e-9 || (left < best.left + 1e-9 && used < best.used))
      best = { row, left, used, classes: sizes.size };
    if (count % 500 === 499) self.postMessage({ count: count + 1, of: CANDIDATES });
  }
  const partition = (row) => takers.map((taker) => taker.of(row));
  const classesOf = (words) => words.map((word) => words.indexOf(word)).join();
  const wanted = classesOf(partition(best.row));
  const short =
    best.classes > 1
      ? shortened(names, formats, best.row, (row) => classesOf(partition(row)) === wanted)
      : best.row;
  self.postMessage({ question: short, classes: best.classes, left: best.left });
}
