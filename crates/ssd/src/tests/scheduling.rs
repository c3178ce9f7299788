//! Compares the completion time of each read on a channel with an event simulation.

use super::*;
use nacre_testkit::oracle::flash_channel::{Arbitration, Channel, serve};

const POLICIES: [(&str, Arbitration); 3] = [
    ("first_come", Arbitration::FirstCome),
    ("pages_first", Arbitration::PagesFirst),
    ("commands_first", Arbitration::CommandsFirst),
];

/// Numbers of registers per die, with the equivalent settings.
const REGISTERS: [(usize, &str); 4] =
    [(1, "registers = 1"), (2, "registers = 2"), (4, "registers = 4"), (usize::MAX, "")];

/// Returns random dies for `count` reads. If `is_skewed`, 90 % of the reads are on the first half of the
/// dies.
fn dies_of(count: usize, dies: u64, is_skewed: bool, random: &mut Random) -> Vec<usize> {
    let mut draw = || {
        let within = if is_skewed && random.chance(0.9) { dies / 2 } else { dies };
        random.below(within) as usize
    };
    (0..count).map(|_| draw()).collect()
}

/// Returns the completion times of reads on the dies `of`, from the drive and from the event simulation.
fn both(
    dies: u64,
    policy: (&str, Arbitration),
    registers: usize,
    of: &[usize],
    load: Load<'_>,
) -> [Vec<Visit>; 2] {
    let (name, arbitration) = policy;
    let (count, setting) = REGISTERS[registers];
    let mut device = drive(&format!(
        "channels = 1\nways = {dies}\nread = [\"75 us\"]\nbus = \"200 MB/s\"\ncommand = \"1 us\"\n\
         link = \"40.96 GB/s\"\narbitration = \"{name}\"\n{setting}"
    ));
    // Unwritten units are located as in a drive that was filled sequentially, i.e. on the dies in rotation.
    let requests: Vec<Request> = of.iter().map(|&die| unit(Op::Read, die as u64)).collect();
    let seen = visits(&mut *device, &requests, load);
    device.check_invariants();
    let channel = Channel {
        dies: dies as usize,
        registers: count,
        arbitration,
        command: Time::from_us(1),
        sense: Time::from_us(75),
        transfer: Time::from_ns(20_480),
        completion: Time::from_ns(100),
    };
    [seen, serve(&channel, of, load)]
}

#[test]
fn every_read_of_a_closed_loop_is_done_when_an_event_simulation_says() {
    let mut random = random("closed");
    for policy in POLICIES {
        for (registers, dies) in [(0, 4), (1, 8), (2, 16), (3, 8)] {
            for clients in [1, 2, 4, 8, 16, 32, 64] {
                let of = dies_of(1_500, dies, clients % 3 == 1, &mut random);
                let [seen, right] = both(dies, policy, registers, &of, Load::Closed { clients });
                let wrong = seen.iter().zip(&right).position(|(seen, right)| seen != right);
                let (name, setting) = (policy.0, REGISTERS[registers].1);
                assert_eq!(wrong, None, "{name}, {setting}, {dies} dies, {clients} clients");
            }
        }
    }
}

#[test]
fn every_read_of_an_open_loop_is_done_when_an_event_simulation_says() {
    let mut random = random("open");
    for policy in POLICIES {
        for (registers, dies) in [(0, 4), (1, 8), (2, 16), (3, 16)] {
            for load in [0.3, 0.6, 0.85] {
                let of = dies_of(2_000, dies, load < 0.5, &mut random);
                let (mut now, mut arrivals) = (0.0, Vec::new());
                // A die with one register performs a read in 96.48 us, and the channel in 21.48 us.
                let rate = load * (1.0 / 21.48e-6_f64).min(dies as f64 / 2.0 / 96.48e-6);
                for _ in &of {
                    now += random.exponential() / rate;
                    arrivals.push(Time::from_secs_f64(now));
                }
                let [seen, right] = both(dies, policy, registers, &of, Load::Open(&arrivals));
                let wrong = seen.iter().zip(&right).position(|(seen, right)| seen != right);
                let (name, setting) = (policy.0, REGISTERS[registers].1);
                assert_eq!(wrong, None, "{name}, {setting}, {dies} dies, load {load}");
            }
        }
    }
}
