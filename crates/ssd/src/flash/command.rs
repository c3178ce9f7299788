//! Commands to dies.

use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Time};

/// Absent command.
pub(crate) const NONE: u32 = u32::MAX;

/// Operation of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Kind {
    /// Senses pages, and sends them over the channel.
    #[default]
    Read,
    /// Receives data over the channel, and programs it.
    Program,
    /// Erases blocks.
    Erase,
}

/// Request or part that waits for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Owner {
    /// None.
    #[default]
    None,
    /// A host read, by request number.
    Request(u32),
    /// A part, by number.
    Part(u32),
    /// A copy: programs or erases that follow it.
    Copy,
}

/// A command. A multi-plane program is a chain of commands, one for each plane.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Command {
    /// Number, in the order of issue.
    pub(crate) order: u64,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Activity that its time is charged to.
    pub(crate) activity: Activity,
    pub(crate) die: u32,
    /// Lanes of the die that it reads. A lane is a plane if planes read independently; otherwise, it is the
    /// whole die.
    pub(crate) lanes: u64,
    /// Pages that it reads or programs, or blocks that it erases.
    pub(crate) pages: u32,
    /// Its superblock: commands of one superblock keep their order on a die.
    pub(crate) superblock: u32,
    /// For a program, its number on the die.
    pub(crate) program: u32,
    /// Time in the array: sensing, programming, or erasing.
    pub(crate) array: Time,
    /// Time of its command and address cycles on the channel.
    pub(crate) command: Time,
    /// Time of its data on the channel; zero if no data crosses.
    pub(crate) data: Time,
    /// Decoding time, from the end of the transfer until the data can be used.
    pub(crate) decoding: Time,
    /// Whether it has no unfinished prerequisites.
    pub(crate) is_ready: bool,
    /// Whether it has a slot in the write buffer.
    pub(crate) has_slot: bool,
    /// Sequence number among the programs that flushes wait for, or among copies.
    pub(crate) number: u64,
    /// Next command of a chain.
    pub(crate) next: u32,
    /// Time of issue.
    pub(crate) issued: Time,
    /// Time when its first cycle crossed the channel.
    pub(crate) began: Time,
    /// Time to suspend the operation in progress, which is part of its wait.
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
