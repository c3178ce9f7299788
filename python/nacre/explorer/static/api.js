// Requests to the server. The token is in the local storage, which is private to the origin.

import { during } from "./state.js";

const KEY = "nacre-token";
/** Milliseconds between two polls of a job, growing with its duration. */
const PAUSE_MIN = 50;
const PAUSE_MAX = 250;

/** Takes the token from the address, where `nacre explore` put it, and hides it. */
export function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!found) return;
  localStorage.setItem(KEY, found);
  history.replaceState(null, "", location.pathname + location.search);
}

/** An error response: message, and errors by field. */
export class Refused extends Error {
  constructor(status, answer) {
    super(answer.error || "the server did not answer as expected");
    this.status = status;
    this.problems = answer.problems || [];
  }
}

/** Sends a request; returns the response, or throws `Refused`. */
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

/** Sends a request in the background, without marking the page as busy. */
export const glance = (path, signal) => json(path, { signal });

export const get = (path, signal) => during(json(path, { signal }));

export const text = (path) => during((async () => (await ask(path)).text())());

export const post = (path, document, signal) => during(json(path, {
  method: "POST", signal, body: JSON.stringify(document), headers: { "content-type": "application/json" },
}));

export const put = (path, body, signal) => during(json(path, {
  method: "PUT", signal, body, headers: { "content-type": "application/octet-stream" },
}));

/** Polls a job until it ends or the server stops; calls `tell` with each report. */
export const follow = (number, tell, signal) => during(followed(number, tell, signal));

/** Polls instead of holding a connection, because a browser has only six for all tabs. */
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

/** Waits for `time` milliseconds, and then until the page is visible. */
export async function seen(time, signal) {
  await pause(time, signal).catch(() => {});
  if (!document.hidden || signal?.aborted) return;
  await new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true, signal });
    signal?.addEventListener("abort", resolve, { once: true });
  });
}

/** Returns null if there was no response; rethrows other errors. */
function unlessGone(error) {
  if (error.status === 0) return null;
  throw error;
}

/** Waits for `time` milliseconds. */
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
