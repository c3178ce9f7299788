//! Host requests in progress, and their flash reads.

use crate::flash::backend::ReadTimes;
use crate::ftl::translation::Found;
use crate::layout::members::Member;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Status, Time, ZoneCommand, ZoneRefusal};

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Active {
    pub(crate) id: RequestId,
    pub(crate) arrived: Time,
    pub(crate) request: Request,
    /// Data of a write.
    pub(crate) data: Payload,
    /// Time when the drive started the request.
    pub(crate) began: Time,
    /// Time when all mappings of the request were known.
    pub(crate) known: Time,
    /// Number of mapping table pages that the request waits for.
    pub(crate) lookups: u32,
    /// Number of flash reads of the request that are in progress.
    pub(crate) parts: u32,
    /// Next unit that a write puts into the buffer.
    pub(crate) next_unit: u64,
    /// Whether a unit of a read has lost its data.
    pub(crate) is_lost: bool,
    /// Result of a write, a trim, or a flush.
    pub(crate) status: Status,
    /// Zone command, if the request is one.
    pub(crate) command: Option<ZoneCommand>,
    /// Address of an append after the zone has assigned it.
    pub(crate) written_at: Option<u64>,
    /// Reason why a zone rejected the request.
    pub(crate) refusal: Option<ZoneRefusal>,
    /// Time that a flush waited for programs.
    pub(crate) drained: Time,
    /// Times of the part that ended last.
    pub(crate) times: ReadTimes,
}

/// Purpose of a flash read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Target {
    /// Units of a host request.
    #[default]
    Units,
    /// A page of the mapping table, identified by its number.
    Mapping(u32),
    /// The remaining bytes of a partially written unit. No request waits for this read.
    Rest,
    /// Another unit of a stripe, read to rebuild a unit of the part with this number.
    Other(u32),
}

/// A flash read: units of one operation that are read together.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Part {
    /// Number of the request; unused for pages of the mapping table.
    pub(crate) active: u32,
    pub(crate) target: Target,
    pub(crate) unit: u64,
    pub(crate) units: u32,
    pub(crate) found: Found,
    /// Whether the page was decoded. Decoding determines the number of read retries.
    pub(crate) is_decoded: bool,
    /// Number of read retries.
    pub(crate) senses: u32,
    /// Decoding time.
    pub(crate) decoding: Time,
    pub(crate) is_lost: bool,
    pub(crate) times: ReadTimes,
    /// Physical pages of the units at the time of the read; empty in a drive without bit errors.
    pub(crate) pages: Vec<u64>,
    /// Uncorrectable units, which are rebuilt from parity.
    pub(crate) beyond: Vec<u64>,
    /// Uncorrectable units that cannot be rebuilt because another unit of the stripe is also uncorrectable.
    pub(crate) gone: Vec<u64>,
    /// Number of stripe units for rebuilds that are still being read.
    pub(crate) others: u32,
    /// Stripe unit that this part reads, if the purpose of the part is to rebuild `unit`.
    pub(crate) other: Member,
}
