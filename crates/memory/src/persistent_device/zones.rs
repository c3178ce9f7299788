//! Zone commands to the device.

use super::{Given, PersistentDevice, units_around};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Time, Zone, ZoneCommand};

impl PersistentDevice {
    /// Kind of the device at the top of the stack.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// The zone that holds `address`, if the device has zones.
    pub fn zone(&self, address: u64) -> Option<Zone> {
        self.device.zones().map(|zones| zones.zone(address))
    }

    /// Submits an append of `bytes` to the zone that starts at `address`.
    pub(super) fn append_to_zone(&mut self, now: Time, address: u64, bytes: &[u8]) -> Given {
        // If power fails before the append completes, its data may be at the write pointer.
        if let Some(Zone { write_pointer, .. }) = self.zone(address) {
            let range = write_pointer..write_pointer + bytes.len() as u64;
            self.bookkeeping.written.insert(units_around(range, self.capacity));
        }
        self.submit_command(now, ZoneCommand::Append, (Op::Write, address), bytes.to_vec().into())
    }

    /// Submits `command`, other than an append, to the zone that starts at `address`.
    pub(super) fn command_zone(&mut self, now: Time, command: ZoneCommand, address: u64) -> Given {
        let is_reset = |zone: &Zone| command == ZoneCommand::Reset && zone.start == address;
        if let Some(Zone { start, end, .. }) = self.zone(address).filter(is_reset) {
            self.bookkeeping.harmed.overwritten(start..end);
        }
        self.submit_command(now, command, (Op::Trim, address), Payload::NONE)
    }

    fn submit_command(
        &mut self,
        now: Time,
        command: ZoneCommand,
        (op, address): (Op, u64),
        data: Payload,
    ) -> Given {
        let size = data.bytes().map_or(0, <[u8]>::len);
        let (id, request) = self.outstand(op, now, address, size);
        let zones = self.device.zone_commands().expect("the step was checked");
        zones.command(now, id, command, &request, data);
        Given::Request(id)
    }
}
