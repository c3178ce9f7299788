//! Sequential access in one or several streams.
//!
//! # Model
//! The footprint is divided into equal regions, one per stream. Every stream accesses its region from the
//! beginning in steps of `stride` bytes. A stream that reaches the end of its region restarts at the
//! beginning. With `wrap = "shift"`, every pass starts one request later, so that a stream with a stride
//! eventually accesses the whole region. The requests of the streams alternate. Backups, logs, and table
//! scans access storage in this way. If `stride` exceeds the request size, the pattern represents column
//! scans, or the accesses to one drive of a RAID.
//!
//! # Not modeled
//! The model omits streams with descending addresses. For streams with different rates or request sizes, use
//! a `mix`.
//!
//! # Sources
//! In fio, the corresponding options are `readwrite=read` or `readwrite=write` with `numjobs` and
//! `offset_increment`, and `zonemode=strided` for strides.
//!
//! # Checks
//! The tests check every address for one stream, for several streams, for strides, and for both settings of
//! `wrap`.

use super::{Pattern, PatternFamily, access::Access, area::Area, operations::Operations, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Choice, Configuration, Descriptor, Model, Problems, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Ranges, Request};

/// Sequential access.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Addresses and operations.
    #[config(flatten)]
    pub access: Access,
    /// Number of streams. The streams alternate, so all streams have the same number of requests.
    #[config(default = 1, min = 1, max = 1048576, source = "assumed: one reader or writer")]
    pub streams: u32,
    /// Distance in bytes between the starts of consecutive requests of a stream; a multiple of the request
    /// size. By default, requests are contiguous.
    #[config(min = "1 B")]
    pub stride: Option<Bytes>,
    /// Position at which a stream continues after the end of its region.
    #[config(default = "restart", source = "assumed: a log or a scan that is repeated")]
    pub wrap: Wrap,
}

/// Position at which a stream continues after the end of its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Wrap {
    /// The stream continues at the start of the region.
    Restart,
    /// The stream continues one request after the start of the previous pass, so that the whole region is
    /// accessed eventually.
    Shift,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let blocks = config.access.blocks();
    if !blocks.is_multiple_of(u64::from(config.streams)) || blocks == 0 {
        reader.conflict(
            "streams",
            &config.streams.to_string(),
            &format!("the footprint has {blocks} requests, which is not a multiple of the number of streams"),
            "change streams or footprint",
        );
    }
    if let Some(stride) = config.stride.filter(|stride| !stride.0.is_multiple_of(config.access.request.0)) {
        reader.conflict(
            "stride",
            &stride.to_string(),
            &format!("it is not a whole number of requests of {}", config.access.request),
            "use a multiple of request",
        );
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("sequential", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>(
        "sequential",
        SUMMARY,
        SOURCES,
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "sequential access in one stream or in several alternating streams";
const SOURCES: &[&str] = &["fio"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let area = config.access.area();
    Ok(Box::new(Sequential {
        region: area.blocks() / u64::from(config.streams),
        streams: u64::from(config.streams),
        stride: config.stride.map_or(1, |stride| stride.0 / config.access.request.0),
        wrap: config.wrap,
        stream: 0,
        began: 0,
        position: 0,
        operations: config.access.operations(path, builder),
        area,
    }))
}

/// State of the pattern. Streams alternate, so all streams are at the same position in their regions.
/// Positions are in blocks.
#[derive(State)]
#[state(after = "Sequential::check_restored")]
struct Sequential {
    #[state(skip = "from the configuration")]
    area: Area,
    operations: Operations,
    /// Number of blocks per stream.
    #[state(same)]
    region: u64,
    #[state(same)]
    streams: u64,
    #[state(skip = "from the configuration")]
    stride: u64,
    #[state(skip = "from the configuration")]
    wrap: Wrap,
    /// Stream of the next request.
    stream: u64,
    /// Start position of the current pass of the streams.
    began: u64,
    position: u64,
}

impl Sequential {
    fn check_restored(&mut self) -> Result<(), String> {
        match self.stream < self.streams && self.position < self.region && self.began < self.region {
            true => Ok(()),
            false => Err(format!("stream {} at block {} of {}", self.stream, self.position, self.region)),
        }
    }

    #[inline]
    fn next(&mut self) -> Request {
        let block = self.stream * self.region + self.position;
        let request = self.area.request(block, self.operations.next());
        self.stream += 1;
        if self.stream == self.streams {
            self.stream = 0;
            self.position = match self.position.checked_add(self.stride) {
                Some(position) if position < self.region => position,
                _ => self.start_over(),
            };
        }
        request
    }

    fn start_over(&mut self) -> u64 {
        if self.wrap == Wrap::Shift {
            // After one full stride, the start positions repeat.
            self.began = (self.began + 1) % self.stride.min(self.region);
        }
        self.began
    }
}

impl Pattern for Sequential {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        batch.extend((0..count).map(|_| self.next()));
    }

    fn reach(&self) -> u64 {
        self.area.end()
    }

    fn footprint(&self, bytes: &mut Ranges) {
        bytes.insert(self.area.range());
    }

    fn units_per_request(&self, unit: u64) -> Option<u64> {
        Some(self.area.units_per_request(unit))
    }
}

#[cfg(test)]
mod tests;
