//! Ledgers: where a component's time and energy went, and how often it did what.

use crate::time::Time;
use crate::units::Energy;

/// What a component can be doing. One word per idea; see `docs/glossary.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// How many activities there are.
    pub const COUNT: usize = 10;

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
        }
    }
}

/// Busy time and energy by activity of one component.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    busy: [Time; Activity::COUNT],
    energy: [Energy; Activity::COUNT],
}

impl Ledger {
    /// Charges `time` of a resource to `activity`.
    #[inline]
    pub fn charge(&mut self, activity: Activity, time: Time) {
        self.busy[activity as usize] += time;
    }

    /// Charges `energy` to `activity`.
    #[inline]
    pub fn charge_energy(&mut self, activity: Activity, energy: Energy) {
        self.energy[activity as usize] += energy;
    }

    /// Resource time charged to `activity`.
    pub fn busy(&self, activity: Activity) -> Time {
        self.busy[activity as usize]
    }

    /// Energy charged to `activity`.
    pub fn energy(&self, activity: Activity) -> Energy {
        self.energy[activity as usize]
    }

    /// Resource time over all activities.
    pub fn total_busy(&self) -> Time {
        self.busy.iter().fold(Time::ZERO, |sum, &time| sum + time)
    }
}

/// What one component did in a run. Reports form the same tree as the stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentReport {
    /// The component, as given out when the stack was built.
    pub id: crate::device::ComponentId,
    /// Its room, for example `"measured"`.
    pub kind: &'static str,
    /// Its place in the scenario, for example `"stack.backing"`.
    pub path: String,
    /// How many requests it can work on at one time: the servers behind [`Ledger::busy`].
    pub servers: u32,
    /// Busy time and dynamic energy.
    pub ledger: Ledger,
    /// Energy that flows whether or not it works; `None` where the model does not know it.
    pub idle_energy: Option<Energy>,
    /// Counts of events, by name, in the order a reader wants them.
    pub counters: Vec<(&'static str, u64)>,
    /// What it costs, in the catalogue's cost units; `None` where no price is known.
    pub cost: Option<f64>,
    /// Days until the medium is worn out at the rate of this run; `None` where endurance is not modelled.
    pub lifetime_days: Option<f64>,
    /// The components below.
    pub children: Vec<ComponentReport>,
}
