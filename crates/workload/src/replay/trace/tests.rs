use crate::testing::{Files, drain, problems, workload_over};
use crate::{Pacing, WorkloadError};
use nacre_kernel::{Op, Request, Time};

const CSV: &[u8] = b"timestamp_us,op,offset,length,volume\n\
    100,read,4096,4096,7\n\
    250.5,write,5242880,512,8\n\
    300,flush,0,0,8\n\
    400,trim,1048064,1024,7\n";
const BAD: &[u8] =
    b"timestamp_us,op,offset,length\n1,read,0,512\n2,reed,0,512\n3,write,512,512\n1,write,1024,512\n";
const FAR: &[u8] = b"timestamp_us,op,offset,length\n1,read,0,512\n2,read,17592186044416,512\n3,read,0,512\n";
const FILES: Files = &[("two.csv", CSV), ("bad.csv", BAD), ("far.csv", FAR)];

fn replayed(settings: &str, limit: usize) -> Vec<Request> {
    let settings = format!("kind = \"trace\"\n{settings}");
    let mut workload = workload_over(FILES, &settings, 1).unwrap_or_else(|problems| panic!("{problems}"));
    drain(&mut *workload, limit).unwrap()
}

fn request(ns: u64, op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::from_ns(ns), address, bytes, volume: 0, op }
}

#[test]
fn requests_keep_their_times_and_addresses() {
    let expected = [
        request(0, Op::Read, 4096, 4096),
        request(150_500, Op::Write, (1 << 44) + (5 << 20), 512),
        request(200_000, Op::Flush, 0, 0),
        request(300_000, Op::Trim, 1_048_064, 1024),
    ];
    assert_eq!(replayed("file = \"two.csv\"", 100), expected);
    assert_eq!(replayed("files = [\"two.csv\"]\nformat = \"nacre_csv\"", 1), expected);
    assert_eq!(replayed("file = \"two.csv\"\nlimit = 2", 100), expected[..2]);
}

#[test]
fn times_may_be_scaled_or_replaced() {
    let settings = "file = \"two.csv\"\narrival = { kind = \"recorded\", scale = 10 }";
    let arrivals =
        |settings| replayed(settings, 100).iter().map(|request| request.arrival).collect::<Vec<_>>();
    assert_eq!(arrivals(settings), [0, 15_050, 20_000, 30_000].map(Time::from_ns));
    let settings = "file = \"two.csv\"\narrival = { kind = \"periodic\", rate = \"1 MHz\" }";
    assert_eq!(arrivals(settings), [0, 1, 2, 3].map(Time::from_us));
    let settings = "kind = \"trace\"\nfile = \"two.csv\"\narrival = { kind = \"closed\", queue_depth = 4 }";
    let workload = workload_over(FILES, settings, 1).unwrap();
    assert_eq!(workload.pacing(), Pacing::Closed { queue_depth: 4, think: Time::ZERO });
    assert_eq!((workload.expected(), workload.reach()), (None, None));
}

#[test]
fn compact_placement_fits_a_small_device_and_cuts_at_seams() {
    const MIB: u64 = 1 << 20;
    let expected = [
        request(0, Op::Read, 4096, 4096),
        request(150_500, Op::Write, MIB, 512),
        request(200_000, Op::Flush, 0, 0),
        request(300_000, Op::Trim, MIB - 512, 512),
        request(300_000, Op::Trim, 2 * MIB, 512),
    ];
    let settings = "file = \"two.csv\"\nplacement = \"compact\"";
    for limit in [100, 4, 3, 1] {
        assert_eq!(replayed(settings, limit), expected, "in batches of {limit}");
    }
}

#[test]
fn the_notes_tell_what_was_read_and_how() {
    let notes = |settings: &str| {
        let settings = format!("kind = \"trace\"\n{settings}");
        let mut workload = workload_over(FILES, &settings, 1).unwrap();
        drain(&mut *workload, 100).unwrap();
        workload.notes()
    };
    let found = notes("file = \"bad.csv\"");
    assert_eq!((found.kind, found.records, found.bad_records), ("trace", 3, 1));
    assert_eq!(found.notes[0], "read as nacre_csv, times in us");
    assert!(found.notes.contains(&"requests recorded out of order: 1".to_string()), "{found:?}");
    assert!(found.notes.iter().any(|note| note.starts_with("bad record at bad.csv, line 3: ")), "{found:?}");
    let found = notes("file = \"two.csv\"\nplacement = \"compact\"");
    assert_eq!(found.records, 5);
    for expected in [
        "volumes: 2",
        "compact placement: 3 extents, 3 MiB",
        "requests split at the boundaries of extents: 1",
    ] {
        assert!(found.notes.contains(&expected.to_string()), "{expected}: {found:?}");
    }
}

fn error(settings: &str) -> WorkloadError {
    let settings = format!("kind = \"trace\"\n{settings}");
    let mut workload = workload_over(FILES, &settings, 1).unwrap();
    drain(&mut *workload, 100).unwrap_err()
}

#[test]
fn a_bad_record_ends_a_strict_replay() {
    let error = error("file = \"bad.csv\"\nstrict = true");
    assert_eq!(error.path(), "workload.file");
    assert!(error.problem().starts_with("bad.csv, line 3: "), "{error}");
    let remedy = "disable strict (strict = false, or no --strict) to skip and count bad records";
    assert_eq!(error.remedy(), remedy);
    assert_eq!(error.to_string(), format!("workload.file: {}; {remedy}", error.problem()));
}

#[test]
fn an_address_past_its_volume_is_refused_and_fits_when_compacted() {
    assert_eq!(
        error("file = \"far.csv\"").to_string(),
        "workload.file: request 2 cannot be placed: it reaches to byte 17592186044928 of volume 0, and by placement = \
         \"as_recorded\" a volume has 16 TiB; use placement = \"compact\""
    );
    let compact = replayed("file = \"far.csv\"\nplacement = \"compact\"", 100);
    assert_eq!(compact.iter().map(|request| request.address).collect::<Vec<_>>(), [0, 1 << 20, 0]);
}

#[test]
fn mistakes_come_all_at_once() {
    let settings =
        "kind = \"trace\"\nformat = \"vscsy\"\ntime_unit = \"min\"\naction = \"X\"\npage = \"3 KiB\"";
    let found = problems(settings);
    let expected = [
        "workload.file: there is no trace to replay; give file, or files for several",
        "workload.format (test.toml:3): there is no trace format \"vscsy\", given \"vscsy\"; the formats are nacre, nacre_csv, vscsi",
        "workload.time_unit (test.toml:4): there is no such unit, given \"min\"; use ns, 100ns, us, ms or s",
        "workload.action (test.toml:5): there is no such action, given \"X\"; use Q, D or C",
        "workload.page (test.toml:6): it is not a power of two, given 3 KiB; use 512 B, 1 KiB, 2 KiB, ...",
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
    let both = "kind = \"trace\"\nfile = \"a\"\nfiles = [\"b\"]";
    let expected =
        "workload.file (test.toml:3): file and files are both given, given \"a\"; give one of them";
    assert_eq!(problems(both), [expected]);
    assert_eq!(problems("kind = \"trace\"\nfile = \"a\""), ["workload.file: there is no file a"]);
}
