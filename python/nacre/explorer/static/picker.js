// Choice of a scenario: built in, of a run, or in the address.

import { get } from "./api.js";
import { h } from "./dom.js";
import { put } from "./tree.js";

/** The scenario of an address, and the built-in one that it is based on. */
export async function scenarioOf(query, known, beginning, signal) {
  if (query.has("run")) return { name: `run:${query.get("run")}`, ...(await ofRun(query.get("run"), signal)) };
  if (query.has("scenario")) return { name: "", from: null, tree: said(query.get("scenario")) };
  const from = query.get("from") ?? beginning;
  if (!known.scenarios[from]) throw new Error(`Unknown scenario: ${from}.`);
  const tree = structuredClone(known.scenarios[from].tree);
  for (const each of query.getAll("set")) {
    const [path, ...value] = each.split("=");
    put(tree, path, said(value.join("=")));
  }
  return { name: query.has("set") ? "" : from, from, tree };
}

/** Parses JSON in an address. */
function said(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`Invalid address: ${text.slice(0, 60)} is not a value. Open the page from the menu.`);
  }
}

async function ofRun(run, signal) {
  const { scenario, folder } = await get(`/api/runs/${encodeURIComponent(run)}`, signal);
  return { from: null, tree: scenario, file: `${folder}/scenario.toml` };
}

/** A selection list of scenarios; calls `choose` with the result of `scenarioOf`. */
export async function picker(known, current, choose, signal) {
  const { runs, total } = await get("/api/runs", signal);
  const option = (value, text) => h("option", { value, selected: value === current.name }, text);
  return h("div", { class: "field" }, h("label", { for: "scenario" }, "Scenario"),
    h("select", {
      id: "scenario",
      onchange: async ({ target: { value } }) => choose(value.startsWith("run:")
        ? { name: value, ...(await ofRun(value.slice(4), signal)) }
        : { name: value, from: value, tree: structuredClone(known.scenarios[value].tree) }),
    },
      current.name ? null : option("", current.tree.name ?? "from this address"),
      h("optgroup", { label: "shipped" }, Object.entries(known.scenarios).map(([name, { summary }]) => option(name, `${name}: ${summary}`))),
      runs.length ? h("optgroup", { label: runs.length < total ? `of your runs, the latest ${runs.length} of ${total}` : "of your runs" }, runs.map(({ id }) => option(`run:${id}`, id))) : null));
}

/** Argument for `nacre`: the name or file of a scenario; an unsaved one must be saved first. */
export const sourceOf = ({ name, file }) => (name ? file ?? name : "scenario.toml");

/** Parameters of an address for a scenario. */
export const named = ({ name, tree }) => name.startsWith("run:") ? { run: name.slice(4) } : name ? { from: name } : { scenario: JSON.stringify(tree) };
