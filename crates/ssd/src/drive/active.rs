//! Requests in progress, and the parts of those that read the flash.

use crate::flash::backend::ReadTimes;
use crate::ftl::translation::Found;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Status, Time};

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Active {
    pub(crate) id: RequestId,
    pub(crate) arrived: Time,
    pub(crate) request: Request,
    /// The bytes of a write.
    pub(crate) data: Payload,
    /// When the drive began with it.
    pub(crate) began: Time,
    /// When all its mappings were known.
    pub(crate) known: Time,
    /// Pages of the mapping table that it waits for.
    pub(crate) lookups: u32,
    /// Parts that are being read.
    pub(crate) parts: u32,
    /// The unit that is written next.
    pub(crate) next_unit: u32,
    /// Whether a unit of a read is lost.
    pub(crate) is_lost: bool,
    /// How a write, a trim or a flush ended.
    pub(crate) status: Status,
    /// How long a flush waited for programs.
    pub(crate) drained: Time,
    /// Where the time of the part went that ended last.
    pub(crate) times: PartTimes,
}

/// Where the time of a part went, next to waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct PartTimes {
    pub(crate) suspend: Time,
    pub(crate) sense: Time,
    pub(crate) transfer: Time,
    pub(crate) correct: Time,
}

impl PartTimes {
    /// A page was read for it.
    pub(crate) fn add(&mut self, read: &ReadTimes) {
        self.suspend += read.suspend;
        self.sense += read.sense;
        self.transfer += read.transfer;
    }

    /// What follows took these.
    pub(crate) fn go_on(&mut self, next: &PartTimes) {
        self.suspend += next.suspend;
        self.sense += next.sense;
        self.transfer += next.transfer;
        self.correct += next.correct;
    }
}

/// What a part reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Target {
    /// Units of a request of the host.
    #[default]
    Units,
    /// A page of the mapping table, by its number.
    Mapping(u32),
    /// The rest of a unit of which a part is written. Nobody waits for it.
    Rest,
    /// Another unit of the stripe of a unit that is rebuilt, for the part with this number.
    Other(u32),
}

/// Units of one operation that are read.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Part {
    /// The request it belongs to; of no meaning for pages of the mapping table.
    pub(crate) active: u32,
    pub(crate) target: Target,
    pub(crate) unit: u32,
    pub(crate) units: u32,
    pub(crate) found: Found,
    /// Whether its page was decoded, so that how often it is sensed again is known.
    pub(crate) is_decoded: bool,
    /// How often it is sensed again.
    pub(crate) senses: u32,
    /// What the decoder takes.
    pub(crate) decoding: Time,
    pub(crate) is_lost: bool,
    pub(crate) times: PartTimes,
    /// The pages of its units when it was read; kept if bits go wrong.
    pub(crate) pages: Vec<u32>,
    /// Units that are beyond the code, and are rebuilt.
    pub(crate) beyond: Vec<u32>,
    /// Of these, units of which another one of their stripe is beyond the code, too.
    pub(crate) gone: Vec<u32>,
    /// Others of their stripes that are being read.
    pub(crate) others: u32,
    /// Of another unit of a stripe: what it is.
    pub(crate) other: Other,
}

/// Another unit of a stripe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Other {
    /// The unit that is rebuilt.
    pub(crate) unit: u32,
    pub(crate) page: u32,
    pub(crate) is_parity: bool,
    pub(crate) operation: u32,
    pub(crate) within: u32,
}
