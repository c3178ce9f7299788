//! Compares the data of the drive with a plain memory after the same operations.

use crate::workbench::{Workbench, ask, workbench};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::state::{State, StateReader, StateWriter};
use nacre_kernel::{Op, Random, Recovery, Request, Streams, Time};

/// Two controllers, each with two ranks and 32 rows.
const TINY: &str = "controllers = 2\nranks = 2\nrow_ranks = 2\nchip = \"4 KiB\"\nrow = \"1 KiB\"\n\
    buffered_writes = 3\nwear_leveling = { kind = \"start_gap\", interval = 2, domains = 2, randomize = true }\n";
/// Capacitors with energy for ten programs, each of five chips.
const SHORT: &str = "program_energy = \"1 uJ\"\ncapacitors = \"50 uJ\"\nmay_lose_writes = true\n";

/// A drive, and a plain memory with the expected data.
struct Pair {
    workbench: Workbench,
    onyx: Box<dyn Device>,
    settings: String,
    now: Time,
    bytes: Vec<u8>,
    /// Counter that makes the data of every write different.
    stamp: u8,
}

impl Pair {
    fn new(settings: &str) -> Pair {
        let mut workbench = workbench(1).with_bytes();
        let settings = format!("kind = \"onyx\"\n{settings}");
        let onyx = workbench.build(&settings).unwrap();
        let bytes = vec![0; onyx.capacity().unwrap().0 as usize];
        Pair { workbench, onyx, settings, now: Time::ZERO, bytes, stamp: 0 }
    }

    fn request(&self, op: Op, address: usize, bytes: usize) -> Request {
        Request { arrival: self.now, address: address as u64, bytes: bytes as u32, volume: 0, op }
    }

    /// Returns the data of the next write at `address`, and stores this data in the plain memory.
    fn stamped(&mut self, address: usize, count: usize) -> Vec<u8> {
        self.stamp = self.stamp % 250 + 1;
        let end = (address + count).min(self.bytes.len());
        let data = vec![self.stamp; end - address];
        self.bytes[address..end].copy_from_slice(&data);
        data
    }

    /// Writes `count` bytes at `address`. Returns the completion time.
    fn write(&mut self, address: usize, count: usize) -> Time {
        let data = self.stamped(address, count);
        let request = self.request(Op::Write, address, data.len());
        ask(&mut *self.onyx, self.now, &request, data.into()).done
    }

    fn read(&mut self) -> Vec<u8> {
        let request = self.request(Op::Read, 0, self.bytes.len());
        let answer = ask(&mut *self.onyx, self.now, &request, Payload::NONE);
        self.now = answer.done;
        self.onyx.check_invariants();
        answer.data.bytes().expect("it carries bytes").to_vec()
    }

    fn check(&mut self) {
        assert!(self.read() == self.bytes, "the bytes of the drive and of the naive memory");
    }

    fn fail(&mut self, at: Time) -> Recovery {
        self.onyx.run(at, &mut Completions::new());
        self.onyx.power_fail(at, &mut Streams::new(1).stream("chance"));
        let recovery = self.onyx.recover(at);
        assert!(recovery.done >= at);
        self.now = recovery.done;
        recovery
    }

    fn state(&self) -> Vec<u8> {
        let mut writer = StateWriter::new();
        self.onyx.save(&mut writer);
        writer.finish()
    }

    /// Simulates a restart of the process: saves the state, and restores it in a new drive.
    fn restart(&mut self) {
        let state = self.state();
        self.workbench.again();
        self.onyx = self.workbench.build(&self.settings).unwrap();
        let mut reader = StateReader::new(&state);
        self.onyx.restore(&mut reader).unwrap();
        reader.finish().unwrap();
        assert!(self.state() == state, "what was restored is what was saved");
    }

    fn random_write(&mut self, random: &mut Random) {
        let length = self.bytes.len() as u64;
        // Half of the writes go to 1/8 of the bytes.
        let place = if random.chance(0.5) { length / 8 } else { length };
        let count = if random.chance(0.1) { random.below(9000) } else { random.below(600) };
        self.now = self.write(random.below(place) as usize, 1 + count as usize);
    }
}

/// If the stored energy is sufficient for all buffered writes, acknowledged data is never lost, even if wear
/// leveling moves rows.
#[test]
fn long_random_sequences_leave_the_bytes_of_a_naive_memory() {
    let one = TINY.replace("controllers = 2", "controllers = 1").replace("interval = 2", "interval = 1");
    let shapes = [
        TINY.to_string(),
        format!("{one}completion = \"late\"\n"),
        TINY.replace("randomize = true", "adapt = true, window = 7, stay_share = \"0.001 %\""),
        TINY.replace("controllers = 2", "controllers = 3")
            + "program_energy = \"1 uJ\"\ncapacitors = \"1 J\"\n",
        format!("{}wear_leveling = \"none\"\n", TINY.split("wear").next().unwrap()),
        format!(
            "{TINY}program_zeros = \"20 us\"\npoll_interval = \"7 us\"\n\
             ecc = {{ kind = \"bch\", t = 1, codeword = \"8 B\" }}\n"
        ),
    ];
    let mut repeated = 0;
    for (shape, settings) in shapes.iter().enumerate() {
        for seed in 0..4 {
            let mut random = Streams::new(seed).stream(&format!("shape {shape}"));
            let mut pair = Pair::new(settings);
            for number in 0..1200 {
                match random.below(30) {
                    0 => {
                        let recovery = pair.fail(pair.now);
                        assert_eq!((recovery.programs_lost, recovery.bytes_lost), (0, 0));
                        repeated += recovery.programs_repeated;
                    }
                    1 => pair.restart(),
                    2 => pair.now += Time::from_us(random.below(3000)),
                    _ => pair.random_write(&mut random),
                }
                if number % 40 == 0 {
                    pair.check();
                }
            }
            pair.check();
        }
    }
    assert!(repeated > 50, "copies of rows were interrupted, and repeated: {repeated}");
}

/// After a power loss, the capacitors program as many of ten writes as their energy allows, and the other
/// writes are lost. Each write is a separate chunk of 256 B. A program takes 120 us, so no program has ended
/// at the power loss.
#[test]
fn capacitors_program_as_many_writes_as_they_have_energy_for_and_the_rest_is_lost() {
    for programs in [0, 1, 5, 10, 11] {
        let settings = TINY
            .replace("buffered_writes = 3", "buffered_writes = 32")
            .replace("interval = 2", "interval = 9999");
        let energy = format!(
            "program_energy = \"1 uJ\"\ncapacitors = \"{} uJ\"\nmay_lose_writes = true\n",
            programs * 5
        );
        let mut pair = Pair::new(&(settings + &energy));
        for chunk in 0..10 {
            pair.now = pair.write(chunk * 256, 256);
        }
        assert!(pair.now < Time::from_us(120));
        let recovery = pair.fail(pair.now);
        let finished = programs.min(10);
        assert_eq!((recovery.programs_finished, recovery.programs_lost), (finished, 10 - finished));
        let read = pair.read();
        let whole = (0..10).filter(|chunk| {
            read[chunk * 256..(chunk + 1) * 256] == pair.bytes[chunk * 256..(chunk + 1) * 256]
        });
        assert_eq!(whole.count() as u64, finished, "chunks that are all there");
        let missing = read.iter().zip(&pair.bytes).filter(|(read, written)| read != written).count();
        assert_eq!(missing as u64, recovery.bytes_lost, "bytes missing must equal bytes_lost");
    }
}

/// If a write is lost, the drive returns the older data at its address. Data that was lost earlier does not
/// return.
#[test]
fn after_losses_every_byte_is_of_a_write_that_was_not_on_the_medium() {
    let (mut lost, mut failures) = (0, 0);
    for seed in 0..18 {
        let mut random = Streams::new(seed).stream("losses");
        let mut pair = Pair::new(&format!("{TINY}{SHORT}"));
        for _ in 0..150 {
            let before = pair.bytes.clone();
            let mut layers = vec![before];
            for _ in 0..random.below(12) {
                pair.random_write(&mut random);
                layers.push(pair.bytes.clone());
                if random.chance(0.1) {
                    pair.restart();
                }
            }
            let recovery = pair.fail(pair.now);
            let read = pair.read();
            let differ =
                read.iter().zip(&pair.bytes).filter(|(read, written)| read != written).count() as u64;
            assert!(differ <= recovery.bytes_lost, "{differ} bytes are missing of {recovery:?}");
            assert!(recovery.programs_lost == 0 || recovery.programs_finished == 10, "{recovery:?}");
            for (place, byte) in read.iter().enumerate() {
                assert!(layers.iter().any(|layer| layer[place] == *byte), "byte {place} was never {byte}");
            }
            (lost, failures) = (lost + recovery.programs_lost, failures + u64::from(differ > 0));
            pair.bytes = read;
        }
    }
    assert!(lost > 500 && failures > 100, "{lost} programs in {failures} failures");
}

#[test]
fn late_completion_loses_only_what_was_not_acknowledged() {
    let mut random = Streams::new(3).stream("late");
    let mut pair = Pair::new(&format!("{TINY}completion = \"late\"\n"));
    let mut torn = 0;
    for _ in 0..300 {
        pair.random_write(&mut random);
        let before = pair.bytes.clone();
        let (from, count) = (random.below(30_000) as usize, 1 + random.below(3000) as usize);
        let data = pair.stamped(from, count);
        let request = pair.request(Op::Write, from, data.len());
        pair.onyx.run(pair.now, &mut Completions::new());
        pair.onyx.submit(pair.now, RequestId(0), &request, data.into());
        let at = pair.now + Time::from_us(random.below(400));
        let mut completions = Completions::new();
        pair.onyx.run(at, &mut completions);
        if !completions.is_empty() {
            pair.now = at;
            continue;
        }
        let recovery = pair.fail(at);
        assert_eq!((recovery.programs_lost, recovery.bytes_lost), (0, 0), "nothing acknowledged is lost");
        let read = pair.read();
        for (place, byte) in read.iter().enumerate() {
            assert!(*byte == before[place] || *byte == pair.bytes[place], "byte {place}");
        }
        torn += u64::from(read != before && read != pair.bytes);
        pair.bytes = read;
    }
    assert!(torn > 50, "the power failed within {torn} writes");
}

#[test]
fn a_drive_without_transactions_says_so() {
    let mut onyx = Pair::new(TINY).onyx;
    assert!(!onyx.capabilities().transactions && onyx.transactions().is_none());
}

#[test]
fn the_state_of_another_drive_is_refused() {
    let mut pair = Pair::new(TINY);
    (0..50).for_each(|write| pair.now = pair.write(write * 100, 300));
    let state = pair.state();
    for settings in
        [TINY.replace("ranks = 2", "ranks = 4"), TINY.replace("chip = \"4 KiB\"", "chip = \"8 KiB\"")]
    {
        let mut other = Pair::new(&settings);
        assert!(other.onyx.restore(&mut StateReader::new(&state)).is_err(), "{settings}");
    }
    for cut in (0..state.len()).step_by(state.len() / 40) {
        let restored = Pair::new(TINY).onyx.restore(&mut StateReader::new(&state[..cut]));
        assert!(restored.is_err(), "a state that ends after {cut} bytes is noticed");
    }
}
