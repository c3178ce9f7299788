mod recovery;
mod reference;
mod settings;
mod structures;
mod threads;

use super::method::Method;
use super::store::Store;
use super::{AccessMethod, Config, Load, btree_of, hash_of};
use crate::testing::serve;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bytes, Random, Request, Streams, Time};
use std::collections::BTreeMap;

/// All records of a log.
#[derive(Debug, Default, State)]
pub(super) struct Journal {
    #[state(varies)]
    records: Vec<Record>,
    /// Number of the open transaction of each client.
    under_way: BTreeMap<u32, u32>,
    transactions: u32,
}

/// A log record and its end position.
#[derive(Clone, Copy, Debug, Value)]
struct Record {
    end: u64,
    says: Says,
}

#[derive(Clone, Copy, Debug, Value)]
enum Says {
    Update { transaction: u32, place: (u32, usize), key: u32, values: [u32; 2] },
    Commit { transaction: u32 },
    Mark { start: u64 },
}

impl Journal {
    /// Appends the log record of a change, in which `client` replaces the first of `values` with the
    /// second.
    pub(super) fn update(&mut self, end: u64, client: u32, place: (u32, usize), key: u32, values: [u32; 2]) {
        let next = self.transactions;
        let transaction = *self.under_way.entry(client).or_insert(next);
        self.transactions += u32::from(transaction == next);
        self.records.push(Record { end, says: Says::Update { transaction, place, key, values } });
    }

    pub(super) fn commit(&mut self, end: u64, client: u32) {
        let transaction = self.under_way.remove(&client).expect("it has changed something");
        self.records.push(Record { end, says: Says::Commit { transaction } });
    }

    pub(super) fn mark(&mut self, end: u64, start: u64) {
        self.records.push(Record { end, says: Says::Mark { start } });
    }
}

/// Configuration of a small store with 200 pairs on pages of 512 B, and one thread that uses no CPU time.
/// The cache and the log are large enough for all data.
fn small(method: AccessMethod) -> Config {
    Config {
        transactions: Some(100),
        method,
        keys: 200,
        key: Bytes(16),
        value: Bytes(100),
        page: Bytes(512),
        load: Load::Sorted,
        fill: None,
        cache: Bytes(1 << 20),
        threads: 1,
        operation: Time::ZERO,
        commit: Time::ZERO,
        log: Bytes(4 << 20),
        log_block: Bytes(512),
        log_record: Bytes(68),
        checkpoint: None,
        writers: 1,
    }
}

fn random(name: &str) -> Random {
    Streams::new(7).stream(name)
}

fn hash(config: &Config) -> Store<super::hash::Hash> {
    Store::new(hash_of(config, random("load")), config, random("keys"))
}

fn btree(config: &Config) -> Store<super::btree::Btree> {
    Store::new(btree_of(config, random("load")), config, random("keys"))
}

/// Runs the store on a device whose latencies `latency` returns. Returns all requests.
fn run<M: Method>(store: &mut Store<M>, latency: impl Fn(&Request) -> Time) -> Vec<Request> {
    serve(store, latency)
}

/// Runs the store on a device with zero latency, and returns all requests.
fn alone<M: Method>(mut store: Store<M>) -> Vec<Request> {
    run(&mut store, |_| Time::ZERO)
}
