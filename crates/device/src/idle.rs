//! What an idle device takes for one access.

use nacre_kernel::{Breakdown, Data, Device, Op, Random, Request, Time};

/// Mean latencies of an idle device, for single requests of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Of a read.
    pub read: Time,
    /// Of a write.
    pub write: Time,
}

impl Idle {
    /// Latencies of `device`, which did nothing before, over requests at addresses drawn from `random`.
    pub fn of(device: &mut dyn Device, random: &mut Random) -> Idle {
        let units = device.capacity().map_or(1 << 20, |capacity| (capacity.0 / UNIT).max(1));
        let mut now = Time::ZERO;
        let mut mean = |op: Op| {
            let mut total = Time::ZERO;
            for _ in 0..SAMPLES {
                let address = random.below(units) * UNIT;
                let bytes = device.capacity().map_or(UNIT, |capacity| capacity.0.min(UNIT)) as u32;
                let request = Request { arrival: now, address, bytes, volume: 0, op };
                let done = device.submit(now, &request, Data::None, &mut Breakdown::new()).done;
                total += done - now;
                now = device.busy_until().max(done);
                device.advance(now);
            }
            Time::from_ps(total.as_ps() / SAMPLES)
        };
        Idle { read: mean(Op::Read), write: mean(Op::Write) }
    }
}

/// What latencies of idle devices are taken at.
const UNIT: u64 = 4096;
/// Requests of each kind; an eighth of the standard deviation remains in the mean of a distribution.
const SAMPLES: u64 = 64;
