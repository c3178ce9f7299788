use crate::testing::{check_repeatable, problems, requests};
use nacre_kernel::{Op, Request};

fn log(count: u32, settings: &str) -> Vec<Request> {
    requests(&format!(
        "kind = \"log\"\nrequests = {count}\nrequest = \"1 KiB\"\nstart = \"1 MiB\"\n{settings}"
    ))
}

fn listed(requests: &[Request]) -> Vec<(Op, u64, u32)> {
    let kib = |request: &Request| (request.op, (request.address - (1 << 20)) / 1024, request.bytes / 1024);
    requests.iter().map(kib).collect()
}

#[test]
fn zones_are_trimmed_and_written_one_after_the_other_for_ever() {
    let (trim, write) = (Op::Trim, Op::Write);
    let round = [(trim, 0, 2), (write, 0, 1), (write, 1, 1), (trim, 2, 2), (write, 2, 1), (write, 3, 1)];
    assert_eq!(listed(&log(12, "footprint = \"4 KiB\"\nzone = \"2 KiB\"")), [round, round].concat());
}

/// Tests that several open zones are written in the same order as by fio. Each open zone is trimmed before
/// its first write.
#[test]
fn open_zones_are_written_in_turn() {
    let (trim, write) = (Op::Trim, Op::Write);
    let group = |first: u64| {
        let [a, b] = [first, first + 2];
        [(trim, a, 2), (write, a, 1), (trim, b, 2), (write, b, 1), (write, a + 1, 1), (write, b + 1, 1)]
    };
    let settings = "footprint = \"8 KiB\"\nzone = \"2 KiB\"\nopen_zones = 2";
    assert_eq!(listed(&log(18, settings)), [group(0), group(4), group(0)].concat());
}

#[test]
fn reads_of_a_log_with_open_zones_find_data() {
    let settings = "footprint = \"16 KiB\"\nzone = \"2 KiB\"\nopen_zones = 4\nread_share = \"80 %\"";
    let (mut held, mut was_read) = ([false; 16], [false; 16]);
    for (op, block, count) in listed(&log(5_000, settings)) {
        let blocks = block as usize..(block + count as u64) as usize;
        match op {
            Op::Read => {
                assert!(held[blocks.start], "block {block} was read, which the log does not hold");
                was_read[blocks.start] = true;
            }
            op => held[blocks].fill(op == Op::Write),
        }
    }
    assert_eq!(was_read, [true; 16]);
}

#[test]
fn reads_go_to_all_that_the_log_holds_and_nowhere_else() {
    let settings = "footprint = \"12 KiB\"\nzone = \"4 KiB\"\nread_share = \"90 %\"";
    let mut held = [false; 12];
    let mut read = [0; 12];
    for (op, block, count) in listed(&log(20_000, settings)) {
        let blocks = block as usize..(block + u64::from(count)) as usize;
        match op {
            Op::Read => {
                assert!(held[blocks.start], "block {block} was read, which the log does not hold");
                read[blocks.start] += 1;
            }
            op => held[blocks].fill(op == Op::Write),
        }
    }
    let all: u32 = read.iter().sum();
    assert!((17_800..18_200).contains(&all), "{all} reads");
    // During a round, the log has five states: 8 blocks with data after the trim of a zone, and one block
    // more after each write. A block of the zone has no data in the states before its write. Each state has
    // the same number of reads.
    let states = [8.0, 9.0, 10.0, 11.0, 12.0].map(|held| 1.0 / held);
    let others = 2.0 * states.iter().sum::<f64>();
    for (block, &of) in read.iter().enumerate() {
        let own: f64 = states[block % 4 + 1..].iter().sum();
        let law = f64::from(all) / 15.0 * (others + own);
        assert!(
            (f64::from(of) - law).abs() < 4.0 * law.sqrt(),
            "block {block} was read {of} times, not {law}"
        );
    }
}

#[test]
fn the_log_follows_its_seed() {
    check_repeatable(
        "kind = \"log\"\nrequests = 5_000\nfootprint = \"1 MiB\"\nzone = \"64 KiB\"\nread_share = \"50 %\"",
    );
}

#[test]
fn open_zones_divide_the_zones() {
    let settings = "kind = \"log\"\nrequests = 9\nfootprint = \"40 KiB\"\nzone = \"8 KiB\"\nopen_zones = 2";
    assert_eq!(
        problems(settings),
        [
            "workload.open_zones (test.toml:6): the footprint has 5 zones, which is not a multiple, given 2; use a divisor of \
          the number of zones, or another footprint"
        ]
    );
}

#[test]
fn zones_that_do_not_fit_are_refused() {
    let settings = "kind = \"log\"\nrequests = 9\nfootprint = \"40 KiB\"\nzone = \"6 KiB\"";
    assert_eq!(
        problems(settings),
        [
            "workload.zone (test.toml:5): it is not a whole number of requests of 4 KiB, given 6 KiB; use a multiple of \
             request",
            "workload.footprint (test.toml:4): it is not a whole number of zones of 6 KiB, at least two, given 40 KiB; \
             use 36 KiB, or another size of zone",
        ]
    );
    let settings = "kind = \"log\"\nrequests = 9\nfootprint = \"40 KiB\"\nzone = \"40 KiB\"";
    assert!(problems(settings)[0].contains("use 80 KiB"));
}
