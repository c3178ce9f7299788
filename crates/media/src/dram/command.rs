//! Commands and their locations.

use super::kind::Kind;
use nacre_kernel::state::Value;

/// Location of an access in a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Location {
    /// The rank.
    pub rank: u32,
    /// Number of the bank, counted across all groups of the rank.
    pub bank: u32,
    /// Number of the row.
    pub row: u32,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Kind of the command.
    pub kind: Kind,
    /// Location. A refresh applies to the whole rank.
    pub location: Location,
}
