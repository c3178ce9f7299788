//! Checks that the device in an image is the expected one.

use crate::geometry::Geometry;

/// Returns the geometry and settings as lines `path = value`.
pub(crate) fn lines(geometry: &Geometry, identity: &str) -> String {
    let Geometry { page_bytes, pages_per_extent, pages, raw_bytes } = geometry;
    format!(
        "page bytes = {page_bytes}\npages per extent = {pages_per_extent}\npages = {pages}\n\
         raw bytes = {raw_bytes}\n{identity}"
    )
}
