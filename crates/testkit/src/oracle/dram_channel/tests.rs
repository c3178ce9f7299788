use super::super::Summary;
use super::super::statistics::{assert_mean, settled_mean};
use super::*;
use crate::drive::poisson;
use crate::queueing::md1_wait;

const TIMING: Timing = Timing::DDR3_1600;

const CLOCK: Time = Time::from_ps(1250);

fn controller(queue: usize) -> Controller {
    Controller { clock: CLOCK, timing: TIMING, banks: 8, closes_rows: false, queue, writes: None }
}

fn read(bank: usize, row: u64) -> Access {
    Access { bank, row, is_write: false }
}

fn write(bank: usize, row: u64) -> Access {
    Access { is_write: true, ..read(bank, row) }
}

/// Returns the completion times in clocks of `accesses` that arrive at `clocks`.
fn done_from(controller: &Controller, accesses: &[Access], clocks: &[u64]) -> Vec<u64> {
    let times: Vec<Time> = clocks.iter().map(|&clock| CLOCK * clock).collect();
    let visits = serve(controller, accesses, Load::Open(&times));
    visits.iter().map(|visit| visit.done.as_ps() / CLOCK.as_ps()).collect()
}

/// Returns the completion times in clocks of accesses that arrive simultaneously at time 0.
fn done(controller: &Controller, accesses: &[Access]) -> Vec<u64> {
    done_from(controller, accesses, &vec![0; accesses.len()])
}

#[test]
fn one_access_takes_the_sum_of_its_parts() {
    let controller = controller(32);
    // The first access, to a closed row, takes tRCD, CL, and the burst. A hit follows it, and a conflict
    // follows much later.
    assert_eq!(
        done_from(&controller, &[read(0, 1), read(0, 1), read(0, 2)], &[0, 100, 200]),
        [26, 100 + 15, 200 + 11 + 11 + 15]
    );
    // The write latency is 8.
    assert_eq!(
        done_from(&controller, &[write(0, 1), write(0, 1), write(0, 2)], &[0, 100, 200]),
        [23, 100 + 12, 200 + 22 + 12]
    );
    // An access that arrives between two clocks waits for the next clock.
    let between = Time::from_ps(1);
    assert_eq!(serve(&controller, &[read(0, 1)], Load::Open(&[between]))[0].done, CLOCK * 27);
}

#[test]
fn a_row_stays_open_as_long_as_it_has_to() {
    // For reads, the row closes at tRAS = 28. For writes, the data ends at 23, and the row closes tWR = 12
    // later.
    assert_eq!(done(&controller(32), &[read(0, 1), read(0, 2)]), [26, 28 + 11 + 26]);
    assert_eq!(done(&controller(32), &[write(0, 1), read(0, 2)]), [23, 23 + 12 + 11 + 26]);
    // A late read of the row at 40 delays its closing to 40 + tRTP.
    let accesses = [read(0, 1), read(0, 1), read(0, 2)];
    assert_eq!(done_from(&controller(32), &accesses, &[0, 40, 41]), [26, 55, 46 + 11 + 26]);
    // An access that closes its row needs no command. The bank is activated again at 28 + 11, even for the
    // same row.
    let closing = Controller { closes_rows: true, ..controller(32) };
    assert_eq!(done(&closing, &[read(0, 1), read(0, 1)]), [26, 39 + 26]);
}

#[test]
fn hits_go_first_as_far_as_the_queue_is_seen() {
    // Accesses to rows 1, 2, and 1 of one bank.
    let accesses = [read(0, 1), read(0, 2), read(0, 1)];
    assert_eq!(done(&controller(3), &accesses), [26, 28 + 11 + 26, 30]);
    assert_eq!(done(&controller(1), &accesses), [26, 39 + 26, 39 + 28 + 11 + 26], "in order of arrival");
    // A hit that arrives at the clock at which the row would be closed keeps the row open. One clock later,
    // it is too late.
    assert_eq!(done_from(&controller(3), &accesses, &[0, 0, 28]), [26, 34 + 11 + 26, 28 + 15]);
    assert_eq!(done_from(&controller(3), &accesses, &[0, 0, 29]), [26, 39 + 26, 39 + 28 + 11 + 26]);
}

#[test]
fn a_row_stays_open_for_a_hit_that_has_to_wait() {
    // Rows 1 of banks 0 and 1 are open. A write at 100 has its data from 108 to 112, so a read is issued at
    // 118 or later. The hit of bank 0 keeps its row open until then. The older access to row 2 closes the row
    // 6 clocks later (tRTP).
    let accesses = [read(0, 1), read(1, 1), write(1, 1), read(0, 2), read(0, 1)];
    let done = done_from(&controller(32), &accesses, &[0, 0, 100, 101, 101]);
    assert_eq!(done, [26, 31, 112, 124 + 11 + 26, 118 + 15]);
}

#[test]
fn of_several_hits_and_of_several_misses_the_oldest_goes_first() {
    // Banks 0 and 1 are activated at 0 and 5 (tRRD). Bank 0 is read at 11, and its second access follows at
    // 15, before that of bank 1.
    let accesses = [read(0, 1), read(1, 1), read(0, 1)];
    assert_eq!(
        done(&controller(32), &accesses),
        [26, 34, 30],
        "when bank 1 can be read at 16, the bus is taken"
    );
    // With five banks, the activation of the fifth row waits for tFAW = 24.
    let banks: Vec<Access> = (0..5).map(|bank| read(bank, 1)).collect();
    assert_eq!(done(&controller(32), &banks), [26, 31, 36, 41, 50]);
}

#[test]
fn reads_and_writes_take_turns_on_the_bus() {
    // All accesses use one row. The read at 11 has data from 22 to 26. After two clocks, the data of the
    // write is from 28 to 32, so a read follows 6 clocks later at 38.
    let accesses = [read(0, 1), write(0, 1), read(0, 1)];
    let times = [0, 0, 17];
    assert_eq!(done_from(&controller(1), &accesses, &times), [26, 32, 32 + 6 + 15]);
    // The write could be issued at 20. A read that arrives at 17 is issued immediately, with data from 28 to
    // 32, and delays the data of the write to 34 to 38.
    assert_eq!(done_from(&controller(32), &accesses, &times), [26, 38, 32]);
}

#[test]
fn writes_are_gathered_between_the_watermarks() {
    // All accesses to one open row.
    let order = |writes, kinds: &str| {
        let accesses: Vec<Access> =
            kinds.chars().map(|kind| if kind == 'w' { write(0, 1) } else { read(0, 1) }).collect();
        let done = done(&Controller { writes, ..controller(32) }, &accesses);
        let mut order: Vec<usize> = (0..accesses.len()).collect();
        order.sort_by_key(|&access| done[access]);
        order
    };
    let watermarks = |high, low| Some(Watermarks { high, low });
    assert_eq!(order(watermarks(2, 0), "rwwrr"), [1, 2, 0, 3, 4], "both writes first");
    assert_eq!(order(watermarks(2, 1), "rwwrr"), [1, 0, 3, 4, 2], "one of them");
    assert_eq!(order(watermarks(3, 1), "rwwrr"), [0, 3, 4, 1, 2], "too few");
    assert_eq!(order(watermarks(3, 1), "wwrwwr"), [0, 1, 3, 2, 5, 4], "three of four");
    assert_eq!(order(watermarks(3, 1), "ww"), [0, 1], "writes alone");
    // With this timing, writes at 11 and 15 have data until 27, and reads are issued from 33 on.
    let gathering = Controller { writes: watermarks(2, 0), ..controller(32) };
    assert_eq!(done(&gathering, &[read(0, 1), write(0, 1), write(0, 1), read(0, 1)]), [48, 23, 27, 52]);
}

#[test]
fn rates_are_those_of_the_constraint_that_binds() {
    // The data of one open row is transferred without gaps.
    let hits = vec![read(0, 1); 1000];
    assert_eq!(done(&controller(32), &hits)[999], 22 + 1000 * 4);
    // Different rows of one bank take tRAS + tRP each.
    let rows: Vec<Access> = (0..1000).map(|row| read(0, row)).collect();
    for queue in [1, 32] {
        assert_eq!(done(&controller(queue), &rows)[999], 999 * 39 + 26);
    }
    // New rows of all banks in rotation are limited to four activations per tFAW.
    let banks: Vec<Access> = (0..1000).map(|access| read(access as usize % 8, access)).collect();
    let closing = Controller { closes_rows: true, ..controller(32) };
    assert_eq!(done(&closing, &banks)[999], 249 * 24 + 3 * 5 + 26);
    // Without limits of activations, and with 16 banks that have 64 clocks each, the limit is the data bus.
    let timing = Timing { activate_to_activate: 1, four_activates: 1, ..TIMING };
    let banks: Vec<Access> = (0..1000).map(|access| read(access as usize % 16, access)).collect();
    assert_eq!(done(&Controller { timing, banks: 16, ..closing }, &banks)[999], 22 + 1000 * 4);
    // Two banks process two rows per tRAS + tRP.
    let two: Vec<Access> = (0..1000).map(|access| read(access as usize % 2, access)).collect();
    assert_eq!(done(&closing, &two)[999], 499 * 39 + 5 + 26);
}

#[test]
fn one_bank_waits_as_pollaczek_and_khinchine_have_it() {
    // An access occupies its bank for tRAS + tRP = 39 clocks, and completes 26 clocks after its start. With
    // arrivals at any time and starts at clock edges, the wait is that of M/D/1 plus half a clock. The mean
    // work U at the edges is 39 r / (2 (1 - r)) - r / 2, and accesses that arrive within one clock wait r / 2
    // for each other.
    let clock = CLOCK.as_secs_f64();
    let service = 39.0 * clock;
    let rate = 0.7 / service;
    let expected = md1_wait(rate, service) + 0.5 * clock + 26.0 * clock;
    let closing = Controller { closes_rows: true, ..controller(32) };
    assert_mean("dram one bank", expected, 0.03, |random| {
        let times: Vec<Time> = poisson(random.clone(), rate).take(20_000).collect();
        let rows: Vec<Access> = (0..20_000).map(|row| read(0, row)).collect();
        let visits = serve(&closing, &rows, Load::Open(&times));
        settled_mean(&visits.iter().map(|visit| visit.latency().as_secs_f64()).collect::<Vec<_>>())
    });
}

#[test]
fn one_client_pays_for_each_row_that_it_does_not_find_open() {
    // There is one access at a time to four rows of eight banks, so a quarter of the accesses hit. With tRAS
    // = 26, a row may be closed when its data was transferred, so a conflict takes tRP + tRCD longer than a
    // hit.
    let timing = Timing { row_open: 26, ..TIMING };
    let one = Controller { timing, ..controller(1) };
    let expected = (15.0 + 0.75 * 22.0) * CLOCK.as_secs_f64();
    assert_mean("dram hits", expected, 0.01, |random| {
        let accesses: Vec<Access> =
            (0..10_000).map(|_| read(random.below(8) as usize, random.below(4))).collect();
        let visits = serve(&one, &accesses, Load::Closed { clients: 1 });
        settled_mean(&visits.iter().map(|visit| visit.latency().as_secs_f64()).collect::<Vec<_>>())
    });
}

#[test]
fn the_mean_number_under_way_of_a_closed_loop_is_its_clients() {
    let accesses: Vec<Access> = (0..20_000_usize)
        .map(|number| Access {
            bank: number * number % 7,
            row: (number / 3 % 5) as u64,
            is_write: number % 10 > 6,
        })
        .collect();
    for writes in [None, Some(Watermarks { high: 12, low: 4 })] {
        let controller = Controller { writes, ..controller(16) };
        let summary = Summary::of(&serve(&controller, &accesses, Load::Closed { clients: 16 }));
        let under_way = summary.per_second * summary.mean_s;
        assert!((under_way / 16.0 - 1.0).abs() < 0.01, "{under_way}");
    }
}
