//! External: a policy that the caller brings, written in another language.
//!
//! # Models
//! Whatever the policy decides. Which blocks are resident is kept here; the policy hears of hits and of blocks that come
//! in, and is asked who leaves.
//!
//! # Leaves out
//! Speed: every access asks another language.
//!
//! # Sources
//! None: the model is the caller's.
//!
//! # Checks
//! A policy written so that hits and victims are those of LRU; a name that nobody brought is the user's error.

use super::ReplacementFamily;
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
pub const ROOM: Room<ReplacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "external",
        "a policy that the caller brings, for example a Python class",
        &["the caller"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        context.external(&format!("{}.function", slot.path()), &config.function)
    },
};
