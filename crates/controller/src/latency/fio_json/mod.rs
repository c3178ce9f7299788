//! A latency distribution that was measured with fio, read from the JSON output of fio.
//!
//! # Model
//! With `--output-format=json+`, fio writes every histogram bin of the completion latencies
//! (`clat_ns.bins`). For each sample, a bin is selected with a probability proportional to its count. The
//! sample is the middle of the bin, which is within 1 % of any latency in the bin. With
//! `--output-format=json`, fio writes only percentiles. In this case, the distribution function is linear
//! between the minimum, the percentiles, and the maximum. The mean of the samples is the mean of this
//! distribution and may differ from the mean that fio prints.
//!
//! # Not modeled
//! - The order of the latencies: samples are independent.
//! - Queueing inside the measured device. Latencies that were measured at a queue depth above 1 include
//!   queueing, and the model would add queueing a second time. Nacre therefore rejects a job with more than
//!   `depth` outstanding requests (by default, one). Nacre calculates the number of outstanding requests from
//!   `iodepth`, `iodepth_level`, and `numjobs`. With a higher `depth`, the latencies are used without
//!   correction. In this case, set the `parallelism` of the device to the same value.
//!
//! # Sources
//! fio documentation, "JSON output" and "JSON+ output"; fio `stat.c`, `plat_idx_to_val`.
//!
//! # Checks
//! The tests compare the share of each bin and the mean of the samples with the counts in a file.

mod parse;
#[cfg(test)]
mod tests;

use super::inverse::Inverse;
use super::{Direction, Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Time};

/// A latency distribution from fio's JSON output.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Path of the file, relative to the scenario.
    pub file: String,
    /// Name of the job. Optional for a file with one job.
    pub job: Option<String>,
    /// Operation whose latencies are used.
    pub direction: Direction,
    /// Number of outstanding requests during the measurement. A file with more outstanding requests is
    /// rejected.
    #[config(default = 1, min = 1, max = 65536, source = "standard: a service time is measured at depth 1")]
    pub depth: u32,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<LatencyFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "fio_json",
        "latencies measured with fio, from its JSON output",
        &["fio documentation, JSON output"],
        2,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let path = format!("{}.file", slot.path());
        let text = builder.text_file(&path, &config.file)?;
        let (job, direction) = (config.job.as_deref(), config.direction);
        let pieces = parse::pieces(&text, job, direction, config.depth).map_err(|error| {
            Problem::new(ErrorCode::InvalidContent, &path, None, error.problem)
                .given(&config.file)
                .remedy(error.remedy)
        })?;
        let content = crc32fast::hash(text.as_bytes());
        Ok(Box::new(FioJson { inverse: Inverse::new(&pieces), content, random: builder.random(slot.path()) }))
    },
};

#[derive(State)]
struct FioJson {
    #[state(skip = "from the configuration")]
    inverse: Inverse,
    /// Checksum of the output. A state cannot be restored with a different file.
    #[state(same)]
    content: u32,
    random: Random,
}

impl Latency for FioJson {
    #[inline]
    fn draw(&mut self) -> Time {
        self.inverse.at(self.random.unit())
    }

    fn mean_s(&self) -> f64 {
        self.inverse.mean_s()
    }
}
