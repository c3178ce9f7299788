//! Settings shared by all faults: affected requests and times.

use nacre_config::{Choice, Configuration, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Op, Random, Ratio, Request, Time};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Flushes.
    Flush,
}

impl Operation {
    const fn op(self) -> Op {
        match self {
            Operation::Read => Op::Read,
            Operation::Write => Op::Write,
            Operation::Trim => Op::Trim,
            Operation::Flush => Op::Flush,
        }
    }
}

/// Selects the requests and times that a fault affects.
#[derive(Clone, Debug, Configuration)]
pub struct When {
    /// Operations that the fault affects, e.g. `["read", "write"]`. By default, the fault affects
    /// all operations that this kind of fault can affect.
    pub operations: Option<Vec<Operation>>,
    /// First byte of the address range; the default is 0. A request is in the range if at least one of
    /// its bytes is in the range.
    pub range_start: Option<Bytes>,
    /// First byte after the address range; the default is the end of the device. A flush has no address, so
    /// a fault with a range does not affect flushes.
    #[config(min = "1 B")]
    pub range_end: Option<Bytes>,
    /// Share of the requests that the fault affects, selected at random; by default, all.
    #[config(max = "100 %")]
    pub share: Option<Ratio>,
    /// The fault affects every n-th request; by default, all.
    #[config(min = 1)]
    pub every: Option<u64>,
    /// Simulated time at which the fault starts. Time zero is the time at which the device was new.
    #[config(default = "0 s", source = "assumed: the fault is active from the beginning")]
    pub start: Time,
    /// Duration of the fault; by default, the fault is permanent.
    #[config(min = "1 ps")]
    pub duration: Option<Time>,
    /// Time from one start of the fault to the next. By default, the fault does not repeat.
    #[config(min = "1 ps")]
    pub period: Option<Time>,
}

impl When {
    /// Reports contradictory settings. `touchable` lists the operations that the fault can affect.
    pub(crate) fn check(&self, reader: &mut Reader<'_>, touchable: &[Op]) {
        let can_be: Vec<&str> = touchable.iter().map(|op| op.name()).collect();
        for operation in self.operations.iter().flatten().filter(|of| !touchable.contains(&of.op())) {
            let remedy = format!("give some of {}", can_be.join(", "));
            reader.conflict("operations", operation.op().name(), "this fault cannot touch it", &remedy);
        }
        let has_range = self.range_start.is_some() || self.range_end.is_some();
        if has_range && touchable == [Op::Flush] {
            let name = if self.range_end.is_some() { "range_end" } else { "range_start" };
            reader.conflict(name, "given", "this fault touches flushes, which have no address", "remove it");
        }
        if has_range && self.operations.iter().flatten().any(|&of| of == Operation::Flush) {
            let remedy = "leave out flush, or the range";
            reader.conflict(
                "operations",
                "flush",
                "a flush has no address, and the fault has a range",
                remedy,
            );
        }
        if let (Some(share), Some(every)) = (self.share, self.every) {
            let given = format!("{every}, with a share of {share}");
            let remedy = "give either share or every";
            reader.conflict("every", &given, "share and every exclude each other", remedy);
        }
        if let Some(to) = self.range_end
            && self.range_start.unwrap_or(Bytes(0)) >= to
        {
            let remedy = "give an end above range_start";
            reader.conflict("range_end", &to.to_string(), "the range is empty", remedy);
        }
        match (self.duration, self.period) {
            (None, Some(period)) => {
                let remedy = "give a duration, or no period";
                reader.conflict("period", &period.to_string(), "a permanent fault has no period", remedy);
            }
            (Some(duration), Some(period)) if duration >= period => {
                let given = format!("{period}, with a duration of {duration}");
                let remedy = "give a period above the duration, or neither";
                reader.conflict("period", &given, "the fault never ends", remedy);
            }
            _ => {}
        }
    }
}

/// A gate that decides which requests a fault affects.
#[derive(State)]
pub(crate) struct Gate {
    #[state(skip = "from the configuration")]
    when: When,
    /// Whether each kind of request can be affected.
    #[state(skip = "from the configuration")]
    touchable: [bool; 4],
    random: Random,
    /// Number of requests that matched while the fault was active.
    matched: u64,
}

impl Gate {
    /// Creates the gate of a fault that can affect the operations in `kinds`.
    pub(crate) fn new(when: When, kinds: &[Op], random: Random) -> Gate {
        let mut touchable = [false; 4];
        let has_range = when.range_start.is_some() || when.range_end.is_some();
        for &op in kinds {
            let is_wanted = when.operations.as_ref().is_none_or(|all| all.iter().any(|of| of.op() == op));
            touchable[op as usize] = is_wanted && !(has_range && op == Op::Flush);
        }
        Gate { when, touchable, random, matched: 0 }
    }

    /// Ends the fault permanently.
    pub(crate) fn end(&mut self) {
        self.when.duration = Some(Time::ZERO);
    }

    /// Whether the fault has ended permanently.
    pub(crate) fn is_over(&self) -> bool {
        self.when.duration == Some(Time::ZERO)
    }

    /// End of the activation that is in progress at `now`, or [`Time::MAX`] if it never ends. `None` if the
    /// fault is inactive.
    pub(crate) fn active_until(&self, now: Time) -> Option<Time> {
        let When { start, duration, period, .. } = self.when;
        if now < start {
            return None;
        }
        let Some(duration) = duration else { return Some(Time::MAX) };
        let begun = match period {
            Some(period) => Time::from_ps((now - start).as_ps() / period.as_ps() * period.as_ps()),
            None => Time::ZERO,
        };
        let until = start + begun + duration;
        (now < until).then_some(until)
    }

    /// End of the activation if the fault is active and the request matches its kinds and range; otherwise
    /// `None`.
    #[inline]
    pub(crate) fn matches(&self, now: Time, request: &Request) -> Option<Time> {
        if !self.touchable[request.op as usize] {
            return None;
        }
        // A zone command has no bytes. Its address is the first byte of its zone.
        let end = request.address.saturating_add(u64::from(request.bytes.max(1)));
        let is_before = self.when.range_end.is_some_and(|to| request.address >= to.0);
        let is_behind = self.when.range_start.is_some_and(|from| end <= from.0);
        if is_before || is_behind { None } else { self.active_until(now) }
    }

    /// Counts a matching request. Returns whether the fault affects it.
    #[inline]
    pub(crate) fn picks(&mut self) -> bool {
        self.matched += 1;
        match (self.when.every, self.when.share) {
            (Some(every), _) => self.matched.is_multiple_of(every),
            (None, Some(share)) => self.random.chance(share.0),
            (None, None) => true,
        }
    }

    /// Whether the fault selects requests by address.
    pub(crate) fn uses_addresses(&self) -> bool {
        self.when.range_start.is_some() || self.when.range_end.is_some()
    }
}
