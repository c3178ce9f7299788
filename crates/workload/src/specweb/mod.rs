//! SPECweb99: a web server that reads and sends files.
//!
//! # Model
//! A directory has 36 files, nine in each of four classes. The file sizes of the classes are n times 102.4
//! B, 1 KiB, 10 KiB, and 100 KiB, for n from 1 to 9. The directory of a request is selected according to
//! Zipf's law with the exponent `theta`. The probabilities of the classes are 35 %, 50 %, 14 %, and 1 %.
//! The nine files of a class also have fixed probabilities. Files are stored contiguously, and each file is
//! aligned to a block. The directories are stored in random order.
//!
//! The server reads a file sequentially in requests of at most `read` bytes and then sends the file. For the
//! fraction `logged` of the requests, the server also appends a block to a log. `request` is the CPU time per
//! request, and `send` is the CPU time per 64 KiB sent. The unit of work is a reply.
//!
//! # Not modeled
//! The model omits connections. Dynamic content is represented only by CPU time and log writes. The network
//! is assumed to be faster than the server and the storage, so the model omits it.
//!
//! # Sources
//! Classes, sizes, and probabilities are from specweb99. The probabilities of the files in a class and Zipf's
//! law for directories are cited from memory. In roberts-2009, this benchmark is used with settings that the
//! paper does not state.
//!
//! # Checks
//! The request counts of all files pass a chi-square test. The mean size of a reply equals the sum of size
//! times probability over all files. All addresses are within the address space of the workload, and files
//! do not overlap.

#[cfg(test)]
mod tests;

use crate::server::{Clients, Script, Server, ServiceStep};
use crate::synthetic::ranks::Ranks;
use crate::{Workload, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Random, Ratio, Time};

/// Number of files in a class.
const FILES: usize = 9;
/// Probability of each class, and size of its first file in tenths of a byte.
const CLASSES: [(f64, u64); 4] = [(0.35, 1_024), (0.50, 10_240), (0.14, 102_400), (0.01, 1_024_000)];
/// Probability of each file of a class.
const POPULARITY: [f64; FILES] = [0.039, 0.059, 0.088, 0.177, 0.353, 0.118, 0.071, 0.050, 0.045];
/// Alignment of files in bytes.
const BLOCK: u64 = 2048;
/// Number of sent bytes to which the CPU time `send` applies.
const SENT: u64 = 64 << 10;

/// SPECweb99, with the files of a web server.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Clients and processors of the server.
    #[config(flatten)]
    pub server: Server,
    /// Total number of replies. By default, settings of the run limit its length.
    #[config(min = 1)]
    pub answers: Option<u64>,
    /// Number of directories. A directory takes about 5 MB.
    #[config(default = 360, min = 1, max = 1000000, source = "assumed: 1.8 GB, from memory of kgil-2008")]
    pub directories: u64,
    /// Exponent of Zipf's law for directories.
    #[config(default = 1.0, min = 0, max = 10, source = "assumed: from memory of SPECweb99")]
    pub theta: f64,
    /// Maximum size of a file read in bytes.
    #[config(
        default = "64 KiB",
        min = "2 KiB",
        max = "1 MiB",
        source = "assumed: half of Linux's largest read-ahead"
    )]
    pub read: Bytes,
    /// Fraction of requests that also append to a log.
    #[config(
        default = "5 %",
        max = "100 %",
        source = "assumed: 30 % of the requests are dynamic, and 16 % of these are posts"
    )]
    pub logged: Ratio,
    /// CPU time per request.
    #[config(
        default = "500 us",
        max = "1 s",
        source = "assumed: half a million instructions of a simple core at 1 GHz"
    )]
    pub request: Time,
    /// CPU time per 64 KiB sent.
    #[config(
        default = "200 us",
        max = "1 s",
        source = "assumed: a few instructions per byte for checksums and copies"
    )]
    pub send: Time,
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "specweb",
        "SPECweb99: requests for files of a web server, with directories selected by Zipf's law",
        &["specweb99", "roberts-2009"],
        2,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let random = builder.random(slot.path());
        let (server, limit) = (config.server.clone(), config.answers);
        let script = Files::new(config, random, builder.placement(&format!("{}.order", slot.path())));
        Ok(Box::new(Clients::new(script, server, limit)) as Box<dyn Workload>)
    },
};

/// Generator of requests for random files.
#[derive(State)]
struct Files {
    #[state(skip = "from the configuration")]
    config: Config,
    #[state(skip = "from the configuration")]
    ranks: Ranks,
    /// Number of the directory for each rank of popularity.
    #[state(skip = "drawn from the seed")]
    order: Vec<u32>,
    /// Offset of each file in its directory, by class and number.
    #[state(skip = "from the configuration")]
    starts: [[u64; FILES]; 4],
    /// Size of a directory in bytes.
    #[state(skip = "from the configuration")]
    directory: u64,
    random: Random,
    logged: u64,
}

/// Size in bytes of file `number`, counted from zero, of `class`.
fn size(class: usize, number: usize) -> u64 {
    (CLASSES[class].1 * (number as u64 + 1)).div_ceil(10)
}

impl Files {
    fn new(config: Config, random: Random, mut order: Random) -> Files {
        let mut places: Vec<u32> = (0..config.directories as u32).collect();
        for place in (1..places.len()).rev() {
            places.swap(place, order.below(place as u64 + 1) as usize);
        }
        let mut end = 0;
        let mut starts = [[0; FILES]; 4];
        for (class, starts) in starts.iter_mut().enumerate() {
            for (number, start) in starts.iter_mut().enumerate() {
                *start = end;
                end += size(class, number).next_multiple_of(BLOCK);
            }
        }
        let ranks = Ranks::new(config.directories, config.theta);
        Files { config, ranks, order: places, starts, directory: end, random, logged: 0 }
    }

    /// Returns a random index. The probabilities of all indices are `shares`, which sum to one.
    fn pick(&mut self, shares: impl Iterator<Item = f64>) -> usize {
        let mut left = self.random.unit();
        let mut last = 0;
        for (number, share) in shares.enumerate() {
            last = number;
            if left < share {
                break;
            }
            left -= share;
        }
        last
    }

    /// Start address and size of the log region, in bytes.
    fn log(&self) -> (u64, u64) {
        (self.directory * self.config.directories, 8 << 20)
    }
}

impl Script for Files {
    fn next(&mut self, steps: &mut Vec<ServiceStep>) {
        let directory = self.order[self.ranks.sample(&mut self.random) as usize];
        let class = self.pick(CLASSES.iter().map(|class| class.0));
        let number = self.pick(POPULARITY.into_iter());
        let start = u64::from(directory) * self.directory + self.starts[class][number];
        let bytes = size(class, number);
        steps.push(ServiceStep::Work(self.config.request));
        let each = self.config.read.0;
        let mut at = 0;
        while at < bytes {
            let count = each.min(bytes - at);
            steps.push(ServiceStep::Read(start + at, count.next_multiple_of(512) as u32));
            at += count;
        }
        let time = self.config.send.as_ps() as u128 * u128::from(bytes) / u128::from(SENT);
        steps.push(ServiceStep::Work(Time::from_ps(time as u64)));
        if self.random.chance(self.config.logged.0) {
            let (log, room) = self.log();
            steps.push(ServiceStep::Write(log + self.logged % room, BLOCK as u32));
            self.logged += BLOCK;
        }
    }

    fn reach(&self) -> u64 {
        let (log, room) = self.log();
        log + room
    }

    fn describe(&self) -> (&'static str, &'static str, String) {
        let size = Bytes(self.reach());
        ("specweb", "answers", format!("{} directories, {size} with the log", self.config.directories))
    }
}
