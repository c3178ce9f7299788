//! What is measured while a scenario runs. Bounded memory, whatever the number of requests.

use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::statistics::{BatchMeans, Bin, TimeSeries};
use nacre_kernel::{Activity, Breakdown, Completion, Op, Ratio, Request, Status, Time};

/// Requests of one kind that are noted before they are added to the sums, all at once.
const NOTED_MAX: usize = 64;

/// One request that is yet to be added.
#[derive(Clone, Copy, Debug)]
struct Note {
    latency: Time,
    /// When it was done, since measuring began.
    done: Time,
    bytes: u32,
}

/// Distribution, mean and path of the requests of one kind.
#[derive(Clone, Debug)]
pub struct OpMeter {
    /// Latencies.
    pub latency: LatencyHistogram,
    /// Their mean's confidence, in nanoseconds.
    pub means: BatchMeans,
    /// Picoseconds on the critical path, by component and activity.
    spent: Vec<[u128; Activity::COUNT]>,
    /// Bytes asked for.
    pub bytes: u64,
    noted: Vec<Note>,
    /// The latency that many requests have: the last one that two had in a row.
    usual: Time,
}

impl OpMeter {
    fn new(components: usize) -> OpMeter {
        OpMeter {
            latency: LatencyHistogram::new(),
            means: BatchMeans::new(),
            spent: vec![[0; Activity::COUNT]; components],
            bytes: 0,
            noted: Vec::with_capacity(NOTED_MAX),
            usual: Time::ZERO,
        }
    }

    /// What was measured elsewhere, but for the confidence of the mean.
    pub(crate) fn restored(
        latency: LatencyHistogram,
        spent: Vec<[u128; Activity::COUNT]>,
        bytes: u64,
    ) -> OpMeter {
        OpMeter { latency, spent, bytes, ..OpMeter::new(0) }
    }

    /// Adds what a part of the same run measured, but for the confidence of the mean.
    fn add(&mut self, part: &OpMeter) {
        self.latency.merge(&part.latency);
        for (sum, spent) in self.spent.iter_mut().flatten().zip(part.spent.iter().flatten()) {
            *sum += spent;
        }
        self.bytes += part.bytes;
    }

    /// Whether the half-width of the mean's 95 % confidence interval is at most this share of it; of no request at
    /// all, everything is known.
    pub(crate) fn is_known(&self, share: Ratio) -> bool {
        let Some(mean_ps) = self.latency.mean_ps() else { return true };
        self.means.half_width_95().is_some_and(|half_width| half_width * 1e3 <= share.0 * mean_ps)
    }

    /// Picoseconds on the critical path, by component and activity.
    pub(crate) fn spent(&self) -> &[[u128; Activity::COUNT]] {
        &self.spent
    }

    /// Notes a request; `true` when it is time to settle.
    #[inline]
    fn note(&mut self, note: Note) -> bool {
        self.noted.push(note);
        self.noted.len() == NOTED_MAX
    }

    /// Adds the path of a request.
    #[inline]
    fn spend(&mut self, breakdown: &Breakdown) {
        for span in breakdown.spans() {
            self.spent[span.component.0 as usize][span.activity as usize] += u128::from(span.time.as_ps());
        }
    }

    /// Adds what was noted to the sums, and tells `each` of it.
    fn settle(&mut self, mut each: impl FnMut(&Note)) {
        self.record_latencies();
        self.means.record_all(self.noted.iter().map(|note| note.latency.as_ns_f64()));
        for note in &self.noted {
            self.bytes += u64::from(note.bytes);
            each(note);
        }
        self.noted.clear();
    }

    /// Adds what was noted to the histogram. The usual latency, which a memory that nothing disturbs gives, is one step.
    fn record_latencies(&mut self) {
        if let [.., before, last] = &self.noted[..]
            && before.latency == last.latency
        {
            self.usual = last.latency;
        }
        let (mut others, mut count) = ([Time::ZERO; NOTED_MAX], 0);
        for note in &self.noted {
            // Which request has it is not to be guessed by a processor.
            others[count % NOTED_MAX] = note.latency;
            count += usize::from(note.latency != self.usual);
        }
        if self.noted.len() > count {
            self.latency.record_n(self.usual, (self.noted.len() - count) as u64);
        }
        others[..count].iter().for_each(|&latency| self.latency.record(latency));
    }

    /// Picoseconds all requests spent in `component` on `activity`.
    pub fn spent_ps(&self, component: usize, activity: Activity) -> u128 {
        self.spent[component][activity as usize]
    }
}

/// What the requests of one tenant measured.
#[derive(Clone, Debug)]
pub struct TenantMeter {
    /// Reads, without their paths.
    pub reads: OpMeter,
    /// Writes, without their paths.
    pub writes: OpMeter,
    /// Trims and flushes that completed.
    pub others: u64,
    /// Requests that a device could not serve.
    pub errors: u64,
    /// Its last arrival, since measuring began.
    pub arrived: Time,
    /// Its last completion, since measuring began.
    pub done: Time,
    /// Throughput and latency over time.
    pub series: TimeSeries,
}

impl TenantMeter {
    fn new() -> TenantMeter {
        TenantMeter {
            reads: OpMeter::new(0),
            writes: OpMeter::new(0),
            others: 0,
            errors: 0,
            arrived: Time::ZERO,
            done: Time::ZERO,
            series: TimeSeries::new(),
        }
    }

    /// Adds one request.
    #[inline(never)]
    fn record(&mut self, op: Op, status: Status, note: Note) {
        self.arrived = self.arrived.max(note.done.saturating_sub(note.latency));
        self.done = self.done.max(note.done);
        self.errors += u64::from(status != Status::Done);
        let meter = match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Trim | Op::Flush => return self.others += 1,
        };
        if meter.note(note) {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.reads.settle(|note| add(&mut self.series, note, |bin| &mut bin.reads));
        self.writes.settle(|note| add(&mut self.series, note, |bin| &mut bin.writes));
    }
}

/// Everything measured in one run.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Reads.
    pub reads: OpMeter,
    /// Writes.
    pub writes: OpMeter,
    /// Trims that completed.
    pub trims: u64,
    /// Flushes that completed.
    pub flushes: u64,
    /// Requests that a device could not serve.
    pub errors: u64,
    /// Those of each tenant, by volume; empty where there are none.
    pub tenants: Vec<TenantMeter>,
    /// Throughput and latency over time.
    pub series: TimeSeries,
    /// When measuring began.
    pub start: Time,
    /// The last completion.
    pub end: Time,
}

impl Meter {
    /// Nothing measured yet, for a stack of `components` and so many `tenants`, from `start` on.
    pub fn new(components: usize, tenants: usize, start: Time) -> Meter {
        Meter {
            reads: OpMeter::new(components),
            writes: OpMeter::new(components),
            trims: 0,
            flushes: 0,
            errors: 0,
            tenants: vec![TenantMeter::new(); tenants],
            series: TimeSeries::new(),
            start,
            end: start,
        }
    }

    /// Adds what a part of the same run measured, but for what happened over time.
    pub(crate) fn add(&mut self, part: &Meter) {
        self.reads.add(&part.reads);
        self.writes.add(&part.writes);
        self.trims += part.trims;
        self.flushes += part.flushes;
        self.errors += part.errors;
        self.start = self.start.min(part.start);
        self.end = self.end.max(part.end);
    }

    /// Adds one request that was issued at `issued`.
    #[inline(always)]
    pub fn record(&mut self, request: &Request, issued: Time, completion: Completion, breakdown: &Breakdown) {
        self.end = self.end.max(completion.done);
        self.errors += u64::from(completion.status != Status::Done);
        let note = Note {
            latency: completion.done - issued,
            done: completion.done.saturating_sub(self.start),
            bytes: request.bytes,
        };
        if let Some(tenant) = self.tenants.get_mut(request.volume as usize) {
            tenant.record(request.op, completion.status, note);
        }
        let reads = request.op == Op::Read;
        if !reads && request.op != Op::Write {
            return self.record_other(request.op);
        }
        let meter = if reads { &mut self.reads } else { &mut self.writes };
        meter.spend(breakdown);
        if meter.note(note) {
            self.settle();
        }
    }

    /// Trims and flushes are rare: out of the way of the others.
    #[cold]
    fn record_other(&mut self, op: Op) {
        match op {
            Op::Trim => self.trims += 1,
            Op::Flush => self.flushes += 1,
            Op::Read | Op::Write => unreachable!("they are noted"),
        }
    }

    /// Adds the last requests to the sums, which are complete from here on.
    pub fn settle(&mut self) {
        self.reads.settle(|note| add(&mut self.series, note, |bin| &mut bin.reads));
        self.writes.settle(|note| add(&mut self.series, note, |bin| &mut bin.writes));
        self.tenants.iter_mut().for_each(TenantMeter::settle);
    }

    /// Requests recorded and settled.
    pub fn completed(&self) -> u64 {
        self.reads.latency.count() + self.writes.latency.count() + self.trims + self.flushes
    }
}

/// Adds `note` to the interval in which it was done; `count` is what it is counted as.
fn add(series: &mut TimeSeries, note: &Note, count: impl Fn(&mut Bin) -> &mut u64) {
    let bin = series.bin_mut(note.done);
    *count(bin) += 1;
    bin.bytes += u64::from(note.bytes);
    bin.latency_ps += u128::from(note.latency.as_ps());
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::ComponentId;

    #[test]
    fn the_histogram_is_that_of_all_latencies_however_many_are_equal() {
        let mut random = nacre_kernel::Streams::new(3).stream("meter");
        for kinds in [1, 2, 3, 50] {
            let (mut meter, mut expected) = (Meter::new(1, 0, Time::ZERO), LatencyHistogram::new());
            let request = Request { arrival: Time::ZERO, address: 0, bytes: 512, volume: 0, op: Op::Read };
            for index in 0..1_000 {
                let latency = Time::from_us(1 + random.below(kinds) * (1 + index / 500));
                expected.record(latency);
                let completion = Completion { done: latency, status: Status::Done };
                meter.record(&request, Time::ZERO, completion, &Breakdown::new());
            }
            meter.settle();
            let found = &meter.reads.latency;
            assert_eq!(found.bars().collect::<Vec<_>>(), expected.bars().collect::<Vec<_>>());
            assert_eq!((found.count(), found.sum_ps()), (expected.count(), expected.sum_ps()));
            assert_eq!((found.min(), found.max()), (expected.min(), expected.max()));
        }
    }

    #[test]
    fn waits_may_sum_to_more_than_time_reaches() {
        let mut meter = Meter::new(1, 0, Time::ZERO);
        let day = Time::from_s(86_400);
        let request = Request { arrival: Time::ZERO, address: 0, bytes: 512, volume: 0, op: Op::Read };
        let mut breakdown = Breakdown::new();
        breakdown.add(ComponentId(0), Activity::Queue, day);
        let completion = Completion { done: day, status: Status::Done };
        (0..300).for_each(|_| meter.record(&request, Time::ZERO, completion, &breakdown));
        meter.settle();
        assert_eq!(meter.reads.spent_ps(0, Activity::Queue), meter.reads.latency.sum_ps());
        assert_eq!(meter.reads.latency.sum_ps(), 300 * u128::from(day.as_ps()));
    }
}
