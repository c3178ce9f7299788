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

/// Keeps processors awake while a client asks, and lets them sleep while it is silent.
#[derive(Default)]
pub(crate) struct Hold {
    held: Option<Awake>,
    /// Whether the system lets us; a client whose answers wait for nothing has no need.
    is_allowed: bool,
}

impl Hold {
    /// Keeps them awake where the system lets us: where it does not, answers come later, and the server said so when
    /// it began.
    pub(crate) fn begin() -> Hold {
        let held = Awake::keep().ok();
        Hold { is_allowed: held.is_some(), held }
    }

    /// Whether processors are kept awake for this client.
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The client has been silent.
    pub(crate) fn let_go(&mut self) {
        self.held = None;
    }

    /// The client asks again.
    pub(crate) fn again(&mut self) {
        if self.is_allowed && self.held.is_none() {
            self.held = Awake::keep().ok();
        }
    }
}

/// What its user should know where processors sleep.
pub(crate) fn notice() -> Option<String> {
    let error = Awake::keep().err()?;
    Some(format!(
        "{ASKED_AT} cannot be opened ({error}): CPU sleep states stay enabled, so client latencies are off \
         by some tens of microseconds"
    ))
}
