//! Classes of faults, and which of them a device guarantees to survive.

use nacre_kernel::Capabilities;

/// A class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Power loss, between and inside operations of the medium, also during a recovery; programs and erases
    /// in progress are interrupted, as the device models them.
    PowerLoss,
    /// Insufficient stored energy for the programs of acknowledged data.
    SmallCapacitor,
    /// An interrupted program damages pages programmed earlier on the same word line.
    PairedPage,
    /// The medium wears out, and rejects writes.
    EndOfLife,
    /// A flush is acknowledged without reaching the device.
    LyingFlush,
    /// A program is acknowledged by the medium without effect.
    LostProgram,
    /// A program changes only the first half of its page.
    TornProgram,
    /// A program changes the page next to its own.
    MisdirectedProgram,
    /// Bits of a page that was programmed often are read incorrectly.
    BitRot,
    /// Some blocks of the medium ignore programs.
    StuckBlock,
    /// A fault of a device `faulty` in the stack.
    DeviceFault,
}

/// An injected fault of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The fault.
    pub fault: Fault,
    /// Affects one in this many operations.
    pub one_in: u64,
    /// Random seed.
    pub seed: u64,
}

/// Guarantee of a device for a class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// No guaranteed data is lost.
    Survives,
    /// Losses are reported: recovery counts them, or the request fails.
    Detects,
    /// Undetectable by the device: losses are counted, without a violation.
    Blind,
    /// Impossible for this device.
    Absent,
}

impl Fault {
    /// All classes.
    pub const ALL: [Fault; 11] = [
        Fault::PowerLoss,
        Fault::SmallCapacitor,
        Fault::PairedPage,
        Fault::EndOfLife,
        Fault::LyingFlush,
        Fault::LostProgram,
        Fault::TornProgram,
        Fault::MisdirectedProgram,
        Fault::BitRot,
        Fault::StuckBlock,
        Fault::DeviceFault,
    ];

    /// Faults that are injected into operations of a medium. The others are part of the device model: power
    /// losses and the end of life.
    pub const INJECTED: [Fault; 6] = [
        Fault::LyingFlush,
        Fault::LostProgram,
        Fault::TornProgram,
        Fault::MisdirectedProgram,
        Fault::BitRot,
        Fault::StuckBlock,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::PowerLoss => "power_loss",
            Fault::SmallCapacitor => "small_capacitor",
            Fault::PairedPage => "paired_page",
            Fault::EndOfLife => "end_of_life",
            Fault::LyingFlush => "lying_flush",
            Fault::LostProgram => "lost_program",
            Fault::TornProgram => "torn_program",
            Fault::MisdirectedProgram => "misdirected_program",
            Fault::BitRot => "bit_rot",
            Fault::StuckBlock => "stuck_block",
            Fault::DeviceFault => "device_fault",
        }
    }

    /// The class of faults with this name.
    pub fn named(name: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// The injected fault of the medium in one run; `None` for faults of the device model.
    pub fn wrong(self, seed: u64) -> Option<Wrong> {
        let one_in = match self {
            Fault::LostProgram | Fault::TornProgram | Fault::MisdirectedProgram => 40,
            Fault::BitRot => 2_000,
            Fault::StuckBlock => 16,
            Fault::PowerLoss
            | Fault::SmallCapacitor
            | Fault::PairedPage
            | Fault::EndOfLife
            | Fault::LyingFlush
            | Fault::DeviceFault => return None,
        };
        Some(Wrong { fault: self, one_in, seed })
    }

    /// Guarantee of a device with these `capabilities` for it.
    pub fn guarantee(self, capabilities: &Capabilities) -> Guarantee {
        let persistence = capabilities.persistence;
        match self {
            Fault::PowerLoss => Guarantee::Survives,
            // A drive loses nothing; a cache above it loses dirty data.
            Fault::EndOfLife => Guarantee::Detects,
            Fault::SmallCapacitor | Fault::PairedPage if persistence.is_up_to_energy() => Guarantee::Detects,
            Fault::SmallCapacitor | Fault::PairedPage => Guarantee::Absent,
            // Data covered by a failed flush may still be among the losses counted by recovery.
            Fault::LyingFlush if persistence.needs_flush() => Guarantee::Detects,
            Fault::LyingFlush => Guarantee::Survives,
            // No device keeps a checksum next to the host's bytes.
            Fault::LostProgram
            | Fault::TornProgram
            | Fault::MisdirectedProgram
            | Fault::BitRot
            | Fault::StuckBlock
            | Fault::DeviceFault => Guarantee::Blind,
        }
    }
}

impl Guarantee {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Guarantee::Survives => "survives",
            Guarantee::Detects => "detects",
            Guarantee::Blind => "no means of detection",
            Guarantee::Absent => "cannot happen",
        }
    }
}
