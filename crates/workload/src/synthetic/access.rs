//! Settings shared by patterns of equal blocks: addresses and operations.

use super::area::{Area, END_MAX};
use super::operations::{Operations, percent};
use crate::WorkloadBuilder;
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Bytes, Ratio};

/// Addresses and operations of a pattern.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Access {
    /// Size of the address space used, in bytes; a multiple of the request size.
    #[config(min = "1 B", max = "8192 PiB")]
    pub footprint: Bytes,
    /// First address used.
    #[config(default = "0 B", max = "8192 PiB", source = "assumed: from the beginning")]
    pub start: Bytes,
    /// Size of a request in bytes. Offsets from `start` are multiples of this size.
    #[config(default = "4 KiB", min = "1 B", max = "1 GiB", source = "assumed: the page of most hosts")]
    pub request: Bytes,
    /// Fraction of requests that are reads.
    #[config(default = "100 %", max = "100 %", source = "assumed: fio reads by default")]
    pub read_share: Ratio,
    /// Fraction of requests that are trims. The remaining requests are writes.
    #[config(default = "0 %", max = "100 %", source = "assumed: few workloads trim")]
    pub trim_share: Ratio,
}

impl Access {
    /// Number of blocks in the footprint.
    pub fn blocks(&self) -> u64 {
        self.footprint.0 / self.request.0
    }

    /// Address range of the pattern.
    pub(crate) fn area(&self) -> Area {
        Area::new(self.start, self.footprint, self.request)
    }

    /// Operations of the pattern at `path`.
    pub(crate) fn operations(&self, path: &str, builder: &dyn WorkloadBuilder) -> Operations {
        let random = builder.random(&format!("{path}.operations"));
        Operations::new(self.read_share, self.trim_share, random)
    }
}

fn check(access: &Access, reader: &mut Reader<'_>) {
    let Access { footprint, start, request, read_share, trim_share } = access;
    if !footprint.0.is_multiple_of(request.0) {
        let below = footprint.0 / request.0 * request.0;
        let above = below.saturating_add(request.0);
        let nearest = if below == 0 { above } else { below };
        reader.conflict(
            "footprint",
            &footprint.to_string(),
            &format!("it is not a whole number of requests of {request}"),
            &format!("use {}, or another size of request", Bytes(nearest)),
        );
    }
    if start.0.checked_add(footprint.0).is_none_or(|end| end > END_MAX) {
        reader.conflict(
            "start",
            &start.to_string(),
            "the footprint ends past 8192 PiB, the end of addresses",
            "start earlier",
        );
    }
    let sum = read_share.0 + trim_share.0;
    if sum > 1.0 + 1e-9 {
        reader.conflict(
            "trim_share",
            &percent(trim_share.0),
            &format!("reads and trims add up to {} of all requests", percent(sum)),
            "lower read_share or trim_share; the rest of the requests are writes",
        );
    }
}
