// Parses single requests, e.g. `write 8 KiB 4 KiB`.

const UNITS = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Splits a list of sizes, e.g. `8 KiB 4096`. */
function amounts(words) {
  const bytes = [];
  for (const word of words) {
    const [, number, unit] = /^([\d_]+)([A-Za-z]+)$/.exec(word) ?? [];
    if (word in UNITS && bytes.length) bytes.push(bytes.pop() * UNITS[word]);
    else if (unit in UNITS) bytes.push(Number(number.replaceAll("_", "")) * UNITS[unit]);
    else bytes.push(Number(word.replaceAll("_", "")));
  }
  return bytes;
}

/** Parses a size in bytes; returns invalid text unchanged, so that the server reports it. */
export function bytesOf(text) {
  const bytes = amounts(text.trim().split(/\s+/));
  return bytes.length === 1 && Number.isSafeInteger(bytes[0]) ? bytes[0] : text;
}

/** Parses a request per line; keeps invalid text unchanged, so that the server reports it. */
export const requestsOf = (text) => text.split("\n").filter((line) => line.trim()).map((line) => {
  const [op, ...rest] = line.trim().split(/\s+/);
  const bytes = amounts(rest);
  if (op === "flush" && !bytes.length) return [op, 0, 0];
  return bytes.length === 2 && bytes.every(Number.isSafeInteger) ? [op, ...bytes] : [line];
});

/** Whether a request changes stored data. */
export const changing = ([op]) => op === "write" || op === "trim";

/**
 * Parses a whole number such as 10,000 or 10_000; returns invalid text unchanged, so that the server reports it.
 * A number above JavaScript's exact integers remains text.
 */
export function whole(typed) {
  const plain = typed.replaceAll(/[,_\s]/g, "");
  if (!/^\d+$/.test(plain)) return typed;
  return Number.isSafeInteger(Number(plain)) ? Number(plain) : plain;
}

/** Whether it is a whole number of at least the minimum. */
export const isWhole = (given, least) => (Number.isSafeInteger(given) || /^\d+$/.test(given)) && Number(given) >= least;
