//! Tests of the device contract.

use super::{NETWORK, PCM, build, build_with_bytes};
use nacre_kernel::Time;
use nacre_testkit::conformance;

const BACKING: &str =
    "kind = \"measured\"\nread = \"90 us\"\nwrite = \"50 us\"\nparallelism = 3\ncapacity = \"1 MiB\"\n";

fn level(read: u64, write: u64, kib: u64, policy: &str) -> String {
    format!(
        "[[stack.level]]\ndevice = {{ kind = \"measured\", read = \"{read} us\", write = \"{write} us\", \
         parallelism = 2, capacity = \"{kib} KiB\" }}\npolicy = \"{policy}\"\n"
    )
}

fn stack(settings: &str, levels: &[String], backing: &str) -> String {
    format!("[stack]\nkind = \"server_cache\"\n{settings}\n{}[stack.backing]\n{backing}", levels.concat())
}

/// Runs the conformance tests on a cache, idle and overloaded, with and without data.
fn check(toml: &str) {
    for pause in [Time::from_us(3), Time::from_us(150)] {
        conformance(pause, || build(toml));
        conformance(pause, || build_with_bytes(toml));
    }
}

/// Runs the conformance tests on caches that have the level `level`, for several combinations of settings.
fn keeps_the_contract(level: &str) {
    for settings in [
        "",
        "fill = \"foreground\"\nlookup = \"1 us\"",
        "write_allocate = false\nblock = \"16 KiB\"",
        "block = \"1 KiB\"\nlookup = \"500 ns\"",
        "hedge_after = \"3 us\"",
        "hedge_after = \"50 us\"\nlookup = \"1 us\"\nblock = \"16 KiB\"",
    ] {
        check(&stack(settings, &[level.into()], BACKING));
    }
}

#[test]
fn a_cache_of_one_fast_level_keeps_the_contract() {
    keeps_the_contract(&level(7, 20, 256, "lru"));
}

#[test]
fn a_cache_of_one_slow_level_keeps_the_contract() {
    keeps_the_contract(&level(40, 5, 64, "s3_fifo"));
}

#[test]
fn a_cache_in_phase_change_memory_keeps_the_contract() {
    conformance(Time::from_us(20), || {
        build(&stack(
            "",
            &[format!("[[stack.level]]\n[stack.level.device]\n{PCM}capacity = \"64 KiB\"\n")],
            NETWORK,
        ))
    });
}

#[test]
fn a_cache_of_several_levels_keeps_the_contract() {
    for inclusion in ["exclusive", "inclusive"] {
        let settings = format!("inclusion = \"{inclusion}\"\nhedge_after = \"9 us\"");
        check(&stack(&settings, &[level(7, 20, 64, "lru"), level(30, 10, 256, "clock")], BACKING));
        let settings = format!("inclusion = \"{inclusion}\"\nfill = \"foreground\"\nlookup = \"1 us\"");
        check(&stack(
            &settings,
            &[level(7, 20, 16, "lru"), level(30, 10, 32, "arc"), level(50, 9, 128, "w_tinylfu")],
            BACKING,
        ));
    }
}

#[test]
fn a_cache_that_writes_back_keeps_the_contract() {
    for settings in [
        "write_back = {}",
        "write_back = {}\nhedge_after = \"3 us\"",
        "write_back = { table = \"persistent\", batch = 2 }\nhedge_after = \"20 us\"",
        "write_back = { table = \"persistent\", batch = 2 }\nlookup = \"1 us\"",
        "write_back = { dirty = \"100 %\", clean_above = \"50 %\" }\nwrite_allocate = false\nblock = \"16 KiB\"",
        "write_back = { dirty = \"100 %\", clean_above = \"100 %\", table = \"persistent\" }",
        "write_back = { dirty = \"60 %\", clean_above = \"0 %\", batch = 3 }\nfill = \"foreground\"",
    ] {
        check(&stack(settings, &[level(7, 20, 128, "lru")], BACKING));
    }
    for inclusion in ["exclusive", "inclusive"] {
        let settings = format!("inclusion = \"{inclusion}\"\nwrite_back = {{ clean_above = \"1 %\" }}");
        check(&stack(&settings, &[level(7, 20, 32, "lru"), level(30, 10, 128, "clock")], BACKING));
    }
}

/// Tests caches whose level fails reads. A lost dirty block splits the batch of adjacent blocks that is
/// being written back, while later write-backs wait for this batch.
#[test]
fn a_cache_whose_level_fails_reads_keeps_the_contract() {
    let level = "[[stack.level]]\ndevice = { kind = \"faulty\", device = { kind = \"measured\", read = \"7 us\", \
                 write = \"20 us\", parallelism = 2, capacity = \"128 KiB\" }, \
                 fault = [{ kind = \"error\", operations = [\"read\"], share = \"40 %\" }] }\n";
    for settings in [
        "write_back = { clean_above = \"0 %\" }",
        "write_back = { dirty = \"100 %\", clean_above = \"50 %\", batch = 3 }\nhedge_after = \"3 us\"",
        "write_back = { clean_above = \"0 %\", table = \"persistent\" }\nwrite_allocate = false",
    ] {
        let toml = stack(settings, &[level.into()], BACKING);
        // The crash tests check the data, because a level that fails reads loses dirty blocks.
        conformance(Time::from_us(3), || build(&toml));
        conformance(Time::from_us(150), || build(&toml));
    }
}
