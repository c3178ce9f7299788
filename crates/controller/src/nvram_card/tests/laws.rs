//! Compares bandwidths, latencies, and shares of time with closed forms.

use super::*;
use nacre_kernel::Pcie;
use nacre_testkit::assert_close;

/// PCI Express 3 x8, the default link of the card.
const LINK: Pcie = Pcie { generation: 3, lanes: 8, payload: 256, read_request: 512, long_addresses: true };
const FLIGHT_NS: f64 = 150.0;
const HOST_MEMORY_NS: f64 = 240.0;

/// Transfer time in seconds of `bytes` bytes, which include packet headers.
fn crossing(bytes: u64) -> f64 {
    bytes as f64 / LINK.raw().0
}

/// Latency of a single request of 4 KiB over NVMe: doorbell, fetch, data, completion, and interrupt.
fn alone(op: Op) -> f64 {
    let bell = crossing(LINK.write_bytes(4));
    let fetch = crossing(LINK.read_request_bytes(64)) + crossing(LINK.completion_bytes(64));
    let told = crossing(LINK.write_bytes(16)) + crossing(LINK.write_bytes(4));
    let (data, flights, memories) = match op {
        Op::Read => (crossing(LINK.write_bytes(4096)), 4.0, 1.0),
        _ => (crossing(LINK.read_request_bytes(4096)) + crossing(LINK.completion_bytes(4096)), 6.0, 2.0),
    };
    bell + fetch + data + told + (flights * FLIGHT_NS + memories * HOST_MEMORY_NS) * 1e-9
}

/// Number of bytes, including packet headers, that a request of 4 KiB transfers in the busier direction.
fn busiest(op: Op) -> u64 {
    match op {
        Op::Read => {
            LINK.read_request_bytes(64) + LINK.write_bytes(4096) + LINK.write_bytes(16) + LINK.write_bytes(4)
        }
        _ => 2 * LINK.write_bytes(4) + LINK.completion_bytes(64) + LINK.completion_bytes(4096),
    }
}

#[test]
fn with_memory_that_takes_no_time_the_card_is_its_link() {
    let toml = format!("{INSTANT}{NVME}");
    for op in [Op::Read, Op::Write] {
        let one = at_random(&toml, op, 4096, 1, 200);
        assert_close("latency alone", one.mean_s(), alone(op), 0.002);
        // The limit is 1.72 million requests per second.
        let cap = 1.0 / crossing(busiest(op));
        for depth in [2, 4, 8, 32, 256] {
            let seen = at_random(&toml, op, 4096, depth, 20_000);
            let law = (f64::from(depth) / alone(op)).min(cap);
            // If the two limits are close, requests sometimes wait for each other.
            let tolerance = if (f64::from(depth) / alone(op) / cap - 1.0).abs() < 0.5 { 0.15 } else { 0.01 };
            assert_close(&format!("{op:?} at depth {depth}"), seen.per_second(), law, tolerance);
        }
    }
}

/// In a closed loop limited by CPUs, the rate is the number of CPUs divided by the CPU time that a request
/// takes in the driver and at completion.
#[test]
fn processors_of_the_host_are_never_idle_while_there_is_work() {
    for (notice, software_ns) in [("polling", 1500.0), ("interrupt", 3000.0)] {
        for cpus in [1, 2, 3] {
            let host = format!("[device.host]\nkind = \"nvme\"\nnotice = \"{notice}\"\ncpus = {cpus}\n");
            for card in [DDR3, MRAM] {
                for depth in [32, 256] {
                    let seen = at_random(&format!("{card}{host}"), Op::Read, 4096, depth, 20_000);
                    let law = f64::from(cpus) * 1e9 / software_ns;
                    let what = format!("{cpus} CPUs, {notice}, depth {depth}");
                    assert_close(&what, seen.per_second(), law.min(1.0 / crossing(busiest(Op::Read))), 0.01);
                }
            }
        }
    }
}

/// Little's law: the mean number of requests in the card equals the rate times the latency. The test measures
/// all three values independently.
#[test]
fn as_many_requests_are_in_the_card_as_come_in_a_second_times_their_seconds() {
    for toml in [format!("{DDR3}{NVME}"), format!("{MRAM}{NVME}")] {
        for depth in [1, 8, 64] {
            let seen = at_random(&toml, Op::Read, 4096, depth, 20_000);
            assert_close("Little's law", seen.per_second() * seen.mean_s(), f64::from(depth), 0.01);
        }
    }
}

/// Clocks per request of `bytes` bytes, with `depth` outstanding requests.
pub(super) fn clocks_at(
    toml: &str,
    clock_ns: f64,
    depth: u32,
    request: impl Fn(u64) -> (Op, u32, u64),
) -> f64 {
    const COUNT: u64 = 20_000;
    let mut device = built(toml);
    let seen = closed_loop(&mut *device, depth, COUNT, |number| {
        let (op, bytes, address) = request(number);
        Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
    });
    1e9 / seen.per_second() / clock_ns
}

/// Clocks per request of `bytes` bytes, with 16 outstanding requests.
fn clocks(toml: &str, clock_ns: f64, op: Op, bytes: u32, address: impl Fn(u64) -> u64) -> f64 {
    clocks_at(toml, clock_ns, 16, |number| (op, bytes, address(number)))
}

#[test]
fn accesses_one_after_the_other_take_what_the_constraint_that_binds_takes() {
    let host = format!("processing = \"0 s\"\n{NO_HOST}");
    let closed = format!("{}{host}", unrefreshed());
    let open = format!("{}rows = \"open\"\n{host}", unrefreshed());
    let in_turn = format!("{}scheduler = \"fcfs\"\n{host}", unrefreshed());
    let mram = format!("{MRAM}{host}");
    // With rows of 8 KiB in eight banks, consecutive rows of a bank are 64 KiB apart. MRAM has rows of 512 B,
    // so they are 4 KiB apart.
    let row_of_bank = |number: u64| number % 8192 * (64 << 10);
    let banks_in_turn = |number: u64| number % 65_536 * (8 << 10);
    let same_row = |number: u64| number % 128 * 64;
    let mram_row_of_bank = |number: u64| number % 8192 * (4 << 10);
    let mram_banks_in_turn = |number: u64| number % 65_536 * 512;
    for (name, toml, clock_ns, op, address, expected) in [
        ("tCCD", &open, 1.875, Op::Read, &same_row as &dyn Fn(u64) -> u64, 4.0),
        ("tCCD of writes", &open, 1.875, Op::Write, &same_row, 4.0),
        // The limit is tRAS of 20 clocks plus tRP of 7 clocks. tRC equals their sum.
        ("tRC", &closed, 1.875, Op::Read, &row_of_bank, 27.0),
        ("tRCD, CWL, data, tWR, tRP", &closed, 1.875, Op::Write, &row_of_bank, (7 + 6 + 4 + 8 + 7) as f64),
        ("tFAW", &closed, 1.875, Op::Read, &banks_in_turn, 20.0 / 4.0),
        // A row is opened after the previous one was read, so the limit is tRCD plus the clock of the read.
        ("tRCD, without looking ahead", &in_turn, 1.875, Op::Read, &banks_in_turn, 8.0),
        ("tRC of MRAM", &mram, 1.876, Op::Read, &mram_row_of_bank, 88.0),
        ("eight rows of MRAM in tRC", &mram, 1.876, Op::Read, &mram_banks_in_turn, 88.0 / 8.0),
    ] {
        let found = clocks(toml, clock_ns, op, 64, address);
        assert_close(name, found, expected, 0.01);
    }
}

/// Random 4 KiB requests reach the bandwidth of the data lines, regardless of row hits. 1066 MT/s over 64
/// data lines are 8.53 GB/s.
#[test]
fn four_kibibytes_at_random_take_the_time_of_their_data() {
    let host = format!("processing = \"0 s\"\n{NO_HOST}");
    for (name, toml, clock_ns) in
        [("DDR3", format!("{}{host}", unrefreshed()), 1.875), ("MRAM", format!("{MRAM}{host}"), 1.876)]
    {
        for op in [Op::Read, Op::Write] {
            let seen = at_random(&toml, op, 4096, 16, 20_000);
            let found = 1e9 / seen.per_second() / clock_ns;
            // Consecutive reads take 256 clocks. Consecutive accesses to different rows of one bank take
            // longer.
            assert!(found > 255.9 && found < 256.0 * 1.12, "{name}, {op:?}: {found} clocks");
        }
    }
}

#[test]
fn refreshing_takes_its_share() {
    let host = format!("processing = \"0 s\"\nrows = \"open\"\n{NO_HOST}");
    let same_row = |number: u64| number % 128 * 64;
    let with = clocks(&format!("{DDR3}{host}"), 1.875, Op::Read, 64, same_row);
    let without = clocks(&format!("{}{host}", unrefreshed()), 1.875, Op::Read, 64, same_row);
    // A refresh takes tRFC of 59 clocks, plus the time to close the previous row and open the next one (tRTP,
    // tRP, and tRCD, minus the last tCCD), every 4160 clocks.
    let share = (59.0 + 4.0 + 7.0 + 7.0 - 4.0) / 4160.0;
    assert_close("share", 1.0 - without / with, share, 0.03);
}

#[test]
fn an_idle_card_is_refreshed_as_often_as_one_at_work() {
    let mut device = built(&format!("{DDR3}{NO_HOST}"));
    let read = |at| Request { arrival: at, address: 0, bytes: 64, volume: 0, op: Op::Read };
    ask(&mut *device, Time::ZERO, &read(Time::ZERO), Payload::NONE);
    let later = Time::from_s(100);
    ask(&mut *device, later, &read(later), Payload::NONE);
    let counters = device.report(later).counters;
    let (_, refreshes) = counters.into_iter().find(|(name, _)| *name == "refreshes").expect("it is counted");
    // 7.8 us are 4160 clocks of 1.875 ns.
    assert_close("refreshes in 100 s", refreshes as f64, 100.0 / 7.8e-6, 1e-6);
}

/// Compares the latency of reads and writes through a memory window with closed forms. Each 64 B cross the
/// link in one packet. After the last store of a write, the host waits for one read from the device.
#[test]
fn a_window_pays_for_a_packet_and_the_way_back() {
    let toml = format!("{INSTANT}[device.host]\nkind = \"memory_window\"\n");
    let (issue, flight) = (10e-9, FLIGHT_NS * 1e-9);
    let load =
        issue + crossing(LINK.read_request_bytes(64)) + crossing(LINK.completion_bytes(64)) + 2.0 * flight;
    let stores = |count: u64| {
        let asked = crossing(LINK.read_request_bytes(64)) + crossing(LINK.completion_bytes(64));
        count as f64 * issue.max(crossing(LINK.write_bytes(64))) + asked + 2.0 * flight
    };
    let read = |bytes| at_random(&toml, Op::Read, bytes, 1, 100).mean_s();
    let write = |bytes| at_random(&toml, Op::Write, bytes, 1, 100).mean_s();
    assert_close("a load", read(64), load, 0.01);
    assert_close("64 loads, each after the one before", read(4096), 64.0 * load, 0.01);
    // The first store is issued before the first packet crosses.
    assert_close("a store", write(64), stores(1) + issue, 0.02);
    assert_close("64 stores, as fast as they cross", write(4096), stores(64) + issue, 0.02);
}

/// Compares the latency of CXL requests of one line and of 64 lines with closed forms. Up to ten lines of a
/// request are outstanding, and each line has the latency of the whole path.
#[test]
fn cxl_has_lines_under_way() {
    let toml = format!("{INSTANT}[device.host]\nkind = \"cxl_mem\"\n");
    let raw = Pcie { generation: 5, ..LINK }.raw().0;
    let line = 5e-9 + 70e-9 + (17.0 + 85.0) / raw;
    for op in [Op::Read, Op::Write] {
        assert_close("a line", at_random(&toml, op, 64, 1, 100).mean_s(), line, 0.01);
        // 64 lines with ten outstanding take six round trips, then the last four lines.
        let found = at_random(&toml, op, 4096, 1, 100).mean_s();
        assert_close("64 lines", found, 6.0 * line + 4.0 * 5e-9 + line - 5e-9, 0.05);
    }
}
