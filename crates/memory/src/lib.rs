//! A simulated memory to be used by programs: its bytes, a virtual clock, and, where asked for, an image file
//! that keeps both.
//!
//! Every operation begins when the one before is done, so time passes only in operations and in
//! [`Memory::idle`].
//!
//! # With an image
//! An operation that changes something is done by the device and then appended to the image's journal, before
//! it returns. So a process may be killed at any moment: opened again, the memory holds everything that was
//! acknowledged. A transaction that was open then is taken back, as a power failure would; so it is by
//! [`Memory::close`].
//!
//! Reads are not in the journal. How long they took together is in the next record; the reads after the last
//! record are forgotten, with their time.
//!
//! # Playing a journal back
//! A checkpoint does not hold what a cleaning policy has learnt. The device that goes on after a checkpoint
//! may clean other segments than the one that is restored from it, so wear and the moment at which a page
//! leaves the write buffer may differ, and a transaction that was accepted may find less room. The bytes do
//! not depend on any of this: what was committed is written without a transaction then.

mod error;
mod memory;
mod replay;
mod scenario;
mod settings;
mod step;
mod stores;
#[cfg(test)]
mod tests;

pub use error::MemoryError;
pub use memory::Memory;
pub use scenario::check;
