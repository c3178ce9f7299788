// State of the page: "busy" while a request is pending, scheduled, or drawn; otherwise "ready".

const page = document.documentElement;
let under = 0;

/** Marks the page as busy; returns a function that ends it. */
export function begin() {
  under += 1;
  page.dataset.state = "busy";
  let open = true;
  return () => {
    if (!open) return;
    open = false;
    // Code that waited for it runs first, and may send more requests.
    setTimeout(() => {
      under -= 1;
      if (!under) page.dataset.state = "ready";
    });
  };
}

/** Marks the page as busy until `work` settles. */
export async function during(work) {
  const end = begin();
  try {
    return await work;
  } finally {
    end();
  }
}
