//! Activities of components.

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
    /// Rotational latency: a disk waits for the sector.
    Rotate,
    /// Data is transferred between a disk's platter and its buffer.
    Transfer,
    /// A request waits for a block that another request is already fetching.
    Merge,
    /// A cache writes fetched or written blocks to its own device.
    Fill,
    /// A controller looks up a mapping that is not in its cache.
    Translate,
    /// The old version of a page is copied to memory that can be changed.
    CopyOnWrite,
    /// Pages of a write buffer are programmed: writes of host data to the medium.
    Drain,
    /// Garbage collection copies valid pages.
    Clean,
    /// Blocks of the medium are erased.
    Erase,
    /// Wear leveling copies pages.
    LevelWear,
    /// A long operation is suspended for the host.
    Suspend,
    /// An error-correcting code is encoded or decoded.
    Correct,
    /// A disk's platters spin up.
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

    /// Every activity, in the order of the discriminants.
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

    /// The name used in records and figures.
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
