//! Tests that the drive satisfies the device contract with all settings.

use super::*;
use nacre_testkit::{conformance, durability};

/// Drives of every type. They are so small that garbage collection runs continuously.
const DRIVES: &[&str] = &[
    "blocks = 32",
    "blocks = 32\nplanes = 2\nscheduling = { kind = \"suspension\", suspend = \"10 us\", resume = \"5 us\", suspensions = 2 }",
    "blocks = 32\nscheduling = \"in_order\"\nregisters = 1",
    "blocks = 32\nscheduling = \"in_order\"\nregisters = 2\narbitration = \"pages_first\"",
    "blocks = 32\nregisters = 1\narbitration = \"first_come\"\nscheduling = { kind = \"suspension\", suspend = \"10 us\" }\nerases_at_once = 1",
    "blocks = 32\nprograms_at_once = 2\nregisters = 1\narbitration = \"reads_first\"",
    "blocks = 32\nprograms_at_once = 1\nplanes = 2\nscheduling = { kind = \"suspension\", independent_planes = true, suspend = \"10 us\" }",
    "blocks = 32\nplanes = 4\nscheduling = { kind = \"read_priority\", independent_planes = true }\nregisters = 2\narbitration = \"first_come\"",
    "blocks = 32\npower_protected = false\nqueue = { kind = \"shared\", depth = 4 }\ndriver = \"3 us\"\ncpus = 2\ntranslation = \"1 us\"",
    "blocks = 32\nqueue = { kind = \"by_tenant\", depths = [5, 2] }\nfirmware = \"2 us\"\nprocessors = 2\ntranslation = \"1 us\"",
    "blocks = 32\nqueue = { kind = \"round_robin\", depth = 2 }\nfirmware = \"2 us\"\ndriver = \"1 us\"",
    "blocks = 32\nqueue = { kind = \"weighted_round_robin\", depth = 3, classes = [\"low\", \"urgent\", \"high\"], weights = { high = 3, medium = 2, low = 1 } }\npower_protected = false\nhost = { kind = \"nvme\" }",
    "blocks = 64\nmapping = { kind = \"cached_pages\", size = \"8 KiB\" }\npower_protected = false\nbuffer_kept = \"30 %\"",
    "blocks = 64\ngarbage_collection.wear_spread = 5",
    "blocks = 64\ngarbage_collection.policy = { kind = \"d_choices\", d = 3 }\nscheduling = { kind = \"suspension\", suspend = \"10 us\" }",
    "blocks = 64\npage = \"16 KiB\"\npages = 16\nread_energy = \"1 uJ\"\nprogram_energy = \"9 uJ\"\nerase_energy = \"90 uJ\"\ntransfer_energy = \"1 uJ\"\nidle_power = \"1 W\"",
    "blocks = 64\nslc_cache = { size = \"2 MiB\", read = \"20 us\", program = \"200 us\" }",
    "blocks = 32\nunit = \"1 KiB\"\npage = \"4 KiB\"\nmulti_plane = false\nplanes = 3",
    "blocks = 32\nover_provisioning = \"140 %\"\nallocation = { kind = \"superblock\", parity = {} }\nbuffer_kept = \"30 %\"",
    "blocks = 32\nover_provisioning = \"180 %\"\nallocation = { kind = \"superblock\", parity = { stripe = 2 } }\npower_protected = false\nplanes = 2\nmulti_plane = false",
    "blocks = 64\nmapping = { kind = \"cached_entries\", size = \"256 B\" }\ntransfer = \"512 B\"\npower_protected = false",
    "blocks = 64\nallocation = \"static\"\nplanes = 2\nmapping = { kind = \"cached_entries\", size = \"512 B\" }",
    "blocks = 64\nallocation = \"static\"\nmapping = { kind = \"cached_pages\", size = \"8 KiB\" }\ngarbage_collection.wear_spread = 3",
    "blocks = 64\nallocation = \"static\"\nplanes = 2\nmapping = { kind = \"cached_pages\", size = \"8 KiB\" }\npower_protected = false",
    "blocks = 64\nallocation = \"dynamic\"\nmapping = { kind = \"cached_pages\", size = \"8 KiB\" }",
    "blocks = 64\nallocation = \"dynamic\"\nplanes = 2\nmapping = { kind = \"cached_pages\", size = \"8 KiB\" }\npower_protected = false",
    "blocks = 64\nallocation = { kind = \"static\", copyback = true }\nplanes = 2\nerrors = { ecc = { kind = \"ldpc\" }, bit_error_rate = 0.004, cycles = 9, error_exponent = 0, refresh_reads = 40 }",
    "blocks = 32\nover_provisioning = \"140 %\"\nallocation = { kind = \"superblock\", parity = {} }\nerrors = { ecc = { kind = \"bch\", t = 4, codeword = \"2 KiB\" }, bit_error_rate = 0.0006, cycles = 9, error_exponent = 0, refresh_reads = 400 }",
    "blocks = 32\nhost = { kind = \"nvme\", queue_pairs = 2, queue_depth = 4 }",
    "blocks = 32\nhost = { kind = \"memory_window\" }",
    "blocks = 32\nhost = { kind = \"cxl_mem\" }\ntranslation = \"1 us\"",
    "blocks = 32\nhost = { kind = \"direct\", driver = \"1 us\", link = \"2 GB/s\" }",
    "blocks = 32\ngarbage_collection.idle_reserve = 2\nover_provisioning = \"80 %\"",
    "blocks = 48\nover_provisioning = \"180 %\"\nfdp = { persistently_isolated = 2 }\nallocation = { kind = \"superblock\", reclaim_groups = 2, parity = {} }",
    "blocks = 96\nover_provisioning = \"80 %\"\nfdp = { initially_isolated = 2, persistently_isolated = 2 }\nallocation = { kind = \"superblock\", reclaim_unit = 2 }\nbuffer_places = \"pool\"",
    "blocks = 32\nkind = \"zns_ssd\"\nactive_zones = 2",
    "blocks = 32\nkind = \"zns_ssd\"\nzone_dies = 1\nactive_zones = 3",
    "blocks = 36\nkind = \"zns_ssd\"\nzone_superblocks = 2\nactive_zones = 3\nopen_zones = 1\nbuffer_places = \"pool\"\nerases_at_once = 1",
];

#[test]
fn the_contract_of_devices_is_kept() {
    for settings in DRIVES {
        for pause in [Time::from_us(20), Time::from_ms(2)] {
            let kept = std::panic::catch_unwind(|| conformance(pause, || drive(settings)));
            assert!(kept.is_ok(), "with {settings}, pauses of {pause}");
        }
    }
}

#[test]
fn guaranteed_data_survives_power_losses() {
    for settings in DRIVES {
        let build = || {
            let text = text(settings);
            workbench(1).with_bytes().build(&text).unwrap_or_else(|problems| panic!("{problems}"))
        };
        if settings.contains("zns_ssd") || settings.contains("errors") {
            continue;
        }
        for pause in [Time::from_us(20), Time::from_ms(2)] {
            let kept = std::panic::catch_unwind(|| durability(pause, build));
            assert!(kept.is_ok(), "with {settings}, pauses of {pause}");
        }
    }
}
