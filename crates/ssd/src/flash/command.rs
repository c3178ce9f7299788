//! Commands to dies.

use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Time};

/// Index that represents the absence of a command.
pub(crate) const NONE: u32 = u32::MAX;

/// Operation of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Kind {
    /// Senses pages and sends them over the channel.
    #[default]
    Read,
    /// Receives data over the channel and programs it.
    Program,
    /// Erases blocks.
    Erase,
}

/// Object that waits for the end of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Owner {
    /// Nothing waits for the command.
    #[default]
    None,
    /// A host read, by request number.
    Request(u32),
    /// A part of a request, by number.
    Part(u32),
    /// A copy, on which programs or erases depend.
    Copy,
}

/// A command to a die. A multi-plane program is a chain of commands, one per plane.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Command {
    /// Command number, in issue order.
    pub(crate) order: u64,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Activity to which the time of the command is charged.
    pub(crate) activity: Activity,
    pub(crate) die: u32,
    /// Lanes of the die that the command reads, as a bit set. A lane is one plane if planes read
    /// independently, and otherwise the whole die.
    pub(crate) lanes: u64,
    /// Number of pages that the command reads or programs, or of blocks that it erases.
    pub(crate) pages: u32,
    /// Superblock of the command. Each die executes the commands for one superblock in order.
    pub(crate) superblock: u32,
    /// Number of the program on its die, if the command is a program.
    pub(crate) program: u32,
    /// Time for which the command occupies the array: sensing, programming, or erasing.
    pub(crate) array: Time,
    /// Time of the command and address cycles on the channel.
    pub(crate) command: Time,
    /// Transfer time of the data on the channel, or zero if no data is transferred.
    pub(crate) data: Time,
    /// Decoding time, from the end of the transfer until the data is usable.
    pub(crate) decoding: Time,
    /// Whether the command has no unfinished prerequisites.
    pub(crate) is_ready: bool,
    /// Whether the command occupies a slot in the write buffer.
    pub(crate) has_slot: bool,
    /// Sequence number among the programs for which flushes wait, or among the copies.
    pub(crate) number: u64,
    /// Next command of the chain, or [`NONE`].
    pub(crate) next: u32,
    /// Time at which the command was issued.
    pub(crate) issued: Time,
    /// Time at which the transfer of the command started.
    pub(crate) began: Time,
    /// Time for suspending the operation in progress. It is part of the waiting time of the command.
    pub(crate) suspending: Time,
}

impl Default for Command {
    fn default() -> Command {
        Command {
            order: 0,
            kind: Kind::Read,
            owner: Owner::None,
            activity: Activity::Read,
            die: 0,
            lanes: 0,
            pages: 0,
            superblock: NONE,
            program: NONE,
            array: Time::ZERO,
            command: Time::ZERO,
            data: Time::ZERO,
            decoding: Time::ZERO,
            is_ready: false,
            has_slot: false,
            number: u64::MAX,
            next: NONE,
            issued: Time::ZERO,
            began: Time::ZERO,
            suspending: Time::ZERO,
        }
    }
}
