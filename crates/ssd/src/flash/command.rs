//! Commands to dies.

use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Time};

/// Marks the absence of a command.
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

/// Request or part that waits for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Owner {
    /// Nothing waits for the command.
    #[default]
    None,
    /// A host read, by request number.
    Request(u32),
    /// A part, by number.
    Part(u32),
    /// A copy. Programs or erases follow it.
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
    /// Lanes of the die that the command reads. A lane is one plane if planes read independently, and
    /// otherwise the whole die.
    pub(crate) lanes: u64,
    /// Number of pages that the command reads or programs, or of blocks that it erases.
    pub(crate) pages: u32,
    /// Superblock of the command. Commands for one superblock execute in order on each die.
    pub(crate) superblock: u32,
    /// Number of a program on its die.
    pub(crate) program: u32,
    /// Time for which the command occupies the array: sensing, programming, or erasing.
    pub(crate) array: Time,
    /// Time of the command and address cycles on the channel.
    pub(crate) command: Time,
    /// Time of the data on the channel; zero if no data is transferred.
    pub(crate) data: Time,
    /// Decoding time, from the end of the transfer until the data is usable.
    pub(crate) decoding: Time,
    /// Whether the command has no unfinished prerequisites.
    pub(crate) is_ready: bool,
    /// Whether the command has a slot in the write buffer.
    pub(crate) has_slot: bool,
    /// Sequence number among the programs that flushes wait for, or among the copies.
    pub(crate) number: u64,
    /// Next command of the chain.
    pub(crate) next: u32,
    /// Time of issue.
    pub(crate) issued: Time,
    /// Time when the first cycle of the command was transferred.
    pub(crate) began: Time,
    /// Time to suspend the operation in progress. It is included in the waiting time of the command.
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
