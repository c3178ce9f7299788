//! DRAM frames, with their time and energy.

use super::Config;
use crate::frames::{Access, Memory, MemoryReport};
use nacre_kernel::event::FirstCome;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Energy, Ledger, Power, Resource, Time};
use nacre_media::store::Store;

/// DRAM behind one channel.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Dram<S> {
    #[state(skip = "the frames of a machine that continues, next to the state")]
    store: S,
    #[state(skip = "from the configuration")]
    config: Config,
    /// Time that a page occupies the channel.
    #[state(skip = "from the configuration")]
    transfer: Time,
    channel: FirstCome<Activity>,
    ledger: Ledger,
    /// End of the last transfer.
    worked_until: Time,
    /// Time in power-down since measurement started, in picoseconds.
    powered_down: u128,
}

impl<S: Store> Dram<S> {
    pub(super) fn new(config: &Config, store: S) -> Dram<S> {
        Dram {
            store,
            transfer: config.bandwidth.time_for(config.page.0),
            config: config.clone(),
            channel: FirstCome::new(1),
            ledger: Ledger::default(),
            worked_until: Time::ZERO,
            powered_down: 0,
        }
    }

    fn chips(&self) -> f64 {
        self.config.capacity.0 as f64 / self.config.chip.0 as f64
    }

    /// Power that the active chips consume in addition to idle power.
    fn draw(&self) -> Power {
        let chips = self.chips().min(f64::from(self.config.rank));
        let idle = self.config.idle_power.map_or(0.0, |power| power.0);
        Power(self.config.active_power.map_or(0.0, |power| (power.0 - idle) * chips))
    }

    #[inline]
    fn occupy(&mut self, now: Time, activity: Activity) -> Access {
        let start = self.channel.take(now, now, self.transfer, activity);
        if self.config.power_down_power.is_some() {
            let rest = start - self.worked_until;
            self.powered_down += u128::from(rest.saturating_sub(self.config.power_down_after).as_ps());
        }
        self.worked_until = start + self.transfer;
        self.ledger.charge(activity, self.transfer);
        let time = self.transfer + self.config.latency;
        let spans = [(Activity::Queue, start - now), (activity, time), (Activity::Correct, Time::ZERO)];
        Access { begin: start, done: start + time, rests: start + time, spans, is_good: true }
    }

    fn idle_energy(&self, elapsed: Time) -> Option<Energy> {
        let (idle, down) = (self.config.idle_power?, self.config.power_down_power);
        let rested = Time::from_ps(u64::try_from(self.powered_down).unwrap_or(u64::MAX)).min(elapsed);
        let rested = if down.is_some() { rested } else { Time::ZERO };
        let awake = idle.over(elapsed - rested).0;
        Some(Energy((awake + down.map_or(0.0, |power| power.over(rested).0)) * self.chips()))
    }
}

impl<S: Store> Memory for Dram<S> {
    const IS_VOLATILE: bool = true;
    const ATOMIC_UNIT: u32 = u32::MAX;
    const KIND: &'static str = "dram_disk_cache";

    fn carries_bytes(&self) -> bool {
        S::CARRIES_BYTES
    }

    fn has_code(&self) -> bool {
        false
    }

    #[inline]
    fn read(&mut self, frame: u32, now: Time, into: &mut [u8]) -> Access {
        self.peek(frame, into);
        self.occupy(now, Activity::Read)
    }

    #[inline]
    fn begin_write(&mut self, _frame: u32, now: Time) -> Access {
        self.occupy(now, Activity::Write)
    }

    #[inline]
    fn land(&mut self, frame: u32, bytes: &[u8]) {
        if S::CARRIES_BYTES {
            self.store.program(u64::from(frame), bytes);
        }
    }

    #[inline]
    fn encode(&mut self, now: Time) -> Time {
        now
    }

    #[inline]
    fn look_up(&mut self, now: Time) -> Time {
        now
    }

    #[inline]
    fn peek(&self, frame: u32, into: &mut [u8]) {
        // A frame that was written without data reads as zeros.
        if S::CARRIES_BYTES && !self.store.read(u64::from(frame), 0, into) {
            into.fill(0);
        }
    }

    fn power_fail(&mut self, at: Time) {
        for cut in self.channel.power_fail(at) {
            self.ledger.give_back(cut.what, cut.left);
        }
        self.worked_until = self.worked_until.min(at);
    }

    fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
        self.powered_down = 0;
        self.channel.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> MemoryReport {
        let mut ledger = self.ledger.clone();
        for activity in [Activity::Read, Activity::Write] {
            let seconds = ledger.busy_s(activity);
            ledger.charge_energy(activity, Energy(self.draw().0 * seconds));
        }
        MemoryReport {
            resources: vec![Resource { name: "channel", servers: 1, ledger }],
            is_energy_modeled: self.config.active_power.is_some() || self.config.idle_power.is_some(),
            idle_energy: self.idle_energy(elapsed),
            counters: Vec::new(),
            cost: self.config.price.map(|price| price.of(self.config.capacity)),
            area_mm2: self.config.area.map(|area| area.mm2_of(self.config.capacity)),
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
        }
    }
}
