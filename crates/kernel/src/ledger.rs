//! Ledgers: where the time and energy of a component's resources went, and how often it did what.

use crate::activity::Activity;
use crate::breakdown::ComponentId;
use crate::state::Value;
use crate::time::Time;
use crate::units::Energy;

/// Busy time and energy by activity of one resource. Sums of any number of servers' time are exact.
#[derive(Clone, Debug, Default, PartialEq, Value)]
pub struct Ledger {
    busy_ps: [u128; Activity::COUNT],
    energy: [Energy; Activity::COUNT],
}

impl Ledger {
    /// Charges `time` of a resource to `activity`.
    #[inline(always)]
    pub fn charge(&mut self, activity: Activity, time: Time) {
        self.busy_ps[activity as usize] += u128::from(time.as_ps());
    }

    /// Charges `energy` to `activity`.
    #[inline]
    pub fn charge_energy(&mut self, activity: Activity, energy: Energy) {
        self.energy[activity as usize] += energy;
    }

    /// Charges what many charges came to.
    pub fn charge_sum(&mut self, activity: Activity, busy_ps: u128, energy: Energy) {
        self.busy_ps[activity as usize] += busy_ps;
        self.energy[activity as usize] += energy;
    }

    /// Takes time back that was charged to `activity` and never spent; of what was charged before this ledger began,
    /// nothing.
    pub fn give_back(&mut self, activity: Activity, time: Time) {
        let busy_ps = &mut self.busy_ps[activity as usize];
        *busy_ps = busy_ps.saturating_sub(u128::from(time.as_ps()));
    }

    /// The same of energy.
    pub fn give_back_energy(&mut self, activity: Activity, energy: Energy) {
        let charged = &mut self.energy[activity as usize];
        *charged = Energy((charged.0 - energy.0).max(0.0));
    }

    /// Charges all that `other` was charged.
    pub fn add(&mut self, other: &Ledger) {
        for activity in Activity::ALL {
            self.charge_sum(activity, other.busy_ps(activity), other.energy(activity));
        }
    }

    /// Resource time charged to `activity`, in picoseconds.
    pub fn busy_ps(&self, activity: Activity) -> u128 {
        self.busy_ps[activity as usize]
    }

    /// Resource time charged to `activity`, in seconds.
    pub fn busy_s(&self, activity: Activity) -> f64 {
        self.busy_ps[activity as usize] as f64 / 1e12
    }

    /// Energy charged to `activity`.
    pub fn energy(&self, activity: Activity) -> Energy {
        self.energy[activity as usize]
    }

    /// Resource time over all activities, in seconds.
    pub fn total_busy_s(&self) -> f64 {
        self.busy_ps.iter().sum::<u128>() as f64 / 1e12
    }
}

/// Equal servers behind one queue that a component works with, and where their time went.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// What it is, for example `"arm"`; no two of one component have the same name.
    pub name: &'static str,
    /// How many requests or parts of requests it can work on at one time.
    pub servers: u32,
    /// Busy time and dynamic energy.
    pub ledger: Ledger,
}

impl Resource {
    /// The share of its servers' time in `elapsed` that was busy; 0 where nothing elapsed.
    pub fn utilisation(&self, elapsed: Time) -> f64 {
        let available_ps = u128::from(elapsed.as_ps()) * u128::from(self.servers);
        if available_ps == 0 { 0.0 } else { self.ledger.total_busy_s() / (available_ps as f64 / 1e12) }
    }
}

/// Programs and erases of a medium since measuring began, by cause, and what its blocks have been through.
///
/// `host + cleaned + levelled + metadata + padding` are all programs there were.
#[derive(Clone, Debug, Default, PartialEq, Value)]
pub struct Wear {
    /// Pages programmed with data that came from the host.
    pub host: u64,
    /// Pages programmed to make erased space.
    pub cleaned: u64,
    /// Pages programmed to wear blocks evenly.
    pub levelled: u64,
    /// Pages programmed with the device's own tables, and with parity over others.
    pub metadata: u64,
    /// Pages programmed with nothing, since more had to be programmed together than there was.
    pub padding: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Erases of every block in its whole life.
    pub block_erases: Vec<u32>,
    /// Erases a block is made for; programs a row, where nothing is erased.
    pub endurance: Option<u64>,
    /// When the first block or row was programmed more often than it is made for; `None` before.
    pub worn_out_at: Option<Time>,
    /// Programs of rows that are written in place, in their whole life.
    pub row_programs: Option<Spread>,
    /// Pages of valid data; `None` where the device does not count them.
    pub valid: Option<u64>,
}

/// How often each of many parts was worn.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub struct Spread {
    /// How many parts.
    pub count: u64,
    /// Of the one worn least.
    pub min: u32,
    /// Over all.
    pub mean: f64,
    /// Of the one worn most.
    pub max: u32,
    /// Standard deviation over all.
    pub stddev: f64,
}

impl Spread {
    /// Of these counts; `None` if there are none.
    pub fn of(counts: impl Iterator<Item = u32>) -> Option<Spread> {
        let (mut count, mut min, mut max) = (0_u64, u32::MAX, 0);
        let (mut sum, mut squares) = (0_u128, 0_u128);
        for each in counts {
            (count, min, max) = (count + 1, min.min(each), max.max(each));
            (sum, squares) = (sum + u128::from(each), squares + u128::from(each) * u128::from(each));
        }
        let mean = sum as f64 / count as f64;
        // Whole numbers, so that equal counts have no spread by rounding.
        let variance = (squares * u128::from(count) - sum * sum) as f64 / (count as f64 * count as f64);
        (count > 0).then(|| Spread { count, min, mean, max, stddev: variance.sqrt() })
    }
}

impl Wear {
    /// All pages programmed.
    pub fn programs(&self) -> u64 {
        self.host + self.cleaned + self.levelled + self.metadata + self.padding
    }

    /// Pages programmed per page of host data; `None` before the first.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host > 0).then(|| self.programs() as f64 / self.host as f64)
    }

    /// Pages programmed by the cleaner per page of host data (eNVy, ASPLOS 1994, section 4.1); `None`
    /// before the first.
    pub fn cleaning_cost(&self) -> Option<f64> {
        (self.host > 0).then(|| self.cleaned as f64 / self.host as f64)
    }
}

/// Numbers of one component in a row: one for each erase block, or one for each span of time.
#[derive(Clone, Debug)]
pub struct Column {
    /// What they are, with the table they belong to and their unit: `"blocks.live_share"`,
    /// `"cleaning.end_s"`. Columns of one component whose names begin alike up to the dot are equally
    /// long. The record adds `"blocks.erases"` of [`Wear::block_erases`].
    pub name: &'static str,
    /// The numbers; NaN where there is none, which is null in the tables of a record.
    pub values: Vec<f64>,
}

/// Equal where the same places have no number, too.
impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        let mut pairs = self.values.iter().zip(&other.values);
        self.name == other.name
            && self.values.len() == other.values.len()
            && pairs.all(|(a, b)| a == b || a.is_nan() && b.is_nan())
    }
}

/// The name of the counter of pages that a component held alone and has lost: reads of them fail, or are told in some
/// other way.
pub const LOST_PAGES: &str = "lost_pages";

/// What one component did in a run. Reports form the same tree as the stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentReport {
    /// The component, as given out when the stack was built.
    pub id: ComponentId,
    /// Its room, for example `"measured"`.
    pub kind: &'static str,
    /// Its place in the scenario, for example `"stack.backing"`.
    pub path: String,
    /// What it works with; empty where only the components below work.
    pub resources: Vec<Resource>,
    /// Whether the model knows what energy it takes; the energies are zero where it does not.
    pub is_energy_modelled: bool,
    /// Energy that flows whether or not it works; `None` where the model does not know it.
    pub idle_energy: Option<Energy>,
    /// Counts of events, by name, in the order a reader wants them.
    pub counters: Vec<(&'static str, u64)>,
    /// What it costs, in the catalog's cost units; `None` where no price is known.
    pub cost: Option<f64>,
    /// Area of its memory's cells, and of what else its settings give an area, in square millimeters; `None` where it is
    /// not known.
    pub area_mm2: Option<f64>,
    /// Days until the medium is worn out at the rate of this run; `None` where endurance is not modeled.
    pub lifetime_days: Option<f64>,
    /// What was programmed and erased, and why; `None` where the medium is not modeled.
    pub wear: Option<Wear>,
    /// What is too long for a count: by erase block, or over time.
    pub columns: Vec<Column>,
    /// Of a device that is a share of a drive: what part of one it is; `None` if that is not known.
    pub drive_share: Option<f64>,
    /// Faults that it makes on purpose, in their order, each with what it did.
    pub faults: Vec<FaultReport>,
    /// The components below.
    pub children: Vec<ComponentReport>,
}

/// A fault that a component makes on purpose, and what it did since measuring began.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    /// Its place in the scenario, for example `"stack.fault[0]"`.
    pub path: String,
    /// Its room, for example `"stall"`.
    pub kind: &'static str,
    /// What it did.
    pub counts: FaultCounts,
}

/// What a fault did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct FaultCounts {
    /// Requests of its operations and range that came while it was active.
    pub matching: u64,
    /// Requests of these that it touched.
    pub touched: u64,
    /// Time that it added to requests, in picoseconds.
    pub added_ps: u128,
    /// Requests that it ended with an error.
    pub errors: u64,
    /// Bytes that requests with these errors asked to read or write.
    pub reported_bytes: u64,
    /// Bytes that it made wrong without an error.
    pub silent_bytes: u64,
}

impl FaultCounts {
    /// Adds what the same fault did in another copy of the component.
    pub fn add(&mut self, other: &FaultCounts) {
        self.matching += other.matching;
        self.touched += other.touched;
        self.added_ps += other.added_ps;
        self.errors += other.errors;
        self.reported_bytes += other.reported_bytes;
        self.silent_bytes += other.silent_bytes;
    }
}

impl ComponentReport {
    /// Time of all its resources charged to `activity`, in seconds.
    pub fn busy_s(&self, activity: Activity) -> f64 {
        self.resources.iter().map(|resource| resource.ledger.busy_s(activity)).sum()
    }

    /// Energy of all its resources charged to `activity`.
    pub fn energy(&self, activity: Activity) -> Energy {
        Energy(self.resources.iter().map(|resource| resource.ledger.energy(activity).0).sum())
    }
}
