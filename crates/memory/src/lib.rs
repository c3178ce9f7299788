//! A simulated memory for programs: its data, a virtual clock, and an optional image file for both.
//!
//! Every operation starts when the previous one completes, so time passes only in operations and in
//! [`Memory::idle`].
//!
//! # With an image
//! An operation that changes data or state is appended to the image's journal before the device performs it.
//! A process may therefore be killed at any time: when reopened, the memory holds all acknowledged data. An
//! open transaction is then rolled back, as after a power loss. [`Memory::close`] also rolls back an open
//! transaction.
//!
//! [`PersistentDevice`] is the device with its image, without a clock. A [`Memory`] drives this device with a
//! virtual clock, and a server drives it with the wall clock. Both write the same image format.
//!
//! [`crash`] kills the process, or cuts the host's power, in the middle of file operations.
//!
//! # Journal replay
//! The state of a cleaning policy that is written in another language, e.g. Python, is not saved. A restored
//! device may therefore clean other segments than the original device, and an accepted transaction may have
//! too little space. The data does not depend on this, so the writes of a committed transaction are then
//! replayed without a transaction.

pub mod crash;
mod error;
pub mod harm;
mod memory;
mod opening;
pub mod persistent_device;
mod replay;
mod scenario;
mod settings;
pub mod step;
mod stores;
#[cfg(test)]
mod tests;
mod zones;

pub use error::{MemoryError, NotTaken};
pub use memory::Memory;
pub use nacre_image::{Checked as CheckedImage, check as check_image, is_image, repair as repair_image};
pub use opening::Access;
pub use persistent_device::PersistentDevice;
pub use scenario::check;
pub use step::{Step, When};
