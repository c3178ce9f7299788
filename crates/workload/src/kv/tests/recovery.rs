//! Tests of recovery after a power loss at any time. The stored pages and the log must be sufficient to
//! restore the committed data.

use super::{Journal, Record, Says, btree, hash, small};
use crate::kv::method::Method;
use crate::kv::store::Store;
use crate::kv::{AccessMethod, Config};
use crate::{Interactive, Issued};
use nacre_kernel::event::Agenda;
use nacre_kernel::{Bytes, Op, Random, Request, Status, Streams, Time};
use std::collections::BTreeSet;

type Contents = Vec<Vec<(u32, u32)>>;

/// A request, the data that it writes, and its effect on the log and on transactions.
struct Event {
    request: Request,
    done: Time,
    /// For a page write: the number of the page and its pairs. `None` for other requests.
    page: Option<(usize, Vec<(u32, u32)>)>,
    /// End of the log after a log write.
    appended: u64,
    /// Number of transactions that have ended. `None` if no transaction ends with this request.
    ended: Option<u64>,
}

/// A device after a power loss.
struct Device {
    pages: Contents,
    /// For each byte of the log region, its log position plus one, or zero if the byte was never written.
    log: Vec<u64>,
}

fn contents(method: &impl Method) -> Contents {
    let pages = method.pages();
    let page = |page| pages.entries(page).iter().map(|entry| (entry.key, entry.value)).collect();
    (0..pages.count()).map(page).collect()
}

/// Runs the store on a device with random latencies, and returns its requests.
fn events<M: Method>(store: &mut Store<M>, config: &Config, random: &mut Random) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let mut outstanding: Agenda<(u32, usize)> = Agenda::new();
    loop {
        let due = store.next_event();
        if let Some((done, (tag, event))) = outstanding.pop_before(due) {
            let before = store.ended();
            store.complete(done, tag, Status::Done);
            events[event].ended = (store.ended() > before).then_some(store.ended());
            continue;
        }
        if due == Time::MAX {
            return events;
        }
        // Requests are taken one at a time, because the data of a request is the state when it is issued.
        while let Some(Issued { request, tag, .. }) = store.next(due) {
            let done = due + Time::from_ns(1 + random.below(1_000));
            let page = (request.op == Op::Write && request.address >= config.log.0).then(|| {
                let page = ((request.address - config.log.0) / config.page.0) as u32;
                let pairs = store.method.pages().entries(page).iter().map(|entry| (entry.key, entry.value));
                (page as usize, pairs.collect())
            });
            outstanding.schedule(done, (tag, events.len()));
            events.push(Event { request, done, page, appended: store.log.end(), ended: None });
        }
    }
}

impl Device {
    /// Returns the content of a device with the initial pages `pages` after a power loss at `at`. The
    /// content includes all writes that completed before the start of a completed flush, and a random
    /// subset of the other writes.
    fn after(pages: &Contents, config: &Config, events: &[Event], at: Time, random: &mut Random) -> Device {
        let mut device = Device { pages: pages.clone(), log: vec![0; config.log.0 as usize] };
        let flushed = events
            .iter()
            .filter(|event| event.request.op == Op::Flush && event.done <= at)
            .map(|flush| flush.request.arrival)
            .max();
        for event in
            events.iter().filter(|event| event.request.op == Op::Write && event.request.arrival <= at)
        {
            let mut survives =
                || flushed.is_some_and(|flushed| event.done <= flushed) || random.below(2) == 0;
            match &event.page {
                Some((page, pairs)) => {
                    if survives() {
                        device.pages[*page].clone_from(pairs);
                    }
                }
                None => {
                    let size = config.log.0;
                    let address = event.request.address;
                    let from = event.appended - (event.appended + size - address) % size;
                    for block in (0..u64::from(event.request.bytes)).step_by(config.log_block.0 as usize) {
                        if survives() {
                            for byte in block..block + config.log_block.0 {
                                let written = from + byte < event.appended;
                                device.log[(address + byte) as usize] =
                                    if written { from + byte + 1 } else { 0 };
                            }
                        }
                    }
                }
            }
        }
        device
    }

    fn holds(&self, records: &[Record], number: usize) -> bool {
        let from = if number == 0 { 0 } else { records[number - 1].end };
        (from..records[number].end).all(|byte| self.log[(byte % self.log.len() as u64) as usize] == byte + 1)
    }

    /// Redoes the log, and undoes uncommitted changes. Returns the records from which the data was recovered.
    fn recover<'a>(&mut self, journal: &'a Journal) -> &'a [Record] {
        let records = &journal.records[..];
        // Recovery starts from the last complete checkpoint, or else from the start of the log.
        let from = |record: &Record| match record.says {
            Says::Mark { start } => Some(records.partition_point(|record| record.end <= start)),
            _ => None,
        };
        let is_whole = |first: usize, mark: usize| (first..=mark).all(|number| self.holds(records, number));
        let first = (0..records.len())
            .rev()
            .find_map(|mark| from(&records[mark]).filter(|&first| is_whole(first, mark)))
            .unwrap_or(0);
        let end =
            (first..records.len()).find(|&number| !self.holds(records, number)).unwrap_or(records.len());
        let committed = committed(&records[..end]);
        let mut put = |(page, at): (u32, usize), value| self.pages[page as usize][at].1 = value;
        for record in &records[first..end] {
            if let Says::Update { place, values, .. } = record.says {
                put(place, values[1]);
            }
        }
        for record in records[first..end].iter().rev() {
            if let Says::Update { transaction, place, values, .. } = record.says
                && !committed.contains(&transaction)
            {
                put(place, values[0]);
            }
        }
        &records[..end]
    }
}

fn committed(records: &[Record]) -> BTreeSet<u32> {
    let commit = |record: &Record| match record.says {
        Says::Commit { transaction } => Some(transaction),
        _ => None,
    };
    records.iter().filter_map(commit).collect()
}

fn check<M: Method>(mut store: Store<M>, config: &Config) {
    let mut random = Streams::new(3).stream("power");
    let pages = contents(&store.method);
    let data: Vec<bool> = (0..pages.len()).map(|page| store.method.pages().level(page as u32) == 0).collect();
    let events = events(&mut store, config, &mut random);
    assert_eq!(store.ended(), config.transactions.expect("an end"));
    let end = events.iter().map(|event| event.done).max().expect("requests");
    for _ in 0..12 {
        let at = Time::from_ps(random.below(end.as_ps() + 1));
        let mut device = Device::after(&pages, config, &events, at, &mut random);
        let records = device.recover(&store.journal);
        let committed = committed(records);
        let acknowledged =
            events.iter().filter(|event| event.done <= at).filter_map(|event| event.ended).max();
        assert!(
            committed.len() as u64 >= acknowledged.unwrap_or(0),
            "{acknowledged:?} transactions had ended, {} are back: {config:?}",
            committed.len()
        );
        // In the plain map, the value of each key is initially its number, and committed transactions then
        // change it.
        let mut map: Vec<u32> = (0..config.keys as u32).collect();
        for record in records {
            if let Says::Update { transaction, key, values, .. } = record.says
                && committed.contains(&transaction)
            {
                assert_eq!(map[key as usize], values[0], "a transaction reads what was committed before");
                map[key as usize] = values[1];
            }
        }
        for (page, pairs) in device.pages.iter().enumerate().filter(|(page, _)| data[*page]) {
            for &(key, value) in pairs {
                assert_eq!(value, map[key as usize], "key {key} on page {page} at {at}: {config:?}");
            }
        }
        map.sort_unstable();
        assert!(map.into_iter().eq(0..config.keys as u32), "swaps lose no value");
    }
}

#[test]
fn a_power_failure_at_any_moment_loses_no_transaction_that_ended_and_no_half_of_one() {
    for threads in [1, 2, 5] {
        for pages in [1, 3, 9, 1_000] {
            for (checkpoint, writers) in [(None, 1), (Some(7), 1), (Some(40), 3)] {
                let config = |method| Config {
                    threads,
                    cache: Bytes(512 * pages),
                    checkpoint,
                    writers,
                    // The log holds 108 transactions, so it wraps around twice.
                    log: Bytes(64 << 10),
                    transactions: Some(250),
                    ..small(method)
                };
                let (table, tree) = (config(AccessMethod::Hash), config(AccessMethod::Btree));
                check(hash(&table), &table);
                check(btree(&tree), &tree);
            }
        }
    }
}
