// Figures: the same Vega-Lite as in reports, drawn by Vega, which the server has from its package.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { during } from "./state.js";

let loading = null;

const vega = () => (loading ??= import("/vega.js").then(() => window.vegaEmbed));

/** Has Vega ready before there is anything to draw. */
export const warm = () => { vega().catch(() => {}); };

/** Draws the figure that the server tells at a path. */
export function figure(path, name, signal) {
  const place = h("figure", { class: "drawing", "aria-busy": "true" }, h("p", { class: "soft" }, "drawing ..."));
  const make = async () => {
    try {
      const [embed, spec] = await Promise.all([vega(), get(path, signal)]);
      await draw(embed, place, spec, name);
    } catch (error) {
      if (error.name !== "AbortError") fill(place, h("p", { class: "soft" }, `${name}: ${error.message}`));
    }
    place.removeAttribute("aria-busy");
  };
  during(make());
  return place;
}

/** Draws a figure that is here already. */
export async function drawn(place, spec, name) {
  await draw(await vega(), place, spec, name);
}

async function draw(embed, place, spec, name) {
  const drawing = h("div", { role: "img", "aria-label": said(spec) || name });
  // Expressions are interpreted, so that the page needs no right to make code.
  await embed(drawing, spec, {
    ast: true, renderer: "svg", defaultStyle: false, actions: false, mode: "vega-lite",
    tooltip: { disableDefaultStyle: true, theme: "own" }, loader: { load: () => Promise.reject(new Error("nothing is fetched")) },
  });
  fill(place, drawing);
}

const said = (spec) => {
  const title = spec.title ?? spec.vconcat?.[0]?.title ?? spec.hconcat?.[0]?.title;
  return [title?.text, ...(title?.subtitle ?? [])].flat().filter(Boolean).join("; ");
};
