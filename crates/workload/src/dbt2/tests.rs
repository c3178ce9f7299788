use super::tables::Table;
use super::{Config, Transactions};
use crate::server::{Script, Server, ServiceStep};
use crate::testing::check_chi_square;
use nacre_kernel::{Bytes, Streams, Time};

fn script(warehouses: u64) -> Transactions {
    let server = Server { clients: 1, think: Time::ZERO, processors: 1 };
    let config = Config {
        server,
        transactions: None,
        warehouses,
        page: Bytes(8192),
        log_block: Bytes(8192),
        log: Bytes(48 << 20),
        operation: Time::from_us(50),
        commit: Time::from_us(200),
    };
    Transactions::new(config, Streams::new(1).stream("dbt2"))
}

/// Tests the size of a warehouse. According to the table sizes, its rows take 74 MB. Partially filled pages
/// and the indices add about 25 % to this size.
#[test]
fn a_warehouse_takes_about_a_hundred_megabytes() {
    let size = script(20).reach() as f64 - 8e6 - (48 << 20) as f64;
    let each = size / 20.0 / 1e6;
    assert!((80.0..100.0).contains(&each), "{each} MB");
}

/// Compares the average numbers of rows looked up, changed, and appended per transaction with numbers
/// derived from the text of the standard. A new order has 10 items on average.
#[test]
fn a_transaction_reads_and_writes_what_the_standard_says() {
    let (mut script, mut steps) = (script(4), Vec::new());
    let count = 20_000;
    (0..count).for_each(|_| script.next(&mut steps));
    let end = script.reach();
    let (mut reads, mut writes) = (0, 0);
    for step in &steps {
        let (count, address, bytes) = match *step {
            ServiceStep::Read(address, bytes) => (&mut reads, address, bytes),
            ServiceStep::Write(address, bytes) => (&mut writes, address, bytes),
            ServiceStep::Work(_) => continue,
        };
        *count += 1;
        assert!(address + u64::from(bytes) <= end);
    }
    // Lookups: new order 3 + 2 x 10, payment 3 + 2 x 0.6, order status 3 + 2 x 0.6, delivery 40, stock level
    // 1 + 220. Each lookup has two reads. Appends: new order 2 + 10, payment 1, nearly always with a read.
    // Order status reads customer, order, and line.
    let looked_up = 0.45 * 23.0 + 0.43 * 4.2 + 0.04 * 4.2 + 0.04 * 40.0 + 0.04 * 221.0;
    let appended = 0.45 * 12.0 + 0.43;
    let expected = 2.0 * looked_up + appended;
    let found = f64::from(reads) / f64::from(count);
    assert!((found / expected - 1.0).abs() < 0.03, "{found} reads, expected {expected}");
    // Changes: new order 11, payment 3, delivery 40. Each transaction except order status and stock level
    // writes the log.
    let changed = 0.45 * 11.0 + 0.43 * 3.0 + 0.04 * 40.0 + appended + 0.92;
    let found = f64::from(writes) / f64::from(count);
    assert!((found / changed - 1.0).abs() < 0.03, "{found} writes, expected {changed}");
}

/// Compares samples of NURand (256 numbers, A = 15) with the exact probabilities. These follow from (x | y)
/// + 7 over all values of x and y.
#[test]
fn nurand_is_distributed_as_the_standard_says() {
    let mut script = script(1);
    let (a, count) = (15, 256_u64);
    let mut exact = vec![0_u32; count as usize];
    for x in 0..=a {
        for y in 0..count {
            exact[(((x | y) + a / 2) % count) as usize] += 1;
        }
    }
    let draws = 200_000;
    let mut seen = vec![0_u32; count as usize];
    (0..draws).for_each(|_| seen[script.nurand(a, count) as usize] += 1);
    let (mut chi_square, mut degrees) = (0.0, -1.0);
    for (&exact, &seen) in exact.iter().zip(&seen) {
        let expected = f64::from(exact) / ((a + 1) * count) as f64 * f64::from(draws);
        if expected > 0.0 {
            chi_square += (f64::from(seen) - expected) * (f64::from(seen) - expected) / expected;
            degrees += 1.0;
        } else {
            assert_eq!(seen, 0);
        }
    }
    // Six standard deviations of the chi-square distribution.
    assert!(chi_square < degrees + 6.0 * (2.0_f64 * degrees).sqrt(), "{chi_square} with {degrees}");
}

/// Tests the frequencies of the five transactions, which differ in their appends and lookups. All sizes of
/// new orders from 5 to 15 items are equally likely, and 60 % of payments look up three customers.
#[test]
fn transactions_and_their_parts_come_by_their_shares() {
    let mut script = script(4);
    let (mut kinds, mut items, mut named, count) = ([0_u64; 5], [0_u64; 11], [0_u64; 2], 50_000);
    for _ in 0..count {
        let (appended, mut steps) = (script.appended, Vec::new());
        script.next(&mut steps);
        let customers =
            script.database.page_of(Table::Customers, 0)..script.database.leaf_of(Table::Customers, 0);
        let looked_up =
            |step: &&ServiceStep| matches!(step, ServiceStep::Read(at, _) if customers.contains(at));
        let lines = script.appended[super::LINES] - appended[super::LINES];
        let reads = steps.iter().filter(|step| matches!(step, ServiceStep::Read(..))).count();
        let kind = match reads {
            _ if lines > 0 => 0,
            _ if script.appended[super::HISTORY] > appended[super::HISTORY] => 1,
            0..=10 => 2,
            80 => 3,
            _ => 4,
        };
        kinds[kind] += 1;
        match kind {
            0 => items[lines as usize - 5] += 1,
            1 => named[usize::from(steps.iter().filter(looked_up).count() == 3)] += 1,
            _ => {}
        }
    }
    check_chi_square(&kinds, &[0.45, 0.43, 0.04, 0.04, 0.04].map(|share| share * f64::from(count)));
    check_chi_square(&items, &[kinds[0] as f64 / 11.0; 11]);
    check_chi_square(&named, &[0.4, 0.6].map(|share| share * kinds[1] as f64));
}
