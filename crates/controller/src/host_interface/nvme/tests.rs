use crate::host_interface::tests::{built, served_at_once};
use nacre_kernel::{Activity, Op, Pcie, Time};

const LINK: Pcie = Pcie { generation: 3, lanes: 8, payload: 256, read_request: 512, long_addresses: true };

/// Nanoseconds of a request: driver, doorbell, fetch, data, completion, interrupt.
fn alone_ns(op: Op, software_ns: f64, message: u64) -> f64 {
    let ns = |bytes: u64| bytes as f64 / LINK.raw().0 * 1e9;
    let (flight, memory) = (150.0, 240.0);
    let fetch =
        |bytes| ns(LINK.read_request_bytes(bytes)) + ns(LINK.completion_bytes(bytes)) + 2.0 * flight + memory;
    let data = match op {
        Op::Read => ns(LINK.write_bytes(4096)),
        Op::Write => fetch(4096),
        _ => 0.0,
    };
    let told = ns(LINK.write_bytes(16)) + ns(message) + flight;
    software_ns + ns(LINK.write_bytes(4)) + flight + fetch(64) + data + told
}

#[test]
fn a_request_alone_takes_its_packets_its_flights_and_its_software() {
    let interrupt = LINK.write_bytes(4);
    for (settings, software_ns, message) in [
        ("", 1000.0 + 1500.0 + 500.0, interrupt),
        ("notice = \"polling\"", 1000.0 + 500.0, 0),
        ("coalescing = \"8 us\"", 3000.0 + 8000.0, interrupt),
    ] {
        for (op, bytes) in [(Op::Read, 4096), (Op::Write, 4096), (Op::Flush, 0)] {
            let mut interface = built(&format!("kind = \"nvme\"\n{settings}"));
            let found = served_at_once(&mut *interface, Time::ZERO, op, bytes).as_ns_f64();
            let expected = alone_ns(op, software_ns, message);
            assert!(
                (found - expected).abs() < 0.02,
                "{settings:?}, {op:?}: {found} ns, expected {expected} ns"
            );
        }
    }
}

#[test]
fn one_interrupt_stands_for_all_completions_of_its_time() {
    let cpu_s = |settings: &str| {
        let mut interface = built(&format!("kind = \"nvme\"\ndriver = \"0 s\"\n{settings}"));
        let ends = [0, 1, 2, 3].map(|us| served_at_once(&mut *interface, Time::from_us(us), Op::Flush, 0));
        (ends, interface.resources()[0].ledger.busy_s(Activity::Software))
    };
    let (apart, each) = cpu_s("");
    let (together, one) = cpu_s("coalescing = \"10 us\"");
    assert!((each - 4.0 * 2e-6).abs() < 1e-12, "{each}");
    assert!((one - (2e-6 + 3.0 * 0.5e-6)).abs() < 1e-12, "{one}");
    assert!(apart.windows(2).all(|pair| pair[0] < pair[1]));
    // The first takes the interrupt, the others come with it.
    assert_eq!(together[1], together[3]);
    assert!(together[0] > together[1] && together[1] > Time::from_us(10));
}

#[test]
fn commands_wait_for_a_place() {
    let last = |depth: &str| {
        let mut interface = built(&format!("kind = \"nvme\"\ncpus = 100\n{depth}"));
        (0..9)
            .map(|_| served_at_once(&mut *interface, Time::ZERO, Op::Flush, 0))
            .last()
            .expect("there are some")
    };
    let alone = last("");
    assert_eq!(last("queue_depth = 9"), alone);
    // Three after the other, three times.
    assert_eq!(last("queue_depth = 3").as_ps(), 3 * alone.as_ps());
}

/// Pages of 4 KiB that all begin at once: the rate of the last of them, in bytes a second.
fn rate(settings: &str, op: Op) -> f64 {
    const COUNT: u64 = 2000;
    let mut interface = built(&format!("kind = \"nvme\"\n{settings}"));
    let mut last = Time::ZERO;
    for _ in 0..COUNT {
        let brought = interface.bring(Time::ZERO, op, 4096).there;
        last = last.max(interface.answer(brought, op, 4096).there);
    }
    (COUNT * 4096) as f64 / last.as_secs_f64()
}

/// `kernel::pcie` says what so few credits or tags leave.
#[test]
fn credits_and_tags_bound_what_is_under_way() {
    let near = |found: f64, expected: f64, what: &str| {
        assert!((found / expected - 1.0).abs() < 0.01, "{what}: {found} B/s, expected {expected} B/s");
    };
    let there_and_back = Time::from_ns(300);
    for packets in [2, 4, 6] {
        let credits = packets * LINK.write_bytes(256);
        // So many packets in the time of one, there and back.
        let expected = LINK.write_bandwidth_with(4096, packets * 256, there_and_back).0;
        near(rate(&format!("credits = \"{credits} B\""), Op::Read), expected, "credits");
    }
    near(rate("", Op::Read), LINK.write_bandwidth(4096).0, "enough credits");
    for tags in [1, 4, 16] {
        let expected = LINK.read_bandwidth_with(4096, tags, Time::from_ns(300 + 240)).0;
        near(rate(&format!("tags = {tags}"), Op::Write), expected, "tags");
    }
    near(rate("tags = 256", Op::Write), LINK.read_bandwidth(4096).0, "enough tags");
}

/// 32 commands at the same time: each pair has its share of them, one fetch after the other, beside all other pairs.
#[test]
fn pairs_take_turns_and_each_has_one_fetch_under_way() {
    let ns = |bytes: u64| bytes as f64 / LINK.raw().0 * 1e9;
    let fetch = ns(LINK.read_request_bytes(64)) + ns(LINK.completion_bytes(64)) + 2.0 * 150.0 + 240.0;
    for pairs in [1, 2, 8, 32] {
        let free = "driver = \"0 s\"\nreap = \"0 s\"\ninterrupt = \"0 s\"";
        let mut interface = built(&format!("kind = \"nvme\"\n{free}\nqueue_pairs = {pairs}"));
        let ends: Vec<_> =
            (0..32).map(|_| served_at_once(&mut *interface, Time::ZERO, Op::Flush, 0).as_ns_f64()).collect();
        // Of each turn all are done together, and the next a fetch later.
        for (number, end) in ends.iter().enumerate() {
            let expected = ends[0] + (number / pairs) as f64 * fetch;
            assert!(
                (end - expected).abs() < 0.1,
                "{pairs} pairs, {number}: {end} ns, expected {expected} ns"
            );
        }
    }
}

#[test]
fn a_full_queue_pair_holds_up_no_other() {
    let ends = |pairs: u32| {
        let settings = format!("kind = \"nvme\"\nqueue_pairs = {pairs}\nqueue_depth = 1");
        let mut interface = built(&settings);
        [(); 4].map(|()| served_at_once(&mut *interface, Time::ZERO, Op::Flush, 0))
    };
    let (one, four) = (ends(1), ends(4));
    assert!(four.iter().all(|&end| end == one[0]), "{four:?}");
    assert!(one.windows(2).all(|two| two[1] == two[0] + (one[0] - Time::ZERO)), "{one:?}");
}
