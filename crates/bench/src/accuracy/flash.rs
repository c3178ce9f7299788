//! Accuracy of a flash channel with eight dies, compared with an event simulation of the channel.

use super::{Compared, Host, compare, head, line};
use crate::Result;
use crate::streams::{NoFiles, checked};
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_machine::stack::build;
use nacre_testkit::drive::poisson;
use nacre_testkit::oracle::flash_channel::{Arbitration, Channel, serve};
use nacre_testkit::oracle::{Load, Summary};

/// Number of reads per case.
const READS: usize = 30_000;
/// Number of dies on the channel.
const DIES: u64 = 8;
/// Page size in bytes.
const PAGE: u32 = 4096;

/// A case of the flash comparison.
#[derive(Clone, Copy)]
struct Case {
    arbitration: Arbitration,
    name: &'static str,
    registers: usize,
    host: Host,
}

/// Prints the comparison of flash channels.
pub(super) fn print() {
    head("ssd with one channel of eight dies, reads of 4 KiB: 1 us, 50 us, 10.24 us", "us");
    let hosts = [
        Host::Closed(1),
        Host::Closed(4),
        Host::Closed(16),
        Host::Closed(64),
        // The channel loads are 0.28, 0.45, and 0.56. If pages have priority, the dies stay synchronized, and
        // the channel serves at most 60,000/s.
        Host::Open(25_000),
        Host::Open(40_000),
        Host::Open(50_000),
    ];
    for (arbitration, name) in [
        (Arbitration::FirstCome, "first_come"),
        (Arbitration::PagesFirst, "pages_first"),
        (Arbitration::CommandsFirst, "commands_first"),
    ] {
        for registers in [1, 2, 4] {
            for host in hosts {
                Case { arbitration, name, registers, host }.print();
            }
        }
    }
    // The channel load is 0.84.
    for registers in [1, 2, 4] {
        let (arbitration, name) = (Arbitration::CommandsFirst, "commands_first");
        Case { arbitration, name, registers, host: Host::Open(75_000) }.print();
    }
}

impl Case {
    fn print(self) {
        let Case { name, registers, host, .. } = self;
        line(&format!("{name} registers {registers} {host}"), 1e6, self.compare());
    }

    fn compare(self) -> Result<Compared> {
        let Case { arbitration, name, registers, host } = self;
        let mut random = Streams::new(1).stream("dies");
        let dies: Vec<usize> = (0..READS).map(|_| random.below(DIES) as usize).collect();
        // Each die has one page that is read. In a closed loop, the rate is ignored.
        let rate = if let Host::Open(rate) = host { f64::from(rate) } else { 1.0 };
        let times = poisson(Streams::new(1).stream("arrivals"), rate);
        let read = |(&die, arrival)| Request {
            arrival,
            address: die as u64 * u64::from(PAGE),
            bytes: PAGE,
            volume: 0,
            op: Op::Read,
        };
        let requests: Vec<Request> = dies.iter().zip(times).map(read).collect();
        let scenario = format!(
            "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n\
             [stack]\nkind = \"ssd\"\nchannels = 1\nways = {DIES}\nplanes = 1\nblocks = 512\npages = 64\n\
             page = \"{PAGE} B\"\nread = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\n\
             bus = \"400 MB/s\"\ncommand = \"1 us\"\nbuffer = \"256 KiB\"\nlink = \"40.96 GB/s\"\n\
             registers = {registers}\narbitration = \"{name}\"\n"
        );
        let mut device = build(&checked(&scenario), &NoFiles)?.device;
        let channel = Channel {
            dies: DIES as usize,
            registers,
            arbitration,
            command: Time::from_us(1),
            sense: Time::from_us(50),
            transfer: Time::from_ns(10_240),
            // This is the transfer time of the page over the link.
            completion: Time::from_ns(100),
        };
        let simulated = |load: Load<'_>| Summary::of(&serve(&channel, &dies, load));
        Ok(compare(&mut *device, simulated, host, &requests))
    }
}
