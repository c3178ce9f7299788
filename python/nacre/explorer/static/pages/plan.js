// Plan page: caches and tier mixes for a trace, by budget.

import { rename } from "../address.js";
import { get, post, put } from "../api.js";
import { fill, h, later } from "../dom.js";
import { figure } from "../figure.js";
import { copying, facts, headline, listed, note, progress, quoted, table, trouble } from "../show.js";

const COMMON = ["pcm_ssd", "emlc_ssd", "disk_15k_kim"];
const BYTES = new Intl.NumberFormat("en", { notation: "compact", style: "unit", unit: "byte", unitDisplay: "narrow" });

export async function show(main, query, signal) {
  const [traces, devices, { upload }] = await Promise.all(["traces", "devices", "about"].map((name) => get(`/api/${name}`, signal)));
  const page = new Plan(main, signal, traces, devices, upload);
  await page.begin(query);
}

class Plan {
  constructor(main, signal, traces, devices, bound) {
    Object.assign(this, { main, signal, traces, devices, bound });
    this.scoreSoon = later(() => this.score(), 250);
  }

  async begin(query) {
    this.plan = query.get("plan");
    this.budget = query.get("budget") ?? "";
    const refused = await this.load(query);
    const own = this.shown ? { currency: this.shown.currency, chosen: Object.fromEntries(this.shown.chosen.map(({ name, price }) => [name, Number(query.get(`price.${name}`) ?? price)])), trace: this.shown.trace } : null;
    this.currency = query.get("currency") ?? own?.currency ?? "kim-2014 ratio";
    this.prices = query.has("tier") ? this.asked(query) : own?.chosen ?? this.inCurrency(COMMON);
    this.typed = new Set(Object.keys(this.prices).filter((name) => this.prices[name] !== this.inCurrency([name])[name]));
    this.trace = query.get("trace") ?? own?.trace ?? this.traces[0].id;
    if (query.has("trace")) listed("trace", this.trace, this.traces.map(({ id }) => id));
    this.money = query.get("money") ?? "";
    this.form = own && !["trace", "currency", "tier"].some((key) => query.has(key)) ? null : this.asks();
    this.place = { form: h("form", { class: "plan", onsubmit: (event) => { event.preventDefault(); this.run(); } }), job: h("div"), sliders: h("section"), result: h("section", { "aria-live": "polite" }), copy: h("div"), rest: h("section"), list: h("section") };
    const { place } = this;
    fill(this.main, h("h1", {}, "Plan"),
      h("p", {}, "Finds the best cache and the best mix of memory, flash, and disk for a trace and a budget. Enter a trace and the price per GiB of each device."),
      place.form, place.job, place.result, place.sliders, place.rest, place.copy, place.list);
    this.drawForm();
    if (this.shown) this.drawResult(true);
    if (refused) fill(place.result, trouble(refused.message, refused.problems));
    this.list();
    addEventListener("nacre-ended", () => this.list(), { signal: this.signal });
    if (this.shown) return; // running jobs are listed at the top
    const job = (await get("/api/jobs", this.signal)).find((each) => ["plan", "caches"].includes(each.kind) && ["waiting", "running"].includes(each.state));
    if (job) await this.watch(job);
  }

  /** The plan with the prices and the budget of the address; if they are rejected, the original plan with the reason. */
  async load(query) {
    this.shown = null;
    if (!this.plan) return null;
    try {
      this.shown = await get(this.path(query), this.signal);
      return null;
    } catch (error) {
      if (!error.problems?.length) throw error;
      this.shown = await get(this.path(new URLSearchParams()), this.signal);
      return error;
    }
  }

  /** The devices in an address with their prices: `tier=pcm_ssd:24`. */
  asked(query) {
    return Object.fromEntries(query.getAll("tier").map((each) => {
      const [name, price] = each.split(/:(.*)/);
      if (!this.devices.some((device) => device.name === name)) throw new Error(`The catalog has no device ${name.slice(0, 60)} with a price.`);
      return [name, price && Number.isFinite(Number(price)) ? Number(price) : null];
    }));
  }

  /** The input of the form as parameters of the address. */
  asks() {
    const query = new URLSearchParams({ trace: this.trace, currency: this.currency });
    for (const { name, price } of this.tiers()) query.append("tier", `${name}:${price ?? ""}`);
    return query;
  }

  /** Stores the changed form in the address, next to the plan that is shown. */
  moved() {
    this.form = this.asks();
    this.rename();
  }

  rename() {
    const query = this.shown ? new URLSearchParams({ plan: this.plan }) : new URLSearchParams();
    for (const part of [this.form ?? [], this.shown ? this.query() : []]) for (const [key, value] of part) query.append(key, value);
    if (!this.shown && this.budget) query.set("budget", this.budget);
    if (this.money) query.set("money", this.money);
    rename(`/plan?${query}`);
  }

  inCurrency(names) {
    return Object.fromEntries(names.map((name) => {
      const device = this.devices.find((each) => each.name === name);
      return [name, device?.basis === this.currency ? device.price : null];
    }));
  }

  drawForm() {
    const bases = [...new Set([...this.devices.map(({ basis }) => basis), this.currency])];
    const file = h("input", { type: "file", id: "file", hidden: true, onchange: () => this.upload(file.files[0]) });
    const currency = h("input", { id: "currency", value: this.currency, list: "bases", autocomplete: "off", onchange: (event) => {
      this.currency = event.target.value.trim();
      Object.assign(this.prices, this.inCurrency(Object.keys(this.prices).filter((name) => !this.typed.has(name))));
      this.drawForm();
      this.moved();
    } });
    fill(this.place.form,
      h("div", { class: "bar" },
        h("div", { class: "field" }, h("label", { for: "trace" }, "Trace"),
          h("select", { id: "trace", onchange: (event) => { this.trace = event.target.value; this.moved(); } },
            this.traces.map(({ id, name, bytes }) => h("option", { value: id, selected: id === this.trace }, bytes === null ? `${name} (shipped)` : `${name}, ${BYTES.format(bytes)}`)))),
        file, h("button", { type: "button", class: "quiet", onclick: () => file.click() }, "Upload a trace"),
        h("div", { class: "field short" }, h("label", { for: "currency" }, "Prices are in"), currency, h("datalist", { id: "bases" }, bases.map((basis) => h("option", { value: basis })))),
        h("button", { class: "main" }, "Plan")),
      h("p", { class: "error", id: "wrong-currency", role: "alert" }),
      h("fieldset", {}, h("legend", {}, "Devices and their prices per GiB"), h("p", { class: "error", id: "wrong-tiers", role: "alert" }),
        h("div", { class: "devices" }, this.devices.filter(({ name }) => name in this.prices).map((device) => this.device(device))),
        h("details", {}, h("summary", {}, "More catalog devices"),
          h("div", { class: "devices" }, this.devices.filter(({ name }) => !(name in this.prices)).map((device) => this.device(device))))));
  }

  device({ name, summary, price, basis }) {
    const is = name in this.prices;
    const other = basis !== this.currency ? `${price ?? "?"} in ${basis}` : "";
    return h("div", { class: "device-row" },
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: is, onchange: (event) => {
        this.typed.delete(name);
        if (event.target.checked) Object.assign(this.prices, this.inCurrency([name]));
        else delete this.prices[name];
        this.drawForm();
        this.moved();
      } }), h("span", {}, h("strong", {}, name.replaceAll("_", " ")), h("span", { class: "doc" }, ` ${summary}`))),
      is ? h("span", { class: "price" }, h("input", { id: `price-${name}`, "aria-label": `Price of ${name}`, inputmode: "decimal", value: this.prices[name] ?? "", placeholder: "no price yet", oninput: (event) => {
        this.prices[name] = Number(event.target.value) || null;
        this.typed.add(name);
        this.slide(name);
        this.moved();
      } }),
        h("span", { class: "error", id: `wrong-price-${name}`, role: "alert" })) : h("span", { class: "doc" }, other));
  }

  async upload(file) {
    if (file.size > this.bound.bytes) {
      note(this.place.job, trouble(`${file.name}: ${this.bound.otherwise}`));
      return;
    }
    const stopping = new AbortController();
    note(this.place.job, h("p", { class: "row" }, h("span", { role: "status" }, `Uploading ${file.name} ...`),
      h("button", { type: "button", class: "quiet", onclick: () => stopping.abort() }, "Stop")));
    try {
      const sent = await put(`/api/traces/${encodeURIComponent(file.name)}`, file, AbortSignal.any([this.signal, stopping.signal]));
      this.traces = await get("/api/traces", this.signal);
      this.trace = sent.id;
      note(this.place.job);
      this.drawForm();
      this.moved();
    } catch (error) {
      if (error.name !== "AbortError") note(this.place.job, trouble(error.message, error.problems));
      else if (stopping.signal.aborted) note(this.place.job, h("p", { class: "note" }, "Upload stopped; nothing was stored."));
    }
  }

  tiers() {
    return Object.entries(this.prices).map(([name, price]) => ({ name, price })).sort((one, other) => (other.price ?? 0) - (one.price ?? 0));
  }

  async run() {
    await this.start("/api/plans", { trace: this.trace, currency: this.currency, tiers: this.tiers() });
  }

  /** Starts work; reports errors at their fields. */
  async start(path, document_) {
    for (const place of this.main.querySelectorAll("[id^=wrong-]")) fill(place);
    try {
      await this.watch(await post(path, document_, this.signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      const rest = (error.problems ?? []).filter((problem) => {
        const place = document.getElementById(`wrong-${problem.path}`);
        if (place) place.textContent = [problem.problem, problem.hint].filter(Boolean).join("; ");
        return !place;
      });
      if (rest.length || !error.problems?.length) note(this.place.job, trouble(error.message, rest));
    }
  }

  /** On request only, because the trace is read again for each device. */
  async askLatencies() {
    try {
      const job = await post(`/api/plans/${encodeURIComponent(this.plan)}/latencies`, {}, this.signal);
      if (await progress(this.place.job, job, this.signal)) await this.score();
    } catch (error) {
      if (error.name !== "AbortError") note(this.place.job, trouble(error.message, error.problems));
    }
  }

  async watch(job) {
    const last = await progress(this.place.job, job, this.signal);
    if (!last?.address) return;
    history.pushState(null, "", last.address);
    dispatchEvent(new PopStateEvent("popstate"));
  }

  query() {
    const query = new URLSearchParams();
    for (const { name, price } of this.shown.chosen) if (this.prices[name] !== price && this.prices[name]) query.set(`price.${name}`, this.prices[name]);
    if (this.budget) query.set("budget", this.budget);
    return query;
  }

  path(query) {
    return `/api/plans/${encodeURIComponent(this.plan)}?${query}`;
  }

  /** Scores the mixes with other prices, without reading the trace again. */
  async score() {
    this.rename();
    try {
      this.shown = await get(this.path(this.query()), this.signal);
      this.drawResult(false);
    } catch (error) {
      if (error.name !== "AbortError") fill(this.place.result, trouble(error.message, error.problems));
    }
  }

  drawResult(anew) {
    const { shown, place } = this;
    fill(place.result, h("h2", {}, `Caches and mixes of tiers for ${shown.trace}`), headline(shown.headline));
    if (anew) fill(place.sliders, this.sliders());
    const figures = `/api/plans/${encodeURIComponent(this.plan)}/figures`;
    const name = Object.keys(this.prices).length === 2 ? "score over the shares" : "score over the shares of the first two tiers";
    fill(place.rest, facts(shown.counted), shown.best.map(table), figure(`${figures}/mixes?${this.query()}`, name, this.signal),
      h("h3", {}, "Effect of each assumption"), h("p", { class: "soft" }, "The best mix if one price, or the latencies of one device, change by \u00b120 %."), table(shown.worth),
      shown.latencies ? table(shown.latencies) : h("button", { type: "button", class: "quiet", onclick: () => this.askLatencies() }, "Vary latencies"),
      shown.tiers.map(table),
      h("h2", {}, "Caches"), h("p", {}, "Miss ratios of LRU, ARC, S3-FIFO, and SIEVE caches of each size."), figure(`${figures}/caches`, "misses of caches", this.signal),
      this.caches(),
      h("h2", {}, "The trace"), shown.trace_tables.map(table));
    const file = `${shown.folder}/scenario.toml`;
    const prices = shown.chosen.map(({ name, price }, number) => shown.prices[name] === price ? "" : ` --set ${quoted(`stack.tier[${number}].device.price="${shown.prices[name]} /GiB"`)}`);
    fill(place.copy, copying([
      ["TOML", () => shown.toml],
      ["command line", () => `nacre mixes ${quoted(file)}${prices.join("")}${this.budget ? ` --budget ${this.budget}` : ""} --out results`],
      ["Python", () => `import nacre\n\nfound = nacre.mixes(${JSON.stringify(file)})\nfound = found.repriced(${JSON.stringify(shown.prices)}, ${JSON.stringify(shown.currency)})\nfound${this.budget ? `.within(${this.budget})` : ""}.best()`],
      ["command of the caches", () => shown.caches.shell], ["Python of the caches", () => shown.caches.python],
      ["link", () => location.href],
    ]));
  }

  sliders() {
    const { shown } = this;
    const slider = ({ name, price }) => {
      const told = h("output", { for: `slide-${name}` }, String(this.prices[name] ?? price));
      return h("div", { class: "slider" }, h("label", { for: `slide-${name}` }, name.replaceAll("_", " ")),
        h("input", { type: "range", id: `slide-${name}`, min: "-1", max: "1", step: "0.02", value: String(Math.log10((this.prices[name] ?? price) / price)),
          "aria-valuetext": `${this.prices[name] ?? price} ${shown.currency} per GiB`,
          oninput: (event) => {
            this.prices[name] = Number((price * 10 ** Number(event.target.value)).toPrecision(3));
            this.typed.add(name);
            told.textContent = String(this.prices[name]);
            event.target.setAttribute("aria-valuetext", `${this.prices[name]} ${shown.currency} per GiB`);
            const field = document.getElementById(`price-${name}`);
            if (field) field.value = String(this.prices[name]);
            if (this.form) this.form = this.asks();
            this.scoreSoon();
          } }), told);
    };
    return h("fieldset", { class: "sliders" }, h("legend", {}, `Price per GiB in ${shown.currency}`), shown.chosen.map(slider),
      h("div", { class: "slider" }, h("label", { for: "budget" }, "no mix above"),
        h("input", { id: "budget", inputmode: "decimal", value: this.budget, placeholder: "any price", oninput: (event) => { this.budget = event.target.value.trim(); this.scoreSoon(); } }),
        h("span", { class: "soft" }, "a GiB")));
  }

  /** Applies the entered price to the plan that is shown. */
  slide(name) {
    const slider = document.getElementById(`slide-${name}`);
    const made = this.shown?.chosen.find((each) => each.name === name);
    if (!slider || !made || !this.prices[name] || this.currency !== this.shown.currency) return;
    slider.value = String(Math.log10(this.prices[name] / made.price));
    slider.setAttribute("aria-valuetext", `${this.prices[name]} ${this.shown.currency} per GiB`);
    slider.nextElementSibling.textContent = String(this.prices[name]);
    this.scoreSoon();
  }

  caches() {
    const money = h("input", { id: "money", inputmode: "decimal", value: this.money, placeholder: "e.g. 12", oninput: (event) => { this.money = event.target.value.trim(); this.rename(); } });
    const buy = (event) => {
      event.preventDefault();
      this.start(`/api/plans/${encodeURIComponent(this.plan)}/caches`, { currency: this.currency, tiers: this.tiers(), money: Number(money.value) || null });
    };
    return h("form", { class: "bar", onsubmit: buy },
      h("div", { class: "field short" }, h("label", { for: "money" }, `Budget for a cache in ${this.shown.currency}`), money),
      h("button", { class: "main" }, "Simulate caches for this budget"),
      h("p", { class: "error", id: "wrong-money", role: "alert" }),
      h("p", { class: "doc" }, "Simulates the whole trace with a server cache of each device, as large as the budget allows, in front of a network store, and compares them."));
  }

  async list() {
    const plans = await get("/api/plans", this.signal).catch(() => []);
    fill(this.place.list, plans.length ? [h("h2", {}, "Plans so far"), h("ul", {}, plans.map(({ id, modified }) => h("li", {}, h("a", { href: `/plan?plan=${id}` }, id), ` ${new Date(1000 * modified).toLocaleString()}`)))] : null);
  }
}
