//! Zone commands of a run.

use super::DeviceRun;
use super::requests::{NewRequest, OutstandingRequest};
use crate::auditor::Violation;
use nacre_kernel::event::Completed;
use nacre_kernel::{Op, Zone, ZoneCommand};

impl DeviceRun<'_> {
    /// The zone that contains `block`, if the device has zone commands.
    fn zone_of(&mut self, block: u64) -> Option<Zone> {
        let address = block * self.auditor.block_bytes() as u64;
        self.device.zone_commands()?;
        self.device.zones().map(|zones| zones.zone(address))
    }

    /// Appends `count` blocks to the zone that contains `block`. No other append is outstanding, so the
    /// auditor can derive the address from the write pointer, even if the append never completes.
    pub(super) fn append(&mut self, block: u64, count: u64) -> Result<(), Violation> {
        self.wait_for_all()?;
        let Some(zone) = self.zone_of(block) else { return Ok(()) };
        let size = self.auditor.block_bytes() as u64;
        if !zone.write_pointer.is_multiple_of(size) {
            // A power loss ended a write in the middle of a block, but the auditor knows only whole blocks.
            return Ok(());
        }
        let (first, end) = (zone.write_pointer / size, zone.end / size);
        let count = count.min(end - first);
        if count == 0 {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let began = self.auditor.writes(first, count, &mut bytes);
        let command = Some((ZoneCommand::Append, zone.start));
        let data = bytes.into();
        self.submit_now(NewRequest { op: Op::Write, blocks: (first, count), data, command }, began);
        Ok(())
    }

    /// Sends a `command` other than an append to the zone that contains `block`.
    pub(super) fn command(&mut self, command: ZoneCommand, block: u64) -> Result<(), Violation> {
        self.wait_for_appends()?;
        self.wait_for_queue_slot()?;
        let Some(zone) = self.zone_of(block) else { return Ok(()) };
        let size = self.auditor.block_bytes() as u64;
        let (first, count) = (zone.start / size, (zone.end - zone.start) / size);
        let began = match command {
            ZoneCommand::Reset => self.auditor.trims(first, count),
            _ => self.auditor.advance(),
        };
        let new = NewRequest {
            op: Op::Trim,
            command: Some((command, zone.start)),
            ..NewRequest::read(first, count)
        };
        self.submit_now(new, began);
        Ok(())
    }

    /// Waits until no append is outstanding. Otherwise, a later request could overtake an append and change
    /// its address.
    pub(super) fn wait_for_appends(&mut self) -> Result<(), Violation> {
        while self.outstanding.iter().any(|pending| pending.command == Some(ZoneCommand::Append)) {
            self.wait_for_one()?;
        }
        Ok(())
    }

    /// Returns an error if an append was not written at the write pointer.
    pub(super) fn check_append(
        &self,
        pending: &OutstandingRequest,
        completed: &Completed,
    ) -> Result<(), Violation> {
        let Some(at) = completed.zone.as_ref().and_then(|zone| zone.written_at) else { return Ok(()) };
        let expected = pending.blocks.0 * self.auditor.block_bytes() as u64;
        match at == expected {
            true => Ok(()),
            false => {
                Err(Violation(format!("{:?} was written at {at} instead of {expected}", pending.request)))
            }
        }
    }
}
