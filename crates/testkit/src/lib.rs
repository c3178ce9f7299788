//! What the tests of every crate share: drivers, laws of queueing, and the suite every device passes.
//!
//! | module | holds |
//! |---|---|
//! | [`drive`] | open and closed loops around a device, and what they saw |
//! | [`cleaning_laws`] | closed forms of what cleaning costs |
//! | [`queueing`] | closed forms of queueing theory |
//! | [`mod@conformance`] | what every device must do, whatever it models |
//! | [`crashing`] | devices that carry bytes keep them over losses of power, as `nacre-crash` finds out |
//! | [`host`] | one request after another, and what each was answered |
//! | [`oracle`] | independent discrete-event simulations, to compare schedulers with |
//! | [`planted`] | mistakes in a device, to show that the suites find them |
//! | [`mod@visits`] | what becomes of given requests on a device |
//! | [`workbench`] | builds devices, as a scenario would |
//! | [`restoring`] | what is restored continues as what was saved |

pub mod cleaning_laws;
pub mod conformance;
pub mod crashing;
pub mod drive;
pub mod host;
pub mod oracle;
pub mod planted;
pub mod queueing;
mod reports;
mod requests;
pub mod restoring;
pub mod visits;
pub mod workbench;

pub use conformance::{conformance, durability};
pub use crashing::{charges_what_it_did, keeps_its_bytes};
pub use drive::{Seen, closed_loop, open_loop};
pub use host::Host;
pub use nacre_crash::Kept;
pub use reports::empty_report;
pub use restoring::{restores, what_is_damaged_is_refused};
pub use visits::visits;
pub use workbench::Workbench;

/// Panics unless `found` lies within a share `tolerance` of `expected`.
#[track_caller]
pub fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs() / expected.abs();
    assert!(
        error <= tolerance,
        "{what}: found {found}, expected {expected}: {:.3} % off, {:.3} % allowed",
        error * 100.0,
        tolerance * 100.0
    );
}
