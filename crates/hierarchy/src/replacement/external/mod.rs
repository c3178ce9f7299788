//! External: a replacement policy provided by the caller, e.g. a Python class.
//!
//! # Model
//! Nacre notifies the policy of hits and insertions, and the policy selects the victims. Nacre tracks the
//! resident blocks.
//!
//! # Not modeled
//! The policy takes no simulated time. A simulation with an external policy runs more slowly, because every
//! access calls the caller's code.
//!
//! # Sources
//! None: the caller provides the policy.
//!
//! # Checks
//! A policy that implements LRU produces the same hits and evictions as `lru`. If no policy has the
//! configured name, Nacre reports an error.

use super::ReplacementFamily;
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
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "external",
        "a policy provided by the caller, e.g. a Python class",
        &["the caller"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        context.external(&format!("{}.function", slot.path()), &config.function)
    },
};
