//! Transactions of a device: several writes that last as one.

use crate::completion::Completion;
use crate::time::Time;

/// Transactions of a device, in addition to [`Device`](crate::event::Device). At most one is open at a time;
/// a power loss rolls it back.
pub trait Transactions {
    /// From here on writes belong to a transaction, until [`Transactions::commit`] makes them last or
    /// [`Transactions::abort`] takes them back.
    fn begin(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Everything written since `begin` lasts, as one.
    fn commit(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Nothing was written since `begin`.
    fn abort(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Whether a transaction is open.
    fn is_open(&self) -> bool;

    /// Refuses what writing these bytes in the open transaction has no room for; who submits such a write
    /// asks first.
    fn check(&self, address: u64, bytes: u64) -> Result<(), Refused>;
}

/// Reason for a rejected operation. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The open transaction would need more room for old versions than there is.
    TransactionTooLarge {
        /// Pages one transaction may surely change.
        pages: u64,
    },
    /// A transaction is open already.
    TransactionOpen,
    /// No transaction is open.
    NoTransaction,
}
