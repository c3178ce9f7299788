//! Reference model of Linux mq-deadline, implemented from its description. It has one list of waiting
//! requests and searches this list for each decision.

use super::arrivals::Waiting;
use super::disk::on_arm;
use super::queue;
use super::{Load, Visit};
use nacre_kernel::{Op, Request, Time};
use nacre_media::disk::Disk;

/// Deadlines and batch limits.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// Time from the arrival of a read to its deadline.
    pub read_expire: Time,
    /// Time from the arrival of a write to its deadline.
    pub write_expire: Time,
    /// Maximum number of requests per batch.
    pub batch: u32,
    /// Number of read batches that may start while writes wait.
    pub starved: u32,
}

/// Simulates mq-deadline in front of a disk that has no cache and processes one request at a time.
#[must_use]
pub fn disk(disk: &Disk, deadlines: Deadlines, requests: &[Request], load: Load<'_>) -> Vec<Visit> {
    let mut scheduler = Scheduler::new(deadlines, requests);
    on_arm(disk, requests, load, |_, now, waiting| scheduler.choose(now, waiting))
}

/// Simulates mq-deadline in front of `servers` identical servers. Each request takes `service`.
#[must_use]
pub fn servers(
    servers: usize,
    service: Time,
    deadlines: Deadlines,
    requests: &[Request],
    load: Load<'_>,
) -> Vec<Visit> {
    let mut scheduler = Scheduler::new(deadlines, requests);
    queue::serve(servers, &vec![service; requests.len()], load, |now, waiting| scheduler.choose(now, waiting))
}

struct Scheduler<'a> {
    deadlines: Deadlines,
    requests: &'a [Request],
    /// Whether the current batch consists of writes.
    is_write: bool,
    in_batch: u32,
    /// Number of read batches that started while writes waited.
    starved: u32,
    /// Addresses of the last read and of the last write that were served.
    last: [u64; 2],
}

impl Scheduler<'_> {
    fn new(deadlines: Deadlines, requests: &[Request]) -> Scheduler<'_> {
        Scheduler { deadlines, requests, is_write: false, in_batch: 0, starved: 0, last: [0; 2] }
    }

    fn is_write(&self, waiting: &Waiting) -> bool {
        self.requests[waiting.request].op == Op::Write
    }

    fn choose(&mut self, now: Time, waiting: &[Waiting]) -> usize {
        let position = match self.higher(waiting) {
            Some(next) if self.in_batch < self.deadlines.batch => next,
            _ => self.begin(now, waiting),
        };
        self.in_batch += 1;
        self.last[usize::from(self.is_write)] = self.requests[waiting[position].request].address;
        position
    }

    /// Returns the index of the next waiting request of the current direction (read or write), if any. Its
    /// address is the lowest one that is not below the last address served in this direction.
    fn higher(&self, waiting: &[Waiting]) -> Option<usize> {
        let last = self.last[usize::from(self.is_write)];
        let address = |position: &usize| self.requests[waiting[*position].request].address;
        // `min_by_key` returns the first of equal requests, which is the oldest.
        (0..waiting.len())
            .filter(|position| {
                self.is_write(&waiting[*position]) == self.is_write && address(position) >= last
            })
            .min_by_key(address)
    }

    /// Selects the first request of a new batch.
    fn begin(&mut self, now: Time, waiting: &[Waiting]) -> usize {
        let oldest = |is_write| waiting.iter().position(|of| self.is_write(of) == is_write);
        let (is_write, first) = match (oldest(false), oldest(true)) {
            (Some(read), None) => (false, read),
            (None, Some(write)) => (true, write),
            (Some(_), Some(write)) if self.starved >= self.deadlines.starved => (true, write),
            (Some(read), Some(_)) => (false, read),
            (None, None) => unreachable!("a request waits"),
        };
        if is_write {
            self.starved = 0;
        } else if oldest(true).is_some() {
            self.starved += 1;
        }
        (self.is_write, self.in_batch) = (is_write, 0);
        let Deadlines { read_expire, write_expire, .. } = self.deadlines;
        let deadline = waiting[first].arrived + if is_write { write_expire } else { read_expire };
        if now >= deadline { first } else { self.higher(waiting).unwrap_or(first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the completion times in milliseconds of the requests `of`, given by operation and address.
    /// All requests arrive simultaneously and take 1 ms each.
    fn done_ms(read_expire_ms: u64, of: &[(Op, u64)]) -> Vec<u64> {
        let requests: Vec<Request> =
            of.iter().map(|&(op, address)| Request { address, op, ..Request::default() }).collect();
        let (read_expire, write_expire) = (Time::from_ms(read_expire_ms), Time::from_s(5));
        let deadlines = Deadlines { read_expire, write_expire, batch: 2, starved: 1 };
        let times = vec![Time::ZERO; of.len()];
        let visits = servers(1, Time::from_ms(1), deadlines, &requests, Load::Open(&times));
        visits.iter().map(|visit| visit.done.as_ps() / Time::from_ms(1).as_ps()).collect()
    }

    #[test]
    fn batches_by_hand() {
        use Op::{Read, Write};
        // Two batches of reads in ascending order are served first. The second batch passes over the writes.
        // Then the writes are served in ascending order.
        let of = [(Read, 30), (Read, 10), (Read, 20), (Read, 40), (Write, 5), (Write, 1)];
        assert_eq!(done_ms(500, &of), [3, 1, 2, 4, 6, 5]);
        // After the first batch, the deadline of the oldest read has passed, and no waiting read has a higher
        // address.
        let of = [(Read, 40), (Read, 10), (Read, 20), (Read, 30)];
        assert_eq!(done_ms(500, &of), [4, 1, 2, 3]);
        assert_eq!(done_ms(2, &of), [3, 1, 2, 4]);
    }
}
