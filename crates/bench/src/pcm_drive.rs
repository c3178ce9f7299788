//! Onyx: random requests of two sizes, sixteen at a time.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::{Breakdown, Data, Device, Op, Random, Request, Streams, Time};
use nacre_machine::stack::build_immediate;

/// Requests per repeat.
const REQUESTS: u64 = 2_000_000;
/// Requests under way at a time.
const DEPTH: usize = 16;
/// Requests whose memory is asked for at once, and times of that between two calls of `advance`, as of the driver.
const PREFETCHED: usize = 32;
const GROUPS: u64 = 2;

/// Measures the drive of the paper, through the device alone.
pub(crate) fn measure(report: &Report) -> Result<()> {
    for (what, op, bytes, budget) in [
        ("onyx, reads of 4 KiB", Op::Read, 4096, 1.0),
        ("onyx, writes of 4 KiB", Op::Write, 4096, 1.0),
        ("onyx, reads of 512 B", Op::Read, 512, 4.0),
        ("onyx, writes of 512 B", Op::Write, 512, 4.0),
    ] {
        let mut device = device()?;
        let mut host = Host::new(&*device, op, bytes);
        host.ask(&mut *device, REQUESTS / 4);
        let seconds = best_of(|| host.ask(&mut *device, REQUESTS));
        report.line(what, REQUESTS, seconds, Some(budget), &[]);
    }
    Ok(())
}

/// The drive of the paper.
pub(crate) fn device() -> Result<Box<dyn Device>> {
    let scenario = checked(
        "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"8 GiB\"\n[stack]\npreset = \"onyx\"\n",
    );
    Ok(build_immediate(&scenario, &NoFiles)?)
}

/// Threads that take turns: each issues its next request when the one before is done.
pub(crate) struct Host {
    random: Random,
    op: Op,
    bytes: u32,
    places: u64,
    threads: [Time; DEPTH],
    breakdown: Breakdown,
}

impl Host {
    pub(crate) fn new(device: &dyn Device, op: Op, bytes: u32) -> Host {
        let places = device.capacity().map_or(0, |capacity| capacity.0 / u64::from(bytes));
        let random = Streams::new(1).stream("bench.pcm");
        Host { random, op, bytes, places, threads: [Time::ZERO; DEPTH], breakdown: Breakdown::new() }
    }

    pub(crate) fn ask(&mut self, device: &mut dyn Device, count: u64) {
        let mut batch = Vec::with_capacity(PREFETCHED);
        for number in 0..count / PREFETCHED as u64 {
            batch.clear();
            batch.extend((0..PREFETCHED).map(|_| self.request()));
            device.prefetch(&batch);
            for request in &batch {
                self.issue(device, request);
            }
            if number % GROUPS == 0 {
                device.advance(self.threads.iter().copied().fold(Time::MAX, Time::min));
            }
        }
    }

    fn request(&mut self) -> Request {
        let address = self.random.below(self.places) * u64::from(self.bytes);
        Request { arrival: Time::ZERO, address, bytes: self.bytes, volume: 0, op: self.op }
    }

    /// The thread that is free first asks.
    fn issue(&mut self, device: &mut dyn Device, request: &Request) {
        let first = (1..DEPTH).fold(
            0,
            |first, other| {
                if self.threads[other] < self.threads[first] { other } else { first }
            },
        );
        self.breakdown.clear();
        self.threads[first] =
            device.submit(self.threads[first], request, Data::None, &mut self.breakdown).done;
    }
}
