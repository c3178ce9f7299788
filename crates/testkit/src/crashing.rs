//! Devices that carry bytes, and lose their power anywhere.

use crate::auditor::Auditor;
use crate::workbench::Workbench;
use nacre_kernel::state;
use nacre_kernel::{Breakdown, Data, Device, Op, Persistence, Random, Request, Streams, Time};

/// Requests of one run.
const REQUESTS: u64 = 400;
/// Requests between two looks at the books.
const CHECKED_EVERY: u64 = 20;
/// Places that requests go to, and blocks of each.
const PLACES: u64 = 48;
const BLOCKS: u64 = 8;

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crashes {
    /// Losses of power.
    pub losses: u64,
    /// Of these, during a recovery.
    pub while_recovering: u64,
    /// Blocks that were not what was written last afterwards.
    pub blocks_behind: u64,
    /// Restarts from a saved state.
    pub restarts: u64,
}

impl Crashes {
    fn add(&mut self, other: Crashes) {
        self.losses += other.losses;
        self.while_recovering += other.while_recovering;
        self.blocks_behind += other.blocks_behind;
        self.restarts += other.restarts;
    }
}

/// Panics unless the device that `toml` describes carries its bytes as it promises: reads give what was written
/// last, and after losses of power at random moments, also during a recovery and between a request and its
/// completion, every block is one that may be there. It is saved and restored in between. Gives what was done.
pub fn keeps_its_bytes(mut workbench: Workbench, toml: &str, seeds: u64) -> Crashes {
    let mut crashes = Crashes::default();
    for seed in 0..seeds {
        workbench = workbench.with_bytes();
        let mut build = || {
            workbench.again();
            workbench.build(toml).unwrap_or_else(|problems| panic!("{toml}: {problems}"))
        };
        crashes.add(crash(&mut build, toml.lines().next().unwrap_or_default(), seed));
    }
    crashes
}

/// The same for one seed and the device that `build` makes: always the same, over the same bytes, which are zero
/// in the beginning.
pub fn crash(build: &mut dyn FnMut() -> Box<dyn Device>, name: &str, seed: u64) -> Crashes {
    let mut run = Run::new(build, name, seed);
    (0..REQUESTS).for_each(|number| run.step(number));
    run.crashes
}

struct Run<'a> {
    build: &'a mut dyn FnMut() -> Box<dyn Device>,
    device: Box<dyn Device>,
    auditor: Auditor,
    random: Random,
    now: Time,
    /// How long the last request took.
    latency: Time,
    /// First blocks of the places that requests go to.
    places: Vec<u64>,
    promises: Persistence,
    context: String,
    crashes: Crashes,
}

impl<'a> Run<'a> {
    fn new(build: &'a mut dyn FnMut() -> Box<dyn Device>, name: &str, seed: u64) -> Run<'a> {
        let device = build();
        let mut random = Streams::new(seed).stream("crashing");
        let capabilities = device.capabilities();
        assert!(capabilities.carries_bytes, "{name} carries no bytes");
        let capacity = device.capacity().map_or(1 << 40, |capacity| capacity.0);
        let block_bytes = if capacity < 512 * PLACES * BLOCKS { 8 } else { 512 };
        let last = capacity / block_bytes - BLOCKS;
        // A few neighbours at the beginning, the end, and anywhere.
        let near = (0..PLACES / 4).map(|place| (place * BLOCKS).min(last));
        let mut places: Vec<u64> = near.collect();
        places.push(last);
        places.extend((0..PLACES / 2).map(|_| random.below(last + 1)));
        let auditor = Auditor::new(block_bytes as usize, u64::from(capabilities.atomic_unit) >= block_bytes);
        let context = format!("{name}, seed {seed}");
        Run {
            build,
            device,
            auditor,
            random,
            now: Time::ZERO,
            latency: Time::from_us(1),
            places,
            promises: capabilities.persistence,
            context,
            crashes: Crashes::default(),
        }
    }

    fn step(&mut self, number: u64) {
        // Half of the requests come before the one before is done.
        let pause = self.random.below(2 * self.latency.as_ps() + 1);
        self.now += Time::from_ps(pause);
        if self.random.chance(0.5) {
            self.device.advance(self.now);
        }
        match self.random.below(24) {
            0 => self.lose_power(),
            1 => self.restart(),
            2 => self.flush(),
            3 => self.trim(),
            4..=9 => self.read(),
            _ => self.write(),
        }
        // Of a large device they take long.
        if number.is_multiple_of(CHECKED_EVERY) {
            self.device.check_invariants();
        }
    }

    /// First block and count of a request.
    fn blocks(&mut self) -> (u64, u64) {
        let place = self.places[self.random.below(self.places.len() as u64) as usize];
        let first = self.random.below(BLOCKS);
        (place + first, 1 + self.random.below(BLOCKS - first))
    }

    fn ask(&mut self, op: Op, first: u64, count: u64, data: Data<'_>) -> Time {
        let size = self.auditor.block_bytes() as u64;
        let (address, bytes) = (first * size, (count * size) as u32);
        let request = Request { arrival: self.now, address, bytes, volume: 0, op };
        let mut breakdown = Breakdown::new();
        let done = self.device.submit(self.now, &request, data, &mut breakdown).done;
        assert_eq!(
            breakdown.total_from(0),
            done - self.now,
            "{}: the breakdown of {request:?}",
            self.context
        );
        self.latency = (done - self.now).max(Time::from_ns(1));
        done
    }

    fn write(&mut self) {
        let (first, count) = self.blocks();
        let data = self.auditor.next_write(first, count);
        let done = self.ask(Op::Write, first, count, Data::Write(&data));
        let safe = if self.promises == Persistence::OnAcknowledgement { done } else { Time::MAX };
        self.auditor.wrote(first, &data, done, safe);
    }

    fn read(&mut self) {
        let (first, count) = self.blocks();
        let mut found = vec![0xAA; count as usize * self.auditor.block_bytes()];
        self.ask(Op::Read, first, count, Data::Read(&mut found));
        self.auditor.check_read(first, &found, &self.context);
    }

    fn trim(&mut self) {
        let (first, count) = self.blocks();
        let done = self.ask(Op::Trim, first, count, Data::None);
        self.auditor.trimmed(first, count, done);
    }

    fn flush(&mut self) {
        let (asked, done) = (self.now, self.ask(Op::Flush, 0, 0, Data::None));
        // Stored energy is all that such a device has: a flush adds nothing.
        if self.promises != Persistence::WithStoredEnergy {
            self.auditor.flushed(asked, done);
        }
    }

    fn lose_power(&mut self) {
        let at = self.now + Time::from_ps(self.random.below(2 * self.latency.as_ps()));
        self.device.power_fail(at, &mut self.random);
        let mut back = at + Time::from_us(self.random.below(100));
        let mut ready = self.device.recover(back).done;
        assert!(ready >= back, "{}: it is ready at {ready}, before {back}", self.context);
        self.crashes.losses += 1;
        if self.random.chance(0.3) {
            let again = back + Time::from_ps(self.random.below((ready - back).as_ps() + 1));
            self.device.power_fail(again, &mut self.random);
            back = again + Time::from_us(self.random.below(100));
            ready = self.device.recover(back).done;
            self.crashes.while_recovering += 1;
        }
        self.now = ready;
        let (device, size, now) = (&mut self.device, self.auditor.block_bytes() as u64, self.now);
        let read = |block: u64, into: &mut [u8]| {
            let (address, bytes) = (block * size, size as u32);
            let request = Request { arrival: now, address, bytes, volume: 0, op: Op::Read };
            device.submit(now, &request, Data::Read(into), &mut Breakdown::new());
        };
        self.crashes.blocks_behind += self.auditor.check_after_loss(at, read, &self.context);
        self.now = self.device.busy_until().max(now);
    }

    /// The process ends, and another one goes on with the saved state and the same bytes.
    fn restart(&mut self) {
        let state = state::saved(&*self.device).expect("it can be saved");
        let mut device = (self.build)();
        let restored = state::restored(&mut *device, &state);
        restored.unwrap_or_else(|error| panic!("{}: its own state is refused: {error}", self.context));
        let reports =
            [self.device.report(self.now), device.report(self.now)].map(|report| format!("{report:?}"));
        assert!(reports[0] == reports[1], "{}: a report before and after a restart differ", self.context);
        self.device = device;
        self.crashes.restarts += 1;
    }
}
