//! Devices stacked on devices, and what they decide by: caches, tiers, replacement policies.

pub mod replacement;
