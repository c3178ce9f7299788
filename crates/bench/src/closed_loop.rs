//! A host with a constant number of outstanding requests.

use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Random, Request, Status, Streams, Time};

/// Number of requests for which the memory of the device is prefetched together into the processor caches.
const PREFETCHED: usize = 32;

/// A closed loop of equal-sized requests at uniformly random addresses. Each completion is followed by a new
/// request.
pub(crate) struct ClosedLoop {
    random: Random,
    bytes: u32,
    blocks: u64,
    depth: usize,
    free: Vec<RequestId>,
    now: Time,
    completions: Completions,
    batch: Vec<Request>,
    /// Number of requests that failed.
    pub(crate) errors: u64,
}

impl ClosedLoop {
    /// Creates a closed loop of `bytes`-byte requests over the whole `device`, with `depth` outstanding
    /// requests.
    pub(crate) fn new(device: &dyn Device, bytes: u32, depth: u32) -> ClosedLoop {
        ClosedLoop {
            random: Streams::new(1).stream("bench.host"),
            bytes,
            blocks: device.capacity().map_or(0, |capacity| capacity.0 / u64::from(bytes)),
            depth: depth as usize,
            free: (0..depth).map(RequestId).collect(),
            now: Time::ZERO,
            completions: Completions::new(),
            batch: Vec::with_capacity(PREFETCHED),
            errors: 0,
        }
    }

    /// Returns the completion time of the last request.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    fn draw(&mut self, op: Op, count: u64) {
        self.batch.clear();
        let (random, blocks, bytes) = (&mut self.random, self.blocks, self.bytes);
        self.batch.extend((0..count.min(PREFETCHED as u64)).map(|_| Request {
            arrival: Time::ZERO,
            address: random.below(blocks) * u64::from(bytes),
            bytes,
            volume: 0,
            op,
        }));
    }

    /// Preconditions the device with `count` writes that take no simulated time.
    pub(crate) fn precondition(&mut self, device: &mut dyn Device, count: u64) {
        let mut left = count;
        while left > 0 {
            self.draw(Op::Write, left);
            let preconditioning = device.preconditioning().expect("a device whose state writes change");
            preconditioning.precondition(&self.batch);
            left -= self.batch.len() as u64;
        }
    }

    /// Submits `count` requests and waits until all requests have completed.
    pub(crate) fn ask(&mut self, device: &mut dyn Device, op: Op, count: u64) {
        let mut left = count;
        while left > 0 {
            self.draw(op, left);
            left -= self.batch.len() as u64;
            device.prefetch(&self.batch);
            for number in 0..self.batch.len() {
                let id = loop {
                    if let Some(id) = self.free.pop() {
                        break id;
                    }
                    self.wait(device);
                };
                device.submit(self.now, id, &self.batch[number], Payload::NONE);
            }
        }
        while self.free.len() < self.depth {
            self.wait(device);
        }
    }

    fn wait(&mut self, device: &mut dyn Device) {
        self.completions.clear();
        device.run(Time::MAX, &mut self.completions);
        assert!(!self.completions.is_empty(), "what was submitted completes");
        for completed in self.completions.iter() {
            self.now = completed.at;
            self.errors += u64::from(completed.status != Status::Done);
            self.free.push(completed.id);
        }
    }
}
