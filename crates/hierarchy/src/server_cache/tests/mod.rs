use crate::workbench;
use nacre_kernel::{Breakdown, ComponentReport, Data, Device, Op, Request, Time};

mod laws;
mod levels;
mod mistakes;
mod oracle;
mod short_way;
mod timing;
mod write_back;

/// Kim's PCM SSD and network store; the SSD serves many requests at once.
const PCM: &str = "kind = \"measured\"\nread = \"6.7 us\"\nwrite = \"128.3 us\"\nparallelism = 512\n";
const NETWORK: &str = "kind = \"network\"\nread = \"919.0 us\"\nwrite = \"133.0 us\"\nparallelism = 512\n";

/// A one-level cache of `blocks` blocks of 4 KiB; `settings` are those of the cache.
fn pcm_cache(blocks: u64, settings: &str) -> Box<dyn Device> {
    let capacity = format!("capacity = \"{} KiB\"", blocks * 4);
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\n[[stack.level]]\n[stack.level.device]\n{PCM}{capacity}\n\
         [stack.backing]\n{NETWORK}"
    );
    workbench::build(&toml).expect("the test's cache is legal")
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn blocks(op: Op, first: u64, count: u64) -> Request {
    Request { arrival: Time::ZERO, address: first * 4096, bytes: (count * 4096) as u32, volume: 0, op }
}

fn submit(device: &mut dyn Device, now: Time, request: Request) -> Time {
    let mut breakdown = Breakdown::new();
    let done = device.submit(now, &request, Data::None, &mut breakdown).done;
    assert_eq!(breakdown.total_from(0), done - now, "the breakdown sums to the latency of {request:?}");
    done - now
}

fn counter(report: &ComponentReport, name: &str) -> u64 {
    let found = report.counters.iter().find(|(counter, _)| *counter == name);
    found.unwrap_or_else(|| panic!("no counter {name}")).1
}

fn count(device: &dyn Device, name: &str) -> u64 {
    counter(&device.report(Time::from_s(1)), name)
}
