//! Test support shared by all crates: drivers, queueing theory, and the test suite of devices.
//!
//! | module | content |
//! |---|---|
//! | [`drive`] | open-loop and closed-loop drivers |
//! | [`cleaning_laws`] | closed forms of cleaning cost |
//! | [`queueing`] | closed forms of queueing theory |
//! | [`mod@conformance`] | tests of the contract that every device must satisfy |
//! | [`crashing`] | power-loss tests with `nacre-crash` |
//! | [`host`] | single requests and their completions |
//! | [`oracle`] | independent discrete-event simulations, for comparison with schedulers |
//! | [`planted`] | devices with planted bugs, which show that the test suites find them |
//! | [`mod@visits`] | arrivals and completions of given requests |
//! | [`workbench`] | construction of devices, as in a scenario |
//! | [`restoring`] | checks of saving and restoring state |

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
pub use nacre_crash::SharedStore;
pub use reports::empty_report;
pub use restoring::{restores, what_is_damaged_is_refused};
pub use visits::visits;
pub use workbench::Workbench;

/// Panics unless `found` differs from `expected` by at most the fraction `tolerance`.
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
