//! What can go wrong, and which of it a device promises to survive.

use nacre_kernel::Capabilities;

/// A class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The power is lost, between and inside operations of the medium, also during a recovery; programs and erases
    /// under way are interrupted, as the device models them.
    PowerLoss,
    /// Stored energy does not suffice for the programs of what was acknowledged.
    SmallCapacitor,
    /// A program that loses its power damages pages that were programmed before it on the same word line.
    PairedPage,
    /// The medium wears out, and takes no writes any more.
    EndOfLife,
    /// A flush is answered, and the device never hears of it.
    LyingFlush,
    /// A program is acknowledged by the medium and changes nothing.
    LostProgram,
    /// A program changes only the first half of its page.
    TornProgram,
    /// A program changes the page next to its own.
    MisdirectedProgram,
    /// Bits of a page that was programmed often are read wrong.
    BitRot,
    /// Some blocks of the medium take no program.
    StuckBlock,
    /// A fault of a device `faulty` in the stack.
    DeviceFault,
}

/// A fault of the medium as it happens in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The fault.
    pub fault: Fault,
    /// Fails one in this many operations.
    pub one_in: u64,
    /// Random seed.
    pub seed: u64,
}

/// Guarantee of a device for a class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// Nothing that was promised to last is lost.
    Survives,
    /// What is lost is told: recovery counts it, or the request fails.
    Detects,
    /// It has no means to see it: what is lost is counted here, and nobody is blamed.
    Blind,
    /// It cannot happen to this device.
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

    /// The word for it.
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

    /// The injected fault of the medium in one life; `None` for faults of the device model.
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
    pub fn promised(self, capabilities: &Capabilities) -> Promise {
        let persistence = capabilities.persistence;
        match self {
            Fault::PowerLoss => Promise::Survives,
            // A drive loses nothing; a cache before it what it can write nowhere.
            Fault::EndOfLife => Promise::Detects,
            Fault::SmallCapacitor | Fault::PairedPage if persistence.is_up_to_energy() => Promise::Detects,
            Fault::SmallCapacitor | Fault::PairedPage => Promise::Absent,
            // What a flush was to save is still among what recovery counts as lost.
            Fault::LyingFlush if persistence.needs_flush() => Promise::Detects,
            Fault::LyingFlush => Promise::Survives,
            // No device keeps a checksum next to the host's bytes.
            Fault::LostProgram
            | Fault::TornProgram
            | Fault::MisdirectedProgram
            | Fault::BitRot
            | Fault::StuckBlock
            | Fault::DeviceFault => Promise::Blind,
        }
    }
}

impl Promise {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Promise::Survives => "survives",
            Promise::Detects => "detects",
            Promise::Blind => "no means of detection",
            Promise::Absent => "cannot happen",
        }
    }
}
