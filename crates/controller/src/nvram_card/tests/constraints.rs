//! Tests each timing constraint of the memory as the bottleneck. The memory is DDR3-1066, with one setting
//! increased until it is the longest constraint.

use super::laws::clocks_at;
use super::*;
use nacre_testkit::assert_close;

/// Rows stay open, and requests keep their order. In any other order, writes could overtake reads that wait
/// for tWTR.
const IN_ORDER: &str = "open\"\nscheduler = \"fcfs";

type Requests<'a> = &'a dyn Fn(u64) -> (Op, u32, u64);

/// Address of request `number` if successive requests use successive rows of one bank. The requests of the
/// next two functions use successive banks, and successive bursts of one row.
fn row_of_bank(number: u64) -> u64 {
    number % 8192 * (64 << 10)
}
fn banks_in_turn(number: u64) -> u64 {
    number % 65_536 * (8 << 10)
}
fn same_row(number: u64) -> u64 {
    number % 128 * 64
}

/// For each of `settings`, checks the number of clocks per request. A clock takes 1.875 ns, and `depth`
/// requests are outstanding.
fn binds(name: &str, depth: u32, rows: &str, requests: Requests<'_>, settings: &[(&str, f64)]) {
    for &(setting, expected) in settings {
        let field = setting.split(' ').next().expect("it begins with one");
        let card: Vec<_> = unrefreshed()
            .lines()
            .filter(|line| !line.starts_with(&format!("{field} ")))
            .map(str::to_string)
            .collect();
        let card = card.join("\n");
        let toml = format!("{card}\n{setting}\nrows = \"{rows}\"\nprocessing = \"0 s\"\n{NO_HOST}");
        let found = clocks_at(&toml, 1.875, depth, requests);
        assert_close(&format!("{name}, {setting}"), found, expected, 0.01);
    }
}

#[test]
fn constraints_of_rows_bind_where_they_are_the_longest() {
    let reads = |number| (Op::Read, 64, row_of_bank(number));
    let writes = |number| (Op::Write, 64, row_of_bank(number));
    let banks = |number| (Op::Read, 64, banks_in_turn(number));
    // The constraint is longer than tRAS and tRP together, which take 27 clocks.
    binds("tRC", 16, "closed", &reads, &[("row_cycle = \"60 ns\"", 32.0), ("row_cycle = \"75 ns\"", 40.0)]);
    binds(
        "tRAS",
        16,
        "closed",
        &reads,
        &[("row_open = \"45 ns\"", f64::from(24 + 7)), ("row_open = \"60 ns\"", f64::from(32 + 7))],
    );
    // The constraint applies after tRCD and before tRP, of seven clocks each, and is longer than tRAS and
    // tRP.
    let settings = [
        ("read_to_precharge = \"30 ns\"", f64::from(7 + 16 + 7)),
        ("read_to_precharge = \"45 ns\"", f64::from(7 + 24 + 7)),
    ];
    binds("tRTP", 16, "closed", &reads, &settings);
    let settings = [
        ("write_recovery = \"15 ns\"", f64::from(7 + 6 + 4 + 8 + 7)),
        ("write_recovery = \"30 ns\"", f64::from(7 + 6 + 4 + 16 + 7)),
    ];
    binds("tWR", 16, "closed", &writes, &settings);
    // The constraint is longer than a quarter of tFAW, which is five clocks.
    let settings =
        [("activate_to_activate = \"15 ns\"", 8.0), ("activate_to_activate = \"20.625 ns\"", 11.0)];
    binds("tRRD", 16, "closed", &banks, &settings);
}

/// If only one request is outstanding, each request takes tRCD, the read latency CL or the write latency CWL,
/// and four clocks of data.
#[test]
fn latencies_bind_where_one_waits_for_the_other() {
    let reads = |number| (Op::Read, 64, banks_in_turn(number));
    let writes = |number| (Op::Write, 64, banks_in_turn(number));
    binds(
        "CL",
        1,
        "closed",
        &reads,
        &[("read_latency = 7", f64::from(7 + 7 + 4)), ("read_latency = 12", f64::from(7 + 12 + 4))],
    );
    binds(
        "CWL",
        1,
        "closed",
        &writes,
        &[("write_latency = 6", f64::from(7 + 6 + 4)), ("write_latency = 9", f64::from(7 + 9 + 4))],
    );
    let settings = [
        ("activate_to_access = \"13.125 ns\"", f64::from(7 + 7 + 4)),
        ("activate_to_access = \"30 ns\"", f64::from(16 + 7 + 4)),
    ];
    binds("tRCD", 1, "closed", &reads, &settings);
}

/// Two writes and two reads of one open row alternate, so tCCD applies twice per four requests. A write
/// followed by a read takes CWL, data, and tWTR. A read followed by a write takes CL + tCCD + 2 - CWL
/// clocks.
#[test]
fn turns_of_the_bus_bind_where_reads_follow_writes() {
    let in_turn = |number: u64| (if number % 4 < 2 { Op::Write } else { Op::Read }, 64, same_row(number));
    let four =
        |write_to_read: u32, read_to_write: u32| f64::from(4 + 4 + write_to_read + read_to_write) / 4.0;
    let settings = [
        ("write_to_read = \"11.25 ns\"", four(6 + 4 + 6, 7)),
        ("write_to_read = \"26.25 ns\"", four(6 + 4 + 14, 7)),
    ];
    binds("tWTR", 16, IN_ORDER, &in_turn, &settings);
    let settings = [
        ("read_latency = 8", four(6 + 4 + 4, 8 + 4 + 2 - 6)),
        ("read_latency = 12", four(6 + 4 + 4, 12 + 4 + 2 - 6)),
    ];
    binds("a read, then a write", 16, IN_ORDER, &in_turn, &settings);
    let reads = |number| (Op::Read, 64, same_row(number));
    binds("tCCD", 16, "open", &reads, &[("access_to_access = 4", 4.0), ("access_to_access = 6", 6.0)]);
}

/// Bursts that alternate between four bank groups are tCCD_S apart, which is four clocks of data. Bursts of
/// one row are tCCD_L apart.
#[test]
fn data_of_ddr4_takes_its_lines_where_groups_are_taken_in_turn() {
    let ddr4 = unrefreshed()
        + "groups = 4\nbanks = 4\nrounding = \"ddr4\"\naccess_to_access_in_group = \"11.25 ns\"\nrows = \"open\"\n";
    for (setting, expected) in [("true", 64.0 * 4.0), ("false", 64.0 * 6.0)] {
        let card = format!("{ddr4}interleave_groups = {setting}\nprocessing = \"0 s\"\n{NO_HOST}");
        for op in [Op::Read, Op::Write] {
            let found = clocks_at(&card, 1.875, 16, |number| (op, 4096, number % 1024 * 4096));
            assert_close(setting, found, expected, 0.01);
        }
    }
}
