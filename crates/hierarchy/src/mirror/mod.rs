//! A mirror of devices (RAID-1).
//!
//! # Model
//! Two to eight members hold the same data. A write, trim, or flush goes to all members and completes when
//! all of them have replied. Overlapping writes are performed one after the other in order of arrival, so
//! that all members end up with the same data. A read goes to one member, which `read_policy` selects.
//!
//! | `read_policy` | member that receives the read |
//! |---|---|
//! | `first` | the first member |
//! | `round_robin` | the members in rotation |
//! | `shortest_queue` | the member with the fewest outstanding requests, or, in a tie, the next member in rotation |
//!
//! With `hedge_after`, a read without a reply after that time is also sent to the next member. The first
//! reply without an error is returned, and the other request is canceled. If a member has already started
//! this request, the member completes it, and the reply is ignored.
//!
//! **Errors.** A read that fails on one member is sent to the next member. The mirror then reads the range
//! from a member that can return it and writes it to the failed member, in whole mapping units of the
//! members. Overlapping writes wait. If the write to the failed member also fails, the member keeps its bad
//! range, as with the bad block log of Linux md. If a host write, trim, or flush fails on one member but
//! completes on another, the failed member is removed permanently. The mirror is then degraded. The last
//! member is never removed, so the mirror returns the errors of this member. A member that has lost buffered
//! data fails only one flush. Until this flush has completed on all members, the mirror therefore treats all
//! other flushes as failed on this member, too. If a flush fails on all members, each member may have lost other
//! data. The mirror then treats all regions that were not flushed as different, as after a power loss, but
//! copies a range only when it is read.
//!
//! **Power loss.** A write-intent bitmap has one bit per `bitmap_region`. The first write to the region sets
//! the bit. The bit is cleared when all writes to the region are complete and, if a member has volatile
//! buffers, flushed. After a power loss, the members may differ in the regions whose bits are set. A resync
//! copies these regions in the background from the first member to the others. The resync copies one
//! `resync_chunk` at a time, at a rate of at most `resync_bandwidth`.
//!
//! Before a read of a range that has not been copied yet, the mirror copies the range. If members have
//! volatile buffers, the copy is flushed before the read returns the data. Two reads of a range therefore
//! never return different versions from two members. If the stored energy of a member was insufficient for
//! its buffered writes, the resync copies the whole mirror.
//!
//! Trimmed ranges may read as zeros on one member and as old data on another. The mirror therefore also
//! copies a trimmed range before the first read of the range.
//!
//! The capacity of the mirror is the capacity of the smallest member. Only the members have cost, energy, and
//! wear.
//!
//! # Counters
//!
//! | counter | counts |
//! |---|---|
//! | `reads`, `writes`, `trims`, `flushes` | requests to the mirror |
//! | `bytes_read`, `bytes_written` | bytes of these requests |
//! | `hedges_sent` | reads sent to a second member after `hedge_after` |
//! | `hedges_won` | hedged reads that the second member answered first |
//! | `read_errors` | reads that failed on a member |
//! | `rewrites` | ranges written to a member that could not read them |
//! | `resynced_bytes` | bytes copied after a power loss or a trim |
//! | `failed_members` | members removed since the mirror was new |
//!
//! # Not modeled
//! - Replacement of a failed member.
//! - Writes of the bitmap. Linux md writes the bitmap to the members before the first write to a region, and
//!   clears bits about five seconds after the last write. In this model, the bitmap is in battery-backed
//!   memory, and a flush clears its bits.
//! - The read behavior of Linux md during a resync. In a range that the resync has not copied yet, md reads
//!   from the first member and does not copy the data. If this read fails, md uses another member.
//! - Flushes of resynced chunks. After a second power loss and the removal of the first member, a chunk may
//!   revert to the version of another member.
//! - Reads that combine data from several members. A read that fails on all members fails, even if each
//!   member could return a portion of the data.
//! - Zoned members.
//!
//! # Sources
//! - Patterson, Gibson, Katz, "A case for redundant arrays of inexpensive disks (RAID)", SIGMOD 1988: RAID-1.
//! - Linux, drivers/md/raid1.c and Documentation/admin-guide/md.rst: errors, the bitmap, and resync.
//! - Dean, Barroso, "The tail at scale", CACM 2013: hedged requests.
//!
//! # Checks
//! - The read rate of two members is twice the read rate of one member.
//! - The mean latency of a write equals the closed form for the maximum of two latencies. The mean latency of
//!   a hedged read equals the closed form for the minimum of one latency and a second, delayed latency.
//! - A naive simulation gives the same completion times.
//! - The model passes the test suites for the device contract and for durability, with power losses at any
//!   time, including during a resync. The tests also cover mirrors whose members are different devices.

mod copies;
mod device;
mod job;
mod member;
mod model;
mod power;
mod ranges_in_use;
mod reads;
#[cfg(test)]
mod tests;
mod write_intent;
mod writes;

use member::Member;
use model::Mirror;
use nacre_config::{Choice, Configuration, Descriptor, ErrorCode, Model, Problem, Problems, Reader, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event::Device;
use nacre_kernel::{Bandwidth, Bytes, Time};

/// Maximum number of members of a mirror.
const MEMBERS_MAX: usize = 8;

/// A mirror of devices.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// The members, two to eight.
    pub member: Vec<Slot<DeviceFamily>>,
    /// Policy that selects the member for a read.
    #[config(
        default = "shortest_queue",
        source = "standard: Linux drivers/md/raid1.c, read_balance, for members that are not disks"
    )]
    pub read_policy: ReadPolicy,
    /// Time after which a read without a reply is also sent to the next member. By default, reads are
    /// not hedged.
    #[config(max = "1 h")]
    pub hedge_after: Option<Time>,
    /// Number of bytes that one bit of the write-intent bitmap covers.
    #[config(
        default = "64 MiB",
        min = "512 B",
        max = "1 TiB",
        source = "standard: mdadm, the smallest chunk of an internal bitmap that it chooses"
    )]
    pub bitmap_region: Bytes,
    /// Number of bytes that a resync copies at a time.
    #[config(
        default = "64 KiB",
        min = "512 B",
        max = "1 GiB",
        source = "standard: Linux drivers/md/raid1-10.c, RESYNC_BLOCK_SIZE"
    )]
    pub resync_chunk: Bytes,
    /// Maximum bandwidth of a resync.
    #[config(
        default = "204.8 MB/s",
        min = "1 B/s",
        source = "standard: Linux, dev.raid.speed_limit_max of 200,000 KiB/s"
    )]
    pub resync_bandwidth: Bandwidth,
}

/// Policy that selects the member for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum ReadPolicy {
    /// Selects the first member that has not failed.
    First,
    /// Selects the members in rotation.
    RoundRobin,
    /// Selects the member with the fewest outstanding requests. Ties are resolved in rotation.
    ShortestQueue,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let count = config.member.len();
    if !(2..=MEMBERS_MAX).contains(&count) {
        let (given, remedy) =
            (if count == 1 { "one".into() } else { count.to_string() }, format!("give 2 to {MEMBERS_MAX}"));
        reader.conflict("member", &given, "a mirror has several members", &remedy);
    }
    if config.hedge_after.is_some_and(Time::is_zero) {
        let problem = "every read would go to two members at once";
        reader.conflict(
            "hedge_after",
            "0 s",
            problem,
            "give the 95th percentile of the read latency, e.g. \"1 ms\"",
        );
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "mirror",
        "a mirror of devices (RAID-1), with hedged reads and a resync after power losses",
        &["patterson-1988", "linux-md", "dean-2013"],
        2,
        include_str!("mod.rs"),
    ),
    build,
};

fn build(slot: &Slot<DeviceFamily>, builder: &mut (dyn Builder + '_)) -> Result<Box<dyn Device>, Problems> {
    let id = builder.component();
    let config: Config = slot.config(builder.families());
    let (mut members, mut problems) = (Vec::new(), Vec::new());
    let mut capacity = Bytes(u64::MAX);
    for slot in &config.member {
        let built = builder.device(slot).and_then(|device| match device.capacity() {
            Some(of) => Ok((device, of)),
            None => Err(without_capacity(slot).into()),
        });
        match built {
            Ok((device, of)) => {
                capacity = capacity.min(of);
                members.push(Member::new(device));
            }
            Err(found) => problems.extend(found.0),
        }
    }
    match problems.is_empty() {
        true => Ok(Box::new(Mirror::new(id, slot.path().to_string(), &config, members, capacity))),
        false => Err(Problems(problems)),
    }
}

fn without_capacity(slot: &Slot<DeviceFamily>) -> Problem {
    let problem = "a member of a mirror needs a capacity";
    Problem::new(ErrorCode::MissingSetting, slot.path(), None, problem)
        .remedy("give `capacity`, for example \"64 GiB\"")
}
