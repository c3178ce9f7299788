//! Preconditioning until write amplification is steady and valid data no longer grows.

use crate::drive::Driver;
use crate::progress::{BATCH, Progress};
use crate::record::{GROWTH_MAX, Steadiness};
use crate::scenario::UntilSteady;
use nacre_config::Problems;
use nacre_kernel::{Bytes, ComponentReport, Time};
use nacre_workload::Workload;
use std::ops::ControlFlow;

/// Pages programmed for the host, pages programmed in total, and valid pages, each summed over a device and
/// the devices below it.
#[derive(Clone, Copy, Default)]
struct Programs {
    host: u64,
    all: u64,
    valid: Option<u64>,
}

impl Programs {
    fn of(report: &ComponentReport) -> Programs {
        let own = report.wear.as_ref().map_or(Programs::default(), |wear| Programs {
            host: wear.host,
            all: wear.programs(),
            valid: wear.valid,
        });
        report.children.iter().map(Programs::of).fold(own, |sum, below| Programs {
            host: sum.host + below.host,
            all: sum.all + below.all,
            valid: sum.valid.map_or(below.valid, |own| Some(own + below.valid.unwrap_or(0))),
        })
    }
}

/// Returns whether the last windows agree: the difference between their largest and smallest values is at
/// most the tolerance times their mean, and the least-squares line changes by at most half of this limit
/// from end to end.
fn is_steady(values: &[Option<f64>], criterion: &UntilSteady) -> bool {
    let count = criterion.windows as usize;
    let Some(last) = values.len().checked_sub(count).map(|from| &values[from..]) else { return false };
    let Some(last) = last.iter().copied().collect::<Option<Vec<f64>>>() else { return false };
    let mean = last.iter().sum::<f64>() / count as f64;
    let spread =
        last.iter().copied().fold(f64::MIN, f64::max) - last.iter().copied().fold(f64::MAX, f64::min);
    let middle = (count - 1) as f64 / 2.0;
    let places = || (0..count).map(|place| place as f64 - middle);
    let slope = places().zip(&last).map(|(place, value)| place * (value - mean)).sum::<f64>()
        / places().map(|place| place * place).sum::<f64>();
    let trend = (slope * (count - 1) as f64).abs();
    spread <= criterion.tolerance.0 * mean && trend <= criterion.tolerance.0 * mean / 2.0
}

/// Returns the growth of `valid` in the last `windows` windows above the maximum of all earlier windows,
/// relative to that maximum. Returns `None` if there are not enough windows or if the device does not count
/// valid pages.
fn growth(valid: &[Option<u64>], windows: usize) -> Option<f64> {
    let (before, last) = valid.split_at(valid.len().checked_sub(windows)?);
    let most = |pages: &[Option<u64>]| pages.iter().copied().flatten().max();
    let (before, last) = (most(before)?, most(last)?);
    Some(last.saturating_sub(before) as f64 / before.max(1) as f64)
}

impl Driver<'_> {
    /// Submits writes of `workload` to the device, window by window, until the criterion is met, the
    /// workload ends, or the limit is reached. Returns `Break` if `watch` stops the writes.
    pub(super) fn until_steady(
        &mut self,
        workload: &mut dyn Workload,
        criterion: &UntilSteady,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let Some(Bytes(capacity)) = self.serving.device.capacity() else {
            return Err(self.no_such_state("run.until_steady"));
        };
        let window_bytes = (capacity as f64 * criterion.window.0) as u64;
        let mut steadiness = Steadiness { window_bytes, ..Steadiness::default() };
        let windows = criterion.windows as usize;
        let mut before = Programs::of(&self.serving.device.report(Time::ZERO));
        let mut valid = vec![before.valid];
        let mut ended = ControlFlow::Continue(());
        while steadiness.write_amplification.len() < criterion.windows_max as usize && !steadiness.reached {
            let (writes, flow) = self.write_window(workload, window_bytes, steadiness.writes, watch)?;
            if writes == 0 || flow.is_break() {
                ended = flow;
                break;
            }
            steadiness.writes += writes;
            let now = Programs::of(&self.serving.device.report(Time::ZERO));
            let host = now.host - before.host;
            let value = (host > 0).then(|| (now.all - before.all) as f64 / host as f64);
            steadiness.write_amplification.push(value);
            valid.push(now.valid);
            steadiness.growth = growth(&valid, windows);
            let is_filled = steadiness.growth.is_none_or(|growth| growth <= GROWTH_MAX);
            steadiness.reached = is_filled && is_steady(&steadiness.write_amplification, criterion);
            before = now;
        }
        steadiness.valid_pages = valid.split_off(1);
        self.steadiness = Some(steadiness);
        Ok(ended)
    }

    /// Submits writes of `bytes` bytes in total. Returns the number of writes, which is 0 if the workload has
    /// no more writes.
    fn write_window(
        &mut self,
        workload: &mut dyn Workload,
        bytes: u64,
        before: u64,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(u64, ControlFlow<()>), Problems> {
        let (mut writes, mut written) = (0, 0);
        let mut batch = Vec::with_capacity(BATCH);
        while written < bytes {
            batch.clear();
            workload.fill_writes(&mut batch, BATCH).map_err(|error| self.serving.workload_problem(&error))?;
            if batch.is_empty() {
                return Ok((0, ControlFlow::Continue(())));
            }
            self.serving.check_reach(&batch, "write", before + writes)?;
            let Some(preconditioning) = self.serving.device.preconditioning() else {
                return Err(self.no_such_state("run.until_steady"));
            };
            preconditioning.precondition(&batch);
            writes += batch.len() as u64;
            written += batch.iter().map(|request| u64::from(request.bytes)).sum::<u64>();
            let done = before + writes;
            let progress = Progress { preconditioning: true, done, expected: None, simulated: Time::ZERO };
            if watch(progress).is_break() {
                return Ok((writes, ControlFlow::Break(())));
            }
        }
        Ok((writes, ControlFlow::Continue(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::Ratio;

    fn criterion() -> UntilSteady {
        UntilSteady { window: Ratio(1.0), windows: 4, tolerance: Ratio(0.1), windows_max: 50 }
    }

    fn steady(values: &[f64]) -> bool {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        is_steady(&values, &criterion())
    }

    #[test]
    fn windows_that_agree_are_steady_and_a_trend_is_not() {
        assert!(steady(&[1.0, 1.5, 2.0, 2.05, 1.95, 2.0]));
        assert!(!steady(&[2.0, 2.0, 2.0]), "too few windows");
        assert!(!steady(&[2.0, 2.0, 2.25, 2.0]), "spread of 12 %");
        // The values are within the spread of 10 %, but rise by 9 % from end to end.
        assert!(!steady(&[2.0, 2.06, 2.12, 2.18]));
        assert!(!is_steady(&[Some(1.0), None, Some(1.0), Some(1.0)], &criterion()), "nothing was programmed");
    }

    /// A small drive with 64 superblocks of 256 units, because a drive of 4,096 superblocks would be slow.
    const DRIVE: &str = "[workload]\nkind = \"uniform\"\nrequests = 1_000\nfootprint = \"48 MiB\"\nread_share = \"0 %\"\n\
        [stack]\nkind = \"ssd\"\nchannels = 2\nways = 2\nblocks = 64\npages = 64\npage = \"4 KiB\"\nread = [\"50 us\"]\n\
        program = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nbuffer = \"256 KiB\"\nlink = \"4 GB/s\"\n\
        over_provisioning = \"33 %\"\n";

    fn run(run: &str) -> crate::Record {
        struct NoFiles;
        impl crate::Files for NoFiles {
            fn text(&self, _file: &str) -> std::io::Result<String> {
                Err(std::io::ErrorKind::NotFound.into())
            }
            fn trace(&self, _file: &str) -> std::io::Result<Box<dyn std::io::BufRead + Send>> {
                Err(std::io::ErrorKind::NotFound.into())
            }
            fn shipped_traces(&self) -> Vec<String> {
                Vec::new()
            }
        }
        let text = format!("{DRIVE}{run}");
        let document = crate::Document { text: &text, name: "test.toml", overrides: &[], seed: None };
        let checked = crate::check(&document).unwrap_or_else(|problems| panic!("{problems}"));
        let outcome = crate::run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
        outcome.unwrap_or_else(|problems| panic!("{problems}")).record
    }

    #[test]
    fn a_drive_is_written_until_cleaning_costs_what_it_goes_on_costing() {
        let record = run("[run]\nuntil_steady = { tolerance = \"4 %\" }\n");
        let steadiness = record.steadiness.expect("it was requested");
        assert!(steadiness.reached, "{steadiness:?}");
        let values: Vec<f64> = steadiness.write_amplification.iter().flatten().copied().collect();
        assert!(values[0] < 0.8 * values[values.len() - 1], "a new drive costs less: {values:?}");
        let measured = record.write_amplification.expect("it is an SSD");
        let last = &values[values.len() - 5..];
        let mean = last.iter().sum::<f64>() / 5.0;
        assert!(
            (measured / mean - 1.0).abs() < 0.25,
            "a thousand writes cost {measured}, the windows {mean}"
        );
    }

    #[test]
    fn what_is_not_steady_in_time_is_said_to_be_so() {
        let record = run("[run]\nuntil_steady = { tolerance = \"0.01 %\", windows_max = 7 }\n");
        let steadiness = record.steadiness.expect("it was requested");
        assert!(!steadiness.reached);
        assert_eq!(steadiness.write_amplification.len(), 7);
        assert_eq!(run("").steadiness, None);
    }
}
