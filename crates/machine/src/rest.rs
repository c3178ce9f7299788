//! Runs devices until they are at rest.

use nacre_kernel::Time;
use nacre_kernel::event::{Completions, Device};

/// Runs `device` until its `outstanding` requests have completed and it is at rest; returns the time of the
/// last event.
pub fn comes_to_rest(device: &mut dyn Device, mut outstanding: usize) -> Time {
    let (mut rested, mut completions) = (Time::ZERO, Completions::new());
    loop {
        let next = device.next_event();
        if next == Time::MAX {
            assert!(outstanding == 0, "the device lost a request");
            return rested;
        }
        completions.clear();
        device.run(next + Time::from_ps(1), &mut completions);
        outstanding -= completions.len();
        rested = rested.max(next);
    }
}
