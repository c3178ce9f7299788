//! Combinations of settings that are generated more often than by chance, because some failures need several
//! settings at once.

use super::hints::EDGE;

/// Fixed settings that are used together in a stack.
#[derive(Debug)]
pub(super) struct Combination {
    /// Kind of the device at the top of the stack.
    pub(super) kind: &'static str,
    /// Settings, each as the kind of its component, its name, and its value. [`Value::Device`] stands for
    /// any device of one kind.
    pub(super) settings: &'static [(&'static str, &'static str, Value)],
}

/// Value of a fixed setting.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A given TOML text.
    Text(&'static str),
    /// Any device of this kind.
    Device(&'static str),
}

use Value::{Device, Text};

/// An NVRAM card whose capacitor saves only the first pages of its memory. A power loss reverts the other
/// pages, including pages of which a cache has clean copies.
const SAVES_A_PART: [(&str, &str, Value); 3] = [
    ("nvram_card", "volatile", Text("true")),
    ("nvram_card", "capacitor", Text("\"14 mJ\"")),
    ("nvram_card", "chip", Text("\"1 MiB\"")),
];

/// Combinations of settings. One third of the stacks use one of these combinations.
pub(super) const COMBINATIONS: [Combination; 7] = [
    // Copies of data that the backing device lost, in caches so small that the copies are soon evicted.
    Combination {
        kind: "flash_disk_cache",
        settings: &[
            ("flash_disk_cache", "backing", Device("nvram_card")),
            ("flash_disk_cache", "blocks", Text("8")),
            ("flash_disk_cache", "slots", Text("1")),
            SAVES_A_PART[0],
            SAVES_A_PART[1],
            SAVES_A_PART[2],
        ],
    },
    Combination {
        kind: "pcm_disk_cache",
        settings: &[
            ("pcm_disk_cache", "backing", Device("nvram_card")),
            ("pcm_disk_cache", "capacity", Text("\"64 KiB\"")),
            ("pcm_disk_cache", "page", Text("\"8 KiB\"")),
            SAVES_A_PART[0],
            SAVES_A_PART[1],
            SAVES_A_PART[2],
        ],
    },
    // Extents are always being moved.
    Combination {
        kind: "tiers",
        settings: &[
            (
                "tiers",
                "placement",
                Text(
                    "{ kind = \"dynamic\", epoch = \"150 us\", memory = \"0 %\", hysteresis = \"0 %\", \
                     least_saving = \"0 s\" }",
                ),
            ),
            ("tiers", "extent", Text("\"4 KiB\"")),
            ("tiers", "migration_bandwidth", Text("\"1 GB/s\"")),
        ],
    },
    // Segments are swapped continuously.
    Combination {
        kind: "envy",
        settings: &[
            ("envy", "wear_swap_gap", Text("1")),
            ("envy", "segments", Text("8")),
            ("envy", "segment", Text("\"1 KiB\"")),
            ("envy", "page", Text("\"256 B\"")),
            ("envy", "utilization", Text("\"70 %\"")),
            ("envy", "buffer", Text("\"1 KiB\"")),
        ],
    },
    // Stored energy that is just sufficient, or slightly too low.
    Combination {
        kind: "nvram_card",
        settings: &[
            ("nvram_card", "volatile", Text("true")),
            ("nvram_card", "capacitor", Text(EDGE)),
            ("nvram_card", "dump", Text("\"all\"")),
        ],
    },
    Combination {
        kind: "onyx",
        settings: &[("onyx", "completion", Text("\"early\"")), ("onyx", "capacitors", Text(EDGE))],
    },
    // A cache whose contents and table survive a power loss, above a disk with a volatile write cache.
    Combination {
        kind: "server_cache",
        settings: &[
            ("server_cache", "backing", Device("hdd")),
            ("hdd", "write_cache", Text("\"64 KiB\"")),
            ("hdd", "capacity", Text("\"3 MiB\"")),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::super::hints::EDGE;
    use super::super::random_stack::with_settings;
    use super::{COMBINATIONS, Device, Text};
    use nacre_kernel::Streams;

    #[test]
    fn every_combination_is_legal_and_has_its_settings() {
        for combination in &COMBINATIONS {
            for seed in 0..4 {
                let mut random = Streams::new(seed).stream("stack");
                let stack = with_settings(combination.kind, combination.settings, &mut random);
                let (text, _) = stack.unwrap_or_else(|| panic!("{combination:?} is never legal"));
                for (_, name, value) in combination.settings {
                    let setting = match value {
                        Text(EDGE) => format!("{name} = "),
                        Text(value) => format!("{name} = {value}"),
                        Device(kind) => format!("{name} = {{ kind = \"{kind}\""),
                    };
                    assert!(text.contains(&setting), "{setting} of {combination:?}: {text}");
                }
                assert!(!text.contains(EDGE), "{text}");
            }
        }
    }
}
