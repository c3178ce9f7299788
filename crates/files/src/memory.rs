//! How much memory there is to take, as far as the system says.

use std::fs::read_to_string;

/// Bytes that can be taken without swapping, within the limit of the control group; none where nobody says.
pub(crate) fn free_bytes() -> Option<u64> {
    let system = read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let limit = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let used: Option<u64> =
        read_to_string("/sys/fs/cgroup/memory.current").ok().and_then(|text| text.trim().parse().ok());
    let group = limit.zip(used).map(|(limit, used): (u64, u64)| limit.saturating_sub(used));
    system.into_iter().chain(group).min()
}

/// What `/proc/meminfo` says is available.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::available;

    #[test]
    fn what_is_available_is_read_from_the_line_that_says_so() {
        let text = "MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(available(text), Some(8 << 20));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        assert_eq!(available("MemAvailable: much kB\n"), None);
    }
}
