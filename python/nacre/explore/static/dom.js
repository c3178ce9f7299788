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

/** Replaces what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

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
