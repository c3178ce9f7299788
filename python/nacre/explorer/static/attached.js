// Monitors a served device: throughput, wear, single requests, faults.

import { glance, post, seen } from "./api.js";
import { fill, h } from "./dom.js";
import { Fed, figure } from "./figure.js";
import { facts, table, trouble } from "./show.js";
import { bytesOf, changing, requestsOf } from "./requests.js";

const PERIOD = 1000;
const CALM = 5;
const LONGER = 10;
const FAULTS = ["delay", "slow", "stall", "limit", "error", "failing_flush", "disconnect", "lost_write", "torn_write", "misdirected_write", "bit_rot", "stale_read"];
const HARMS = { reads: "reads fail, until they are written", writes: "writes fail, until they are healed", heal: "they work again" };

/** Monitors the devices served from an image, in an element of the page, until `signal` aborts. */
export class Attached {
  constructor(place, image, signal, foot) {
    Object.assign(this, { place, image, signal, foot, looks: 0, still: 0 });
  }

  /** Polls once a second while the page is visible, and less often if the device is idle. */
  async look() {
    if (this.signal.aborted) return;
    try {
      this.draw(await glance(`/api/device?image=${encodeURIComponent(this.image)}`, this.signal));
    } catch (error) {
      if (error.name !== "AbortError") fill(this.place, trouble(error.message, error.problems));
      return;
    }
    await seen(this.still < CALM ? PERIOD : LONGER * PERIOD, this.signal);
    this.look();
  }

  draw(found) {
    this.exports ??= found.exports.map((each) => this.frame(each));
    this.still += 1;
    if (!this.looks) fill(this.place, this.exports.map(({ whole }) => whole), this.foot());
    found.exports.forEach((each, number) => {
      const own = this.exports[number];
      if (!own) return;
      // Unchanged parts are not drawn again, so that monitoring an idle device costs almost nothing.
      afresh(own.facts, [...found.facts, ...each.facts], (lines) => fill(own.facts, facts(lines)));
      afresh(own.tables, each.tables, (tables) => fill(own.tables, tables.map(table)));
      afresh(own.faults, each.faults, (faults) => fill(own.faults, this.endings(own, each.name, faults)));
      const { before } = own;
      const isNews = before?.reads !== each.sample.reads || before?.writes !== each.sample.writes;
      if (isNews) this.still = 0;
      own.served.take(each.sample, Boolean(before) && isNews);
      own.before = each.sample;
    });
    this.looks += 1;
    this.place.dataset.looks = String(this.looks);
  }

  frame({ name, has_wear: hasWear }) {
    const own = { facts: h("div"), tables: h("div"), said: h("div", { role: "status" }), wear: h("div"), faults: h("div", { class: "row" }) };
    const asked = { image: this.image, export: name };
    const query = new URLSearchParams(asked);
    own.served = new Fed("/api/device/served", "requests per second", this.signal);
    const fail = async () => {
      if (!confirm("Cuts power to this device: disconnects its clients and loses volatile data.")) return;
      await this.tell(own.said, "/api/device/power-fail", asked);
    };
    own.whole = h("div", { class: "export" }, h("h2", {}, name || "The device"), own.served.place, own.facts, own.tables,
      h("div", { class: "row" }, h("button", { type: "button", onclick: fail }, "Cut power"),
        hasWear ? h("button", { type: "button", class: "quiet", onclick: () => fill(own.wear, figure(`/api/device/wear?${query}`, "wear by block", this.signal)) }, "Show the wear of each block") : null),
      own.said, own.wear, this.requests(asked), this.fault(own, asked), this.harm(asked));
    return own;
  }

  /** A form for single requests, in addition to those of clients. */
  requests(asked) {
    const answers = h("div", { "aria-live": "polite" });
    const id = `ask-${asked.export}`;
    const kept = keeping(`nacre-asked:${asked.image}:${asked.export}`);
    const last = kept.get();
    const area = h("textarea", { id, rows: "3", spellcheck: "false", value: last?.text ?? "read 0 4 KiB", "aria-describedby": `${id}-doc` });
    const ask = async (event) => {
      event.preventDefault();
      const requests = requestsOf(area.value);
      const isToChange = requests.some(changing);
      if (isToChange && !confirm("These requests change the image: a write stores zeros, and a trim discards data.")) return;
      await answered(answers, async () => {
        const { tables } = await post("/api/device/step", { ...asked, requests }, this.signal);
        kept.put({ text: area.value, tables, at: new Date().toLocaleTimeString() });
        fill(answers, tables.map(table));
      });
    };
    if (last) fill(answers, h("p", { class: "soft" }, `Answered at ${last.at}.`), last.tables.map(table));
    return h("details", { open: Boolean(last) }, h("summary", {}, "Requests to this device"), h("form", { onsubmit: ask },
      h("div", { class: "field" }, h("label", { for: id }, "Requests, one in a line"), area,
        h("p", { class: "doc", id: `${id}-doc` }, "Same format as below. They are queued with those of the clients, in real time; the latency breakdown is shown.")),
      h("button", {}, "Send")), answers);
  }

  /** A form for adding faults. */
  fault(own, asked) {
    const said = h("div", { role: "status" });
    own.cleared = said;
    const id = (name) => `fault-${name}-${asked.export}`;
    const kind = h("select", { id: id("kind") }, FAULTS.map((value) => h("option", { value, selected: value === "stall" }, value.replaceAll("_", " "))));
    const settings = h("input", { id: id("settings"), value: 'start = "1 s", duration = "5 s"', autocomplete: "off", spellcheck: "false", "aria-describedby": id("doc") });
    const add = async (event) => {
      event.preventDefault();
      this.still = 0;
      await this.tell(said, "/api/device/fault", { ...asked, kind: kind.value, settings: settings.value });
    };
    return h("details", {}, h("summary", {}, "Faults"), h("form", { class: "bar", onsubmit: add },
      h("div", { class: "field" }, h("label", { for: id("kind") }, "Fault"), kind),
      h("div", { class: "field" }, h("label", { for: id("settings") }, "Affected requests and times"), settings),
      h("button", {}, "Add")),
      h("p", { class: "doc", id: id("doc") }, 'Times count from now, in simulated time. Also operations = ["write"], share = "1 %", every = 10, latency = "5 ms".'), own.faults, said);
  }

  /** A button for each active fault. */
  endings(own, name, faults) {
    const clear = async (asked) => {
      this.still = 0;
      await this.tell(own.cleared, "/api/device/fault-clear", { image: this.image, export: name, ...asked });
    };
    const buttons = faults.map(({ number, kind }) => h("button", { type: "button", class: "quiet", onclick: () => clear({ number }) }, `Clear ${number}: ${kind.replaceAll("_", " ")}`));
    return buttons.length > 1 ? [...buttons, h("button", { type: "button", class: "quiet", onclick: () => clear({}) }, "Clear all")] : buttons;
  }

  /** A form for media errors. */
  harm(asked) {
    const said = h("div", { role: "status" });
    const field = (name, label, control) => h("div", { class: "field short" }, h("label", { for: `${name}-${asked.export}` }, label), control);
    const text = (name, value) => h("input", { id: `${name}-${asked.export}`, value, autocomplete: "off", spellcheck: "false" });
    const first = text("first", "0");
    const size = text("size", "4 KiB");
    const harm = h("select", { id: `harm-${asked.export}` }, Object.entries(HARMS).map(([value, words]) => h("option", { value }, words)));
    const hurt = async (event) => {
      event.preventDefault();
      await this.tell(said, "/api/device/media-error", { ...asked, offset: bytesOf(first.value), length: bytesOf(size.value), harm: harm.value });
    };
    return h("details", {}, h("summary", {}, "Media errors"), h("form", { class: "bar", onsubmit: hurt },
      field("first", "First byte", first), field("size", "Bytes", size), h("div", { class: "field" }, h("label", { for: `harm-${asked.export}` }, "Effect"), harm),
      h("button", {}, "Apply")), said);
  }

  async tell(place, path, document_) {
    await answered(place, async () => {
      const { facts: lines } = await post(path, document_, this.signal);
      fill(place, h("div", { class: "note" }, lines.map((line) => h("p", {}, line))));
    });
  }
}

/** Session storage of results that survive a reload, because a device would return different ones. */
const keeping = (key) => ({
  get: () => {
    try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; }
  },
  put: (what) => {
    try { sessionStorage.setItem(key, JSON.stringify(what)); } catch { /* the storage is full */ }
  },
});

/** Redraws an element if its content changes. */
function afresh(place, shown, draw) {
  const text = JSON.stringify(shown);
  if (place.dataset.shown === text) return;
  place.dataset.shown = text;
  draw(shown);
}

/** Runs `work`; shows an error in an element of the page. */
export async function answered(place, work) {
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError") fill(place, trouble(error.message, error.problems));
  }
}
