//! Commands to dies.

use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Time};

/// No command.
pub(crate) const NONE: u32 = u32::MAX;

/// What a command has its die do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Kind {
    /// Sense pages, and send them over the channel.
    #[default]
    Read,
    /// Take data in over the channel, and program it.
    Program,
    /// Erase blocks.
    Erase,
}

/// Who waits for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Owner {
    /// Nobody.
    #[default]
    Nobody,
    /// A read of the host, by the number of its request.
    Request(u32),
    /// A part of a request, or something else of which more is to be known, by its number.
    Part(u32),
    /// A copy: what is programmed or erased behind it.
    Copy,
}

/// One command. A program of several planes at once is a chain of commands, one for each plane.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Command {
    /// Its number, in the order in which commands are issued.
    pub(crate) order: u64,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// What its time is for.
    pub(crate) activity: Activity,
    pub(crate) die: u32,
    /// Lanes of the die that it reads: its planes, where planes read independently.
    pub(crate) lanes: u64,
    /// Pages it reads or programs; blocks it erases.
    pub(crate) pages: u32,
    /// The superblock it works on: commands of one superblock keep their order on a die.
    pub(crate) superblock: u32,
    /// Of a program: its number on the die.
    pub(crate) program: u32,
    /// Time in the array: sensing, programming, erasing.
    pub(crate) array: Time,
    /// Time of its command and address cycles on the channel.
    pub(crate) command: Time,
    /// Time of its data on the channel; zero if none crosses.
    pub(crate) data: Time,
    /// From the end of the transfer until the data can be used: decoding.
    pub(crate) decoding: Time,
    /// Whether nothing has to end before it begins.
    pub(crate) is_ready: bool,
    /// Whether it has a place in the write buffer.
    pub(crate) has_place: bool,
    /// Of a program that a flush waits for, or of a copy: when it was issued, among those.
    pub(crate) number: u64,
    /// The next command of a chain.
    pub(crate) next: u32,
    /// When it was issued.
    pub(crate) issued: Time,
    /// When its first cycle crossed the channel.
    pub(crate) began: Time,
    /// Of the time between: how long it took to suspend what the die did.
    pub(crate) suspending: Time,
}

impl Default for Command {
    fn default() -> Command {
        Command {
            order: 0,
            kind: Kind::Read,
            owner: Owner::Nobody,
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
            has_place: false,
            number: u64::MAX,
            next: NONE,
            issued: Time::ZERO,
            began: Time::ZERO,
            suspending: Time::ZERO,
        }
    }
}
