// Access to the schema of scenarios: settings of tables, and kinds and presets of slots.

/** Reads the schema of scenarios. */
export class Schema {
  constructor({ schema, presets, scenarios, templates }) {
    this.root = plain(schema);
    this.presets = presets;
    this.scenarios = scenarios;
    this.templates = templates;
  }

  /** The family of a slot, e.g. `device`; null if the setting is not a slot. */
  family(setting) {
    const reference = setting.$ref ?? setting.anyOf?.find((each) => each.$ref)?.$ref;
    return reference ? reference.replace("#/$defs/", "") : null;
  }

  /** The kinds of a family. */
  kinds(family) {
    return this.root.$defs[family].examples;
  }

  /** The presets of a family. */
  presetsOf(family) {
    return Object.entries(this.presets).filter(([, preset]) => preset.family === family);
  }

  /** The kind in a slot: given, or of its preset. */
  kind(family, value) {
    const named = typeof value === "string" ? value : value?.kind;
    if (named !== undefined) return this.kinds(family).includes(named) ? named : null;
    return this.presets[value?.preset]?.kind ?? null;
  }

  /** The settings in a slot by name, without `kind` and `preset`. */
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

  /** The devices below a device, each with its path and role. */
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

/** The schema of an optional setting without the alternative `false`. */
function plain(node) {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== "object" || node === null) return node;
  const own = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, plain(value)]));
  const others = own.anyOf?.filter((each) => each.const !== false);
  if (!others || others.length === own.anyOf.length) return own;
  const { anyOf: _anyOf, ...rest } = own;
  return others.length === 1 ? { ...others[0], ...rest, canBeOff: true } : { ...rest, anyOf: others, canBeOff: true };
}
