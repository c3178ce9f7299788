// Access to a scenario by path, e.g. `stack.level[0].policy`.

/** The steps of a path. */
export const steps = (path) =>
  [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index));

/** The value at a path. */
export const at = (tree, path) => steps(path).reduce((item, step) => item?.[step], tree);

/** Sets the value at a path; `undefined` removes it. */
export function put(tree, path, value) {
  const way = steps(path);
  const last = way.pop();
  let item = tree;
  for (const [place, step] of way.entries()) {
    if (typeof item[step] === "string") item[step] = { kind: item[step] };
    if (item[step] === undefined) item[step] = typeof (way[place + 1] ?? last) === "number" ? [] : {};
    item = item[step];
  }
  if (value !== undefined) item[last] = value;
  else if (Array.isArray(item)) item.splice(last, 1);
  else delete item[last];
}

/** Whether two trees are equal, in any order of keys. */
export const isSame = (one, other) => JSON.stringify(one, ordered) === JSON.stringify(other, ordered);

const ordered = (_key, item) => (isTable(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item);
const isTable = (item) => typeof item === "object" && item !== null && !Array.isArray(item);
const alike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The overrides that turn one tree into the other; null if something must be removed. */
export function changes(from, to, path = "") {
  if (alike(from, to)) return [];
  if (isTable(from) && isTable(to) && from.kind === to.kind && from.preset === to.preset) {
    if (Object.keys(from).some((key) => !(key in to))) return path ? [[path, to]] : null;
    const found = [];
    for (const key of Object.keys(to)) {
      const inner = changes(from[key], to[key], path ? `${path}.${key}` : key);
      if (inner === null) return null;
      found.push(...inner);
    }
    return found;
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length && to.every(isTable)) {
    const found = to.map((item, place) => changes(from[place], item, `${path}[${place}]`));
    return found.includes(null) ? null : found.flat();
  }
  return path ? [[path, to]] : null;
}
