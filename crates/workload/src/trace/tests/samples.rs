//! Compares published samples with published facts. The samples are from the repositories of libCacheSim
//! (CloudPhysics), MQSim, SSDSim (UMass, MSR, DiskSim), wiscsee, Block-Traces-Analysis, blktrace_to_influx,
//! fio, and CacheLib. Most of these repositories have no license for data, so Nacre does not include the
//! samples.

use crate::trace::testing::{read_several, sample, strictly};
use crate::trace::{Action, Options, Summary, Tally, TimeUnit};
use nacre_kernel::{Request, Time};

const MIB: f64 = (1 << 20) as f64;

fn read(name: &str, options: &Options) -> (Vec<Request>, Tally, Summary) {
    let bytes = sample(name);
    let (requests, tally) = read_several(&[&bytes], options).unwrap();
    let mut summary = Summary::new();
    summary.add(&requests);
    assert_eq!(summary.records(), tally.records);
    (requests, tally, summary)
}

/// Reads a sample whose format must be detected and which must not have bad records.
fn read_strictly(name: &str, kind: &str) -> (Vec<Request>, Tally, Summary) {
    let found = read(name, &Options { strict: true, ..Options::default() });
    assert_eq!(found.1.format, kind, "{name}");
    found
}

/// Rounds `value` to one decimal, like the published numbers.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn cloudphysics_has_its_published_numbers() {
    let (_, _, summary) = read_strictly("cloudphysics.vscsi", "vscsi");
    assert_eq!(summary.records(), 113_872);
    assert_eq!(tenths(summary.read_share() * 100.0), 41.3);
    assert_eq!(summary.blocks_accessed, 1_141_869);
    assert_eq!(tenths(summary.footprint_bytes() as f64 / MIB), 1051.6);
    assert_eq!(summary.last_arrival.as_secs_f64().round(), 7200.0);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn mqsim_tpcc_has_its_published_numbers() {
    let (_, tally, summary) = read_strictly("mqsim_tpcc-small.trace", "ssdsim");
    assert_eq!(summary.records(), 6_999);
    assert_eq!(tenths(summary.read_share() * 100.0), 62.6);
    assert_eq!((summary.footprint_bytes() as f64 / MIB).round(), 80.0);
    assert_eq!((summary.last_arrival.as_secs_f64() * 1e3).round(), 136.0);
    assert_eq!(summary.volumes(), 16);
    assert_eq!(tally.volumes[..3], ["4", "3", "13"], "in order of first appearance");
    let warnings = summary.warnings(&tally);
    assert!(warnings.len() == 1 && warnings[0].starts_with("times are taken to be ns"), "{warnings:?}");
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn umass_financial_has_its_published_numbers() {
    let (_, _, summary) = read_strictly("umass_Financial1_prefix.ssdsim.ascii", "ssdsim");
    assert_eq!(summary.records(), 10_000);
    assert_eq!(tenths(summary.read_share() * 100.0), 40.8);
    assert_eq!(tenths(summary.footprint_bytes() as f64 / MIB), 28.6);
    assert_eq!(tenths(summary.last_arrival.as_secs_f64()), 259.6);
    assert_eq!(summary.volumes(), 22);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn msr_for_ssdsim_counts_100_ns_and_one_file_has_trims() {
    let options = Options { time_unit: Some(TimeUnit::HundredNs), strict: true, ..Options::default() };
    let (requests, _, summary) = read("msr_hm_1.revised_5000.ssdsim.txt", &options);
    assert_eq!(summary.records(), 5_000);
    assert_eq!(tenths(summary.read_share() * 100.0), 21.9);
    assert_eq!(tenths(summary.footprint_bytes() as f64 / MIB), 20.3);
    assert_eq!(requests[1].arrival, Time::from_ns((20_573 - 10_347) * 100));

    let (_, _, summary) = read("msr_hm_1.revised_001_5000.ssdsim.txt", &options);
    assert_eq!((summary.reads, summary.writes, summary.trims), (1_096, 3_904, 3));
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn disksim_postmark_has_its_published_numbers() {
    let (_, _, summary) = read_strictly("disksim_ssd-postmark-aligned2.trace", "disksim");
    assert_eq!(summary.records(), 62_257);
    assert_eq!(tenths(summary.read_share() * 100.0), 83.2);
    assert_eq!(tenths(summary.footprint_bytes() as f64 / MIB), 5989.8);
    assert_eq!(summary.last_arrival.as_secs_f64().round(), 490.0);
    let mean = (summary.bytes_read + summary.bytes_written) as f64 / summary.records() as f64;
    assert_eq!((mean / 1024.0).round(), 222.0);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn blkparse_of_wiscsee_has_only_issued_requests() {
    let (_, tally, summary) = read_strictly("wiscsee_blkparse.txt", "blkparse");
    assert_eq!((summary.reads, summary.writes), (161, 512));
    assert!(tally.notes[0].contains("D (issued to the driver)"), "{:?}", tally.notes);
    assert_eq!(tally.volumes, ["8,33"]);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn blkparse_of_evelii_counts_each_request_once() {
    let (_, tally, summary) = read_strictly("evelii_nvme_blkparse.txt", "blkparse");
    assert_eq!((summary.reads, summary.writes), (1_695, 0));
    assert_eq!((summary.footprint_bytes() as f64 / MIB).round(), 189.0);
    assert_eq!((summary.last_arrival.as_secs_f64() * 100.0).round(), 68.0);
    assert!(tally.notes[0].contains("Q (queued)"), "{:?}", tally.notes);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn blktrace_of_keks_is_whole_and_its_events_add_up() {
    let (_, tally, summary) = read_strictly("isotopp_keks.blktrace.3", "blktrace");
    // The sample has 1,548 records: 72 notes, 270 D events, 1,206 C events, and no Q events. 5 of the D
    // events are flushes, according to the script of the sample.
    assert_eq!((summary.records(), tally.skipped), (270, 1_278));
    let completed = Options { action: Some(Action::Complete), ..strictly("blktrace") };
    let (_, tally, summary) = read("isotopp_keks.blktrace.3", &completed);
    assert_eq!((summary.records(), tally.skipped), (1_182, 366), "24 of the C move nothing");
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn fio_t0038_has_its_trims_and_writes() {
    let (requests, _, summary) = read_strictly("fio_t0038_v3.iolog", "fio_iolog");
    assert_eq!((summary.writes, summary.trims), (10, 10));
    assert_eq!(requests[0].bytes, 1 << 31);
    assert_eq!(summary.last_arrival, Time::from_us(10_809 - 10_736));
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn cachelib_has_its_gets_and_puts() {
    let (_, tally, summary) = read_strictly("cachelib_block_traces_1.csv", "cachelib");
    assert_eq!((summary.records(), summary.reads), (999, 599));
    assert_eq!(tally.skipped, 1, "the header");
}
