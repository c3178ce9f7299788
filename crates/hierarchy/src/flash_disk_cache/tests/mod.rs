//! The flash disk cache.

mod decoders;
mod laws;
mod levelling;
mod wear;

use crate::workbench::ROOMS;
use nacre_kernel::{Breakdown, Completion, Data, Device, Op, Request, Time};
use nacre_testkit::Workbench;

/// Settings over a store that answers in a millisecond, and those of the code.
fn settings(options: &str, ecc: &str) -> String {
    format!(
        "kind = \"flash_disk_cache\"\n{options}\n[device.ecc]\n{ecc}\n[device.backing]\nkind = \"measured\"\n\
         read = \"1 ms\"\nwrite = \"2 ms\"\ncapacity = \"3 MiB\"\n"
    )
}

/// A code as strong as the tests need.
const BCH: &str = "kind = \"bch\"\nt = 1\ncrc32 = true";

fn build(options: &str, ecc: &str) -> Box<dyn Device> {
    let toml = settings(options, ecc);
    Workbench::new(ROOMS, 1).build(&toml).unwrap_or_else(|problems| panic!("{toml}\n{problems}"))
}

fn submit(device: &mut dyn Device, now: Time, op: Op, address: u64, bytes: u32) -> Completion {
    let request = Request { arrival: now, address, bytes, volume: 0, op };
    let mut breakdown = Breakdown::new();
    let completion = device.submit(now, &request, Data::None, &mut breakdown);
    assert_eq!(breakdown.total_from(0), completion.done - now, "the breakdown of {request:?}");
    completion
}

fn counter(device: &dyn Device, name: &str) -> u64 {
    let counters = device.report(Time::from_s(1)).counters;
    counters.iter().find(|(known, _)| *known == name).map(|(_, count)| *count).expect("the counter exists")
}

fn column(device: &dyn Device, name: &str) -> f64 {
    let columns = device.report(Time::from_s(1)).columns;
    columns.iter().find(|column| column.name == name).expect("the column exists").values[0]
}
