//! A PCI Express link with two directions.

use nacre_config::{Configuration, Reader};
use nacre_kernel::event::Link;
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Pcie, Resource, Time};
use std::collections::VecDeque;

/// Settings of a PCI Express link.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct ExpressConfig {
    /// PCI Express generation.
    #[config(default = 3, min = 1, max = 6, source = "paper: zuolo-2017 table 1")]
    pub generation: u32,
    /// Number of lanes: 1, 2, 4, 8, or 16.
    #[config(default = 8, min = 1, max = 16, source = "paper: zuolo-2017 table 1")]
    pub lanes: u32,
    /// Maximum payload of a packet, in bytes.
    #[config(
        default = 256,
        min = 128,
        max = 4096,
        source = "assumed: a usual value between servers and their cards"
    )]
    pub payload: u32,
    /// Maximum size of a read request, in bytes.
    #[config(
        default = 512,
        min = 128,
        max = 4096,
        source = "assumed: a usual value between servers and their cards"
    )]
    pub read_request: u32,
    /// One-way delay of an idle link, without transfer time.
    #[config(
        default = "150 ns",
        max = "1 ms",
        source = "assumed: together with host_memory, it gives the 550 ns that neugebauer-2018 measures for a read of 64 B by a device"
    )]
    pub flight: Time,
    /// Size of the buffer at each end of the link for packets in flight, including headers. A packet frees
    /// its space when it arrives. Unlimited by default.
    #[config(min = "152 B", max = "1 GiB")]
    pub credits: Option<Bytes>,
}

fn check(config: &ExpressConfig, reader: &mut Reader<'_>) {
    let least = u64::from(config.payload) + 24;
    if let Some(credits) = config.credits.filter(|credits| credits.0 < least) {
        let problem = "it is too small for the payload and header of one packet";
        reader.conflict("credits", &credits.to_string(), problem, &format!("give at least \"{least} B\""));
    }
    for (field, value) in
        [("lanes", config.lanes), ("payload", config.payload), ("read_request", config.read_request)]
    {
        if !value.is_power_of_two() {
            let remedy = format!("use {}", value.next_power_of_two() / 2);
            reader.conflict(field, &value.to_string(), "it is not a power of two", &remedy);
        }
    }
}

impl ExpressConfig {
    /// Generation, number of lanes, and packet sizes of the link.
    pub(super) fn pcie(&self) -> Pcie {
        Pcie {
            generation: self.generation as u8,
            lanes: self.lanes as u8,
            payload: self.payload,
            read_request: self.read_request,
            long_addresses: true,
        }
    }
}

/// A PCI Express link.
///
/// Transfers cross in the order in which they are ready. A packet without data is sent between the packets of
/// a transfer in progress, and its time delays the next transfer. Packets of transfers wait for credits if
/// these are limited. Because transfers keep their order, the time at which a packet crosses is known when
/// its transfer is ready.
#[derive(State)]
pub(super) struct Express {
    #[state(skip = "from the configuration")]
    pub(super) pcie: Pcie,
    #[state(skip = "from the configuration")]
    pub(super) flight: Time,
    links: [Link; 2],
    /// Transfer time of packets without data, by direction. This time has not been charged to the link yet.
    owed: [Time; 2],
    /// Credits for transfers, by direction, if limited.
    credits: Option<[Credits; 2]>,
}

/// Buffer space at the receiving end of one direction.
#[derive(Clone, Debug, State)]
struct Credits {
    /// Total buffer size in bytes, including packet headers.
    #[state(same)]
    all: u64,
    free: u64,
    /// Credits on the way back to the sender: the time at which they arrive, and their number of bytes.
    #[state(varies)]
    returning: VecDeque<(Time, u64)>,
}

impl Credits {
    fn new(all: u64) -> Credits {
        Credits { all, free: all, returning: VecDeque::new() }
    }

    /// Allocates `bytes` bytes. Returns the time at which the space is available, `at` or later.
    fn take(&mut self, at: Time, bytes: u64) -> Time {
        let mut since = at;
        while self.free < bytes {
            let (back, room) = self.returning.pop_front().expect("all of it is free or comes back");
            (self.free, since) = (self.free + room, since.max(back));
        }
        self.free -= bytes;
        since
    }
}

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

impl Express {
    pub(super) fn new(config: &ExpressConfig) -> Express {
        let pcie = config.pcie();
        let link = || Link::new(pcie.raw());
        let credits = config.credits.map(|all| [Credits::new(all.0), Credits::new(all.0)]);
        Express { pcie, flight: config.flight, links: [link(), link()], owed: [Time::ZERO; 2], credits }
    }

    /// Sends a transfer of `bytes` bytes, including packet headers, after all earlier transfers. The transfer
    /// is ready at `at`. Returns the time at which its last packet has left, and its transfer time on an idle
    /// link. The last packet arrives one link delay later.
    #[inline]
    pub(super) fn send(&mut self, direction: Direction, at: Time, bytes: u64) -> (Time, Time) {
        if self.credits.is_some() {
            return self.send_with_credits(direction, at, bytes);
        }
        let owed = std::mem::take(&mut self.owed[direction as usize]);
        let link = &mut self.links[direction as usize];
        let time = link.time_for(bytes);
        (link.cross(at, time + owed) - owed, time)
    }

    /// Like [`Express::send`], but packet by packet with limited credits.
    fn send_with_credits(&mut self, direction: Direction, at: Time, bytes: u64) -> (Time, Time) {
        let packet = self.pcie.write_bytes(u64::from(self.pcie.payload));
        let link = &mut self.links[direction as usize];
        let credits = &mut self.credits.as_mut().expect("they are limited")[direction as usize];
        let (mut left, mut gone, mut alone) = (bytes, at, Time::ZERO);
        while left > 0 {
            let size = left.min(packet);
            let begin = credits.take(gone, size);
            let owed = std::mem::take(&mut self.owed[direction as usize]);
            let time = link.time_for(size);
            gone = link.cross(begin, time + owed) - owed;
            // Space is freed when the packet arrives, and the credit reaches the sender one link delay later.
            credits.returning.push_back((gone + self.flight * 2, size));
            (left, alone) = (left - size, alone + time);
        }
        (gone, alone)
    }

    /// Sends a packet of `bytes` bytes without waiting for transfers. Returns its transfer time. The packet
    /// arrives one link delay later.
    #[inline]
    pub(super) fn post(&mut self, direction: Direction, bytes: u64) -> Time {
        let time = self.links[direction as usize].time_for(bytes);
        self.post_for(direction, time);
        time
    }

    /// Sends a packet with the transfer time `time` without waiting for transfers.
    #[inline]
    pub(super) fn post_for(&mut self, direction: Direction, time: Time) {
        self.owed[direction as usize] += time;
    }

    pub(super) fn power_fail(&mut self, at: Time) {
        self.links.iter_mut().for_each(|link| link.power_fail(at));
        self.owed = [Time::ZERO; 2];
        if let Some(credits) = &mut self.credits {
            credits.iter_mut().for_each(|direction| *direction = Credits::new(direction.all));
        }
    }

    /// Clears busy times but keeps the uncharged time of packets.
    pub(super) fn restart_ledger(&mut self) {
        self.links.iter_mut().for_each(Link::restart_ledger);
    }

    pub(super) fn resources(&self) -> [Resource; 2] {
        let [to_device, to_host] = &self.links;
        [to_device.resource("to_device"), to_host.resource("to_host")]
    }
}
