//! Power-loss tests of every device of this crate that stores data.

use crate::workbench::MODELS;
use nacre_testkit::crashing::{Described, keeps};
use nacre_testkit::{Workbench, keeps_its_bytes};

/// Number of power losses per stack.
const POINTS: u64 = 2_000;

/// Tests a variant of a device. Uses fewer power losses than [`POINTS`].
#[track_caller]
fn crash_briefly(toml: &str) {
    let report = keeps_its_bytes(Workbench::new(MODELS, 1), toml, 200);
    assert!(report.points() >= 200 && report.branches["stale_blocks"] > 5, "{:?}", report.branches);
}

#[track_caller]
fn crash(toml: &str) {
    let report = keeps_its_bytes(Workbench::new(MODELS, 1), toml, POINTS);
    let [again, behind] =
        ["power_lost_while_recovering", "stale_blocks"].map(|branch| report.branches[branch]);
    assert!(
        report.restarts > 10 && again > 250 && behind > 25,
        "{} restarts, {:?}",
        report.restarts,
        report.branches
    );
}

#[test]
fn a_network_store_keeps_its_bytes() {
    crash(
        "kind = \"network\"\nread = \"90 us\"\nwrite = \"130 us\"\nparallelism = 4\nbandwidth = \"100 MB/s\"",
    );
}

/// Tests power losses of tiers that continuously exchange extents of 64 KiB.
#[test]
fn tiers_keep_their_bytes_while_extents_move() {
    let tiers = |fast: &str, slow: &str| {
        format!(
            "kind = \"tiers\"\nextent = \"64 KiB\"\nchunk = \"8 KiB\"\nmigration_bandwidth = \"1 GB/s\"\n\
             placement = {{ kind = \"dynamic\", epoch = \"500 us\", least_saving = \"0 s\", hysteresis = \"0 %\" }}\n\
             [[device.tier]]\ndevice = {fast}\n[[device.tier]]\ndevice = {slow}\n"
        )
    };
    let fast = "{ kind = \"measured\", read = \"5 us\", write = \"10 us\", capacity = \"1 MiB\" }";
    let slow = "{ kind = \"measured\", read = \"50 us\", write = \"90 us\", capacity = \"3 MiB\" }";
    crash(&tiers(fast, slow));
    let disk = "{ kind = \"hdd\", capacity = \"3 MiB\", rotation = \"15000 /min\", heads = 1, \
        track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
        outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\" }";
    crash(&tiers(fast, disk));
}

/// Tests power losses of a mirror. Its members differ in content after most power losses. They also differ in
/// speed, in durability guarantees, and in the data that reads return after a trim.
#[test]
fn a_mirror_keeps_its_bytes_while_it_resyncs() {
    let fast = "{ kind = \"measured\", read = \"5 us\", write = \"10 us\", capacity = \"1 MiB\" }";
    let slow = "{ kind = \"measured\", read = \"50 us\", write = \"90 us\", capacity = \"3 MiB\" }";
    let (disk, network) = (format!("{{ {DISK} }}"), format!("{{ {NETWORK}, capacity = \"1 MiB\" }}"));
    let sick = format!(
        "{{ kind = \"faulty\", device = {slow}, fault = [{{ kind = \"error\", operations = [\"read\"], share = \"10 %\" }}] }}"
    );
    let sets = [
        [fast, slow],
        [&disk, fast],
        [fast, &disk],
        [&disk, &disk],
        [slow, &network],
        [&sick, fast],
        [&disk, &sick],
    ];
    for members in sets {
        for (region, hedge) in [("4 KiB", ""), ("64 KiB", "hedge_after = \"20 us\""), ("1 MiB", "")] {
            let members = members.join(", ");
            let rate = "resync_bandwidth = \"100 MB/s\"";
            crash_briefly(&format!(
                "kind = \"mirror\"\nbitmap_region = \"{region}\"\nresync_chunk = \"8 KiB\"\n{hedge}\n{rate}\nmember = [{members}]\n"
            ));
        }
    }
}

/// Tests power losses of two tiers that continuously exchange extents. After some erases, the second tier
/// rejects writes during an exchange.
#[test]
fn tiers_over_a_drive_that_wears_out_lose_nothing_silently() {
    let ssd = "{ kind = \"ssd\", channels = 1, ways = 1, planes = 1, blocks = 12, pages = 64, page = \"4 KiB\", \
        unit = \"4 KiB\", read = [\"50 us\"], program = [\"500 us\"], erase = \"3 ms\", endurance = 2, \
        endurance_spread = \"20 %\", bus = \"400 MB/s\", command = \"300 ns\", over_provisioning = \"80 %\", \
        spare_blocks = 0, factory_bad = \"0 %\", buffer = \"8 KiB\", power_protected = false, \
        mapping = { kind = \"in_dram\", checkpoint_every = \"64 KiB\" }, link = \"1 GB/s\", cpus = 1 }";
    let fast = "{ kind = \"measured\", read = \"5 us\", write = \"10 us\", capacity = \"64 KiB\" }";
    for chunk in ["4 KiB", "16 KiB"] {
        let toml = format!(
            "kind = \"tiers\"\nextent = \"16 KiB\"\nchunk = \"{chunk}\"\nmigration_bandwidth = \"1 GB/s\"\n\
             placement = {{ kind = \"dynamic\", epoch = \"500 us\", least_saving = \"0 s\", hysteresis = \"0 %\" }}\n\
             [[device.tier]]\ndevice = {fast}\n[[device.tier]]\ndevice = {ssd}\n"
        );
        for seed in 0..12 {
            keeps(
                &mut Described::new(Workbench::new(MODELS, 1), &toml),
                "tiers over a worn drive",
                1_000,
                seed,
            );
        }
    }
}

const NETWORK: &str = "kind = \"network\", read = \"90 us\", write = \"500 us\", parallelism = 2";
const DISK: &str = "kind = \"hdd\", capacity = \"3 MiB\", rotation = \"15000 /min\", heads = 1, \
    track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
    outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\"";

fn level(us: u64, kib: u64, policy: &str) -> String {
    let device = format!(
        "kind = \"measured\", read = \"{us} us\", write = \"{} us\", capacity = \"{kib} KiB\"",
        2 * us
    );
    format!("[[device.level]]\ndevice = {{ {device} }}\npolicy = \"{policy}\"\n")
}

fn cache(settings: &str, levels: &[String], backing: &str) -> String {
    let (levels, backing) = (levels.concat(), backing.replace(", ", "\n"));
    format!("kind = \"server_cache\"\n{settings}\n{levels}[device.backing]\n{backing}")
}

/// Tests power losses of caches that are so small that they replace blocks continuously. Their backing is
/// either write-through or loses unflushed data. Requests cover partial and whole blocks, which are in
/// flight or cached.
#[test]
fn a_server_cache_keeps_its_bytes_while_blocks_move() {
    for backing in [NETWORK, DISK] {
        crash(&cache("block = \"1 KiB\"", &[level(5, 16, "lru")], backing));
        let settings = "write_allocate = false\nfill = \"foreground\"";
        crash(&cache(settings, &[level(5, 9, "sieve")], backing));
        for inclusion in ["exclusive", "inclusive"] {
            let settings = format!("block = \"1 KiB\"\ninclusion = \"{inclusion}\"\nlookup = \"1 us\"");
            crash(&cache(&settings, &[level(5, 3, "lru"), level(20, 12, "w_tinylfu")], backing));
            crash(&cache(
                &settings,
                &[level(5, 3, "clock"), level(20, 6, "lru"), level(40, 24, "arc")],
                backing,
            ));
        }
    }
}

/// Tests power losses while writes and write-backs are in progress. Dirty blocks survive only with a
/// persistent table.
#[test]
fn a_write_back_server_cache_keeps_its_guarantees() {
    let write_back = |settings: &str| format!("block = \"1 KiB\"\nwrite_back = {{ {settings} }}");
    let persistent = |settings: &str| write_back(&format!("table = \"persistent\", batch = 3, {settings}"));
    for backing in [NETWORK, DISK] {
        for share in [
            "dirty = \"100 %\", clean_above = \"100 %\"",
            "dirty = \"60 %\"",
            "dirty = \"0 %\", clean_above = \"0 %\"",
        ] {
            crash_briefly(&cache(&write_back(share), &[level(5, 16, "lru")], backing));
            crash_briefly(&cache(&persistent(share), &[level(5, 16, "lru")], backing));
            crash_briefly(&cache(&persistent(share), &[level(20, 48, "w_tinylfu")], backing));
        }
        for inclusion in ["exclusive", "inclusive"] {
            let settings =
                format!("{}\ninclusion = \"{inclusion}\"\nlookup = \"1 us\"", write_back("batch = 3"));
            crash_briefly(&cache(&settings, &[level(5, 3, "lru"), level(20, 12, "w_tinylfu")], backing));
            crash_briefly(&cache(
                &settings,
                &[level(5, 3, "clock"), level(20, 6, "lru"), level(40, 24, "arc")],
                backing,
            ));
        }
    }
}
