//! Accuracy of the submission queues of a drive, compared with an event simulation of the queues.

use super::{Compared, Host, compare, head, line};
use crate::Result;
use crate::streams::{NoFiles, checked};
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_machine::stack::build_alone;
use nacre_testkit::drive::poisson;
use nacre_testkit::oracle::queue::{Fetching, weighted};
use nacre_testkit::oracle::{Load, Summary};

/// Number of requests per case.
const REQUESTS: usize = 30_000;
/// Number of requests that the drive processes concurrently. Each request occupies a processor of the drive
/// for 50 us.
const SLOTS: usize = 4;

/// Prints the comparison of submission queues.
pub(super) fn print() {
    head(
        "ssd with four slots, requests of 50 us of an urgent, a high, and two low tenants, 1 to 3 to 8",
        "us",
    );
    // The loads are 0.5, 0.9, and 0.97.
    for host in
        [Host::Closed(16), Host::Closed(64), Host::Open(40_000), Host::Open(72_000), Host::Open(78_000)]
    {
        line(&format!("weighted_round_robin {host}"), 1e6, compared(host));
    }
}

fn compared(host: Host) -> Result<Compared> {
    let mut random = Streams::new(2).stream("tenants");
    let mut tenant = || [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3][random.below(12) as usize];
    let tenants: Vec<usize> = (0..REQUESTS).map(|_| tenant()).collect();
    // In a closed loop, the rate is ignored.
    let rate = if let Host::Open(rate) = host { f64::from(rate) } else { 1.0 };
    let times = poisson(Streams::new(1).stream("arrivals"), rate);
    let flush = |(&tenant, arrival): (&usize, Time)| Request {
        arrival,
        address: 0,
        bytes: 0,
        volume: tenant as u32,
        op: Op::Flush,
    };
    let requests: Vec<Request> = tenants.iter().zip(times).map(flush).collect();
    let scenario = format!(
        "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n\
         [stack]\nkind = \"ssd\"\nchannels = 1\nways = 1\nplanes = 1\nblocks = 512\npages = 64\n\
         page = \"4 KiB\"\nread = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\n\
         bus = \"400 MB/s\"\nbuffer = \"256 KiB\"\nlink = \"4 GB/s\"\nfirmware = \"50 us\"\nprocessors = {SLOTS}\n\
         queue = {{ kind = \"weighted_round_robin\", depth = {SLOTS}, classes = [\"urgent\", \"high\", \"low\", \"low\"], \
         weights = {{ high = 4, medium = 2, low = 1 }} }}\n"
    );
    let mut device = build_alone(&checked(&scenario), &NoFiles)?;
    let fetching = Fetching { classes: &[0, 1, 3, 3], weights: [4, 2, 1] };
    let services = vec![Time::from_us(50); REQUESTS];
    let simulated = |load: Load<'_>| Summary::of(&weighted(SLOTS, fetching, &tenants, &services, load));
    Ok(compare(&mut *device, simulated, host, &requests))
}
