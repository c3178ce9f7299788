// Device page: monitors a served device; single requests with latency breakdowns.

import { rename } from "../address.js";
import { post } from "../api.js";
import { Attached, answered } from "../attached.js";
import { fill, h } from "../dom.js";
import { named, picker, scenarioOf, sourceOf } from "../picker.js";
import { requestsOf } from "../requests.js";
import { copying, quoted, table } from "../show.js";
import { schema } from "./design.js";

export async function show(main, query, signal) {
  const known = await schema(signal);
  const page = new Device(main, known, signal);
  await page.begin(query);
}

class Device {
  constructor(main, known, signal) {
    Object.assign(this, { main, known, signal, watching: new AbortController() });
  }

  async begin(query) {
    this.image = query.get("image") ?? "";
    this.scenario = await scenarioOf(query, this.known, "server-cache-zipf", this.signal);
    this.requests = query.get("requests") ?? "read 0 4 KiB\nread 0 4 KiB\nwrite 0 4 KiB";
    this.place = { live: h("section"), attach: h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); this.attach(); } }), steps: h("form", { onsubmit: (event) => { event.preventDefault(); this.step(); } }), answers: h("div", { "aria-live": "polite" }), copy: h("div") };
    const { place } = this;
    fill(this.main, h("h1", {}, "Device"), h("p", {}, "A device that ", h("code", {}, "nacre serve"), " serves to real programs."),
      place.attach, place.live,
      h("h2", {}, "Single requests"), h("p", {}, "Sends requests to a new simulated device, one after the other, and shows the latency breakdown of each."), place.steps, place.answers, place.copy);
    fill(place.attach, h("div", { class: "field" }, h("label", { for: "image" }, "Served image, or its control socket"),
      h("input", { id: "image", value: this.image, placeholder: "e.g. disk.img", spellcheck: "false", autocomplete: "off", oninput: (event) => { this.image = event.target.value.trim(); } })),
      h("button", { class: "main" }, "Watch"));
    await this.drawSteps();
    if (query.has("answered")) await this.step();
    if (this.image) this.attach(query.has("answered"));
  }

  attach(isAnswered = this.isAnswered) {
    this.moved(isAnswered);
    this.watching.abort();
    this.watching = new AbortController();
    fill(this.place.live);
    const { image } = this;
    const foot = () => copying([
      ["command line", () => `nacre ctl stats ${quoted(image)}`],
      ["Python", () => `import nacre\n\nwith nacre.devices.Control(${JSON.stringify(image)}) as control:\n    print(control.stats())`],
      ["link", () => location.href],
    ]);
    new Attached(this.place.live, image, AbortSignal.any([this.signal, this.watching.signal]), foot).look();
  }

  /** Stores the requests in the address, and whether they were sent; then a reload sends them again. */
  moved(isAnswered = false) {
    this.isAnswered = isAnswered;
    if (!isAnswered) fill(this.place.answers);
    const query = new URLSearchParams({ ...(this.image ? { image: this.image } : {}), ...named(this.scenario), requests: this.requests, ...(isAnswered ? { answered: "yes" } : {}) });
    rename(`/device?${query}`);
    this.drawCopy();
  }

  async drawSteps() {
    const choose = (chosen) => { this.scenario = chosen; this.moved(); };
    fill(this.place.steps, h("div", { class: "bar" }, await picker(this.known, this.scenario, choose, this.signal)),
      h("div", { class: "field" }, h("label", { for: "requests" }, "Requests, one in a line"),
        h("textarea", { id: "requests", rows: "5", spellcheck: "false", value: this.requests, "aria-describedby": "requests-doc", oninput: (event) => { this.requests = event.target.value; this.moved(); } }),
        h("p", { class: "doc", id: "requests-doc" }, "OP ADDRESS SIZE; OP is read, write, trim, or flush: read 8 KiB 4 KiB")),
      h("button", { class: "main" }, "Run"));
    this.drawCopy();
  }

  drawCopy() {
    const file = sourceOf(this.scenario);
    const sound = () => requestsOf(this.requests).filter(({ length }) => length === 3);
    fill(this.place.copy, copying([
      ["TOML", async () => (await post("/api/check", { tree: this.scenario.tree }, this.signal)).toml],
      ["command line", () => `nacre step ${quoted(file)} ${sound().map(([op, first, size]) => op === "flush" ? op : `${op}:${first}:${size}`).join(" ")}`],
      ["Python", () => `import nacre\n\nrequests = [\n${sound().map(([op, first, size]) => `    ("${op}", ${first}, ${size}),\n`).join("")}]\nfor answer in nacre.step(${JSON.stringify(file)}, requests):\n    print(answer.latency_ns, answer.spent)`],
      ["link", () => location.href],
    ]));
  }

  async step() {
    const { answers } = this.place;
    await answered(answers, async () => {
      const { tables } = await post("/api/step", { tree: this.scenario.tree, requests: requestsOf(this.requests) }, this.signal);
      fill(answers, tables.map(table));
      this.moved(true);
    });
  }
}
