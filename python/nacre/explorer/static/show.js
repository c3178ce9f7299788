// Shared parts of pages: tables, sentences, errors, text to copy, running jobs.

import { h, fill } from "./dom.js";
import { follow } from "./api.js";
import { during } from "./state.js";
import { stopping, watchedHere } from "./under_way.js";

/** A table from the server. */
export const table = ({ title, columns, numeric, rows }) =>
  h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": title || columns.filter(Boolean).join(", ") },
    h("table", {},
      title && h("caption", {}, title),
      h("thead", {}, h("tr", {}, columns.map((name, place) => h(name ? "th" : "td", { scope: name ? "col" : null, class: numeric[place] ? "number" : null }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => h("td", { class: numeric[place] ? "number" : null }, cell)))))));

/** Throws an error if the item named in an address does not exist, instead of showing another one. */
export function listed(what, name, names) {
  if (names.includes(name)) return;
  const there = names.length ? `there are ${names.slice(0, 20).join(", ")}${names.length > 20 ? " and more" : ""}` : "there are none";
  throw new Error(`There is no ${what} called ${name.slice(0, 60)}; ${there}.`);
}

/** The headline of a result. */
export const headline = (sentences) => sentences.length ? h("p", { class: "headline" }, sentences.join(" ")) : null;

export const facts = (lines) => h("ul", { class: "facts" }, lines.map((line) => h("li", {}, line)));

/** An error message with its problems: location, description, and remedy. */
export const trouble = (message, problems = []) =>
  h("div", { class: "trouble", role: "alert" },
    problems.length ? problems.map((problem) => h("p", {}, sentence(problem))) : h("p", {}, message));

/** A problem in one sentence, as on the command line. */
export function sentence({ path, problem, given, hint }) {
  const found = `${path ? `${path}: ` : ""}${problem}${given ? `, given ${given}` : ""}`;
  return hint ? `${found}; ${hint}` : found;
}

/** A row of buttons, each of which shows a text and copies it. */
export function copying(words) {
  const shown = h("pre", { hidden: true, tabindex: "0" });
  const told = h("span", { class: "soft", role: "status" });
  const copy = async (chosen, text) => {
    const found = await text();
    const again = !shown.hidden && shown.textContent === found;
    for (const each of buttons) each.setAttribute("aria-pressed", "false");
    shown.hidden = again;
    fill(told);
    if (again) return;
    chosen.setAttribute("aria-pressed", "true");
    shown.textContent = found;
    try {
      await navigator.clipboard.writeText(found);
      told.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(shown);
      told.textContent = "selected; copy it with Ctrl-C";
    }
  };
  const buttons = words.map(([label, text]) => h("button", {
    type: "button", class: "quiet", "aria-pressed": "false",
    onclick: ({ currentTarget }) => during(copy(currentTarget, text)).catch((error) => {
      if (error.name !== "AbortError") told.textContent = error.message;
    }),
  }, label));
  return h("section", { class: "copying", "aria-label": "Copy" },
    h("div", { class: "row" }, h("span", { class: "soft" }, "Copy as"), buttons, told), shown);
}

/** Quotes a word for a shell. */
export const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const SHARE = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Replaces the notes in the list of jobs; running jobs stay. */
export function note(place, ...said) {
  for (const each of [...place.children]) if (!("number" in each.dataset)) each.remove();
  place.append(...said);
}

/** Follows a job in an element of the page, below others; also calls `more` with each report. Resolves to the last report, if any. */
export async function progress(place, job, signal, more = () => {}) {
  const own = h("div", { "data-number": job.number });
  note(place, own);
  const bar = h("progress", { max: 1, "aria-label": job.title });
  const said = h("span", { role: "status" });
  const stop = stopping(job, (problem) => { said.textContent = problem; });
  fill(own, h("div", { class: "job" }, h("div", { class: "row" }, h("strong", {}, job.title), said, stop), bar));
  const tell = (report) => {
    said.textContent = words(report);
    if (report.total) bar.value = report.done / report.total;
    if (report.stopping) stop.disabled = true;
    more(report);
  };
  tell(job);
  const last = await watchedHere(job.number, follow(job.number, tell, signal));
  end(place, own);
  if (!last) {
    fill(own, trouble("The server has stopped. Finished results are in its folder."));
  } else if (last.state === "failed") {
    fill(own, trouble(last.error, last.problems));
  } else if (last.note) {
    fill(own, h("p", { class: "note" }, last.note));
  }
  return last;
}

/** Ends the line of a job. It keeps its space while other jobs run, so that their buttons do not move. */
function end(place, own) {
  own.style.minHeight = `${own.offsetHeight}px`;
  own.dataset.over = "";
  fill(own);
  if (follows(place)) return;
  for (const each of place.querySelectorAll("[data-over]")) {
    each.style.minHeight = "";
    delete each.dataset.number;
  }
}

/** Whether a job is followed in an element of the page. */
export const follows = (place) => place.querySelector("[data-number]:not([data-over])") !== null;

function words(report) {
  if (report.state === "waiting") return "waiting";
  const upto = report.total ? `${SHARE.format(report.done / report.total)}, ` : "";
  const counted = report.noun.startsWith("%") ? "" : `${COUNT.format(report.done)} ${report.noun}, `;
  return `${report.stopping ? "stopping, " : ""}${upto}${counted}${report.note ? `${report.note}, ` : ""}${Math.round(report.seconds)} s`;
}
