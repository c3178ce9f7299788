//! Start-gap: rows rotate slowly past one row that is empty.
//!
//! # Models
//! Rows are cut into `domains` of N rows, each with one more physical row, the gap, and two registers.
//! Row a of a domain lies in physical row `p = (a + start) mod N`, one further where `p >= gap`. After every
//! `interval` writes to a domain the row before the gap is copied into it and becomes the gap; when the gap
//! has passed through all rows it is at the end again and `start` grows by one. Each move of the gap moves
//! one of N rows, each in its turn: a row lies in one place for `N * interval` writes to its domain, which is
//! the line vulnerability factor.
//!
//! With `randomise` the addresses go first through a Feistel network whose keys come from the run's seed, so
//! that neighbours are not neighbours in the array; where the rows are no power of four, numbers beyond them
//! go through it again until they are not (cycle walking).
//!
//! # Leaves out
//! An interval that adapts to attacks; a random invertible matrix instead of the Feistel network.
//!
//! # Sources
//! qureshi-2009 for the scheme; akel-2011 section 2.3 for the interval of 128 and rows of 4 KiB.
//!
//! # Checks
//! The mapping is a bijection whose inverse is exact at every step, and data that is moved as told stays
//! where the mapping says, on all small arrays; the stay of `N * interval` writes in one place exactly.

mod feistel;
#[cfg(test)]
mod tests;

use super::{Move, WearLeveller, WearLevellingFamily};
use feistel::Feistel;
use nacre_config::{Card, Configuration, Problem, Problems, Room};

/// Start-gap wear levelling.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Writes to a domain between two moves of its gap.
    #[config(default = 128, min = 1, max = 4294967295, source = "paper: akel-2011 section 2.3")]
    pub interval: u32,
    /// Parts of the rows that rotate on their own, all of one size.
    #[config(default = 1, min = 1, max = 65536, source = "paper: akel-2011 section 3.3, one per bank")]
    pub domains: u32,
    /// Whether addresses are scattered before they rotate.
    #[config(default = false, source = "assumed: akel-2011 does not say that Onyx scatters addresses")]
    pub randomise: bool,
}

/// This room.
pub const ROOM: Room<WearLevellingFamily> = Room {
    card: Card::of::<Config>(
        "start_gap",
        "rows rotate past one empty row",
        &["qureshi-2009", "akel-2011"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        let rows = context.rows();
        if !rows.is_multiple_of(u64::from(config.domains)) {
            let problem = format!("{rows} rows do not divide into {} domains", config.domains);
            let problem = Problem::new(&format!("{}.domains", slot.path()), None, problem);
            return Err(Problems::from(problem.remedy("use a divisor of the number of rows")));
        }
        let scatter = config.randomise.then(|| Feistel::new(rows, &mut context.random(slot.path())));
        Ok(Box::new(StartGap::new(rows, &config, scatter)))
    },
};

/// The rows of one controller.
struct StartGap {
    rows_per_domain: u64,
    interval: u32,
    scatter: Option<Feistel>,
    domains: Vec<Domain>,
}

/// The registers of one domain.
#[derive(Clone, Copy, Debug)]
struct Domain {
    start: u64,
    gap: u64,
    /// Writes since the gap moved.
    writes: u32,
}

impl StartGap {
    fn new(rows: u64, config: &Config, scatter: Option<Feistel>) -> StartGap {
        let rows_per_domain = rows / u64::from(config.domains);
        let domain = Domain { start: 0, gap: rows_per_domain, writes: 0 };
        let domains = vec![domain; config.domains as usize];
        StartGap { rows_per_domain, interval: config.interval, scatter, domains }
    }

    /// The domain of a row, and its number there.
    fn place(&self, row: u64) -> (usize, u64) {
        let row = self.scatter.as_ref().map_or(row, |scatter| scatter.forth(row));
        if self.domains.len() == 1 {
            return (0, row);
        }
        ((row / self.rows_per_domain) as usize, row % self.rows_per_domain)
    }
}

impl WearLeveller for StartGap {
    fn physical_rows(&self) -> u64 {
        (self.rows_per_domain + 1) * self.domains.len() as u64
    }

    fn physical(&self, row: u64) -> u64 {
        let (domain, row) = self.place(row);
        domain as u64 * (self.rows_per_domain + 1) + self.domains[domain].physical(row, self.rows_per_domain)
    }

    fn logical(&self, physical: u64) -> Option<u64> {
        let domain = physical / (self.rows_per_domain + 1);
        let physical = physical % (self.rows_per_domain + 1);
        let row = self.domains[domain as usize].logical(physical, self.rows_per_domain)?;
        let row = domain * self.rows_per_domain + row;
        Some(self.scatter.as_ref().map_or(row, |scatter| scatter.back(row)))
    }

    fn written(&mut self, row: u64) -> Option<Move> {
        let (number, _) = self.place(row);
        let domain = &mut self.domains[number];
        domain.writes += 1;
        if domain.writes < self.interval {
            return None;
        }
        domain.writes = 0;
        let Move { from, to } = domain.move_gap(self.rows_per_domain);
        let first = number as u64 * (self.rows_per_domain + 1);
        Some(Move { from: first + from, to: first + to })
    }
}

impl Domain {
    fn physical(&self, row: u64, rows: u64) -> u64 {
        // Both are below `rows`, so that one subtraction is the remainder.
        let rotated = row + self.start;
        let rotated = if rotated >= rows { rotated - rows } else { rotated };
        rotated + u64::from(rotated >= self.gap)
    }

    fn logical(&self, physical: u64, rows: u64) -> Option<u64> {
        if physical == self.gap {
            return None;
        }
        let rotated = physical - u64::from(physical > self.gap);
        Some(if rotated >= self.start { rotated - self.start } else { rotated + rows - self.start })
    }

    fn move_gap(&mut self, rows: u64) -> Move {
        let to = self.gap;
        if self.gap == 0 {
            self.gap = rows;
            self.start = (self.start + 1) % rows;
        } else {
            self.gap -= 1;
        }
        Move { from: self.gap, to }
    }
}
