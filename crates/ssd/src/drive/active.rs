//! Requests in progress, and the flash reads that they consist of.

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
    /// Start of the request in the drive.
    pub(crate) began: Time,
    /// Time when all its mappings were known.
    pub(crate) known: Time,
    /// Pages of the mapping table that it waits for.
    pub(crate) lookups: u32,
    /// Parts being read.
    pub(crate) parts: u32,
    /// Next unit to be written.
    pub(crate) next_unit: u32,
    /// Whether a unit of a read is lost.
    pub(crate) is_lost: bool,
    /// Result of a write, a trim, or a flush.
    pub(crate) status: Status,
    /// The zone command that it is, if any.
    pub(crate) command: Option<ZoneCommand>,
    /// Address of an append, once it has one.
    pub(crate) written_at: Option<u64>,
    /// Why a zone refused it.
    pub(crate) refusal: Option<ZoneRefusal>,
    /// Time that a flush waited for programs.
    pub(crate) drained: Time,
    /// Times of the part that ended last.
    pub(crate) times: ReadTimes,
}

/// Target of the read of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Target {
    /// Units of a host request.
    #[default]
    Units,
    /// A page of the mapping table, by number.
    Mapping(u32),
    /// The rest of a unit that is written partially. No request waits for it.
    Rest,
    /// Another unit of the stripe, to rebuild a unit of the part with this number.
    Other(u32),
}

/// Units of one operation that are read together.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Part {
    /// Its request; unused for pages of the mapping table.
    pub(crate) active: u32,
    pub(crate) target: Target,
    pub(crate) unit: u32,
    pub(crate) units: u32,
    pub(crate) found: Found,
    /// Whether its page was decoded, so that its read retries are known.
    pub(crate) is_decoded: bool,
    /// Number of read retries.
    pub(crate) senses: u32,
    /// Decoding time.
    pub(crate) decoding: Time,
    pub(crate) is_lost: bool,
    pub(crate) times: ReadTimes,
    /// Physical pages of its units when it was read; empty without bit errors.
    pub(crate) pages: Vec<u32>,
    /// Uncorrectable units, which are rebuilt from parity.
    pub(crate) beyond: Vec<u32>,
    /// Uncorrectable units that cannot be rebuilt: another unit of their stripe is uncorrectable, too.
    pub(crate) gone: Vec<u32>,
    /// Units of their stripes that are still being read.
    pub(crate) others: u32,
    /// The unit that is read, if this part reads for the rebuild of `unit`.
    pub(crate) other: Member,
}
