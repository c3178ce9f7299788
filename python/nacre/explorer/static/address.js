// Addresses of views.

/** Shows the view of an address of the explorer without reloading the page. */
export function go(address) {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** Changes the address of the current view without showing it again. */
export function rename(address) {
  if (location.pathname + location.search !== address) history.replaceState(null, "", address);
}
