use crate::host_interface::Part;
use crate::host_interface::tests::{Issued, LINK, alone, built, ends, ns, served_at_once, together};
use nacre_kernel::{Activity, Op, Time};
use nacre_testkit::assert_close;

/// Duration of a command in nanoseconds: driver, doorbell, fetch, data, completion, and interrupt.
fn command_ns(op: Op, software_ns: f64, message: u64) -> f64 {
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
fn a_command_alone_takes_its_packets_its_flights_and_its_software() {
    let interrupt = LINK.write_bytes(4);
    for (settings, software_ns, message) in [
        ("", 3000.0, interrupt),
        ("notice = \"polling\"", 1500.0, 0),
        ("coalescing = \"8 us\"", 3000.0 + 8000.0, interrupt),
    ] {
        for (op, bytes) in [(Op::Read, 4096), (Op::Write, 4096), (Op::Flush, 0)] {
            let found = alone(&format!("kind = \"nvme\"\n{settings}"), op, bytes).as_ns_f64();
            let expected = command_ns(op, software_ns, message);
            assert!((found - expected).abs() < 0.02, "{settings:?}, {op:?}: {found}, expected {expected}");
        }
    }
}

#[test]
fn one_interrupt_stands_for_all_completions_of_its_time() {
    let found = |settings: &str| {
        let mut port = built(&format!("kind = \"nvme\"\ndriver = \"0 s\"\n{settings}"));
        let flushes = [0, 1, 2, 3].map(|us| Issued { at: Time::from_us(us), op: Op::Flush, bytes: 0 });
        let ends = served_at_once(&mut *port, &flushes, None).into_iter().map(|(end, _)| end);
        (ends.collect::<Vec<_>>(), port.resources()[0].ledger.busy_s(Activity::Software))
    };
    let (apart, each) = found("");
    let (together, one) = found("coalescing = \"10 us\"");
    assert_close("each has its own", each, 4.0 * 2e-6, 1e-9);
    assert_close("one for all", one, 2e-6 + 3.0 * 0.5e-6, 1e-9);
    assert!(apart.windows(2).all(|pair| pair[0] < pair[1]));
    // The first completion causes the interrupt, and the others share it.
    assert_eq!(together[1], together[3]);
    assert!(together[0] > together[1] && together[1] > Time::from_us(10));
}

#[test]
fn commands_wait_for_a_place_in_their_pair() {
    let flushes = together(9, Op::Flush, 0);
    let last = |depth: &str| ends(&format!("kind = \"nvme\"\ncpus = 100\n{depth}"), &flushes)[8];
    let alone = last("");
    assert_eq!(last("queue_depth = 9"), alone);
    // Three commands run at a time, three times.
    assert_eq!(last("queue_depth = 3").as_ps(), 3 * alone.as_ps());
    let of_pairs =
        |pairs: u32| ends(&format!("kind = \"nvme\"\nqueue_pairs = {pairs}\nqueue_depth = 1"), &flushes[..4]);
    let (one, four) = (of_pairs(1), of_pairs(4));
    assert!(four.iter().all(|&end| end == one[0]), "{four:?}");
    assert!(one.windows(2).all(|two| two[1] == two[0] + (one[0] - Time::ZERO)), "{one:?}");
}

/// The fetches of 32 simultaneous commands are serial within a queue pair and parallel across queue pairs.
#[test]
fn a_pair_has_one_fetch_under_way() {
    let fetch = ns(LINK.read_request_bytes(64)) + ns(LINK.completion_bytes(64)) + 2.0 * 150.0 + 240.0;
    let free = "driver = \"0 s\"\nreap = \"0 s\"\ninterrupt = \"0 s\"";
    for pairs in [1, 2, 8, 32] {
        let toml = format!("kind = \"nvme\"\n{free}\nqueue_pairs = {pairs}");
        let ends = ends(&toml, &together(32, Op::Flush, 0));
        for (number, end) in ends.iter().enumerate() {
            let expected = ends[0].as_ns_f64() + (number / pairs) as f64 * fetch;
            assert!((end.as_ns_f64() - expected).abs() < 0.1, "{pairs} pairs, {number}: {end}");
        }
    }
}

/// Data rate of pages of 4 KiB in the leg *brought* or *answered*, in bytes per second. All pages start at
/// the same time, and no commands are sent.
fn rate(settings: &str, op: Op) -> f64 {
    const COUNT: u32 = 2000;
    let mut port = built(&format!("kind = \"nvme\"\n{settings}"));
    for piece in 0..COUNT {
        let part = Part { request: 0, piece };
        let moved = match op {
            Op::Write => port.bring(Time::ZERO, part, op, 4096),
            _ => port.answer(Time::ZERO, part, op, 4096),
        };
        assert!(moved.is_none(), "data takes time");
    }
    let last = std::iter::from_fn(|| port.pop_before(Time::MAX)).map(|arrival| arrival.at).max();
    f64::from(COUNT * 4096) / last.expect("there are some").as_secs_f64()
}

/// With few credits or tags, data rates equal the closed forms in `kernel::pcie`.
#[test]
fn credits_and_tags_bound_what_is_under_way() {
    let there_and_back = Time::from_ns(300);
    for packets in [2, 4, 6] {
        let credits = packets * LINK.write_bytes(256);
        let expected = LINK.write_bandwidth_with(4096, packets * 256, there_and_back).0;
        assert_close("credits", rate(&format!("credits = \"{credits} B\""), Op::Read), expected, 0.01);
    }
    assert_close("enough credits", rate("", Op::Read), LINK.write_bandwidth(4096).0, 0.01);
    for tags in [1, 4, 16] {
        let expected = LINK.read_bandwidth_with(4096, tags, Time::from_ns(300 + 240)).0;
        assert_close("tags", rate(&format!("tags = {tags}"), Op::Write), expected, 0.01);
    }
    assert_close("enough tags", rate("tags = 256", Op::Write), LINK.read_bandwidth(4096).0, 0.01);
}
