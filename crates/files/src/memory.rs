//! Available memory, as reported by the operating system.

use nacre_machine::HostMemory;
use std::fs::read_to_string;

/// Page size in bytes on all tested processors. A page is the unit of the values in `statm`. If pages are
/// larger, available memory is overestimated.
const PAGE_BYTES: u64 = 4096;

/// Returns the memory that is available without swapping and with swapping, within the limits of the control
/// group and the process. Returns `None` if it is unknown.
pub(crate) fn of_this_machine() -> Option<HostMemory> {
    let system = read_to_string("/proc/meminfo").ok().and_then(|text| of_system(&text))?;
    let limits = read_to_string("/proc/self/limits").ok().zip(read_to_string("/proc/self/statm").ok());
    let address_space = limits.and_then(|(limits, sizes)| of_process(&limits, &sizes));
    let left = address_space.unwrap_or(u64::MAX);
    let system = HostMemory { free: system.free.min(left), all: system.all.min(left), address_space };
    let number = |path: &str| -> Option<u64> { read_to_string(path).ok()?.trim().parse().ok() };
    let Some(limit) = number("/sys/fs/cgroup/memory.max") else { return Some(system) };
    let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
    let free = system.free.min(limit.saturating_sub(used));
    Some(HostMemory { free, all: system.all.min(limit), address_space })
}

/// Returns the available memory according to the text of `/proc/meminfo`, or `None` if the text does not
/// contain it.
fn of_system(text: &str) -> Option<HostMemory> {
    let line = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    let all = line("MemTotal:")? + line("SwapTotal:").unwrap_or(0);
    Some(HostMemory { free: line("MemAvailable:")?, all, address_space: None })
}

/// Returns the address space that the process may still use (`ulimit -v`), from the texts of `limits` and
/// `statm`. Reserved memory counts as used. Returns `None` if the address space is not limited, or if the
/// texts cannot be read.
fn of_process(limits: &str, sizes: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let pages: u64 = sizes.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(pages * PAGE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::{of_process, of_system};
    use nacre_machine::HostMemory;

    #[test]
    fn memory_is_read_from_the_lines_that_say_so() {
        let text = "MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    8192 kB\nSwapTotal: 1024 kB\n";
        let expected = HostMemory { free: 8 << 20, all: 17 << 20, address_space: None };
        assert_eq!(of_system(text), Some(expected));
        assert_eq!(of_system("MemTotal: 1 kB\n"), None);
        assert_eq!(of_system("MemTotal: 1 kB\nMemAvailable: much kB\n"), None);
    }

    #[test]
    fn a_process_has_what_is_left_of_its_limit() {
        let limits = |most: &str| {
            format!("Max open files  9 9 files\nMax address space   {most}   unlimited  bytes\n")
        };
        assert_eq!(of_process(&limits("1048576"), "56 12 3 4 0 5 0\n"), Some((256 - 56) * 4096));
        assert_eq!(of_process(&limits("4096"), "56 12 3 4 0 5 0\n"), Some(0));
        assert_eq!(of_process(&limits("unlimited"), "56 12 3 4 0 5 0\n"), None);
        assert_eq!(of_process("", ""), None);
    }
}
