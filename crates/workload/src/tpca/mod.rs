//! TPC-A as eNVy ran it: banking transactions that search B-trees word by word in a linear memory.
//!
//! # Models
//! A database of branches, tellers and accounts, laid out in one address space: three B-trees, then three
//! tables of records. A transaction takes an account, each as likely as any other, and adds to its balance
//! and to those of the teller and the branch that keep it. For each of the three it searches the index
//! from the root: in every node it reads the header, which tells how many pointers there are, then does a
//! binary search, one word read for every key it looks at, then reads the pointer it follows. Then it reads
//! the record's id, who keeps it, and its balance, and writes the balance. Transactions arrive as a Poisson
//! process; their accesses are issued one after the other, as one processor would, and a transaction that
//! arrives while another runs waits. With the sizes of the paper a transaction is 70 reads and 3 writes on
//! average, and the database takes 1.68 GB: the load of 78 % of a 2 GiB array. `branches` alone scales all
//! of it.
//!
//! The layout, from address 0: the nodes of the branch, teller and account trees, each tree level by level
//! from its root, then the records of branches, tellers and accounts, without gaps. A node is a header,
//! `fanout - 1` keys, each the smallest id under the next pointer, and `fanout` pointers, of one word each:
//! 4 B + 31 x 4 B + 32 x 4 B = 256 B, one page of eNVy. A full node of 32 pointers takes 5 keys of its 31 in
//! every search, so 7 words. Trees are as dense as ids without holes allow: every node but the last of its
//! level is full. Nodes are aligned to their size; records are not, and some lie across two pages.
//!
//! # Leaves out
//! The history record of TPC-A and the processor's own work between accesses, which the paper leaves out
//! too; locks; caches of the processor; inserts. In TPC-A a customer visits a teller of another branch in
//! 15 % of all transactions; here, as in the paper's words, the account's own teller and branch change.
//!
//! # Sources
//! wu-1994: section 5.2 and figure 12 give the numbers of records, their size, 32 pointers in a node, levels
//! 2, 3 and 5, uniform accounts and exponential gaps.
//! Assumed, since the paper does not say: words, keys and pointers of 4 B and a header of one word (a node of
//! 32 pointers is then a page, and the database the 80 % of the array it is said to be), the binary search
//! (the first key greater than the id, without a stop on equality), which words of a record are read, the
//! order account, teller, branch (that of TPC-A's own transaction), and the order in memory.
//! The paper does not count accesses. Its shares at 30,000 transactions a second, approximately 40 % of
//! 33.3 us in reads of 180 ns, imply about 74 reads. The 70 of this layout would take 38 %. So the shares
//! speak for the layout, but that is an inference: its confidence stays `assumed`.
//!
//! # Checks
//! Levels 2, 3 and 5; every search against a binary search over keys and pointers in a real memory image;
//! addresses in bounds and aligned; accesses of a transaction within bounds derived from the tree, and their
//! mean, 73.01, from its counts; uniform accounts by chi-square; mean and variance of the gaps; cuts between
//! batches; counts of transactions.

mod layout;
mod probes;
mod transactions;

use crate::{Workload, WorkloadFamily};
use layout::Database;
use nacre_config::{Configuration, Descriptor, Reader, Room};
use nacre_kernel::{Bytes, Rate};
use transactions::Transactions;

/// TPC-A as eNVy ran it.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Mean transactions per second that arrive.
    #[config(min = "0.000001 /s", max = "1 GHz")]
    pub rate: Rate,
    /// How many transactions there are in all. Absent: the run's own limit ends it.
    #[config(min = 1)]
    pub transactions: Option<u64>,
    /// Branches of the bank; everything else grows with them.
    #[config(default = 155, min = 1, max = 1_000_000, source = "paper: wu-1994, figure 12")]
    pub branches: u64,
    /// Tellers of a branch.
    #[config(default = 10, min = 1, max = 1_000_000, source = "paper: wu-1994, section 5.2")]
    pub tellers_per_branch: u64,
    /// Accounts per teller.
    #[config(default = 10_000, min = 1, max = 1_000_000_000, source = "paper: wu-1994, section 5.2")]
    pub accounts_per_teller: u64,
    /// Bytes of a record; a whole number of words, at least three.
    #[config(default = "100 B", min = "12 B", max = "1 MiB", source = "paper: wu-1994, section 5.2")]
    pub record: Bytes,
    /// Pointers of a node of an index; it has one key less.
    #[config(default = 32, min = 2, max = 256, source = "paper: wu-1994, figure 12")]
    pub fanout: u32,
    /// Bytes of one access, of a node's header, of a key and of a pointer; a power of two.
    #[config(
        default = "4 B",
        min = "4 B",
        max = "16 B",
        source = "assumed: a 32 bit processor; a node of 32 pointers is then one page of 256 B"
    )]
    pub word: Bytes,
}

/// Records a table may have: a key is at most 32 bits.
const RECORDS_MAX: u64 = 1 << 32;

fn check(config: &Config, reader: &mut Reader<'_>) {
    let Config { branches, tellers_per_branch, accounts_per_teller, record, word, .. } = config;
    if !word.0.is_power_of_two() {
        reader.conflict("word", &word.to_string(), "it is not a power of two", "use 4 B, 8 B or 16 B");
        return;
    }
    let words = record.0 / word.0;
    if !record.0.is_multiple_of(word.0) || words < 3 {
        reader.conflict(
            "record",
            &record.to_string(),
            &format!("it is not a whole number of words of {word}, at least three"),
            &format!(
                "use {}, or another size of word",
                Bytes(record.0.next_multiple_of(word.0).max(3 * word.0))
            ),
        );
    }
    let accounts = u128::from(*branches) * u128::from(*tellers_per_branch) * u128::from(*accounts_per_teller);
    if accounts > u128::from(RECORDS_MAX) {
        let most = RECORDS_MAX / tellers_per_branch.saturating_mul(*accounts_per_teller).max(1);
        let remedy = if most == 0 {
            "lower tellers_per_branch or accounts_per_teller".to_string()
        } else {
            format!("use at most {most} branches, or fewer accounts for each teller")
        };
        let problem = format!("there would be {accounts} accounts, and at most {RECORDS_MAX} are allowed");
        reader.conflict("branches", &branches.to_string(), &problem, &remedy);
    }
}

/// The room.
pub const ROOM: Room<WorkloadFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "tpca",
        "TPC-A as eNVy ran it: transactions on B-trees and records, one word at a time",
        &["wu-1994"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let path = slot.path();
        let accounts = builder.random(&format!("{path}.accounts"));
        let arrivals = builder.random(&format!("{path}.arrivals"));
        let workload = Transactions::new(Database::new(&config), &config, path, accounts, arrivals);
        Ok(Box::new(workload) as Box<dyn Workload>)
    },
};

#[cfg(test)]
mod tests;
