//! The database in memory: locations of nodes and records, and the accesses of a transaction.

use super::Config;
use super::probes::{Path, node_bytes, paths};
use nacre_kernel::{Op, Request, Time};

/// Maximum number of levels of a tree, which occurs with two pointers per node and 2^32 records.
const LEVELS_MAX: usize = 32;

/// Numbers of the words of a record that a transaction reads. The last of these words is the balance, which
/// the transaction also writes. The other words are the id and the owner, i.e. the teller of an account or
/// the branch of a teller.
const ACCOUNT_WORDS: [u64; 3] = [0, 1, 2];
const TELLER_WORDS: [u64; 3] = [0, 1, 2];
const BRANCH_WORDS: [u64; 2] = [0, 1];

/// Contiguous records of equal size, and the tree that finds them by id. The id of a record is its number.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) records: u64,
    pub(super) tree: Tree,
    /// Address of the first record.
    pub(super) start: u64,
    words: &'static [u64],
}

/// A B-tree in which all nodes except the last of each level are full.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Levels from the root to the leaves.
    pub(super) levels: Vec<Level>,
}

/// Contiguous nodes of one level.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// Address of the first node.
    pub(super) start: u64,
    pub(super) nodes: u64,
    /// Paths through the last node, which may have fewer pointers than the other nodes.
    last: Vec<Path>,
}

/// Locations of all data.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) branches: Table,
    pub(super) tellers: Table,
    pub(super) accounts: Table,
    tellers_per_branch: u64,
    accounts_per_teller: u64,
    record: u64,
    fanout: u64,
    word: u64,
    /// Paths through a full node.
    full: Vec<Path>,
    /// End of the address range.
    pub(super) end: u64,
}

impl Database {
    /// Creates the database of validated settings.
    pub(super) fn new(config: &Config) -> Database {
        let (fanout, word, record) = (u64::from(config.fanout), config.word.0, config.record.0);
        let tellers = config.branches * config.tellers_per_branch;
        let accounts = tellers * config.accounts_per_teller;
        let mut end = 0;
        let mut table = |records: u64, words| {
            let tree = Tree::new(records, fanout, word, &mut end);
            Table { records, tree, start: 0, words }
        };
        let mut tables = [
            table(config.branches, &BRANCH_WORDS[..]),
            table(tellers, &TELLER_WORDS[..]),
            table(accounts, &ACCOUNT_WORDS[..]),
        ];
        for table in &mut tables {
            table.start = end;
            end += table.records * record;
        }
        let [branches, tellers, accounts] = tables;
        Database {
            branches,
            tellers,
            accounts,
            tellers_per_branch: config.tellers_per_branch,
            accounts_per_teller: config.accounts_per_teller,
            record,
            fanout,
            word,
            full: paths(fanout, fanout, word),
            end,
        }
    }

    /// Appends the accesses of the transaction that arrives at `arrival` and updates `account`.
    #[inline]
    pub(super) fn transaction(&self, account: u64, arrival: Time, batch: &mut Vec<Request>) {
        for (table, id) in self.touched(account) {
            self.search(&table.tree, id, arrival, batch);
            self.update(table, id, arrival, batch);
        }
    }

    /// Appends only the writes of the transaction that updates `account`.
    #[inline]
    pub(super) fn writes(&self, account: u64, batch: &mut Vec<Request>) {
        let touched = self.touched(account);
        batch.extend(touched.map(|(table, id)| self.access(self.balance(table, id), Time::ZERO, Op::Write)));
    }

    /// Maximum number of accesses of a transaction.
    pub(super) fn accesses_max(&self) -> usize {
        let tables = [&self.accounts, &self.tellers, &self.branches];
        let longest = |level: &Level| {
            let paths =
                level.last.iter().chain((level.nodes > 1).then_some(&self.full).into_iter().flatten());
            paths.map(|path| path.offsets().len()).max().unwrap_or(0)
        };
        let of =
            |table: &&Table| table.tree.levels.iter().map(longest).sum::<usize>() + table.words.len() + 1;
        tables.iter().map(of).sum()
    }

    #[inline]
    fn touched(&self, account: u64) -> [(&Table, u64); 3] {
        let teller = account / self.accounts_per_teller;
        let branch = teller / self.tellers_per_branch;
        [(&self.accounts, account), (&self.tellers, teller), (&self.branches, branch)]
    }

    #[inline]
    fn access(&self, address: u64, arrival: Time, op: Op) -> Request {
        Request { arrival, address, bytes: self.word as u32, volume: 0, op }
    }

    #[inline]
    fn search(&self, tree: &Tree, id: u64, arrival: Time, batch: &mut Vec<Request>) {
        // The path is computed from the leaf to the root, and accessed from the root to the leaf.
        let mut way = [(0, 0); LEVELS_MAX];
        let way = &mut way[..tree.levels.len()];
        let mut entry = id;
        for step in way.iter_mut().rev() {
            *step = (entry / self.fanout, (entry % self.fanout) as usize);
            entry = step.0;
        }
        for (level, &(node, slot)) in tree.levels.iter().zip(way.iter()) {
            let paths = if node + 1 == level.nodes { &level.last } else { &self.full };
            let start = level.start + node * self.node_bytes();
            let words = paths[slot].offsets().iter();
            batch.extend(words.map(|&offset| self.access(start + u64::from(offset), arrival, Op::Read)));
        }
    }

    #[inline]
    fn update(&self, table: &Table, id: u64, arrival: Time, batch: &mut Vec<Request>) {
        let start = table.start + id * self.record;
        let words = table.words.iter();
        batch.extend(words.map(|word| self.access(start + word * self.word, arrival, Op::Read)));
        batch.push(self.access(self.balance(table, id), arrival, Op::Write));
    }

    #[inline]
    fn balance(&self, table: &Table, id: u64) -> u64 {
        table.start + id * self.record + table.words[table.words.len() - 1] * self.word
    }

    pub(super) fn node_bytes(&self) -> u64 {
        node_bytes(self.fanout, self.word)
    }
}

impl Tree {
    /// Creates the tree for ids `0..records` with its root at `end`, and advances `end` past the tree.
    fn new(records: u64, fanout: u64, word: u64, end: &mut u64) -> Tree {
        let mut entries = vec![records];
        while entries[entries.len() - 1] > fanout {
            entries.push(entries[entries.len() - 1].div_ceil(fanout));
        }
        let mut level = |entries: u64| {
            let (start, nodes) = (*end, entries.div_ceil(fanout));
            *end += nodes * node_bytes(fanout, word);
            Level { start, nodes, last: paths(entries - (nodes - 1) * fanout, fanout, word) }
        };
        Tree { levels: entries.into_iter().rev().map(&mut level).collect() }
    }
}
