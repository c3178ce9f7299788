//! Tests of the server cache.

use crate::workbench::{self, MODELS};
use nacre_kernel::event::Device;
use nacre_kernel::{Op, Request, Time};
use nacre_testkit::Workbench;
use nacre_testkit::host::{Host, counter};

mod conformance;
mod errors;
mod hedging;
mod laws;
mod levels;
mod oracle;
mod preparation;
mod timing;
mod write_back;

/// The PCM SSD and, below, the network store of kim-2014. Each serves up to 512 requests in parallel.
const PCM: &str = "kind = \"measured\"\nread = \"6.7 us\"\nwrite = \"128.3 us\"\nparallelism = 512\n";
const NETWORK: &str = "kind = \"network\"\nread = \"919.0 us\"\nwrite = \"133.0 us\"\nparallelism = 512\n";

/// Builds the device that the table `stack` of `toml` describes.
fn build(toml: &str) -> Box<dyn Device> {
    let built = workbench::build(toml, Workbench::new(MODELS, 1));
    built.unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// Builds the device that the table `stack` of `toml` describes. The device stores data.
fn build_with_bytes(toml: &str) -> Box<dyn Device> {
    let built = workbench::build(toml, Workbench::new(MODELS, 1).with_bytes());
    built.unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// A one-level cache with `blocks` blocks of 4 KiB and the given `settings`.
fn pcm_cache(blocks: u64, settings: &str) -> Host {
    let capacity = format!("capacity = \"{} KiB\"", blocks * 4);
    crate::workbench::host(&format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\n[[stack.level]]\n[stack.level.device]\n{PCM}{capacity}\n\
         [stack.backing]\n{NETWORK}"
    ))
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn blocks(op: Op, first: u64, count: u64) -> Request {
    Request { arrival: Time::ZERO, address: first * 4096, bytes: (count * 4096) as u32, volume: 0, op }
}
