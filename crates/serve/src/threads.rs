//! Functions that start threads, and return an error if the system cannot provide a thread.
//!
//! A thread needs more memory than its stack: its thread-local data and first allocations come from the
//! allocator. If such an allocation fails, the whole process aborts. A successful allocation of the stack
//! does not show that memory is free, because stacks of ended threads are reused. Therefore, the server first
//! checks that memory is free, and starts the thread only in this case.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Size in bytes of the memory that must be free before a thread starts. This thread and threads that started
/// just before need the memory.
const FREE_BYTES: usize = 8 << 20;

/// Checks that there is enough memory for another thread.
///
/// # Errors
///
/// Returns an error if there is not enough memory.
pub(crate) fn afford() -> io::Result<()> {
    if nacre_pages::are_free(FREE_BYTES) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::OutOfMemory, "there is no memory for its thread"))
}

/// Starts a thread if there is enough memory.
///
/// # Errors
///
/// Returns an error if there is not enough memory, or if the system cannot create the thread.
#[expect(clippy::disallowed_methods, reason = "clients are served side by side")]
pub(crate) fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    builder: Builder,
    run: impl FnOnce() + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, ()>> {
    afford()?;
    builder.spawn_scoped(scope, run)
}
