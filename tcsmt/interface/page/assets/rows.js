// Rows of words: as people paste them, as a link holds them, and as other languages write them.

/** Raised when an older page would misread a newer link. */
const LINK_VERSION = "1";

/**
 * Words of a row by name, from what people paste; `place` is the input that was pasted into, if it was one.
 */
function readRow(text, names, formats, place = -1) {
  const read = (index, part) => {
    try {
      return readWord(formats[index], part).word;
    } catch (error) {
      throw new RangeError(`${names[index]} = ${part}: ${error.message}`);
    }
  };
  const words = new Map();
  const pairs = /[^\s,;=]+\s*=\s*[^\s,;=]+/g,
    named = text.match(pairs);
  if (named && !/\b(array|tensor)\s*\(/.test(text)) {
    const rest = text.replace(pairs, " ").replace(/[\s,;]+/g, " ").trim();
    if (rest) throw new RangeError(`${clipped(rest)} does not have the form NAME=VALUE`);
    for (const pair of named) {
      const [name, value] = pair.split("=").map((part) => part.trim());
      const index = names.indexOf(name);
      if (index < 0)
        throw new RangeError(`${name} is not an input: there are ${names[0]} to ${names[names.length - 1]}`);
      if (words.has(name)) throw new RangeError(`${name} is given twice`);
      words.set(name, read(index, value));
    }
    return words;
  }
  const lines = text
    .trim()
    .split(/\r?\n/)
    .filter((line) => line.trim());
  const cells = (line) => line.split(/[\s,;]+/).filter(Boolean);
  if (lines.length > 1 && names.every((name) => cells(lines[0]).includes(name))) {
    const head = cells(lines[0]),
      values = cells(lines[1]);
    names.forEach((name, index) => {
      const value = values[head.indexOf(name)];
      if (value === undefined) throw new RangeError(`the row ends before ${name}`);
      words.set(name, read(index, value));
    });
    return words;
  }
  const parts = cells(
    text
      .replace(/\b(?:np\.|numpy\.|torch\.)?(?:array|tensor)\s*\(/g, " ")
      .replace(/dtype\s*=\s*[\w.']+/g, " ")
      .replace(/[[\](){}]/g, " "),
  );
  if (!parts.length) throw new RangeError("there is no number in it");
  const whole =
    parts.length >= names.length &&
    (place < 0 || parts.length > names.filter((name) => sameOperand(name, names[place])).length);
  if (whole) {
    const hex = names.every(
      (_, index) => parts[index].length === hexDigits(formats[index]) && /^[0-9a-f]+$/i.test(parts[index]),
    );
    names.forEach((name, index) => words.set(name, read(index, hex ? "0x" + parts[index] : parts[index])));
    return words;
  }
  const start = Math.max(place, 0);
  const room = names.filter((name, index) => index >= start && sameOperand(name, names[start])).length;
  if (parts.length > room) {
    throw new RangeError(
      `${parts.length} numbers: there is room for ${room} from ${names[start]} on, and a whole row has ${names.length}`,
    );
  }
  parts.forEach((part, offset) => words.set(names[start + offset], read(start + offset, part)));
  return words;
}

const sameOperand = (name, other) => name.replace(/\d+$/, "") === other.replace(/\d+$/, "");

/** The words without the zeros at their end, as a link has them. */
function packedWords(words) {
  const last = words.findLastIndex((word) => word !== 0n);
  return words
    .slice(0, last + 1)
    .map((word) => word.toString(16))
    .join(",");
}

/** A link's fragment. state: {a, b, words, extra: Map, result, observations: [{words, result}]}. */
function writeLink(state) {
  const parts = [
    ["v", LINK_VERSION],
    ["a", state.a],
  ];
  if (state.b) parts.push(["b", state.b]);
  parts.push(["w", packedWords(state.words)]);
  if (state.extra.size)
    parts.push(["x", [...state.extra].map(([name, word]) => `${name}:${word.toString(16)}`).join(",")]);
  if (state.result !== undefined) parts.push(["r", state.result.toString(16)]);
  for (const { words, result } of state.observations)
    parts.push(["o", `${packedWords(words)}:${result.toString(16)}`]);
  return (
    "#" +
    parts
      .map(
        ([key, value]) =>
          `${key}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/")}`,
      )
      .join("&")
  );
}

/**
 * What a fragment says, and in `problems` what in it makes no sense. It never throws. words: those that are left out
 * at the end are 0; null: the link has none.
 */
function readLink(fragment) {
  const state = { a: "", b: "", words: null, extra: new Map(), result: undefined, observations: [] };
  const problems = [];
  const hex = (text, what) => {
    if (/^[0-9a-f]{1,16}$/i.test(text)) return BigInt("0x" + text);
    problems.push(`${what}: ${clipped(text)} is not a hexadecimal word`);
    return 0n;
  };
  const row = (text, what) =>
    text ? text.split(",").map((part, index) => hex(part, `${what} ${index}`)) : [];
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [key, ...rest] = part.split("=");
    let value = rest.join("=");
    try {
      value = decodeURIComponent(value);
    } catch {
      problems.push(`${clipped(key)}: its text is cut or damaged`);
      continue;
    }
    if (key === "v" && value !== LINK_VERSION)
      problems.push(`the link is of version ${clipped(value)}, and this page reads version ${LINK_VERSION}`);
    else if (key === "a" || key === "b") state[key] = value;
    else if (key === "w") state.words = row(value, "word");
    else if (key === "r") state.result = hex(value, "the result");
    else if (key === "x") {
      for (const pair of value.split(",")) {
        const [name, word = ""] = pair.split(":");
        state.extra.set(name, hex(word, clipped(name)));
      }
    } else if (key === "o") {
      const [words, result = ""] = value.split(":");
      state.observations.push({
        words: row(words, "observed word"),
        result: hex(result, "an observed result"),
      });
    } else if (key !== "v") problems.push(`${clipped(key)} is not a part of a link`);
  }
  return { state, problems };
}

const clipped = (text) => JSON.stringify(text.length > 40 ? text.slice(0, 40) + "…" : text);

/** A row in the forms of "copy as". unit: the index's entry; words by name are those of `names`. */
const COPIES = {
  "tcsmt command": ({ unit, other, names, formats, words }) => {
    const vector = names
      .map((name, i) => [name, formats[i], words[i]])
      .filter(([name, format, word]) => word !== neutralWord(name, format));
    const text =
      vector.map(([name, format, word]) => `${name}=${hexWord(format, word)}`).join(" ") || `${names[0]}=0`;
    return `tcsmt explain ${shellWord(unit)} --vector "${text}"${other ? ` --against ${shellWord(other)}` : ""}`;
  },
  Python: ({ unit, operands }) => {
    const array = ({ name, format, words, single }) => {
      const type = `np.uint${storageBits(format)}`;
      const list = words.map((word) => hexWord(format, word)).join(", ");
      return `${name} = ${single ? `${type}(${list})` : `np.array([${list}], ${type})`}`;
    };
    const call = operands.map(({ name }) => (name.startsWith("scale") ? `${name}=${name}` : name)).join(", ");
    return [
      "import numpy as np, tcsmt",
      ...operands.map(array),
      `d = tcsmt.unit(${JSON.stringify(unit)})(${call})`,
    ].join("\n");
  },
  CUDA: ({ unit, operands }) => {
    const lines = operands.map(({ name, format, words, single }) => {
      const [type, wrap] = CUDA_TYPES[format.name] ?? [`uint${storageBits(format)}_t`, (word) => word];
      const list = words.map((word) => wrap(hexWord(format, word))).join(", ");
      return single
        ? `const ${type} ${name} = ${list};`
        : `const ${type} ${name}[${words.length}] = {${list}};`;
    });
    return [`// ${unit}: one row of A, one column of B`, ...lines].join("\n");
  },
  "C initialiser": ({ unit, operands }) => {
    const lines = operands.map(({ name, format, words, single }) => {
      const list = words.map((word) => hexWord(format, word)).join(", ");
      const type = `uint${storageBits(format)}_t`;
      return single
        ? `const ${type} ${name} = ${list};`
        : `const ${type} ${name}[${words.length}] = {${list}};`;
    });
    return [`/* ${unit} */`, "#include <stdint.h>", ...lines].join("\n");
  },
  CSV: ({ names, formats, words, result, resultFormat }) =>
    [
      [...names, "d"].join(","),
      [...words.map((word, i) => hexWord(formats[i], word)), hexWord(resultFormat, result)].join(","),
    ].join("\n"),
};

const storageBits = (format) => [8, 16, 32, 64].find((bits) => format.width <= bits);
const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const CUDA_TYPES = {
  f16: ["__half", (word) => `__ushort_as_half(${word})`],
  bf16: ["__nv_bfloat16", (word) => `__ushort_as_bfloat16(${word})`],
  tf32: ["float", (word) => `__uint_as_float(${word})`],
  f32: ["float", (word) => `__uint_as_float(${word})`],
  f64: ["double", (word) => `__longlong_as_double(${word})`],
};
