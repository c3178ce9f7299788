//! Order of the operations that wait for a die.

use nacre_config::{Configuration, Kinds};
use nacre_kernel::Time;

/// Order of the operations that wait for a die.
#[derive(Clone, Debug, Kinds)]
pub enum FlashScheduling {
    /// A host read starts before all other operations that wait for the same die.
    ///
    /// A read waits until its die has finished the operation in progress. The read then takes precedence
    /// over waiting programs, erases, and copies. A die performs all other operations in issue order. If a
    /// program or an erase waits until the pages of a copy have been read, operations that were issued
    /// later may start first. Operations on one superblock are never reordered. A host read occupies the
    /// whole die. With `independent_planes`, a host read occupies only its plane, so several planes can
    /// read at the same time. Programs, erases, and copies occupy the whole die.
    ///
    /// Not modeled:
    ///
    /// - Priorities among reads.
    /// - Starvation limits. Host reads always take precedence over waiting programs and erases.
    ReadPriority(ReadPriority),
    /// Host reads have priority and also suspend programs and erases in progress.
    ///
    /// As with `read_priority`, a host read starts before all other operations that wait for the same die.
    /// If a program or an erase is in progress when a read arrives, the die suspends it. After
    /// `suspensions` suspensions of the same operation, reads wait until this operation is complete. A
    /// suspension applies to all planes of the die. The die resumes the operation when no host read is
    /// waiting or in progress.
    ///
    /// Not modeled: suspension limits that depend on the remaining time of an operation, and different
    /// suspension times for erases and programs.
    Suspension(Suspension),
    /// Operations run in issue order: reads wait for programs and erases.
    ///
    /// A host read waits for all operations that were issued to the same die earlier. If a program or an
    /// erase waits until the pages of a copy have been read, operations that were issued later may start
    /// first. A read occupies all planes of its die.
    InOrder,
}

/// Host reads take precedence over all other operations.
#[derive(Clone, Debug, Configuration)]
pub struct ReadPriority {
    /// Whether the planes of a die serve host reads independently (asynchronous independent plane reads).
    #[config(default = false, source = "assumed: only dies from about 2020 on support it")]
    pub independent_planes: bool,
}

/// Reads suspend programs and erases.
#[derive(Clone, Debug, Configuration)]
pub struct Suspension {
    /// Time to suspend a program or an erase for a read.
    #[config(max = "1 s")]
    pub suspend: Time,
    /// Time to resume a suspended program or erase.
    #[config(default = "0 s", max = "1 s", source = "assumed: included in `suspend`")]
    pub resume: Time,
    /// Maximum number of suspensions of one program or erase.
    #[config(default = 8, min = 1, max = 65536, source = "assumed: a limit, so that every program ends")]
    pub suspensions: u32,
    /// Whether the planes of a die serve host reads independently (asynchronous independent plane reads).
    #[config(default = false, source = "assumed: only dies from about 2020 on support it")]
    pub independent_planes: bool,
}

impl FlashScheduling {
    /// Returns whether host reads go before all other waiting operations.
    pub(crate) fn has_read_priority(&self) -> bool {
        !matches!(self, FlashScheduling::InOrder)
    }

    /// Returns whether the planes of a die serve host reads independently.
    pub(crate) fn reads_by_plane(&self) -> bool {
        match self {
            FlashScheduling::ReadPriority(of) => of.independent_planes,
            FlashScheduling::Suspension(of) => of.independent_planes,
            FlashScheduling::InOrder => false,
        }
    }

    /// Returns the settings of suspension, or `None` if reads do not suspend programs and erases.
    pub(crate) fn suspension(&self) -> Option<&Suspension> {
        match self {
            FlashScheduling::Suspension(of) => Some(of),
            FlashScheduling::ReadPriority(_) | FlashScheduling::InOrder => None,
        }
    }
}
