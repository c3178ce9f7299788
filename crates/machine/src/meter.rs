//! What is measured while a scenario runs. Bounded memory, whatever the number of requests.

use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::statistics::{BatchMeans, TimeSeries};
use nacre_kernel::{Activity, Completion, Op, Request, Status, Time, Trail};

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
}

impl OpMeter {
    fn new(components: usize) -> OpMeter {
        OpMeter {
            latency: LatencyHistogram::new(),
            means: BatchMeans::new(),
            spent: vec![[0; Activity::COUNT]; components],
            bytes: 0,
        }
    }

    #[inline]
    fn record(&mut self, latency: Time, bytes: u32, trail: &Trail) {
        self.latency.record(latency);
        self.means.record(latency.as_ns_f64());
        self.bytes += u64::from(bytes);
        for segment in trail.segments() {
            self.spent[segment.component.0 as usize][segment.activity as usize] +=
                u128::from(segment.time.as_ps());
        }
    }

    /// Picoseconds all requests spent in `component` on `activity`.
    pub fn spent_ps(&self, component: usize, activity: Activity) -> u128 {
        self.spent[component][activity as usize]
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
    /// Throughput and latency over time.
    pub series: TimeSeries,
    /// When measuring began.
    pub start: Time,
    /// The last completion.
    pub end: Time,
}

impl Meter {
    /// Nothing measured yet, for a stack of `components`, from `start` on.
    pub fn new(components: usize, start: Time) -> Meter {
        Meter {
            reads: OpMeter::new(components),
            writes: OpMeter::new(components),
            trims: 0,
            flushes: 0,
            errors: 0,
            series: TimeSeries::new(),
            start,
            end: start,
        }
    }

    /// Adds one request that was issued at `issued`.
    #[inline]
    pub fn record(&mut self, request: &Request, issued: Time, completion: Completion, trail: &Trail) {
        let latency = completion.done - issued;
        self.end = self.end.max(completion.done);
        self.errors += u64::from(completion.status != Status::Done);
        match request.op {
            Op::Read => self.reads.record(latency, request.bytes, trail),
            Op::Write => self.writes.record(latency, request.bytes, trail),
            Op::Trim => return self.trims += 1,
            Op::Flush => return self.flushes += 1,
        }
        let bin = self.series.bin_mut(completion.done.saturating_sub(self.start));
        bin.reads += u64::from(request.op == Op::Read);
        bin.writes += u64::from(request.op == Op::Write);
        bin.bytes += u64::from(request.bytes);
        bin.latency_ps += u128::from(latency.as_ps());
    }

    /// Requests recorded.
    pub fn completed(&self) -> u64 {
        self.reads.latency.count() + self.writes.latency.count() + self.trims + self.flushes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::ComponentId;

    #[test]
    fn waits_may_sum_to_more_than_time_reaches() {
        let mut meter = Meter::new(1, Time::ZERO);
        let day = Time::from_s(86_400);
        let request = Request { arrival: Time::ZERO, address: 0, bytes: 512, volume: 0, op: Op::Read };
        let mut trail = Trail::new();
        trail.add(ComponentId(0), Activity::Queue, day);
        let completion = Completion { done: day, status: Status::Done };
        (0..300).for_each(|_| meter.record(&request, Time::ZERO, completion, &trail));
        assert_eq!(meter.reads.spent_ps(0, Activity::Queue), meter.reads.latency.sum_ps());
        assert_eq!(meter.reads.latency.sum_ps(), 300 * u128::from(day.as_ps()));
    }
}
