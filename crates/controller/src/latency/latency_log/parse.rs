//! Parses the latencies of fio's latency log.

use super::Config;
use crate::latency::Direction;
use nacre_kernel::Time;

/// Maximum number of latencies that are read from a log. Each latency takes 8 bytes.
const LATENCIES_MAX: usize = 1 << 26;

/// Error in a file, with location and remedy.
#[derive(Debug, PartialEq)]
pub(super) struct FormatError {
    pub(super) line: Option<usize>,
    pub(super) problem: String,
    pub(super) remedy: String,
}

/// The latencies of the lines that `config` selects. Empty lines are skipped.
pub(super) fn latencies(text: &str, config: &Config) -> Result<Vec<Time>, FormatError> {
    let mut latencies = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let entry = Entry::parse(line).ok_or_else(|| FormatError {
            line: Some(index + 1),
            problem: format!(
                "\"{}\" is not a line of a latency log",
                line.chars().take(60).collect::<String>()
            ),
            remedy: "expected: time in ms, latency, direction (0 read, 1 write, 2 trim), block size".into(),
        })?;
        if entry.direction != Some(config.direction)
            || config.block.is_some_and(|block| block.0 != entry.block)
        {
            continue;
        }
        if entry.block == 0 {
            return Err(FormatError {
                line: Some(index + 1),
                problem:
                    "a line with block size 0 is the mean or maximum of a time window (log_avg_msec), not \
                     a request"
                        .into(),
                remedy: "log again without log_avg_msec, or use fio's json+ output (fio_json)".into(),
            });
        }
        let ps = entry.latency.checked_mul(config.count.as_ps()).filter(|_| latencies.len() < LATENCIES_MAX);
        latencies.push(Time::from_ps(ps.ok_or_else(|| FormatError {
            line: Some(index + 1),
            problem: format!("it holds a latency past 213 days, or more than {LATENCIES_MAX} latencies"),
            remedy: "check `count`, or shorten the log".into(),
        })?));
    }
    if latencies.is_empty() {
        return Err(FormatError {
            line: None,
            problem: format!("it holds no latency of a {} that is asked for", config.direction.name()),
            remedy: "check `direction` and `block`".into(),
        });
    }
    Ok(latencies)
}

/// Name of the quantity in a log without request latencies, according to the name that fio gives to the file,
/// e.g. `NAME_bw.1.log`. `None` for other file names.
pub(super) fn other_log(file: &str) -> Option<&'static str> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem =
        name.strip_suffix(".log")?.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('.');
    [
        ("_bw", "bandwidths"),
        ("_iops", "IOPS"),
        ("_slat", "submission latencies"),
        ("_clat_hist", "histograms"),
    ]
    .into_iter()
    .find_map(|(ending, holds)| stem.ends_with(ending).then_some(holds))
}

/// One line of a log.
struct Entry {
    latency: u64,
    /// `None` for a direction that Nacre does not support.
    direction: Option<Direction>,
    block: u64,
}

impl Entry {
    fn parse(line: &str) -> Option<Entry> {
        let mut fields = line.split(',').map(str::trim);
        let _time: u64 = fields.next()?.parse().ok()?;
        let latency = fields.next()?.parse().ok()?;
        let direction = match fields.next()?.parse::<u32>().ok()? {
            0 => Some(Direction::Read),
            1 => Some(Direction::Write),
            2 => Some(Direction::Trim),
            _ => None,
        };
        Some(Entry { latency, direction, block: fields.next()?.parse().ok()? })
    }
}
