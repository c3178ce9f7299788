//! Keeps processors awake while a client waits for a modeled time.
//!
//! An idle processor sleeps, and waking it takes tens of microseconds on a virtual machine, with much
//! variation. A client that sleeps until its reply arrives sees this as latency. As long as a process holds
//! `/dev/cpu_dma_latency` open, Linux lets no processor sleep deeper than the requested latency allows (PM
//! QoS; kernel documentation, "PM Quality of Service interface"). Only some users may open it; for others
//! replies arrive later.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// File for the request to the system.
const ASKED_AT: &str = "/dev/cpu_dma_latency";

/// While this exists, processors stay awake.
pub(crate) struct Awake {
    _held: File,
}

impl Awake {
    /// Keeps processors awake. Errors: the user lacks the permission.
    pub(crate) fn keep() -> io::Result<Awake> {
        let mut held = OpenOptions::new().write(true).open(ASKED_AT)?;
        held.write_all(&0_i32.to_ne_bytes())?;
        Ok(Awake { _held: held })
    }
}

/// Keeps processors awake while a client is active, and lets them sleep while it is silent.
#[derive(Default)]
pub(crate) struct Hold {
    held: Option<Awake>,
    /// Whether it is needed and possible; a client with immediate replies does not need it.
    is_allowed: bool,
}

impl Hold {
    /// Keeps processors awake if permitted: otherwise replies are later, and the server printed a note at its
    /// start.
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

    /// Notes activity of the client.
    pub(crate) fn again(&mut self) {
        if self.is_allowed && self.held.is_none() {
            self.held = Awake::keep().ok();
        }
    }
}

/// Note for the user if processors sleep.
pub(crate) fn notice() -> Option<String> {
    let error = Awake::keep().err()?;
    Some(format!(
        "{ASKED_AT} cannot be opened ({error}): CPU sleep states stay enabled, so client latencies are off \
         by some tens of microseconds"
    ))
}
