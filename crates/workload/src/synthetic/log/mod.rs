//! A log: zones are written sequentially, and each zone is trimmed before it is written.
//!
//! # Model
//! The footprint is a ring of zones. Before a zone is written, the whole zone is trimmed. On a device with
//! zones, the trim resets the zone. The zone is then written sequentially from its beginning to its end.
//! After the last zone, the log continues with the first zone. With `open_zones` = n, n consecutive zones
//! are written at the same time, and the requests to these zones alternate. Each read accesses a randomly
//! selected earlier write whose data is still in the log. All these writes have the same probability. The
//! pattern represents the logs of databases and log-structured file systems. It also represents key-value stores
//! that discard their segments in write order. For several logs with different rates, use `tenants`.
//!
//! # Not modeled
//! - Copies of valid data before a zone is reset. In this model, no data of a zone is valid when the zone is
//!   reset.
//! - Zones that the host finishes before they are full.
//!
//! # Sources
//! The file system of rosenblum-1992 writes whole segments. With `zonemode=zbd`, fio writes zones in order
//! and resets them.
//!
//! # Checks
//! The tests check every address and operation, including those after the log returns to its first zone.
//! Reads are within the log and cover the whole log.

use super::{Pattern, PatternFamily, area::Area, operations::Operations, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Op, Random, Ranges, Ratio, Request};

/// A circular log of zones that are written in order.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Size of the address space used, in bytes; a multiple of the zone size, at least two zones.
    #[config(min = "2 B", max = "4096 PiB")]
    pub footprint: Bytes,
    /// First address used.
    #[config(default = "0 B", max = "4096 PiB", source = "assumed: from the beginning")]
    pub start: Bytes,
    /// Zone size in bytes; a multiple of the request size. A zoned device must have the same zone size.
    #[config(min = "1 B", max = "4095 MiB")]
    pub zone: Bytes,
    /// Number of zones that are written at the same time, with alternating requests; a divisor of the number
    /// of zones.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: a log fills one zone after the other")]
    pub open_zones: u32,
    /// Size of a read or write in bytes.
    #[config(default = "4 KiB", min = "1 B", max = "1 GiB", source = "assumed: the page of most hosts")]
    pub request: Bytes,
    /// Fraction of requests that read data in the log. The first request is always a write.
    #[config(default = "0 %", max = "99 %", source = "assumed: a write-only log")]
    pub read_share: Ratio,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let Config { footprint, zone, open_zones, request, .. } = config;
    if !zone.0.is_multiple_of(request.0) {
        let remedy = "use a multiple of request";
        let problem = format!("it is not a whole number of requests of {request}");
        reader.conflict("zone", &zone.to_string(), &problem, remedy);
    }
    if !footprint.0.is_multiple_of(zone.0) || footprint.0 < 2 * zone.0 {
        let zones = (footprint.0 / zone.0).max(2);
        let problem = format!("it is not a whole number of zones of {zone}, at least two");
        let remedy = format!("use {}, or another size of zone", Bytes(zones.saturating_mul(zone.0)));
        return reader.conflict("footprint", &footprint.to_string(), &problem, &remedy);
    }
    let zones = footprint.0 / zone.0;
    if !zones.is_multiple_of(u64::from(*open_zones)) {
        let problem = format!("the footprint has {zones} zones, which is not a multiple");
        let remedy = "use a divisor of the number of zones, or another footprint";
        reader.conflict("open_zones", &open_zones.to_string(), &problem, remedy);
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("log", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>("log", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "writes zones sequentially, and trims each zone before writing it";
const SOURCES: &[&str] = &["rosenblum-1992", "fio"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let random = builder.random(&format!("{path}.operations"));
    Ok(Box::new(Log {
        zone: config.zone.0 / config.request.0,
        open_zones: u64::from(config.open_zones),
        zone_bytes: u32::try_from(config.zone.0).expect("a zone is smaller than 4 GiB"),
        area: Area::new(config.start, config.footprint, config.request),
        operations: Operations::new(config.read_share, Ratio(0.0), random),
        random: builder.random(path),
        position: 0,
        is_reset: false,
        has_wrapped: false,
    }))
}

/// State of the log. A position is the number of requests written since the start of the round.
#[derive(State)]
#[state(after = "Log::check_restored")]
struct Log {
    #[state(skip = "from the configuration")]
    area: Area,
    /// Number of requests that fill a zone.
    #[state(same)]
    zone: u64,
    /// Number of zones that are written at the same time.
    #[state(same)]
    open_zones: u64,
    #[state(skip = "from the configuration")]
    zone_bytes: u32,
    operations: Operations,
    random: Random,
    /// Position of the next write.
    position: u64,
    /// Whether the zone of the next write is already trimmed.
    is_reset: bool,
    /// Whether the log has reached its last zone and started again.
    has_wrapped: bool,
}

impl Log {
    fn check_restored(&mut self) -> Result<(), String> {
        match self.position < self.area.blocks() {
            true => Ok(()),
            false => Err(format!("the log is at request {} of {}", self.position, self.area.blocks())),
        }
    }

    #[inline]
    fn next(&mut self) -> Request {
        if self.operations.next() == Op::Read
            && let Some(block) = self.held()
        {
            return self.area.request(block, Op::Read);
        }
        let block = self.block_at(self.position);
        if block.is_multiple_of(self.zone) && !self.is_reset {
            self.is_reset = true;
            return Request { bytes: self.zone_bytes, ..self.area.request(block, Op::Trim) };
        }
        let request = self.area.request(block, Op::Write);
        self.is_reset = false;
        self.position += 1;
        if self.position == self.area.blocks() {
            (self.position, self.has_wrapped) = (0, true);
        }
        request
    }

    /// The block that is written at `position`. The requests alternate between the zones that are written
    /// at the same time.
    fn block_at(&self, position: u64) -> u64 {
        let group = self.zone * self.open_zones;
        let (first, within) = (position / group * group, position % group);
        first + within % self.open_zones * self.zone + within / self.open_zones
    }

    /// A random block that holds data of the log: written in this round, or in a zone that this round has not
    /// reached yet. `None` if the log holds no data.
    fn held(&mut self) -> Option<u64> {
        let group = self.zone * self.open_zones;
        let is_begun = self.is_reset || !self.position.is_multiple_of(group);
        // The data of the previous round is trimmed up to this position.
        let gone = if is_begun { self.position / group * group + group } else { self.position };
        let older = if self.has_wrapped { self.area.blocks() - gone } else { 0 };
        let held = self.position + older;
        let drawn = if held > 0 { self.random.below(held) } else { return None };
        let position = if drawn < self.position { drawn } else { gone + drawn - self.position };
        Some(self.block_at(position))
    }
}

impl Pattern for Log {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        batch.extend((0..count).map(|_| self.next()));
    }

    fn reach(&self) -> u64 {
        self.area.end()
    }

    fn footprint(&self, bytes: &mut Ranges) {
        bytes.insert(self.area.range());
    }
}

#[cfg(test)]
mod tests;
