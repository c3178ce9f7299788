// Diagram of the stack: nested boxes, each a button that shows its settings.

import { h } from "./dom.js";

const TOLD = ["capacity", "footprint", "requests", "transactions", "file", "rate", "queue_depth", "cells", "channels", "blocks", "banks"];

/** Draws workload, stack, and run; `view` has the selection, the resolved values, and the errors. */
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
  const errors = wrong(path);
  const told = family === "run" ? "seed, warm-up, filling" : numbers(path, value, values);
  const button = h("button", {
    type: "button", "aria-pressed": String(chosen === path), onclick: () => choose(path), "data-path": path,
  },
    h("span", { class: "role" }, role),
    h("span", { class: "what" }, name.replaceAll("_", " ")),
    value?.preset && kind ? h("span", { class: "role" }, kind.replaceAll("_", " ")) : null,
    told && h("span", { class: "told" }, told),
    errors ? h("span", { class: "errors" }, errors === 1 ? "1 error" : `${errors} errors`) : null,
  );
  return h("div", { class: `box ${family}${errors ? " wrong" : ""}` }, button,
    inner.length ? h("div", { class: "inner" }, inner) : null);
}

/** The numbers that distinguish two devices of one kind. */
function numbers(path, value, values) {
  return TOLD.flatMap((name) => {
    const found = values[`${path}.${name}`]?.value ?? (typeof value?.[name] === "object" ? undefined : value?.[name]);
    return found === undefined ? [] : [/^\d{5,}$/.test(found) ? `${Number(found).toLocaleString("en")} ${name}` : name === "blocks" || name === "channels" || name === "banks" ? `${found} ${name}` : String(found)];
  }).slice(0, 3).join(", ");
}
