//! External: a cleaning policy that the caller provides, e.g. a Python function.
//!
//! # Model
//! The function selects the victim in a partition. The function can also return the numbers of valid pages
//! that move from the victim to the previous partition and to the next partition. The attribute
//! `partition_segments` of the function is the number of segments per partition. The device executes these
//! decisions in the same way as the decisions of a built-in policy.
//!
//! # Not modeled
//! The device decides when cleaning starts. An SSD, for example, uses its setting `reserve`. For an SSD, the
//! attribute `keeps_erased` of the function can replace this decision. The device rejects invalid decisions
//! of the function.
//!
//! # Sources
//! None: the caller provides the model.
//!
//! # Checks
//! The device uses the decisions of the function with the configured name. If the name is unknown, Nacre
//! reports an error with the location of the name.

use super::{CleaningFamily, check_partitions};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// A policy provided by the caller.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Name under which the caller registered the function.
    pub function: String,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "external",
        "a policy provided by the caller, e.g. a Python function",
        &["the caller"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        let cleaner = context.external(&format!("{}.function", slot.path()), &config.function)?;
        if let Some(size) = cleaner.partition_segments() {
            check_partitions(size, context.segments(), slot.path())?;
        }
        Ok(cleaner)
    },
};
