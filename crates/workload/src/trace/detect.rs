//! Detection of the format of a file from its content.

use super::error::{TraceError, excerpt};
use super::source::Head;
use super::{FORMATS, Format};

/// Minimum score for accepting a format.
const ENOUGH: u8 = 50;
/// Minimum difference between the best and the second-best score.
const CLEAR: u8 = 15;

/// Unsupported compression formats, with magic bytes, name, and remedy.
const PACKED: [(&[u8], &str, &str); 3] = [
    (b"BZh", "compressed with bzip2", "unpack it with bunzip2, or compress it with gzip or zstd"),
    (b"PK\x03\x04", "a zip archive", "unpack it with unzip"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive", "unpack it with 7z x"),
];

/// Detects the format of a file from its `head`.
///
/// Every format scores the head. The best format is accepted if its score is at least 50 of 100 and exceeds
/// the second-best score by at least 15. Otherwise, the error lists the formats.
pub fn detect(source_name: &str, head: Head<'_>) -> Result<&'static Format, TraceError> {
    if let Some((_, what, remedy)) = PACKED.iter().find(|(magic, _, _)| head.bytes.starts_with(magic)) {
        return Err(TraceError::Packed { source_name: source_name.to_string(), what, remedy });
    }
    let mut scores: Vec<(u8, &'static Format)> =
        FORMATS.iter().map(|&format| ((format.detect)(head), format)).collect();
    scores.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
    let (best, format) = scores[0];
    if best < ENOUGH {
        return Err(TraceError::Unrecognized {
            source_name: source_name.to_string(),
            head: if head.bytes.is_empty() {
                "it is empty".into()
            } else {
                excerpt(&head.bytes[..head.bytes.len().min(40)])
            },
            known: kinds(),
        });
    }
    if best - scores[1].0 < CLEAR {
        let close: Vec<String> = scores
            .iter()
            .filter(|&&(score, _)| score >= ENOUGH.min(best) && best - score < CLEAR)
            .map(|(score, format)| format!("{} ({score} of 100)", format.kind))
            .collect();
        return Err(TraceError::Ambiguous {
            source_name: source_name.to_string(),
            candidates: close.join(", "),
        });
    }
    Ok(format)
}

/// Returns the format named `kind`, or an error that lists all formats.
pub fn format_named(kind: &str) -> Result<&'static Format, TraceError> {
    FORMATS
        .iter()
        .copied()
        .find(|format| format.kind == kind)
        .ok_or_else(|| TraceError::NoSuchFormat { given: kind.to_string(), known: kinds() })
}

fn kinds() -> String {
    let kinds: Vec<&str> = FORMATS.iter().map(|format| format.kind).collect();
    kinds.join(", ")
}
