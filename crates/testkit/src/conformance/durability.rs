//! Tests of durability across power losses. Every word of every sector is checked after each power loss.

use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Persistence, Random, Request, Status, Streams, Time};
use std::collections::BTreeMap;

/// Size of a sector in bytes, the unit of writes.
const SECTOR: usize = 4096;
/// Size of a word in bytes. No guarantee has a smaller granularity.
const WORD: usize = 8;
/// Number of sectors that are written.
const SECTORS: u64 = 48;
/// Number of power losses per device.
const LOSSES: u64 = 60;

/// Panics unless the device from `build` holds its guarantees across power losses. After the completion of
/// a write, or of a flush that follows it, each word contains that write or a later one, and units of
/// [`atomic_unit`](nacre_kernel::Capabilities::atomic_unit) are never torn. The device must store data and
/// must not depend on stored energy.
///
/// `pause` is the maximum time between two requests.
pub fn durability(pause: Time, mut build: impl FnMut() -> Box<dyn Device>) {
    for seed in 0..3 {
        let mut device = build();
        let mut check = Check::new(&*device, seed);
        for _ in 0..LOSSES {
            for _ in 0..check.random.below(50) {
                check.ask(&mut *device, pause);
            }
            check.lose_power(&mut *device, pause);
        }
    }
}

/// State of a sector as known to the host.
#[derive(Clone, Debug, Default)]
struct Sector {
    /// Content of each word after the last power loss.
    words: Vec<u64>,
    /// Writes after the last power loss, in order. Each write was submitted after the completion of the
    /// previous one.
    writes: Vec<Write>,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    tag: u64,
    has_completed: bool,
    is_durable: bool,
}

#[derive(Clone, Debug)]
enum Pending {
    Write(u64),
    /// A flush, with the tags of the writes that had completed when it was submitted.
    Flush(Vec<u64>),
}

struct Check {
    random: Random,
    persistence: Persistence,
    atomic_words: usize,
    now: Time,
    tags: u64,
    ids: u32,
    outstanding: BTreeMap<u32, Pending>,
    sectors: Vec<Sector>,
    completions: Completions,
}

impl Check {
    fn new(device: &dyn Device, seed: u64) -> Check {
        let capabilities = device.capabilities();
        assert!(capabilities.carries_bytes, "only a device with bytes can lose some");
        Check {
            random: Streams::new(seed).stream("durability"),
            persistence: capabilities.persistence,
            atomic_words: (capabilities.atomic_unit as usize / WORD).clamp(1, SECTOR / WORD),
            now: Time::ZERO,
            tags: 0,
            ids: 0,
            outstanding: BTreeMap::new(),
            sectors: vec![Sector { words: vec![0; SECTOR / WORD], writes: Vec::new() }; SECTORS as usize],
            completions: Completions::new(),
        }
    }

    /// Submits a write to a sector that no outstanding write accesses, or submits a flush.
    fn ask(&mut self, device: &mut dyn Device, pause: Time) {
        let at = self.now + Time::from_ps(self.random.below(pause.as_ps()));
        self.run(device, at);
        self.ids += 1;
        let id = self.ids;
        if self.random.chance(0.1) {
            let request = Request { op: Op::Flush, ..Request::default() };
            let writes = self.sectors.iter().flat_map(|sector| &sector.writes);
            let covered = writes.filter(|write| write.has_completed).map(|write| write.tag).collect();
            self.outstanding.insert(id, Pending::Flush(covered));
            return device.submit(at, RequestId(id), &request, Payload::NONE);
        }
        let sector = self.random.below(SECTORS);
        let of = &mut self.sectors[sector as usize];
        if of.writes.last().is_some_and(|write| !write.has_completed) {
            return;
        }
        self.tags += 1;
        of.writes.push(Write { tag: self.tags, has_completed: false, is_durable: false });
        let bytes: Vec<u8> = self.tags.to_le_bytes().repeat(SECTOR / WORD);
        let address = sector * SECTOR as u64;
        let request = Request { arrival: at, address, bytes: SECTOR as u32, volume: 0, op: Op::Write };
        self.outstanding.insert(id, Pending::Write(sector));
        device.submit(at, RequestId(id), &request, bytes.into());
    }

    fn run(&mut self, device: &mut dyn Device, until: Time) {
        loop {
            self.completions.clear();
            device.run(until, &mut self.completions);
            if self.completions.is_empty() {
                self.now = until;
                return;
            }
            for completed in self.completions.iter() {
                assert_eq!(completed.status, Status::Done);
                match self.outstanding.remove(&completed.id.0).expect("it is outstanding") {
                    Pending::Write(sector) => {
                        let write = self.sectors[sector as usize].writes.last_mut().expect("it was written");
                        write.has_completed = true;
                        write.is_durable = !self.persistence.needs_flush();
                    }
                    Pending::Flush(covered) => {
                        let writes = self.sectors.iter_mut().flat_map(|sector| &mut sector.writes);
                        writes
                            .filter(|write| covered.contains(&write.tag))
                            .for_each(|write| write.is_durable = true);
                    }
                }
            }
        }
    }

    /// Cuts power at an event or between two events, recovers the device, and reads every sector.
    fn lose_power(&mut self, device: &mut dyn Device, pause: Time) {
        let next = device.next_event();
        let at = match next < Time::MAX && self.random.chance(0.5) {
            true => next.max(self.now),
            false => self.now + Time::from_ps(self.random.below(pause.as_ps())),
        };
        self.run(device, at);
        device.power_fail(at, &mut self.random);
        self.outstanding.clear();
        self.now = device.recover(at).done.max(at);
        for sector in 0..SECTORS {
            self.ids += 1;
            let (address, bytes) = (sector * SECTOR as u64, SECTOR as u32);
            let request = Request { arrival: self.now, address, bytes, volume: 0, op: Op::Read };
            device.submit(self.now, RequestId(self.ids), &request, Payload::NONE);
            self.completions.clear();
            device.run(Time::MAX, &mut self.completions);
            let (completed, _) = self.completions.get(0);
            self.now = completed.at;
            let bytes = completed.data.bytes().expect("a read returns bytes").to_vec();
            let words = bytes.chunks(WORD).map(|word| u64::from_le_bytes(word.try_into().expect("a word")));
            self.check_sector(sector, words.collect());
        }
    }

    fn check_sector(&mut self, sector: u64, found: Vec<u64>) {
        let of = &mut self.sectors[sector as usize];
        let durable = of.writes.iter().rposition(|write| write.is_durable);
        for (index, &word) in found.iter().enumerate() {
            let is_later = of.writes[durable.unwrap_or(0)..].iter().any(|write| write.tag == word);
            let is_old = durable.is_none() && word == of.words[index];
            assert!(is_later || is_old, "word {index} of sector {sector} is {word}: {:?}", of.writes);
        }
        for (unit, old) in found.chunks(self.atomic_words).zip(of.words.chunks(self.atomic_words)) {
            let is_new = unit.iter().all(|&word| word == unit[0]);
            assert!(is_new || unit == old, "a unit of sector {sector} is mixed: {unit:?}");
        }
        *of = Sector { words: found, writes: Vec::new() };
    }
}
