//! The host between the workload and the stack: timeouts, retries, a limit on outstanding requests, and
//! scheduling of waiting requests.
//!
//! A request without a reply after `timeout.after` is canceled at the device. If the device cannot cancel it,
//! the device completes it later, and the host drops that reply. The host sends the request again after
//! `timeout.backoff`, up to `timeout.retries` times, and then fails it. A reply at the instant of the timeout
//! is too late. Errors that the device reports are final.
//!
//! With `queue_depth`, further requests wait in the host. Each tenant is a host with a separate queue. A
//! request keeps its slot until it is answered or failed. `scheduler` selects the waiting request that gets a
//! free slot, after all requests of that instant have arrived.
//!
//! With `zone_writes`, the host writes zones as Linux does: one write of a zone at a time (`one_per_zone`),
//! or by zone append (`append`). The device may write an append at another address of the zone than the
//! workload requested. The host counts these appends (`appends_elsewhere`), but later reads of the workload
//! use the requested addresses. A `timeout` does not undo a write that reached the device: the retry of an
//! append writes the data again, and the retry of a write at a given address is rejected.
//!
//! Latencies start with the arrival at the host and include waiting, all tries, and pauses.

mod model;
#[cfg(test)]
mod tests;
mod waiting;
mod zone_order;
mod zones;

pub(crate) use model::{Host, KIND};

use nacre_config::{Choice, Configuration, Kinds, Reader};
use nacre_kernel::Time;

/// How the host sends requests: timeouts, queue depth, scheduler, and writes to zones.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_host")]
pub struct HostConfig {
    /// Timeout of a request, and retries after the timeout. By default, the host waits without limit. A
    /// duration without a table sets `after`.
    pub timeout: Option<Timeout>,
    /// Maximum outstanding requests of a host at the stack. Further requests wait in the host. Each tenant is
    /// a host with a separate queue. Unlimited by default.
    #[config(min = 1, max = 65536)]
    pub queue_depth: Option<u32>,
    /// Scheduler that selects the waiting request for a free slot of `queue_depth`.
    #[config(default = "first_come", source = "standard: Linux, no scheduler for NVMe")]
    pub scheduler: HostScheduler,
    /// How the host writes to a device with zones. The default is `write`.
    pub zone_writes: Option<ZoneWrites>,
}

/// Method with which a host writes to a device with zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum ZoneWrites {
    /// Each write is sent at its address, regardless of outstanding writes. Writes that overtake each other
    /// are rejected.
    Write,
    /// Each write is sent at its address, one write of a zone at a time, as in Linux. Further writes wait in
    /// the host.
    OnePerZone,
    /// Each write is sent as a zone append, which the device writes at the write pointer of the zone. Any
    /// number of appends may be outstanding, in any order.
    Append,
}

impl HostConfig {
    /// Returns whether the stack must have zones.
    pub(crate) fn needs_zones(&self) -> bool {
        !matches!(self.zone_writes, None | Some(ZoneWrites::Write))
    }
}

/// Scheduler of a host, which selects the waiting request that gets a free slot.
#[derive(Clone, Debug, Kinds)]
pub enum HostScheduler {
    /// The host sends the oldest request first.
    FirstCome,
    /// The host sends batches of reads or of writes in address order. A request whose deadline has passed
    /// starts the next batch, as in Linux mq-deadline.
    ///
    /// A batch continues with the next higher address of its direction, up to `fifo_batch` requests. Then a
    /// batch of reads starts, or a batch of writes if no reads wait or if `writes_starved` batches of reads
    /// preceded waiting writes. The batch starts with the oldest request of its direction if the deadline of
    /// this request has passed or if no request at a higher address waits. Otherwise, the batch starts at the
    /// next higher address. Trims count as writes. Flushes precede all other requests.
    ///
    /// Not modeled: merging of adjacent requests and I/O priorities. Deadlines are not guarantees: the
    /// counter `expired` of the host counts the requests that got their slot after their deadline.
    Deadline(Deadline),
}

/// Deadlines and batches, with the parameter names of Linux.
#[derive(Clone, Debug, Configuration)]
pub struct Deadline {
    /// Time from the arrival of a read until its deadline.
    #[config(default = "500 ms", source = "standard: Linux, mq-deadline")]
    pub read_expire: Time,
    /// Time from the arrival of a write until its deadline.
    #[config(default = "5 s", source = "standard: Linux, mq-deadline")]
    pub write_expire: Time,
    /// Maximum number of requests in a batch.
    #[config(default = 16, min = 1, max = 65536, source = "standard: Linux, mq-deadline")]
    pub fifo_batch: u32,
    /// Number of read batches that may start before waiting writes get a batch.
    #[config(default = 2, max = 65536, source = "standard: Linux, mq-deadline")]
    pub writes_starved: u32,
}

/// Timeout handling: a request without a reply in time is canceled, and then sent again or failed.
#[derive(Clone, Debug, Configuration)]
#[config(short = "after")]
pub struct Timeout {
    /// Time from sending a request to the device until the host cancels it.
    #[config(min = "1 ps", max = "24 h")]
    pub after: Time,
    /// Maximum number of retries before a request fails.
    #[config(
        default = 5,
        max = 1000,
        source = "standard: Linux, nvme_core.max_retries and SD_MAX_RETRIES are 5"
    )]
    pub retries: u32,
    /// Pause between a timeout and the next try.
    #[config(default = "0 s", max = "24 h", source = "standard: Linux sends a request again at once")]
    pub backoff: Time,
}

fn check_host(host: &HostConfig, reader: &mut Reader<'_>) {
    if let (HostScheduler::Deadline(_), None) = (&host.scheduler, host.queue_depth) {
        let problem = "without host.queue_depth, no request waits in the host";
        let remedy = "set host.queue_depth, e.g. 32 for SATA, or remove it";
        return reader.conflict("scheduler", "deadline", problem, remedy);
    }
    if host.timeout.is_none() && host.queue_depth.is_none() && host.zone_writes.is_none() {
        let remedy = "set host.timeout, host.queue_depth, or host.zone_writes, or remove the table";
        reader.conflict("timeout", "nothing", "the table of the host has no setting", remedy);
    }
}
