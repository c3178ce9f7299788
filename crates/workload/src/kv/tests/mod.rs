mod durability;
mod reference;
mod settings;
mod speed;
mod structures;

use super::store::Store;
use super::{AccessMethod, Config, Load, btree_of, hash_of};
use nacre_kernel::{Bytes, Random, Request, Streams, Time};

/// A small store: 200 pairs on pages of 512 B, one thread, a cache that holds everything.
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
        think: Time::ZERO,
        log: Bytes(64 << 10),
        log_block: Bytes(512),
        log_record: Bytes(68),
        checkpoint: None,
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

/// All requests of one thread.
fn alone<M: super::method::Method>(mut store: Store<M>) -> Vec<Request> {
    std::iter::from_fn(|| store.turn(0)).collect()
}
