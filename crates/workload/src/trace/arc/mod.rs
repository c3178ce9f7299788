//! The `.lis` traces of the ARC paper.
//!
//! # Model
//! Each line is `start count ignored number`, separated by blanks. A line represents a read of `count`
//! pages, starting at page `start`. Pages have 512 B unless the user selects another size.
//!
//! # Not modeled
//! The format has neither times nor operations. All requests are therefore reads that arrive at time zero,
//! and a note reports this.
//!
//! # Sources
//! Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003, and the description
//! distributed with its traces.
//!
//! # Checks
//! The tests read handwritten lines.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request};
use crate::trace::volumes::Volumes;
use crate::trace::{Format, OpenOptions, Several};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "arc",
    summary: "ARC .lis: start page, pages, ignored, number; neither times nor writes",
    extensions: &["lis"],
    time_unit: None,
    unit_varies: false,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: Some(PAGE_BYTES),
    detect: |head| share_of_lines(head, Arc::new(PAGE_BYTES)),
    open,
    create: None,
};

/// Page size in the documentation of the traces.
const PAGE_BYTES: u64 = 512;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Arc::new(options.page_bytes))))
}

struct Arc {
    page_bytes: u64,
    clock: Clock,
}

impl Arc {
    fn new(page_bytes: u64) -> Arc {
        Arc { page_bytes, clock: Clock::default() }
    }
}

impl LineFormat for Arc {
    #[inline]
    fn line(&mut self, line: &[u8], _volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let start = fields.number_blank().ok_or(Fault("the start is not a whole number of pages"))?;
        let count = fields.number_blank().ok_or(Fault("the count is not a whole number of pages"))?;
        let ignored = fields.number_blank().and_then(|_| fields.number_blank());
        if ignored.is_none() || !fields.is_done() {
            return Err(Fault("the line does not end with two whole numbers"));
        }
        let (address, bytes) = (start.saturating_mul(self.page_bytes), count.saturating_mul(self.page_bytes));
        request(&mut self.clock, 0, Op::Read, 0, address, bytes).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "the format has no times: all requests arrive at zero".into(),
            "the format has no operations: all requests read".into(),
            format!("pages are taken as {} B; the option page (--page) sets another size", self.page_bytes),
        ]
    }
}

#[cfg(test)]
mod tests;
