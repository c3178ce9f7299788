//! The memory: where bytes lie in channels, ranks, banks and rows.

use super::channel::{MemoryChannel, Served};
use super::config::Config;
use crate::memory_scheduling::{Access, MemoryScheduler};
use nacre_kernel::Time;
use nacre_kernel::state::State;
use nacre_media::dram::Place;

/// All channels.
#[derive(State)]
pub(super) struct Memory {
    #[state(skip = "from the configuration")]
    map: Map,
    pub(super) channels: Vec<MemoryChannel>,
    /// Accesses of the piece that is being served, by channel.
    #[state(skip = "of no meaning between two requests")]
    accesses: Vec<Vec<Access>>,
}

/// How an address becomes a place. All sizes and counts are powers of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    /// Bytes of a burst, of a span within a bank, and of a row, as shifts.
    burst: u32,
    span: u32,
    row: u32,
    /// Groups that neighbouring bursts take in turn, as a shift.
    in_turn: u32,
    /// Channels, groups that spans take in turn, banks of a group, ranks, as shifts.
    channels: u32,
    groups: u32,
    banks: u32,
    ranks: u32,
}

impl Map {
    pub(super) fn new(config: &Config) -> Map {
        let groups = config.part.groups.trailing_zeros();
        let in_turn = if config.interleave_groups { groups } else { 0 };
        Map {
            burst: config.burst_bytes().trailing_zeros(),
            span: config.span().trailing_zeros(),
            row: config.row_bytes().trailing_zeros(),
            in_turn,
            channels: config.channels.trailing_zeros(),
            groups: groups - in_turn,
            banks: config.part.banks.trailing_zeros(),
            ranks: config.ranks.trailing_zeros(),
        }
    }

    /// The channel and the place of a span, in the first of the groups that its bursts take in turn.
    #[inline]
    fn place(&self, span: u64) -> (usize, Place) {
        let mut rest = span;
        let mut take = |bits: u32| {
            let part = rest & ((1 << bits) - 1);
            rest >>= bits;
            part as u32
        };
        let (channel, group, bank, rank) =
            (take(self.channels), take(self.groups), take(self.banks), take(self.ranks));
        let row = (rest >> (self.row - self.span)) as u32;
        (channel as usize, Place { rank, bank: (group << self.banks) | bank, row })
    }

    /// The channel of `bursts` from number `burst` on, which lie in one span, and how they are accessed.
    #[inline]
    fn access(&self, burst: u64, bursts: u64) -> (usize, Access) {
        let (channel, mut place) = self.place(burst >> self.in_span());
        let groups = 1 << self.in_turn;
        if self.in_turn > 0 {
            place.bank |= (burst as u32 & (groups - 1)) << self.banks;
        }
        (channel, Access { place, groups: groups.min(bursts as u32), bursts })
    }

    /// Calls `add` for each channel and access of `bytes` from `address` on.
    #[inline]
    pub(super) fn split(&self, address: u64, bytes: u64, mut add: impl FnMut(usize, Access)) {
        let (first, last) = (address >> self.burst, (address + bytes - 1) >> self.burst);
        let in_span = self.in_span();
        let mut burst = first;
        while burst <= last {
            let end = (((burst >> in_span) + 1) << in_span).min(last + 1);
            let (channel, access) = self.access(burst, end - burst);
            add(channel, access);
            burst = end;
        }
    }

    /// Bursts of a span, as a shift.
    #[inline]
    fn in_span(&self) -> u32 {
        self.span - self.burst + self.in_turn
    }
}

impl Memory {
    pub(super) fn new(config: &Config, schedulers: Vec<Box<dyn MemoryScheduler>>) -> Memory {
        let channels: Vec<_> =
            schedulers.into_iter().map(|scheduler| MemoryChannel::new(config, scheduler)).collect();
        Memory { map: Map::new(config), accesses: vec![Vec::new(); channels.len()], channels }
    }

    /// Reads or writes `bytes` from `address` on, from `at` on.
    #[inline]
    pub(super) fn serve(&mut self, at: Time, address: u64, bytes: u64, is_write: bool) -> Served {
        let all = &mut self.accesses;
        self.map.split(address, bytes, |channel, access| all[channel].push(access));
        let mut all: Option<Served> = None;
        for (channel, accesses) in self.channels.iter_mut().zip(&mut self.accesses) {
            if !accesses.is_empty() {
                let served = channel.serve(at, accesses, is_write);
                accesses.clear();
                all = Some(all.map_or(served, |all| Served {
                    begun: all.begun.min(served.begun),
                    done: all.done.max(served.done),
                    closed: all.closed.max(served.closed),
                    alone: if served.done > all.done { served.alone } else { all.alone },
                    first: if served.done > all.done { served.first } else { all.first },
                }));
            }
        }
        all.expect("a piece has bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_spans_lie_in_neighbouring_channels_groups_banks_and_ranks() {
        let map = Map { burst: 6, span: 9, row: 10, in_turn: 0, channels: 1, groups: 1, banks: 1, ranks: 1 };
        let place = |span| {
            let (channel, Place { rank, bank, row }) = map.place(span);
            (channel, rank, bank, row)
        };
        let found: Vec<_> = (0..5).map(place).collect();
        assert_eq!(found, [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 2, 0), (1, 0, 2, 0), (0, 0, 1, 0)]);
        // After all 16 banks the same row goes on, and then the next begins.
        assert_eq!([place(8), place(16), place(32)], [(0, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 1)]);
        let mut places: Vec<_> = (0..256).map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 128, "two spans to a row");
    }
    #[test]
    fn neighbouring_bursts_take_the_groups_in_turn() {
        let map = Map { burst: 6, span: 9, row: 10, in_turn: 2, channels: 1, groups: 0, banks: 1, ranks: 0 };
        let access = |burst, bursts| map.access(burst, bursts);
        let at = |bank, row| Place { rank: 0, bank, row };
        // Eight bursts in each of four groups, then the other channel, the other bank, and the rest of the row.
        assert_eq!(access(0, 32), (0, Access { place: at(0, 0), groups: 4, bursts: 32 }));
        assert_eq!(access(3, 2), (0, Access { place: at(6, 0), groups: 2, bursts: 2 }));
        assert_eq!(access(32, 1), (1, Access { place: at(0, 0), groups: 1, bursts: 1 }));
        assert_eq!(access(65, 1), (0, Access { place: at(3, 0), groups: 1, bursts: 1 }));
        let mut places: Vec<_> = (0..512)
            .map(|burst| {
                let (channel, Access { place: Place { bank, row, .. }, .. }) = access(burst, 1);
                (channel, bank, row)
            })
            .collect();
        places.sort_unstable();
        assert!(places.chunk_by(|a, b| a == b).all(|bursts| bursts.len() == 16), "16 bursts of a row");
        assert_eq!(places.chunk_by(|a, b| a == b).count(), 32);
    }
}
