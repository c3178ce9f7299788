// What the page says of itself: "busy" while it waits for an answer, draws or is about to ask; then "ready".

const page = document.documentElement;
let under = 0;

/** Begins something that changes the page; returns what ends it. */
export function begin() {
  under += 1;
  page.dataset.state = "busy";
  let open = true;
  return () => {
    if (!open) return;
    open = false;
    // What waited for it draws first, and may ask more.
    setTimeout(() => {
      under -= 1;
      if (!under) page.dataset.state = "ready";
    });
  };
}

/** The page is busy until a promise has come to its end. */
export async function during(promise) {
  const end = begin();
  try {
    return await promise;
  } finally {
    end();
  }
}
