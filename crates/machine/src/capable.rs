//! Which kinds of device can do what most cannot, so that a message may name them.

/// Devices whose state depends on earlier writes.
pub const PRECONDITIONED: &str = "envy, onyx, ssd and zns_ssd";
/// Devices with transactions.
pub const WITH_TRANSACTIONS: &str = "envy";
