//! Tests that configuration errors are reported together, each with a remedy.

use super::*;

#[test]
fn errors_are_reported_together() {
    let found = problems(
        "buffer = \"4 KiB\"\nspare_blocks = 510\nread = [\"0 s\"]\nmapping = { kind = \"cached_pages\", size = \"1 KiB\" }",
    );
    for expected in [
        "give at least 8 KiB",
        "no blocks are left for data",
        "give at least 516, or at most 506 spare_blocks",
        "a page takes some time",
        "it is smaller than a page of the mapping table",
    ] {
        assert!(found.contains(expected), "{expected} is not in\n{found}");
    }
}

#[test]
fn invalid_drives_are_rejected_with_the_valid_range() {
    for (settings, expected) in [
        ("over_provisioning = \"0.5 %\"", "the smallest allowed is "),
        ("page = \"6 KiB\"", "a page is not a whole number of units"),
        ("buffer = \"4 GiB\"", "it is larger than the flash"),
        ("pages = 8", "a superblock has 32 units, and 64 are the fewest"),
        ("blocks = 1000000\npages = 8192", "use a larger unit, or less flash"),
        // There are 2^53 units and 2^66 bytes, which exceed a 64-bit integer.
        (
            "channels = 1024\nways = 1024\nblocks = 1048576\npages = 65536",
            "units, and 17179869183 are the most",
        ),
        ("factory_bad = \"20 %\"", "too many blocks are bad from the start"),
        ("garbage_collection.policy = \"hybrid\"", "a policy with partitions decides itself where data lies"),
        ("blocks = 100\ngarbage_collection.policy = \"hybrid\"", "do not divide into partitions"),
        ("garbage_collection.reserve = 3", "4"),
        ("arbitration = \"first_fit\"", "commands_first"),
        ("garbage_collection.idle_reserve = 200", "give at most "),
        (
            "read_energy = \"1 uJ\"\nerase_energy = \"1 uJ\"",
            "also set program_energy, transfer_energy, or no energy and no idle_power",
        ),
        ("idle_power = \"1 W\"", "energy also needs read_energy, program_energy, erase_energy"),
        // This is a third of 64 pages of 4 KiB, rounded down, in 512 blocks of four dies.
        (
            "slc_cache = { size = \"1 TiB\", read = \"20 us\", program = \"200 us\" }",
            "all cells in SLC mode hold 168 MiB, given 1 TiB; give at most 168 MiB",
        ),
        (
            "slc_cache = { size = \"64 KiB\", read = \"20 us\", program = \"200 us\" }",
            "a superblock in SLC mode holds 336 KiB and is filled as a whole, given 64 KiB; give at \
             least 336 KiB, or remove slc_cache",
        ),
        (
            "blocks = 16\nover_provisioning = \"60 %\"\nkind = \"zns_ssd\"\nactive_zones = 11",
            "the drive has 10 zones, given 11; give at most 10, smaller zones, or more blocks",
        ),
        (
            "allocation = { kind = \"superblock\", parity = { stripe = 3 } }",
            "the 4 dies are not a whole number of stripes, given 3; the nearest allowed: 4, 2",
        ),
        ("allocation = { kind = \"superblock\", parity = { stripe = 8 } }", "the nearest allowed: 4"),
        (
            "channels = 1\nways = 1\npages = 128\nallocation = { kind = \"superblock\", parity = {} }",
            "the drive has one die",
        ),
        ("allocation = { kind = \"superblock\", parity = {} }", "one page of 4 with parity"),
        ("blocks = 10\ngarbage_collection.reserve = 9", "give at least 11"),
        ("blocks = 100\nfdp = { persistently_isolated = 60 }", "give at least 126"),
        ("unit = \"3 KiB\"\npage = \"12 KiB\"", "a power of two"),
    ] {
        let found = problems(settings);
        assert!(found.contains(expected), "{settings}: {expected} is not in\n{found}");
    }
}

#[test]
fn shares_are_repeated_as_they_were_given() {
    for share in ["7 %", "28 %", "57 %", "0.1 %"] {
        let found = problems(&format!(
            "blocks = 8\nplanes = 2\nallocation = \"static\"\nover_provisioning = \"{share}\""
        ));
        assert!(found.contains(&format!("given {share};")), "{share} is not in\n{found}");
    }
}

#[test]
fn the_smallest_spare_share_that_is_named_works() {
    let found = problems("blocks = 64\nover_provisioning = \"1 %\"");
    let least = found.split("the smallest allowed is ").nth(1).unwrap().split(" %").next().unwrap();
    let mut device = driven(&format!("blocks = 64\nover_provisioning = \"{least} %\""));
    let count = device.unit_count();
    let mut random = random("least");
    device.precondition(2 * count, |_| random.below(count));
    device.check_invariants();
}
