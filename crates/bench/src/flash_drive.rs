//! Speed of the SSD: page writes with steady garbage collection, page reads, and memory use.

use crate::Result;
use crate::closed_loop::ClosedLoop;
use crate::report::{Report, Times, processor_seconds, repeated};
use crate::streams::{NoFiles, checked};
use nacre_kernel::event::Device;
use nacre_kernel::{Op, Time};
use nacre_machine::stack::build_alone;
use nacre_machine::{Progress, run};
use std::ops::ControlFlow;

/// Number of page requests per repetition. A repetition takes 0.1 s, which is short compared with
/// disturbances by other load.
const REQUESTS: u64 = 1_000_000;
const REPEATS: usize = 40;
/// Number of requests per part of a whole run.
const PIECE: u64 = 250_000;
/// Number of parts of a whole run.
const PIECES: u64 = 20;
/// Number of times that the capacity is overwritten before the first repetition.
const TURNOVERS: u64 = 4;
/// Number of outstanding requests.
const DEPTH: u32 = 64;
/// Request size in bytes.
const PAGE: u32 = 4096;

/// A drive of 64 GiB with the default over-provisioning of 28 %, greedy garbage collection, and 8 channels of
/// 8 TLC dies.
const DRIVE: &str = "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"512 MiB\"\narrival = { kind = \"closed\" }\n\
    [stack]\nkind = \"ssd\"\nchannels = 8\nways = 8\nplanes = 4\nblocks = 256\npages = 80\npage = \"16 KiB\"\n\
    read = [\"50 us\", \"65 us\", \"80 us\"]\nprogram = [\"300 us\", \"600 us\", \"900 us\"]\nerase = \"3.5 ms\"\n\
    bus = \"1.2 GB/s\"\nbuffer = \"64 MiB\"\nlink = \"7 GB/s\"\nscheduling = { kind = \"suspension\", suspend = \"20 us\" }\n";

/// A drive of 32 dies, each with two planes and pages of 8 KiB.
const SMALL_PAGES: &str = "kind = \"ssd\"\nchannels = 8\nways = 4\nplanes = 2\nblocks = 256\npages = 128\npage = \"8 KiB\"\n\
    unit = \"8 KiB\"\nread = [\"75 us\"]\nprogram = [\"750 us\"]\nerase = \"3.8 ms\"\nbus = \"800 MB/s\"\n\
    buffer = \"64 MiB\"\nlink = \"4 GB/s\"\n";

/// A whole run of a drive in steady state, with 32 outstanding requests to addresses of the whole drive.
struct Whole {
    name: &'static str,
    reads: &'static str,
    request: &'static str,
    footprint: &'static str,
    /// Settings of the preconditioning that brings the drive to its steady state.
    aged: &'static str,
    stack: &'static [&'static str],
    budget: f64,
}

const WHOLE: [Whole; 6] = [
    Whole {
        name: "whole run: reads, 8 KiB pages",
        reads: "100 %",
        request: "8 KiB",
        footprint: "12 GiB",
        aged: "precondition = 0",
        stack: &[SMALL_PAGES],
        budget: 12.0,
    },
    Whole {
        name: "the same of a drive that was filled",
        reads: "100 %",
        request: "8 KiB",
        footprint: "12 GiB",
        aged: "fill = {}",
        stack: &[SMALL_PAGES],
        budget: 12.0,
    },
    Whole {
        name: "whole run: writes, 8 KiB pages, 28 % spare",
        reads: "0 %",
        request: "8 KiB",
        footprint: "12.5 GiB",
        aged: "precondition = 7_000_000",
        stack: &[SMALL_PAGES, "over_provisioning = \"28 %\"\n"],
        budget: 2.5,
    },
    Whole {
        name: "whole run: writes, 8 KiB pages, 13.5 % spare",
        reads: "0 %",
        request: "8 KiB",
        footprint: "14435 MiB",
        aged: "precondition = 8_000_000",
        stack: &[SMALL_PAGES, "over_provisioning = \"13.5 %\"\n"],
        budget: 1.5,
    },
    Whole {
        name: "whole run: writes, 8 KiB pages, 12.5 % spare",
        reads: "0 %",
        request: "8 KiB",
        footprint: "14563 MiB",
        aged: "precondition = 8_000_000",
        stack: &[SMALL_PAGES, "over_provisioning = \"12.5 %\"\n"],
        budget: 1.5,
    },
    Whole {
        name: "whole run: tlc_nvme, 70 % reads",
        reads: "70 %",
        request: "4 KiB",
        footprint: "10 GiB",
        aged: "precondition = 10_000_000",
        stack: &["preset = \"tlc_nvme\"\npages = 24\n"],
        budget: 2.5,
    },
];

impl Whole {
    fn scenario(&self, requests: u64) -> String {
        let Whole { reads, request, footprint, aged, .. } = self;
        format!(
            "[workload]\nkind = \"uniform\"\nrequests = {requests}\nfootprint = \"{footprint}\"\nrequest = \"{request}\"\n\
             read_share = \"{reads}\"\narrival = {{ kind = \"closed\", queue_depth = 32 }}\n\
             [run]\n{aged}\n[stack]\n{}",
            self.stack.concat()
        )
    }
}

/// Returns the first scenario of [`WHOLE`], in which the drive receives only reads.
pub(crate) fn reads(requests: u64) -> String {
    WHOLE[0].scenario(requests)
}

/// Returns the settings for writes to a drive with an over-provisioning of 12.5 %. The drive is smaller than
/// in [`WHOLE`] by a factor of 8, so that it reaches its steady state earlier.
pub(crate) fn writes(requests: u64) -> String {
    let small = WHOLE[4].scenario(requests).replace("blocks = 256", "blocks = 128");
    let small = small.replace("pages = 128", "pages = 32").replace("14563 MiB", "1820 MiB");
    small.replace("8_000_000", "1_000_000")
}

/// Measures the time of each part of the whole runs. The construction and preconditioning of the drive are
/// not measured.
pub(crate) fn measure_runs(report: &Report) {
    for whole in WHOLE {
        let mut pieces = Pieces::default();
        let scenario = checked(&whole.scenario(PIECES * PIECE));
        let outcome = run(&scenario, &NoFiles, &mut |progress| {
            pieces.reached(progress);
            ControlFlow::Continue(())
        });
        report.line(whole.name, PIECE, Times::of(pieces.seconds), Some(whole.budget), &[]);
        if let Some(amplification) = outcome.expect("a legal scenario").record.write_amplification {
            println!("    at a write amplification of {amplification:.2}");
        }
    }
}

/// Processor time of each part of a run, measured by the progress callback of the run.
#[derive(Default)]
struct Pieces {
    seconds: Vec<f64>,
    /// Processor time and number of completed requests at the start of the current part, or `None` before the
    /// first part.
    begun: Option<(f64, u64)>,
}

impl Pieces {
    fn reached(&mut self, progress: Progress) {
        if progress.preconditioning {
            return;
        }
        let Some((begun, before)) = self.begun else {
            self.begun = Some((processor_seconds(), progress.done));
            return;
        };
        let done = progress.done - before;
        if done >= PIECE {
            let now = processor_seconds();
            self.seconds.push((now - begun) * PIECE as f64 / done as f64);
            self.begun = Some((now, progress.done));
        }
    }
}

/// Measures writes and reads of the device alone, without a workload.
pub(crate) fn measure(report: &Report) -> Result<()> {
    let before = resident_bytes();
    let Steady { mut device, mut host } = Steady::after(DRIVE, 8 * REQUESTS)?;
    let writes = repeated(REPEATS, || host.ask(&mut *device, Op::Write, REQUESTS));
    let wear = device.report(Time::ZERO).wear.unwrap_or_default();
    report.line("ssd, 4 KiB page writes under steady cleaning", REQUESTS, writes, Some(5.0), &[]);
    let untimed = repeated(REPEATS, || host.precondition(&mut *device, REQUESTS));
    report.line("the same without time (preconditioning)", REQUESTS, untimed, None, &[]);
    let reads = repeated(REPEATS, || host.ask(&mut *device, Op::Read, REQUESTS));
    report.line("ssd, 4 KiB page reads", REQUESTS, reads, Some(10.0), &[]);
    let physical = wear.block_erases.len() as u64 * 80 * 4;
    println!(
        "write amplification {:.3}; {:.2} B of memory for each of {} M physical pages (budget 16 B); {} errors",
        wear.write_amplification().unwrap_or(f64::NAN),
        resident_bytes().saturating_sub(before) as f64 / physical as f64,
        physical / 1_000_000,
        host.errors
    );
    Ok(())
}

/// A drive in steady state, with its host.
pub(crate) struct Steady {
    device: Box<dyn Device>,
    host: ClosedLoop,
}

impl Steady {
    /// Creates a drive of 3 GiB.
    pub(crate) fn small() -> Result<Steady> {
        Steady::after(
            &DRIVE.replace("blocks = 256", "blocks = 64").replace("pages = 80", "pages = 16"),
            100_000,
        )
    }

    /// Creates the drive of `scenario`. Preconditions the drive, and then serves `timed` writes in
    /// simulated time.
    fn after(scenario: &str, timed: u64) -> Result<Steady> {
        let mut device = build_alone(&checked(scenario), &NoFiles)?;
        let mut host = ClosedLoop::new(&*device, PAGE, DEPTH);
        let pages = device.capacity().map_or(0, |capacity| capacity.0 / u64::from(PAGE));
        host.precondition(&mut *device, TURNOVERS * pages);
        host.ask(&mut *device, Op::Write, timed);
        device.restart_ledger(host.now());
        Ok(Steady { device, host })
    }

    /// Submits `count` requests, and keeps 64 of them outstanding.
    pub(crate) fn ask(&mut self, op: Op, count: u64) {
        self.host.ask(&mut *self.device, op, count);
    }
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|field| field.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
