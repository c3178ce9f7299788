//! Transactions of a device: several writes that become durable atomically.

use crate::completion::Completion;
use crate::time::Time;

/// Transactions of a device, in addition to [`Device`](crate::event::Device). At most one is open at a time;
/// a power loss rolls it back.
pub trait Transactions {
    /// Starts a transaction: following writes belong to it, until [`Transactions::commit`] or
    /// [`Transactions::abort`].
    fn begin(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Makes all writes since `begin` durable, atomically.
    fn commit(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Rolls back all writes since `begin`.
    fn abort(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Whether a transaction is open.
    fn is_open(&self) -> bool;

    /// Errors: the open transaction has no space for a write of these bytes. Call this before such a write.
    fn check(&self, address: u64, bytes: u64) -> Result<(), Refused>;
}

/// Reason for a rejected operation. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The open transaction would need more space for old versions than available.
    TransactionTooLarge {
        /// Number of pages that any transaction may change.
        pages: u64,
    },
    /// A transaction is already open.
    TransactionOpen,
    /// No transaction is open.
    NoTransaction,
}
