//! The crash simulator: loses a device's power anywhere, and says what it may have lost.
//!
//! The third driver of the one model. A stack and a seed decide everything: a workload over a few places, moments
//! at which the power is lost (between and inside the operations of the medium, and while the device recovers),
//! and faults of the medium. After every loss each block that was ever written is read, and an auditor says from
//! the number of the write what it may hold.
//!
//! The device is saved after a step and restored after each power loss, so that hundreds of losses branch off
//! one life; now and then one is not taken back. What breaks a promise is made shorter until no step can be left
//! out, and is then a test: a few lines of text.
//!
//! | module | holds |
//! |---|---|
//! | [`run`] | lives, and the points at which each loses its power |
//! | [`branches`] | many losses off one moment |
//! | [`exhaustive`] | every sequence up to a length, with a power loss after every step |
//! | [`life`] | one device from new on: steps, power losses, audits |
//! | [`mod@sequence`] | steps as text |
//! | [`mod@shrink`] | the fewest steps that lead to what was found |
//! | [`auditor`] | what each byte may be |
//! | [`fault`] | what can go wrong, and who promises to survive it |
//! | [`media`] | bytes that outlive their device, go back, and go wrong on purpose |
//! | [`medium_faults`] | how operations of a medium go wrong, here and in the image of a served device |
//! | [`report`] | what was found |

pub mod auditor;
pub mod branches;
mod contents;
mod draw;
pub mod exhaustive;
pub mod fault;
pub mod life;
mod liveness;
pub mod media;
pub mod medium_faults;
mod reading;
pub mod report;
pub mod run;
pub mod sequence;
pub mod shrink;

pub use auditor::{Auditor, Broken};
pub use fault::{Fault, Promise, Wrong};
pub use life::Stack;
pub use media::{Kept, Media};
pub use report::{Finding, Report, Tried};
pub use run::{Options, crash};
pub use sequence::Sequence;
pub use shrink::replay;
