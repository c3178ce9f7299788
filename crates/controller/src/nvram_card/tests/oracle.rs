//! Compares completion times with an independent clock-by-clock simulation of the memory controller.

use super::*;
use nacre_testkit::oracle::dram_channel::{Access, Controller, Timing, serve};
use nacre_testkit::oracle::{Load, Summary, Visit};
use nacre_testkit::visits;

/// DDR3-1600 (11-11-11) of 4 Gb chips, without refresh.
const DDR3_1600: &str = "kind = \"nvram_card\"\nchip = \"512 MiB\"\nrow = \"1 KiB\"\nclock = \"1.25 ns\"\n\
    read_latency = 11\nwrite_latency = 8\nactivate_to_access = \"13.75 ns\"\nprecharge = \"13.75 ns\"\n\
    row_open = \"35 ns\"\nrow_cycle = \"48.75 ns\"\nactivate_to_activate = \"6.25 ns\"\n\
    four_activates = \"30 ns\"\nwrite_recovery = \"15 ns\"\nwrite_to_read = \"7.5 ns\"\n\
    read_to_precharge = \"7.5 ns\"\nprocessing = \"0 s\"\n";

const TIMING: Timing = Timing::DDR3_1600;

const BANKS: u64 = 8;

fn controller(queue: usize, closes_rows: bool) -> Controller {
    let clock = Time::from_ps(1250);
    Controller { clock, timing: TIMING, banks: BANKS as usize, closes_rows, queue, writes: None }
}

/// Random accesses to banks. With the probability `hits`, an access is to the row that was last requested in
/// its bank.
fn accesses(count: u64, hits: f64, reads: f64) -> Vec<Access> {
    let mut random = Streams::new(3).stream("accesses");
    let mut rows = [0; BANKS as usize];
    (0..count)
        .map(|_| {
            let bank = random.below(BANKS) as usize;
            if !random.chance(hits) {
                rows[bank] = random.below(4096);
            }
            Access { bank, row: rows[bank], is_write: !random.chance(reads) }
        })
        .collect()
}

/// Converts the accesses to requests of the card. Consecutive rows of 8 KiB are in consecutive banks.
fn requests(accesses: &[Access]) -> Vec<Request> {
    let request = |access: &Access| {
        let address = (access.row * BANKS + access.bank as u64) << 13;
        let op = if access.is_write { Op::Write } else { Op::Read };
        Request { arrival: Time::ZERO, address, bytes: 64, volume: 0, op }
    };
    accesses.iter().map(request).collect()
}

fn on_card(queue: usize, closes_rows: bool, requests: &[Request], load: Load<'_>) -> Vec<Visit> {
    let rows = if closes_rows { "closed" } else { "open" };
    let scheduler = match queue {
        1 => "kind = \"fcfs\"".to_string(),
        _ => format!("kind = \"fr_fcfs\"\nqueue = {queue}"),
    };
    let toml = format!("{DDR3_1600}rows = \"{rows}\"\n{NO_HOST}[device.scheduler]\n{scheduler}\n");
    visits(&mut *built(&toml), requests, load)
}

/// Checks that every completion time is exactly equal to the completion time in the simulation.
#[track_caller]
fn agree(what: &str, queue: usize, closes_rows: bool, accesses: &[Access], load: Load<'_>) {
    let right = serve(&controller(queue, closes_rows), accesses, load);
    let found = on_card(queue, closes_rows, &requests(accesses), load);
    let differs = found.iter().zip(&right).position(|(found, right)| found != right);
    if let Some(at) = differs {
        let [found_all, right_all] = [&found, &right].map(|visits| Summary::of(visits));
        panic!(
            "{what}, queue {queue}, access {at}: {:?}, expected {:?}; {found_all:?}, {right_all:?}",
            found[at], right[at]
        );
    }
}

#[test]
fn every_access_is_done_when_the_simulation_says() {
    for (what, hits, reads) in
        [("25 % row hits", 0.25, 1.0), ("70 % reads of open rows", 1.0, 0.7), ("half of all", 0.5, 0.5)]
    {
        let accesses = accesses(6_000, hits, reads);
        for closes_rows in [false, true] {
            for queue in [1, 4, 32, 64] {
                for clients in [1, 4, 16, 64] {
                    let load = Load::Closed { clients };
                    agree(&format!("{what}, {clients} clients"), queue, closes_rows, &accesses, load);
                }
                for rate in [10e6, 25e6, 60e6] {
                    let random = Streams::new(8).stream("arrivals");
                    let arrivals: Vec<Time> =
                        nacre_testkit::drive::poisson(random, rate).take(accesses.len()).collect();
                    let what = format!("{what}, {rate} a second");
                    agree(&what, queue, closes_rows, &accesses, Load::Open(&arrivals));
                }
            }
        }
    }
}
