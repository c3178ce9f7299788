//! Transactions of a device: several writes that become durable atomically.

use crate::completion::Completion;
use crate::time::Time;

/// Transactions of a device, in addition to [`Device`](crate::event::Device). At most one transaction is open
/// at a time. A power loss rolls it back.
pub trait Transactions {
    /// Starts a transaction, which includes all following writes until [`Transactions::commit`] or
    /// [`Transactions::abort`].
    fn begin(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Makes all writes since `begin` durable atomically.
    fn commit(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Rolls back all writes since `begin`.
    fn abort(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Whether a transaction is open.
    fn is_open(&self) -> bool;

    /// Returns an error if the open transaction has no space for a write of `bytes` at `address`. Call this
    /// function before such a write.
    fn check(&self, address: u64, bytes: u64) -> Result<(), Refused>;
}

/// Reason why a transaction operation was rejected. A rejected operation changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The open transaction would need more space for the old versions of pages than is available.
    TransactionTooLarge {
        /// Maximum number of pages that a transaction may change.
        pages: u64,
    },
    /// A transaction is already open.
    TransactionOpen,
    /// No transaction is open.
    NoTransaction,
}
