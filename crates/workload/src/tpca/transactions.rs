//! The sequence of transactions as a workload.

use super::Config;
use super::layout::{Database, Table};
use crate::arrival::Pacing;
use crate::error::WorkloadError;
use crate::{Notes, Units, Workload};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Random, Request, Time};

/// Transactions on random accounts at random times.
#[derive(State)]
pub(super) struct Transactions {
    #[state(skip = "from the configuration")]
    database: Database,
    #[state(skip = "from the configuration")]
    path: String,
    accounts: Random,
    arrivals: Random,
    /// Mean gap in picoseconds.
    #[state(skip = "from the configuration")]
    gap_ps: f64,
    now: Time,
    /// Number of transactions started.
    begun: u64,
    /// Maximum number of transactions.
    #[state(same)]
    limit: u64,
    /// Number of requests returned.
    given: u64,
    accesses: Cut,
    writes: Cut,
    ended: Ended,
}

/// Requests that were generated but did not fit into a batch.
#[derive(Debug, Default, State)]
#[state(after = "Cut::check_restored")]
struct Cut {
    #[state(varies)]
    made: Vec<Request>,
    taken: usize,
}

/// Transactions whose last request was returned.
#[derive(Debug, Default, State)]
struct Ended {
    /// Number of transactions that ended before the latest batch.
    before: u64,
    /// For each transaction that ended since the start of the latest batch, the total number of requests
    /// returned up to its end.
    #[state(varies)]
    at: Vec<u64>,
}

impl Transactions {
    /// Creates the sequence of validated settings on `database`.
    pub(super) fn new(
        database: Database,
        config: &Config,
        path: &str,
        accounts: Random,
        arrivals: Random,
    ) -> Transactions {
        Transactions {
            accesses: Cut::of(database.accesses_max()),
            writes: Cut::of(3),
            database,
            path: path.into(),
            accounts,
            arrivals,
            gap_ps: 1e12 / config.rate.0,
            now: Time::ZERO,
            begun: 0,
            limit: config.transactions.unwrap_or(u64::MAX),
            given: 0,
            ended: Ended::default(),
        }
    }

    /// Returns the arrival time of the next transaction.
    #[inline]
    fn arrive(&mut self) -> Result<Time, WorkloadError> {
        let gap = Time::from_ps((self.arrivals.exponential() * self.gap_ps + 0.5) as u64);
        self.begun += 1;
        match self.now.checked_add(gap) {
            Some(now) if now < Time::MAX => {
                self.now = now;
                Ok(now)
            }
            _ => Err(WorkloadError::TooLong { path: format!("{}.rate", self.path), request: self.given + 1 }),
        }
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        self.accounts.below(self.database.accounts.records)
    }
}

impl Workload for Transactions {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.ended.next_batch();
        let mut left = limit;
        let rest = self.accesses.rest(batch, left);
        if rest > 0 {
            (left, self.given) = (left - rest, self.given + rest as u64);
            self.ended.add_if(self.accesses.is_empty(), self.given);
        }
        let most = self.database.accesses_max();
        while left > 0 && self.begun < self.limit {
            let (arrival, account) = (self.arrive()?, self.draw());
            let from = batch.len();
            if left >= most {
                self.database.transaction(account, arrival, batch);
            } else {
                self.database.transaction(account, arrival, self.accesses.renewed());
                self.accesses.rest(batch, left);
            }
            let count = batch.len() - from;
            (left, self.given) = (left - count, self.given + count as u64);
            self.ended.add_if(self.accesses.is_empty(), self.given);
        }
        Ok(())
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let mut left = limit - self.writes.rest(batch, limit);
        while left >= 3 {
            let account = self.draw();
            self.database.writes(account, batch);
            left -= 3;
        }
        if left > 0 {
            let account = self.draw();
            self.database.writes(account, self.writes.renewed());
            self.writes.rest(batch, left);
        }
        Ok(())
    }

    fn pacing(&self) -> Pacing {
        Pacing::Serial
    }

    fn expected(&self) -> Option<u64> {
        // The number of accesses differs between transactions.
        (self.limit == u64::MAX).then_some(u64::MAX)
    }

    fn reach(&self) -> Option<u64> {
        Some(self.database.end)
    }

    fn units(&self, requests: u64) -> Option<Units> {
        let done = self.ended.within(requests);
        Some(Units { name: "transactions", done })
    }

    fn notes(&self) -> Notes {
        let Database { branches, tellers, accounts, end, .. } = &self.database;
        let size = |table: &Table, what: &str| {
            format!("{} {what} in {} levels", table.records, table.tree.levels.len())
        };
        let sizes = [size(branches, "branches"), size(tellers, "tellers"), size(accounts, "accounts")];
        let note = format!("database of {}: {}", Bytes(*end), sizes.join(", "));
        Notes { kind: "tpca", records: self.given, bad_records: 0, notes: vec![note] }
    }
}

impl Cut {
    fn of(most: usize) -> Cut {
        Cut { made: Vec::with_capacity(most), taken: 0 }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let made = self.made.len();
        if self.taken <= made { Ok(()) } else { Err(format!("{} of {made} requests taken", self.taken)) }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.taken == self.made.len()
    }

    /// Clears the list, and returns it for new requests.
    fn renewed(&mut self) -> &mut Vec<Request> {
        self.made.clear();
        self.taken = 0;
        &mut self.made
    }

    /// Moves up to `limit` requests to `batch`. Returns the number of moved requests.
    fn rest(&mut self, batch: &mut Vec<Request>, limit: usize) -> usize {
        let count = limit.min(self.made.len() - self.taken);
        batch.extend_from_slice(&self.made[self.taken..self.taken + count]);
        self.taken += count;
        count
    }
}

impl Ended {
    /// Discards the details of transactions that ended before this batch.
    fn next_batch(&mut self) {
        self.before += self.at.len() as u64;
        self.at.clear();
    }

    /// If `has_ended` is true, records that a transaction ended with request number `given`.
    #[inline]
    fn add_if(&mut self, has_ended: bool, given: u64) {
        if has_ended {
            self.at.push(given);
        }
    }

    fn within(&self, requests: u64) -> u64 {
        self.before + self.at.partition_point(|&at| at <= requests) as u64
    }
}
