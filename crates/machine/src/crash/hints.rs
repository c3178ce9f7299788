//! Values from which random settings are selected. They keep random stacks small, and most of them are valid.

/// Marker: the setting is omitted.
pub(super) const LEFT_OUT: &str = "";
/// Marker: the setting gets a random value.
pub(super) const ANY: &str = "?";
/// Marker: the stored energy is at or slightly below the minimum that the scenario check accepts. Used for
/// devices that must not lose writes.
pub(super) const EDGE: &str = "\"100000 J\"";
/// Marker: the value comes from a separate random stream, so that other values do not depend on it. Used for
/// wear, protection against wear, and settings that only affect reads.
pub(super) const WEAR: &str = "#";

/// Returns the TOML values from which a setting of a component is selected, or one of the markers
/// [`LEFT_OUT`], [`ANY`], [`EDGE`], and [`WEAR`]. For a setting in a nested table, `kind` is
/// `component.table`. If the nested table has no entry, the entry of the component itself is used, or else
/// that of the component that [`like`] returns.
pub(super) fn of(kind: &str, field: &str) -> Option<&'static [&'static str]> {
    let own = |kind| OWN.iter().find(|(model, name, _)| *model == kind && *name == field);
    let own = own(kind).or_else(|| own(kind.split('.').next().unwrap_or(kind))).or_else(|| own(like(kind)));
    own.map(|(_, _, values)| *values).or_else(|| {
        let any = EVERYWHERE.iter().find(|(name, _)| *name == field);
        any.map(|(_, values)| *values)
    })
}

/// Returns the component whose entries apply to `kind`, because both have the same settings.
fn like(kind: &str) -> &str {
    if kind == "zns_ssd" { "ssd" } else { kind }
}

/// Returns the values of a wear setting.
pub(super) fn wear(kind: &str, field: &str) -> &'static [&'static str] {
    let of = WEARS.iter().find(|(model, name, _)| *model == like(kind) && *name == field);
    of.map(|(_, _, values)| *values).expect("WEAR comes with values")
}

/// Settings that cause bit errors. They are omitted in devices whose error-correcting code may miss bit
/// errors.
pub(super) const BIT_ERRORS: &[&str] =
    &["endurance", "slc_endurance", "mlc_endurance", "bit_error_rate", "error_exponent"];

/// Returns the TOML values from which settings of the quantity `name` are selected.
pub(super) fn quantities(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "duration" => &["\"1 us\"", "\"7 us\"", "\"20 us\"", "\"150 us\"", "\"1 ms\"", "\"4 ms\""],
        "size" => &["\"512 B\"", "\"1 KiB\"", "\"4 KiB\"", "\"8 KiB\"", "\"16 KiB\"", "\"64 KiB\""],
        "ratio" => &["\"0 %\"", "\"1 %\"", "\"10 %\"", "\"25 %\"", "\"50 %\"", "\"90 %\""],
        "bandwidth" => &["\"10 MB/s\"", "\"100 MB/s\"", "\"400 MB/s\"", "\"1 GB/s\""],
        "rate" => &["\"5400 /min\"", "\"15000 /min\""],
        "energy" => &["\"1 uJ\"", "\"5 uJ\"", "\"50 uJ\""],
        "power" => &["\"1 W\"", "\"5 W\""],
        _ => return None,
    })
}

/// Faults of a `faulty` device. Each fault is short, so that a run has many faults and no request takes long.
pub(super) const FAULTS: &[&str] = &[
    "{ kind = \"delay\", latency = \"80 us\", every = 3 }",
    "{ kind = \"delay\", latency = { kind = \"exponential\", mean = \"1 ms\" }, share = \"10 %\" }",
    "{ kind = \"slow\", factor = 7.5, start = \"1 ms\" }",
    "{ kind = \"stall\", start = \"300 us\", duration = \"2 ms\", period = \"5 ms\" }",
    "{ kind = \"stall\", operations = [\"write\", \"flush\"], duration = \"700 us\", period = \"1 ms\" }",
    "{ kind = \"limit\", iops = \"2 kHz\" }",
    "{ kind = \"limit\", bandwidth = \"1 MB/s\", duration = \"3 ms\", period = \"8 ms\" }",
    "{ kind = \"error\", share = \"5 %\" }",
    "{ kind = \"error\", operations = [\"read\"], range_end = \"32 KiB\", after = \"1 ms\" }",
    "{ kind = \"error\", operations = [\"write\", \"flush\"], at = \"transport\", every = 5 }",
    "{ kind = \"failing_flush\", duration = \"3 ms\", period = \"10 ms\" }",
    "{ kind = \"failing_flush\", lasting = \"for_good\" }",
    "{ kind = \"disconnect\", timeout = \"2 ms\", start = \"2 ms\", duration = \"1 ms\", period = \"6 ms\" }",
    "{ kind = \"lost_write\", every = 40 }",
    "{ kind = \"torn_write\", share = \"2 %\" }",
    "{ kind = \"misdirected_write\", distance = \"4 KiB\", every = 30 }",
    "{ kind = \"bit_rot\", share = \"1 %\" }",
    "{ kind = \"stale_read\", share = \"2 %\" }",
];

/// Number of faults at the start of [`FAULTS`] that only delay the device.
pub(super) const LATE: usize = 7;
/// Number of faults at the start of [`FAULTS`] that only delay the device or return an error.
pub(super) const REPORTED: usize = 13;

/// Bit-error settings of a flash drive: errors that grow with erases and reads, errors that grow with erases
/// and time, and a constant rate without correction.
const BCH_ERRORS: &str = "{ ecc = { kind = \"bch\", t = 8, crc32 = true }, bit_error_rate = 0.0001, cycles = 3, \
                          error_exponent = 1.0, read_disturb = 0.00001, refresh_reads = 20 }";
const LDPC_ERRORS: &str = "{ ecc = { kind = \"ldpc\", codeword = \"512 B\" }, bit_error_rate = 0.001, cycles = 1, \
                           erases_before = 1, error_exponent = 1.0, retention = \"10000 %\" }";
const CRC_ERRORS: &str = "{ ecc = { kind = \"crc32\" }, bit_error_rate = 0.000001, cycles = 1, error_exponent = 0.0, \
                          refresh_reads = 2 }";

/// Page allocation settings: parity over all dies, parity over two dies, and allocation by address with
/// copyback.
const PARITY: &str = "{ kind = \"superblock\", parity = {} }";
const PARITY_OF_TWO: &str = "{ kind = \"superblock\", parity = { stripe = 2 } }";
const LARGE_UNITS: &str = "{ kind = \"superblock\", reclaim_unit = 2 }";
const GROUPS: &str = "{ kind = \"superblock\", reclaim_groups = 2 }";
const GROUPS_OF_PARITY: &str = "{ kind = \"superblock\", reclaim_groups = 2, parity = {} }";
const COPYBACK: &str = "{ kind = \"static\", order = \"pwc\", copyback = true }";

/// Controllers of a disk cache in phase-change memory. They switch frequently used pages, worn pages, or
/// both to SLC mode.
const HOT_PAGES: &str = "{ promotes_at = 1, raises_strength = false, lowers_density = false }";
const WORN_PAGES: &str = "{ promotes = false, raises_strength = false }";
const BOTH: &str = "{ promotes_at = 2, strongest = 3 }";

/// Values of wear settings by component and setting.
const WEARS: &[(&str, &str, &[&str])] = &[
    ("ssd", "errors", &[LEFT_OUT, LEFT_OUT, LEFT_OUT, BCH_ERRORS, LDPC_ERRORS, CRC_ERRORS]),
    (
        "ssd",
        "allocation",
        &[
            "\"superblock\"",
            PARITY,
            PARITY_OF_TWO,
            LARGE_UNITS,
            GROUPS,
            GROUPS_OF_PARITY,
            "\"static\"",
            COPYBACK,
            "\"dynamic\"",
        ],
    ),
    ("ssd", "endurance", &["1", "2", "3", "3"]),
    ("ssd", "capacity", &[LEFT_OUT]),
    ("measured", "drive", &[LEFT_OUT]),
    // With a gap of 1, two segments of an array are swapped continuously.
    ("envy", "wear_swap_gap", &[LEFT_OUT, "0", "1", "1", "2", "3"]),
    ("pcm_disk_cache", "endurance", &[LEFT_OUT, "1", "2", "3", "10", "100"]),
    ("pcm_disk_cache", "bit_error_rate", &[LEFT_OUT, "0.00001", "0.0001", "0.001"]),
    ("pcm_disk_cache", "error_exponent", &[LEFT_OUT, LEFT_OUT, "0.5", "1.0"]),
    ("pcm_disk_cache", "endurance_spread", &[LEFT_OUT, "0.0", "1.0"]),
    ("pcm_disk_cache", "controller", &[LEFT_OUT, LEFT_OUT, LEFT_OUT, HOT_PAGES, WORN_PAGES, BOTH]),
    ("pcm_disk_cache", "tables", &[LEFT_OUT, LEFT_OUT, "\"dram\""]),
    ("pcm_disk_cache", "update", &[LEFT_OUT, LEFT_OUT, "\"1 us\"", "\"150 us\""]),
    ("flash_disk_cache", "slc_endurance", &[LEFT_OUT, "1", "2", "3", "10"]),
    ("flash_disk_cache", "mlc_endurance", &[LEFT_OUT, "1", "2", "3", "10"]),
    ("flash_disk_cache", "bit_error_rate", &[LEFT_OUT, "0.00001", "0.0001", "0.001"]),
    ("flash_disk_cache", "error_exponent", &[LEFT_OUT, LEFT_OUT, "0.5", "1.0"]),
    ("flash_disk_cache", "endurance_spread", &[LEFT_OUT, "0.0", "1.0"]),
    ("flash_disk_cache", "drift", &[LEFT_OUT, "\"0 %\"", "\"100 %\"", "\"10000 %\""]),
    ("flash_disk_cache", "strongest", &[LEFT_OUT, "1", "2", "4", "40"]),
];

/// Values of settings that have these names in any component.
const EVERYWHERE: &[(&str, &[&str])] = &[
    ("capacity", &["\"64 KiB\"", "\"1 MiB\"", "\"3 MiB\""]),
    ("price", &[LEFT_OUT]),
    ("price_basis", &[LEFT_OUT]),
    ("parallelism", &["1", "2", "4"]),
    ("read_energy", &[LEFT_OUT]),
    ("write_energy", &[LEFT_OUT]),
    ("program_energy", &[LEFT_OUT]),
    ("erase_energy", &[LEFT_OUT]),
    ("transfer_energy", &[LEFT_OUT]),
    ("access_energy", &[LEFT_OUT]),
    ("decode_energy", &[LEFT_OUT]),
    ("encode_energy", &[LEFT_OUT]),
    ("energy", &[LEFT_OUT]),
    ("spin_up_energy", &[LEFT_OUT]),
    ("power", &[LEFT_OUT]),
    ("idle_power", &[LEFT_OUT]),
    ("seek_power", &[LEFT_OUT]),
    ("active_power", &[LEFT_OUT]),
    ("segments_per_partition", &["2", "4"]),
    ("entry", &["\"4 B\""]),
    ("checkpoint_every", &["\"4 KiB\"", "\"64 KiB\"", "\"1 GiB\""]),
];

/// Values of settings that apply to one component only, by component and setting.
const OWN: &[(&str, &str, &[&str])] = &[
    ("hdd", "capacity", &["\"1 MiB\"", "\"3 MiB\"", "\"600 GB\""]),
    ("hdd", "track_to_track_seek", &["\"0.2 ms\""]),
    ("hdd", "average_seek", &["\"3.4 ms\""]),
    ("hdd", "full_stroke_seek", &["\"6.6 ms\""]),
    ("hdd", "outer_rate", &["\"200 MB/s\""]),
    ("hdd", "inner_rate", &["\"120 MB/s\""]),
    ("hdd", "write_cache", &["\"0 B\"", "\"4 KiB\"", "\"64 KiB\""]),
    ("ssd", "channels", &["1", "2"]),
    ("ssd", "fdp", &[LEFT_OUT, ANY]),
    ("ssd.fdp", "initially_isolated", &["1", "2"]),
    ("ssd.fdp", "persistently_isolated", &["0", "0", "1", "2"]),
    ("ssd", "allocation", &[WEAR]),
    ("by_tenant", "depths", &["[1]", "[2, 1]"]),
    ("zns_ssd", "zone_superblocks", &["1", "1", "2"]),
    ("zns_ssd", "active_zones", &["1", "2", "3"]),
    ("zns_ssd", "open_zones", &[LEFT_OUT, "1", "2"]),
    ("ssd", "errors", &[WEAR]),
    ("ssd", "capacity", &[WEAR]),
    ("measured", "drive", &[WEAR]),
    ("ssd", "ways", &["1", "2"]),
    ("ssd", "planes", &["1", "2"]),
    ("ssd", "blocks", &["11", "12", "16", "20"]),
    ("ssd", "spare_blocks", &["0", "0", "2"]),
    ("ssd", "pages", &["16", "32", "64"]),
    ("ssd", "page", &["\"1 KiB\"", "\"4 KiB\"", "\"4 KiB\""]),
    ("ssd", "unit", &["\"512 B\"", "\"512 B\"", "\"1 KiB\"", "\"4 KiB\""]),
    ("ssd", "command", &["\"300 ns\""]),
    ("ssd", "read", &["[\"50 us\"]", "[\"30 us\", \"60 us\"]"]),
    ("ssd", "program", &["[\"500 us\"]", "[\"500 us\", \"900 us\"]"]),
    ("ssd", "erase", &["\"3 ms\""]),
    ("ssd.slc_cache", "read", &["\"20 us\""]),
    ("ssd.slc_cache", "program", &["\"200 us\""]),
    ("ssd.slc_cache", "size", &["\"16 KiB\"", "\"64 KiB\"", "\"1 MiB\""]),
    ("ssd", "over_provisioning", &["\"60 %\"", "\"80 %\"", "\"120 %\""]),
    ("ssd", "garbage_collection", &[ANY]),
    ("ssd.garbage_collection", "reserve", &["4"]),
    ("ssd.garbage_collection", "idle_reserve", &[LEFT_OUT, LEFT_OUT, "1", "2"]),
    ("ssd", "factory_bad", &["\"0 %\"", "\"0 %\"", "\"1 %\""]),
    ("ssd", "power_protected", &["true", "false"]),
    ("ssd", "paired_page_loss", &["true", "false"]),
    ("ssd", "endurance", &[LEFT_OUT, LEFT_OUT, WEAR, "10"]),
    ("ssd", "endurance_spread", &["\"0 %\"", "\"20 %\""]),
    ("ssd", "buffer", &["\"4 KiB\"", "\"8 KiB\"", "\"32 KiB\""]),
    ("ssd", "buffer_kept", &["\"0 %\"", "\"25 %\"", "\"50 %\""]),
    ("ssd", "mapping", &[ANY]),
    ("cached_pages", "size", &["\"512 B\"", "\"1 KiB\"", "\"4 KiB\""]),
    ("cached_entries", "size", &["\"512 B\"", "\"1 KiB\"", "\"4 KiB\""]),
    ("ssd", "transfer", &[LEFT_OUT, LEFT_OUT, "\"512 B\""]),
    ("ssd", "scheduling", &[ANY]),
    ("suspension", "suspensions", &["1", "8"]),
    ("suspension", "resume", &[LEFT_OUT, ANY]),
    ("ssd", "erases_at_once", &[LEFT_OUT, "1", "2"]),
    ("ssd", "programs_at_once", &[LEFT_OUT, "1", "2"]),
    ("ssd", "registers", &[LEFT_OUT, "1", "2"]),
    ("envy", "segments", &["4", "8", "16"]),
    ("envy", "segment", &["\"1 KiB\"", "\"4 KiB\""]),
    ("envy", "page", &["\"16 B\"", "\"64 B\"", "\"256 B\""]),
    ("envy", "cleaning", &[ANY]),
    ("envy", "banks", &["1", "4"]),
    ("envy", "concurrency", &["1", "1", "4"]),
    ("envy", "spare_segments", &["1", "2"]),
    ("envy", "utilization", &["\"50 %\"", "\"70 %\"", "\"75 %\""]),
    ("envy", "wear_swap_gap", &[WEAR]),
    ("envy", "preload", &[LEFT_OUT]),
    ("envy", "buffer", &["\"256 B\"", "\"1 KiB\"", "\"2 KiB\""]),
    ("envy", "threshold", &["\"25 %\"", "\"50 %\""]),
    ("envy", "word", &["\"1 B\"", "\"4 B\"", "\"8 B\""]),
    ("envy", "access", &["\"160 ns\""]),
    ("envy", "endurance", &["1000000"]),
    ("onyx", "controllers", &["1", "2"]),
    ("onyx", "ranks", &["1", "2"]),
    ("onyx", "row_ranks", &["1", "1", "2"]),
    ("onyx", "data_chips", &["1", "4"]),
    ("onyx", "read_unit", &["\"16 B\""]),
    ("onyx", "program_unit", &["\"16 B\"", "\"64 B\""]),
    ("onyx", "chip", &["\"16 KiB\"", "\"64 KiB\""]),
    ("onyx", "row", &["\"512 B\"", "\"1 KiB\""]),
    ("onyx", "read", &["\"314 ns\""]),
    ("onyx", "endurance", &["1000000"]),
    ("onyx", "program_energy", &["\"1 uJ\""]),
    ("onyx", "capacitors", &[LEFT_OUT, "\"10 uJ\"", "\"50 uJ\""]),
    ("onyx", "may_lose_writes", &["true"]),
    ("onyx", "program_zeros", &[LEFT_OUT, "\"1 us\""]),
    ("onyx", "poll_interval", &[LEFT_OUT, "\"1 us\"", "\"20 us\""]),
    ("onyx", "poll", &["\"115 ns\""]),
    ("onyx", "ecc", &[LEFT_OUT, "{ kind = \"bch\", t = 1 }"]),
    ("onyx", "bit_error_rate", &[LEFT_OUT]),
    ("flash_disk_cache", "blocks", &["8", "12", "24"]),
    ("flash_disk_cache", "slots", &["4", "8", "64"]),
    ("flash_disk_cache", "write_region", &["\"0 %\"", "\"50 %\""]),
    ("flash_disk_cache", "collects_above", &["\"60 %\"", "\"90 %\""]),
    ("flash_disk_cache", "cells", &[ANY]),
    ("flash_disk_cache", "lowers_density", &["true", "false"]),
    ("flash_disk_cache", "spare", &[LEFT_OUT]),
    ("ldpc", "codeword", &["\"1 KiB\"", "\"4 KiB\""]),
    ("ldpc", "hard", &["\"1 %\""]),
    ("ldpc", "soft", &["\"1 %\""]),
    ("flash_disk_cache", "slc_endurance", &[WEAR]),
    ("flash_disk_cache", "mlc_endurance", &[WEAR]),
    ("flash_disk_cache", "strongest", &[WEAR]),
    ("flash_disk_cache", "drift", &[WEAR]),
    ("flash_disk_cache", "bit_error_rate", &[WEAR]),
    ("flash_disk_cache", "error_exponent", &[WEAR]),
    ("flash_disk_cache", "endurance_spread", &[WEAR]),
    ("flash_disk_cache", "ecc", &[ANY]),
    ("pcm_disk_cache", "endurance", &[WEAR]),
    ("pcm_disk_cache", "spare", &[LEFT_OUT]),
    ("pcm_disk_cache", "bit_error_rate", &[WEAR]),
    ("pcm_disk_cache", "error_exponent", &[WEAR]),
    ("pcm_disk_cache", "endurance_spread", &[WEAR]),
    ("pcm_disk_cache", "ecc", &[ANY]),
    ("pcm_disk_cache", "controller", &[WEAR]),
    ("pcm_disk_cache", "tables", &[WEAR]),
    ("pcm_disk_cache", "update", &[WEAR]),
    ("tiers", "extent", &["\"4 KiB\"", "\"64 KiB\""]),
    ("tiers", "capacity", &[LEFT_OUT]),
    ("tiers", "share", &[LEFT_OUT]),
    ("tiers", "chunk", &["\"4 KiB\""]),
    ("mirror", "bitmap_region", &["\"4 KiB\"", "\"64 KiB\"", "\"1 MiB\""]),
    ("mirror", "resync_chunk", &["\"512 B\"", "\"4 KiB\"", "\"64 KiB\""]),
    ("mirror", "hedge_after", &[LEFT_OUT, "\"7 us\"", "\"150 us\"", "\"4 ms\""]),
    ("server_cache", "block", &["\"512 B\"", "\"1 KiB\"", "\"4 KiB\""]),
    ("server_cache", "hedge_after", &["\"1 us\"", "\"30 us\""]),
    ("network", "hedge_after", &["\"1 us\"", "\"30 us\""]),
    (
        "quantiles",
        "points",
        &["[{ share = \"0 %\", latency = \"1 us\" }, { share = \"90 %\", latency = \"20 us\" }, \
           { share = \"100 %\", latency = \"1 ms\" }]"],
    ),
    ("exponential", "least", &["\"0 s\"", "\"1 us\""]),
    ("nvram_card", "clock", &["\"1.25 ns\"", "\"2.5 ns\""]),
    ("nvram_card", "chip", &["\"64 KiB\"", "\"1 MiB\""]),
    ("nvram_card", "row", &["\"1 KiB\"", "\"2 KiB\""]),
    ("nvram_card", "activate_to_access", &["\"13.75 ns\""]),
    ("nvram_card", "precharge", &["\"13.75 ns\""]),
    ("nvram_card", "row_open", &["\"35 ns\""]),
    ("nvram_card", "row_cycle", &["\"48.75 ns\""]),
    ("nvram_card", "activate_to_activate", &["\"6 ns\""]),
    ("nvram_card", "four_activates", &["\"30 ns\""]),
    ("nvram_card", "write_recovery", &["\"15 ns\""]),
    ("nvram_card", "volatile", &["true", "false"]),
    ("nvram_card", "capacitor", &[LEFT_OUT, "\"10 mJ\"", "\"1 J\""]),
    ("nvram_card", "may_lose_writes", &["true"]),
    ("constant", "latency", &["\"5 us\"", "\"80 us\""]),
];
