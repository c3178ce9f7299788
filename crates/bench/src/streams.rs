//! Request streams that all cache measurements use.

use crate::Result;
use nacre_kernel::Request;
use nacre_machine::{Checked, Document, Files, check};
use nacre_workload::Workload;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;

/// Number of requests per stream.
pub(crate) const REQUESTS: u64 = 10_000_000;

/// A stream of Zipf-distributed block numbers.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    /// Name in results.
    pub(crate) name: &'static str,
    /// Number of distinct blocks.
    pub(crate) blocks: u64,
    /// Zipf exponent.
    pub(crate) theta: &'static str,
    /// Whether the cache and its index fit into the processor caches.
    pub(crate) is_small: bool,
}

/// The request streams. The hot part of the first stream fits into the processor caches. The hot part of
/// the second stream is far larger.
pub(crate) const STREAMS: [Stream; 2] = [
    Stream { name: "zipf1.0-1M", blocks: 1_000_000, theta: "1.0", is_small: true },
    Stream { name: "zipf0.8-8M", blocks: 8_000_000, theta: "0.8", is_small: false },
];

impl Stream {
    /// Returns the first `count` block numbers of the stream.
    pub(crate) fn keys(&self, count: u64) -> Vec<u64> {
        requests(&self.scenario(count), count).iter().map(|request| request.address / 4096).collect()
    }

    /// Returns the number of blocks of the cache: 10 % of the footprint.
    pub(crate) fn cache_blocks(&self) -> usize {
        (self.blocks / 10) as usize
    }

    /// Returns a scenario with `requests` reads, one every 100 us, and a cache.
    pub(crate) fn scenario(&self, requests: u64) -> String {
        self.over_cache(&self.workload(requests, "periodic"))
    }

    /// Like [`Stream::scenario`], with random independent arrivals, so that requests queue.
    pub(crate) fn run(&self, requests: u64) -> String {
        self.over_cache(&self.workload(requests, "poisson"))
    }

    /// Returns a scenario in which the cache receives requests from `file`.
    pub(crate) fn traced(&self, file: &str) -> String {
        self.over_cache(&format!("kind = \"trace\"\nfile = {file:?}\n"))
    }

    fn workload(&self, requests: u64, arrival: &str) -> String {
        format!(
            "kind = \"zipf\"\nrequests = {requests}\nfootprint = \"{} B\"\ntheta = {}\n\
             read_share = \"100 %\"\narrival = {{ kind = \"{arrival}\", rate = \"10 kHz\" }}\n",
            self.blocks * 4096,
            self.theta,
        )
    }

    fn over_cache(&self, workload: &str) -> String {
        format!(
            "[workload]\n{workload}[stack]\nkind = \"server_cache\"\nbacking = {{ preset = \"network_store\" }}\n\
             [[stack.level]]\ndevice = {{ preset = \"pcm_ssd\", capacity = \"{} B\" }}\n",
            self.cache_blocks() as u64 * 4096,
        )
    }
}

/// Writes every stream in the oracleGeneral format, which libCacheSim can read.
pub(crate) fn write(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for stream in STREAMS {
        let mut file =
            BufWriter::new(std::fs::File::create(folder.join(format!("{}.oracleGeneral", stream.name)))?);
        for key in stream.keys(REQUESTS) {
            file.write_all(&0u32.to_le_bytes())?;
            file.write_all(&key.to_le_bytes())?;
            file.write_all(&1u32.to_le_bytes())?;
            file.write_all(&(-1i64).to_le_bytes())?;
        }
        file.flush()?;
    }
    println!("wrote {} streams of {REQUESTS} requests", STREAMS.len());
    Ok(())
}

/// Parses and checks a scenario. Panics if the scenario has errors.
pub(crate) fn checked(text: &str) -> Checked {
    check(&Document { text, name: "bench", overrides: &[], seed: Some(1) })
        .unwrap_or_else(|problems| panic!("the benchmark's scenario is wrong: {problems}"))
}

/// Returns the first `count` requests of the workload of a scenario.
pub(crate) fn requests(scenario: &str, count: u64) -> Vec<Request> {
    let mut workload = workload(scenario);
    let mut requests = Vec::with_capacity(count as usize);
    loop {
        let before = requests.len();
        workload.fill(&mut requests, 65_536).expect("a synthetic workload has no errors");
        if requests.len() == before {
            return requests;
        }
    }
}

fn workload(scenario: &str) -> Box<dyn Workload> {
    let built = nacre_machine::stack::build(&checked(scenario), &NoFiles);
    built.unwrap_or_else(|problems| panic!("the benchmark's scenario is wrong: {problems}")).workload
}

/// File access for scenarios that do not need files. Every access fails.
pub(crate) struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}
