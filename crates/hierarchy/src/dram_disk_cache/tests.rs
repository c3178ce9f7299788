//! Tests of power losses. The tests for all frame caches are in [frames](crate::frames).

use crate::workbench::MODELS;
use nacre_testkit::{Workbench, keeps_its_bytes};

const STORE: &str =
    "kind = \"measured\"\nread = \"100 us\"\nwrite = \"200 us\"\nparallelism = 8\ncapacity = \"3 MiB\"\n";

fn toml(options: &str) -> String {
    format!("kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\n{options}\n[device.backing]\n{STORE}")
}

#[test]
fn power_losses_anywhere_break_no_guarantee() {
    for options in ["", "page = \"1 KiB\"\ndirty_limit = \"0 %\"", "dirty_limit = \"100 %\""] {
        let crashes = keeps_its_bytes(Workbench::new(MODELS, 1), &toml(options), 400);
        assert!(
            crashes.points() > 30 && crashes.restarts > 4 && crashes.branches["stale_blocks"] > 3,
            "{crashes:?}"
        );
    }
}
