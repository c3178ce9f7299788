//! Processors that stay awake while a client waits for the time of a model.
//!
//! A processor with nothing to do sleeps, and takes its time to wake: tens of microseconds on a virtual machine, and
//! never the same. A client that sleeps until its answer comes sees that as latency. Linux keeps all processors from
//! sleeping deeper than a latency allows for as long as somebody holds `/dev/cpu_dma_latency` open (PM QoS; the kernel's
//! documentation, "PM Quality Of Service Interface"). Only some users may; for others answers come later.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// Where the system is asked.
const ASKED_AT: &str = "/dev/cpu_dma_latency";

/// While this exists, processors stay awake.
pub(crate) struct Awake {
    _held: File,
}

impl Awake {
    /// Keeps them awake. Errors: the system does not let this user.
    pub(crate) fn keep() -> io::Result<Awake> {
        let mut held = OpenOptions::new().write(true).open(ASKED_AT)?;
        held.write_all(&0_i32.to_ne_bytes())?;
        Ok(Awake { _held: held })
    }
}

/// What its user should know where processors sleep.
pub(crate) fn notice() -> Option<String> {
    let error = Awake::keep().err()?;
    Some(format!(
        "{ASKED_AT} cannot be opened ({error}): processors sleep between requests, and latencies that clients see are off \
         by some tens of microseconds"
    ))
}
