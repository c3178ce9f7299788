//! Kinds of devices with rare capabilities, for error messages.

/// Devices whose state depends on earlier writes.
pub const PRECONDITIONED: &str = "envy, onyx, ssd and zns_ssd";
/// Devices with transactions.
pub const WITH_TRANSACTIONS: &str = "envy";
