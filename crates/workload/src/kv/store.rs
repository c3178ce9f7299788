//! Simulation of the store. Clients run in simulated time and submit requests to the device.
//!
//! A client that waits for an event at an unknown time is in a list until the event resumes the client.

use super::Config;
use super::cache::Cache;
use super::checkpoint::Checkpoint;
use super::clients::{Client, Purpose, Stage};
use super::layout::{log_reserve, pages_start, update_bytes};
use super::locks::Locks;
use super::log::{Force, Log, request};
use super::method::Method;
use super::searches::{SearchPath, Searches};
use super::waiting::Waiting;
use crate::WorkloadError;
use crate::interactive::{Interactive, Issued};
use crate::turns::Turns;
use nacre_kernel::state::State;
use nacre_kernel::{Op, Random, Request, Status, Time};

/// A store whose transactions swap the values of two keys.
#[derive(State)]
#[state(bound = "M: Method")]
pub(super) struct Store<M> {
    pub(super) method: M,
    pub(super) cache: Cache,
    pub(super) log: Log,
    locks: Locks,
    searches: Searches,
    /// Threads, followed by the clients that write pages of checkpoints.
    clients: Vec<Client>,
    #[state(skip = "from the configuration")]
    threads: u32,
    turns: Turns,
    waiting: Waiting,
    checkpoint: Checkpoint,
    #[state(skip = "from the configuration")]
    sizes: Sizes,
    /// Current simulated time.
    now: Time,
    /// Number of transactions started.
    begun: u64,
    /// Number of transactions with durable commits.
    ended: u64,
    /// Maximum number of transactions.
    #[state(same)]
    limit: u64,
    #[cfg(test)]
    pub(super) journal: super::tests::Journal,
}

/// Constants that follow from the configuration.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    page: u32,
    /// Address of the first page.
    start: u64,
    /// Size of a log record with an update, in bytes.
    update: u64,
    /// Size of a log record without values, in bytes.
    bare: u64,
    /// Maximum number of bytes that transactions and a checkpoint in progress can still append to the log.
    reserve: u64,
    /// CPU time per get or put.
    operation: Time,
    /// CPU time per commit.
    commit: Time,
}

/// Condition under which a client continues.
enum Turn {
    /// Continue immediately.
    On,
    /// Continue after a wait.
    Wait(Until),
    /// Continue after the completion of this request.
    Ask(Purpose, Request),
}

/// Condition that ends a client's wait.
#[derive(Clone, Copy)]
enum Until {
    /// The wait ends at the given time.
    Time(Time),
    /// The wait ends when the page is no longer being read, written, or pinned.
    Page(u32),
    /// The wait ends when the write or flush of the log by another client has completed.
    Log,
    /// The wait ends when the page writes that were outstanding at the start of the checkpoint have
    /// completed.
    Settled,
    /// The wait ends when another client wakes this client.
    Woken,
}

impl<M: Method> Store<M> {
    /// Creates a store over the loaded `method`, with an empty cache.
    pub(super) fn new(method: M, config: &Config, keys: Random) -> Store<M> {
        let (page, update, pages) = (config.page.0, update_bytes(config), method.pages().count());
        let mut clients = vec![Client::new(Stage::Begin); config.threads as usize];
        clients.resize((config.threads + config.writers) as usize, Client::new(Stage::Sweep { page: None }));
        let mut turns = Turns::new(clients.len() as u32);
        (0..config.threads).for_each(|thread| turns.wait_until(Time::ZERO, thread));
        Store {
            cache: Cache::new(pages, config.cache.0 / page),
            log: Log::new(config.log.0, config.log_block.0),
            locks: Locks::new(pages),
            method,
            searches: Searches::new(config.keys, keys),
            clients,
            threads: config.threads,
            turns,
            waiting: Waiting::default(),
            checkpoint: Checkpoint::new(config.checkpoint.unwrap_or(0)),
            sizes: Sizes {
                page: page as u32,
                start: pages_start(config),
                update,
                bare: config.log_record.0,
                reserve: log_reserve(config),
                operation: config.operation,
                commit: config.commit,
            },
            now: Time::ZERO,
            begun: 0,
            ended: 0,
            limit: config.transactions.unwrap_or(u64::MAX),
            #[cfg(test)]
            journal: Default::default(),
        }
    }

    /// Returns the next request issued at `now`. Returns `None` when no more actions are due at `now`.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<Issued> {
        self.now = now;
        loop {
            let client = self.turns.take(now)?;
            if let Some((purpose, request)) = self.run(client) {
                self.turns.wait(client);
                self.clients[client as usize].asked = Some(purpose);
                let request = Request { arrival: now, ..request };
                return Some(Issued { request, tag: client, waited: Time::ZERO });
            }
        }
    }

    /// Number of transactions with durable commits.
    pub(super) fn ended(&self) -> u64 {
        self.ended
    }

    /// Removes the limit on transactions.
    pub(super) fn never_end(&mut self) {
        self.limit = u64::MAX;
    }

    /// Runs `client` until it submits a request, waits, or becomes idle. Returns the request, if any.
    #[inline]
    fn run(&mut self, client: u32) -> Option<(Purpose, Request)> {
        if self.log.is_led_by(client) {
            let (waiting, turns, now) = (&mut self.waiting, &mut self.turns, self.now);
            waiting.wake_for_log(|other| turns.wake(other, now));
            if let Some(request) = self.log.resume() {
                return Some((Purpose::Log, request));
            }
        }
        loop {
            let turn = match self.clients[client as usize].stage {
                Stage::Begin => self.begin(client),
                Stage::Search { operation, step } => self.search(client, operation, step),
                Stage::Commit => self.commit(client),
                Stage::Durable { lsn } => match self.force(lsn, client) {
                    Some(turn) => turn,
                    None => self.end_transaction(client),
                },
                Stage::Sweep { page } => self.sweep(client, page),
                // Pages that were being evicted at the start of the checkpoint are also written.
                Stage::Settle if !self.checkpoint.unsettled.is_empty() => Turn::Wait(Until::Settled),
                Stage::Settle => {
                    self.clients[client as usize].stage = Stage::Mark;
                    Turn::Ask(Purpose::Settle, request(Op::Flush, 0, 0))
                }
                Stage::Mark => self.mark(client),
                Stage::Marked { lsn } => match self.force(lsn, client) {
                    Some(turn) => turn,
                    None => self.end_checkpoint(client),
                },
            };
            match turn {
                Turn::On => {}
                Turn::Ask(purpose, request) => return Some((purpose, request)),
                Turn::Wait(until) => {
                    self.wait(client, until);
                    return None;
                }
            }
        }
    }

    #[inline]
    fn wait(&mut self, client: u32, until: Until) {
        match until {
            // The wait starts when another client wakes this client.
            Until::Woken => return,
            Until::Time(time) => return self.turns.wait_until(time, client),
            Until::Page(page) => self.waiting.for_page(page, client),
            Until::Log => self.waiting.for_log(client),
            Until::Settled => self.checkpoint.settler = Some(client),
        }
        self.turns.wait(client);
    }

    /// Resumes clients that wait for `page`.
    #[inline]
    fn wake_for_page(&mut self, page: u32) {
        let (turns, now) = (&mut self.turns, self.now);
        self.waiting.wake_for_page(page, |client| turns.wake(client, now));
    }

    /// Starts a transaction of `client`, if the log has space for it. Locks are acquired in page order, so
    /// transactions cannot deadlock.
    fn begin(&mut self, client: u32) -> Turn {
        if self.begun == self.limit {
            return Turn::Wait(Until::Woken);
        }
        if self.log.is_half_full() && !self.checkpoint.is_under_way() {
            self.begin_checkpoint();
        }
        if !self.log.has_room(self.sizes.reserve) {
            self.checkpoint.stalled.push(client);
            return Turn::Wait(Until::Woken);
        }
        self.begun += 1;
        let thread = &mut self.clients[client as usize];
        thread.began = Some(self.log.end());
        let [first, second] = &mut thread.ways;
        let one = self.searches.next(&self.method, first, |_| true);
        let other = self.searches.next(&self.method, second, |key| key != one);
        thread.keys = [one, other];
        if locked(&self.method, first) > locked(&self.method, second) {
            thread.ways.swap(0, 1);
            thread.keys = [other, one];
        }
        thread.stage = Stage::Search { operation: 0, step: 0 };
        self.after(self.sizes.operation)
    }

    /// Continues a search at the next page of its path.
    #[inline]
    fn search(&mut self, client: u32, operation: usize, step: usize) -> Turn {
        let way = &self.clients[client as usize].ways[operation % 2];
        let page = way.pages[step];
        if operation < 2 && step == self.method.lock_step(&way.pages) && !self.locks.take(page, client) {
            return Turn::Wait(Until::Woken);
        }
        if self.cache.is_busy(page) {
            return Turn::Wait(Until::Page(page));
        }
        if std::mem::take(&mut self.clients[client as usize].has_read) {
            self.cache.unpin(page);
            self.wake_for_page(page);
        }
        if self.cache.touch(page) {
            return self.visit(client, operation, step);
        }
        match self.cache.victim() {
            None => {
                self.cache.admit(page);
                self.cache.set_busy(page, true);
                self.clients[client as usize].has_read = true;
                Turn::Ask(Purpose::Read(page), self.page_request(Op::Read, page))
            }
            Some(victim) => {
                if self.cache.stays(victim) {
                    return Turn::Wait(Until::Page(victim));
                }
                let turn = self.write_back(victim, client);
                if self.cache.dirty(victim).is_none() {
                    self.cache.drop(victim);
                }
                turn
            }
        }
    }

    /// Continues a search at a cached page of its path.
    #[inline]
    fn visit(&mut self, client: u32, operation: usize, step: usize) -> Turn {
        let thread = &mut self.clients[client as usize];
        let place = operation % 2;
        let SearchPath { pages, at } = &thread.ways[place];
        if step + 1 < pages.len() {
            thread.stage = Stage::Search { operation, step: step + 1 };
            return Turn::On;
        }
        let page = pages[step];
        if operation < 2 {
            thread.values[place] = self.method.pages().entries(page)[*at].value;
        } else {
            // Each key receives the value of the other key.
            let value = thread.values[1 - place];
            let lsn = self.log.append(self.sizes.update);
            #[cfg(test)]
            self.journal.update(lsn, client, (page, *at), thread.keys[place], [thread.values[place], value]);
            self.method.pages_mut().set(page, *at, value);
            self.cache.changed(page, lsn);
        }
        if operation < 3 {
            thread.stage = Stage::Search { operation: operation + 1, step: 0 };
            return self.after(self.sizes.operation);
        }
        thread.stage = Stage::Commit;
        self.after(self.sizes.commit)
    }

    fn commit(&mut self, client: u32) -> Turn {
        let lsn = self.log.commit(self.sizes.bare);
        #[cfg(test)]
        self.journal.commit(lsn, client);
        self.clients[client as usize].stage = Stage::Durable { lsn };
        Turn::On
    }

    /// Ends a transaction whose commit is durable, and releases its locks.
    fn end_transaction(&mut self, client: u32) -> Turn {
        let thread = &mut self.clients[client as usize];
        (thread.stage, thread.began) = (Stage::Begin, None);
        for way in &thread.ways {
            let page = locked(&self.method, way);
            if let Some(next) = self.locks.release(page, client) {
                self.turns.wait_until(self.now, next);
            }
        }
        self.checkpoint.ended += 1;
        if self.checkpoint.is_due() {
            self.begin_checkpoint();
        }
        Turn::On
    }

    /// Starts a checkpoint, and wakes the clients that write its pages. After the checkpoint, recovery
    /// needs only the log records of transactions that are now in progress, and all later records.
    fn begin_checkpoint(&mut self) {
        let began = self.clients.iter().filter_map(|client| client.began).min();
        let writers = self.threads..self.clients.len() as u32;
        self.checkpoint.ended = 0;
        self.checkpoint.busy = writers.len() as u32;
        self.checkpoint.pages = self.cache.all_dirty();
        let is_writing =
            |client: &u32| matches!(self.clients[*client as usize].asked, Some(Purpose::Write(_)));
        self.checkpoint.unsettled = (0..self.clients.len() as u32).filter(is_writing).collect();
        self.checkpoint.start = began.unwrap_or(self.log.end());
        writers.for_each(|writer| self.turns.wait_until(self.now, writer));
    }

    /// Writes `page`, or the next page of the checkpoint if `page` is absent. If no pages are left, the
    /// client becomes idle. The last client to reach this point continues with the checkpoint instead.
    fn sweep(&mut self, client: u32, page: Option<u32>) -> Turn {
        let Some(page) = page.or_else(|| self.checkpoint.pages.pop()) else {
            self.checkpoint.busy -= 1;
            if self.checkpoint.busy > 0 {
                return Turn::Wait(Until::Woken);
            }
            // The checkpoint is in progress while this client is writing.
            self.checkpoint.busy = 1;
            self.clients[client as usize].stage = Stage::Settle;
            return Turn::On;
        };
        self.clients[client as usize].stage = Stage::Sweep { page: Some(page) };
        if self.cache.is_busy(page) {
            return Turn::Wait(Until::Page(page));
        }
        let turn = self.write_back(page, client);
        if self.cache.dirty(page).is_none() {
            self.clients[client as usize].stage = Stage::Sweep { page: None };
        }
        turn
    }

    fn mark(&mut self, client: u32) -> Turn {
        let lsn = self.log.append(self.sizes.bare);
        #[cfg(test)]
        self.journal.mark(lsn, self.checkpoint.start);
        self.clients[client as usize].stage = Stage::Marked { lsn };
        Turn::On
    }

    fn end_checkpoint(&mut self, client: u32) -> Turn {
        self.clients[client as usize].stage = Stage::Sweep { page: None };
        self.checkpoint.busy = 0;
        self.log.drop_before(self.checkpoint.start);
        for thread in self.checkpoint.stalled.drain(..) {
            self.turns.wait_until(self.now, thread);
        }
        Turn::Wait(Until::Woken)
    }

    /// Writes `page` after its log records are durable. Other clients cannot use the page in the meantime.
    #[inline]
    fn write_back(&mut self, page: u32, client: u32) -> Turn {
        let Some(lsn) = self.cache.dirty(page) else { return Turn::On };
        if let Some(turn) = self.force(lsn, client) {
            return turn;
        }
        self.cache.written(page);
        self.cache.set_busy(page, true);
        Turn::Ask(Purpose::Write(page), self.page_request(Op::Write, page))
    }

    /// Returns the next action of `client` to make the log durable up to `lsn`. Returns `None` if it is
    /// already durable.
    #[inline]
    fn force(&mut self, lsn: u64, client: u32) -> Option<Turn> {
        match self.log.force(lsn, client) {
            Force::Durable => None,
            Force::Wait => Some(Turn::Wait(Until::Log)),
            Force::Ask(request) => Some(Turn::Ask(Purpose::Log, request)),
        }
    }

    /// Makes the client continue after it has used a CPU for `time`.
    #[inline]
    fn after(&self, time: Time) -> Turn {
        if time.is_zero() { Turn::On } else { Turn::Wait(Until::Time(self.now + time)) }
    }

    #[inline]
    fn page_request(&self, op: Op, page: u32) -> Request {
        request(op, self.sizes.start + u64::from(page) * u64::from(self.sizes.page), self.sizes.page)
    }
}

/// The tag of a request is the number of its client.
impl<M: Method> Interactive for Store<M> {
    #[inline]
    fn next_event(&self) -> Time {
        self.turns.next()
    }

    fn step(&mut self, now: Time, issued: &mut Vec<Issued>) -> Result<(), WorkloadError> {
        issued.extend(std::iter::from_fn(|| self.next(now)));
        Ok(())
    }

    fn complete(&mut self, now: Time, tag: u32, _status: Status) {
        self.now = now;
        self.turns.wake(tag, now);
        match self.clients[tag as usize].asked.take().expect("it has a request outstanding") {
            Purpose::Read(page) => {
                self.cache.set_busy(page, false);
                self.wake_for_page(page);
            }
            Purpose::Write(page) => {
                self.cache.set_busy(page, false);
                self.wake_for_page(page);
                if let Some(settler) = self.checkpoint.settle(tag) {
                    self.turns.wake(settler, now);
                }
            }
            Purpose::Log => self.ended += self.log.complete(),
            Purpose::Settle => {}
        }
    }
}

/// Returns the page that a transaction locks for the pair at the end of the path `way`.
#[inline]
fn locked(method: &impl Method, way: &SearchPath) -> u32 {
    way.pages[method.lock_step(&way.pages)]
}
