//! Clients that wait for what has no known end.

use nacre_kernel::state::State;

/// Clients that wait for pages and for the log, in the order in which they came.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Waiting {
    /// Pages, and who waits until they are neither read, nor written, nor pinned.
    #[state(varies)]
    pages: Vec<(u32, u32)>,
    /// Who waits for the write or flush of another client.
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

    /// Who waits for `page` waits no more.
    #[inline]
    pub(super) fn wake_for_page(&mut self, page: u32, mut wake: impl FnMut(u32)) {
        self.pages.retain(|&(wanted, client)| {
            if wanted == page {
                wake(client);
            }
            wanted != page
        });
    }

    /// Who waits for the log waits no more.
    #[inline]
    pub(super) fn wake_for_log(&mut self, wake: impl FnMut(u32)) {
        self.log.drain(..).for_each(wake);
    }
}
