use crate::testing::{
    check_chi_square, check_repeatable, drain, gap_moments, index_of_dispersion, problems, requests, workload,
};
use crate::{Pacing, Units, Workload, WorkloadError};
use nacre_kernel::{Op, Request, Time};

const PAPER: &str = "kind = \"tpca\"\nrate = \"10 kHz\"\ntransactions = 20_000\n";
/// 3 branches, 15 tellers, and 450 accounts, in trees with 2, 2, and 5 levels.
const SMALL: &str = "kind = \"tpca\"\nrate = \"10 kHz\"\ntransactions = 2_000\nbranches = 3\n\
                     tellers_per_branch = 5\naccounts_per_teller = 30\nfanout = 4\n";

/// Number of nodes of 256 B per level, calculated by hand for trees over 155, 1,550, and 15,500,000 records.
const NODES: [&[u64]; 3] = [&[1, 5], &[1, 2, 49], &[1, 15, 474, 15_137, 484_375]];
const NODE_BYTES: u64 = 256 * (6 + 52 + 500_002);
const RECORDS: [u64; 3] = [155, 1_550, 15_500_000];

fn build(settings: &str) -> Box<dyn Workload> {
    workload(settings, 1).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Splits the requests into transactions. The third write ends a transaction.
fn transactions(requests: &[Request]) -> Vec<&[Request]> {
    let mut writes = 0;
    let ends = |request: &Request| {
        writes += u64::from(request.op == Op::Write);
        request.op == Op::Write && writes % 3 == 0
    };
    requests.split_inclusive(ends).collect()
}

/// Returns the account, teller, and branch that a transaction changes in a database with the sizes of the
/// paper.
fn changed(transaction: &[Request]) -> [u64; 3] {
    let tellers = NODE_BYTES + 100 * RECORDS[0];
    let accounts = tellers + 100 * RECORDS[1];
    let written: Vec<u64> =
        transaction.iter().filter(|request| request.op == Op::Write).map(|request| request.address).collect();
    let record = |address: u64, start: u64, balance: u64| {
        assert_eq!((address - start) % 100, balance, "the balance is the last of the words read");
        (address - start) / 100
    };
    [record(written[0], accounts, 8), record(written[1], tellers, 8), record(written[2], NODE_BYTES, 4)]
}

#[test]
fn the_database_of_the_paper_has_2_3_and_5_levels_and_1678_megabytes() {
    let workload = build(PAPER);
    let records: u64 = RECORDS.iter().sum();
    assert_eq!(NODE_BYTES + 100 * records, 1_678_185_860);
    assert_eq!(workload.reach(), Some(1_678_185_860));
    let expected = "155 branches in 2 levels, 1550 tellers in 3 levels, 15500000 accounts in 5 levels";
    assert!(workload.notes().notes[0].ends_with(expected), "{:?}", workload.notes());
}

#[test]
fn one_setting_scales_the_database() {
    for branches in [1, 100, 310, 1_000] {
        let reach = build(&format!("{PAPER}branches = {branches}\n")).reach().expect("known at once");
        // A branch has 100,000 accounts. Each account has a record of 100 B and 8 B in a leaf. Higher levels
        // take 1/31 of the leaves.
        let expected = branches as f64 * 1e5 * (100.0 + 8.0 * 32.0 / 31.0);
        assert!((reach as f64 / expected - 1.0).abs() < 1e-3, "{branches} branches: {reach} of {expected}");
    }
}

#[test]
fn every_access_lies_where_the_layout_says() {
    let requests = requests(PAPER);
    // Trees of branches, tellers, and accounts, each from the root down.
    let mut starts = Vec::new();
    let mut end = 0;
    for nodes in NODES.into_iter().flatten() {
        starts.push(end);
        end += 256 * nodes;
    }
    for transaction in transactions(&requests) {
        let nodes = transaction.chunk_by(|a, b| a.address / 256 == b.address / 256 && b.address < NODE_BYTES);
        let levels: Vec<usize> = nodes
            .filter(|words| words[0].address < NODE_BYTES)
            .map(|words| starts.partition_point(|&start| start <= words[0].address) - 1)
            .collect();
        assert_eq!(levels, [5, 6, 7, 8, 9, 2, 3, 4, 0, 1], "accounts, then tellers, then branches");
        for request in transaction {
            assert_eq!((request.bytes, request.volume, request.address % 4), (4, 0, 0));
            assert!(request.address + 4 <= 1_678_185_860);
            assert_eq!(request.arrival, transaction[0].arrival);
        }
        let [account, teller, branch] = changed(transaction);
        assert_eq!((account / 10_000, teller / 10), (teller, branch), "the account's own teller and branch");
    }
}

#[test]
fn a_transaction_takes_as_many_accesses_as_binary_searches_do() {
    let requests = requests(PAPER);
    let transactions = transactions(&requests);
    // A node of m pointers reads a header, floor or ceil of log2(m) keys, and a pointer, which is 7 words if
    // m is 32. Branches: a root of 5 pointers and a last leaf of 27. Tellers: a root of 2, and last nodes of
    // 17 and 14. Accounts: a root of 15, last nodes of 26, 1, and 23, and full leaves. Records: 8 reads and 3
    // writes.
    let least = (4 + 6) + (3 + 6 + 5) + (5 + 6 + 2 + 6 + 7) + 11;
    let most = (5 + 7) + (3 + 7 + 7) + (6 + 7 + 7 + 7 + 7) + 11;
    for transaction in &transactions {
        let writes = transaction.iter().filter(|request| request.op == Op::Write).count();
        assert!(writes == 3 && (least..=most).contains(&transaction.len()), "{} accesses", transaction.len());
    }
    // Accesses for the account. The root has 15 pointers, with 4 keys read, but 3 for the last pointer, which
    // leads to the node of 26 with 819,936 accounts. That node reads 4 keys instead of 5 for 5 full pointers
    // of 32,768 accounts, and for the last pointer. The last pointer leads 736 accounts to the node of 1,
    // without a key, and then to the node of 23, with 4 or 5 keys. All other nodes read 7 words. The record
    // has 3 reads and 1 write.
    let mean = |part: &dyn Fn(&[Request]) -> usize| {
        transactions.iter().map(|transaction| part(transaction) as f64).sum::<f64>() / 20_000.0
    };
    let account = 6.0 + 4.0 * 7.0 + 4.0 - (819_936.0 + 5.0 * 32_768.0 + 6.0 * 736.0) / 15_500_000.0;
    let got = mean(&|transaction| {
        transaction.iter().position(|request| request.op == Op::Write).expect("three writes") + 1
    });
    // The standard deviation of one transaction is at most the sum of its terms, 0.36, so 5 standard
    // deviations of the mean are 0.013.
    assert!((got - account).abs() < 0.013, "{got} accesses for the account, expected {account}");
    // Accesses for the teller. The node of 17 reads one key less for 14 leaves of 32 tellers and for the last
    // leaf of 14. That leaf reads one key less for 12 tellers and two less for 2 tellers.
    let teller = 3.0 + 7.0 + 7.0 + 4.0 - (14.0 * 32.0 + 14.0 + 12.0 + 2.0 * 2.0) / 1_550.0;
    // Accesses for the branch. The root has 5 pointers, with 3 keys read for 2 leaves of 32 branches and 2
    // keys for the others. The leaf of 27 reads one key less for 5 branches.
    let branch = 4.0 + 2.0 * 32.0 / 155.0 + 7.0 - 5.0 / 155.0 + 3.0;
    let (got, expected) = (mean(&<[Request]>::len), account + teller + branch);
    // The terms are correlated. The sum of their standard deviations is at most 1.6.
    assert!((got - expected).abs() < 0.057, "{got} accesses, expected {expected}");
    assert!(
        (expected - 73.0).abs() < 0.05,
        "{expected}: 70 reads and 3 writes, as the documentation of the model says"
    );
}

/// A database image in memory: the 32-bit words of every node and record. It is built independently of the
/// layout code.
struct Image {
    words: Vec<u32>,
    fanout: usize,
    /// Addresses of the levels of each table, starting with the root.
    levels: [Vec<usize>; 3],
    /// Address of the records of each table.
    records: [usize; 3],
}

const RECORD: usize = 100;

impl Image {
    fn new(counts: [usize; 3], fanout: usize) -> Image {
        let mut image = Image { words: Vec::new(), fanout, levels: Default::default(), records: [0; 3] };
        for (table, &count) in counts.iter().enumerate() {
            // Number of ids below one entry of each level, starting with the leaves.
            let mut spans = vec![1];
            while spans[spans.len() - 1] * fanout < count {
                spans.push(spans[spans.len() - 1] * fanout);
            }
            for &span in spans.iter().rev() {
                image.levels[table].push(image.words.len() * 4);
                let entries = count.div_ceil(span);
                let numbers: Vec<usize> = (0..entries).collect();
                for pointers in numbers.chunks(fanout) {
                    // Smallest ids below all pointers except the first, and the numbers of their targets.
                    let mut node = vec![u32::MAX; 2 * fanout];
                    node[0] = pointers.len() as u32;
                    for (slot, &number) in pointers.iter().enumerate() {
                        if slot > 0 {
                            node[slot] = (number * span) as u32;
                        }
                        node[fanout + slot] = number as u32;
                    }
                    image.words.extend(node);
                }
            }
        }
        for (table, &count) in counts.iter().enumerate() {
            image.records[table] = image.words.len() * 4;
            let keeps = counts[table] / if table == 0 { 1 } else { counts[table - 1] };
            for id in 0..count {
                let mut record = [0; RECORD / 4];
                (record[0], record[1]) = (id as u32, (id / keeps) as u32);
                image.words.extend(record);
            }
        }
        image
    }

    /// Checks that the next access is a read of `address`, and returns the word there.
    fn read(&self, accesses: &mut std::slice::Iter<'_, Request>, address: usize) -> u32 {
        let access = accesses.next().expect("an access");
        assert_eq!((access.op, access.address), (Op::Read, address as u64));
        self.words[address / 4]
    }

    /// Performs the search for `id` and the update of its record. Returns the second word of the record,
    /// which is the owner for accounts and tellers.
    fn visit(&self, accesses: &mut std::slice::Iter<'_, Request>, table: usize, id: u32) -> u32 {
        let mut number = 0;
        for level in &self.levels[table] {
            let node = level + number as usize * self.fanout * 8;
            let keys = self.read(accesses, node) as usize - 1;
            let (mut low, mut high) = (0, keys);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.read(accesses, node + 4 + 4 * middle) > id { high = middle } else { low = middle + 1 }
            }
            number = self.read(accesses, node + 4 * (self.fanout + low));
        }
        let record = self.records[table] + number as usize * RECORD;
        assert_eq!(self.read(accesses, record), id, "the search ends at the right record");
        let keeper = self.read(accesses, record + 4);
        let balance = if table == 0 { record + 4 } else { record + 8 };
        if table > 0 {
            self.read(accesses, balance);
        }
        let access = accesses.next().expect("an access");
        assert_eq!((access.op, access.address), (Op::Write, balance as u64));
        keeper
    }
}

#[test]
fn searches_are_those_of_a_program_that_runs_on_the_database() {
    for (settings, counts, fanout) in [
        (SMALL.to_string(), [3, 15, 450], 4),
        (SMALL.replace("fanout = 4", "fanout = 2"), [3, 15, 450], 2),
        (SMALL.replace("fanout = 4", "fanout = 7"), [3, 15, 450], 7),
        (SMALL.replace("fanout = 4", "fanout = 32").replace("30", "211"), [3, 15, 3165], 32),
        (SMALL.replace("fanout = 4", "fanout = 256").replace("30", "211"), [3, 15, 3165], 256),
        (SMALL.replace("branches = 3", "branches = 1").replace("5", "1").replace("30", "1"), [1, 1, 1], 4),
    ] {
        let requests = requests(&settings);
        let image = Image::new(counts, fanout);
        assert_eq!(build(&settings).reach(), Some(image.words.len() as u64 * 4), "{settings}");
        let mut seen = vec![false; counts[2]];
        for transaction in transactions(&requests) {
            let written = transaction.iter().find(|request| request.op == Op::Write).expect("three writes");
            let account = (written.address as usize - image.records[2]) / RECORD;
            seen[account] = true;
            let mut accesses = transaction.iter();
            let teller = image.visit(&mut accesses, 2, account as u32);
            let branch = image.visit(&mut accesses, 1, teller);
            image.visit(&mut accesses, 0, branch);
            assert_eq!(accesses.next(), None, "nothing is left over");
        }
        // About 450 e^(-2000/450) = 5.3 of 450 accounts are never selected. With 3165 accounts, 1682 are
        // never selected, with a standard deviation below 28.
        let unseen = seen.iter().filter(|seen| !**seen).count();
        assert!(unseen <= if counts[2] == 3165 { 1_822 } else { 20 }, "{unseen} accounts never drawn");
    }
}

#[test]
fn wider_words_widen_keys_pointers_and_accesses() {
    let settings = format!("{SMALL}word = \"8 B\"\nrecord = \"104 B\"\n");
    let (narrow, wide) = (requests(SMALL), requests(&settings));
    let nodes = 2 * 4 * 4 * (1 + 1 + 4 + 2 + 8 + 29 + 113 + 1);
    assert_eq!(narrow.len(), wide.len());
    for (narrow, wide) in narrow.iter().zip(&wide) {
        assert_eq!((wide.bytes, wide.address % 8), (8, 0));
        if narrow.address < nodes {
            assert_eq!(wide.address, 2 * narrow.address);
        } else {
            let (record, word) = ((narrow.address - nodes) / 100, (narrow.address - nodes) % 100);
            assert_eq!(wide.address, 2 * nodes + 104 * record + 2 * word);
        }
    }
}

#[test]
fn accounts_are_equally_likely() {
    let settings = PAPER.replace("20_000", "100_000");
    let mut workload = build(&settings);
    let (mut counts, mut batch) = (vec![0; 1_000], Vec::new());
    loop {
        batch.clear();
        workload.fill(&mut batch, 50_000).expect("no error while running");
        if batch.is_empty() {
            break;
        }
        let accounts = NODE_BYTES + 100 * (RECORDS[0] + RECORDS[1]);
        for request in batch.iter().filter(|request| request.op == Op::Write && request.address >= accounts) {
            counts[((request.address - accounts) / 100 / 15_500) as usize] += 1;
        }
    }
    check_chi_square(&counts, &[100.0; 1_000]);
}

#[test]
fn transactions_arrive_as_a_poisson_process_and_are_served_one_access_at_a_time() {
    let requests = requests(PAPER);
    let firsts: Vec<Request> = transactions(&requests).iter().map(|transaction| transaction[0]).collect();
    let (mean, squared_variation) = gap_moments(&firsts);
    // The tolerances are 5 standard errors. The standard error of the mean is 1/sqrt(n) = 0.7 %. That of the
    // squared coefficient of variation is sqrt(8/n) = 2 %.
    assert!((mean / 100e-6 - 1.0).abs() < 0.035, "mean gap {mean}");
    assert!((squared_variation - 1.0).abs() < 0.1, "squared coefficient of variation {squared_variation}");
    let windows = 2.0 / 1e-3;
    let index = index_of_dispersion(&firsts, Time::from_ms(1));
    assert!((index - 1.0).abs() < 5.0 * (2.0_f64 / windows).sqrt(), "index {index}");
    assert_eq!(build(PAPER).pacing(), Pacing::Serial);
}

#[test]
fn batches_cut_it_anywhere() {
    check_repeatable(&SMALL.replace("2_000", "300"));
    let whole = requests(SMALL);
    let mut workload = build(SMALL);
    let mut pieces = Vec::new();
    for limit in (1..200).cycle() {
        let before = pieces.len();
        workload.fill(&mut pieces, limit).expect("no error while running");
        if pieces.len() == before {
            break;
        }
        assert_eq!(pieces.len(), whole.len().min(before + limit), "batches are full up to the end");
    }
    assert!(pieces == whole, "the same requests in the same order");
    assert_eq!(transactions(&whole).len(), 2_000);
}

#[test]
fn whole_transactions_are_counted_at_any_request() {
    for limit in [1, 7, 64, 1_000, 4_096] {
        let mut workload = build(SMALL);
        let (mut batch, mut given, mut writes) = (Vec::new(), 0, 0);
        loop {
            batch.clear();
            workload.fill(&mut batch, limit).expect("no error while running");
            assert_eq!(workload.units(given), Some(Units { name: "transactions", done: writes / 3 }));
            for request in &batch {
                given += 1;
                writes += u64::from(request.op == Op::Write);
                assert_eq!(workload.units(given).map(|units| units.done), Some(writes / 3), "after {given}");
            }
            if batch.is_empty() {
                break;
            }
        }
        assert_eq!(writes / 3, 2_000);
    }
}

#[test]
fn the_writes_alone_are_those_among_the_requests_and_have_no_end() {
    let of_requests: Vec<Request> = requests(SMALL)
        .into_iter()
        .filter(|request| request.op == Op::Write)
        .map(|request| Request { arrival: Time::ZERO, ..request })
        .collect();
    for limit in [1, 2, 3, 4, 5, 4_096] {
        let mut workload = build(SMALL);
        let (mut writes, mut batch) = (Vec::new(), Vec::new());
        while writes.len() < 7_000 {
            batch.clear();
            workload.fill_writes(&mut batch, limit).expect("no error while running");
            assert_eq!(batch.len(), limit);
            writes.extend_from_slice(&batch);
        }
        assert!(writes[..6_000] == of_requests, "in batches of {limit}");
    }
}

#[test]
fn without_a_number_of_transactions_it_never_ends() {
    let mut endless = build(&PAPER.replace("transactions = 20_000\n", ""));
    assert_eq!(endless.expected(), Some(u64::MAX));
    assert_eq!(build(PAPER).expected(), None, "transactions differ in their requests");
    let mut batch = Vec::new();
    endless.fill(&mut batch, 3_000_000).expect("no error while running");
    assert_eq!((batch.len(), endless.notes().records), (3_000_000, 3_000_000));
}

#[test]
fn times_past_the_end_of_simulated_time_are_the_users_mistake() {
    let mut workload = build(&PAPER.replace("10 kHz", "1 /h"));
    let error = drain(&mut *workload, 1_000).unwrap_err();
    let WorkloadError::TooLong { path, request } = &error else { panic!("{error}") };
    // One transaction per hour for 213.5 days gives 5,124 transactions of 61 to 74 requests, within 5
    // standard deviations.
    assert!(path == "workload.rate" && (4_766 * 61..5_482 * 74).contains(request), "{error}");
}

#[test]
fn mistakes_name_the_setting_and_a_remedy() {
    let with = |lines: &str| problems(&format!("{SMALL}{lines}\n"));
    assert_eq!(
        with("word = \"6 B\""),
        ["workload.word (test.toml:9): it is not a power of two, given 6 B; use 4 B, 8 B or 16 B"]
    );
    assert_eq!(
        with("word = \"8 B\""),
        [
            "workload.record (default): it is not a whole number of words of 8 B, at least three, given 100 B; \
             use 104 B, or another size of word"
        ]
    );
    let many = problems(&PAPER.replace("20_000", "20_000\nbranches = 42_950"));
    assert_eq!(
        many,
        [
            "workload.branches (test.toml:5): there would be 4295000000 accounts; the limit is 4294967296, given 42950; use at most 42949 branches, or fewer accounts for each teller"
        ]
    );
    let wide = problems(&format!("{PAPER}tellers_per_branch = 1_000_000\naccounts_per_teller = 5_000\n"));
    assert!(wide[0].ends_with("lower tellers_per_branch or accounts_per_teller"), "{wide:?}");
    let expected = "workload.rate (test.toml:1): it is missing; give a rate such as \"20 kHz\" or \"500 /s\"";
    assert_eq!(problems("kind = \"tpca\""), [expected]);
}
