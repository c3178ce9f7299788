//! Tests of the device contract, and of power losses at any time.

use super::{BARE, faulty, mirror, with_bytes};
use nacre_kernel::Time;
use nacre_testkit::{conformance, durability};

const NARROW: &str =
    "kind = \"measured\", read = \"30 us\", write = \"20 us\", parallelism = 1, capacity = \"1 MiB\"";
const DISK: &str = "kind = \"hdd\", capacity = \"3 MiB\", rotation = \"15000 /min\", heads = 1, \
    track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
    outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\"";

#[test]
fn it_keeps_the_contract_and_acknowledged_data() {
    let small = "bitmap_region = \"16 KiB\"\nresync_chunk = \"8 KiB\"\n";
    let late = faulty(
        NARROW,
        "kind = \"delay\", latency = { kind = \"exponential\", mean = \"40 us\" }, share = \"50 %\"",
    );
    let sets: [&[&str]; 4] = [&[BARE, BARE], &[NARROW, &late], &[NARROW, DISK, BARE], &[DISK, DISK]];
    let policies = [("first", "20 us"), ("round_robin", "1 ms"), ("shortest_queue", "50 us")];
    for (members, (policy, hedge)) in sets.into_iter().zip(policies.into_iter().cycle()) {
        let settings = format!("{small}read_policy = \"{policy}\"\nhedge_after = \"{hedge}\"");
        conformance(Time::from_us(40), || mirror(&settings, members));
        conformance(Time::from_us(40), || with_bytes(&settings, members));
        durability(Time::from_us(100), || with_bytes(&settings, members));
        durability(Time::from_ms(2), || with_bytes(small, members));
    }
}

#[test]
fn it_keeps_the_contract_while_reads_fail() {
    let sick = faulty(NARROW, "kind = \"error\", operations = [\"read\"], share = \"20 %\"");
    let settings = "hedge_after = \"35 us\"";
    conformance(Time::from_us(40), || mirror(settings, &[&sick, &sick]));
    conformance(Time::from_us(40), || with_bytes(settings, &[&sick, BARE]));
}
