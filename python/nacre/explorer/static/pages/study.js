// Study page: many designs, the best of them, and the influence of each axis.

import { get, glance, post } from "../api.js";
import { fill, h } from "../dom.js";
import { drawn, figure, frame } from "../figure.js";
import { inside, read } from "../form.js";
import { named, picker, scenarioOf } from "../picker.js";
import { copying, facts, headline, note, progress, quoted, sentence, table, trouble } from "../show.js";
import { isWhole, whole } from "../requests.js";
import { schema } from "./design.js";

const GOALS = { mean: "low mean latency", p99: "low p99 latency", iops: "high requests/s", cost: "low cost", iops_per_cost: "high requests/s per cost", energy_j: "low energy", lifetime_days: "long life" };
const AXES = [
  { path: "stack.level[0].device.capacity", values: "4 MiB, 16 MiB, 64 MiB" },
  { path: "stack.level[0].policy", values: "lru, arc" },
];

export async function show(main, query, signal) {
  const known = await schema(signal);
  const shown = query.has("study") ? await get(`/api/studies/${encodeURIComponent(query.get("study"))}`, signal) : null;
  const page = new Study(main, known, signal);
  await page.begin(query, shown);
}

class Study {
  constructor(main, known, signal) {
    Object.assign(this, { main, known, signal });
  }

  async begin(query, shown) {
    this.scenario = shown ? { name: "", from: null, tree: shown.asked.scenario } : await scenarioOf(query, this.known, "server-cache-zipf", this.signal);
    this.axes = shown ? shown.asked.axis.map(({ path, values }) => ({ path, values: values.join(", ") })) : query.has("axis") ? query.getAll("axis").map((each) => { const [path, values] = each.split(/=(.*)/s); return { path, values: values ?? "" }; }) : structuredClone(AXES);
    this.goals = shown ? shown.asked.objective.map(({ of }) => of) : query.has("for") ? query.getAll("for") : ["mean", "cost"];
    this.runs = shown ? String(shown.asked.seeds?.length ?? 1) : query.get("seeds") ?? "1";
    this.name = shown?.asked.name ?? query.get("name") ?? "study";
    this.place = { form: h("form", { onsubmit: (event) => { event.preventDefault(); this.run(); } }), job: h("div"), result: h("section", { "aria-live": "polite" }), copy: h("div"), list: h("section") };
    const { place } = this;
    fill(this.main, h("h1", {}, "Study"), h("p", {}, "Runs every combination of some settings on all cores and shows the Pareto front and the most important settings."),
      place.form, place.job, place.result, place.copy, place.list);
    await this.findPaths();
    await this.drawForm();
    if (shown) this.showStudy(shown);
    this.list();
    addEventListener("nacre-ended", () => this.list(), { signal: this.signal });
    if (shown) return; // running jobs are listed at the top
    const job = (await get("/api/jobs", this.signal)).find((each) => each.kind === "study" && ["waiting", "running"].includes(each.state));
    if (job) await this.watch(job);
  }

  /** Every resolved setting of the scenario; each can be an axis. */
  async findPaths() {
    const { values } = await post("/api/check", { tree: this.scenario.tree }, this.signal);
    this.values = values;
  }

  async drawForm() {
    const choose = async (chosen) => { this.scenario = chosen; await this.findPaths(); this.drawForm(); this.moved(); };
    const few = h("div", { class: "bar" }, await picker(this.known, this.scenario, choose, this.signal),
      h("div", { class: "field short" }, h("label", { for: "name" }, "Name"), h("input", { id: "name", value: this.name, oninput: (event) => { this.name = event.target.value; this.moved(); } })),
      h("div", { class: "field short" }, h("label", { for: "seeds" }, "Runs of each"), h("input", { id: "seeds", inputmode: "numeric", value: this.runs, "aria-describedby": "wrong-runs", oninput: (event) => { this.runs = event.target.value; this.tellRuns(); this.moved(); } }),
        h("p", { class: "error", id: "wrong-runs", role: "alert" })),
      h("button", { class: "main" }, "Start"));
    const axis = (each, place) => h("div", { class: "axis" },
      h("div", { class: "field" }, h("label", { for: `path-${place}` }, `Setting ${place + 1}`), h("input", { id: `path-${place}`, list: "paths", value: each.path, spellcheck: "false", autocomplete: "off", oninput: (event) => { each.path = event.target.value.trim(); this.moved(); },
        onchange: () => { document.getElementById(`now-${place}`).textContent = this.now(each.path); } })),
      h("div", { class: "field" }, h("label", { for: `values-${place}` }, "takes the values"), h("input", { id: `values-${place}`, value: each.values, spellcheck: "false", autocomplete: "off", placeholder: "e.g. 1, 2, 4", oninput: (event) => { each.values = event.target.value; this.moved(); } }), h("p", { class: "doc", id: `now-${place}` }, this.now(each.path)), h("p", { class: "error", id: `wrong-axis-${place}`, role: "alert" })),
      h("button", { type: "button", class: "quiet", "aria-label": `Remove setting ${place + 1}`, onclick: () => { this.axes.splice(place, 1); this.drawForm(); this.moved(); } }, "Remove"));
    fill(this.place.form, few,
      h("datalist", { id: "paths" }, Object.keys(this.values).filter((path) => /^(workload|stack|run)\./.test(path)).map((path) => h("option", { value: path }))),
      h("fieldset", {}, h("legend", {}, "Settings to vary"), this.axes.map(axis),
        h("button", { type: "button", class: "quiet", onclick: () => { this.axes.push({ path: "", values: "" }); this.drawForm(); } }, "Add a setting")),
      h("fieldset", { class: "line" }, h("legend", {}, "Objectives"), Object.entries(GOALS).map(([name, words]) => h("label", { class: "check" },
        h("input", { type: "checkbox", checked: this.goals.includes(name), onchange: (event) => {
          this.goals = event.target.checked ? [...this.goals, name] : this.goals.filter((each) => each !== name);
          this.moved();
        } }), words))));
    this.tellRuns();
    this.drawCopy();
  }

  now(path) {
    const found = this.values[path] ?? this.values[`${path}.preset`] ?? this.values[`${path}.kind`];
    return found ? `It is ${found.value} now.` : path ? "The scenario has no such value yet." : "";
  }

  asked() {
    return {
      name: this.name, scenario: this.scenario.tree,
      axis: this.axes.map(({ path, values }) => ({ path, values: values.split(",").map((each) => read(each, {})).filter((each) => each !== undefined) })),
      objective: this.goals.map((of) => ({ of })),
    };
  }

  /** The study as sent to the server; an invalid number of runs is sent unchanged, and the server reports it. */
  given() {
    return { study: this.asked(), runs: whole(this.runs) };
  }

  tellRuns() {
    const is = isWhole(whole(this.runs), 1);
    document.getElementById("seeds").setAttribute("aria-invalid", String(!is));
    fill(document.getElementById("wrong-runs"), is ? null : h("span", {}, "it is not a whole number from 1 to 1,000"));
  }

  moved() {
    this.shown = null;
    const query = new URLSearchParams({ ...named(this.scenario), name: this.name });
    if (this.runs.trim() !== "1") query.set("seeds", this.runs);
    for (const { path, values } of this.axes) query.append("axis", `${path}=${values}`);
    for (const goal of this.goals) query.append("for", goal);
    history.replaceState(null, "", `/study?${query}`);
    this.drawCopy();
  }

  drawCopy() {
    const toml = async () => this.shown ? this.shown.toml : (await post("/api/study-text", this.given(), this.signal)).toml;
    const file = this.shown ? `${this.shown.folder}/study.toml` : "study.toml";
    fill(this.place.copy, copying([
      ["TOML", toml], ["command line", () => `nacre study ${quoted(file)} --out results`],
      ["Python", () => `import nacre\n\nfound = nacre.study(${JSON.stringify(file)}, out="results")\nfound.pareto()`], ["link", () => location.href],
    ]));
  }

  async run() {
    for (const place of this.main.querySelectorAll("[id^=wrong-]")) fill(place);
    try {
      await this.watch(await post("/api/studies", this.given(), this.signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      const rest = (error.problems ?? []).filter((problem) => {
        if (problem.path === "runs") {
          fill(document.getElementById("wrong-runs"), h("span", {}, `${problem.problem}; ${problem.hint}`));
          return false;
        }
        const place = /^axis\[(\d+)\]/.exec(problem.path);
        const number = place ? Number(place[1]) : this.axes.findIndex(({ path }) => path && (problem.path === path || inside(problem.path, path)));
        if (!(number in this.axes)) return true;
        document.getElementById(`wrong-axis-${number}`).append(h("span", {}, `${sentence({ ...problem, path: "" })} `));
        return false;
      });
      if (rest.length || !error.problems?.length) note(this.place.job, trouble(error.message, rest));
    }
  }

  async watch(job) {
    const front = { told: h("div"), figure: frame("the front so far", { hidden: true }) };
    fill(this.place.result, front.told, front.figure);
    const last = await progress(this.place.job, job, this.signal, (report) => this.showFront(front, report));
    fill(this.place.result);
    if (!last?.address) return;
    history.pushState(null, "", last.address);
    this.showStudy(await get(`/api/studies/${new URLSearchParams(last.address.split("?")[1]).get("study")}`, this.signal));
    this.list();
  }

  /** The front of the finished designs while others run. */
  async showFront(front, { address, done, state }) {
    if (!address || state !== "running" || done === front.seen || front.isLooking) return;
    Object.assign(front, { isLooking: true, seen: done });
    try {
      const name = new URLSearchParams(address.split("?")[1]).get("study");
      const found = await glance(`/api/studies/${encodeURIComponent(name)}/live`, this.signal);
      fill(front.told, facts(found.facts));
      if (found.figure) {
        await drawn(front.figure, found.figure, "the front so far");
        front.figure.hidden = false;
      }
    } catch (error) {
      if (error.name !== "AbortError") fill(front.told, h("p", { class: "soft" }, error.message));
    }
    front.isLooking = false;
  }

  showStudy(shown) {
    this.shown = shown;
    const path = `/api/studies/${encodeURIComponent(shown.id)}`;
    const again = async () => {
      try {
        await this.watch(await post(`${path}/resume`, {}, this.signal));
      } catch (error) {
        if (error.name !== "AbortError") note(this.place.job, trouble(error.message, error.problems));
      }
    };
    const { result } = shown;
    fill(this.place.result, h("h2", {}, `Study: ${shown.id}`),
      shown.complete ? null : h("p", {}, "Stopped early. ", h("button", { type: "button", class: "main", onclick: again }, "Continue")),
      result ? [headline(result.headline), facts(result.facts), result.figures.map((name) => figure(`${path}/figures/${name}`, name, this.signal)), result.tables.map(table)] : h("p", { class: "soft" }, shown.why),
      h("p", { class: "soft" }, `${result?.assumed ? `${result.assumed} values are assumed; nacre report ${shown.folder} --html report.html lists them. ` : ""}All records and the study (TOML) are saved in ${shown.folder}.`));
    this.drawCopy();
  }

  async list() {
    const studies = await get("/api/studies", this.signal).catch(() => []);
    fill(this.place.list, studies.length ? [h("h2", {}, "Studies so far"), h("ul", {}, studies.map(({ id, modified, running }) => h("li", {}, h("a", { href: `/study?study=${id}` }, id), ` ${new Date(1000 * modified).toLocaleString()}${running ? ", running" : ""}`)))] : null);
  }
}
