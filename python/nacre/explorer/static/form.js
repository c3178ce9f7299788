// Forms generated from the schema: a field for each setting, with its meaning, default, and errors.

import { h } from "./dom.js";
import { at } from "./tree.js";

const words = (name) => name.replaceAll("_", " ");

/** A form for the table at a path. `view` has schema, values, problems; `set` is notified of changes. */
export class Form {
  constructor(view) {
    this.view = view;
    this.used = new Set();
  }

  /** The fields of a slot: its kind, then its settings; optional settings without a value are collapsed. */
  slot(path, family, value, label) {
    return [this.choice(path, family, value, label), ...this.rest(path, family, value)];
  }

  rest(path, family, value, isTold = true) {
    const { schema } = this.view;
    const settings = schema.settings(family, value);
    if (settings === null) return [];
    const kind = schema.kind(family, value);
    const required = schema.required(family, value);
    return [isTold ? h("p", { class: "summary" }, schema.summary(family, kind)) : null, ...this.table(path, settings, required, value)];
  }

  table(path, settings, required, value) {
    const given = typeof value === "object" && value !== null ? value : {};
    const names = Object.keys(settings).filter((name) => !this.isElsewhere(settings[name]));
    const isOpen = (name) => name in given || required.includes(name) || this.wrong(`${path}.${name}`);
    const open = names.filter(isOpen);
    const rest = names.filter((name) => !isOpen(name));
    const field = (name) => this.field(`${path}.${name}`, name, settings[name], given[name], required.includes(name));
    return [
      ...open.map(field),
      rest.length ? this.folded(`${path}#rest`, `${rest.length} more setting${rest.length === 1 ? "" : "s"}`, rest.map(field)) : null,
      ...Object.keys(given)
        .filter((name) => !(name in settings) && name !== "kind" && name !== "preset")
        .map((name) => this.stranger(`${path}.${name}`, name, given[name])),
    ];
  }

  /** A device in its own slot is a box of the diagram, not of the form. */
  isElsewhere(setting) {
    return this.view.schema.family(setting) === "device";
  }

  field(path, name, setting, value, isRequired) {
    const family = this.view.schema.family(setting);
    if (family) return this.nested(path, name, setting, family, value);
    if (setting.type === "array" && setting.items.properties) return this.list(path, name, setting, value);
    if (setting.type === "object") return this.optional(path, name, setting, value);
    return this.plain(path, name, setting, value, isRequired);
  }

  plain(path, name, setting, value, isRequired) {
    const id = `f-${path}`;
    const resolved = this.view.values[path];
    const otherwise = resolved?.value ?? (setting.default === undefined || this.isOfPreset(path) ? "" : text(setting.default));
    const about = { id, name: path, "aria-describedby": `${id}-doc`, "aria-invalid": this.wrong(path) ? "true" : null };
    const change = (event) => this.view.set(path, read(event.target.value, setting));
    const options = setting.enum ?? (setting.type === "boolean" ? ["true", "false"] : null);
    const control = options
      ? h("select", { ...about, onchange: change },
        h("option", { value: "" }, otherwise ? `${words(String(otherwise))} (default)` : "not given"),
        options.map((each) => h("option", { value: each, selected: String(value) === each }, words(each))))
      : h("input", {
        ...about, value: value === undefined ? "" : text(value), placeholder: otherwise || example(setting),
        oninput: change, autocomplete: "off", spellcheck: "false", inputmode: setting.type === "integer" ? "numeric" : null,
      });
    return h("div", { class: `field${this.wrong(path) ? " wrong" : ""}`, "data-path": path },
      h("label", { for: id }, words(name), isRequired && h("span", { class: "role" }, " required")),
      control, this.errors(path),
      h("p", { class: "doc", id: `${id}-doc` }, setting.description, origin(resolved, value)));
  }

  /** Whether the default of a setting comes from a preset. */
  isOfPreset(path) {
    return Boolean(at(this.view.tree, path.slice(0, path.lastIndexOf(".")))?.preset);
  }

  /** The default of a slot, e.g. `constant: 6.7 us (of the preset)`; empty if unknown. */
  held(path) {
    const kind = this.view.values[`${path}.kind`];
    const own = Object.entries(this.view.values).filter(([each]) => inside(each, path) && each !== `${path}.kind` && !/[.[]/.test(each.slice(path.length + 1)));
    const alone = this.view.values[path];
    const shown = [kind && words(String(kind.value)), own.map(([, { value }]) => value).join(", "), alone?.value].filter((each) => each !== undefined && each !== "");
    const from = (kind ?? alone)?.from;
    return shown.length ? `${shown.join(": ")}${from === "catalog" ? " (of the preset)" : from === "default" ? " (default)" : ""}` : "";
  }

  nested(path, name, setting, family, value) {
    const body = value === undefined ? [] : this.rest(path, family, value, false).filter(Boolean);
    return [this.choice(path, family, value, words(name), setting), body.length ? h("div", { class: "sub", "data-path": path }, body) : null];
  }

  /** The choice for a slot: a kind, a preset, or a value if its family accepts one. */
  choice(path, family, value, label, setting) {
    const { schema } = this.view;
    const id = `f-${path}`;
    const kind = schema.kind(family, value);
    const chosen = value?.preset ? `preset:${value.preset}` : kind !== null ? `kind:${kind}` : value === undefined ? "" : "value";
    const presets = schema.presetsOf(family);
    const takesValue = family === "latency" || setting?.anyOf?.some((each) => each.type === "integer") || chosen === "value";
    const otherwise = setting?.default === undefined || this.isOfPreset(path) ? "" : `${words(text(setting.default))} (default)`;
    const unset = this.held(path) || otherwise || (setting?.canBeOff ? "not given" : "nothing yet");
    const option = (key, shown) => h("option", { value: key, selected: key === chosen }, shown);
    return h("div", { class: `field${this.wrong(path) ? " wrong" : ""}`, "data-path": path },
      h("label", { for: id }, label),
      h("select", { id, name: path, "aria-describedby": `${id}-doc`, onchange: (event) => this.choose(path, family, event.target.value) },
        chosen === "" || setting ? option("", unset) : null,
        takesValue ? option("value", "a value") : null,
        presets.length ? h("optgroup", { label: "from the catalog" }, presets.map(([name, preset]) => option(`preset:${name}`, `${words(name)}: ${preset.summary}`))) : null,
        h("optgroup", { label: "kinds" }, schema.kinds(family).map((each) => option(`kind:${each}`, `${words(each)}: ${schema.summary(family, each)}`)))),
      chosen === "value"
        ? h("input", { name: path, "aria-label": `${label ?? words(path)}: value`, value: text(value), placeholder: "e.g. 6.7 us", oninput: (event) => this.view.set(path, read(event.target.value, setting ?? {})) })
        : null,
      this.errors(path),
      h("p", { class: "doc", id: `${id}-doc` }, setting?.description));
  }

  choose(path, family, chosen) {
    const [how, name] = chosen.split(/:(.*)/);
    // Settings of the previous kind do not apply to the new one.
    for (const each of Object.keys(this.view.values)) if (each === path || inside(each, path)) delete this.view.values[each];
    if (chosen === "") this.view.set(path, undefined, true);
    else if (how === "value") this.view.set(path, "", true);
    else if (how === "preset") this.view.set(path, this.another(path, family, name), true);
    else this.view.set(path, this.begun(family, name), true);
  }

  /** If its capacity can be set, a preset gets the capacity of the device that it replaces. */
  another(path, family, name) {
    const capacity = at(this.view.tree, path)?.capacity;
    const isSized = "capacity" in (this.view.schema.settings(family, { preset: name }) ?? {});
    return { preset: name, ...(capacity !== undefined && isSized ? { capacity } : {}) };
  }

  /** A device starts with the settings of the built-in scenario of its kind, so that none is missing. */
  begun(family, kind) {
    const { schema } = this.view;
    const template = family === "device" && schema.scenarios[schema.templates[kind]]?.tree.stack;
    return template && schema.kind("device", template) === kind ? structuredClone(template) : { kind };
  }

  list(path, name, setting, value) {
    const items = Array.isArray(value) ? value : [];
    const device = Object.keys(setting.items.properties).find((each) => this.isElsewhere(setting.items.properties[each]));
    const add = () => this.view.set(path, [...items, device ? { [device]: { preset: this.view.schema.presetsOf("device")[0][0] } } : {}], true);
    return h("fieldset", { class: this.wrong(path, true) ? "wrong" : null, "data-path": path },
      h("legend", {}, words(name)), h("p", { class: "doc" }, setting.description), this.errors(path),
      items.map((item, place) => h("div", { class: "sub" }, h("p", { class: "item" }, `${words(name)} ${place + 1}`),
        this.table(`${path}[${place}]`, setting.items.properties, setting.items.required ?? [], item),
        h("button", { type: "button", class: "quiet", onclick: () => this.view.set(`${path}[${place}]`, undefined, true) }, `Remove ${words(name)} ${place + 1}`))),
      h("button", { type: "button", class: "quiet", onclick: add }, `Add a ${words(name)}`));
  }

  optional(path, name, setting, value) {
    const is = typeof value === "object";
    const isInherited = value === undefined && this.isOfPreset(path) && Object.keys(this.view.values).some((each) => inside(each, path));
    const change = (to, label) => h("button", { type: "button", class: "quiet", onclick: () => this.view.set(path, to, true) }, `${label} ${words(name)}`);
    return h("fieldset", { class: this.wrong(path, true) ? "wrong" : null, "data-path": path },
      h("legend", {}, words(name)), h("p", { class: "doc" }, setting.description), this.errors(path),
      is ? this.table(path, setting.properties, setting.required ?? [], value) : null,
      isInherited ? h("p", { class: "doc" }, "Same as in the preset.") : null,
      value === false ? h("p", { class: "doc" }, "Switched off.") : null,
      is ? change(undefined, "Remove") : value === false ? change(undefined, "Reset") : isInherited ? [change({}, "Change"), " ", change(false, "Switch off")] : change({}, "Add"));
  }

  /** A setting that is not in the schema: it is shown and can be removed. */
  stranger(path, name, value) {
    return h("div", { class: "field wrong", "data-path": path }, h("span", {}, words(name)), h("code", {}, JSON.stringify(value)),
      this.errors(path), h("button", { type: "button", class: "quiet", onclick: () => this.view.set(path, undefined, true) }, `Remove ${words(name)}`));
  }

  folded(key, summary, content) {
    const { folds } = this.view;
    return h("details", { open: folds.has(key), ontoggle: (event) => event.target.open ? folds.add(key) : folds.delete(key) },
      h("summary", {}, summary), content);
  }

  wrong(path, below = false) {
    return this.view.problems.some((each) => each.path === path || (below && inside(each.path, path)));
  }

  /** The errors of a setting, shown at its field. */
  errors(path) {
    const own = this.view.problems.filter((each) => each.path === path);
    own.forEach((each) => this.used.add(each));
    return own.map(({ problem, given, hint }) => h("p", { class: "error" }, [given ? `${problem}, given ${given}` : problem, hint].filter(Boolean).join("; ")));
  }
}

/** Whether a path is below another. */
export const inside = (path, above) => path.startsWith(`${above}.`) || path.startsWith(`${above}[`);

const text = (value) => (typeof value === "string" ? value : typeof value === "object" && value !== null ? value.kind ?? value.preset ?? JSON.stringify(value) : String(value));

/** Parses input like TOML: numbers, booleans, and lists are not text. */
export function read(typed, setting) {
  const given = typed.trim();
  if (given === "") return undefined;
  if (given === "true" || given === "false") return given === "true";
  const isNumber = /^[-+]?[\d_]+(\.[\d_]+)?([eE][-+]?\d+)?$/.test(given);
  const number = Number(given.replaceAll("_", ""));
  const takesNumber = setting.type !== "string";
  if (isNumber && takesNumber && Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))) return number;
  if (given.startsWith("[") || given.startsWith("{")) {
    try { return JSON.parse(given); } catch { return given; }
  }
  return given;
}

const example = (setting) => {
  const quoted = setting.title?.match(/"([^"]+)"/)?.[1];
  return quoted ? `e.g. ${quoted}` : "";
};

/** Origin of a default value. */
function origin(resolved, value) {
  if (!resolved || value !== undefined || !resolved.source) return null;
  return h("span", { class: "origin" }, ` ${resolved.from}: ${resolved.source}${resolved.confidence ? ` (${resolved.confidence})` : ""}`);
}
