// Crash page: power-loss tests of a stack, with losses and durability guarantees.

import { rename } from "../address.js";
import { get, post } from "../api.js";
import { fill, h } from "../dom.js";
import { figure } from "../figure.js";
import { named, picker, scenarioOf, sourceOf } from "../picker.js";
import { copying, facts, listed, note, progress, quoted, table, trouble } from "../show.js";
import { isWhole, whole } from "../requests.js";
import { schema } from "./design.js";

const LEAST = { points: 1, seed: 0 };

export async function show(main, query, signal) {
  const known = await schema(signal);
  const faults = await get("/api/faults", signal);
  const shown = query.has("found") ? await get(`/api/crashes/${encodeURIComponent(query.get("found"))}`, signal) : null;
  const asked = shown ? { ...shown.asked, name: "" } : {
    ...(await scenarioOf(query, known, "disk-15k", signal)),
    points: whole(query.get("points") ?? "2000"), seed: whole(query.get("seed") ?? "1"), faults: query.getAll("fault"),
  };
  for (const name of asked.faults) listed("fault", name, faults);
  await new Crash(main, known, signal, faults, asked).begin(shown);
}

class Crash {
  constructor(main, known, signal, faults, asked) {
    Object.assign(this, { main, known, signal, faults, asked });
  }

  async begin(shown) {
    this.place = { bar: h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); this.run(); } }), job: h("div"), result: h("section", { "aria-live": "polite" }), copy: h("div"), list: h("section") };
    const { place } = this;
    fill(this.main, h("h1", {}, "Crash"), h("p", {}, "Cuts power at random points during a random workload, then checks every block against the durability guarantee."),
      place.bar, place.job, place.copy, place.result, place.list);
    await this.drawBar();
    for (const key of Object.keys(LEAST)) this.tell(key);
    if (shown) this.showFound(shown);
    this.drawCopy();
    this.list();
    addEventListener("nacre-ended", () => this.list(), { signal: this.signal });
    if (shown) return; // running jobs are listed at the top
    const job = (await get("/api/jobs", this.signal)).find((each) => each.kind === "crash" && ["waiting", "running"].includes(each.state));
    if (job) await this.watch(job);
  }

  async drawBar() {
    const { asked } = this;
    const choose = (chosen) => { Object.assign(asked, { file: null }, chosen); this.moved(); };
    const number = (key, label) => h("div", { class: "field short" }, h("label", { for: key }, label),
      h("input", { id: key, name: key, inputmode: "numeric", value: String(asked[key]), oninput: (event) => { asked[key] = whole(event.target.value); this.tell(key); this.moved(); } }),
      h("p", { class: "error", id: `wrong-${key}`, role: "alert" }));
    fill(this.place.bar, await picker(this.known, asked, choose, this.signal), number("points", "Minimum number of power losses"), number("seed", "Seed"),
      h("button", { class: "main" }, "Cut power"),
      h("fieldset", { class: "line" }, h("legend", {}, "Media faults"), this.faults.map((name) => h("label", { class: "check" },
        h("input", { type: "checkbox", checked: asked.faults.includes(name), onchange: (event) => {
          asked.faults = event.target.checked ? [...asked.faults, name] : asked.faults.filter((each) => each !== name);
          this.moved();
        } }), name.replaceAll("_", " ")))));
    this.drawCopy();
  }

  /** Reports input that is not a number at its field; the server checks the range. */
  tell(key) {
    const is = isWhole(this.asked[key], LEAST[key]);
    document.getElementById(key).setAttribute("aria-invalid", String(!is));
    fill(document.getElementById(`wrong-${key}`), is ? null : h("span", {}, `it is not a whole number of at least ${LEAST[key]}`));
  }

  moved() {
    const { asked } = this;
    const query = new URLSearchParams({ ...named(asked), points: asked.points, seed: asked.seed });
    asked.faults.forEach((name) => query.append("fault", name));
    this.kept = null;
    rename(`/crash?${query}`);
    this.drawCopy();
  }

  drawCopy() {
    const { asked } = this;
    const scenario = this.kept ?? sourceOf(asked);
    fill(this.place.copy, copying([
      ["TOML", async () => (await post("/api/check", { tree: asked.tree })).toml],
      ["command line", () => `nacre crash ${quoted(scenario)} --points ${asked.points} --seed ${asked.seed}${asked.faults.map((name) => ` --fault ${name}`).join("")} --out results`],
      ["Python", () => `import nacre\n\nfound = nacre.crash(${JSON.stringify(scenario)}, points=${asked.points}, seed=${asked.seed}, faults=${JSON.stringify(asked.faults)})`],
      ["link", () => location.href],
    ]));
  }

  async run() {
    const { tree, points, seed, faults } = this.asked;
    for (const key of ["points", "seed"]) fill(document.getElementById(`wrong-${key}`));
    try {
      await this.watch(await post("/api/crashes", { tree, points, seed, faults }, this.signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      const rest = (error.problems ?? []).filter((problem) => {
        const place = document.getElementById(`wrong-${problem.path}`);
        if (place) place.textContent = `${problem.problem}; ${problem.hint}`;
        return !place;
      });
      if (rest.length || !error.problems?.length) note(this.place.job, trouble(error.message, rest));
    }
  }

  async watch(job) {
    const last = await progress(this.place.job, job, this.signal);
    if (!last?.address) return;
    history.pushState(null, "", last.address);
    this.showFound(await get(`/api/crashes/${new URLSearchParams(last.address.split("?")[1]).get("found")}`, this.signal));
    this.drawCopy();
    this.list();
  }

  showFound(found) {
    this.kept = `${found.folder}/scenario.toml`;
    fill(this.place.result, h("h2", {}, `Found: ${found.id}`),
      h("p", { class: `headline ${found.broken ? "bad" : ""}` }, found.headline.join(" ")), facts(found.facts),
      found.steps.length ? [h("h3", {}, "Shortest sequence of steps that reproduces it"), h("pre", { tabindex: "0" }, found.steps.join("\n"))] : null,
      found.tables.map(table),
      found.figures.map((name) => figure(`/api/crashes/${found.id}/figures/${name}`, `${name} times`, this.signal)),
      h("p", { class: "soft" }, `${found.assumed} values are assumed; the page crash.html lists them. Saved in ${found.folder}.`));
  }

  async list() {
    const found = await get("/api/crashes", this.signal).catch(() => []);
    fill(this.place.list, found.length ? [h("h2", {}, "So far"), h("ul", {}, found.map((each) => h("li", {},
      h("a", { href: `/crash?found=${each.id}` }, each.id), ` ${each.points} power losses, ${each.outcome}, ${new Date(1000 * each.modified).toLocaleString()}`)))] : null);
  }
}
