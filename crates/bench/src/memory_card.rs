//! Speed of NVRAM cards: random requests of 4 KiB, 16 of them outstanding, with every memory command
//! simulated.

use crate::Result;
use crate::closed_loop::ClosedLoop;
use crate::pcm_drive::DEPTH;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::Op;
use nacre_machine::stack::build_alone;

/// Number of requests per repetition.
const REQUESTS: u64 = 1_000_000;
/// Number of bursts per request. A memory simulator counts each burst as a request.
const BURSTS: u64 = 64;
/// Published rates of other simulators, in requests of 64 B per second.
const RIVALS: [(&str, f64); 3] =
    [("Ramulator, at random", 133e3), ("Ramulator, in order", 402e3), ("DRAMsim3", 147e3)];
/// Sources of the rates in [`RIVALS`].
const SOURCES: &str = "  Ramulator: published, Kim, Yang and Mutlu, IEEE CAL 15(1), 2016, table 3 from memory, DDR3-1600\n  \
    DRAMsim3: commit 2981759, DDR4 at random, measured in November 2026 on a machine like that of docs/decisions/0024";

/// Measures the cards alone, without a workload.
pub(crate) fn measure(report: &Report) -> Result<()> {
    for (preset, op) in [
        ("nvram_ddr3_flash", Op::Read),
        ("nvram_ddr3_flash", Op::Write),
        ("nvram_ddr4_flash", Op::Read),
        ("nvram_mram", Op::Read),
        ("nvram_mram", Op::Write),
    ] {
        let scenario = checked(&format!(
            "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 GiB\"\n[stack]\npreset = \"{preset}\"\n"
        ));
        let mut device = build_alone(&scenario, &NoFiles)?;
        let mut host = ClosedLoop::new(&*device, 4096, DEPTH);
        host.ask(&mut *device, op, REQUESTS / 4);
        let seconds = best_of(|| host.ask(&mut *device, op, REQUESTS));
        let what = format!("{preset}, {}s of 4 KiB", op.name());
        report.line(&what, REQUESTS, seconds, Some(1.5), &[]);
        report.line("  the same in bursts of 64 B", REQUESTS * BURSTS, seconds, None, &RIVALS);
    }
    println!("{SOURCES}");
    Ok(())
}
