// Jobs of other tabs and pages, listed at the top of every page with stop buttons.

import { glance, post } from "./api.js";
import { fill, h } from "./dom.js";

const PERIOD = 1000;
const place = document.getElementById("under-way");
const others = new BroadcastChannel("nacre-jobs");
const here = new Set();
let over = null;
let looking = null;

/** Marks a job as followed on this page, so that it is not listed at the top. */
export async function watchedHere(number, watching) {
  here.add(number);
  changed();
  try {
    return await watching;
  } catch (error) {
    here.delete(number);
    throw error;
  } finally {
    changed();
  }
}

/** A job has started or ended: other tabs also poll. */
function changed() {
  others.postMessage("changed");
  look();
}

/** Polls the running jobs, repeatedly while there are any and the page is visible. */
export async function look() {
  clearTimeout(looking);
  const turn = (looking = {});
  const jobs = await glance("/api/jobs").catch(() => null);
  if (jobs === null || looking !== turn) return;
  const running = jobs.filter(({ state }) => state === "waiting" || state === "running");
  const ended = jobs.filter((job) => !running.includes(job)).map(({ number }) => number);
  const isNews = over !== null && ended.some((number) => !over.has(number) && !here.has(number));
  over = new Set(ended);
  draw(running.filter(({ number }) => !here.has(number)));
  if (isNews) dispatchEvent(new Event("nacre-ended"));
  if (running.length && !document.hidden) looking = setTimeout(look, PERIOD);
}

/** A button that stops a job; if the request fails, calls `tell` with the error, and can be pressed again. */
export function stopping({ number, title }, tell, name = {}) {
  const button = h("button", {
    type: "button", class: "quiet", ...name,
    // On press, not on release: the page may move the button in between.
    onpointerdown: ({ pointerId }) => button.setPointerCapture(pointerId),
    onclick: async () => {
      button.disabled = true;
      try {
        await post(`/api/jobs/${number}/stop`, {});
        changed();
      } catch (error) {
        button.disabled = false;
        tell(error.message);
      }
    },
  }, "Stop");
  return button;
}

/** Elements of running jobs are kept, so that a pressed button does not disappear. */
function draw(jobs) {
  for (const line of [...place.children]) {
    if (!jobs.some(({ number }) => String(number) === line.dataset.job)) line.remove();
  }
  for (const job of jobs) {
    const line = place.querySelector(`[data-job="${job.number}"]`) ?? place.appendChild(lineOf(job));
    line.firstChild.textContent = `${job.title}: ${far(job)} `;
    line.querySelector("button").disabled ||= job.stopping;
  }
}

function lineOf(job) {
  const said = h("span");
  const button = stopping(job, (problem) => { said.textContent = problem; }, { "aria-label": `Stop ${job.title}` });
  return h("span", { "data-job": job.number }, said, button);
}

const far = ({ state, stopping, done, total }) =>
  state === "waiting" ? "waiting" : stopping ? "stopping" : total ? `${Math.floor(100 * done / total)} %` : "under way";

others.addEventListener("message", look);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
