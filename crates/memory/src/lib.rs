//! A simulated memory for programs: its data, a virtual clock, and optionally an image file for both.
//!
//! Every operation begins when the one before is done, so time passes only in operations and in
//! [`Memory::idle`].
//!
//! # With an image
//! An operation that changes something is appended to the image's journal and then done by the device. So a
//! process may
//! be killed at any moment: opened again, the memory holds everything that was acknowledged. A transaction
//! that was
//! open then is taken back, as a power failure would; so it is by [`Memory::close`].
//!
//! [`Kept`] is the device with its image, for whoever drives it: with the virtual clock of a [`Memory`], or
//! with the
//! wall clock as a server does. Both write the same images.
//!
//! [`crash`] kills the process and takes the machine's power in the middle of operations on that file.
//!
//! # Playing a journal back
//! A cleaning policy that is written in another language is not saved. The device that is restored may clean
//! other
//! segments than the one that was checkpointed, so a transaction that was accepted may find less room. The
//! bytes do
//! not depend on it: what was committed is written without a transaction then.

pub mod crash;
mod error;
pub mod harm;
pub mod kept;
mod memory;
mod opening;
mod replay;
mod scenario;
mod settings;
pub mod step;
mod stores;
#[cfg(test)]
mod tests;

pub use error::{MemoryError, NotTaken};
pub use kept::Kept;
pub use memory::Memory;
pub use nacre_image::{Checked as CheckedImage, check as check_image, is_image, repair as repair_image};
pub use opening::Access;
pub use scenario::check;
pub use step::{Step, When};
