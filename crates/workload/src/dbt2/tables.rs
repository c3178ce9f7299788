//! Tables of TPC-C and their locations.

/// Number of districts per warehouse.
pub(super) const DISTRICTS: u64 = 10;
/// Number of customers per district.
pub(super) const CUSTOMERS: u64 = 3_000;
/// Number of items in total, and number of stock rows per warehouse.
pub(super) const ITEMS: u64 = 100_000;
/// Size of an entry of an index leaf, in bytes.
const ENTRY: u64 = 20;

/// A table of TPC-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Table {
    Warehouses,
    Districts,
    Customers,
    Items,
    Stock,
    Orders,
    NewOrders,
    OrderLines,
    History,
}

/// Number of rows per warehouse and row size in bytes, for each table (tpc-c clauses 1.2.1 and 4.3.3.1). For
/// items, the total number of rows.
const TABLES: [(u64, u64); 9] = [
    (1, 89),
    (DISTRICTS, 95),
    (DISTRICTS * CUSTOMERS, 655),
    (ITEMS, 82),
    (ITEMS, 306),
    (30_000, 24),
    (9_000, 8),
    (300_000, 54),
    (30_000, 46),
];

/// Locations of all tables.
#[derive(Clone, Debug)]
pub(super) struct Database {
    page: u64,
    /// For each table: number of rows, rows per page, address of its pages, and address of its index.
    tables: Vec<[u64; 4]>,
    log: u64,
    end: u64,
}

impl Database {
    pub(super) fn new(warehouses: u64, page: u64, log: u64) -> Database {
        let mut end = 0;
        let tables = TABLES.iter().enumerate().map(|(number, &(rows, bytes))| {
            let rows = if number == Table::Items as usize { rows } else { rows * warehouses };
            // A row larger than a page counts as one page.
            let of_page = (page / bytes).max(1);
            let start = end;
            let index = start + rows.div_ceil(of_page) * page;
            end = index + rows.div_ceil(page / ENTRY) * page;
            [rows, of_page, start, index]
        });
        let tables = tables.collect();
        Database { page, tables, log: end, end: end + log }
    }

    pub(super) fn rows(&self, table: Table) -> u64 {
        self.tables[table as usize][0]
    }

    /// Address of the page that contains a row.
    pub(super) fn page_of(&self, table: Table, row: u64) -> u64 {
        let [rows, of_page, start, _] = self.tables[table as usize];
        start + row % rows / of_page * self.page
    }

    /// Address of the index leaf with the entry of a row.
    pub(super) fn leaf_of(&self, table: Table, row: u64) -> u64 {
        let [rows, _, _, index] = self.tables[table as usize];
        index + row % rows / (self.page / ENTRY) * self.page
    }

    /// Whether a row is the first row of its page.
    pub(super) fn begins_page(&self, table: Table, row: u64) -> bool {
        row.is_multiple_of(self.tables[table as usize][1])
    }

    /// Address of the log region.
    pub(super) fn log(&self) -> u64 {
        self.log
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }
}
