// Design page: edit a stack, run it, show the result, compare runs.

import { rename } from "../address.js";
import { get, post, text } from "../api.js";
import { fill, h, later } from "../dom.js";
import { figure, warm } from "../figure.js";
import { Form, inside } from "../form.js";
import { scenarioOf } from "../picker.js";
import { picture } from "../picture.js";
import { Schema } from "../schema.js";
import { during } from "../state.js";
import { copying, facts, follows, headline, note, progress, quoted, sentence, table, trouble } from "../show.js";
import { at, changes, isSame, put } from "../tree.js";

const BEGINNING = "server-cache-zipf";
let vocabulary = null;

/** The schema and the built-in scenarios, requested once; `signal` aborts. */
export async function schema(signal) {
  vocabulary ??= new Schema(await get("/api/vocabulary"));
  signal.throwIfAborted();
  return vocabulary;
}

export async function show(main, query, signal) {
  const known = await schema(signal);
  const page = new Design(main, known, signal);
  if (query.has("compare")) return page.compare(query.get("compare"));
  const run = query.get("run");
  const shown = run ? await get(`/api/runs/${encodeURIComponent(run)}`, signal) : null;
  page.begin(shown ? { from: null, tree: structuredClone(shown.scenario) } : await scenarioOf(query, known, BEGINNING, signal), shown);
}

class Design {
  constructor(main, known, signal) {
    Object.assign(this, { main, schema: known, signal, values: {}, problems: [], folds: new Set(), chosen: "stack", words: {} });
    this.checkSoon = later(() => this.check(), 200);
  }

  begin({ from, tree }, shown) {
    this.from = from;
    this.tree = tree;
    this.place = {
      bar: h("div", { class: "bar" }), picture: h("section", { class: "picture", "aria-label": "The stack" }),
      form: h("form", { class: "form", id: "settings", "aria-label": "Settings", onsubmit: (event) => { event.preventDefault(); this.run(); } }),
      errors: h("div", { "aria-live": "polite" }), copy: h("div"), job: h("div"), result: h("section", { "aria-label": "Result" }), runs: h("section"),
    };
    const { place } = this;
    fill(this.main, h("h1", {}, "Design"),
      h("p", {}, "Build a storage stack and run it. To size a cache for a trace, use ", h("a", { href: "/plan" }, "Plan"), "."),
      place.bar, place.job, place.errors, h("div", { class: "halves" }, place.picture, place.form), place.copy, place.result, place.runs);
    this.drawBar();
    this.draw();
    if (shown) this.showRun(shown);
    this.check();
    this.listRuns();
    addEventListener("nacre-ended", () => this.listRuns(), { signal: this.signal });
    this.follow();
  }

  drawBar() {
    const { scenarios } = this.schema;
    const file = h("input", { type: "file", accept: ".toml", hidden: true, onchange: () => during(file.files[0].text().then((toml) => this.open(toml))) });
    fill(this.place.bar,
      h("div", { class: "field" }, h("label", { for: "from" }, "Start from"),
        h("select", { id: "from", onchange: (event) => this.beginWith(event.target.value) },
          h("option", { value: "", selected: !this.from, disabled: true }, "your own scenario"),
          Object.entries(scenarios).map(([name, { summary }]) => h("option", { value: name, selected: name === this.from }, `${name}: ${summary}`)))),
      h("button", { type: "button", class: "quiet", onclick: () => file.click() }, "Open a file"), file,
      h("button", { type: "button", class: "quiet", onclick: () => this.edit() }, "Edit as text"),
      h("button", {
        class: "main", id: "run", form: "settings",
        // On press, not on release: the page may move the button in between.
        onpointerdown: ({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId),
      }, "Run"));
  }

  beginWith(name) {
    this.from = name;
    this.replace(structuredClone(this.schema.scenarios[name].tree));
  }

  replace(tree) {
    Object.assign(this, { tree, values: {}, problems: [], chosen: "stack" });
    this.draw();
    this.check();
  }

  async open(toml) {
    try {
      const { tree } = await post("/api/parse", { toml }, this.signal);
      this.from = null;
      this.drawBar();
      this.replace(tree);
    } catch (error) {
      fill(this.place.errors, trouble(error.message, error.problems));
    }
  }

  /** The scenario as editable text. */
  edit() {
    const area = h("textarea", { "aria-label": "The scenario as TOML", rows: "22", spellcheck: "false", value: this.words.toml ?? "" });
    const close = () => { this.draw(); this.place.picture.querySelector("button")?.focus(); };
    fill(this.place.form, area, h("div", { class: "row" },
      h("button", { type: "button", class: "main", onclick: () => this.open(area.value) }, "Use this text"),
      h("button", { type: "button", class: "quiet", onclick: close }, "Cancel")));
    area.focus();
  }

  set(path, value, anew = false) {
    put(this.tree, path, value);
    if (anew) this.draw();
    this.checkSoon();
  }

  async check() {
    const about = { tree: this.tree, from: this.from, changes: this.changes(), run: this.shown?.id ?? null };
    const asked = (this.asked = (this.asked ?? 0) + 1);
    let found;
    try {
      found = await post("/api/check", about, this.signal);
    } catch (error) {
      if (error.name !== "AbortError") fill(this.place.errors, trouble(error.message, error.problems));
      return;
    }
    if (asked !== this.asked) return;
    this.problems = found.problems;
    if (!found.problems.length) this.values = Object.fromEntries(Object.entries(found.values));
    this.words = found;
    if (!this.place.form.querySelector("textarea")) this.draw();
    this.drawCopy();
    if (!this.isShowingItsRun()) rename(this.address());
  }

  changes() {
    return this.from ? changes(this.schema.scenarios[this.from].tree, this.tree) : null;
  }

  address() {
    const found = this.changes();
    const query = new URLSearchParams();
    if (found) {
      query.set("from", this.from);
      for (const [path, value] of found) query.append("set", `${path}=${JSON.stringify(value)}`);
    } else query.set("scenario", JSON.stringify(this.tree));
    return `/design?${query}`;
  }

  isShowingItsRun() {
    return this.shown && isSame(this.shown.scenario, this.tree);
  }

  draw() {
    const { place, schema: known, tree, values, problems, chosen, folds } = this;
    const focused = document.activeElement;
    const kept = place.form.contains(focused) && focused.name ? [focused.name, focused.selectionStart] : null;
    const isPicture = place.picture.contains(focused) ? focused.dataset.path : null;
    const view = { schema: known, tree, values, problems, chosen, folds };
    const boxes = ["workload", "run", "stack", ...below(known, "stack", tree.stack)];
    const home = (path) => boxes.filter((each) => each === path || inside(path, each)).sort((a, b) => b.length - a.length)[0];
    fill(place.picture, picture({
      ...view, choose: (path) => { this.chosen = path; this.draw(); },
      wrong: (path) => problems.filter((each) => home(each.path) === path).length,
    }));
    if (isPicture) place.picture.querySelector(`[data-path="${CSS.escape(isPicture)}"]`)?.focus();
    const form = new Form({ ...view, set: (...given) => this.set(...given) });
    fill(place.form, this.fields(form));
    const lost = problems.filter((each) => !form.used.has(each));
    fill(place.errors, problems.length ? this.summary(problems, lost, home) : null);
    if (kept) {
      const field = place.form.querySelector(`[name="${CSS.escape(kept[0])}"]:not(select)`) ?? place.form.querySelector(`[name="${CSS.escape(kept[0])}"]`);
      field?.focus();
      if (kept[1] !== null && field?.setSelectionRange) field.setSelectionRange(kept[1], kept[1]);
    }
    const run = place.bar.querySelector("#run");
    if (run) run.disabled = problems.length > 0;
  }

  fields(form) {
    const { chosen, tree, schema: known } = this;
    if (chosen === "run") {
      const own = known.root.properties;
      return [h("h2", {}, "Run"), form.plain("name", "name", own.name, tree.name, false), form.table("run", own.run.properties, [], tree.run)];
    }
    const family = chosen === "workload" ? "workload" : "device";
    const role = chosen.replaceAll("_", " ").replaceAll(".", ", ");
    return [h("h2", {}, role[0].toUpperCase() + role.slice(1)), form.slot(chosen, family, at(tree, chosen), "kind")];
  }

  /** All errors, each with a link to its field. */
  summary(problems, lost, home) {
    const lead = (each) => () => {
      this.chosen = home(each.path) ?? this.chosen;
      this.draw();
      const field = [...this.place.form.querySelectorAll("[data-path]")].filter((one) => one.dataset.path === each.path || inside(each.path, one.dataset.path)).pop();
      field?.querySelector("input, select")?.focus();
    };
    return h("div", { class: "trouble" }, h("p", {}, h("strong", {}, problems.length === 1 ? "1 error" : `${problems.length} errors`)),
      h("ul", {}, problems.map((each) => h("li", {}, each.path
        ? h("button", { type: "button", class: "link", onclick: lead(each) }, each.path) : null,
        each.path ? `: ${sentence({ ...each, path: "" })}` : sentence(each)))));
  }

  drawCopy() {
    const link = () => new URL(this.isShowingItsRun() ? `/design?run=${this.shown.id}` : this.address(), location).href;
    fill(this.place.copy, copying([
      ["TOML", () => this.words.toml], ["command line", () => this.words.shell], ["Python", () => this.words.python], ["link", link],
    ]));
  }

  async run() {
    const scenario = JSON.stringify(this.tree);
    try {
      const job = await post("/api/runs", { tree: this.tree }, this.signal);
      await this.watch(job, scenario);
    } catch (error) {
      if (error.name !== "AbortError") note(this.place.job, trouble(error.message, error.problems));
    }
  }

  /** Follows runs that were running when the page was opened. */
  async follow() {
    const jobs = await get("/api/jobs", this.signal).catch(() => []);
    for (const job of jobs) if (job.kind === "run" && ["waiting", "running"].includes(job.state)) this.watch(job, null).catch(() => {});
  }

  async watch(job, scenario) {
    warm();
    const last = await progress(this.place.job, job, this.signal);
    if (!last?.address) return;
    const name = new URLSearchParams(last.address.split("?")[1]).get("run");
    if (scenario === null && this.shown) {
      note(this.place.job, h("p", { class: "note" }, `${job.title} is done: `, h("a", { href: last.address }, name)));
      this.listRuns();
      return;
    }
    const shown = await get(`/api/runs/${encodeURIComponent(name)}`, this.signal);
    if (scenario === JSON.stringify(this.tree)) history.pushState(null, "", last.address);
    this.showRun(shown);
    // Does not scroll while another run could be about to be stopped.
    if (scenario !== null && !follows(this.place.job)) this.place.result.scrollIntoView({ block: "start" });
    this.check();
    this.listRuns();
  }

  showRun(shown) {
    this.shown = shown;
    const path = `/api/runs/${encodeURIComponent(shown.id)}`;
    fill(this.place.result, result(shown, path, this.signal));
  }

  /** The list of runs: as many as before, or the first page. */
  async listRuns(more = null) {
    const runs = more === null ? [] : [...this.runs];
    const wanted = more === null ? this.runs?.length ?? 0 : 0;
    let next = more ?? 0;
    let total = 0;
    do {
      const found = await get(`/api/runs?from=${next}`, this.signal).catch(() => null);
      if (!found) return;
      const known = new Set(runs.map(({ id }) => id));
      runs.push(...found.runs.filter(({ id }) => !known.has(id)));
      ({ next, total } = found);
    } while (next !== null && runs.length < wanted);
    this.runs = runs;
    const chosen = [...this.place.runs.querySelectorAll("input:checked")].map(({ value }) => value);
    const rest = next === null ? null : h("p", { class: "row" }, h("span", { role: "status" }, `The latest ${runs.length} of ${total} runs.`),
      h("button", { type: "button", class: "quiet", onclick: () => this.listRuns(next) }, "Show more"));
    fill(this.place.runs, runs.length ? [runList(runs, this.shown?.id, chosen), rest] : null);
  }

  async compare(names) {
    const path = `/api/compared/${names.split(",").map(encodeURIComponent).join(",")}`;
    const found = await get(path, this.signal);
    fill(this.main, h("h1", {}, "Side by side"), headline(found.headline), found.tables.map(table),
      copying([
        ["command line", () => `nacre report ${found.folders.map(quoted).join(" ")} --html report.html`],
        ["Python", () => `import nacre\n\nnacre.compare([${found.folders.map((each) => `\n    nacre.load(${JSON.stringify(each)}),`).join("")}\n])`],
        ["link", () => location.href],
      ]),
      found.figures.map((name) => figure(`${path}/figures/${name}`, name.replaceAll("-", " "), this.signal)),
      h("h2", {}, "Compared runs"), h("ul", {}, found.names.map((name) => h("li", {}, h("a", { href: `/design?run=${name}` }, name)))));
  }
}

const below = (known, path, value) => known.below(path, value ?? {}).flatMap((each) => [each.path, ...below(known, each.path, each.value)]);

/** The result of a run: headline, tables, and figures. */
function result(shown, path, signal) {
  const report = async () => {
    const address = URL.createObjectURL(new Blob([await text(`${path}/report`)], { type: "text/html" }));
    h("a", { href: address, download: `${shown.id}.html` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return [
    h("h2", {}, `Result: ${shown.id}`), headline(shown.headline), facts(shown.facts), shown.tables.map(table),
    h("p", { class: "soft" }, `${shown.assumed} values are assumed. Record and scenario are saved in ${shown.folder}. `,
      h("button", { type: "button", class: "link", onclick: report }, "Save the report")),
    shown.figures.map((name) => figure(`${path}/figures/${name}`, name.replaceAll("_", " "), signal)),
  ];
}

function runList(runs, current, before) {
  const chosen = () => [...list.querySelectorAll("input:checked")].map((each) => each.value);
  const button = h("a", { class: "button", hidden: true }, "Compare");
  const choose = () => {
    button.hidden = chosen().length < 2;
    button.href = `/design?compare=${chosen().join(",")}`;
  };
  const list = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Runs" }, h("table", { class: "runs" },
    h("thead", {}, h("tr", {}, ["compare", "run", "when", "requests/s", "read", "write", "state"].map((name, place) => h("th", { scope: "col", class: [3, 4, 5].includes(place) ? "number" : null }, place % 6 ? name : h("span", { class: "unseen" }, name))))),
    h("tbody", {}, runs.map((run) => h("tr", { "aria-current": run.id === current ? "true" : null },
      h("td", {}, h("input", { type: "checkbox", value: run.id, "aria-label": `Compare ${run.id}`, checked: before.includes(run.id), onchange: choose })),
      h("td", {}, h("a", { href: `/design?run=${run.id}` }, run.id)),
      h("td", {}, new Date(1000 * run.modified).toLocaleString()),
      [run.iops, run.read ?? "-", run.write ?? "-"].map((cell) => h("td", { class: "number" }, cell)),
      h("td", {}, run.complete ? "" : "stopped early"))))));
  choose();
  return [h("h2", {}, "Runs"), h("p", { class: "soft" }, "Select two or more to compare them."), list, button];
}
