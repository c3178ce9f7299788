//! Start-gap: rows rotate slowly past one empty row.
//!
//! # Model
//! The rows are divided into `domains` domains of N rows. Each domain has an additional physical row, the
//! gap, and two registers, `start` and `gap`. Row a of a domain is at physical row `p = (a + start) mod N`,
//! plus one if `p >= gap`. After every `interval` writes to a domain, the row before the gap is copied into
//! the gap and becomes the new gap. When the gap has passed through all rows, it returns to the end, and
//! `start` increases by one.
//!
//! Each move of the gap moves one row, and all N rows move in turn. A row therefore stays in one location for
//! `N * interval` writes to its domain (the line vulnerability factor). After `(N + 1) * interval` writes,
//! the gap is at the same location again, and `start` has increased by one.
//!
//! *Randomization* (`randomize`): a Feistel network first permutes the row numbers, with keys that are
//! derived from the random seed. Logical rows with adjacent numbers are then not adjacent in the array. If
//! the number of rows is not a power of four, the network can return a number that is out of range. Such a
//! number passes through the network again until it is in range (cycle walking).
//!
//! *Adaptation* (`adapt`): every domain counts the writes to its most-written rows. Let s be the share of the
//! most-written row in the last `window` writes to the domain. If `stay_share * endurance / (s * N)` is less
//! than the interval, this value becomes the new interval. A row then uses at most `stay_share` of its
//! endurance in one location. When writes are evenly distributed again, the interval doubles after every
//! window, up to its original value.
//!
//! # Not modeled
//! The model omits the alternative to the Feistel network (a random invertible matrix), and write buffers
//! that delay repeated writes (delayed write). The keys of the Feistel network do not change during a run.
//!
//! # Sources
//! The scheme, the domains, and the Feistel network are from qureshi-2009. The interval of 128 and rows of 4
//! KiB are from akel-2011, section 2.3. The adaptation to attacks is from qureshi-2011, and the counters are
//! from misra-1982.
//!
//! # Checks
//! - After every move, the mapping is a bijection with an exact inverse. For all small array sizes, the
//!   tests copy the data of each moved row and then find the data of every row at its mapped location.
//! - A row stays in one location for exactly `N * interval` writes. The gap is at the same location again
//!   after exactly `(N + 1) * interval` writes.
//! - Recording many writes at once gives the same result as recording them one by one.
//! - While one row is written repeatedly, the interval follows the formula above. After this attack, the
//!   interval returns to its original value.
//! - If writes are unevenly distributed, the lifetime is at least 97 % of the ideal lifetime.

mod domain;
mod feistel;
#[cfg(test)]
mod tests;
mod watch;

use super::{Intervals, Move, WearLevelingFamily, WearLeveller, Written};
use domain::Domain;
use feistel::Feistel;
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem, Problems};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;
use watch::Watch;

/// Start-gap wear leveling.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Number of writes to a domain between two moves of the gap.
    #[config(default = 128, min = 1, max = 4294967295, source = "paper: akel-2011 section 2.3")]
    pub interval: u32,
    /// Number of domains of equal size. The rows of each domain rotate independently.
    #[config(default = 1, min = 1, max = 65536, source = "paper: akel-2011 section 3.3, one per bank")]
    pub domains: u32,
    /// Randomize row numbers before the rotation.
    #[config(default = false, source = "assumed: akel-2011 does not mention address randomization")]
    pub randomize: bool,
    /// Shorten the interval if few rows receive most writes.
    #[config(default = false, source = "paper: akel-2011 section 3.3, for a later version")]
    pub adapt: bool,
    /// Number of writes to a domain between two adaptations of the interval.
    #[config(
        default = 4096,
        min = 1,
        max = 1000000000,
        source = "assumed: far fewer than the endurance of a row"
    )]
    pub window: u32,
    /// Number of counters for the most-written rows, per domain.
    #[config(default = 16, min = 1, max = 1024, source = "assumed: as in the detector of qureshi-2011")]
    pub watched: u32,
    /// Maximum share of the endurance of a row that writes may use between two moves of the row.
    #[config(
        default = "25 %",
        min = "0.001 %",
        max = "100 %",
        source = "assumed: four attacks may hit one row"
    )]
    pub stay_share: Ratio,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<WearLevelingFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "start_gap",
        "rows rotate past one empty row",
        &["qureshi-2009", "akel-2011", "qureshi-2011"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        let rows = context.rows();
        if !rows.is_multiple_of(u64::from(config.domains)) {
            return Err(Problems::from(uneven(&format!("{}.domains", slot.path()), rows, config.domains)));
        }
        let scatter = config.randomize.then(|| Feistel::new(rows, &mut context.random(slot.path())));
        Ok(Box::new(StartGap::new(rows, context.endurance(), &config, scatter)))
    },
};

fn uneven(path: &str, rows: u64, domains: u32) -> Problem {
    let divides = |domains: &u32| rows.is_multiple_of(u64::from(*domains));
    let below = (1..domains).rev().find(divides).expect("1 divides every number");
    let above = (domains..=domains.saturating_mul(64)).find(divides);
    let nearest = above.map_or_else(String::new, |above| format!(" or {above}"));
    Problem::new(
        ErrorCode::ConflictingSettings,
        path,
        None,
        format!("the {rows} rows of a controller do not divide into this number of domains"),
    )
    .given(domains.to_string())
    .remedy(format!("use {below}{nearest}, the nearest that divide them"))
}

/// Start-gap for the rows of one controller.
#[derive(State)]
#[state(after = "StartGap::check")]
struct StartGap {
    #[state(same)]
    rows_per_domain: u64,
    #[state(same)]
    interval: u64,
    scatter: Option<Feistel>,
    domains: Vec<Domain>,
    adaptation: Option<Adaptation>,
}

/// State of the adaptation of the interval.
#[derive(State)]
struct Adaptation {
    #[state(same)]
    window: u64,
    /// Number of writes that a row may receive before it moves, divided by the number of rows in a domain.
    #[state(skip = "from the configuration")]
    stay_per_row: f64,
    watches: Vec<Watch>,
}

impl StartGap {
    fn new(rows: u64, endurance: u64, config: &Config, scatter: Option<Feistel>) -> StartGap {
        let rows_per_domain = rows / u64::from(config.domains);
        let interval = u64::from(config.interval);
        let domain = Domain { start: 0, gap: rows_per_domain, writes: 0, interval };
        let adaptation = config.adapt.then(|| Adaptation {
            window: u64::from(config.window),
            stay_per_row: config.stay_share.0 * endurance as f64 / rows_per_domain as f64,
            watches: vec![Watch::new(config.watched); config.domains as usize],
        });
        let domains = vec![domain; config.domains as usize];
        StartGap { rows_per_domain, interval, scatter, domains, adaptation }
    }

    /// Domain of a row, and number of the row in the domain.
    #[inline]
    fn place(&self, row: u64) -> (usize, u64) {
        let row = self.scatter.as_ref().map_or(row, |scatter| scatter.forth(row));
        if self.domains.len() == 1 {
            return (0, row);
        }
        ((row / self.rows_per_domain) as usize, row % self.rows_per_domain)
    }

    /// First physical row of a domain.
    #[inline]
    fn first(&self, domain: usize) -> u64 {
        domain as u64 * (self.rows_per_domain + 1)
    }

    fn check(&mut self) -> Result<(), String> {
        let rows = self.rows_per_domain;
        let is_wrong = |domain: &&Domain| domain.start >= rows || domain.gap > rows || domain.interval == 0;
        match self.domains.iter().find(is_wrong) {
            None => Ok(()),
            Some(domain) => Err(format!("{domain:?} of {rows} rows")),
        }
    }

    /// Records `times` writes to a row of a domain, and adapts the interval if a window ends.
    #[inline]
    fn watch(&mut self, number: usize, row: u64, times: u64) {
        let Some(adaptation) = &mut self.adaptation else { return };
        let watch = &mut adaptation.watches[number];
        watch.note(row, times);
        if watch.seen() >= adaptation.window {
            let domain = &mut self.domains[number];
            domain.interval = adaptation.next(number, domain.interval, self.interval);
        }
    }
}

impl Adaptation {
    /// Ends the window of domain `number`. Returns the interval for its next window.
    #[cold]
    fn next(&mut self, number: usize, now: u64, longest: u64) -> u64 {
        let share = self.watches[number].close();
        // A share of zero allows any interval.
        let allowed = (self.stay_per_row / share).clamp(1.0, longest as f64) as u64;
        allowed.min(2 * now)
    }
}

impl WearLeveller for StartGap {
    fn physical_rows(&self) -> u64 {
        (self.rows_per_domain + 1) * self.domains.len() as u64
    }

    #[inline]
    fn physical(&self, row: u64) -> u64 {
        let (domain, row) = self.place(row);
        self.first(domain) + self.domains[domain].physical(row, self.rows_per_domain)
    }

    fn logical(&self, physical: u64) -> Option<u64> {
        let domain = physical / (self.rows_per_domain + 1);
        let physical = physical % (self.rows_per_domain + 1);
        let row = self.domains[domain as usize].logical(physical, self.rows_per_domain)?;
        let row = domain * self.rows_per_domain + row;
        Some(self.scatter.as_ref().map_or(row, |scatter| scatter.back(row)))
    }

    #[inline]
    fn written(&mut self, row: u64) -> Option<Move> {
        let (number, row) = self.place(row);
        let domain = &mut self.domains[number];
        domain.writes += 1;
        let moved = (domain.writes >= domain.interval).then(|| {
            domain.writes = 0;
            domain.move_gap(self.rows_per_domain)
        });
        if self.adaptation.is_some() {
            self.watch(number, row, 1);
        }
        let first = self.first(number);
        moved.map(|Move { from, to }| Move { from: first + from, to: first + to })
    }

    fn written_often(&mut self, row: u64, most: u64) -> Written {
        let (number, row) = self.place(row);
        let most = match &self.adaptation {
            Some(adaptation) => most.min(adaptation.window - adaptation.watches[number].seen()),
            None => most,
        };
        let rows = self.rows_per_domain;
        let base = self.first(number);
        let domain = &mut self.domains[number];
        let every = domain.interval;
        // A shortened interval may already have ended.
        let first = every.saturating_sub(domain.writes).max(1);
        let in_line = domain.moves_in_line(domain.physical(row, rows));
        let moves = if most < first { 0 } else { ((most - first) / every + 1).min(in_line) };
        let to = base + domain.gap;
        let writes = if moves == in_line { first + (moves - 1) * every } else { most };
        domain.writes = match moves {
            0 => domain.writes + writes,
            moves => writes - first - (moves - 1) * every,
        };
        domain.move_gap_by(moves, rows);
        self.watch(number, row, writes);
        Written { writes, moves, to, first, every }
    }

    fn interval(&self) -> Option<Intervals> {
        let intervals = || self.domains.iter().map(|domain| domain.interval);
        Some(Intervals { shortest: intervals().min()?, longest: intervals().max()? })
    }
}
