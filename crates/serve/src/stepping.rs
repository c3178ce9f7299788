//! A single manual request to a served device, with its latency breakdown.

use crate::model::{HostRequest, Payload, TimedReply};
use crate::serving::{Body, Disk};
use nacre_kernel::{Op, Status, Time};
use nacre_machine::console::ConsoleReply;
use nacre_memory::persistent_device::WRITE_MAX;
use nacre_nbd::Command;
use std::io;
use std::time::Duration;

/// A manual request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepRequest {
    pub(crate) op: Op,
    pub(crate) offset: u64,
    /// Size in bytes; zero for a flush.
    pub(crate) bytes: u32,
    /// Value of every byte of a write.
    pub(crate) fill: Option<u8>,
}

impl Disk {
    /// Performs the request like a request of a client: in order, in wall-clock time, and recorded in the
    /// image. Calls `wait` repeatedly until the request completes, or until `wait` returns false to cancel
    /// it. Each call of `wait` waits for a limited time. Returns the time at which the reply may be sent, and
    /// the result.
    ///
    /// Returns an error if no device is modeled, the range is outside the device, the request would change a
    /// read-only device, a write has no bytes, the power has failed in the meantime, or the image fails.
    pub(crate) fn step(
        &self,
        request: StepRequest,
        outages: u64,
        wait: &mut dyn FnMut(Duration) -> bool,
    ) -> io::Result<(TimedReply, ConsoleReply)> {
        let StepRequest { op, offset, bytes, fill } = request;
        let Body::Device(model) = &self.body else {
            return Err(refused(
                "--timing none has no modeled device, so there is no latency to show; serve it with its \
                 timing",
            ));
        };
        self.check_step(request)?;
        let data = match op {
            Op::Write => vec![fill.unwrap_or_default(); bytes as usize],
            Op::Read | Op::Trim | Op::Flush => Vec::new(),
        };
        let payload = if op == Op::Write { Payload::Write(&data) } else { Payload::None };
        let asked = HostRequest { op, offset, bytes, forced: false };
        let command = command(op);
        let stepped = model.step(asked, payload, outages, wait);
        let (reply, answered) = stepped.inspect_err(|_| self.tally.failed(command))?;
        self.recorder.note(asked, Some(reply.sent));
        if reply.said.status != Status::Done {
            self.tally.failed(command);
            return Ok((reply, answered));
        }
        if op == Op::Flush {
            model.sync()?;
        }
        self.tally.served(command, bytes);
        Ok((reply, answered))
    }

    /// Returns the number of power losses so far, or 0 if no device is modeled.
    pub(crate) fn outages(&self) -> u64 {
        match &self.body {
            Body::Device(model) => model.outages(),
            Body::Raw(_) => 0,
        }
    }

    /// Returns whether the reply to a request that completed at `done` may be sent to a client that connected
    /// after `outages` power losses.
    pub(crate) fn lets_leave(&self, done: Time, outages: u64) -> bool {
        match &self.body {
            Body::Device(model) => model.lets_leave(done, outages),
            Body::Raw(_) => true,
        }
    }

    fn check_step(&self, request: StepRequest) -> io::Result<()> {
        let StepRequest { op, offset, bytes, fill } = request;
        let end = offset.checked_add(u64::from(bytes));
        if (op == Op::Flush) != (bytes == 0) {
            return Err(refused("a flush has no size, and every other request has one"));
        }
        if end.is_none_or(|end| end > self.export.bytes) {
            return Err(refused("it is past the end of the device"));
        }
        if bytes as usize > WRITE_MAX && op != Op::Trim {
            return Err(refused("it exceeds the limit of 32 MiB"));
        }
        if (op == Op::Write) != fill.is_some() {
            return Err(refused("only a write needs the byte value to store: give \"fill\""));
        }
        if self.export.read_only && matches!(op, Op::Write | Op::Trim) {
            return Err(refused("the device is served read-only"));
        }
        Ok(())
    }
}

fn command(op: Op) -> Command {
    match op {
        Op::Read => Command::Read,
        Op::Write => Command::Write,
        Op::Trim => Command::Trim,
        Op::Flush => Command::Flush,
    }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
