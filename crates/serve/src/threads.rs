//! Starting threads, which the system may deny.
//!
//! A thread needs more than its stack: its thread-local data and what it allocates first come from the
//! allocator, and
//! where they do not come the whole process ends. A stack may be had without them, since the stacks of
//! threads that
//! have ended are kept for others. So memory is asked for first, and a thread begun only where there is some.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Memory that must be free before a thread starts: for itself and for those started just before.
const FREE_BYTES: usize = 8 << 20;

/// Whether there is memory for another thread.
///
/// # Errors
///
/// There is none.
pub(crate) fn afford() -> io::Result<()> {
    if nacre_pages::are_free(FREE_BYTES) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::OutOfMemory, "there is no memory for its thread"))
}

/// Starts a thread if there is memory for one.
///
/// # Errors
///
/// There is no memory, or the system denies the thread.
#[expect(clippy::disallowed_methods, reason = "clients are served side by side")]
pub(crate) fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    builder: Builder,
    run: impl FnOnce() + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, ()>> {
    afford()?;
    builder.spawn_scoped(scope, run)
}
