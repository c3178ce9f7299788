//! Classes of faults, and the guarantees of a device for each class.

use nacre_kernel::Capabilities;

/// A class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Power loss between or during operations of the medium, or during a recovery. The device model
    /// determines how programs and erases in progress are interrupted.
    PowerLoss,
    /// Stored energy that is insufficient to program all acknowledged data after a power loss.
    SmallCapacitor,
    /// An interrupted program that damages pages programmed earlier on the same word line.
    PairedPage,
    /// Wear-out of the medium, which then rejects writes.
    EndOfLife,
    /// A flush that is acknowledged without reaching the device.
    LyingFlush,
    /// A program that the medium acknowledges but does not perform.
    LostProgram,
    /// A program that changes only the first half of its page.
    TornProgram,
    /// A program that changes an adjacent page instead.
    MisdirectedProgram,
    /// Bit errors in reads of a page that was programmed often.
    BitRot,
    /// Blocks of the medium that acknowledge programs without performing them.
    StuckBlock,
    /// A fault of a `faulty` device in the stack.
    DeviceFault,
}

/// An injected fault of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectedFault {
    /// Class of the fault.
    pub fault: Fault,
    /// Average number of operations per affected operation.
    pub one_in: u64,
    /// Seed that determines the affected operations.
    pub seed: u64,
}

/// Guarantee of a device for a class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// No guaranteed data is lost.
    Survives,
    /// Losses are reported: recovery counts them, or the request fails.
    Detects,
    /// The device cannot detect the fault. Losses are counted and are not a violation.
    Blind,
    /// The fault cannot occur in this device.
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

    /// Lying flushes, and faults that are injected into operations of a medium. The other classes are part
    /// of the device model or of a `faulty` device.
    pub const INJECTED: [Fault; 6] = [
        Fault::LyingFlush,
        Fault::LostProgram,
        Fault::TornProgram,
        Fault::MisdirectedProgram,
        Fault::BitRot,
        Fault::StuckBlock,
    ];

    /// Name of the class.
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

    /// The class with this name, or `None` if no class has it.
    pub fn named(name: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// Returns the fault to inject into the medium in one run; `None` if faults of this class are not
    /// injected into a medium.
    pub fn injected(self, seed: u64) -> Option<InjectedFault> {
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
        Some(InjectedFault { fault: self, one_in, seed })
    }

    /// Guarantee that a device with these `capabilities` gives for this class of faults.
    pub fn guarantee(self, capabilities: &Capabilities) -> Guarantee {
        let persistence = capabilities.persistence;
        match self {
            Fault::PowerLoss => Guarantee::Survives,
            // A drive loses no data, but a cache above it loses dirty data.
            Fault::EndOfLife => Guarantee::Detects,
            Fault::SmallCapacitor | Fault::PairedPage if persistence.is_up_to_energy() => Guarantee::Detects,
            Fault::SmallCapacitor | Fault::PairedPage => Guarantee::Absent,
            // Data covered by a failed flush may still be among the losses counted by recovery.
            Fault::LyingFlush if persistence.needs_flush() => Guarantee::Detects,
            Fault::LyingFlush => Guarantee::Survives,
            // No device stores a checksum with the data of the host.
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
    /// Name of the guarantee.
    pub const fn name(self) -> &'static str {
        match self {
            Guarantee::Survives => "survives",
            Guarantee::Detects => "detects",
            Guarantee::Blind => "no means of detection",
            Guarantee::Absent => "cannot happen",
        }
    }
}
