// Requests a second of a served device, over the last two minutes.

import { h } from "./dom.js";

const NS = "http://www.w3.org/2000/svg";
/** Seconds that are drawn. */
export const SPAN = 120;
const RATE = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Draws them from how many there had been at each look. */
export function rates(past) {
  const points = past.slice(1).map((now, place) => {
    const before = past[place];
    const span = Math.max(now.at - before.at, 1e-3);
    return { at: now.at, reads: (now.reads - before.reads) / span, writes: (now.writes - before.writes) / span };
  });
  const last = points.at(-1) ?? { at: 0, reads: 0, writes: 0 };
  const most = Math.max(1, ...points.flatMap(({ reads, writes }) => [reads, writes]));
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 600 120");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `requests a second, at most ${RATE.format(most)}`);
  for (const [kind, name] of [["reads", "reads"], ["writes", "writes"]]) {
    const line = document.createElementNS(NS, "polyline");
    line.setAttribute("class", name);
    line.setAttribute("points", points.map((each) => `${600 - 600 * (last.at - each.at) / SPAN},${116 - 108 * each[kind] / most}`).join(" "));
    svg.append(line);
  }
  return [h("p", { class: "rates" }, h("span", { class: "reads" }, `${RATE.format(last.reads)} reads/s`), h("span", { class: "writes" }, `${RATE.format(last.writes)} writes/s`), h("span", { class: "soft" }, `scale: up to ${RATE.format(most)}/s, two minutes`)), svg];
}
