// Where the page is: every view has an address.

/** Goes to our address without loading the frame again. */
export function go(address) {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** Says where the page is now, without showing it again. */
export function rename(address) {
  if (location.pathname + location.search !== address) history.replaceState(null, "", address);
}
