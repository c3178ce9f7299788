//! DBT-2: the TPC-C transactions, as page reads and writes of a database.
//!
//! # Model
//! The database has `warehouses` warehouses and a table of 100,000 items. Each warehouse has ten districts,
//! 30,000 customers, and 100,000 stock rows. All tables are in one address space. A table occupies
//! contiguous pages of size `page`, without gaps between rows. Each table is followed by the leaf pages of
//! its index. The log region is at the end of the address space.
//!
//! *Transactions*: clients run the five transaction types of TPC-C. The probabilities are 45 % for new
//! order, 43 % for payment, and 4 % each for order status, delivery, and stock level. Customers and items
//! are selected with the function NURand of TPC-C, so some of them are accessed far more often than others.
//! A new order has 5 to 15 items, and 1 % of the items come from a random warehouse. In 60 % of the payment
//! and order-status transactions, the customer is looked up by name, which reads three customer rows.
//!
//! *Requests*: a row lookup reads an index leaf and the page of the row. A row update also writes the page of
//! the row. Rows of orders, new orders, order lines, and history are appended to their tables. These tables
//! are circular, so their size does not change. A commit appends whole blocks of `log_block` bytes to the
//! log. `operation` is the CPU time per row, and `commit` is the CPU time per commit. The unit of work is a
//! transaction.
//!
//! # Not modeled
//! - Accesses to inner index pages, because these pages stay in memory.
//! - The buffer pool, the locks, and the checkpoints of the database.
//! - Flushes at commits. A commit waits only for the log write.
//! - The keying times and think times of terminals.
//! - The sorting of customers with the same last name.
//! - Payments by customers of another warehouse, which are 15 % of all payments in TPC-C.
//! - Log writes across the end of the circular log region. The part beyond the end is not written.
//!
//! # Sources
//! Tables, row sizes, transactions, probabilities, and NURand are from tpc-c. In roberts-2009, DBT-2 runs on
//! a smaller database, and the settings are not published.
//!
//! # Checks
//! The frequencies of transaction types, items, and lookups by name pass chi-square tests. The values of
//! NURand follow the exact distribution. The tests also check the reads and writes of a transaction, the
//! address bounds, and the size of the database.

mod tables;
#[cfg(test)]
mod tests;

use crate::server::{Clients, Script, Server, ServiceStep};
use crate::{Workload, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Random, Time};
use tables::{CUSTOMERS, DISTRICTS, Database, ITEMS, Table};

/// DBT-2, with the transactions of TPC-C.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Clients and processors of the server.
    #[config(flatten)]
    pub server: Server,
    /// Total number of transactions. By default, settings of the run limit its length.
    #[config(min = 1)]
    pub transactions: Option<u64>,
    /// Number of warehouses. A warehouse takes about 100 MB.
    #[config(default = 20, min = 1, max = 10000, source = "assumed: 2 GB, from memory of kgil-2008")]
    pub warehouses: u64,
    /// Page size in bytes; a power of two.
    #[config(
        default = "8 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "standard: PostgreSQL, which DBT-2 runs on"
    )]
    pub page: Bytes,
    /// Log block size in bytes; a power of two.
    #[config(
        default = "8 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "standard: PostgreSQL's block of the log"
    )]
    pub log_block: Bytes,
    /// Size of the circular log region in bytes.
    #[config(
        default = "48 MiB",
        min = "64 KiB",
        max = "1 GiB",
        source = "assumed: three segments of PostgreSQL's log"
    )]
    pub log: Bytes,
    /// CPU time per row lookup.
    #[config(
        default = "50 us",
        max = "1 s",
        source = "assumed: 50,000 instructions of a simple core at 1 GHz"
    )]
    pub operation: Time,
    /// CPU time per commit.
    #[config(
        default = "200 us",
        max = "1 s",
        source = "assumed: the value includes parsing, planning, and the network"
    )]
    pub commit: Time,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    for (field, bytes) in [("page", config.page), ("log_block", config.log_block)] {
        if !bytes.0.is_power_of_two() {
            let remedy = format!("use {}", Bytes(bytes.0.next_power_of_two()));
            reader.conflict(field, &bytes.to_string(), "it is not a power of two", &remedy);
        }
    }
    if !config.log.0.is_multiple_of(config.log_block.0) {
        let remedy = format!("use {}", Bytes(config.log.0.next_multiple_of(config.log_block.0)));
        let problem = format!("it is not a whole number of blocks of {}", config.log_block);
        reader.conflict("log", &config.log.to_string(), &problem, &remedy);
    }
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "dbt2",
        "DBT-2: the transactions of TPC-C as page requests of a database",
        &["tpc-c", "roberts-2009"],
        2,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let random = builder.random(slot.path());
        let (server, limit) = (config.server.clone(), config.transactions);
        let script = Transactions::new(config, random);
        Ok(Box::new(Clients::new(script, server, limit)) as Box<dyn Workload>)
    },
};

/// Size of the log record of each changed row, in bytes.
const LOG_ROW: u64 = 200;

/// Generator of the transactions of all clients.
#[derive(State)]
struct Transactions {
    #[state(skip = "from the configuration")]
    config: Config,
    #[state(skip = "from the configuration")]
    database: Database,
    random: Random,
    /// Number of rows appended to orders, new orders, order lines, and history.
    appended: [u64; 4],
    /// Number of bytes appended to the log.
    logged: u64,
    /// Number of rows changed by the current transaction.
    changed: u64,
}

/// Indices of tables in `appended`.
const ORDERS: usize = 0;
const NEW_ORDERS: usize = 1;
const LINES: usize = 2;
const HISTORY: usize = 3;

impl Transactions {
    fn new(config: Config, random: Random) -> Transactions {
        let database = Database::new(config.warehouses, config.page.0, config.log.0);
        Transactions { config, database, random, appended: [0; 4], logged: 0, changed: 0 }
    }

    /// Random number below `count` with the non-uniform distribution NURand of TPC-C (clause 2.1.6).
    fn nurand(&mut self, a: u64, count: u64) -> u64 {
        ((self.random.below(a + 1) | self.random.below(count)) + a / 2) % count
    }

    /// Reads row `row` of `table` through its index.
    fn look_up(&mut self, table: Table, row: u64, steps: &mut Vec<ServiceStep>) {
        let page = self.config.page.0 as u32;
        steps.push(ServiceStep::Work(self.config.operation));
        steps.push(ServiceStep::Read(self.database.leaf_of(table, row), page));
        steps.push(ServiceStep::Read(self.database.page_of(table, row), page));
    }

    /// Reads row `row` of `table` through its index and changes the row.
    fn change(&mut self, table: Table, row: u64, steps: &mut Vec<ServiceStep>) {
        self.look_up(table, row, steps);
        steps.push(ServiceStep::Write(self.database.page_of(table, row), self.config.page.0 as u32));
        self.changed += 1;
    }

    /// Appends a row to table number `which` of the growing tables.
    fn append(&mut self, which: usize, steps: &mut Vec<ServiceStep>) {
        let table = [Table::Orders, Table::NewOrders, Table::OrderLines, Table::History][which];
        let row = self.appended[which] % self.database.rows(table);
        self.appended[which] += 1;
        steps.push(ServiceStep::Work(self.config.operation));
        let (page, bytes) = (self.database.page_of(table, row), self.config.page.0 as u32);
        if !self.database.begins_page(table, row) {
            steps.push(ServiceStep::Read(page, bytes));
        }
        steps.push(ServiceStep::Write(page, bytes));
        self.changed += 1;
    }

    fn commit(&mut self, steps: &mut Vec<ServiceStep>) {
        steps.push(ServiceStep::Work(self.config.commit));
        let block = self.config.log_block.0;
        let (from, to) = (self.logged, self.logged + self.changed * LOG_ROW);
        self.logged = to;
        if self.changed > 0 {
            let first = from / block * block % self.config.log.0;
            let bytes = (to.div_ceil(block) - from / block) * block;
            let bytes = bytes.min(self.config.log.0 - first);
            steps.push(ServiceStep::Write(self.database.log() + first, bytes as u32));
        }
        self.changed = 0;
    }

    fn customer(&mut self, warehouse: u64) -> u64 {
        let district = self.random.below(DISTRICTS);
        (warehouse * DISTRICTS + district) * CUSTOMERS + self.nurand(1023, CUSTOMERS)
    }

    /// Looks up a customer by number or by name. Returns the row of the customer.
    fn find_customer(&mut self, warehouse: u64, steps: &mut Vec<ServiceStep>) -> u64 {
        let customer = self.customer(warehouse);
        if self.random.chance(0.6) {
            // On average, three customers of a district have the same name (clause 4.3.3.1: 3,000 customers
            // with 1,000 names).
            let district = customer / CUSTOMERS * CUSTOMERS;
            for _ in 0..2 {
                let namesake = district + self.nurand(1023, CUSTOMERS);
                self.look_up(Table::Customers, namesake, steps);
            }
        }
        customer
    }

    fn new_order(&mut self, warehouse: u64, steps: &mut Vec<ServiceStep>) {
        self.look_up(Table::Warehouses, warehouse, steps);
        let customer = self.customer(warehouse);
        self.change(Table::Districts, customer / CUSTOMERS, steps);
        self.look_up(Table::Customers, customer, steps);
        self.append(ORDERS, steps);
        self.append(NEW_ORDERS, steps);
        for _ in 0..5 + self.random.below(11) {
            let item = self.nurand(8191, ITEMS);
            self.look_up(Table::Items, item, steps);
            let is_remote = self.random.chance(0.01);
            let from = if is_remote { self.random.below(self.config.warehouses) } else { warehouse };
            self.change(Table::Stock, from * ITEMS + item, steps);
            self.append(LINES, steps);
        }
    }

    fn payment(&mut self, warehouse: u64, steps: &mut Vec<ServiceStep>) {
        self.change(Table::Warehouses, warehouse, steps);
        let customer = self.find_customer(warehouse, steps);
        self.change(Table::Districts, customer / CUSTOMERS, steps);
        self.change(Table::Customers, customer, steps);
        self.append(HISTORY, steps);
    }

    /// Number of the row that is `back` rows before the end of a growing table.
    fn recent(&mut self, which: usize, table: Table, back: u64) -> u64 {
        let rows = self.database.rows(table);
        (self.appended[which] + rows - 1 - back % rows) % rows
    }

    fn order_status(&mut self, warehouse: u64, steps: &mut Vec<ServiceStep>) {
        let customer = self.find_customer(warehouse, steps);
        self.look_up(Table::Customers, customer, steps);
        // Every customer of a warehouse is equally likely to order. The last order of a customer is therefore
        // at a random position.
        let orders = self.database.rows(Table::Orders);
        let order = self.random.below(orders);
        self.look_up(Table::Orders, order, steps);
        self.look_up(Table::OrderLines, order * 10, steps);
    }

    fn delivery(&mut self, steps: &mut Vec<ServiceStep>) {
        // The oldest new orders. Each district has 900 waiting orders (clause 4.3.3.1).
        let waiting = 900 * DISTRICTS * self.config.warehouses;
        for district in 0..DISTRICTS {
            let order = self.recent(ORDERS, Table::Orders, waiting - district);
            let row = self.recent(NEW_ORDERS, Table::NewOrders, waiting - district);
            self.change(Table::NewOrders, row, steps);
            self.change(Table::Orders, order, steps);
            self.change(Table::OrderLines, order * 10 % self.database.rows(Table::OrderLines), steps);
            let customer = self.random.below(self.database.rows(Table::Customers));
            self.change(Table::Customers, customer, steps);
        }
    }

    fn stock_level(&mut self, warehouse: u64, steps: &mut Vec<ServiceStep>) {
        let district = warehouse * DISTRICTS + self.random.below(DISTRICTS);
        self.look_up(Table::Districts, district, steps);
        // The 20 orders of a district, with ten lines each, are spread over the orders of all districts.
        for order in 0..20 {
            let back = order * 10 * DISTRICTS * self.config.warehouses;
            let line = self.recent(LINES, Table::OrderLines, back);
            self.look_up(Table::OrderLines, line, steps);
            for _ in 0..10 {
                let item = self.nurand(8191, ITEMS);
                self.look_up(Table::Stock, warehouse * ITEMS + item, steps);
            }
        }
    }
}

impl Script for Transactions {
    fn next(&mut self, steps: &mut Vec<ServiceStep>) {
        let warehouse = self.random.below(self.config.warehouses);
        match self.random.below(100) {
            0..45 => self.new_order(warehouse, steps),
            45..88 => self.payment(warehouse, steps),
            88..92 => self.order_status(warehouse, steps),
            92..96 => self.delivery(steps),
            _ => self.stock_level(warehouse, steps),
        }
        self.commit(steps);
    }

    fn reach(&self) -> u64 {
        self.database.end()
    }

    fn describe(&self) -> (&'static str, &'static str, String) {
        let size = Bytes(self.database.end());
        ("dbt2", "transactions", format!("{} warehouses, {size} with the log", self.config.warehouses))
    }
}
