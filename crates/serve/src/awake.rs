//! Prevention of processor sleep states while a client waits for a modeled time.
//!
//! An idle processor enters a sleep state. Waking it takes tens of microseconds on a virtual machine, and the
//! time varies. A client that sleeps until its reply arrives observes this time as latency. While a process
//! holds `/dev/cpu_dma_latency` open, Linux does not use sleep states that exceed the requested latency (PM
//! QoS; kernel documentation, "PM Quality of Service interface"). Opening this file requires a permission.
//! Without the permission, replies arrive later.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// File through which a process requests a limit on wake-up latency from the kernel (PM QoS).
const ASKED_AT: &str = "/dev/cpu_dma_latency";

/// Prevents processor sleep states until this value is dropped.
pub(crate) struct Awake {
    _held: File,
}

impl Awake {
    /// Keeps processors awake. Returns an error if the user does not have the permission.
    pub(crate) fn keep() -> io::Result<Awake> {
        let mut held = OpenOptions::new().write(true).open(ASKED_AT)?;
        held.write_all(&0_i32.to_ne_bytes())?;
        Ok(Awake { _held: held })
    }
}

/// Keeps processors awake while a client is active, and permits sleep states when the client is silent.
#[derive(Default)]
pub(crate) struct Hold {
    held: Option<Awake>,
    /// Whether processors are kept awake while the client is active. This is false if the user does not have
    /// the permission, or if replies are immediate.
    is_allowed: bool,
}

impl Hold {
    /// Keeps processors awake if the user has the permission. Otherwise, replies are later, and the server
    /// printed a note about this when it started.
    pub(crate) fn begin() -> Hold {
        let held = Awake::keep().ok();
        Hold { is_allowed: held.is_some(), held }
    }

    /// Returns whether processors are kept awake for this client.
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Permits sleep states. Called after the client has been silent for some time.
    pub(crate) fn let_go(&mut self) {
        self.held = None;
    }

    /// Keeps processors awake again. Called when the client becomes active.
    pub(crate) fn again(&mut self) {
        if self.is_allowed && self.held.is_none() {
            self.held = Awake::keep().ok();
        }
    }
}

/// Returns a note for the user if processors may sleep, and `None` otherwise.
pub(crate) fn notice() -> Option<String> {
    let error = Awake::keep().err()?;
    Some(format!(
        "{ASKED_AT} cannot be opened ({error}): CPU sleep states stay enabled, so client latencies are off \
         by some tens of microseconds"
    ))
}
