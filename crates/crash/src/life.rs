//! One device from new on: does steps, loses its power, and is audited.

use crate::auditor::{Audit, Auditor, Broken};
use crate::fault::Fault;
use crate::media::Media;
use crate::sequence::{Action, Loss, Sequence, Step};
use nacre_kernel::state;
use nacre_kernel::{
    Breakdown, Capabilities, Data, Device, Op, Persistence, Recovery, Refused, Request, Status, Streams, Time,
};
use std::collections::BTreeSet;

/// What is crashed.
pub trait Stack {
    /// The device, over the bytes of `media`: always the same one.
    fn build(&mut self, media: &Media) -> Box<dyn Device>;
}

/// The longest that a request may take, or a recovery: with faults over, everything ends.
pub const LIVES_WITHIN: Time = Time::from_s(3600);
/// After one last loss of power in so many, by its chance, it is shown that the device still works.
pub(crate) const SHOWN_TO_WORK: u64 = 8;
/// Moments at which something of the medium begins or ends that are remembered.
const MOMENTS_MAX: usize = 64;

pub(crate) struct Life<'a> {
    stack: &'a mut dyn Stack,
    pub(crate) media: Media,
    pub(crate) device: Box<dyn Device>,
    pub(crate) capabilities: Capabilities,
    pub(crate) auditor: Auditor,
    /// Whether flushes are answered, and the device never hears of them.
    lies: bool,
    /// Flushes that were such lies.
    pub(crate) lies_told: u64,
    pub(crate) now: Time,
    /// How long the last request took.
    pub(crate) latency: Time,
    /// Moments to come, at which an operation begins or ends.
    pub(crate) moments: Vec<Time>,
    pub(crate) requests: u64,
    pub(crate) restarts: u64,
    /// Writes that were refused.
    pub(crate) refusals: u64,
    breakdown: Breakdown,
    pub(crate) bytes: Vec<u8>,
    /// What the last audit read, and blocks of it that the device said are lost.
    pub(crate) found: Vec<u8>,
    pub(crate) unread: BTreeSet<u64>,
    pub(crate) runs: Vec<(u64, u64)>,
    marked: Option<Marked>,
}

/// Where a life goes back to.
struct Marked {
    state: Vec<u8>,
    now: Time,
    latency: Time,
}

/// What one loss of power did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Survived {
    pub(crate) audit: Audit,
    pub(crate) recovery: Recovery,
    /// From the return of the power until the device was ready.
    pub(crate) took: Time,
    pub(crate) ready: Time,
    pub(crate) was_recovering: bool,
    pub(crate) audited: u64,
}

impl<'a> Life<'a> {
    pub(crate) fn new(stack: &'a mut dyn Stack, media: Media, sequence: &Sequence) -> Life<'a> {
        let Sequence { block_bytes, preconditioned, .. } = *sequence;
        media.again();
        let mut device = stack.build(&media);
        precondition(&mut *device, preconditioned);
        let capabilities = device.capabilities();
        assert!(capabilities.carries_bytes, "only a device with bytes can lose some");
        let Capabilities { atomic_unit, persistence, .. } = capabilities;
        Life {
            stack,
            media,
            device,
            capabilities,
            auditor: Auditor::new(block_bytes, atomic_unit, persistence),
            lies: false,
            lies_told: 0,
            now: Time::ZERO,
            latency: Time::from_us(1),
            moments: Vec::new(),
            requests: 0,
            restarts: 0,
            refusals: 0,
            breakdown: Breakdown::new(),
            bytes: Vec::new(),
            found: Vec::new(),
            unread: BTreeSet::new(),
            runs: Vec::new(),
            marked: None,
        }
    }

    /// From the first step on, flushes are lies if this is the `fault`.
    pub(crate) fn lie(&mut self, fault: Fault) {
        self.lies = fault == Fault::LyingFlush;
        if self.lies {
            self.auditor.forgive();
        }
    }

    pub(crate) fn device(&mut self) -> &mut dyn Device {
        &mut *self.device
    }

    /// Does `step`. Errors: the device did what it may not.
    pub(crate) fn step(&mut self, step: &Step) -> Result<Option<Survived>, Broken> {
        self.now += step.pause;
        if step.advances {
            self.device.advance(self.now);
            self.auditor.settle(self.now);
        }
        self.moments.retain(|&moment| moment > self.now);
        match step.action {
            Action::Write(first, count) => self.write(first, count)?,
            Action::Read(first, count) => self.read_and_check(first, count)?,
            Action::Trim(first, count) if !self.auditor.is_open() => {
                let (done, _) = self.ask(self.now, Op::Trim, first, count, Way::None)?;
                self.auditor.trimmed(first, count, done);
            }
            Action::Flush => self.flush()?,
            Action::Begin | Action::Commit | Action::Abort => self.transact(step.action)?,
            Action::Trim(..) => {}
            Action::Restart => self.restart()?,
            Action::Lose(loss) => {
                let at = self.now + loss.after;
                let survived = self.lose(&loss)?;
                self.auditor.rebase(at, &self.found, &self.unread);
                self.now = self.device.busy_until().max(survived.ready);
                self.moments.clear();
                return Ok(Some(survived));
            }
        }
        Ok(None)
    }

    pub(crate) fn ask(
        &mut self,
        at: Time,
        op: Op,
        first: u64,
        count: u64,
        way: Way,
    ) -> Result<(Time, Status), Broken> {
        let size = self.auditor.block_bytes() as u64;
        let (address, bytes) = (first * size, (count * size) as u32);
        // The same data comes through one placement handle and through another, where there are several.
        let volume = (address / 4096) as u32 + bytes;
        let request = Request { arrival: at, address, bytes, volume, op };
        let data = match way {
            Way::None => Data::None,
            Way::Write => Data::Write(&self.bytes),
            Way::Read => {
                self.bytes.clear();
                self.bytes.resize(bytes as usize, 0xAA);
                Data::Read(&mut self.bytes)
            }
        };
        self.breakdown.clear();
        self.requests += 1;
        let completion = self.device.submit(at, &request, data, &mut self.breakdown);
        let done = completion.done;
        if done < at || done - at > LIVES_WITHIN {
            return Err(Broken(format!("{request:?} at {at} is done at {done}")));
        }
        let total = self.breakdown.total_from(0);
        if total != done - at {
            return Err(Broken(format!("{request:?} at {at} takes {}, its breakdown {total}", done - at)));
        }
        Ok((done, completion.status))
    }

    /// The same, with its moments remembered.
    fn ask_now(&mut self, op: Op, first: u64, count: u64, way: Way) -> Result<(Time, Status), Broken> {
        let (done, status) = self.ask(self.now, op, first, count, way)?;
        self.latency = (done - self.now).max(Time::from_ns(1));
        let mut moment = self.now;
        for span in self.breakdown.spans() {
            moment += span.time;
            if self.moments.len() == MOMENTS_MAX {
                self.moments.swap_remove(moment.as_ps() as usize % MOMENTS_MAX);
            }
            self.moments.push(moment);
        }
        Ok((done, status))
    }

    fn write(&mut self, first: u64, count: u64) -> Result<(), Broken> {
        let size = self.auditor.block_bytes() as u64;
        if let Some(transactions) = self.device.transactions()
            && transactions.check(first * size, count * size).is_err()
        {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        self.auditor.next_write(first, count, &mut bytes);
        self.bytes = bytes;
        match self.ask_now(Op::Write, first, count, Way::Write)? {
            (done, Status::Done) => self.auditor.wrote(first, count, done),
            _ => {
                self.refusals += 1;
                self.auditor.refused(first, count);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Broken> {
        let asked = self.now;
        self.lies_told += u64::from(self.lies);
        let (done, status) = match self.lies {
            true => (asked, Status::Done),
            false => self.ask_now(Op::Flush, 0, 0, Way::None)?,
        };
        // Stored energy is all that such a device has: a flush adds nothing.
        if self.capabilities.persistence == Persistence::WithStoredEnergy {
            return Ok(());
        }
        match status {
            Status::Done => {
                let needs_flush = self.capabilities.persistence.needs_flush();
                // A lie cannot tell what was lost before it, as a flush that the device hears of does.
                let lost_pages = if needs_flush && !self.lies { self.lost_pages() } else { 0 };
                self.auditor.flushed(asked, done, lost_pages);
            }
            _ => self.auditor.flush_failed(),
        }
        Ok(())
    }

    fn transact(&mut self, action: Action) -> Result<(), Broken> {
        let Some(transactions) = self.device.transactions() else { return Ok(()) };
        let answer = match action {
            Action::Begin => transactions.begin(self.now),
            Action::Commit => transactions.commit(self.now),
            _ => transactions.abort(self.now),
        };
        match (action, answer, self.auditor.is_open()) {
            (Action::Begin, Ok(_), false) => self.auditor.began(),
            (Action::Commit, Ok(completion), true) => self.auditor.committed(completion.done),
            (Action::Abort, Ok(_), true) => self.auditor.aborted(),
            (Action::Begin, Err(Refused::TransactionOpen), true)
            | (Action::Commit | Action::Abort, Err(Refused::NoTransaction), false) => {}
            (action, answer, is_open) => {
                return Err(Broken(format!("{action:?} gives {answer:?}, while one is open: {is_open}")));
            }
        }
        if let Ok(completion) = answer {
            self.moments.push(completion.done);
            self.latency = (completion.done - self.now).max(Time::from_ns(1));
        }
        Ok(())
    }

    /// Loses the power, and finds out what is left, which stays in `found`.
    fn lose(&mut self, loss: &Loss) -> Result<Survived, Broken> {
        let at = self.now + loss.after;
        let mut chance = Streams::new(loss.chance).stream("loss");
        self.device.power_fail(at, &mut chance);
        let mut back = at + loss.off;
        let mut recovery = self.recover(back)?;
        if let Some((share, off)) = loss.again {
            let whole = u128::from((recovery.done - back).as_ps());
            let again = back + Time::from_ps(((whole * u128::from(share)) >> 16) as u64);
            self.device.power_fail(again, &mut chance);
            back = again + off;
            recovery = recovery.beside(self.recover(back)?);
        }
        let asked = if loss.is_early { back } else { recovery.done };
        let audited = self.read_all(asked, at)?;
        let audit = self.auditor.check_loss(at, &self.found, &self.unread, &recovery)?;
        let took = recovery.done - back;
        let was_recovering = loss.again.is_some();
        Ok(Survived { audit, recovery, took, ready: recovery.done, was_recovering, audited })
    }

    pub(crate) fn recover(&mut self, back: Time) -> Result<Recovery, Broken> {
        let recovery = self.device.recover(back);
        if recovery.done < back || recovery.done - back > LIVES_WITHIN {
            return Err(Broken(format!(
                "the power is back at {back}, and the device is ready at {}",
                recovery.done
            )));
        }
        Ok(recovery)
    }

    /// Another process goes on with the saved state.
    fn restart(&mut self) -> Result<(), Broken> {
        let saved = state::saved(&*self.device).map_err(|error| Broken(error.to_string()))?;
        self.media.again();
        let mut device = self.stack.build(&self.media);
        state::restored(&mut *device, &saved)
            .map_err(|error| Broken(format!("its own state is refused: {error}")))?;
        let reports = [&self.device, &device].map(|device| format!("{:?}", device.report(self.now)));
        if reports[0] != reports[1] {
            return Err(Broken("a report before and after a restart differ".into()));
        }
        if state::saved(&*device).as_ref() != Ok(&saved) {
            return Err(Broken("what was restored is not what was saved".into()));
        }
        self.device = device;
        self.restarts += 1;
        Ok(())
    }

    /// Panics where the books of the device do not balance.
    pub(crate) fn check_invariants(&self) {
        self.device.check_invariants();
    }

    /// Bytes of the state of the device.
    pub(crate) fn mark(&mut self) -> Result<usize, Broken> {
        let state = state::saved(&*self.device).map_err(|error| Broken(error.to_string()))?;
        let bytes = state.len();
        self.media.mark();
        self.marked = Some(Marked { state, now: self.now, latency: self.latency });
        Ok(bytes)
    }

    /// Everything goes on from the mark.
    pub(crate) fn forget_mark(&mut self) {
        self.marked = None;
        self.media.forget_mark();
    }

    /// Loses the power in a way of its own, and is as it was at the mark afterwards.
    pub(crate) fn branch(&mut self, loss: &Loss) -> Result<Survived, Broken> {
        let survived = self.lose_and_live(loss)?;
        let marked = self.marked.as_ref().expect("there is a mark");
        self.media.go_back();
        (self.now, self.latency) = (marked.now, marked.latency);
        state::restored(&mut *self.device, &marked.state)
            .map_err(|error| Broken(format!("its own state is refused: {error}")))?;
        Ok(survived)
    }

    /// Errors: the device is not what it was at the mark.
    pub(crate) fn check_mark(&self) -> Result<(), Broken> {
        let marked = self.marked.as_ref().expect("there is a mark");
        match state::saved(&*self.device).is_ok_and(|state| state == marked.state) {
            true => Ok(()),
            false => Err(Broken("a loss of power that was taken back left something behind".into())),
        }
    }

    /// The last loss of power of a life; after some of them it is shown that the device still works.
    pub(crate) fn lose_and_live(&mut self, loss: &Loss) -> Result<Survived, Broken> {
        let survived = self.lose(loss)?;
        if loss.chance.is_multiple_of(SHOWN_TO_WORK) {
            self.live(survived.ready, loss)?;
        }
        Ok(survived)
    }
}

/// So many writes of 4 KiB all over the device, in no time.
fn precondition(device: &mut dyn Device, writes: u64) {
    const BYTES: u32 = 4096;
    let places = device.capacity().map_or(1, |capacity| capacity.0 / u64::from(BYTES)).max(1);
    let mut random = Streams::new(writes).stream("precondition");
    let mut request = |_| {
        let address = random.below(places) * u64::from(BYTES);
        Request { arrival: Time::ZERO, address, bytes: BYTES, volume: 0, op: Op::Write }
    };
    let requests: Vec<Request> = (0..writes).map(&mut request).collect();
    device.precondition(&requests);
}

/// Which bytes go with a request.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    None,
    Write,
    Read,
}
