//! Writes of a host to a device with zones: one write per zone at a time, or zone appends.

use super::{Host, ZoneWrites};
use nacre_kernel::event::{Completed, Device, Payload, RequestId};
use nacre_kernel::{Op, Request, Time, ZoneCommand};

impl Host {
    /// Returns whether request `number` may continue now. With one write per zone, the request waits for
    /// earlier writes and trims of its zone. A trim that covers several zones waits only for the writes and
    /// trims of its first zone.
    pub(super) fn enters_zone(&mut self, device: &dyn Device, number: u32) -> bool {
        let Request { op, address, .. } = self.requests[number].request;
        if self.config.zone_writes != Some(ZoneWrites::OnePerZone) || !matches!(op, Op::Write | Op::Trim) {
            return true;
        }
        let zone = device.zones().expect("the stack was checked").zone(address).start;
        self.requests[number].zone = Some(zone);
        self.order.admit(zone, number)
    }

    /// Handles the end of a request that wrote `zone`. The oldest request that waits for this zone, if any,
    /// then continues.
    pub(super) fn leaves_zone(&mut self, device: &mut dyn Device, now: Time, zone: u64) {
        if let Some(next) = self.order.next(zone) {
            self.arrive(device, now, next);
        }
    }

    /// Sends `request` to the device as attempt `id`.
    pub(super) fn submit_try(
        &mut self,
        device: &mut dyn Device,
        now: Time,
        id: RequestId,
        request: &Request,
    ) {
        if self.config.zone_writes != Some(ZoneWrites::Append) || request.op != Op::Write {
            return device.submit(now, id, request, Payload::NONE);
        }
        self.counts.appends += 1;
        let address = device.zones().expect("the stack was checked").zone(request.address).start;
        let append = Request { address, ..*request };
        let zones = device.zone_commands().expect("a device with zones has their commands");
        zones.command(now, id, ZoneCommand::Append, &append, Payload::NONE);
    }

    /// Counts an append if the device wrote it at an address other than the one that the workload
    /// requested.
    pub(super) fn note_address(&mut self, number: u32, completed: &Completed) {
        let written_at = completed.zone.as_ref().and_then(|zone| zone.written_at);
        let is_elsewhere = written_at.is_some_and(|at| at != self.requests[number].request.address);
        self.counts.appends_elsewhere += u64::from(is_elsewhere);
    }
}
