// What is under way in other tabs and on other pages: told at the top of every page, with a word to stop it.

import { glance, post } from "./api.js";
import { fill, h } from "./dom.js";

const PERIOD = 1000;
const place = document.getElementById("under-way");
const others = new BroadcastChannel("nacre-jobs");
const here = new Set();
let over = null;
let looking = null;

/** Follows a job on this page; meanwhile the top of the page does not tell of it. */
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

/** Something has begun or ended: the other tabs look, too. */
function changed() {
  others.postMessage("changed");
  look();
}

/** Looks at what is under way, and again while there is anything and somebody sees it. */
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

/** A button that stops a job; where that could not be asked, it can be pressed again and `tell` says why. */
export function stopping({ number, title }, tell, name = {}) {
  const button = h("button", {
    type: "button", class: "quiet", ...name,
    // The press counts, though the page moves before the button is let go.
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

/** Lines stay the elements they are while their job is under way: a button that is pressed is not taken away. */
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
  const button = stopping(job, (mistake) => { said.textContent = mistake; }, { "aria-label": `Stop ${job.title}` });
  return h("span", { "data-job": job.number }, said, button);
}

const far = ({ state, stopping, done, total }) =>
  state === "waiting" ? "waiting" : stopping ? "stopping" : total ? `${Math.floor(100 * done / total)} %` : "under way";

others.addEventListener("message", look);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
