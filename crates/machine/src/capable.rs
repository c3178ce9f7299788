//! Which kinds of device can do what most cannot, so that a message may name them.

/// Those whose state depends on what was written before.
pub const PRECONDITIONED: &str = "envy, onyx, ssd and zns_ssd";
/// Those on which writes may go on without time until the medium is worn out, without bytes.
pub const WORN_OUT_AHEAD: &str = "onyx";
/// Those with transactions.
pub const WITH_TRANSACTIONS: &str = "envy";
