//! Latencies of single requests that were measured with fio, read from a latency log of fio.
//!
//! # Model
//! With `--write_lat_log`, fio writes the files `*_clat.N.log` and `*_lat.N.log`. The lines of these files
//! have the form `time in ms, latency, direction, block size, ...`. Every sample is one of the logged
//! latencies, and all logged latencies have the same probability. The distribution therefore has exactly the
//! mean and the percentiles of the log.
//!
//! # Not modeled
//! - The order of the latencies: samples are independent.
//! - Queueing inside the measured device. Latencies that were measured at a queue depth above 1 include
//!   queueing, and the model would add queueing a second time. Measure with `iodepth=1`.
//! - Averaged logs. With `log_avg_msec`, fio writes one line with the average latency per time window, with
//!   block size 0. These averages vary less than the latencies of single requests, so Nacre rejects the log.
//!   Nacre also rejects logs of bandwidth, IOPS, and submission latency, which have different file names.
//!
//! # Sources
//! fio documentation, "Log File Formats".
//!
//! # Checks
//! The tests compare the mean and every sampled value with a small hand-written log.

mod parse;
#[cfg(test)]
mod tests;

use super::{Direction, Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Random, Time};

/// Latencies from a fio latency log.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Path of the file, relative to the scenario.
    pub file: String,
    /// Operation whose latencies are used.
    pub direction: Direction,
    /// Use only requests of this size.
    pub block: Option<Bytes>,
    /// Unit of the latencies in the log.
    #[config(
        default = "1 ns",
        min = "1 ps",
        source = "standard: fio 3.0 and newer log nanoseconds; older versions log microseconds"
    )]
    pub count: Time,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<LatencyFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "latency_log",
        "latencies measured with fio, one per request, from its log",
        &["fio documentation, Log File Formats"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let path = format!("{}.file", slot.path());
        if let Some(holds) = parse::other_log(&config.file) {
            let problem = format!("by its name, it is a log of {holds}");
            let problem = Problem::new(ErrorCode::InvalidContent, &path, None, problem);
            return Err(problem.given(&config.file).remedy("use the *_clat or *_lat log").into());
        }
        let text = builder.text_file(&path, &config.file)?;
        let latencies = parse::latencies(&text, &config).map_err(|error| {
            let mut problem =
                Problem::new(ErrorCode::InvalidContent, &path, None, error.problem).given(&config.file);
            if let Some(line) = error.line {
                problem = problem.data("line", line as u64);
            }
            problem.place = error.line.map_or_else(String::new, |line| format!("{}:{line}", config.file));
            problem.remedy(error.remedy)
        })?;
        let content = crc32fast::hash(text.as_bytes());
        Ok(Box::new(Logged { latencies, content, random: builder.random(slot.path()) }))
    },
};

#[derive(State)]
struct Logged {
    #[state(skip = "from the configuration")]
    latencies: Vec<Time>,
    /// Checksum of the log. A state cannot be restored with a different file.
    #[state(same)]
    content: u32,
    random: Random,
}

impl Latency for Logged {
    #[inline]
    fn draw(&mut self) -> Time {
        self.latencies[self.random.below(self.latencies.len() as u64) as usize]
    }

    fn mean_s(&self) -> f64 {
        let sum: u128 = self.latencies.iter().map(|latency| u128::from(latency.as_ps())).sum();
        sum as f64 / self.latencies.len() as f64 / 1e12
    }
}
