// Figures: the Vega-Lite of reports, drawn by the Vega bundle of the server.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { during } from "./state.js";

let loading = null;

const vega = () => (loading ??= import("/vega.js").then(() => window.vegaEmbed));

/** Loads Vega in advance. */
export const warm = () => { vega().catch(() => {}); };

/** The frame of a figure, which may scroll and is focusable. */
export const frame = (name, given, ...content) =>
  h("figure", { class: "drawing", role: "group", tabindex: "0", "aria-label": name, ...given }, content);

/** Draws the figure at a path of the server; calls `done` with the view and the specification. */
export function figure(path, name, signal, done = () => {}) {
  const place = frame(name, { "aria-busy": "true" }, h("p", { class: "soft" }, "drawing ..."));
  const make = async () => {
    try {
      const [embed, spec] = await Promise.all([vega(), get(path, signal)]);
      done(await draw(embed, place, spec, name), spec);
    } catch (error) {
      if (error.name !== "AbortError") fill(place, h("p", { class: "soft" }, `${name}: ${error.message}`));
    }
    place.removeAttribute("aria-busy");
  };
  during(make());
  return place;
}

/** Draws a given specification. */
export async function drawn(place, spec, name) {
  await draw(await vega(), place, spec, name);
}

/** A live figure, drawn once and then updated with samples. */
export class Fed {
  constructor(path, name, signal) {
    Object.assign(this, { waiting: [], drawn: 0, changed: -Infinity });
    this.place = figure(path, name, signal, ({ view, finalize }, { usermeta }) => {
      signal.addEventListener("abort", finalize);
      Object.assign(this, { view, data: usermeta.data, span: usermeta.span_s });
      this.show();
    });
  }

  /** Adds a sample; `isNews` if it differs from the previous one. A sample with an earlier time restarts the figure. */
  take(sample, isNews) {
    if (sample.up_s < this.last) Object.assign(this, { waiting: [], isAnew: true, changed: -Infinity });
    this.last = sample.up_s;
    if (isNews) this.changed = sample.up_s;
    this.waiting.push(sample);
    if (this.waiting[0].up_s < this.last - this.span) this.waiting.shift();
    this.show();
  }

  /** Draws new samples, unless all visible samples are equal. */
  show() {
    if (!this.view) return;
    const { isAnew, span, view, waiting } = this;
    const from = this.last - span;
    const isCalm = this.changed < from;
    if (isCalm && this.wasCalm && this.drawn > 1) return;
    const changes = view.changeset().remove(({ up_s: at }) => isAnew || at < from).insert(waiting);
    view.change(this.data, changes).runAsync();
    Object.assign(this, { waiting: [], isAnew: false, wasCalm: isCalm, drawn: this.drawn + waiting.length });
  }
}

async function draw(embed, place, spec, name) {
  const drawing = h("div", { role: "img", "aria-label": said(spec) || name });
  // Expressions are interpreted, because the content security policy forbids eval.
  const made = await embed(drawing, spec, {
    ast: true, renderer: "svg", defaultStyle: false, actions: false, mode: "vega-lite",
    tooltip: { disableDefaultStyle: true, theme: "own" }, loader: { load: () => Promise.reject(new Error("nothing is fetched")) },
  });
  fill(place, drawing);
  return made;
}

const said = (spec) => {
  const title = spec.title ?? spec.vconcat?.[0]?.title ?? spec.hconcat?.[0]?.title;
  return [title?.text, ...(title?.subtitle ?? [])].flat().filter(Boolean).join("; ");
};
