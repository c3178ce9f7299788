//! Which kinds of device can do what most cannot, so that a message may name them.

/// Devices whose state depends on earlier writes.
pub const PRECONDITIONED: &str = "envy, onyx, ssd and zns_ssd";
/// Devices on which writes may continue without simulated time until wear-out, without data.
pub const WORN_OUT_AHEAD: &str = "onyx";
/// Devices with transactions.
pub const WITH_TRANSACTIONS: &str = "envy";
