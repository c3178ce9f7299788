//! What a component can be doing.

use crate::state::Value;

/// Activity of a component; see `docs/glossary.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
#[repr(u8)]
pub enum Activity {
    /// A request waits for a resource that is busy.
    Queue,
    /// Host or controller software works on a request.
    Software,
    /// Bytes cross a link or a network.
    Link,
    /// The medium, or a device known only by its latencies, serves a read.
    Read,
    /// The medium, or a device known only by its latencies, serves a write.
    Write,
    /// A disk arm moves.
    Seek,
    /// A disk waits for the sector to come round.
    Rotate,
    /// Bytes pass between a disk's platter and its buffer.
    Transfer,
    /// A request waits for a block that another request is already fetching.
    Merge,
    /// A cache puts fetched or written blocks into its own device.
    Fill,
    /// A memory controller looks a mapping up that it does not hold ready.
    Translate,
    /// The old version of a page is copied to where it can be changed.
    CopyOnWrite,
    /// Pages leave a write buffer for the medium: programs for the host's data.
    Drain,
    /// Live pages are programmed elsewhere to make erased space.
    Clean,
    /// Blocks of the medium are erased.
    Erase,
    /// Pages are programmed elsewhere so that blocks wear evenly.
    LevelWear,
    /// A long operation stands still for the host, or waits to be resumed.
    Suspend,
    /// An error-correcting code is encoded or decoded.
    Correct,
    /// A disk's platters come up to speed.
    SpinUp,
    /// A host waits for tries that it cancels, or pauses between tries.
    Retry,
}

// Ledgers are indexed by discriminant and walked in the order of `ALL`.
const _: () = {
    let mut index = 0;
    while index < Activity::COUNT {
        assert!(Activity::ALL[index] as usize == index);
        index += 1;
    }
};

impl Activity {
    /// Number of activities.
    pub const COUNT: usize = 20;

    /// All of them, in the order of their discriminants.
    pub const ALL: [Activity; Activity::COUNT] = [
        Activity::Queue,
        Activity::Software,
        Activity::Link,
        Activity::Read,
        Activity::Write,
        Activity::Seek,
        Activity::Rotate,
        Activity::Transfer,
        Activity::Merge,
        Activity::Fill,
        Activity::Translate,
        Activity::CopyOnWrite,
        Activity::Drain,
        Activity::Clean,
        Activity::Erase,
        Activity::LevelWear,
        Activity::Suspend,
        Activity::Correct,
        Activity::SpinUp,
        Activity::Retry,
    ];

    /// The word used in records and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Activity::Queue => "queue",
            Activity::Software => "software",
            Activity::Link => "link",
            Activity::Read => "read",
            Activity::Write => "write",
            Activity::Seek => "seek",
            Activity::Rotate => "rotate",
            Activity::Transfer => "transfer",
            Activity::Merge => "merge",
            Activity::Fill => "fill",
            Activity::Translate => "translate",
            Activity::CopyOnWrite => "copy_on_write",
            Activity::Drain => "drain",
            Activity::Clean => "clean",
            Activity::Erase => "erase",
            Activity::LevelWear => "level_wear",
            Activity::Suspend => "suspend",
            Activity::Correct => "correct",
            Activity::SpinUp => "spin_up",
            Activity::Retry => "retry",
        }
    }
}
