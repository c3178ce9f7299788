//! Kinds of devices with rare capabilities, for error messages.

/// Kinds of devices whose state depends on earlier writes, as text for messages.
pub const PRECONDITIONED: &str = "envy, onyx, ssd and zns_ssd";
/// Kinds of devices with transactions, as text for messages.
pub const WITH_TRANSACTIONS: &str = "envy";
