//! External: a policy that the caller brings, written in another language.
//!
//! # Models
//! Whatever the function decides, on the same mechanism as every other policy: the victim, the segments of a partition,
//! and how many of the victim's live pages go to the partitions before and behind.
//!
//! # Leaves out
//! When cleaning begins: that is a rule of the device, such as `reserve` of an SSD. What the function may not do is
//! checked by the mechanism.
//!
//! # Sources
//! None: the model is the caller's.
//!
//! # Checks
//! The function of that name decides; a name that nobody brought is the user's error, named with its place.

use super::{CleaningFamily, check_partitions};
use nacre_config::{Configuration, Descriptor, Room};

#[cfg(test)]
mod tests;

/// A policy brought by the caller.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// The name under which the caller brought it.
    pub function: String,
}

/// The room.
pub const ROOM: Room<CleaningFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "external",
        "a policy that the caller brings, for example a Python function",
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
