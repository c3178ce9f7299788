//! The store at work: clients go on as simulated time lets them, and what they need from the device becomes
//! requests.
//!
//! The store is told when each request is done before it makes the next one. So it knows at every moment which
//! of its clients goes on next, and a request is made when what it depends on is there.

use super::Config;
use super::cache::Cache;
use super::checkpoint::Checkpoint;
use super::clients::{Client, Queue, Stage};
use super::layout::{log_reserve, pages_start, update_bytes};
use super::locks::Locks;
use super::log::{Force, Log, request};
use super::method::Method;
use super::searches::{Searches, Way};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Random, Request, Time};

/// A store under transactions that swap values.
#[derive(State)]
#[state(bound = "M: Method")]
pub(super) struct Store<M> {
    pub(super) method: M,
    pub(super) cache: Cache,
    pub(super) log: Log,
    locks: Locks,
    searches: Searches,
    /// Threads, then the clients that write pages for checkpoints.
    clients: Vec<Client>,
    #[state(skip = "from the configuration")]
    threads: u32,
    queue: Queue,
    checkpoint: Checkpoint,
    #[state(skip = "from the configuration")]
    sizes: Sizes,
    /// Where simulated time has come to.
    now: Time,
    /// Who made the latest request, until it is told when that is done.
    #[state(varies)]
    asker: Option<(u32, Purpose)>,
    /// When the last of all pages written so far is written.
    written: Time,
    /// Transactions begun and ended, and how many there may be.
    begun: u64,
    ended: u64,
    #[state(same)]
    limit: u64,
    #[cfg(test)]
    pub(super) journal: super::tests::Journal,
}

/// What the configuration fixes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    page: u32,
    /// Address of the first page.
    start: u64,
    /// Bytes of an update's log record and of one without data.
    update: u64,
    bare: u64,
    /// Bytes of records that transactions under way and a checkpoint may still make.
    reserve: u64,
    /// Processor time of a get or put and of a commit.
    operation: Time,
    commit: Time,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, Value)]
enum Purpose {
    Read(u32),
    Write(u32),
    Log,
    Settle,
}

/// How a client goes on.
enum Turn {
    /// At once.
    On,
    /// At that time.
    At(Time),
    /// When somebody wakes it.
    Asleep,
    /// When this request is done.
    Ask(Purpose, Request),
}

impl<M: Method> Store<M> {
    /// A store over a loaded `method`, its cache empty.
    pub(super) fn new(method: M, config: &Config, keys: Random) -> Store<M> {
        let (page, update, pages) = (config.page.0, update_bytes(config), method.pages().count());
        let mut clients = vec![Client::new(Stage::Begin); config.threads as usize];
        clients.resize((config.threads + config.writers) as usize, Client::new(Stage::Sweep { page: None }));
        let mut queue = Queue::default();
        (0..config.threads).for_each(|thread| queue.push(Time::ZERO, thread));
        Store {
            cache: Cache::new(pages, config.cache.0 / page),
            log: Log::new(config.log.0, config.log_block.0),
            locks: Locks::new(pages),
            method,
            searches: Searches::new(config.keys, keys),
            clients,
            threads: config.threads,
            queue,
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
            asker: None,
            written: Time::ZERO,
            begun: 0,
            ended: 0,
            limit: config.transactions.unwrap_or(u64::MAX),
            #[cfg(test)]
            journal: Default::default(),
        }
    }

    /// The next request, stamped with its time; none if every transaction has ended. The one before is done.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Request> {
        assert!(self.asker.is_none(), "the store was not told when its request is done");
        loop {
            let (now, client) = self.queue.pop()?;
            self.now = now;
            if let Some((asked, request)) = self.run(client) {
                self.asker = Some((client, asked));
                return Some(Request { arrival: now, ..request });
            }
        }
    }

    /// The request made last is done at `done`.
    #[inline]
    pub(super) fn complete(&mut self, done: Time) {
        let (client, asked) = self.asker.take().expect("a request was made");
        match asked {
            Purpose::Read(page) => self.cache.set_ready(page, done),
            Purpose::Write(page) => {
                self.cache.set_ready(page, done);
                self.written = self.written.max(done);
            }
            Purpose::Log => self.ended += self.log.complete(done),
            Purpose::Settle => {}
        }
        self.queue.push(done, client);
    }

    /// When the request was made that is not known to be done, if there is one.
    pub(super) fn asked_at(&self) -> Option<Time> {
        self.asker.map(|_| self.now)
    }

    /// Transactions whose commits are durable when the latest request is done.
    pub(super) fn ended(&self) -> u64 {
        self.ended
    }

    /// There is no last transaction any more.
    pub(super) fn never_end(&mut self) {
        self.limit = u64::MAX;
    }

    /// Lets `client` go on until it makes a request, waits or sleeps.
    #[inline]
    fn run(&mut self, client: u32) -> Option<(Purpose, Request)> {
        if self.log.is_led_by(client)
            && let Some(request) = self.log.go_on()
        {
            return Some((Purpose::Log, request));
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
                // Pages that left while the checkpoint began are written too.
                Stage::Settle if self.checkpoint.settled > self.now => Turn::At(self.checkpoint.settled),
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
                Turn::At(time) => {
                    self.queue.push(time, client);
                    return None;
                }
                Turn::Asleep => return None,
                Turn::Ask(asked, request) => return Some((asked, request)),
            }
        }
    }

    /// Begins a transaction where the log has room for it. Keys come in the order of the pages that are locked
    /// for them, so no two transactions wait for each other.
    fn begin(&mut self, client: u32) -> Turn {
        if self.begun == self.limit {
            return Turn::Asleep;
        }
        if self.log.is_half_full() && !self.checkpoint.is_under_way() {
            self.begin_checkpoint();
        }
        if !self.log.has_room(self.sizes.reserve) {
            self.checkpoint.stalled.push(client);
            return Turn::Asleep;
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

    /// A search has come to a page of its way.
    #[inline]
    fn search(&mut self, client: u32, operation: usize, step: usize) -> Turn {
        let way = &self.clients[client as usize].ways[operation % 2];
        let page = way.pages[step];
        if operation < 2 && step == self.method.lock_step(&way.pages) && !self.locks.take(page, client) {
            return Turn::Asleep;
        }
        if self.cache.ready(page) > self.now {
            return Turn::At(self.cache.ready(page));
        }
        if std::mem::take(&mut self.clients[client as usize].has_read) {
            self.cache.unpin(page);
        }
        if self.cache.touch(page) {
            return self.visit(client, operation, step);
        }
        match self.cache.victim() {
            None => {
                self.cache.admit(page);
                self.clients[client as usize].has_read = true;
                Turn::Ask(Purpose::Read(page), self.page_request(Op::Read, page))
            }
            Some(victim) => {
                if let Some(until) = self.cache.stays(victim, self.now) {
                    return Turn::At(until);
                }
                let turn = self.write_back(victim, client);
                if self.cache.dirty(victim).is_none() {
                    self.cache.drop(victim);
                }
                turn
            }
        }
    }

    /// A search has come to a page of its way, which is in memory.
    #[inline]
    fn visit(&mut self, client: u32, operation: usize, step: usize) -> Turn {
        let thread = &mut self.clients[client as usize];
        let place = operation % 2;
        let Way { pages, at } = &thread.ways[place];
        if step + 1 < pages.len() {
            thread.stage = Stage::Search { operation, step: step + 1 };
            return Turn::On;
        }
        let page = pages[step];
        if operation < 2 {
            thread.values[place] = self.method.pages().entries(page)[*at].value;
        } else {
            // Each key gets the value of the other.
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

    /// The commit is durable: others may have the pages.
    fn end_transaction(&mut self, client: u32) -> Turn {
        let thread = &mut self.clients[client as usize];
        (thread.stage, thread.began) = (Stage::Begin, None);
        for way in &thread.ways {
            let page = locked(&self.method, way);
            if let Some(next) = self.locks.release(page, client) {
                self.queue.push(self.now, next);
            }
        }
        self.checkpoint.ended += 1;
        if self.checkpoint.is_due() {
            self.begin_checkpoint();
        }
        Turn::On
    }

    /// Wakes the clients that write pages. Recovery needs the log from here on, and what transactions under way
    /// have made so far.
    fn begin_checkpoint(&mut self) {
        let began = self.clients.iter().filter_map(|client| client.began).min();
        let writers = self.threads..self.clients.len() as u32;
        self.checkpoint.ended = 0;
        self.checkpoint.busy = writers.len() as u32;
        self.checkpoint.pages = self.cache.all_dirty();
        self.checkpoint.settled = self.written;
        self.checkpoint.start = began.unwrap_or(self.log.end());
        writers.for_each(|writer| self.queue.push(self.now, writer));
    }

    /// Writes `page`, or the next one; behind the last one, the last client goes on and the others sleep.
    fn sweep(&mut self, client: u32, page: Option<u32>) -> Turn {
        let Some(page) = page.or_else(|| self.checkpoint.pages.pop()) else {
            self.checkpoint.busy -= 1;
            if self.checkpoint.busy > 0 {
                return Turn::Asleep;
            }
            // Still under way, as long as this one is at it.
            self.checkpoint.busy = 1;
            self.clients[client as usize].stage = Stage::Settle;
            return Turn::On;
        };
        self.clients[client as usize].stage = Stage::Sweep { page: Some(page) };
        if self.cache.ready(page) > self.now {
            return Turn::At(self.cache.ready(page));
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
            self.queue.push(self.now, thread);
        }
        Turn::Asleep
    }

    /// Makes `page` clean; its records must be durable before it is written. Nobody else uses it meanwhile.
    #[inline]
    fn write_back(&mut self, page: u32, client: u32) -> Turn {
        let Some(lsn) = self.cache.dirty(page) else { return Turn::On };
        if let Some(turn) = self.force(lsn, client) {
            return turn;
        }
        self.cache.written(page);
        Turn::Ask(Purpose::Write(page), self.page_request(Op::Write, page))
    }

    /// How `client` goes on to make the log durable up to `lsn`; none if it is.
    #[inline]
    fn force(&mut self, lsn: u64, client: u32) -> Option<Turn> {
        match self.log.force(lsn, client, self.now) {
            Force::Durable => None,
            Force::Wait(until) => Some(Turn::At(until)),
            Force::Ask(request) => Some(Turn::Ask(Purpose::Log, request)),
        }
    }

    /// The processor is at work for `time`.
    #[inline]
    fn after(&self, time: Time) -> Turn {
        if time.is_zero() { Turn::On } else { Turn::At(self.now + time) }
    }

    #[inline]
    fn page_request(&self, op: Op, page: u32) -> Request {
        request(op, self.sizes.start + u64::from(page) * u64::from(self.sizes.page), self.sizes.page)
    }
}

/// The page that a transaction locks for the pair at the end of `way`.
#[inline]
fn locked(method: &impl Method, way: &Way) -> u32 {
    way.pages[method.lock_step(&way.pages)]
}
