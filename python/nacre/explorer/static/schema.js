// What the schema says of a scenario: which settings a table has, and what a slot may hold.

/** Reads the schema of scenarios. */
export class Schema {
  constructor({ schema, presets, scenarios, templates }) {
    this.root = plain(schema);
    this.presets = presets;
    this.scenarios = scenarios;
    this.templates = templates;
  }

  /** The family of a slot: `device`; null where a setting is no slot. */
  family(setting) {
    const reference = setting.$ref ?? setting.anyOf?.find((each) => each.$ref)?.$ref;
    return reference ? reference.replace("#/$defs/", "") : null;
  }

  /** The kinds a family has. */
  kinds(family) {
    return this.root.$defs[family].examples;
  }

  /** The presets of a family. */
  presetsOf(family) {
    return Object.entries(this.presets).filter(([, preset]) => preset.family === family);
  }

  /** The kind that a slot holds: its own, or that of its preset. */
  kind(family, value) {
    const named = typeof value === "string" ? value : value?.kind;
    if (named !== undefined) return this.kinds(family).includes(named) ? named : null;
    return this.presets[value?.preset]?.kind ?? null;
  }

  /** The table that a slot holds: its settings by name, without how it is named. */
  settings(family, value) {
    const kind = this.kind(family, value);
    if (kind === null) return null;
    const { kind: _kind, preset: _preset, ...own } = this.root.$defs[`${family}.${kind}`].properties;
    return own;
  }

  summary(family, kind) {
    return this.root.$defs[`${family}.${kind}`]?.description ?? "";
  }

  required(family, value) {
    const kind = this.kind(family, value);
    const found = kind === null || value?.preset ? [] : this.root.$defs[`${family}.${kind}`].required;
    return found.filter((name) => name !== "kind");
  }

  /** The devices below one, each with its path and what it is there. */
  below(path, value) {
    const found = [];
    for (const [name, setting] of Object.entries(this.settings("device", value) ?? {})) {
      if (this.family(setting) === "device") {
        found.push({ path: `${path}.${name}`, role: name, value: value[name] });
      } else if (setting.type === "array" && setting.items.properties) {
        for (const [inner, own] of Object.entries(setting.items.properties)) {
          if (this.family(own) !== "device") continue;
          (Array.isArray(value[name]) ? value[name] : []).forEach((item, place) => found.push({
            path: `${path}.${name}[${place}].${inner}`, role: `${name} ${place + 1}`, value: item[inner],
          }));
        }
      }
    }
    return found;
  }
}

/** The schema without `false`, which an optional setting may be, too: what it is otherwise stands in its place. */
function plain(node) {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== "object" || node === null) return node;
  const own = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, plain(value)]));
  const others = own.anyOf?.filter((each) => each.const !== false);
  if (!others || others.length === own.anyOf.length) return own;
  const { anyOf: _anyOf, ...rest } = own;
  return others.length === 1 ? { ...others[0], ...rest, canBeOff: true } : { ...rest, anyOf: others, canBeOff: true };
}
