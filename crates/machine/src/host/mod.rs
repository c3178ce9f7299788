//! The host: timeouts, retries, and a limit on outstanding requests, between the workload and the stack.
//!
//! A request that has no answer after `timeout.after` is canceled at the device. A device that cannot cancel it completes
//! it later, and the host drops that answer. The host sends the request again after `timeout.backoff`, up to
//! `timeout.retries` times, then fails it. An answer at the instant of the timeout is too late. Errors that the device
//! reports are final.
//!
//! With `queue_depth`, further requests wait in the host, first come, first served. Each tenant is a host with its own queue.
//! A request keeps its slot until it is answered or failed.
//!
//! Latencies count from the arrival at the host: waiting, all tries, and pauses are part of them.

mod model;
#[cfg(test)]
mod tests;

pub(crate) use model::{Host, KIND};

use nacre_config::{Configuration, Reader};
use nacre_kernel::Time;

/// How the host of the workload handles requests.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_host")]
pub struct HostConfig {
    /// How long the host waits for an answer, and what it does then; absent means that it waits forever. A duration
    /// alone sets `after`.
    pub timeout: Option<Timeout>,
    /// Requests that a host has outstanding at the stack at a time; further ones wait in the host. Each tenant is a
    /// host with its own queue. Absent means no limit.
    #[config(min = 1, max = 65536)]
    pub queue_depth: Option<u32>,
}

/// A request that is not answered in time is canceled, and sent again or failed.
#[derive(Clone, Debug, Configuration)]
#[config(short = "after")]
pub struct Timeout {
    /// Time from sending a request to the device until the host cancels it.
    #[config(min = "1 ps", max = "24 h")]
    pub after: Time,
    /// How many times a request is sent again before it fails.
    #[config(
        default = 5,
        max = 1000,
        source = "standard: Linux, nvme_core.max_retries and SD_MAX_RETRIES are 5"
    )]
    pub retries: u32,
    /// Pause between the timeout and the next try.
    #[config(default = "0 s", max = "24 h", source = "standard: Linux sends a request again at once")]
    pub backoff: Time,
}

fn check_host(host: &HostConfig, reader: &mut Reader<'_>) {
    if host.timeout.is_none() && host.queue_depth.is_none() {
        let remedy = "set host.timeout or host.queue_depth, or remove the table";
        reader.conflict("timeout", "nothing", "the host has neither a timeout nor a queue depth", remedy);
    }
}
