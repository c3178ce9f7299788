//! Tests of shares of drives, alone and as tiers: their cost, and the caution if they are busy for more than
//! their share.

use super::NoFiles;
use crate::{Document, Record, check, run};
use nacre_testkit::assert_close;
use std::ops::ControlFlow;

fn outcome(text: &str) -> Result<Record, String> {
    let checked = check(&Document { text, name: "test.toml", overrides: &[], seed: None });
    let checked = checked.map_err(|problems| problems.to_string())?;
    let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.map(|outcome| outcome.record).map_err(|problems| problems.to_string())
}

fn record(text: &str) -> Record {
    outcome(text).unwrap_or_else(|problems| panic!("{problems}"))
}

const PCM: &str = "{ kind = \"measured\", drive = \"8 GiB\", read = \"10 us\", write = \"20 us\", parallelism = 4, \
                   idle_power = \"4 W\", read_energy = \"1 uJ\", write_energy = \"1 uJ\", endurance = \"1 TiB\", price = \"8 /GiB\" }";
/// A drive of 400 MiB.
const FLASH: &str = "{ kind = \"ssd\", channels = 2, ways = 2, blocks = 512, pages = 64, page = \"4 KiB\", \
                     read = [\"50 us\"], program = [\"500 us\"], erase = \"3 ms\", bus = \"400 MB/s\", \
                     buffer = \"256 KiB\", link = \"4 GB/s\", endurance = 1000, price = \"1 /GiB\", idle_power = \"8 W\", \
                     read_energy = \"1 uJ\", program_energy = \"1 uJ\", erase_energy = \"1 uJ\", transfer_energy = \"1 uJ\" }";

/// Returns a scenario with tiers of 256 MiB and random writes to all addresses. The first tier has `share`
/// percent of the capacity.
fn tiers(share: u32, requests: u32) -> String {
    format!(
        "[workload]\nkind = \"uniform\"\nrequests = {requests}\nfootprint = \"256 MiB\"\nread_share = \"0 %\"\n\
         [stack]\nkind = \"tiers\"\ncapacity = \"256 MiB\"\nextent = \"1 MiB\"\nplacement = {{ kind = \"dynamic\" }}\n\
         [[stack.tier]]\nshare = \"{share} %\"\ndevice = {PCM}\n\
         [[stack.tier]]\nshare = \"{} %\"\ndevice = {FLASH}\n",
        100 - share
    )
}

#[test]
fn a_tier_pays_for_its_share_whatever_its_device_is() {
    for share in [25, 50, 75] {
        let record = record(&tiers(share, 1_000));
        let [_, pcm, flash] = &record.components[..] else { panic!("three components") };
        let (part, rest) = (f64::from(share) / 100.0, 1.0 - f64::from(share) / 100.0);
        assert_close("PCM", pcm.cost.expect("priced"), 8.0 * 0.25 * part, 1e-9);
        assert_close("flash", flash.cost.expect("priced"), 0.25 * rest, 1e-9);
        let idle = |component: &super::super::Component| component.energy_j.as_ref().expect("known")["idle"];
        let seconds = record.drained_s;
        assert_close("idle PCM", idle(pcm), 4.0 * seconds * part / 32.0, 1e-9);
        assert_close("idle flash", idle(flash), 8.0 * seconds * rest * 256.0 / 400.0, 1e-9);
    }
}

#[test]
fn the_flash_of_a_tier_is_as_full_as_its_share_and_is_cleaned() {
    // 192 MiB are 49,152 units, each of which is written about four times.
    let record = record(&tiers(25, 260_000));
    let flash = record.components[2].wear.as_ref().expect("it wears");
    assert!(flash.valid.is_some_and(|valid| valid > 48_000), "{:?}", flash.valid);
    assert!(flash.write_amplification.is_some_and(|amplified| amplified > 1.5), "{flash:?}");
}

#[test]
fn a_share_too_small_to_be_simulated_is_refused_with_the_least() {
    let problems = outcome(&tiers(99, 10)).expect_err("2 or 3 extents of 1 MiB are no drive of 4 dies");
    assert!(
        problems.contains("stack.tier[1].device.capacity") || problems.contains("so small a share"),
        "{problems}"
    );
    assert!(problems.contains("give at least"), "{problems}");
    let none = record(&tiers(100, 10));
    assert_eq!((none.components[2].cost, none.cost.is_some()), (Some(0.0), true));
}

#[test]
fn a_share_that_works_more_than_it_pays_for_is_said() {
    let alone = |capacity: &str, depth: u32| {
        let device = PCM.trim_start_matches('{').trim_end_matches('}').replace(", ", "\n");
        record(&format!(
            "[workload]\nkind = \"uniform\"\nrequests = 4_000\nfootprint = \"16 MiB\"\n\
             arrival = {{ kind = \"closed\", queue_depth = {depth}, think = \"100 us\" }}\n\
             [stack]\n{device}\ncapacity = \"{capacity}\"\n"
        ))
    };
    let kinds = |record: &Record| record.findings.iter().map(|found| found.kind).collect::<Vec<_>>();
    let small = alone("16 MiB", 4);
    let said =
        small.findings.iter().find(|found| found.kind == "more_than_share").expect("it has the caution");
    assert!(
        said.text.starts_with("stack pays for 0.20 % of a drive but uses 9.1 % of its performance"),
        "{}",
        said.text
    );
    assert!(!kinds(&alone("4 GiB", 4)).contains(&"more_than_share"), "half of a drive, and 10 % of its time");
    assert!(!kinds(&alone("8 GiB", 64)).contains(&"more_than_share"), "a whole drive may be busy");
}

#[test]
fn writes_that_a_worn_out_drive_refuses_are_in_no_rate() {
    let worn = record(
        "[workload]\nkind = \"uniform\"\nrequests = 400_000\nfootprint = \"24 MiB\"\nread_share = \"0 %\"\n\
         [stack]\nkind = \"ssd\"\nchannels = 2\nways = 1\nblocks = 64\npages = 64\npage = \"4 KiB\"\nread = [\"50 us\"]\n\
         program = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nbuffer = \"256 KiB\"\nlink = \"4 GB/s\"\nendurance = 20\n",
    );
    let refused = worn.requests.errors;
    assert!(refused > 100_000 && worn.requests.writes == 400_000, "{:?}", worn.requests);
    let latency = worn.latency.write.as_ref().expect("some were taken");
    assert_eq!(latency.count, 400_000 - refused);
    // Writes were served at the rate of two dies before the drive was worn out. Rejected writes take almost
    // no time.
    let served = (400_000 - refused) as f64 / worn.simulated_s;
    assert_close("requests a second", worn.throughput.iops, served, 1e-9);
    assert_close("bytes a second", worn.throughput.bytes_per_s, served * 4096.0, 1e-9);
    let spent: f64 = worn.time_spent.write.iter().map(|part| part.mean_ns).sum();
    assert_close("the time spent is that of what was served", spent, latency.mean_ns, 1e-6);
    let said =
        worn.findings.iter().find(|found| found.kind == "failed_requests").expect("it has the caution");
    assert!(said.text.starts_with(&format!("{refused} of 400000 requests failed")), "{}", said.text);
    assert!(
        said.text.contains(&format!("stack rejected {refused} writes (table end_of_life")),
        "{}",
        said.text
    );
    assert_eq!(said.paths, ["stack"]);
}
