// Creates elements. Text is never parsed as markup.

import { begin } from "./state.js";

/** An element with properties, attributes, listeners (`onclick`) and children. */
export function h(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "value" || name === "checked" || name === "selected") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Replaces the children of an element; keeps the keyboard focus on the child with the same name. */
export function fill(element, ...children) {
  const before = element.contains(document.activeElement) ? document.activeElement : null;
  const place = before ? [...element.querySelectorAll(before.localName)].indexOf(before) : -1;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (before && before !== element && !element.contains(before)) stay(element, before, place);
  return element;
}

/** Focuses the element with the name of `before`, or else the one at its position. */
function stay(element, before, place) {
  const others = [...element.querySelectorAll(before.localName)];
  const key = ["id", "name"].find((each) => before.getAttribute(each));
  const same = key
    ? (each) => each.getAttribute(key) === before.getAttribute(key)
    : (each) => called(each) === called(before);
  const after = others.find(same) ?? others.filter((each) => !each.disabled)[Math.min(place, others.length - 1)];
  after?.closest("details")?.setAttribute("open", "");
  after?.focus();
}

/** The accessible name of a button, a field, or a link. */
const called = (each) => each.getAttribute("aria-label") ?? (each.closest("label") ?? each).textContent;

/** Debounces a function; the page is busy until the call. */
export function later(call, milliseconds) {
  let waiting;
  let end = null;
  return (...given) => {
    clearTimeout(waiting);
    end ??= begin();
    waiting = setTimeout(() => {
      call(...given);
      end();
      end = null;
    }, milliseconds);
  };
}
