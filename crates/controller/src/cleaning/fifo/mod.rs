//! First in, first out (FIFO): clean segments in the order in which they were written.
//!
//! # Model
//! All segment positions form one partition. The victim is the position that was cleaned least recently,
//! which is also the position that was written least recently. Positions that were never cleaned come first,
//! in position order. A segment without an invalid page is skipped.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! wu-1994, section 4.4, describes this order inside partitions. The closed form of the cleaning cost under
//! uniform writes is from desnoyers-2012.
//!
//! # Checks
//! Under uniform writes, the cleaning cost at six utilizations u is within 2 % of v / (1 - v). Here, v is the
//! share of valid pages in the victim, and is the solution of v = exp(-(1 - v) / u). If hot and cold data are
//! mixed, the cleaning cost is within 2 % of the closed form for two classes of data.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// FIFO cleaning has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "fifo",
        "cleans segments in the order in which they were written",
        &["wu-1994", "desnoyers-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_slot, _context| Ok(Box::new(Fifo)),
};

#[derive(State)]
struct Fifo;

impl Cleaner for Fifo {
    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        Decision::clean(view.oldest(partition))
    }
}
