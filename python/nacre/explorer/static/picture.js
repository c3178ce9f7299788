// The stack as a picture: boxes in boxes, each a button that shows its settings.

import { h } from "./dom.js";

const TOLD = ["capacity", "footprint", "requests", "transactions", "file", "rate", "queue_depth", "cells", "channels", "blocks", "banks"];

/** Draws workload, stack and run; `view` says what is chosen, what is resolved, what is wrong. */
export function picture(view) {
  const { schema, tree } = view;
  return h("div", { class: "stack" },
    box(view, "workload", "workload", tree.workload, "workload", []),
    h("div", { class: "arrow", "aria-hidden": "true" }, "requests"),
    device(view, "stack", tree.stack, "stack"),
    box(view, "run", "run", tree.run ?? {}, "run", []),
  );

  function device(own, path, value, role) {
    const inner = schema.below(path, value ?? {}).map((each) => device(own, each.path, each.value, each.role));
    return box(own, path, "device", value, role, inner);
  }
}

function box({ schema, chosen, values, wrong, choose }, path, family, value, role, inner) {
  const kind = family === "run" ? null : schema.kind(family, value);
  const name = family === "run" ? "Run" : (value?.preset ?? kind ?? "nothing yet");
  const mistakes = wrong(path);
  const told = family === "run" ? "seed, warm-up, filling" : numbers(path, value, values);
  const button = h("button", {
    type: "button", "aria-pressed": String(chosen === path), onclick: () => choose(path), "data-path": path,
  },
    h("span", { class: "role" }, role),
    h("span", { class: "what" }, name.replaceAll("_", " ")),
    value?.preset && kind ? h("span", { class: "role" }, kind.replaceAll("_", " ")) : null,
    told && h("span", { class: "told" }, told),
    mistakes ? h("span", { class: "mistakes" }, mistakes === 1 ? "1 error" : `${mistakes} errors`) : null,
  );
  return h("div", { class: `box ${family}${mistakes ? " wrong" : ""}` }, button,
    inner.length ? h("div", { class: "inner" }, inner) : null);
}

/** The numbers that tell two of a kind apart. */
function numbers(path, value, values) {
  return TOLD.flatMap((name) => {
    const found = values[`${path}.${name}`]?.value ?? (typeof value?.[name] === "object" ? undefined : value?.[name]);
    return found === undefined ? [] : [/^\d{5,}$/.test(found) ? `${Number(found).toLocaleString("en")} ${name}` : name === "blocks" || name === "channels" || name === "banks" ? `${found} ${name}` : String(found)];
  }).slice(0, 3).join(", ");
}
