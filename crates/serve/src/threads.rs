//! Starting threads, which the system may deny.
//!
//! A thread needs more than its stack: its thread-local data and first allocations come from the allocator,
//! and if they fail, the whole process aborts. Success of the stack does not imply success of these, since
//! the stacks of ended threads are reused. Therefore, memory is reserved first, and the thread starts only if
//! that succeeds.

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
