use super::WRITES;
use crate::record::WornOut;
use crate::{Checked, Document, Files, check, run};
use nacre_config::Problems;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// A device of two controllers, each with 64 rows of 1 KiB. The endurance is 500 programs.
const SMALL: &str = "kind = \"onyx\"\ncontrollers = 2\nranks = 2\nrow_ranks = 2\nchip = \"8 KiB\"\nrow = \"1 KiB\"\n\
    endurance = 500\n";
const HAMMER: &str = "kind = \"hammer\"\nrequest = \"1 KiB\"\naddress = \"5 KiB\"\n";
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

/// Compares bursts with a simulation of single requests: both wear out a row at the same write.
#[test]
fn writing_on_in_bursts_ends_at_the_write_at_which_the_simulation_does() {
    let level = |settings: &str| format!("{SMALL}wear_leveling = {{ kind = \"start_gap\", {settings} }}\n");
    for stack in [
        format!("{SMALL}wear_leveling = \"none\"\n"),
        level("interval = 128"),
        level("interval = 3"),
        level("interval = 1, randomize = true"),
        level("interval = 5, domains = 8, randomize = true"),
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

/// Tests the wear-out time of a hammered row. At 47.1 MB/s, i.e. 11,499 rows per second, one row is
/// programmed a million times in 87 s (akel-2011, sections 2.3 and 3.3). The tool of the paper writes
/// zeros.
#[test]
fn a_hammered_row_is_worn_out_in_87_seconds_before_start_gap_moves_it() {
    let workload =
        "kind = \"hammer\"\nrequest = \"512 B\"\narrival = { kind = \"periodic\", rate = \"11499 Hz\" }\n";
    for leveling in ["\"none\"", "{ kind = \"start_gap\", interval = 128 }"] {
        let stack = format!("preset = \"onyx\"\nzero_words = \"100 %\"\nwear_leveling = {leveling}\n");
        let worn = worn_out(workload, 1_000_100, &stack);
        assert!(worn.simulated && (worn.seconds - 86.96).abs() < 0.05, "{worn:?}");
    }
}

/// Tests the closed form for an attack on one domain of `N` rows, of which start-gap moves one per `G`
/// writes. The attacked row takes `N * G` writes at a location and returns after all `N + 1` locations.
/// Meanwhile, each location received `N` copies of rows. The domain therefore takes about `(N + 1) *
/// endurance * G / (G + 1)` writes.
#[test]
fn hammering_one_domain_ends_with_the_endurance_of_all_its_rows() {
    for (interval, endurance) in [(1, 3000), (4, 10_000), (16, 60_000)] {
        let stack = SMALL.replace("endurance = 500", &format!("endurance = {endurance}"));
        let stack = format!("{stack}wear_leveling = {{ kind = \"start_gap\", interval = {interval} }}\n");
        let writes = worn_out(HAMMER, 10, &stack).writes.expect("it takes long") as f64;
        let law = 65.0 * f64::from(endurance) * f64::from(interval) / f64::from(interval + 1);
        // The last or second-last stay of the row at a location is incomplete.
        let stay = 65.0 * 64.0 * f64::from(interval);
        assert!((writes - law).abs() < 1.1 * stay, "{writes} writes, {law} by the law");
    }
}

/// Tests that an attack needs orders of magnitude more writes with several domains than with one, and still
/// more with an adaptive interval.
#[test]
fn domains_and_an_interval_that_follows_outlast_an_attack_that_one_domain_does_not() {
    let attack = "kind = \"hammer\"\nrequest = \"4 KiB\"\n";
    let years = |leveling: &str| {
        let worn = worn_out(
            attack,
            20_000,
            &format!("preset = \"onyx\"\nwear_leveling = {{ kind = \"start_gap\", {leveling} }}\n"),
        );
        worn.seconds
    };
    let (one, many) = (years("interval = 128"), years("interval = 128, domains = 64"));
    let following = years("interval = 128, domains = 64, adapt = true");
    assert!(one < 300.0, "{one} s");
    assert!(many > 86_400.0 && following > many, "{many} s and {following} s");
}

/// Tests that `watch` can stop the wear-out. Rows with an endurance of 2^32 programs are worn out in
/// several steps, and `watch` is called between them.
#[test]
fn writing_on_can_be_ended_between_bounded_steps() {
    let stack = SMALL.replace("endurance = 500", "endurance = 4294967294");
    let stack = format!("{stack}wear_leveling = {{ kind = \"start_gap\", interval = 4 }}\n");
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

/// A drive of 12 blocks of 64 pages on one die, with an endurance of 20 erases.
const DRIVE: &str = "channels = 1\nways = 1\nplanes = 1\nblocks = 12\npages = 64\npage = \"4 KiB\"\nunit = \"4 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nendurance = 20\nendurance_spread = \"0 %\"\n\
    bus = \"400 MB/s\"\ncommand = \"300 ns\"\nover_provisioning = \"80 %\"\nspare_blocks = 0\nfactory_bad = \"0 %\"\n\
    buffer = \"8 KiB\"\nlink = \"1 GB/s\"\ncpus = 1\n";
const UNIFORM: &str =
    "kind = \"uniform\"\nfootprint = \"96 KiB\"\nrequest = \"4 KiB\"\nread_share = \"0 %\"\n";
const STORE: &str =
    "backing = { kind = \"measured\", read = \"100 us\", write = \"200 us\", capacity = \"3 MiB\" }\n";
const CODE: &str = "ecc = { kind = \"bch\", t = 8, crc32 = true }\n";

/// Returns a stack for every kind of device that wears, with the endurance of its blocks or rows in cycles.
fn kinds_that_wear() -> Vec<(&'static str, String, u64)> {
    let of = |settings: &str, below: &str| format!("{settings}{below}");
    let onyx = "kind = \"onyx\", controllers = 2, ranks = 2, row_ranks = 2, chip = \"8 KiB\", row = \"1 KiB\", endurance = 50";
    let drive = format!("kind = \"ssd\"\n{DRIVE}");
    let within = drive.trim_end().replace('\n', ", ");
    let envy = "kind = \"envy\"\nsegments = 8\nsegment = \"16 KiB\"\npage = \"256 B\"\nbuffer = \"4 KiB\"\nendurance = 60\n\
                utilization = \"88 %\"\ncleaning = \"greedy\"\nwear_swap_gap = 5\n";
    let flash = "kind = \"flash_disk_cache\"\nblocks = 16\nslots = 16\nwrite_region = \"0 %\"\nslc_endurance = 40\nmlc_endurance = 40\n\
                 density = \"slc\"\n";
    let pcm = "kind = \"pcm_disk_cache\"\ncapacity = \"128 KiB\"\nendurance = 30\n";
    vec![
        ("ssd", drive.clone(), 20),
        (
            "zns_ssd",
            format!("kind = \"zns_ssd\"\nactive_zones = 2\n{}", DRIVE.replace("8 KiB", "64 KiB")),
            20,
        ),
        ("envy", envy.into(), 60),
        // The flash is rated for 40 erases at a bit error rate of 1e-6. The code corrects the bit errors of
        // its pages until 240 erases.
        ("flash_disk_cache", of(flash, &format!("{CODE}{STORE}")), 240),
        ("pcm_disk_cache", of(pcm, &format!("{CODE}{STORE}")), 30),
        ("mirror", format!("kind = \"mirror\"\nmember = [{{ {onyx} }}, {{ {onyx} }}]\n"), 50),
        ("faulty", format!("kind = \"faulty\"\ndevice = {{ {within} }}\n"), 20),
        (
            "server_cache",
            format!(
                "kind = \"server_cache\"\nblock = \"4 KiB\"\nwrite_back = {{}}\nbacking = {{ {onyx} }}\n\
                 level = [{{ device = {{ preset = \"pcm_ssd\", capacity = \"32 KiB\" }} }}]\n"
            ),
            50,
        ),
    ]
}

/// Returns the largest number of erases or programs of any block or row in the stack.
fn most_cycles(record: &crate::record::Record) -> u64 {
    let wears = record.components.iter().filter_map(|component| component.wear.as_ref());
    let most = wears.map(|wear| {
        let blocks = wear.block_erases.as_ref().map_or(0, |blocks| blocks.max);
        u64::from(blocks.max(wear.row_programs.as_ref().map_or(0, |rows| rows.max)))
    });
    most.max().unwrap_or(0)
}

/// Tests every kind of device that wears: writes continue until a check finds a block or row that exceeded
/// its endurance or was retired.
#[test]
fn every_device_that_wears_is_worn_out() {
    for (kind, stack, cycles) in kinds_that_wear() {
        let workload = match kind {
            "zns_ssd" => UNIFORM.replace(
                "uniform\"\nfootprint = \"96 KiB",
                "log\"\nzone = \"256 KiB\"\nfootprint = \"512 KiB",
            ),
            _ => UNIFORM.into(),
        };
        let checked = checked(&workload, 50, &stack).unwrap_or_else(|problems| panic!("{kind}: {problems}"));
        let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
        let record = outcome.unwrap_or_else(|problems| panic!("{kind}: {problems}")).record;
        let worn = record.worn_out.as_ref().expect("it was asked for");
        let (writes, most) = (worn.writes.expect("50 writes wear nothing out"), most_cycles(&record));
        assert!(
            (cycles..cycles + cycles / 8 + 2).contains(&most),
            "{kind}: {most} cycles after {writes} writes"
        );
        assert!(!worn.simulated && writes > 50 && worn.seconds > 0.0, "{kind}: {worn:?}");
        assert_eq!(record.requests.completed, 50, "{kind}: what follows is not measured");
    }
}

/// Tests a closed form. Sequential writes erase all blocks equally often, so the drive accepts as many page
/// writes as it has pages, times the endurance of a block.
#[test]
fn a_drive_that_is_written_in_order_takes_its_capacity_as_often_as_it_is_made_for() {
    let stack = format!("kind = \"ssd\"\n{}", DRIVE.replace("endurance = 20", "endurance = 200"));
    let workload =
        "kind = \"sequential\"\nfootprint = \"96 KiB\"\nrequest = \"4 KiB\"\nread_share = \"0 %\"\n";
    let writes = worn_out(workload, 50, &stack).writes.expect("it takes long") as f64;
    let law = 12.0 * 64.0 * 200.0;
    assert!((writes / law - 1.0).abs() < 0.1, "{writes} writes, {law} by the law");
}

/// Tests that wear-out ends with an error if the writes fail, are lost, or are rejected. Otherwise, it
/// would continue forever.
#[test]
fn writes_that_do_not_reach_the_medium_end_with_an_error() {
    let within = DRIVE.trim_end().replace('\n', ", ");
    let faulty = |fault: &str| {
        format!("kind = \"faulty\"\ndevice = {{ kind = \"ssd\", {within} }}\nfault = [{{ {fault} }}]\n")
    };
    let zones = format!("kind = \"zns_ssd\"\nactive_zones = 2\n{}", DRIVE.replace("8 KiB", "64 KiB"));
    let rejected = "no write of the run succeeded";
    for (stack, expected) in [
        (faulty("kind = \"error\", operations = [\"write\"]"), rejected),
        (zones, rejected),
        (
            faulty("kind = \"lost_write\", share = \"100 %\""),
            "writes did not reach blocks or rows with an endurance",
        ),
    ] {
        let found = result(UNIFORM, 10, &stack).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn what_cannot_be_worn_out_is_said_with_a_remedy() {
    let reads = "kind = \"uniform\"\nfootprint = \"64 KiB\"\n";
    let endless =
        format!("kind = \"ssd\"\n{}", DRIVE.replace("endurance = 20\nendurance_spread = \"0 %\"\n", ""));
    let card = "preset = \"nvram_ddr3_flash\"\n";
    for (workload, stack, expected) in [
        (reads, SMALL, "run.wear_out (test.toml:"),
        (HAMMER, "preset = \"pcm_ssd\"\n", "the stack, measured, has no blocks or rows with an endurance"),
        (HAMMER, card, "the stack, nvram_card, has no blocks or rows with an endurance"),
        (HAMMER, &endless, "the stack, ssd, has no blocks or rows with an endurance"),
    ] {
        let found = result(workload, 10, stack).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}
