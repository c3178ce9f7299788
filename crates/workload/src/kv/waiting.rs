//! Clients that wait for events at unknown times.

use nacre_kernel::state::State;

/// Clients that wait for pages and for the log, in FIFO order.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Waiting {
    /// Pages, and clients that wait until these pages are no longer being read, written, or pinned.
    #[state(varies)]
    pages: Vec<(u32, u32)>,
    /// Clients that wait for the write or flush of another client.
    #[state(varies)]
    log: Vec<u32>,
}

impl Waiting {
    #[inline]
    pub(super) fn for_page(&mut self, page: u32, client: u32) {
        self.pages.push((page, client));
    }

    #[inline]
    pub(super) fn for_log(&mut self, client: u32) {
        self.log.push(client);
    }

    /// Calls `wake` for each client that waits for `page`, and removes these clients from the list.
    #[inline]
    pub(super) fn wake_for_page(&mut self, page: u32, mut wake: impl FnMut(u32)) {
        self.pages.retain(|&(wanted, client)| {
            if wanted == page {
                wake(client);
            }
            wanted != page
        });
    }

    /// Calls `wake` for each client that waits for the log, and removes these clients from the list.
    #[inline]
    pub(super) fn wake_for_log(&mut self, wake: impl FnMut(u32)) {
        self.log.drain(..).for_each(wake);
    }
}
