//! Measurements during a run, in bounded memory for any number of requests.

mod noted;

use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::statistics::{BatchMeans, Bin, TimeSeries};
use nacre_kernel::{Activity, Op, Ratio, Time};
use noted::Note;

pub(crate) use noted::{Noted, Notes};

/// Number of latencies that are processed together. All of them that equal [`OpMeter::usual`] take a single
/// histogram update.
const TOGETHER: usize = 64;

/// Distribution, mean, and breakdown of the requests of one kind.
#[derive(Clone, Debug)]
pub struct OpMeter {
    /// Latency distribution.
    pub latency: LatencyHistogram,
    /// Mean latency in nanoseconds, with its confidence interval.
    pub means: BatchMeans,
    /// Time in picoseconds on the critical path, by component and activity. [`Meter::finish`] sets it.
    spent: Vec<[u128; Activity::COUNT]>,
    /// Requested bytes.
    pub bytes: u64,
    /// Number of failed requests, and number of their bytes. Both are excluded from latencies.
    pub failed: [u64; 2],
    /// The most recent latency that two consecutive requests had in common.
    usual: Time,
}

impl OpMeter {
    fn new() -> OpMeter {
        OpMeter {
            latency: LatencyHistogram::new(),
            means: BatchMeans::new(),
            spent: Vec::new(),
            bytes: 0,
            failed: [0; 2],
            usual: Time::ZERO,
        }
    }

    /// Restores measurements, without the confidence interval of the mean.
    pub(crate) fn restored(
        latency: LatencyHistogram,
        spent: Vec<[u128; Activity::COUNT]>,
        bytes: u64,
        failed: [u64; 2],
    ) -> OpMeter {
        OpMeter { latency, spent, bytes, failed, ..OpMeter::new() }
    }

    /// Returns the number of completed requests, including failed ones.
    pub fn requests(&self) -> u64 {
        self.latency.count() + self.failed[0]
    }

    /// Returns the number of bytes of successful requests.
    pub fn served_bytes(&self) -> u64 {
        self.bytes - self.failed[1]
    }

    /// Adds the measurements of another part of this run, without the confidence interval of the mean.
    fn add(&mut self, part: &OpMeter) {
        self.latency.merge(&part.latency);
        for (sum, spent) in self.spent.iter_mut().flatten().zip(part.spent.iter().flatten()) {
            *sum += spent;
        }
        self.bytes += part.bytes;
        self.failed = [self.failed[0] + part.failed[0], self.failed[1] + part.failed[1]];
    }

    /// Returns whether the half-width of the 95 % confidence interval is at most `share` of the mean. Returns
    /// true if there are no requests.
    pub(crate) fn is_known(&self, share: Ratio) -> bool {
        let Some(mean_ps) = self.latency.mean_ps() else { return true };
        self.means.half_width_95().is_some_and(|half_width| half_width * 1e3 <= share.0 * mean_ps)
    }

    /// Returns the time in picoseconds on the critical path, by component and activity.
    pub(crate) fn spent(&self) -> &[[u128; Activity::COUNT]] {
        &self.spent
    }

    /// Adds `notes` to the sums and to `series`. `count` selects the counter to increment in each time bin.
    /// Returns the number of failed requests, which are excluded from latencies and `series`.
    fn settle(
        &mut self,
        notes: &[Note],
        series: &mut TimeSeries,
        count: impl Fn(&mut Bin) -> &mut u64,
    ) -> u64 {
        let errors = notes.iter().filter(|note| note.is_error).count() as u64;
        if errors > 0 {
            let served: Vec<Note> = notes.iter().filter(|note| !note.is_error).copied().collect();
            let failed: u64 =
                notes.iter().filter(|note| note.is_error).map(|note| u64::from(note.bytes)).sum();
            self.bytes += failed;
            self.failed = [self.failed[0] + errors, self.failed[1] + failed];
            self.settle(&served, series, count);
            return errors;
        }
        notes.chunks(TOGETHER).for_each(|notes| self.record_latencies(notes));
        self.means.record_all(notes.iter().map(|note| note.latency.as_ns_f64()));
        for note in notes {
            self.bytes += u64::from(note.bytes);
            let bin = series.bin_mut(note.done);
            *count(bin) += 1;
            bin.bytes += u64::from(note.bytes);
            bin.latency_ps += u128::from(note.latency.as_ps());
        }
        0
    }

    /// Adds one request, e.g. a flush, to the latencies but not to a time series, because it transfers no
    /// data.
    fn add_alone(&mut self, note: &Note) {
        if note.is_error {
            self.failed[0] += 1;
        } else {
            self.latency.record(note.latency);
            self.means.record_all([note.latency.as_ns_f64()]);
        }
    }

    /// Adds up to [`TOGETHER`] latencies to the histogram. All latencies that equal [`OpMeter::usual`] take
    /// a single update.
    fn record_latencies(&mut self, notes: &[Note]) {
        if let [.., before, last] = notes
            && before.latency == last.latency
        {
            self.usual = last.latency;
        }
        let (mut others, mut count) = ([Time::ZERO; TOGETHER], 0);
        for note in notes {
            // This loop is branch-free, because the processor cannot predict which requests have the usual
            // latency.
            others[count % TOGETHER] = note.latency;
            count += usize::from(note.latency != self.usual);
        }
        if notes.len() > count {
            self.latency.record_n(self.usual, (notes.len() - count) as u64);
        }
        others[..count].iter().for_each(|&latency| self.latency.record(latency));
    }

    /// Returns the total time in picoseconds that all requests spent in `component` on `activity`.
    pub fn spent_ps(&self, component: usize, activity: Activity) -> u128 {
        self.spent[component][activity as usize]
    }
}

/// Measurements of the requests of one tenant.
#[derive(Clone, Debug)]
pub struct TenantMeter {
    /// Reads, without their breakdown.
    pub reads: OpMeter,
    /// Writes, without their breakdown.
    pub writes: OpMeter,
    /// Flushes, without their breakdown.
    pub flushes: OpMeter,
    /// Number of completed trims.
    pub trims: u64,
    /// Number of requests that failed with a device error.
    pub errors: u64,
    /// Latest arrival, relative to the start of measurement.
    pub arrived: Time,
    /// Latest completion, relative to the start of measurement.
    pub done: Time,
    /// Throughput and latency over time.
    pub series: TimeSeries,
    /// Reads and writes of the tenant in the notes that are being added.
    own: [Vec<Note>; 2],
}

impl TenantMeter {
    fn new() -> TenantMeter {
        TenantMeter {
            reads: OpMeter::new(),
            writes: OpMeter::new(),
            flushes: OpMeter::new(),
            trims: 0,
            errors: 0,
            arrived: Time::ZERO,
            done: Time::ZERO,
            series: TimeSeries::new(),
            own: [Vec::new(), Vec::new()],
        }
    }

    /// Updates the latest arrival and completion times with those of a request.
    fn count(&mut self, note: &Note) {
        self.arrived = self.arrived.max(note.done.saturating_sub(note.latency));
        self.done = self.done.max(note.done);
    }

    /// Adds the pending notes of the tenant to the sums.
    fn settle(&mut self) {
        let [reads, writes] = &mut self.own;
        self.errors += self.reads.settle(reads, &mut self.series, |bin| &mut bin.reads);
        self.errors += self.writes.settle(writes, &mut self.series, |bin| &mut bin.writes);
        reads.clear();
        writes.clear();
    }
}

/// All measurements of one run.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Reads.
    pub reads: OpMeter,
    /// Writes.
    pub writes: OpMeter,
    /// Number of completed trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: OpMeter,
    /// Number of requests that failed with a device error.
    pub errors: u64,
    /// Measurements of each tenant, indexed by volume. The list is empty without tenants.
    pub tenants: Vec<TenantMeter>,
    /// Throughput and latency over time.
    pub series: TimeSeries,
    /// Time at which measurement started.
    pub start: Time,
    /// Time of the last completion. [`Meter::finish`] sets it.
    pub end: Time,
}

impl Meter {
    /// Creates an empty meter for `tenants` tenants, starting at `start`.
    pub(crate) fn new(tenants: usize, start: Time) -> Meter {
        Meter {
            reads: OpMeter::new(),
            writes: OpMeter::new(),
            trims: 0,
            flushes: OpMeter::new(),
            errors: 0,
            tenants: vec![TenantMeter::new(); tenants],
            series: TimeSeries::new(),
            start,
            end: start,
        }
    }

    /// Adds the measurements of another part of this run, without time series.
    pub(crate) fn add(&mut self, part: &Meter) {
        self.reads.add(&part.reads);
        self.writes.add(&part.writes);
        self.trims += part.trims;
        self.flushes.add(&part.flushes);
        self.errors += part.errors;
        self.start = self.start.min(part.start);
        self.end = self.end.max(part.end);
    }

    /// Adds `notes` to the sums and clears them. The sums do not depend on how requests are divided among
    /// calls.
    pub(crate) fn settle(&mut self, notes: &mut Notes) {
        let Notes { begun, reads, writes, others } = notes;
        if let Some(start) = *begun {
            *self = Meter::new(self.tenants.len(), start);
        }
        self.errors += self.reads.settle(reads, &mut self.series, |bin| &mut bin.reads);
        self.errors += self.writes.settle(writes, &mut self.series, |bin| &mut bin.writes);
        if !self.tenants.is_empty() {
            self.settle_tenants(reads, writes);
        }
        others.iter().for_each(|(op, note)| self.add_other(*op, note));
        notes.clear();
    }

    /// Adds the notes of each tenant to the tenant's sums.
    fn settle_tenants(&mut self, reads: &[Note], writes: &[Note]) {
        for (place, notes) in [reads, writes].into_iter().enumerate() {
            for note in notes {
                if let Some(tenant) = self.tenants.get_mut(note.volume as usize) {
                    tenant.count(note);
                    tenant.own[place].push(*note);
                }
            }
        }
        self.tenants.iter_mut().for_each(TenantMeter::settle);
    }

    fn add_other(&mut self, op: Op, note: &Note) {
        self.errors += u64::from(note.is_error);
        match op {
            Op::Trim => self.trims += 1,
            Op::Flush => self.flushes.add_alone(note),
            Op::Read | Op::Write => unreachable!("they are noted by themselves"),
        }
        if let Some(tenant) = self.tenants.get_mut(note.volume as usize) {
            tenant.count(note);
            tenant.errors += u64::from(note.is_error);
            match op {
                Op::Flush => tenant.flushes.add_alone(note),
                _ => tenant.trims += 1,
            }
        }
    }

    /// Adds all remaining notes and completes the sums.
    pub(crate) fn finish(&mut self, noted: &mut Noted) {
        self.settle(&mut noted.notes);
        let [reads, writes, flushes] = &noted.spent;
        self.reads.spent.clone_from(reads);
        self.writes.spent.clone_from(writes);
        self.flushes.spent.clone_from(flushes);
        self.end = noted.end;
    }

    /// Returns the number of completed requests in the sums.
    pub fn completed(&self) -> u64 {
        self.reads.requests() + self.writes.requests() + self.flushes.requests() + self.trims
    }
}

#[cfg(test)]
mod tests;
