//! Accuracy of a memory controller that prefers row hits, compared with a clock-by-clock simulation.

use super::{Compared, Host, compare, head, line};
use crate::Result;
use crate::streams::{NoFiles, checked};
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_machine::stack::build_alone;
use nacre_testkit::drive::poisson;
use nacre_testkit::oracle::dram_channel::{Access, Controller, Timing, serve};
use nacre_testkit::oracle::{Load, Summary};

/// Number of accesses per case.
const ACCESSES: usize = 50_000;
const BANKS: u64 = 8;
/// Number of waiting accesses that the controller considers.
const QUEUE: usize = 32;

/// DDR3-1600 (11-11-11) with 4 Gb chips, without refresh.
const CARD: &str = "kind = \"nvram_card\"\nchip = \"512 MiB\"\nrow = \"1 KiB\"\nclock = \"1.25 ns\"\n\
    read_latency = 11\nwrite_latency = 8\nactivate_to_access = \"13.75 ns\"\nprecharge = \"13.75 ns\"\n\
    row_open = \"35 ns\"\nrow_cycle = \"48.75 ns\"\nactivate_to_activate = \"6.25 ns\"\n\
    four_activates = \"30 ns\"\nwrite_recovery = \"15 ns\"\nwrite_to_read = \"7.5 ns\"\n\
    read_to_precharge = \"7.5 ns\"\nprocessing = \"0 s\"\nrows = \"open\"\n\
    scheduler = { kind = \"fr_fcfs\", queue = 32 }\nhost = { kind = \"direct\", link = \"1000000 GB/s\" }\n";

const TIMING: Timing = Timing::DDR3_1600;

/// Prints the comparison of memory controllers.
pub(super) fn print() {
    head("nvram_card, DDR3-1600 with open rows, fr_fcfs with a queue of 32, bursts of 64 B", "ns");
    for (name, hits, reads) in [("25 % row hits", 0.25, 1.0), ("70 % reads of open rows", 1.0, 0.7)] {
        for host in [Host::Closed(4), Host::Closed(32), Host::Closed(64), Host::Open(25_000_000)] {
            line(&format!("{name} {host}"), 1e9, compared(hits, reads, host));
        }
    }
}

/// Simulates random accesses to banks. The share `reads` of the accesses are reads. With probability
/// `hits`, an access uses the row that was last requested in its bank.
fn compared(hits: f64, reads: f64, host: Host) -> Result<Compared> {
    let mut random = Streams::new(3).stream("accesses");
    let mut rows = [0; BANKS as usize];
    let mut draw = || {
        let bank = random.below(BANKS) as usize;
        if !random.chance(hits) {
            rows[bank] = random.below(4096);
        }
        Access { bank, row: rows[bank], is_write: !random.chance(reads) }
    };
    let accesses: Vec<Access> = (0..ACCESSES).map(|_| draw()).collect();
    // In a closed loop, the rate is ignored.
    let rate = if let Host::Open(rate) = host { f64::from(rate) } else { 1.0 };
    let times = poisson(Streams::new(8).stream("arrivals"), rate);
    let request = |(access, arrival): (&Access, Time)| {
        let address = (access.row * BANKS + access.bank as u64) << 13;
        let op = if access.is_write { Op::Write } else { Op::Read };
        Request { arrival, address, bytes: 64, volume: 0, op }
    };
    let requests: Vec<Request> = accesses.iter().zip(times).map(request).collect();
    let scenario =
        format!("[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n[stack]\n{CARD}");
    let mut device = build_alone(&checked(&scenario), &NoFiles)?;
    let controller = Controller {
        clock: Time::from_ps(1250),
        timing: TIMING,
        banks: BANKS as usize,
        closes_rows: false,
        queue: QUEUE,
        writes: None,
    };
    let simulated = |load: Load<'_>| Summary::of(&serve(&controller, &accesses, load));
    Ok(compare(&mut *device, simulated, host, &requests))
}
