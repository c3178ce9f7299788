//! Errors of a memory, with remedies.

use nacre_image::ImageError;
use nacre_kernel::state::CannotSave;
use nacre_kernel::{ErrorCode, ErrorData, Refused, Time, ZoneRefusal};
use nacre_machine::Problems;
use nacre_machine::capable::WITH_TRANSACTIONS;

/// Reason why an operation failed. Unless the image or the medium failed, the memory is unchanged.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MemoryError {
    /// The scenario has errors, or its stack stores no data.
    #[error("{0}")]
    Scenario(Problems),
    /// The image cannot be used, or has become unusable.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The content of the image cannot be replayed.
    #[error("{path}: {part} does not match this device: {detail}; restore the image from a copy")]
    Unfit {
        /// Path of the image.
        path: String,
        /// The invalid section.
        part: String,
        /// Reason why the section is invalid.
        detail: String,
    },
    /// A component of the device has state that Nacre cannot save, e.g. in a Python function, so an image
    /// cannot hold the device.
    #[error("{0}; or use a memory without an image")]
    CannotSave(#[from] CannotSave),
    /// The range is partly outside the memory.
    #[error("address {address}, size {size}: the memory ends at byte {capacity}")]
    OutOfRange {
        /// Address of the first requested byte.
        address: u64,
        /// Number of requested bytes.
        size: u64,
        /// Capacity of the memory, in bytes.
        capacity: u64,
    },
    /// The device has lost the data, or a media error was injected, and the data has not been rewritten
    /// since.
    #[error("address {address}, size {size}: media error; rewrite the whole sector, or clear the error")]
    MediaError {
        /// Address of the first requested byte.
        address: u64,
        /// Number of requested bytes.
        size: u64,
    },
    /// The medium is worn out. Some of the data may have been written.
    #[error(
        "address {address}, size {size}: the medium is worn out and read-only; copy the data into a new \
         memory"
    )]
    WriteRefused {
        /// Address of the first requested byte.
        address: u64,
        /// Number of requested bytes.
        size: u64,
    },
    /// The zone rejected the write or the command.
    #[error(
        "address {address}, size {size}: {}; the zone takes whole units in order, from byte {write_pointer} to byte \
         {end}; {}", refusal.reason(), remedy(*refusal)
    )]
    ZoneRefused {
        /// Address of the first requested byte.
        address: u64,
        /// Number of requested bytes.
        size: u64,
        /// Write pointer of the zone.
        write_pointer: u64,
        /// End of the zone.
        end: u64,
        /// Reason for the rejection.
        refusal: ZoneRefusal,
    },
    /// Acknowledged data was lost. Only the next flush reports this loss.
    #[error("the device has lost unflushed data; reads of it fail until it is rewritten")]
    LostData,
    /// The transaction changes too many pages: the device cannot store the old versions of all of them.
    #[error(
        "the transaction is too large: one transaction can always change {pages} pages of {page_bytes} \
         bytes, since their old and new versions take half of the write buffer; the write was not \
         performed; commit earlier, or use a larger stack.buffer"
    )]
    TransactionTooLarge {
        /// Number of pages that one transaction can always change.
        pages: u64,
        /// Size of a page, in bytes.
        page_bytes: u64,
    },
    /// A transaction is already open.
    #[error("a transaction is already open; commit or abort it first")]
    TransactionOpen,
    /// No transaction is open.
    #[error("no transaction is open; begin one first")]
    NoTransaction,
    /// The device has no transactions.
    #[error("stack, {kind}: it has no transactions, {} has; write without one", WITH_TRANSACTIONS)]
    NoTransactions {
        /// Model of the device.
        kind: &'static str,
    },
    /// The device has no zones.
    #[error("stack, {kind}: it has no zones; use stack.kind = \"zns_ssd\"")]
    NoZones {
        /// Model of the device.
        kind: &'static str,
    },
    /// The given initial state is not the saved state of a run.
    #[error("the initial state cannot be used: {0}")]
    NoState(String),
    /// The operation needs power, but power is off.
    #[error("the power is off; call recover() first")]
    NoPower,
    /// The operation needs power to be off, but power is on.
    #[error("the power is on; call power_fail() first")]
    HasPower,
    /// The maximum simulated time was reached.
    #[error("simulated time ends after 200 days, and is now at {now}; copy the data into a new memory")]
    EndOfTime {
        /// Current simulated time.
        now: Time,
    },
}

/// Reason why a step was not performed. The device is unchanged.
#[derive(Clone, Debug)]
pub enum NotTaken {
    /// The device rejected the transaction command, or the write in a transaction.
    Refused(Refused),
    /// The device has no transactions.
    NoTransactions {
        /// Model of the device.
        kind: &'static str,
    },
    /// The device has no zones.
    NoZones {
        /// Model of the device.
        kind: &'static str,
    },
    /// The image cannot store the step.
    Image(ImageError),
    /// A component of the device has state that Nacre cannot save, e.g. in a Python function.
    CannotSave(CannotSave),
}

impl From<Refused> for NotTaken {
    fn from(refused: Refused) -> NotTaken {
        NotTaken::Refused(refused)
    }
}

impl From<ImageError> for NotTaken {
    fn from(error: ImageError) -> NotTaken {
        NotTaken::Image(error)
    }
}

impl MemoryError {
    /// Error code. For a scenario, the code of its first error.
    pub fn code(&self) -> ErrorCode {
        match self {
            MemoryError::Scenario(problems) => {
                problems.0.first().map_or(ErrorCode::Failed, |first| first.code)
            }
            MemoryError::Image(error) => error.problem.code(),
            MemoryError::Unfit { .. } => ErrorCode::Damaged,
            MemoryError::CannotSave(_) => ErrorCode::CannotSave,
            MemoryError::OutOfRange { .. } => ErrorCode::PastTheEnd,
            MemoryError::MediaError { .. } => ErrorCode::MediaError,
            MemoryError::WriteRefused { .. } => ErrorCode::WornOut,
            MemoryError::ZoneRefused { .. } => ErrorCode::ZoneRefused,
            MemoryError::LostData => ErrorCode::LostData,
            MemoryError::TransactionTooLarge { .. } => ErrorCode::TransactionTooLarge,
            MemoryError::TransactionOpen => ErrorCode::TransactionOpen,
            MemoryError::NoTransaction => ErrorCode::NoTransaction,
            MemoryError::NoTransactions { .. } | MemoryError::NoZones { .. } => ErrorCode::NotSupported,
            MemoryError::NoState(_) => ErrorCode::InvalidContent,
            MemoryError::NoPower => ErrorCode::PowerOff,
            MemoryError::HasPower => ErrorCode::PowerOn,
            MemoryError::EndOfTime { .. } => ErrorCode::EndOfTime,
        }
    }

    /// Machine-readable data of the error. For a scenario, the data of its first error.
    pub fn data(&self) -> ErrorData {
        match *self {
            MemoryError::Scenario(ref problems) => {
                problems.0.first().map_or_else(ErrorData::new, |first| first.data.clone())
            }
            MemoryError::Image(ref error) => error.problem.data(),
            MemoryError::OutOfRange { address, size, capacity } => {
                vec![("end", (u128::from(address) + u128::from(size)).into()), ("capacity", capacity.into())]
            }
            MemoryError::MediaError { address, size } | MemoryError::WriteRefused { address, size } => {
                vec![("address", address.into()), ("size", size.into())]
            }
            MemoryError::ZoneRefused { address, size, write_pointer, end, refusal } => vec![
                ("address", address.into()),
                ("size", size.into()),
                ("write_pointer", write_pointer.into()),
                ("end", end.into()),
                ("reason", refusal.name().into()),
            ],
            MemoryError::TransactionTooLarge { pages, page_bytes } => {
                vec![("pages", pages.into()), ("page_bytes", page_bytes.into())]
            }
            _ => ErrorData::new(),
        }
    }

    /// Converts the reason why a step was not performed, for a device with pages of `page_bytes` bytes.
    pub fn of(not_taken: NotTaken, page_bytes: u32) -> MemoryError {
        match not_taken {
            NotTaken::Refused(Refused::TransactionTooLarge { pages }) => {
                MemoryError::TransactionTooLarge { pages, page_bytes: page_bytes.into() }
            }
            NotTaken::Refused(Refused::TransactionOpen) => MemoryError::TransactionOpen,
            NotTaken::Refused(Refused::NoTransaction) => MemoryError::NoTransaction,
            NotTaken::NoTransactions { kind } => MemoryError::NoTransactions { kind },
            NotTaken::NoZones { kind } => MemoryError::NoZones { kind },
            NotTaken::Image(error) => MemoryError::Image(error),
            NotTaken::CannotSave(error) => MemoryError::CannotSave(error),
        }
    }
}

/// Remedy of `refusal` for a program.
fn remedy(refusal: ZoneRefusal) -> &'static str {
    match refusal {
        ZoneRefusal::NotWholeUnits => "write a multiple of stack.unit",
        ZoneRefusal::NotZoneStart => "give the first byte of the zone",
        ZoneRefusal::NotAtWritePointer => "write there, or append to the zone",
        ZoneRefusal::Full => "reset the zone, or write to another one",
        ZoneRefusal::Boundary => "write less",
        ZoneRefusal::TooManyActive => "finish or reset another zone, or set stack.active_zones",
        ZoneRefusal::TooManyOpen => "close another zone, or set stack.open_zones",
        ZoneRefusal::InvalidTransition => "reset a full zone, or open an empty one",
        ZoneRefusal::WornOut => "set stack.spare_blocks",
    }
}
