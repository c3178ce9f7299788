//! Devices that carry bytes, and what becomes of the bytes when the power fails.

use crate::device::{Breakdown, Completion, Device};
use crate::state::Value;
use crate::time::Time;

/// A device with real bytes, that fails and recovers as its design does.
///
/// The same model as [`Device`], with the same times: only the bytes come in addition. Reads and writes lie
/// within the capacity.
pub trait MemoryDevice: Device {
    /// Reads from `address` on. What was never written reads as zero.
    fn read(&mut self, now: Time, address: u64, into: &mut [u8], breakdown: &mut Breakdown) -> Completion;

    /// Writes from `address` on. Refused are writes that an open transaction has no room for; then nothing
    /// has changed.
    fn write(
        &mut self,
        now: Time,
        address: u64,
        bytes: &[u8],
        breakdown: &mut Breakdown,
    ) -> Result<Completion, Refused>;

    /// From here on writes belong to a transaction, until [`MemoryDevice::commit`] makes them last or
    /// [`MemoryDevice::abort`] takes them back.
    fn begin(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Everything written since `begin` lasts, as one.
    fn commit(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Nothing was written since `begin`.
    fn abort(&mut self, now: Time) -> Result<Completion, Refused>;

    /// Whether a transaction is open.
    fn is_in_transaction(&self) -> bool;

    /// The power fails at `at`: what is under way is interrupted, what is volatile is lost. Until
    /// [`MemoryDevice::recover`] nothing may be asked.
    fn power_fail(&mut self, at: Time);

    /// Whether a power failure may take what was acknowledged: which of it depends on the moment.
    fn may_lose_writes(&self) -> bool {
        false
    }

    /// The power is back at `at`: what was interrupted is repaired.
    fn recover(&mut self, at: Time) -> Recovery;
}

/// Why a device refused to do what was asked. Nothing changed.
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
    /// The device has no transactions.
    NoTransactions,
}

/// What a device did to be ready again after a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Recovery {
    /// When it was ready.
    pub done: Time,
    /// Programs that were interrupted and are done again.
    pub programs_repeated: u64,
    /// Erases that were interrupted and are done again.
    pub erases_repeated: u64,
    /// Whether cleaning was under way and goes on.
    pub is_cleaning: bool,
    /// Pages that an open transaction had changed and that are as before it.
    pub pages_rolled_back: u64,
    /// Programs of buffered writes that capacitors had the energy to finish.
    pub programs_finished: u64,
    /// Programs of acknowledged writes for which they had none.
    pub programs_lost: u64,
    /// Bytes of acknowledged writes that are lost.
    pub bytes_lost: u64,
}
