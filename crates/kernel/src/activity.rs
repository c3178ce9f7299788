//! Activities of components.

use crate::state::Value;

/// Activity on which a component spends time; see `docs/glossary.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
#[repr(u8)]
pub enum Activity {
    /// Waiting for a busy resource.
    Queue,
    /// Processing by host or controller software.
    Software,
    /// Transfer over a link or a network.
    Link,
    /// Read by the medium, or by a device that is modeled only by its latencies.
    Read,
    /// Write by the medium, or by a device that is modeled only by its latencies.
    Write,
    /// Movement of a disk arm.
    Seek,
    /// Rotational latency of a disk.
    Rotate,
    /// Transfer between the platter of a disk and its buffer.
    Transfer,
    /// Waiting for a block that another request is already fetching.
    Merge,
    /// Write of fetched or written blocks to the cache device.
    Fill,
    /// Lookup of a mapping that is not in the controller's cache.
    Translate,
    /// Copy of a page to writable memory before its first write.
    CopyOnWrite,
    /// Programming of pages from a write buffer, i.e. of host data.
    Drain,
    /// Copy of valid pages by garbage collection.
    Clean,
    /// Erase of blocks of the medium.
    Erase,
    /// Copy of pages by wear leveling.
    LevelWear,
    /// Suspension of a long operation in favor of the host.
    Suspend,
    /// Encoding or decoding of an error-correcting code.
    Correct,
    /// Spin-up of a disk.
    SpinUp,
    /// Attempts that the host cancels, and pauses between attempts.
    Retry,
}

// Ledgers are indexed by discriminant and traversed in the order of `ALL`.
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

    /// Name of the activity in records and figures.
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
