//! The crash simulator: cuts power at any time and checks every durability guarantee.
//!
//! The crash simulator drives the same device models as other simulations. A stack and a seed determine
//! everything: a workload on a few locations, the times of power losses (between and during operations of the
//! medium, and during recovery), and faults of the medium. After every power loss, all blocks that were ever
//! written are read. An auditor derives their possible contents from the writes.
//!
//! The device is saved after a step and restored after each power loss, so that hundreds of power losses
//! start from the same state. Sometimes, the run continues after the power loss. A sequence that violates a
//! guarantee is shortened until no step can be removed. The result is a few lines of text that can be used as
//! a test.
//!
//! | module | content |
//! |---|---|
//! | [`run`] | runs and their power losses |
//! | [`branches`] | many power losses from one state |
//! | [`exhaustive`] | every sequence up to a length, with a power loss after every step |
//! | [`device_run`] | the run of one device: steps, power losses, and audits |
//! | [`mod@sequence`] | steps as text |
//! | [`mod@shrink`] | shortening of the steps that reproduce a violation |
//! | [`auditor`] | the possible contents of each byte |
//! | [`fault`] | classes of faults, and the guarantees of a device for each class |
//! | [`media`] | stores that outlive their device, can be rolled back, and inject faults |
//! | [`medium_faults`] | faults of medium operations, in crash tests and in the image of a served device |
//! | [`report`] | results of power-loss tests |

pub mod auditor;
pub mod branches;
mod contents;
pub mod device_run;
pub mod exhaustive;
pub mod fault;
mod generator;
mod liveness;
pub mod media;
pub mod medium_faults;
mod reading;
pub mod report;
pub mod run;
pub mod sequence;
pub mod shrink;

pub use auditor::{Auditor, Violation};
pub use device_run::Stack;
pub use fault::{Fault, Guarantee, InjectedFault};
pub use media::{Media, SharedStore};
pub use report::{FaultResult, Finding, Report};
pub use run::{Options, crash};
pub use sequence::Sequence;
pub use shrink::replay;
