//! What is restored goes on as what was saved.

use crate::requests::{UNLIMITED_BYTES, any_request, in_zone};
use nacre_kernel::state::{self, State};
use nacre_kernel::{Breakdown, Data, Device, Random, Streams, Time};

/// Requests before a state is saved at most, and so many after it.
const REQUESTS: u64 = 600;
/// Places at which a state is cut, and at which it is damaged.
const DAMAGES: u64 = 12;

/// Panics unless a device that takes on the state of another one, saved at a random moment, does as that one does:
/// equal completions to the picosecond, equal reports, equal states.
pub(crate) fn a_restored_device_goes_on(build: &mut dyn FnMut() -> Box<dyn Device>) {
    for seed in 0..2 {
        let mut random = Streams::new(seed).stream("restoring");
        let (mut device, mut now) = (build(), Time::ZERO);
        for _ in 0..random.below(REQUESTS) {
            step(&mut [&mut *device], &mut random, &mut now);
        }
        let mut restored = build();
        restores(&*device, &mut *restored);
        for _ in 0..REQUESTS {
            step(&mut [&mut *device, &mut *restored], &mut random, &mut now);
        }
        restored.check_invariants();
        assert_eq!(
            device.busy_until(),
            restored.busy_until(),
            "the time when all work is over (seed {seed})"
        );
        let reports = [device.report(now), restored.report(now)];
        assert_eq!(format!("{:?}", reports[0]), format!("{:?}", reports[1]), "the reports (seed {seed})");
        let bytes = state::saved(&*device).expect("as before");
        assert!(state::saved(&*restored).as_ref() == Ok(&bytes), "the states at last (seed {seed})");
        if seed == 0 {
            what_is_damaged_is_refused(&bytes, &mut random, &mut || build());
        }
    }
}

/// Panics unless `other`, built like `saved`, takes on its state, and has the same one then.
pub fn restores<T: State + ?Sized>(saved: &T, other: &mut T) {
    let bytes = state::saved(saved).expect("it can be saved");
    state::restored(other, &bytes).unwrap_or_else(|error| panic!("its own state is refused: {error}"));
    assert!(state::saved(other).as_ref() == Ok(&bytes), "what was restored is not what was saved");
}

/// Panics unless a state that is cut short is refused, and one with a damaged byte makes nothing panic.
pub fn what_is_damaged_is_refused<T: State + ?Sized>(
    bytes: &[u8],
    random: &mut Random,
    build: &mut dyn FnMut() -> Box<T>,
) {
    for _ in 0..DAMAGES.min(bytes.len() as u64) {
        let length = random.below(bytes.len() as u64) as usize;
        let cut = state::restored(&mut *build(), &bytes[..length]);
        assert!(cut.is_err(), "{length} of {} bytes were taken for a state", bytes.len());
        // Without a checksum, a damaged number may be another number.
        let mut damaged = bytes.to_vec();
        damaged[length] ^= 1 << random.below(8);
        let _ = state::restored(&mut *build(), &damaged);
    }
}

/// One request, served by all of the devices alike.
fn step(devices: &mut [&mut dyn Device], random: &mut Random, now: &mut Time) {
    let size = devices[0].capacity().map_or(UNLIMITED_BYTES, |capacity| capacity.0);
    *now += Time::from_ns(random.below(100_000));
    let advances = random.chance(0.3);
    let request = any_request(random, size, *now);
    let request = in_zone(random, request, devices[0].zone(request.address));
    let mut serve = |device: &mut &mut dyn Device| {
        if advances {
            device.advance(*now);
        }
        let mut breakdown = Breakdown::new();
        (device.submit(*now, &request, Data::None, &mut breakdown), breakdown.spans().to_vec())
    };
    let answers: Vec<_> = devices.iter_mut().map(&mut serve).collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{request:?} at {now}: {answers:?}");
}
