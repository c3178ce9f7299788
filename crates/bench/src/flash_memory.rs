//! Speed of eNVy: page writes with steady cleaning, and word accesses of transactions.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_machine::stack::{build, build_alone};
use nacre_workload::Workload;

/// Number of page writes per repetition.
const PAGE_WRITES: u64 = 8_000_000;
/// Number of page writes before the first repetition: about twice the number of pages of the 2 GiB array.
const PAGE_WRITES_BEFORE: u64 = 16_000_000;
/// Number of word accesses per repetition.
const ACCESSES: u64 = 20_000_000;
/// Number of requests that are passed to a device at a time.
const BATCH: usize = 4096;

/// Measures the catalog entry `envy_2gb`, the array of the paper with a utilization of 80 % and the hybrid
/// policy.
pub(crate) fn measure(report: &Report) -> Result<()> {
    let mut pages = Pages::in_steady_cleaning(Size::OfPaper)?;
    let seconds = best_of(|| pages.write(PAGE_WRITES));
    report.line("envy, page writes under steady cleaning", PAGE_WRITES, seconds, Some(8.0), &[]);
    let Pages { mut device, mut workload, .. } = pages;
    device.restart_ledger(Time::ZERO);
    let mut host =
        Host { now: Time::ZERO, completions: Completions::new(), batch: Vec::with_capacity(BATCH) };
    let mut failed = None;
    let seconds = best_of(|| failed = host.ask(&mut *device, &mut *workload).err().or(failed.take()));
    if let Some(error) = failed {
        return Err(error);
    }
    report.line("envy, word accesses of TPC-A at 10,000 per second", ACCESSES, seconds, Some(20.0), &[]);
    Ok(())
}

/// Size of the array.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// 2 GiB, the size in the paper.
    OfPaper,
    /// 64 MiB, with proportionally smaller segments and buffer.
    Small,
}

/// An eNVy array that receives uniform writes of whole pages.
pub(crate) struct Pages {
    device: Box<dyn Device>,
    workload: Box<dyn Workload>,
    random: nacre_kernel::Random,
    pages: u64,
    batch: Vec<Request>,
}

impl Pages {
    /// Creates the array, and writes pages until cleaning is in a steady state.
    pub(crate) fn in_steady_cleaning(size: Size) -> Result<Pages> {
        // The accounts of all branches must fit into the array.
        let (before, branches, settings) = match size {
            Size::OfPaper => (PAGE_WRITES_BEFORE, 155, ""),
            Size::Small => (PAGE_WRITES_BEFORE / 32, 4, "segment = \"512 KiB\"\nbuffer = \"512 KiB\"\n"),
        };
        let scenario = checked(&format!(
            "[workload]\nkind = \"tpca\"\nrate = \"10 kHz\"\nbranches = {branches}\n[stack]\npreset = \"envy_2gb\"\n{settings}"
        ));
        let (device, workload) = (build_alone(&scenario, &NoFiles)?, build(&scenario, &NoFiles)?.workload);
        let pages = device.capacity().map_or(0, |capacity| capacity.0 / 256);
        let random = Streams::new(1).stream("bench.pages");
        let mut pages = Pages { device, workload, random, pages, batch: Vec::with_capacity(BATCH) };
        pages.write(before);
        Ok(pages)
    }

    /// Writes `count` pages.
    pub(crate) fn write(&mut self, count: u64) {
        let mut left = count;
        while left > 0 {
            self.batch.clear();
            let (random, pages) = (&mut self.random, self.pages);
            self.batch.extend((0..left.min(BATCH as u64)).map(|_| Request {
                arrival: Time::ZERO,
                address: random.below(pages) * 256,
                bytes: 256,
                volume: 0,
                op: Op::Write,
            }));
            let preconditioning = self.device.preconditioning().expect("an array of flash");
            preconditioning.precondition(&self.batch);
            left -= self.batch.len() as u64;
        }
    }
}

/// A processor that issues each access when its previous access completes.
struct Host {
    now: Time,
    completions: Completions,
    batch: Vec<Request>,
}

impl Host {
    fn ask(&mut self, device: &mut dyn Device, workload: &mut dyn Workload) -> Result<()> {
        let mut left = ACCESSES;
        while left > 0 {
            self.batch.clear();
            workload.fill(&mut self.batch, left.min(BATCH as u64) as usize)?;
            for request in &self.batch {
                let now = self.now.max(request.arrival);
                // The device performs its background work up to this time.
                device.run(now, &mut self.completions);
                device.submit(now, RequestId(0), request, Payload::NONE);
                self.completions.clear();
                device.run(Time::MAX, &mut self.completions);
                self.now = self.completions.get(0).0.at;
                self.completions.clear();
            }
            left -= self.batch.len() as u64;
        }
        Ok(())
    }
}
