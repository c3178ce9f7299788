// Single requests as people write them: `write 8 KiB 4 KiB`.

const UNITS = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** The amounts of bytes in words: `8 KiB 4096`. */
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

/** An amount of bytes; what is none goes as it is, and is told. */
export function bytesOf(text) {
  const bytes = amounts(text.trim().split(/\s+/));
  return bytes.length === 1 && Number.isSafeInteger(bytes[0]) ? bytes[0] : text;
}

/** The lines of a text as requests. What is none goes as it is, and is told. */
export const requestsOf = (text) => text.split("\n").filter((line) => line.trim()).map((line) => {
  const [op, ...rest] = line.trim().split(/\s+/);
  const bytes = amounts(rest);
  if (op === "flush" && !bytes.length) return [op, 0, 0];
  return bytes.length === 2 && bytes.every(Number.isSafeInteger) ? [op, ...bytes] : [line];
});

/** Whether a request changes what is stored. */
export const changing = ([op]) => op === "write" || op === "trim";

/**
 * A whole number as people type it, 10,000 or 10_000; what is none stays as it is, and is told.
 * One that JavaScript cannot count to stays text, and is sent so.
 */
export function whole(typed) {
  const plain = typed.replaceAll(/[,_\s]/g, "");
  if (!/^\d+$/.test(plain)) return typed;
  return Number.isSafeInteger(Number(plain)) ? Number(plain) : plain;
}

/** Whether it is a whole number that is not too small. */
export const isWhole = (given, least) => (Number.isSafeInteger(given) || /^\d+$/.test(given)) && Number(given) >= least;
