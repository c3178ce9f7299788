//! Tests that restored states are exact, and that errors are reported with their position.

use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::state::{self, State, StateError, StateReader, StateWriter, Value};
use nacre_kernel::{Streams, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

fn sample() -> Vec<u8> {
    let mut writer = StateWriter::new();
    writer.section("mapping");
    writer.put_u32s(&[1, 2, u32::MAX]);
    writer.section("wear");
    writer.put_u64s(&[7, u64::MAX]);
    writer.put_bool(true);
    writer.finish()
}

fn read(bytes: &[u8]) -> Result<(Vec<u32>, [u64; 2], bool), StateError> {
    let mut reader = StateReader::new(bytes);
    reader.section("mapping")?;
    let pages = reader.u32s("pages")?;
    reader.section("wear")?;
    let mut erases = [0; 2];
    reader.u64s_into("erases", &mut erases)?;
    let busy = reader.bool("busy")?;
    reader.finish()?;
    Ok((pages, erases, busy))
}

#[test]
fn what_was_written_is_read() {
    assert_eq!(read(&sample()).expect("as written"), (vec![1, 2, u32::MAX], [7, u64::MAX], true));
}

#[test]
fn numbers_are_little_endian_behind_their_length() {
    let mut writer = StateWriter::new();
    writer.put_u32s(&[0x0403_0201]);
    assert_eq!(writer.finish(), [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
}

#[test]
fn another_section_is_named_with_what_was_expected() {
    let mut writer = StateWriter::new();
    writer.section("wear");
    let bytes = writer.finish();
    let error = StateReader::new(&bytes).section("mapping").expect_err("another section");
    let text = "byte 0 of the state, section \"start\": expected section \"mapping\", found \"wear\"";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_list_of_another_length_is_refused() {
    let mut writer = StateWriter::new();
    writer.section("wear");
    writer.put_u64s(&[1, 2, 3]);
    let bytes = writer.finish();
    let mut reader = StateReader::new(&bytes);
    reader.section("wear").expect("it is there");
    let error = reader.u64s_into("erases of each segment", &mut [0; 4]).expect_err("one too few");
    let text = "byte 12 of the state, section \"wear\": expected 4 of erases of each segment, found 3";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_byte_more_than_the_device_reads_is_refused() {
    let bytes = [sample(), vec![0]].concat();
    let error = read(&bytes).expect_err("a byte is left");
    assert_eq!((error.expected.as_str(), error.found.as_str()), ("the end of the state", "1 more bytes"));
}

#[test]
fn a_state_cut_anywhere_is_refused() {
    let whole = sample();
    for length in 0..whole.len() {
        let error = read(&whole[..length]).expect_err("cut short");
        assert!(error.at <= length, "the place lies within what is there: {error}");
    }
}

#[derive(Clone, Debug, Default, PartialEq, Value)]
struct Entry {
    page: u32,
    since: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Value)]
enum Work {
    Nothing,
    Copy { from: u32, to: u32 },
    Erase(u32),
}

#[derive(Debug, State)]
enum Policy {
    Steps(Vec<u64>),
    Draws { last: u8 },
}

#[derive(Debug, State)]
#[state(after = "Device::rebuilt")]
struct Device {
    #[state(skip = "from the configuration")]
    pages: u32,
    table: Vec<u32>,
    #[state(varies)]
    log: Vec<Entry>,
    queue: VecDeque<Work>,
    due: BinaryHeap<(u64, u32)>,
    by_name: BTreeMap<String, bool>,
    by_page: HashMap<u32, Vec<u8>>,
    wide: [u128; 2],
    policy: Policy,
    #[state(skip = "it follows from the table")]
    mapped: usize,
}

impl Device {
    fn built(pages: u32, policy: Policy) -> Device {
        Device {
            pages,
            table: vec![u32::MAX; pages as usize],
            log: Vec::new(),
            queue: VecDeque::new(),
            due: BinaryHeap::new(),
            by_name: BTreeMap::new(),
            by_page: HashMap::new(),
            wide: [0; 2],
            policy,
            mapped: 0,
        }
    }

    fn used() -> Device {
        let mut device = Device::built(4, Policy::Steps(vec![5, 6]));
        device.table[1] = 3;
        device.log = vec![Entry { page: 7, since: None }, Entry { page: 8, since: Some(Time::from_us(2)) }];
        device.queue = [Work::Nothing, Work::Copy { from: 1, to: 2 }, Work::Erase(9)].into();
        device.due = [(4, 1), (9, 2), (1, 3)].into();
        device.by_name = [("a".into(), true), ("\u{e9}".into(), false)].into();
        device.by_page = (0..20).map(|page| (page * 7, vec![page as u8; 3])).collect();
        device.wide = [u128::MAX, 1];
        device.rebuilt().unwrap();
        device
    }

    fn rebuilt(&mut self) -> Result<(), String> {
        self.mapped = self.table.iter().filter(|&&page| page != u32::MAX).count();
        match self.table.iter().find(|&&page| page != u32::MAX && page >= self.pages) {
            None => Ok(()),
            Some(page) => Err(format!("page {page} of {}", self.pages)),
        }
    }

    fn fresh() -> Device {
        Device::built(4, Policy::Steps(vec![0; 2]))
    }
}

#[test]
fn a_derived_state_puts_a_fresh_device_where_the_saved_one_is() {
    let device = Device::used();
    let bytes = state::saved(&device).unwrap();
    let mut fresh = Device::fresh();
    state::restored(&mut fresh, &bytes).unwrap();
    assert_eq!(state::saved(&fresh).unwrap(), bytes);
    // The order of a hash map is undefined.
    assert_eq!(std::mem::take(&mut fresh.by_page), device.by_page);
    assert_eq!(format!("{fresh:?}"), format!("{:?}", Device { by_page: HashMap::new(), ..device }));
}

#[test]
fn what_cannot_be_is_refused_where_it_is_found() {
    let mut device = Device::used();
    device.table[2] = 4;
    let error = state::restored(&mut Device::fresh(), &state::saved(&device).unwrap()).unwrap_err();
    assert_eq!((error.expected.as_str(), error.found.as_str()), ("a state that can be", "page 4 of 4"));
}

#[test]
fn the_variant_of_a_state_is_that_of_the_configuration() {
    let bytes = state::saved(&Device::used()).unwrap();
    let mut other = Device::built(4, Policy::Draws { last: 0 });
    let error = state::restored(&mut other, &bytes).unwrap_err();
    assert_eq!((error.expected.as_str(), error.found.as_str()), ("draws", "variant 0"));
}

#[test]
fn a_damaged_state_neither_panics_nor_asks_for_much_memory() {
    let bytes = state::saved(&Device::used()).unwrap();
    for length in 0..bytes.len() {
        assert!(state::restored(&mut Device::fresh(), &bytes[..length]).is_err(), "{length} bytes");
    }
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            // Some damaged states are valid. The code that stores the bytes adds a checksum.
            let _ = state::restored(&mut Device::fresh(), &damaged);
        }
    }
}

/// A large table, and a table whose elements are pairs of numbers.
#[derive(Debug, PartialEq, State)]
struct Tables {
    #[state(sparse)]
    numbers: Vec<u32>,
    #[state(sparse)]
    pairs: Vec<Pair>,
}

#[derive(Clone, Debug, Default, PartialEq, Value)]
struct Pair {
    count: u32,
    time: Time,
}

impl Tables {
    fn zero() -> Tables {
        Tables { numbers: vec![0; 100_000], pairs: vec![Pair::default(); 5000] }
    }
}

#[test]
fn a_sparse_table_takes_the_place_of_what_was_written_to_it() {
    let size = |tables: &Tables| state::saved(tables).expect("it can be saved").len();
    let mut tables = Tables::zero();
    let empty = size(&tables);
    assert!(empty < 200, "{empty} bytes for nothing");
    (tables.numbers[99_999], tables.pairs[0].time) = (1, Time::from_us(1));
    // The stored runs are the last run of the table, which is shorter, and the first run of pairs.
    assert_eq!(size(&tables) - empty, 4 * (100_000 % 1024) + 12 * 1024);
}

#[test]
fn a_sparse_table_replaces_what_was_there() {
    let mut random = Streams::new(1).stream("sparse");
    let mut used = |count: usize| {
        let mut tables = Tables::zero();
        for _ in 0..count {
            tables.numbers[random.below(100_000) as usize] = random.below(3) as u32;
            tables.pairs[random.below(5000) as usize].count = random.below(3) as u32;
        }
        tables
    };
    for (before, after) in [(0, 3), (3, 0), (40, 5), (2000, 2000), (5, 5000)] {
        let (mut restored, saved) = (used(before), used(after));
        let bytes = state::saved(&saved).expect("it can be saved");
        state::restored(&mut restored, &bytes).expect("it was saved like this");
        assert_eq!(restored, saved);
        for end in [9, bytes.len() / 2, bytes.len() - 1] {
            state::restored(&mut restored, &bytes[..end]).expect_err("it was cut");
        }
    }
    let mut shorter = Tables { numbers: vec![0; 99_999], pairs: Vec::new() };
    let error = state::restored(&mut shorter, &state::saved(&Tables::zero()).unwrap()).unwrap_err();
    assert_eq!((error.expected.as_str(), error.found.as_str()), ("99999 of numbers", "100000"));
}

#[test]
fn a_sparse_table_may_have_another_length_where_it_says_so() {
    #[derive(Debug, PartialEq, State)]
    struct Found {
        #[state(sparse, varies)]
        numbers: Vec<u64>,
    }
    let mut saved = Found { numbers: vec![0; 5000] };
    saved.numbers[4000] = 7;
    let bytes = state::saved(&saved).expect("it can be saved");
    for built in [0, 5000, 6000] {
        let mut restored = Found { numbers: vec![3; built] };
        state::restored(&mut restored, &bytes).expect("any length will do");
        assert_eq!(restored, saved);
    }
    let mut hostile = bytes.clone();
    let place = bytes.windows(8).position(|eight| eight == 5000_u64.to_le_bytes()).expect("its length");
    hostile[place..place + 8].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    state::restored(&mut saved, &hostile).expect_err("it does not have that many runs");
}

#[test]
fn what_refuses_to_be_saved_says_so_once() {
    struct Foreign;
    impl State for Foreign {
        fn save(&self, state: &mut StateWriter) {
            state.refuse("the policy is its own program");
        }
        fn restore(&mut self, _: &mut StateReader<'_>) -> Result<(), StateError> {
            Ok(())
        }
    }
    let error = state::saved(&vec![Foreign, Foreign]).unwrap_err();
    assert_eq!(error.to_string(), "the state cannot be saved: the policy is its own program");
}

#[test]
fn streams_and_distributions_go_on_where_they_were() {
    let mut random = Streams::new(3).stream("draws");
    let mut latencies = LatencyHistogram::new();
    (0..1000).for_each(|_| latencies.record(Time::from_ps(random.below(1 << 40))));
    let bytes = state::saved(&(random.clone(), latencies.clone())).unwrap();
    let mut other = (Streams::new(4).stream("draws"), LatencyHistogram::new());
    state::restored(&mut other, &bytes).unwrap();
    assert_eq!(other.0.bits(), random.bits());
    assert_eq!(other.1.quantile(0.99), latencies.quantile(0.99));
    assert_eq!((other.1.sum_ps(), other.1.min()), (latencies.sum_ps(), latencies.min()));
}

proptest! {
    #[test]
    fn lists_of_any_content_come_back(
        words in proptest::collection::vec(any::<u32>(), 0..100),
        longs in proptest::collection::vec(any::<u64>(), 0..100),
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        float in any::<u64>().prop_map(f64::from_bits),
    ) {
        let mut writer = StateWriter::new();
        writer.put_u8(9);
        writer.put_u32s(&words);
        writer.put_u64s(&longs);
        writer.put_bytes(&bytes);
        writer.put_f64(float);
        writer.put_u32(5);
        let state = writer.finish();
        let mut reader = StateReader::new(&state);
        prop_assert_eq!(reader.u8("a").unwrap(), 9);
        let mut same = vec![0; words.len()];
        reader.u32s_into("b", &mut same).unwrap();
        prop_assert_eq!(same, words);
        prop_assert_eq!(reader.u64s("c").unwrap(), longs);
        let mut same = vec![0; bytes.len()];
        reader.bytes_into("d", &mut same).unwrap();
        prop_assert_eq!(same, bytes);
        prop_assert_eq!(reader.f64("e").unwrap().to_bits(), float.to_bits());
        prop_assert_eq!(reader.u32("f").unwrap(), 5);
        reader.finish().unwrap();
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        let mut reader = StateReader::new(&bytes);
        while reader.u32s("anything").is_ok() {}
    }
}
