//! Tests of the flash disk cache.

mod decoders;
mod laws;
mod leveling;
mod naive;
mod oracle;
mod shape;
mod wear;

use crate::workbench::MODELS;
use nacre_kernel::event::Device;
use nacre_kernel::{Op, Request, Status, Time};
use nacre_testkit::Host;
use nacre_testkit::Workbench;

/// TOML of a cache over a store with a read latency of one millisecond. `options` contains settings of the
/// cache, and `ecc` contains the settings of its code.
fn settings(options: &str, ecc: &str) -> String {
    format!(
        "kind = \"flash_disk_cache\"\n{options}\n[device.ecc]\n{ecc}\n[device.backing]\nkind = \"measured\"\n\
         read = \"1 ms\"\nwrite = \"2 ms\"\ncapacity = \"3 MiB\"\n"
    )
}

/// A code that is strong enough for the tests.
const BCH: &str = "kind = \"bch\"\nt = 1\ncrc32 = true";

fn device(toml: &str, carries_bytes: bool) -> Box<dyn Device> {
    let bench = Workbench::new(MODELS, 1);
    let mut bench = if carries_bytes { bench.with_bytes() } else { bench };
    bench.build(toml).unwrap_or_else(|problems| panic!("{toml}\n{problems}"))
}

fn build(options: &str, ecc: &str) -> Host {
    Host::new(device(&settings(options, ecc), false))
}

fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}

/// Submits a request at `now` and waits for its completion. Returns the completion time and the status. No
/// other request may be in progress.
fn submit(host: &mut Host, now: Time, op: Op, address: u64, bytes: u32) -> (Time, Status) {
    let number = host.submit(now, request(op, address, bytes));
    let done = host.wait(number);
    (done.at, done.status)
}

fn column(host: &Host, name: &str) -> f64 {
    let columns = host.report().columns;
    columns.iter().find(|column| column.name == name).expect("the column exists").values[0]
}
