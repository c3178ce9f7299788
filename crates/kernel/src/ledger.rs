//! Ledgers: busy time and energy by resource and activity, and the counters of a component.

use crate::activity::Activity;
use crate::breakdown::ComponentId;
use crate::state::Value;
use crate::time::Time;
use crate::units::Energy;

/// Busy time and energy of a resource for each activity. Sums over any number of servers are exact.
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

    /// Charges the sum of several charges to `activity`: `busy_ps` picoseconds and `energy`.
    pub fn charge_sum(&mut self, activity: Activity, busy_ps: u128, energy: Energy) {
        self.busy_ps[activity as usize] += busy_ps;
        self.energy[activity as usize] += energy;
    }

    /// Refunds time that was charged to `activity` but not spent. Charges from before the start of this
    /// ledger are not refunded.
    pub fn give_back(&mut self, activity: Activity, time: Time) {
        let busy_ps = &mut self.busy_ps[activity as usize];
        *busy_ps = busy_ps.saturating_sub(u128::from(time.as_ps()));
    }

    /// Refunds energy that was charged to `activity`.
    pub fn give_back_energy(&mut self, activity: Activity, energy: Energy) {
        let charged = &mut self.energy[activity as usize];
        *charged = Energy((charged.0 - energy.0).max(0.0));
    }

    /// Adds all charges of `other`.
    pub fn add(&mut self, other: &Ledger) {
        for activity in Activity::ALL {
            self.charge_sum(activity, other.busy_ps(activity), other.energy(activity));
        }
    }

    /// Busy time charged to `activity`, in picoseconds.
    pub fn busy_ps(&self, activity: Activity) -> u128 {
        self.busy_ps[activity as usize]
    }

    /// Busy time charged to `activity`, in seconds.
    pub fn busy_s(&self, activity: Activity) -> f64 {
        self.busy_ps[activity as usize] as f64 / 1e12
    }

    /// Energy charged to `activity`.
    pub fn energy(&self, activity: Activity) -> Energy {
        self.energy[activity as usize]
    }

    /// Total busy time of all activities, in seconds.
    pub fn total_busy_s(&self) -> f64 {
        self.busy_ps.iter().sum::<u128>() as f64 / 1e12
    }
}

/// Identical servers behind one queue of a component, and their busy time for each activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Name, e.g. `"arm"`, which is unique within a component.
    pub name: &'static str,
    /// Number of servers, i.e. maximum number of requests or parts of requests served in parallel.
    pub servers: u32,
    /// Busy time and dynamic energy of the resource.
    pub ledger: Ledger,
}

impl Resource {
    /// Fraction of `elapsed` for which the servers were busy; 0 if no time elapsed.
    pub fn utilization(&self, elapsed: Time) -> f64 {
        let available_ps = u128::from(elapsed.as_ps()) * u128::from(self.servers);
        if available_ps == 0 { 0.0 } else { self.ledger.total_busy_s() / (available_ps as f64 / 1e12) }
    }
}

/// Programs and erases of a medium since measurement started, for each cause, and lifetime wear of its
/// blocks.
///
/// The sum `host + cleaned + leveled + metadata + padding` is the total number of programs.
#[derive(Clone, Debug, Default, PartialEq, Value)]
pub struct Wear {
    /// Number of pages programmed with host data.
    pub host: u64,
    /// Number of pages programmed by garbage collection.
    pub cleaned: u64,
    /// Number of pages programmed by wear leveling.
    pub leveled: u64,
    /// Number of pages programmed with tables of the device or with parity.
    pub metadata: u64,
    /// Number of pages programmed as padding, i.e. without data, to complete a multi-plane or stripe
    /// program.
    pub padding: u64,
    /// Number of erased blocks.
    pub erases: u64,
    /// Lifetime erase count of every block.
    pub block_erases: Vec<u32>,
    /// Rated number of erases of a block, or of programs of a row if the medium has no erases.
    pub endurance: Option<u64>,
    /// Time at which the first block or row exceeded its endurance; `None` if this has not happened.
    pub worn_out_at: Option<Time>,
    /// Statistics of the lifetime programs of rows; `None` if the medium is not written in place.
    pub row_programs: Option<Spread>,
    /// Number of valid pages; `None` if the device does not count them.
    pub valid: Option<u64>,
}

/// Statistics of a wear counter over many blocks or rows.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub struct Spread {
    /// Number of blocks or rows.
    pub count: u64,
    /// Minimum wear.
    pub min: u32,
    /// Mean wear.
    pub mean: f64,
    /// Maximum wear.
    pub max: u32,
    /// Standard deviation of the wear.
    pub stddev: f64,
}

impl Spread {
    /// Statistics of `counts`; `None` if there are none.
    pub fn of(counts: impl Iterator<Item = u32>) -> Option<Spread> {
        let (mut count, mut min, mut max) = (0_u64, u32::MAX, 0);
        let (mut sum, mut squares) = (0_u128, 0_u128);
        for each in counts {
            (count, min, max) = (count + 1, min.min(each), max.max(each));
            (sum, squares) = (sum + u128::from(each), squares + u128::from(each) * u128::from(each));
        }
        let mean = sum as f64 / count as f64;
        // The calculation uses integers, so that rounding does not add a spread to equal counts.
        let variance = (squares * u128::from(count) - sum * sum) as f64 / (count as f64 * count as f64);
        (count > 0).then(|| Spread { count, min, mean, max, stddev: variance.sqrt() })
    }
}

impl Wear {
    /// Total number of programmed pages.
    pub fn programs(&self) -> u64 {
        self.host + self.cleaned + self.leveled + self.metadata + self.padding
    }

    /// Number of programmed pages per page of host data; `None` before the first page of host data.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host > 0).then(|| self.programs() as f64 / self.host as f64)
    }

    /// Number of pages programmed by garbage collection per page of host data (eNVy, ASPLOS 1994, section
    /// 4.1); `None` before the first page of host data.
    pub fn cleaning_cost(&self) -> Option<f64> {
        (self.host > 0).then(|| self.cleaned as f64 / self.host as f64)
    }
}

/// A column of numbers of a component, e.g. one per erase block or time interval.
#[derive(Clone, Debug)]
pub struct Column {
    /// Table, name, and unit of the column, e.g. `"blocks.valid_share"` or `"cleaning.end_s"`. Columns of one
    /// table have equal lengths. The record adds `"blocks.erases"` from [`Wear::block_erases`].
    pub name: &'static str,
    /// Numbers of the column. Missing numbers are NaN here and null in the tables of a record.
    pub values: Vec<f64>,
}

/// Missing values (NaN) at the same index are equal.
impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        let mut pairs = self.values.iter().zip(&other.values);
        self.name == other.name
            && self.values.len() == other.values.len()
            && pairs.all(|(a, b)| a == b || a.is_nan() && b.is_nan())
    }
}

/// Name of the counter of lost pages that have no other copy. Reads of these pages fail or are otherwise
/// reported.
pub const LOST_PAGES: &str = "lost_pages";

/// Name of the counter of failed members that an array has removed since it was new.
pub const FAILED_MEMBERS: &str = "failed_members";

/// Results of one component of a run. The reports form a tree with the structure of the stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentReport {
    /// Number of the component.
    pub id: ComponentId,
    /// Type of the component, e.g. `"measured"`.
    pub kind: &'static str,
    /// Path in the scenario, e.g. `"stack.backing"`.
    pub path: String,
    /// Resources of the component; empty if only its children are busy.
    pub resources: Vec<Resource>,
    /// Whether the model has energy data. Otherwise, the energies are zero.
    pub is_energy_modeled: bool,
    /// Idle energy; `None` if the model has no idle power.
    pub idle_energy: Option<Energy>,
    /// Counters with their names, in display order.
    pub counters: Vec<(&'static str, u64)>,
    /// Cost, in the currency of the price; `None` without a price.
    pub cost: Option<f64>,
    /// Area of the memory cells, and of other parts with a given area, in square millimeters; `None` if
    /// unknown.
    pub area_mm2: Option<f64>,
    /// Number of days until the medium is worn out at the write rate of this run; `None` if endurance is not
    /// modeled.
    pub lifetime_days: Option<f64>,
    /// Programs and erases for each cause; `None` if the medium is not modeled.
    pub wear: Option<Wear>,
    /// Columns of numbers, e.g. per erase block or over time.
    pub columns: Vec<Column>,
    /// Fraction of the whole drive, if the component is a share of a drive; `None` if unknown.
    pub drive_share: Option<f64>,
    /// Injected faults in order, with their effects.
    pub faults: Vec<FaultReport>,
    /// Reports of the child components.
    pub children: Vec<ComponentReport>,
}

/// An injected fault and its effects since measurement started.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    /// Path in the scenario, e.g. `"stack.fault[0]"`.
    pub path: String,
    /// Type of the fault, e.g. `"stall"`.
    pub kind: &'static str,
    /// Effects of the fault.
    pub counts: FaultCounts,
}

/// Effects of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct FaultCounts {
    /// Number of requests that arrived while the fault was active and matched its operations and range.
    pub matching: u64,
    /// Number of matching requests that the fault affected.
    pub touched: u64,
    /// Time that the fault added to requests, in picoseconds.
    pub added_ps: u128,
    /// Number of requests that the fault ended with an error.
    pub errors: u64,
    /// Number of bytes of the requests that the fault ended with an error.
    pub reported_bytes: u64,
    /// Number of silently corrupted bytes.
    pub silent_bytes: u64,
}

impl FaultCounts {
    /// Adds the effects of this fault in another copy of the component.
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
    /// Time of all resources charged to `activity`, in seconds.
    pub fn busy_s(&self, activity: Activity) -> f64 {
        self.resources.iter().map(|resource| resource.ledger.busy_s(activity)).sum()
    }

    /// Energy of all resources charged to `activity`.
    pub fn energy(&self, activity: Activity) -> Energy {
        Energy(self.resources.iter().map(|resource| resource.ledger.energy(activity).0).sum())
    }
}
