//! Whether the device in an image is the one asked for.

use crate::error::Difference;
use crate::extents::Geometry;
use std::collections::BTreeMap;

/// The settings in which the image and what was asked for differ, by name. Both are lines `key = value`.
pub fn differences(image: &str, asked: &str) -> Vec<Difference> {
    let (image, asked) = (settings(image), settings(asked));
    let mut keys: Vec<&str> = image.keys().chain(asked.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let differing = keys.into_iter().filter(|key| image.get(key) != asked.get(key));
    let own = |value: Option<&&str>| value.map(|value| (*value).to_string());
    differing
        .map(|key| Difference { key: key.into(), image: own(image.get(key)), asked: own(asked.get(key)) })
        .collect()
}

/// Geometry and settings alike as lines `key = value`.
pub(crate) fn lines(geometry: &Geometry, identity: &str) -> String {
    let Geometry { page_bytes, pages_per_extent, pages, raw_bytes } = geometry;
    format!(
        "page bytes = {page_bytes}\npages per extent = {pages_per_extent}\npages = {pages}\n\
         raw bytes = {raw_bytes}\n{identity}"
    )
}

fn settings(lines: &str) -> BTreeMap<&str, &str> {
    let filled = lines.lines().filter(|line| !line.trim().is_empty());
    let pairs = filled.map(|line| line.split_once('=').unwrap_or((line, "")));
    pairs.map(|(key, value)| (key.trim(), value.trim())).collect()
}
