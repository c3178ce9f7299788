// Papers page: published and simulated values of each claim.

import { rename } from "../address.js";
import { get, post } from "../api.js";
import { fill, h, later } from "../dom.js";
import { figure } from "../figure.js";
import { copying, listed, note, progress, trouble } from "../show.js";

const CLASSES = {
  prediction: "prediction: no value was fitted to it", calibration: "a value was fitted to it", arithmetic: "arithmetic: follows from the inputs",
  trend: "a direction or an order", unclosed: "cannot be decided here",
};
const VERDICTS = {
  pass: "within its tolerance", miss: "outside its tolerance, with an explanation", FAIL: "outside its tolerance, without an explanation", "not run": "not simulated yet",
  unclosed: "cannot be decided here",
};

export async function show(main, query, signal) {
  const page = new Papers(main, signal);
  page.wanted = Object.fromEntries(["paper", "figure", "class", "verdict", "words"].map((key) => [key, query.get(key) ?? ""]));
  fill(main, h("h1", {}, "Papers"), h("p", { class: "soft" }, "reading the claims ..."));
  await page.load();
  page.frame();
  page.follow();
}

class Papers {
  constructor(main, signal) {
    Object.assign(this, { main, signal });
  }

  async load() {
    this.papers = await get("/api/papers", this.signal);
    const { paper, figure: drawn, class: kind, verdict } = this.wanted;
    if (paper) listed("paper", paper, ["all", ...this.papers.map(({ name }) => name)]);
    if (drawn) listed("figure", drawn, Object.keys(this.papers.find(({ name }) => name === paper)?.figures ?? {}));
    if (kind) listed("class", kind, Object.keys(CLASSES));
    if (verdict) listed("verdict", verdict, Object.keys(VERDICTS));
  }

  frame() {
    this.place = { overview: h("div"), bar: h("div", { class: "bar" }), job: h("div"), found: h("div", { "aria-live": "polite" }), copy: h("div") };
    fill(this.main, h("h1", {}, "Papers"),
      h("p", {}, "Published results from six sources, compared with the model. The class of a claim shows how much a match proves: only predictions are evidence."),
      this.place.overview, this.place.bar, this.place.job, this.place.found, this.place.copy);
    this.drawBar();
    this.draw();
  }

  /** Time and version of the simulation; for several claims, of the first. */
  made(rows) {
    const made = rows.map((row) => row.made).filter(Boolean);
    if (!made.length) return "No claim has been simulated yet.";
    const own = made.filter(({ folder }) => folder).length;
    const { date, version, changed } = made.find(({ folder }) => !folder) ?? made[0];
    const shipped = made.length - own;
    const since = changed?.length ? ` Since then these models have changed: ${changed.join(", ")}.` : "";
    return [
      shipped ? `Simulated values are from ${date}, shipped with version ${version}: ${shipped} of ${rows.length} claims.${since}` : null,
      own ? `${own} of ${rows.length} claims were simulated here.` : null,
    ].filter(Boolean).join(" ");
  }

  drawBar() {
    const choose = (key, label, options) => h("div", { class: "field short" }, h("label", { for: key }, label),
      h("select", { id: key, onchange: (event) => this.want({ [key]: event.target.value, ...(key === "paper" ? { figure: "" } : {}) }, key === "paper") },
        options.map(([value, text]) => h("option", { value, selected: value === this.wanted[key] }, text))));
    const chosen = this.papers.find(({ name }) => name === this.wanted.paper);
    const search = later((words) => this.want({ words }), 150);
    fill(this.place.bar,
      choose("paper", "Paper", [["", "overview"], ["all", "all papers"], ...this.papers.map(({ name }) => [name, name])]),
      chosen && choose("figure", "Figure", [["", "all figures"], ...Object.keys(chosen.figures).map((name) => [name, name])]),
      choose("class", "Class", [["", "all classes"], ...Object.keys(CLASSES).map((name) => [name, `${name}: ${CLASSES[name]}`])]),
      choose("verdict", "Verdict", [["", "all verdicts"], ...Object.keys(VERDICTS).map((name) => [name, `${name}: ${VERDICTS[name]}`])]),
      h("div", { class: "field short" }, h("label", { for: "words" }, "Containing"),
        h("input", { id: "words", type: "search", value: this.wanted.words, placeholder: "e.g. latency", oninput: (event) => search(event.target.value) })),
      chosen && h("button", { type: "button", class: "main", onclick: () => this.recompute() }, `Run ${this.wanted.figure || chosen.name} again`));
  }

  want(change, anew = false) {
    Object.assign(this.wanted, change);
    const query = new URLSearchParams(Object.entries(this.wanted).filter(([, value]) => value));
    rename(`/papers${query.size ? `?${query}` : ""}`);
    if (anew) this.drawBar();
    else if ("figure" in change) this.drawBar();
    this.draw();
  }

  draw() {
    const { wanted } = this;
    const isOverview = !wanted.paper && !wanted.class && !wanted.verdict && !wanted.words;
    fill(this.place.overview, isOverview ? this.overview() : null);
    const words = wanted.words.toLowerCase();
    const fits = (paper, row) => (!wanted.figure || row.figure === wanted.figure) && (!wanted.class || row.class === wanted.class)
      && (!wanted.verdict || row.verdict === wanted.verdict) && (!words || `${paper} ${row.figure} ${row.metric} ${row.published}`.toLowerCase().includes(words));
    const listed = isOverview ? [] : this.papers
      .filter(({ name }) => !wanted.paper || wanted.paper === "all" || name === wanted.paper)
      .map((paper) => ({ ...paper, rows: paper.rows.filter((row) => fits(paper.name, row)) })).filter(({ rows }) => rows.length);
    fill(this.place.found, isOverview ? null : [
      h("p", { class: "soft" }, `${listed.reduce((sum, { rows }) => sum + rows.length, 0)} claims`),
      listed.map((paper) => this.paper(paper)),
    ]);
    const name = wanted.paper && wanted.paper !== "all" ? `${wanted.paper}${wanted.figure ? `/${wanted.figure}` : ""}` : "";
    const { figures } = this.papers.find((each) => each.name === wanted.paper) ?? { figures: {} };
    const studies = (figures[wanted.figure] ?? []).map((runs) => [`TOML of ${runs}`, async () => (await get(`/api/papers/${wanted.paper}/runs/${runs}`, this.signal)).toml]);
    fill(this.place.copy, copying([
      ...studies,
      ["command line", () => `nacre reproduce${name && ` ${name}`} --out results`],
      ["Python", () => `import nacre\n\nfound = nacre.reproduce(${name && `"${name}"`})\nfound.rows`],
      ["link", () => location.href],
    ]));
  }

  overview() {
    const count = (rows, wanted) => rows.filter(({ verdict }) => verdict === wanted).length;
    return [h("p", { class: "soft" }, this.made(this.papers.flatMap(({ rows }) => rows)), " Select a paper to run it again."),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "The papers" }, h("table", { class: "roomy" },
      h("thead", {}, h("tr", {}, ["paper", "about", "claims", ...Object.keys(VERDICTS)].map((name, place) => h("th", { scope: "col", class: place > 1 ? "number" : null, title: VERDICTS[name] ?? null }, name)))),
      h("tbody", {}, this.papers.map((paper) => h("tr", {},
        h("td", {}, h("a", { href: `/papers?paper=${paper.name}` }, paper.name)), h("td", {}, paper.title),
        h("td", { class: "number" }, paper.rows.length),
        Object.keys(VERDICTS).map((name) => {
          const found = count(paper.rows, name);
          return h("td", { class: `number ${found ? verdictClass(name) : ""}` }, found || "-");
        }))))))];
  }

  paper(paper) {
    const figures = paper.drawn.filter((name) => !this.wanted.figure || name === this.wanted.figure).filter((name) => paper.rows.some((row) => row.figure === name));
    return h("section", {},
      h("h2", {}, `${paper.name}: ${paper.title}`), h("p", { class: "soft" }, this.made(paper.rows)),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Claims of ${paper.name}` }, h("table", { class: "claims" },
        h("thead", {}, h("tr", {}, ["figure", "what", "published", "simulated", "error", "passes", "class", "verdict"].map((name) => h("th", { scope: "col", class: ["published", "simulated", "error"].includes(name) ? "number" : null }, name)))),
        h("tbody", {}, paper.rows.map((row) => claim(row))))),
      figures.map((name) => [h("h3", {}, name), figure(`/api/papers/${paper.name}/${name}`, name, this.signal)]));
  }

  async recompute() {
    const { paper, figure: name } = this.wanted;
    try {
      await this.watch(await post("/api/papers", { paper, figure: name }, this.signal));
    } catch (error) {
      if (error.name !== "AbortError") note(this.place.job, trouble(error.message, error.problems));
    }
  }

  async follow() {
    const job = (await get("/api/jobs", this.signal).catch(() => [])).find((each) => each.kind === "paper" && ["waiting", "running"].includes(each.state));
    if (job) await this.watch(job).catch(() => {});
  }

  async watch(job) {
    if (!(await progress(this.place.job, job, this.signal))) return;
    await this.load();
    this.drawBar();
    this.draw();
  }
}

/** A claim with expandable notes. */
function claim(row) {
  const about = [
    ["where", row.source], ["why it is not a prediction", row.because], ["why it misses", row.misses], ["note", row.note],
    ["fitted", row.fitted.join("; ")],
    ["simulated", row.made && `${row.made.date}, by version ${row.made.version}${row.made.folder ? `, kept in ${row.made.folder}` : ", as shipped"}`],
  ].filter(([, text]) => text);
  return h("tr", {},
    h("td", {}, row.figure),
    h("td", {}, h("details", {}, h("summary", {}, row.metric), h("dl", {}, about.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])))),
    h("td", { class: /\d/.test(row.published[0] ?? "") ? "number" : "stated" }, row.published),
    h("td", { class: "number" }, row.simulated), h("td", { class: "number" }, row.error),
    h("td", {}, row.tolerance), h("td", { title: CLASSES[row.class] }, row.class), h("td", { class: verdictClass(row.verdict), title: VERDICTS[row.verdict] }, row.verdict));
}

const verdictClass = (verdict) => ({ pass: "good", FAIL: "bad", miss: "bad" })[verdict] ?? "";
