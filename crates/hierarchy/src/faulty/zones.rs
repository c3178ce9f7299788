//! Zone commands that pass through the faults.

use super::layer::{Below, Layer};
use nacre_kernel::event::Payload;
use nacre_kernel::{Request, Time, ZoneAnswer, ZoneCommand};

impl Layer {
    /// Submits zone command `number` to the device below. Returns false if it was rejected.
    pub(super) fn send_command(&mut self, below: &mut dyn Below, now: Time, number: u32) -> bool {
        let active = &mut self.active[number];
        let command = active.command.expect("only zone commands get here");
        let mut sent = active.sent;
        // The data of an append is recorded when its address is known.
        let data = active.data.clone();
        match below.zone(sent.address) {
            Some(zone) if active.is_placed => sent.address = zone.start,
            Some(zone) if command == ZoneCommand::Reset => {
                let bytes = (zone.end - zone.start) as u32;
                let reset = Request { address: zone.start, bytes, ..sent };
                self.faults.iter_mut().for_each(|fault| fault.writes(&reset, &Payload::NONE));
            }
            _ => {}
        }
        below.command(now, number, command, &sent, data)
    }

    /// Handles the zone reply of the device to request `number`.
    pub(super) fn zone_answers(&mut self, number: u32, zone: ZoneAnswer) {
        let active = &mut self.active[number];
        active.zone = zone;
        let (Some(at), Some(ZoneCommand::Append)) = (zone.written_at, active.command) else { return };
        let data = std::mem::take(&mut active.data);
        let written = Request { address: at, ..active.sent };
        self.faults.iter_mut().for_each(|fault| fault.writes(&written, &data));
    }
}
