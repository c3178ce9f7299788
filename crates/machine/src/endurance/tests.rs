use super::WRITES;
use crate::record::WornOut;
use crate::{Checked, Document, Files, check, run};
use nacre_config::Problems;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// 2 controllers with 64 rows of 1 KiB each, made for 500 programs.
const SMALL: &str = "kind = \"onyx\"\ncontrollers = 2\nranks = 2\nrow_ranks = 2\nchip = \"8 KiB\"\nrow = \"1 KiB\"\n\
    endurance = 500\n";
const HAMMER: &str = "kind = \"hammer\"\nrequest = \"1 KiB\"\naddress = \"5 KiB\"\n";
/// The same drive behind a cache that writes back.
const HELD_BACK: &str = "kind = \"server_cache\"\nblock = \"4 KiB\"\nwrite_back = {}\n\
    backing = { kind = \"onyx\", controllers = 2, ranks = 2, row_ranks = 2, chip = \"8 KiB\", row = \"1 KiB\", endurance = 500 }\n\
    [[stack.level]]\ndevice = { preset = \"pcm_ssd\", capacity = \"32 KiB\" }\n";
const BIRTHDAY: &str = "kind = \"birthday\"\nrequest = \"1 KiB\"\nfootprint = \"128 KiB\"\n";

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

fn result(workload: &str, requests: u64, stack: &str) -> Result<WornOut, String> {
    let checked = checked(workload, requests, stack).map_err(|problems| problems.to_string())?;
    let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
    Ok(outcome.map_err(|problems| problems.to_string())?.record.worn_out.expect("it was requested"))
}

fn checked(workload: &str, requests: u64, stack: &str) -> Result<Checked, Problems> {
    let text =
        format!("[workload]\n{workload}requests = {requests}\n[stack]\n{stack}[run]\nwear_out = true\n");
    check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None })
}

fn worn_out(workload: &str, requests: u64, stack: &str) -> WornOut {
    result(workload, requests, stack).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The write that the bursts name is the one at which the simulation, request by request, has worn a row out.
#[test]
fn writing_on_in_bursts_ends_at_the_write_at_which_the_simulation_does() {
    let level = |settings: &str| format!("{SMALL}wear_levelling = {{ kind = \"start_gap\", {settings} }}\n");
    for stack in [
        format!("{SMALL}wear_levelling = \"none\"\n"),
        level("interval = 128"),
        level("interval = 3"),
        level("interval = 1, randomise = true"),
        level("interval = 5, domains = 8, randomise = true"),
        level("interval = 100, domains = 4, adapt = true, window = 64"),
    ] {
        let writes = format!("{BIRTHDAY}writes = 90\n");
        let sets = format!("{BIRTHDAY}lines = 5\nwrites = 40\nburst = 4\n");
        for workload in
            [HAMMER, &writes, &sets, "kind = \"uniform\"\nfootprint = \"128 KiB\"\nread_share = \"0 %\"\n"]
        {
            let told = worn_out(workload, 50, &stack);
            let last = told.writes.expect("it lasts longer than 50 writes");
            assert!(!told.simulated && last > 500);
            let before = worn_out(workload, last - 1, &stack);
            assert_eq!((before.simulated, before.writes), (false, Some(last)), "{workload} on {stack}");
            assert!(worn_out(workload, last, &stack).simulated, "{workload} on {stack}");
        }
    }
}

/// A million programs of a row at the 11,499 rows a second that 47.1 MB/s are: akel-2011 sections 2.3 and 3.3.
#[test]
fn a_hammered_row_is_worn_out_in_87_seconds_before_start_gap_moves_it() {
    let workload =
        "kind = \"hammer\"\nrequest = \"512 B\"\narrival = { kind = \"periodic\", rate = \"11499 Hz\" }\n";
    for levelling in ["\"none\"", "{ kind = \"start_gap\", interval = 128 }"] {
        let worn =
            worn_out(workload, 1_000_100, &format!("preset = \"onyx\"\nwear_levelling = {levelling}\n"));
        assert!(worn.simulated && (worn.seconds - 86.96).abs() < 0.05, "{worn:?}");
    }
}

/// One row takes `N * G` writes in a place and comes back when it was in all `N + 1`; meanwhile each place was
/// copied into `N` times. So one domain takes about `N * endurance * G / (G + 1)` writes.
#[test]
fn hammering_one_domain_ends_with_the_endurance_of_all_its_rows() {
    for (interval, endurance) in [(1, 3000), (4, 10_000), (16, 60_000)] {
        let stack = SMALL.replace("endurance = 500", &format!("endurance = {endurance}"));
        let stack = format!("{stack}wear_levelling = {{ kind = \"start_gap\", interval = {interval} }}\n");
        let writes = worn_out(HAMMER, 10, &stack).writes.expect("it takes long") as f64;
        let law = 65.0 * f64::from(endurance) * f64::from(interval) / f64::from(interval + 1);
        // The last stay is cut off, or the one before it.
        let stay = 65.0 * 64.0 * f64::from(interval);
        assert!((writes - law).abs() < 1.1 * stay, "{writes} writes, {law} by the law");
    }
}

/// Shorter stays, and several domains: what the attack costs is orders of magnitude more.
#[test]
fn domains_and_an_interval_that_follows_outlast_an_attack_that_one_domain_does_not() {
    let attack = "kind = \"hammer\"\nrequest = \"4 KiB\"\n";
    let years = |levelling: &str| {
        let worn = worn_out(
            attack,
            20_000,
            &format!("preset = \"onyx\"\nwear_levelling = {{ kind = \"start_gap\", {levelling} }}\n"),
        );
        worn.seconds
    };
    let (one, many) = (years("interval = 128"), years("interval = 128, domains = 64"));
    let following = years("interval = 128, domains = 64, adapt = true");
    assert!(one < 300.0, "{one} s");
    assert!(many > 86_400.0 && following > many, "{many} s and {following} s");
}

/// A life of 2^40 writes is not one step, and ends where whoever watches wants it to.
#[test]
fn writing_on_can_be_ended_between_bounded_steps() {
    let stack = SMALL.replace("endurance = 500", "endurance = 4294967294");
    let stack = format!("{stack}wear_levelling = {{ kind = \"start_gap\", interval = 4 }}\n");
    let checked = checked(HAMMER, 10, &stack).unwrap_or_else(|problems| panic!("{problems}"));
    let (mut steps, mut before) = (0, 10);
    let outcome = run(&checked, &NoFiles, &mut |progress| {
        if progress.preconditioning && progress.done > 10 {
            assert!(progress.done - before <= WRITES, "{} writes in one step", progress.done - before);
            (steps, before) = (steps + 1, progress.done);
        }
        if steps == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let outcome = outcome.unwrap_or_else(|problems| panic!("{problems}"));
    assert!(steps == 3 && !outcome.record.complete);
    assert!(outcome.record.worn_out.is_none());
}

#[test]
fn what_cannot_be_worn_out_is_said_with_a_remedy() {
    let reads = "kind = \"uniform\"\nfootprint = \"64 KiB\"\n";
    for (workload, stack, expected) in [
        (reads, SMALL, "run.wear_out (test.toml:"),
        (HAMMER, "preset = \"pcm_ssd\"\n", "the stack, measured, does not support run.wear_out"),
        (HAMMER, HELD_BACK, "the stack, server_cache, does not support run.wear_out"),
    ] {
        let found = result(workload, 10, stack).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}
