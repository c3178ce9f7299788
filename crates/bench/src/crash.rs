//! Speed of the crash simulator: power losses per second for a small flash drive and for random stacks.

use crate::report::{Report, best_of, processor_seconds};
use crate::streams::{NoFiles, checked};
use nacre_crash::{Options, crash};
use nacre_machine::crash::{ScenarioStack, random_stack};
use std::ops::ControlFlow;

/// Number of power losses for the flash drive.
const POINTS: u64 = 40_000;
/// Number of random stacks.
const STACKS: u64 = 100;
/// Number of power losses for each random stack.
const POINTS_OF_RANDOM: u64 = 2_000;

/// A drive without capacitors that has two dies and superblocks of 64 mapping units of 512 bytes.
const DRIVE: &str = "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"4 KiB\"\narrival = \"closed\"\n\
    [stack]\nkind = \"ssd\"\nchannels = 2\nways = 1\nblocks = 11\npages = 32\npage = \"512 B\"\nunit = \"512 B\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nlink = \"1 GB/s\"\n\
    over_provisioning = \"62 %\"\nbuffer = \"4 KiB\"\npower_protected = false\n";

/// Measures the small drive and the random stacks. The budgets are 20,000 power losses per second for the
/// small drive, and a million power losses in ten minutes on two cores for random stacks.
pub(crate) fn measure(report: &Report) {
    let scenario = checked(DRIVE);
    let mut stack = ScenarioStack::new(&scenario, &NoFiles).expect("it carries bytes");
    let go = || ControlFlow::Continue(());
    let seconds = best_of(|| {
        let found = crash(&mut stack, &Options::new(POINTS, 1), &mut |_| go());
        assert!(found.finding.is_none(), "a guarantee is violated");
        found.points()
    });
    report.line("power losses of a small ssd", POINTS, seconds, Some(0.02), &[]);
    let (start, mut points) = (processor_seconds(), 0);
    for seed in 0..STACKS {
        let random = random_stack(seed, POINTS_OF_RANDOM);
        let found = nacre_machine::crash::crash(
            &random.checked,
            &nacre_machine::crash::NoFiles,
            &random.options,
            &mut |_| go(),
        );
        points += found.expect("it was built when it was generated").points();
    }
    report.line("power losses of random stacks", points, processor_seconds() - start, Some(0.001), &[]);
}
