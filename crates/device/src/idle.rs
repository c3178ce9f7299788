//! Latency of one access on an idle device.

use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Random, Request, Time};

/// Mean latencies of single requests on an idle device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Read latency.
    pub read: Time,
    /// Write latency.
    pub write: Time,
}

impl Idle {
    /// Measures the mean latencies of the unused `device` for requests of `bytes` at random addresses that
    /// are multiples of 4 KiB.
    pub fn of(device: &mut dyn Device, bytes: u32, random: &mut Random) -> Idle {
        let bytes = device.capacity().map_or(bytes, |capacity| capacity.0.min(u64::from(bytes)) as u32);
        let places = device.capacity().map_or(1 << 20, |capacity| (capacity.0 - u64::from(bytes)) / UNIT + 1);
        let (mut now, mut completions) = (Time::ZERO, Completions::new());
        let mut mean = |op: Op| {
            let mut total = Time::ZERO;
            for _ in 0..SAMPLES {
                let address = random.below(places) * UNIT;
                let request = Request { arrival: now, address, bytes, volume: 0, op };
                device.submit(now, RequestId(0), &request, Payload::NONE);
                // The device becomes idle before the next request.
                let issued = now;
                while device.next_event() < Time::MAX {
                    now = device.next_event().max(now);
                    device.run(now + Time::from_ps(1), &mut completions);
                }
                let done = completions.iter().next().expect("a request completes").at;
                total += done - issued;
                now = now.max(done);
                completions.clear();
            }
            Time::from_ps(total.as_ps() / SAMPLES)
        };
        Idle { read: mean(Op::Read), write: mean(Op::Write) }
    }
}

/// Alignment in bytes of request addresses.
const UNIT: u64 = 4096;
/// Number of requests of each kind. The standard error of the mean is 1/8 of the standard deviation of the
/// latency.
const SAMPLES: u64 = 64;
