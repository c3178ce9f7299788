// What pages ask of the server. The token is kept per origin, which no other site shares.

import { during } from "./state.js";

const KEY = "nacre-token";
/** Milliseconds between two looks at a job: a short one is seen to end at once, a long one soon. */
const PAUSE_MIN = 50;
const PAUSE_MAX = 250;

/** Takes the token from the address, where `nacre explore` put it, and hides it. */
export function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!found) return;
  localStorage.setItem(KEY, found);
  history.replaceState(null, "", location.pathname + location.search);
}

/** An answer that was not what was hoped for: what to say, and errors by field. */
export class Refused extends Error {
  constructor(status, answer) {
    super(answer.error || "the server did not answer as expected");
    this.status = status;
    this.problems = answer.problems || [];
  }
}

/** Asks, and returns the response if it is good. */
async function ask(path, options = {}) {
  const headers = { authorization: `Bearer ${localStorage.getItem(KEY) || ""}`, ...options.headers };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { error: "nacre explore has stopped. Start it again and open the address that it prints. Finished results are in its folder." });
  }
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
  return response;
}

const json = async (path, options) => (await ask(path, options)).json();

/** Asks while nobody waits for it: the page stays ready. */
export const glance = (path, signal) => json(path, { signal });

export const get = (path, signal) => during(json(path, { signal }));

export const text = (path) => during((async () => (await ask(path)).text())());

export const post = (path, document, signal) => during(json(path, {
  method: "POST", signal, body: JSON.stringify(document), headers: { "content-type": "application/json" },
}));

export const put = (path, body, signal) => during(json(path, {
  method: "PUT", signal, body, headers: { "content-type": "application/octet-stream" },
}));

/** Follows a job until it is over or the server is; `tell` gets each report. */
export const follow = (number, tell, signal) => during(followed(number, tell, signal));

/** Asks again and again: a browser has six connections for all tabs, so none may be held. */
async function followed(number, tell, signal) {
  const began = performance.now();
  for (;;) {
    const report = await glance(`/api/jobs/${number}`, signal).catch(unlessGone);
    if (!report) return null;
    tell(report);
    if (report.state !== "waiting" && report.state !== "running") return report;
    await pause(Math.min(PAUSE_MAX, Math.max(PAUSE_MIN, (performance.now() - began) / 10)), signal);
  }
}

/** Lets time pass, and then waits until somebody sees the page: nothing runs where nobody looks. */
export async function seen(time, signal) {
  await pause(time, signal).catch(() => {});
  if (!document.hidden || signal?.aborted) return;
  await new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true, signal });
    signal?.addEventListener("abort", resolve, { once: true });
  });
}

/** Nothing where there was no answer; another error continues. */
function unlessGone(error) {
  if (error.status === 0) return null;
  throw error;
}

/** Lets time pass, in milliseconds. */
const pause = (time, signal) => new Promise((resolve, reject) => {
  const leave = () => {
    clearTimeout(end);
    reject(signal.reason);
  };
  const end = setTimeout(() => {
    signal?.removeEventListener("abort", leave);
    resolve();
  }, time);
  signal?.addEventListener("abort", leave, { once: true });
});
