//! Zones: address ranges that are written sequentially and reset completely.

use crate::state::Value;

/// A zone of a device. A trim of the whole zone resets it, and a trim from its write pointer to its end
/// finishes it. [`ZoneCommand`] lists the zone commands of NVMe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Address of the first byte.
    pub start: u64,
    /// Address after the last byte.
    pub end: u64,
    /// Address of the next write; the end of the zone if the zone is full.
    pub write_pointer: u64,
    /// State of the zone.
    pub state: ZoneState,
}

/// State of a zone (NVMe Zoned Namespace Command Set 1.1). Devices in Nacre have no read-only or offline
/// zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub enum ZoneState {
    /// The zone contains no data and uses no resources.
    Empty,
    /// The zone was opened by a write. The device may close it in order to open another zone.
    ImplicitlyOpen,
    /// The zone was opened by a command. Only the host closes it.
    ExplicitlyOpen,
    /// The zone contains data and counts towards the limit of active zones, but is not open.
    Closed,
    /// The zone accepts no writes until it is reset.
    Full,
}

impl ZoneState {
    /// Number of states.
    pub const COUNT: usize = 5;

    /// Whether a zone in this state counts towards the limit of active zones.
    pub const fn is_active(self) -> bool {
        self.is_open() || matches!(self, ZoneState::Closed)
    }

    /// Whether a zone in this state counts towards the limit of open zones.
    pub const fn is_open(self) -> bool {
        matches!(self, ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen)
    }

    /// Name of the state in messages and results.
    pub const fn name(self) -> &'static str {
        match self {
            ZoneState::Empty => "empty",
            ZoneState::ImplicitlyOpen => "implicitly_open",
            ZoneState::ExplicitlyOpen => "explicitly_open",
            ZoneState::Closed => "closed",
            ZoneState::Full => "full",
        }
    }
}

/// A command to a zone, which is identified by the address of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub enum ZoneCommand {
    /// Writes at the write pointer. The completion contains the address of the data.
    Append,
    /// Opens the zone until the host closes, finishes, or resets it.
    Open,
    /// Closes an open zone.
    Close,
    /// Makes the zone full.
    Finish,
    /// Makes the zone empty.
    Reset,
}

impl ZoneCommand {
    /// All commands.
    pub const ALL: [ZoneCommand; 5] =
        [ZoneCommand::Append, ZoneCommand::Open, ZoneCommand::Close, ZoneCommand::Finish, ZoneCommand::Reset];

    /// Name of the command in messages and results.
    pub const fn name(self) -> &'static str {
        match self {
            ZoneCommand::Append => "append",
            ZoneCommand::Open => "open",
            ZoneCommand::Close => "close",
            ZoneCommand::Finish => "finish",
            ZoneCommand::Reset => "reset",
        }
    }

    /// The command with this name, or `None` if no command has it.
    pub fn named(name: &str) -> Option<ZoneCommand> {
        ZoneCommand::ALL.into_iter().find(|command| command.name() == name)
    }
}

/// Reason why a zoned device rejects a write or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub enum ZoneRefusal {
    /// The start or the end of the write is not a multiple of the write unit.
    NotWholeUnits,
    /// The address of the command is not the first byte of a zone.
    NotZoneStart,
    /// The write does not start at the write pointer.
    NotAtWritePointer,
    /// The zone is full.
    Full,
    /// The write crosses the end of the zone.
    Boundary,
    /// The limit of active zones is reached.
    TooManyActive,
    /// The limit of open zones is reached, and all open zones were opened by command.
    TooManyOpen,
    /// The state of the zone does not allow the command.
    InvalidTransition,
    /// Too many blocks are worn out.
    WornOut,
}

impl ZoneRefusal {
    /// Number of reasons.
    pub const COUNT: usize = 9;

    /// Status of the completion in NVMe, with the status code type in the upper byte and the status code in
    /// the lower byte.
    pub const fn nvme_status(self) -> u16 {
        match self {
            // Invalid Field in Command.
            ZoneRefusal::NotWholeUnits | ZoneRefusal::NotZoneStart => 0x002,
            ZoneRefusal::Boundary => 0x1B8,
            ZoneRefusal::Full => 0x1B9,
            ZoneRefusal::NotAtWritePointer => 0x1BC,
            ZoneRefusal::TooManyActive => 0x1BD,
            ZoneRefusal::TooManyOpen => 0x1BE,
            ZoneRefusal::InvalidTransition => 0x1BF,
            // Write Fault.
            ZoneRefusal::WornOut => 0x280,
        }
    }

    /// Name of the reason in results and in the data of errors.
    pub const fn name(self) -> &'static str {
        match self {
            ZoneRefusal::NotWholeUnits => "not_whole_units",
            ZoneRefusal::NotZoneStart => "not_zone_start",
            ZoneRefusal::NotAtWritePointer => "not_at_write_pointer",
            ZoneRefusal::Full => "zone_full",
            ZoneRefusal::Boundary => "zone_boundary",
            ZoneRefusal::TooManyActive => "too_many_active",
            ZoneRefusal::TooManyOpen => "too_many_open",
            ZoneRefusal::InvalidTransition => "invalid_transition",
            ZoneRefusal::WornOut => "worn_out",
        }
    }

    /// The reason, as a phrase for messages.
    pub const fn reason(self) -> &'static str {
        match self {
            ZoneRefusal::NotWholeUnits => "not a multiple of a unit",
            ZoneRefusal::NotZoneStart => "not the first byte of a zone",
            ZoneRefusal::NotAtWritePointer => "not at the write pointer",
            ZoneRefusal::Full => "the zone is full",
            ZoneRefusal::Boundary => "beyond the end of the zone",
            ZoneRefusal::TooManyActive => "too many active zones",
            ZoneRefusal::TooManyOpen => "too many zones opened by command",
            ZoneRefusal::InvalidTransition => "not possible in this state of the zone",
            ZoneRefusal::WornOut => "too many worn-out blocks",
        }
    }
}

/// Result of a request to a zoned device, in addition to its status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct ZoneAnswer {
    /// Address at which an append stored its data; `None` for other requests.
    pub written_at: Option<u64>,
    /// Reason why a write or a command was rejected; `None` if it was performed.
    pub refusal: Option<ZoneRefusal>,
}
