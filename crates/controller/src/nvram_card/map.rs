//! Address mapping to channels, ranks, banks, and rows.

use super::config::Config;
use crate::memory_scheduling::Access;
use nacre_media::dram::Location;

/// Maps addresses to locations. All sizes and counts are powers of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    /// Base-2 logarithm of the burst size in bytes.
    burst: u32,
    /// Base-2 logarithm of the size in bytes of a span within a bank.
    span: u32,
    /// Base-2 logarithm of the row size in bytes.
    row: u32,
    /// Base-2 logarithm of the number of bank groups that adjacent bursts use in turn.
    in_turn: u32,
    /// Base-2 logarithm of the number of channels.
    channels: u32,
    /// Base-2 logarithm of the number of bank groups that adjacent spans use in turn.
    groups: u32,
    /// Base-2 logarithm of the number of banks per bank group.
    banks: u32,
    /// Base-2 logarithm of the number of ranks.
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

    /// Channel and location of a span. If its bursts use several bank groups, the location is in the first of
    /// these groups.
    #[inline]
    fn location(&self, span: u64) -> (usize, Location) {
        let mut rest = span;
        let mut take = |bits: u32| {
            let part = rest & ((1 << bits) - 1);
            rest >>= bits;
            part as u32
        };
        let (channel, group, bank, rank) =
            (take(self.channels), take(self.groups), take(self.banks), take(self.ranks));
        let row = (rest >> (self.row - self.span)) as u32;
        (channel as usize, Location { rank, bank: (group << self.banks) | bank, row })
    }

    /// Returns the channel and the access for `bursts` bursts, starting at burst number `burst`. All these
    /// bursts must be in one span.
    #[inline]
    fn access(&self, burst: u64, bursts: u64) -> (usize, Access) {
        let (channel, mut location) = self.location(burst >> self.in_span());
        let groups = 1 << self.in_turn;
        if self.in_turn > 0 {
            location.bank |= (burst as u32 & (groups - 1)) << self.banks;
        }
        (channel, Access { location, groups: groups.min(bursts as u32), bursts })
    }

    /// Splits the range of `bytes` bytes at `address` along span boundaries. Calls `add` with the channel and
    /// access of each portion.
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

    /// Base-2 logarithm of the number of bursts per span.
    #[inline]
    fn in_span(&self) -> u32 {
        self.span - self.burst + self.in_turn
    }
}
