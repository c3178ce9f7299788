// Device: a served device while programs use it; single requests and where their time goes.

import { rename } from "../address.js";
import { get, post } from "../api.js";
import { fill, h } from "../dom.js";
import { figure } from "../figure.js";
import { named, picker, scenarioOf } from "../picker.js";
import { copying, facts, table, trouble } from "../show.js";
import { schema } from "./design.js";

const PERIOD = 1000;
const KEPT = 120;
const UNITS = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

export async function show(main, query, signal) {
  const known = await schema();
  const page = new Device(main, known, signal);
  await page.begin(query);
}

class Device {
  constructor(main, known, signal) {
    Object.assign(this, { main, known, signal, past: new Map() });
  }

  async begin(query) {
    this.image = query.get("image") ?? "";
    this.scenario = await scenarioOf(query, this.known, "server-cache-zipf", this.signal);
    this.requests = query.get("requests") ?? "read 0 4 KiB\nread 0 4 KiB\nwrite 0 4 KiB";
    this.place = { live: h("section"), attach: h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); this.attach(); } }), wear: h("div"), outage: h("div", { role: "status" }), steps: h("form", { onsubmit: (event) => { event.preventDefault(); this.step(); } }), answers: h("div", { "aria-live": "polite" }) };
    const { place } = this;
    fill(this.main, h("h1", {}, "Device"), h("p", {}, "A device that ", h("code", {}, "nacre serve"), " serves to real programs, while they use it."),
      place.attach, place.outage, place.live, place.wear,
      h("h2", {}, "Single requests"), h("p", {}, "To a simulated device that is new, one after the other: where every nanosecond of each goes."), place.steps, place.answers);
    fill(place.attach, h("div", { class: "field" }, h("label", { for: "image" }, "Image that is served, or its control socket"),
      h("input", { id: "image", value: this.image, placeholder: "disk.img", spellcheck: "false", autocomplete: "off", oninput: (event) => { this.image = event.target.value.trim(); } })),
      h("button", { class: "main" }, "Watch"));
    await this.drawSteps();
    if (this.image) this.attach();
  }

  attach() {
    this.moved();
    this.past.clear();
    clearTimeout(this.timer);
    fill(this.place.wear);
    this.look();
  }

  /** Looks once a second, while somebody can see it. */
  async look() {
    if (this.signal.aborted) return;
    if (!document.hidden) {
      try {
        this.draw(await get(`/api/device?image=${encodeURIComponent(this.image)}`, this.signal));
      } catch (error) {
        if (error.name !== "AbortError") fill(this.place.live, trouble(error.message, error.problems));
        return;
      }
    }
    this.timer = setTimeout(() => this.look(), PERIOD);
  }

  draw(found) {
    const isNew = !this.place.live.querySelector(".export");
    if (isNew) fill(this.place.live, found.exports.map((each) => this.frame(each)), copying([
      ["command line", () => `nacre ctl ${this.image} stats`],
      ["Python", () => `import nacre\n\nwith nacre.Control(${JSON.stringify(this.image)}) as control:\n    print(control.stats())`],
      ["link", () => location.href],
    ]));
    found.exports.forEach((each, place) => {
      const part = this.place.live.querySelectorAll(".export")[place];
      if (!part) return;
      fill(part.querySelector(".told"), facts([...found.facts, ...each.facts]), each.tables.map(table));
      const past = this.past.get(each.name) ?? [];
      past.push({ at: found.up_s, reads: each.reads, writes: each.writes });
      this.past.set(each.name, past.slice(-KEPT));
      fill(part.querySelector(".chart"), rates(past.slice(-KEPT)));
    });
  }

  frame({ name, has_wear: hasWear }) {
    const fail = async () => {
      if (!confirm("The power of this device fails: its clients are cut off, and it loses what its design does not keep.")) return;
      try {
        const { facts: lines } = await post("/api/device/power-fail", { image: this.image, export: name }, this.signal);
        fill(this.place.outage, h("div", { class: "note" }, lines.map((line) => h("p", {}, line))));
      } catch (error) {
        if (error.name !== "AbortError") fill(this.place.outage, trouble(error.message, error.problems));
      }
    };
    const query = () => `image=${encodeURIComponent(this.image)}&export=${encodeURIComponent(name)}`;
    return h("div", { class: "export" }, h("h2", {}, name || "The device"), h("div", { class: "chart" }), h("div", { class: "told" }),
      h("div", { class: "row" }, h("button", { type: "button", onclick: fail }, "Let the power fail"),
        hasWear ? h("button", { type: "button", class: "quiet", onclick: () => fill(this.place.wear, figure(`/api/device/wear?${query()}`, "wear by block", this.signal)) }, "Show the wear of each block") : null));
  }

  moved() {
    const query = new URLSearchParams({ ...(this.image ? { image: this.image } : {}), ...named(this.scenario), requests: this.requests });
    rename(`/device?${query}`);
  }

  async drawSteps() {
    const choose = (chosen) => { this.scenario = chosen; this.moved(); };
    fill(this.place.steps, h("div", { class: "bar" }, await picker(this.known, this.scenario, choose, this.signal)),
      h("div", { class: "field" }, h("label", { for: "requests" }, "Requests, one in a line"),
        h("textarea", { id: "requests", rows: "5", spellcheck: "false", value: this.requests, "aria-describedby": "requests-doc", oninput: (event) => { this.requests = event.target.value; this.moved(); } }),
        h("p", { class: "doc", id: "requests-doc" }, "read, write, trim or flush; the first byte; how many: read 8 KiB 4 KiB")),
      h("button", { class: "main" }, "Ask"));
  }

  async step() {
    try {
      const requests = this.requests.split("\n").filter((line) => line.trim()).map(request);
      const { tables } = await post("/api/step", { tree: this.scenario.tree, requests }, this.signal);
      fill(this.place.answers, tables.map(table));
    } catch (error) {
      if (error.name !== "AbortError") fill(this.place.answers, trouble(error.message, error.problems));
    }
  }
}

/** A line as a request: `write 8 KiB 4 KiB`. What is none goes as it is, and is told. */
function request(line) {
  const [op, ...rest] = line.trim().split(/\s+/);
  const bytes = [];
  for (const word of rest) {
    if (word in UNITS && bytes.length) bytes.push(bytes.pop() * UNITS[word]);
    else bytes.push(Number(word.replaceAll("_", "")));
  }
  if (op === "flush" && !bytes.length) return [op, 0, 0];
  return bytes.length === 2 && bytes.every(Number.isSafeInteger) ? [op, ...bytes] : [line];
}

const NS = "http://www.w3.org/2000/svg";
const RATE = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Requests a second, over the last two minutes. */
function rates(past) {
  const points = past.slice(1).map((now, place) => {
    const before = past[place];
    const span = Math.max(now.at - before.at, 1e-3);
    return { reads: (now.reads - before.reads) / span, writes: (now.writes - before.writes) / span };
  });
  const last = points.at(-1) ?? { reads: 0, writes: 0 };
  const most = Math.max(1, ...points.flatMap(({ reads, writes }) => [reads, writes]));
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 600 120");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `requests a second, at most ${RATE.format(most)}`);
  for (const [kind, name] of [["reads", "reads"], ["writes", "writes"]]) {
    const line = document.createElementNS(NS, "polyline");
    line.setAttribute("class", name);
    line.setAttribute("points", points.map((each, place) => `${600 - 5 * (points.length - 1 - place)},${116 - 108 * each[kind] / most}`).join(" "));
    svg.append(line);
  }
  return [h("p", { class: "rates" }, h("span", { class: "reads" }, `${RATE.format(last.reads)} reads/s`), h("span", { class: "writes" }, `${RATE.format(last.writes)} writes/s`), h("span", { class: "soft" }, `scale: up to ${RATE.format(most)}/s, two minutes`)), svg];
}
