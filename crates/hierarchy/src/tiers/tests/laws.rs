//! Tests of the tiers: service of requests, and moves of extents.

use super::request;
use nacre_kernel::{ComponentReport, Op, Streams, Time};
use nacre_testkit::Host;
use nacre_testkit::assert_close;

/// Three tiers of 4, 8, and 20 extents of 64 KiB, with latencies of 10, 100, and 1,000 us.
fn three(placement: &str) -> Host {
    let tier = |us: u32, share: &str| {
        format!(
            "[[stack.tier]]\nshare = \"{share} %\"\ndevice = {{ kind = \"measured\", read = \"{us} us\", \
             write = \"{us} us\", unit = \"64 KiB\", price = \"{us} /GiB\", parallelism = 64 }}\n"
        )
    };
    let tiers = tier(10, "12.5") + &tier(100, "25") + &tier(1000, "62.5");
    let stack = "kind = \"tiers\"\nextent = \"64 KiB\"\ncapacity = \"2 MiB\"\nchunk = \"16 KiB\"\n";
    let toml = format!("[stack]\n{stack}placement = {placement}\n{tiers}");
    crate::workbench::host(&toml)
}

const DYNAMIC: &str = "{ kind = \"dynamic\", epoch = \"1 s\", least_saving = \"1 ms\" }";

/// Performs reads of 4 KiB at intervals of 1 ms. Returns the end time and the mean latency in microseconds.
fn reads(device: &mut Host, from: Time, extents: impl Iterator<Item = u64>) -> (Time, f64) {
    let (mut now, mut total, mut number) = (from, Time::ZERO, 0);
    for extent in extents {
        total += device.latency(now, request(Op::Read, extent * 65536, 4096));
        now += Time::from_ms(1);
        number += 1;
    }
    (now, total.as_secs_f64() * 1e6 / f64::from(number))
}

#[test]
fn shares_size_the_devices_and_their_price_follows() {
    let device = three("\"fixed\"");
    assert_eq!(device.device.capacity().map(|bytes| bytes.0), Some(2 << 20));
    let report = device.report();
    let sizes = report.columns.iter().find(|column| column.name == "tiers.extents").map(|c| c.values.clone());
    assert_eq!(sizes, Some(vec![4.0, 8.0, 20.0]));
    let costs: Vec<_> = report.children.iter().map(|child| child.cost).collect();
    let gib = (1u64 << 30) as f64;
    let expected =
        [(10.0, 4.0), (100.0, 8.0), (1000.0, 20.0)].map(|(price, n)| Some(price * n * 65536.0 / gib));
    assert_eq!(costs, expected);
}

#[test]
fn a_request_goes_to_the_tier_of_its_extent_and_is_done_with_its_last_part() {
    let mut device = three("{ kind = \"fixed\", layout = \"in_order\" }");
    let us = |n: u64| Time::from_us(n);
    // Extents 0 to 3 are in the first tier, 4 to 11 in the second, and the others in the third.
    assert_eq!(device.latency(Time::ZERO, request(Op::Read, 0, 4096)), us(10));
    assert_eq!(device.latency(us(2000), request(Op::Write, 4 * 65536, 4096)), us(100));
    assert_eq!(device.latency(us(4000), request(Op::Read, 4 * 65536 - 512, 1024)), us(100));
    assert_eq!(device.latency(us(6000), request(Op::Read, 11 * 65536, 2 * 65536)), us(1000));
    let counts = ["tier0_reads", "tier1_reads", "tier2_reads", "tier1_writes"].map(|c| device.count(c));
    assert_eq!(counts, [2, 2, 1, 1], "requests that touch two extents count in both");
    assert_eq!(device.count("reads") + device.count("writes"), 6);
}

#[test]
fn under_uniform_reads_a_fixed_placement_serves_at_the_mean_of_its_tiers() {
    let mut device = three("\"fixed\"");
    let mut random = Streams::new(1).stream("uniform");
    let (_, mean) = reads(&mut device, Time::ZERO, (0..20_000).map(|_| random.below(32)));
    // The mean is (4 x 10 + 8 x 100 + 20 x 1000) / 32 us. The standard deviation of the mean of 20,000
    // samples is 0.5 %.
    assert_close("mean latency", mean, 651.25, 0.02);
}

#[test]
fn hot_extents_move_to_the_fastest_tier_and_warm_ones_to_the_next() {
    let mut device = three(DYNAMIC);
    // Four extents in the slow tier are read eight times as often as eight other extents.
    let mut random = Streams::new(2).stream("hot");
    let mut draw = |hot: u64, warm: u64| {
        if random.below(5) < 4 { hot + random.below(4) } else { warm + random.below(8) }
    };
    let (now, before) = reads(&mut device, Time::ZERO, (0..1000).map(|_| draw(28, 20)));
    let (now, _) = reads(&mut device, now, (0..2000).map(|_| draw(28, 20)));
    let (now, after) = reads(&mut device, now, (0..3000).map(|_| draw(28, 20)));
    device.check();
    // All extents are in their optimal tiers, so the mean is .8 x 10 us + .2 x 100 us.
    assert_close("mean latency after moving", after, 28.0, 0.05);
    assert!(after < before / 10.0, "{before} before");
    // The hot extents change, and other extents move to the fast tier.
    let (now, moved) = reads(&mut device, now, (0..1000).map(|_| draw(0, 8)));
    let (now, _) = reads(&mut device, now, (0..4000).map(|_| draw(0, 8)));
    let (_, again) = reads(&mut device, now, (0..3000).map(|_| draw(0, 8)));
    assert_close("mean latency after it moved", again, 28.0, 0.05);
    assert!(moved > 4.0 * again, "{moved} in between");
    let written: u64 = device.report().children.iter().map(written).sum();
    assert_eq!(device.count("migrated_bytes"), written, "what moves is written to the devices");
    assert_eq!(written, device.count("exchanges") * 2 * 65536);
    device.check();
}

fn written(of: &ComponentReport) -> u64 {
    of.counters.iter().find(|(name, _)| *name == "bytes_written").map_or(0, |(_, count)| *count)
}

#[test]
fn nothing_moves_without_a_gain() {
    let mut device = three(DYNAMIC);
    reads(&mut device, Time::ZERO, (0..32_000).map(|number| number % 32));
    assert_eq!((device.count("exchanges"), device.count("migrated_bytes")), (0, 0));
    assert!(device.count("epochs") >= 30);
}

#[test]
fn an_idle_day_ages_the_history_in_one_step() {
    let mut device = three(DYNAMIC);
    let (_, _) = reads(&mut device, Time::ZERO, (0..3000).map(|_| 28));
    assert_eq!(device.count("exchanges"), 1);
    let day = Time::from_s(86_400);
    reads(&mut device, day, (0..3000).map(|_| 30));
    assert_eq!(device.count("exchanges"), 2);
    assert_eq!(device.count("epochs"), 86_402, "3 s of reads, a day from the first, 2 s and the third");
}

/// Tiers of PCM and flash with four extents each.
fn pcm_and_flash(weigh: &str) -> Host {
    let device = |read: &str, write: &str| {
        format!(
            "{{ kind = \"measured\", read = \"{read} us\", write = \"{write} us\", unit = \"64 KiB\", capacity = \"256 KiB\" }}"
        )
    };
    let toml = format!(
        "[stack]\nkind = \"tiers\"\nextent = \"64 KiB\"\n[stack.placement]\nkind = \"dynamic\"\nepoch = \"1 s\"\n\
         layout = \"in_order\"\nleast_saving = \"1 ms\"\nweigh = \"{weigh}\"\n\
         [[stack.tier]]\ndevice = {}\n[[stack.tier]]\ndevice = {}\n",
        device("6.7", "128.3"),
        device("108", "37.1")
    );
    crate::workbench::host(&toml)
}

#[test]
fn an_extent_that_is_written_goes_to_pcm_only_if_writes_are_taken_for_reads() {
    let write_latency = |weigh: &str| {
        let mut device = pcm_and_flash(weigh);
        let mut now = Time::ZERO;
        let mut last = Time::ZERO;
        for _ in 0..3000 {
            // Extent 5 is initially in flash, and extent 1 in PCM.
            last = device.latency(now, request(Op::Write, 5 * 65536, 4096));
            device.latency(now + Time::from_us(500), request(Op::Read, 65536, 4096));
            now += Time::from_ms(1);
        }
        last.as_secs_f64() * 1e6
    };
    assert_close("weighed by latency", write_latency("latency"), 37.1, 1e-9);
    assert_close("weighed by accesses", write_latency("accesses"), 128.3, 1e-9);
}

#[test]
fn an_extent_under_way_is_served_from_both_places() {
    // At 16 KiB per second, half of an exchange of two extents of 64 KiB is complete after 4 s.
    let toml = "[stack]\nkind = \"tiers\"\nextent = \"64 KiB\"\nchunk = \"16 KiB\"\nmigration_bandwidth = \"16384 B/s\"\n\
         placement = { kind = \"dynamic\", epoch = \"1 s\", least_saving = \"1 ms\", layout = \"in_order\" }\n\
         [[stack.tier]]\ndevice = { kind = \"measured\", read = \"10 us\", write = \"10 us\", unit = \"64 KiB\", capacity = \"64 KiB\" }\n\
         [[stack.tier]]\ndevice = { kind = \"measured\", read = \"100 us\", write = \"100 us\", unit = \"64 KiB\", capacity = \"64 KiB\" }\n";
    let mut device = crate::workbench::host(toml);
    let (_, _) = reads(&mut device, Time::ZERO, (0..1000).map(|_| 1));
    // Chunks are exchanged at 1 s, 3 s, 5 s, and 7 s.
    let read = |device: &mut Host, ms: u64, offset: u64| {
        device.latency(Time::from_ms(ms), request(Op::Read, 65536 + offset, 4096)).as_ps() / 1_000_000
    };
    assert_eq!(read(&mut device, 4000, 0), 10);
    assert_eq!(read(&mut device, 4001, 16384), 10);
    assert_eq!(read(&mut device, 4002, 32768), 100);
    assert_eq!(read(&mut device, 4003, 32768 - 2048), 100, "one that touches both waits for the slower");
    let partner = |device: &mut Host, ms: u64, offset: u64| {
        device.latency(Time::from_ms(ms), request(Op::Read, offset, 4096)).as_ps() / 1_000_000
    };
    assert_eq!((partner(&mut device, 4010, 0), partner(&mut device, 4020, 32768)), (100, 10));
    assert_eq!(read(&mut device, 8000, 61440), 10);
    assert_eq!(device.count("exchanges"), 1);
    device.check();
}
