// Selects the page of an address, handles links, and reports pages that cannot be shown.

import { h, fill } from "./dom.js";
import { get, takeToken } from "./api.js";
import { go } from "./address.js";
import { trouble } from "./show.js";
import { during } from "./state.js";
import { look } from "./under_way.js";

const TITLES = {
  design: "Design", plan: "Plan", study: "Study", device: "Device", crash: "Crash", papers: "Papers",
};

const main = document.getElementById("main");
let leaving = new AbortController();

const show = () => during(shown());

async function shown() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const name = location.pathname.slice(1);
  document.title = `${TITLES[name] ?? "Nacre"} - Nacre`;
  for (const link of document.querySelectorAll("#pages a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    const page = await import(`./pages/${name}.js`);
    signal.throwIfAborted();
    await page.show(main, new URLSearchParams(location.search), signal);
  } catch (error) {
    if (error.name !== "AbortError") fill(main, h("h1", {}, TITLES[name] ?? "Nacre"), trouble(error.message, error.problems));
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || link.target || event.metaKey || event.ctrlKey || event.shiftKey || event.defaultPrevented) return;
  if (!TITLES[link.pathname.slice(1)]) return;
  event.preventDefault();
  scrollTo(0, 0);
  go(link.pathname + link.search);
  main.focus({ preventScroll: true });
});
addEventListener("popstate", show);

takeToken();
during(first());

async function first() {
  try {
    const about = await get("/api/about");
    fill(document.getElementById("pages"), about.pages.map((name) => h("a", { href: `/${name}` }, TITLES[name])));
    await show();
    look();
  } catch (error) {
    fill(main, h("h1", {}, "Nacre"), trouble(error.message));
  }
}
