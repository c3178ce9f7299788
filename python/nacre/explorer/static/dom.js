// Elements from plain calls. Text is always text: nothing here takes markup.

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

/** Replaces what an element holds; who was in it with the keyboard stays at what is called the same. */
export function fill(element, ...children) {
  const before = element.contains(document.activeElement) ? document.activeElement : null;
  const place = before ? [...element.querySelectorAll(before.localName)].indexOf(before) : -1;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (before && before !== element && !element.contains(before)) stay(element, before, place);
  return element;
}

/** Puts the keyboard on what is called like `before`; where nothing is, on what is in its place now. */
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

/** The name of a button, a field or a link. A field that is no longer shown still has its label. */
const called = (each) => each.getAttribute("aria-label") ?? (each.closest("label") ?? each).textContent;

/** Calls a function when nothing has called it for a while; until then the page is busy. */
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
