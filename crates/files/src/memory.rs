//! How much memory there is to take, as far as the system says.

use nacre_machine::HostMemory;
use std::fs::read_to_string;

/// What can be taken without swapping and what there is with all swapping, within the limit of the control group; none
/// where nobody says.
pub(crate) fn of_this_machine() -> Option<HostMemory> {
    let system = read_to_string("/proc/meminfo").ok().and_then(|text| of_system(&text))?;
    let number = |path: &str| -> Option<u64> { read_to_string(path).ok()?.trim().parse().ok() };
    let Some(limit) = number("/sys/fs/cgroup/memory.max") else { return Some(system) };
    let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
    Some(HostMemory { free: system.free.min(limit.saturating_sub(used)), all: system.all.min(limit) })
}

/// What `/proc/meminfo` says.
fn of_system(text: &str) -> Option<HostMemory> {
    let line = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    let all = line("MemTotal:")? + line("SwapTotal:").unwrap_or(0);
    Some(HostMemory { free: line("MemAvailable:")?, all })
}

#[cfg(test)]
mod tests {
    use super::of_system;
    use nacre_machine::HostMemory;

    #[test]
    fn memory_is_read_from_the_lines_that_say_so() {
        let text = "MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    8192 kB\nSwapTotal: 1024 kB\n";
        assert_eq!(of_system(text), Some(HostMemory { free: 8 << 20, all: 17 << 20 }));
        assert_eq!(of_system("MemTotal: 1 kB\n"), None);
        assert_eq!(of_system("MemTotal: 1 kB\nMemAvailable: much kB\n"), None);
    }
}
